import csv
import json

import numpy as np
import pytest

from kernelbraid import LKGSearch
from kernelbraid.estimators import tryouts as members
from kernelbraid.metrics import evaluate
from kernelbraid.solvers.status import Status

SEARCH = ("-k", 3, "--search")


def read_labels(path):
    with path.open(newline="", encoding="utf-8") as file:
        return [int(row[1]) for row in list(csv.reader(file))[1:]]


def test_a_search_clusters_a_file_and_says_why(run, blobs_csv, blobs, tmp_path):
    out = tmp_path / "labels.csv"
    result = run("cluster", blobs_csv, *SEARCH, "--budget", 9, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    for words in (
        "LKGSearch, a setting of LKG, chosen without labels",
        "\n9 settings were fitted in ",
        "\nChosen: the setting of LKG as it comes.",
    ):
        assert words in result.stdout
    assert evaluate(blobs[1], read_labels(out))["acc"] == 1.0


def test_json_has_the_choice_and_its_reasons(run, blobs_csv):
    summary = json.loads(run("cluster", blobs_csv, *SEARCH, "--budget", 4, "--json").stdout)
    assert summary["method"] == "LKGSearch"
    assert summary["n_clusters"] == 3
    assert summary["evidence"] is None
    assert summary["why"][0].startswith("4 settings were fitted in ")
    assert summary["best_params"] == {}  # LKG as it comes: the blobs are clear


def test_a_search_takes_kernels_and_views(run, stack, blobs, tmp_path):
    summary = json.loads(run("cluster", stack, *SEARCH, "--kernels", "precomputed", "--json").stdout)
    assert summary["n_features"] is None
    assert summary["cluster_sizes"] == [10, 10, 10]
    for name, view in (("a", blobs[0][:, :2]), ("b", blobs[0][:, 2:])):
        np.save(tmp_path / f"{name}.npy", view)
    summary = json.loads(
        run("cluster", tmp_path / "a.npy", tmp_path / "b.npy", *SEARCH, "--budget", 3, "--json").stdout
    )
    assert all(name.startswith("view ") for name in summary["kernels"])


def test_a_search_chooses_the_number_that_is_not_given(run, blobs_csv):
    result = run("cluster", blobs_csv, "--search", "--budget", 4, "--json")
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["n_clusters"] == len(summary["cluster_sizes"])
    assert summary["n_clusters"] in summary["evidence"]["n_clusters"]


def test_a_budget_in_seconds_ends_the_search(run, blobs_csv):
    summary = json.loads(run("cluster", blobs_csv, *SEARCH, "--budget", "0.000001s", "--json").stdout)
    assert summary["why"][0].startswith("1 setting was fitted")


def interrupt_after(monkeypatch, count):
    """Press Ctrl-C while a setting of a search is learned."""
    learn, calls = members.learn_graph, []

    def interrupted(*given, **more):
        calls.append(given)
        if len(calls) == count + 1:
            raise KeyboardInterrupt
        return learn(*given, **more)

    monkeypatch.setattr(members, "learn_graph", interrupted)


def test_ctrl_c_keeps_the_best_so_far(run, monkeypatch, blobs_csv):
    interrupt_after(monkeypatch, 3)
    result = run("cluster", blobs_csv, *SEARCH, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["why"][0].startswith("3 settings were fitted in ")


def test_ctrl_c_before_the_first_fit_ends_the_program(refuse, monkeypatch, blobs_csv, tmp_path):
    interrupt_after(monkeypatch, 0)
    refuse("cluster", blobs_csv, *SEARCH, "--out", tmp_path / "labels.csv", code=130, says="interrupted")


def test_bad_data_and_too_little_memory_are_sentences(refuse, monkeypatch, blobs_csv):
    refuse("cluster", blobs_csv, "-k", 31, "--search", code=1, says="DATA holds 30 samples, fewer than --clusters 31")

    def fit(*_):
        raise MemoryError

    monkeypatch.setattr(LKGSearch, "fit", fit)
    refuse("cluster", blobs_csv, *SEARCH, code=1, says=["30 samples", "memory"])


def test_a_search_that_finds_nothing_sound_warns_in_one_line(run, monkeypatch, blobs_csv):
    monkeypatch.setattr(Status, "is_sound", property(lambda status: False))
    result = run("cluster", blobs_csv, *SEARCH, "--budget", 2)
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: LKGSearch: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("quiet", ["--quiet", "--json"])
def test_progress_is_shown_to_those_who_look_only(run, monkeypatch, blobs_csv, quiet):
    seen = []
    monkeypatch.setattr(LKGSearch, "set_params", lambda self, **given: seen.append(given) or self)
    run("cluster", blobs_csv, *SEARCH, "--budget", 1, quiet)
    assert seen == [{"callback": None}]
