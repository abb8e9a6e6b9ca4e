import numpy as np
import pytest

from kernelbraid.bench import METHODS
from kernelbraid.cli.wording import in_options, option_name, out_of_range
from kernelbraid.learning.memory import choose_storage
from kernelbraid.solvers.status import DIVERGED, Status

OF_LKG = [
    status.sentences[family] for status in Status for family in ("learned", "fixed") if family in status.sentences
]


@pytest.mark.parametrize(
    ("parameter", "option"),
    [("n_clusters", "--clusters"), ("graph_penalty", "--penalty"), ("max_iter", "--max-iter"), ("mu", "--mu")],
)
def test_a_parameter_has_an_option(parameter, option):
    assert option_name(parameter) == option


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("device='cuda' is not there; leave device=None.", "--device 'cuda' is not there; leave out --device."),
        ("n_samples=3 is below n_clusters=4; do.", "DATA holds 3 samples, fewer than --clusters 4; do."),
        ("KernelKMeans made max_iter=9 steps. Raise max_iter.", "KKM made 9 steps. Raise --max-iter."),
        ("mu=1 and (tol=0.1), mu_growth=2", "--mu 1 and (--tol 0.1), mu_growth=2"),
        ("X has 3; a MultipleKernelKMeans has none.", "DATA has 3; a MultipleKernelKMeans has none."),
    ],
)
def test_messages_speak_of_options_and_methods(message, words):
    assert in_options(message, estimator="KernelKMeans", method="KKM") == words


@pytest.mark.parametrize("sentence", [*OF_LKG, DIVERGED])
def test_no_warning_of_lkg_mentions_a_parameter(sentence):
    names = ("max_iter", "tol", "mu_growth", "mu", "alpha", "beta", "gamma", "kernel_change", "graph_residual", "size")
    facts = {**dict.fromkeys(names, 1.0), "n_iter": 7, "graph_from": "J", "max_iter": 9}
    told = sentence.filled(**facts)
    words = in_options(f"LKG {told.what}. {told.remedy}", estimator="LKG", method="LKGs")
    assert words.startswith("LKGs ")
    assert "=" not in words
    assert "_" not in words


@pytest.mark.parametrize("method", [name for name in METHODS if name != "SC"])
def test_a_fit_cut_short_says_so_without_parameters(run, blobs_csv, method):
    stop = () if method == "SSR" else ("--tol", 1e-300)
    result = run("cluster", blobs_csv, "-k", 3, "--n-init", 1, "--method", method, "--max-iter", 1, *stop, "-q")
    assert result.exit_code == 0
    assert result.stderr.startswith(f"Warning: {method} ")
    assert result.stderr.count("\n") == 1
    for mark in ("=", "max_iter", "history_"):
        assert mark not in result.stderr


def test_too_little_memory_offers_options_only():
    with pytest.raises(MemoryError) as caught:
        choose_storage("stored", 1e9, n_samples=10_000, n_kernels=12, n_views=1, itemsize=4)
    words = in_options(str(caught.value), estimator="LKG", method="LKGr")
    assert "=" not in words
    assert "memory_budget" not in words


def test_a_value_out_of_range_is_a_matter_of_an_option():
    for value in (1.5, 1):
        with pytest.raises(ValueError) as caught:
            METHODS["RMKKM"].make(2, gamma=value).fit(np.eye(4))
        sentence = out_of_range(str(caught.value), "RMKKM")
        assert sentence == f"--gamma {value} is out of range for RMKKM; give a number in the range [0.01, 0.99]."
    assert out_of_range("X is wrong.", "RMKKM") is None
