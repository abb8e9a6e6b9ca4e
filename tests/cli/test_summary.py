import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from kernelbraid.cli import summary as summaries

EVIDENCE = {"n_clusters": [2, 3, 12, 55], "score": [0.1, 0.4, 0.7, math.nan], "eigengap": [0.0, 0.1, 0.2, math.inf]}


def model_of(**attributes):
    """A fit, as far as a summary looks at it."""
    known = {"n_clusters": 2, "labels_": np.array([0, 1, 1]), "n_iter_": 7}
    return SimpleNamespace(**{**known, **attributes})


def printed(capsys, **attributes):
    """What is printed about a fit."""
    plain = summaries.summarise(model_of(**attributes), 3, 4)
    summaries.print_summary({"method": "LKG", **plain, "seconds": 0.1, "out": None, "model": None})
    return capsys.readouterr().out


def test_there_are_no_clusters_of_no_samples():
    plain = summaries.summarise(model_of(n_clusters=4), 3, 4)
    assert (plain["n_clusters"], plain["cluster_sizes"]) == (2, [1, 2])


def test_every_status_has_words():
    from kernelbraid.solvers.iterate import Status

    assert set(summaries.STATUS_WORDS) == set(Status)


def test_a_number_that_was_chosen_comes_with_its_evidence_as_json():
    arrays = {name: np.array(values) for name, values in EVIDENCE.items()}
    chosen = model_of(
        n_clusters="auto",
        labels_=np.arange(12),
        n_clusters_=np.int64(12),
        n_clusters_evidence_=arrays,
        n_components_=np.int64(2),
    )
    plain = summaries.summarise(chosen, 3, 4)
    assert plain["n_clusters"] == 12
    assert len(plain["cluster_sizes"]) == 12
    assert plain["n_components"] == 2
    evidence = json.loads(json.dumps(plain, allow_nan=False))["evidence"]
    assert evidence == {
        "n_clusters": [2, 3, 12, 55],
        "score": [0.1, 0.4, 0.7, None],
        "eigengap": [0.0, 0.1, 0.2, "inf"],
    }


@pytest.mark.parametrize(
    ("chosen", "tried", "scores", "words"),
    [
        (12, [2, 10, 12, 55], [0.1, 0.6, 0.7, 0.2], "12, chosen among 2 to 55; next best 10"),
        (2, [2, 3], [0.1, None], "2, chosen; there was no other to compare"),
        (2, [2], [0.1], "2, chosen; there was no other to compare"),
    ],
)
def test_the_choice_is_told_in_words(chosen, tried, scores, words):
    assert summaries.n_clusters_in_words(chosen, {"n_clusters": tried, "score": scores}) == words
    assert summaries.n_clusters_in_words(chosen, None) == str(chosen)


def test_the_summary_says_the_number_and_the_parts_of_the_graph(capsys):
    text = printed(capsys, n_clusters="auto", n_clusters_=12, n_clusters_evidence_=EVIDENCE, n_components_=3)
    assert "clusters       12, chosen among 2 to 55; next best 3" in text
    assert "graph          3 connected components" in text
    assert "graph          connected" in printed(capsys, n_components_=1)
    assert "graph          " not in printed(capsys)


def test_kernel_weights_are_told_in_words_before_they_are_listed(capsys):
    text = printed(capsys, kernel_names_=["a", "b", "c"], kernel_weights_=np.array([0.2, 0.8, 0.0]))
    assert text.index("b matters most (weight 0.80); 2 of 3 kernels are used.") < text.index("█")
    assert "only kernel" not in printed(capsys, kernel_names_=["a"], kernel_weights_=np.array([1.0]))


def test_weights_that_were_not_learned_are_not_listed(capsys):
    even = {
        "kernel_names_": ["a", "b"],
        "kernel_weights_": np.array([0.5, 0.5]),
        "preset": "recommended",
        "gamma": None,
    }
    text = printed(capsys, **even)
    assert "Both kernels count alike: their weights are not learned with --gamma inf; --gamma 10 learns them.\n" in text
    assert "█" not in text


def view_of(number, *, n_samples=9, agreement=(), **more):
    """What a fit tells about a view."""
    known = {"name": f"view {number}", "trusted": True, "weight": 0.5, "reason": "is good", "n_samples": n_samples}
    return {**known, "agreement": dict(agreement), "clarity": np.float64(0.5), **more}


def test_views_are_listed_with_their_files(capsys):
    report = [
        view_of(1, agreement={"view 2": np.float64(7.25), "view 3": -1.0}),
        view_of(2, agreement={"view 1": 7.25, "view 3": 8.5}),
        view_of(3, trusted=False, weight=0.0, agreement={"view 1": -1.0, "view 2": -0.01}, reason="is bad"),
    ]
    plain = summaries.summarise(model_of(view_report_=report), 3, 4, ["a.csv", "b.csv", "c.csv"])
    assert json.loads(json.dumps(plain["views"], allow_nan=False))[0] == {"file": "a.csv", **report[0]}
    summaries.print_views(plain["views"])
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "view file trusted weight agrees most with reason",
        "1 a.csv yes 0.50 b.csv (7.2) is good",
        "2 b.csv yes 0.50 c.csv (8.5) is good",
        "3 c.csv no 0.00 b.csv (0.0) is bad",
    ]


def test_views_that_were_not_compared_agree_with_nobody(capsys):
    report = [view_of(1, n_samples=9), view_of(2, n_samples=10)]
    text = printed(capsys, view_report_=report)
    assert "agrees" not in text
    assert [" ".join(line.split()) for line in text.splitlines()[-3:]] == [
        "view file samples trusted weight reason",
        "1 view 1 9 yes 0.50 is good",
        "2 view 2 10 yes 0.50 is good",
    ]


def test_one_view_is_not_listed(capsys):
    assert "view" not in printed(capsys, view_report_=[view_of(1)])


def test_kernels_of_no_weight_are_counted(capsys):
    names = {"kernel_names_": ["a", "b", "c", "d"]}
    assert "1 other " in printed(capsys, **names, kernel_weights_=np.array([0.2, 0.3, 0.5, 0.0]))
    assert "2 others " in printed(capsys, **names, kernel_weights_=np.array([0.5, 0.5, 0.0, 0.0]))
