import pytest

from kernelbraid._messages import PHRASES, Message
from kernelbraid.cli import messages
from kernelbraid.cli.messages import InOptions, option_name, out_of_range
from kernelbraid.estimators.base import refused_parameter
from kernelbraid.learning.memory import choose_storage
from kernelbraid.methods import METHODS

KKM = InOptions({"KernelKMeans": "KKM"})


@pytest.mark.parametrize(
    ("parameter", "option"),
    [("n_clusters", "--clusters"), ("graph_penalty", "--penalty"), ("max_iter", "--max-iter"), ("mu", "--mu")],
)
def test_a_parameter_has_an_option(parameter, option):
    assert option_name(parameter) == option


def test_there_are_words_for_every_phrase():
    assert set(messages.PHRASES) == set(PHRASES)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            Message("{set.device} is not there; {no_device}.", device="cuda"),
            "--device cuda is not there; leave out --device.",
        ),
        (
            Message("{samples_are_below} {set.n_clusters}; do.", n_samples=3, n_clusters=4),
            "DATA holds 3 samples, fewer than --clusters 4; do.",
        ),
        (
            Message("{class.who} made {steps}. Raise {name.max_iter}.", who="KernelKMeans", max_iter=9),
            "KKM made 9 steps. Raise --max-iter.",
        ),
        (Message("{set.mu:g} and ({set.tol:g}){or_growth}", mu=1.0, tol=0.1, mu_growth=2), "--mu 1 and (--tol 0.1)"),
        (
            Message("{data} has 3; a {class.who} has none.", who="MultipleKernelKMeans"),
            "DATA has 3; a MultipleKernelKMeans has none.",
        ),
    ],
)
def test_messages_speak_of_options_and_methods(message, words):
    assert message.worded(KKM) == words


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
    words = caught.value.args[0].worded(KKM)
    assert "=" not in words
    assert "memory_budget" not in words


def test_a_value_out_of_range_is_a_matter_of_an_option():
    for value in (1.5, 1):
        sentence = out_of_range(refused_parameter(METHODS["RMKKM"].set_params(gamma=value)), "RMKKM")
        assert sentence == f"--gamma {value} is out of range for RMKKM; give a number in the range [0.01, 0.99]."


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ({"n_neighbors": 0}, "--neighbors 0 is out of range for LKGr; give an int in the range [1, inf) or all."),
        ({"alpha": -1.0}, "--alpha -1.0 is out of range for LKGr; give a number in the range (0.0, inf)."),
        ({"embedding": "none"}, "--embedding none is out of range for LKGr; give one of "),
    ],
)
def test_what_an_option_may_be_is_said_without_python(parameters, wanted):
    told = out_of_range(refused_parameter(METHODS["LKGr"].set_params(**parameters)), "LKGr")
    assert told.startswith(wanted)
    assert "None" not in told
