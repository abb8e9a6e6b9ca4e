import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbraid.metrics import SCORES, evaluate
from kernelbraid.metrics.scores import accuracy, entropy, f_score, nmi, precision, purity, recall

NAMES = ["acc", "nmi", "purity", "ari", "f_score", "precision", "recall", "entropy"]


@st.composite
def labellings(draw, max_size=30, n_labels=5):
    size = draw(st.integers(1, max_size))
    labels = st.lists(st.integers(0, n_labels - 1), min_size=size, max_size=size)
    return draw(labels), draw(labels)


def brute_accuracy(y_true, y_pred):
    classes, clusters = sorted(set(y_true)), sorted(set(y_pred))
    classes += [None] * max(0, len(clusters) - len(classes))  # a cluster may stay without a class
    best = 0
    for choice in permutations(classes, len(clusters)):
        match = dict(zip(clusters, choice, strict=True))
        best = max(best, sum(t == match[p] for t, p in zip(y_true, y_pred, strict=True)))
    return best / len(y_true)


def brute_pairs(y_true, y_pred):
    tp = fp = fn = 0
    for i, j in combinations(range(len(y_true)), 2):
        same_class, same_cluster = y_true[i] == y_true[j], y_pred[i] == y_pred[j]
        tp += same_class and same_cluster
        fp += same_cluster and not same_class
        fn += same_class and not same_cluster
    return tp, fp, fn


def brute_entropy(labels, base):
    shares = [labels.count(value) / len(labels) for value in set(labels)]
    return -sum(share * math.log(share, base) for share in shares)


def brute_information(y_true, y_pred):
    total, n = 0.0, len(y_true)
    for c in set(y_true):
        for k in set(y_pred):
            joint = sum(t == c and p == k for t, p in zip(y_true, y_pred, strict=True)) / n
            if joint:
                total += joint * math.log(joint / (y_true.count(c) / n * y_pred.count(k) / n))
    return total


def test_evaluate_returns_the_eight_measures_in_order():
    scores = evaluate([0, 0, 1], [1, 1, 0])
    assert list(scores) == NAMES == list(SCORES)
    assert all(type(value) is float for value in scores.values())


def test_a_perfect_clustering_scores_one_everywhere_but_in_entropy():
    scores = evaluate(["a", "a", "b", "b", "c"], [2, 2, 0, 0, 1])
    assert scores.pop("entropy") == pytest.approx(1.521928, abs=1e-6)
    assert scores == dict.fromkeys(NAMES[:-1], 1.0)


@given(labellings(), st.permutations(range(5)), st.permutations("edcba"))
def test_no_measure_depends_on_the_names_of_classes_and_clusters(labels, classes, clusters):
    y_true, y_pred = labels
    renamed = evaluate([classes[i] for i in y_true], [clusters[i] for i in y_pred])
    assert renamed == pytest.approx(evaluate(y_true, y_pred), abs=1e-12)


@given(labellings(), st.randoms(use_true_random=False))
def test_no_measure_depends_on_the_order_of_the_samples(labels, random):
    order = list(range(len(labels[0])))
    random.shuffle(order)
    shuffled = evaluate(*([side[i] for i in order] for side in labels))
    assert shuffled == pytest.approx(evaluate(*labels), abs=1e-12)


@given(labellings())
def test_every_measure_keeps_its_bounds(labels):
    scores = evaluate(*labels)
    n_clusters = len(set(labels[1]))
    assert 0 <= scores.pop("entropy") <= math.log2(n_clusters) + 1e-12
    assert -0.5 - 1e-12 <= scores.pop("ari") <= 1
    assert all(0 <= value <= 1 for value in scores.values())
    assert scores["acc"] <= scores["purity"]


@given(labellings(max_size=12, n_labels=4))
def test_accuracy_is_the_best_over_all_matchings(labels):
    assert accuracy(*labels) == pytest.approx(brute_accuracy(*labels))


@given(labellings(max_size=15))
def test_pairwise_measures_agree_with_a_double_loop(labels):
    tp, fp, fn = brute_pairs(*labels)
    nothing = float(tp + fp + fn == 0)
    assert precision(*labels) == pytest.approx(tp / (tp + fp) if tp + fp else nothing)
    assert recall(*labels) == pytest.approx(tp / (tp + fn) if tp + fn else nothing)
    assert f_score(*labels) == pytest.approx(2 * tp / (2 * tp + fp + fn) if tp + fp + fn else nothing)


@given(labellings())
def test_ari_agrees_with_its_definition_by_pairs(labels):
    tp, fp, fn = brute_pairs(*labels)
    pairs = len(labels[0]) * (len(labels[0]) - 1) / 2
    expected = (tp + fp) * (tp + fn) / pairs if pairs else 0.0
    largest = (2 * tp + fp + fn) / 2
    defined = (tp - expected) / (largest - expected) if largest != expected else 1.0
    assert evaluate(*labels)["ari"] == pytest.approx(defined, abs=1e-12)


@given(labellings())
def test_purity_entropy_and_nmi_agree_with_their_definitions(labels):
    y_true, y_pred = labels
    largest = 0
    for cluster in set(y_pred):
        members = [t for t, p in zip(y_true, y_pred, strict=True) if p == cluster]
        largest += max(members.count(value) for value in set(members))
    assert purity(y_true, y_pred) == pytest.approx(largest / len(y_true))
    assert entropy(y_true, y_pred) == pytest.approx(brute_entropy(y_pred, 2), abs=1e-12)
    entropies = [brute_entropy(side, math.e) for side in labels]
    for average, divisor in (("max", max(entropies)), ("arithmetic", sum(entropies) / 2)):
        defined = brute_information(y_true, y_pred) / divisor if divisor > 1e-12 else 1.0
        assert nmi(y_true, y_pred, average=average) == pytest.approx(defined, abs=1e-9)


def test_nmi_average_reaches_nmi():
    labels = [0, 0, 1, 1], [0, 0, 1, 2]
    assert evaluate(*labels)["nmi"] == pytest.approx(2 / 3)
    assert evaluate(*labels, nmi_average="arithmetic")["nmi"] == pytest.approx(0.8)
    with pytest.raises(ValueError, match="'median'; choose 'max' or 'arithmetic'"):
        evaluate(*labels, nmi_average="median")


def test_clusters_and_classes_may_differ_in_number():
    assert accuracy([0, 0, 0, 0], [0, 0, 1, 2]) == 0.5
    assert accuracy([0, 1, 2, 3], [0, 0, 0, 0]) == 0.25


def test_one_cluster_has_no_entropy():
    scores = evaluate([0, 0, 1, 1], [7, 7, 7, 7])
    assert str(scores["entropy"]) == "0.0"
    assert scores["nmi"] == 0.0
    assert scores["recall"] == 1.0


def test_one_sample_is_perfectly_clustered():
    assert evaluate(["only"], [3]) == {**dict.fromkeys(NAMES, 1.0), "entropy": 0.0}


def test_without_any_pair_in_either_partition_pairwise_measures_are_one():
    assert [score([1, 2, 3], [4, 5, 6]) for score in (precision, recall, f_score)] == [1.0, 1.0, 1.0]


def test_without_a_pair_in_one_partition_pairwise_measures_are_zero():
    for labels in (([1, 1, 1], [4, 5, 6]), ([1, 2, 3], [4, 4, 4])):
        assert [score(*labels) for score in (precision, recall, f_score)] == [0.0, 0.0, 0.0]


def test_many_samples_do_not_overflow():
    n = 200_000  # n squared is beyond 32 bits
    y = np.arange(n, dtype=np.int32) % 2
    scores = evaluate(y.astype(np.int8), y)
    assert scores == {**dict.fromkeys(NAMES[:-1], 1.0), "entropy": 1.0}


def test_labels_of_any_type_are_accepted():
    for labels in [
        np.array(["x", "y", "x"]),
        np.array(["x", "y", "x"], dtype=object),
        [True, False, True],
        np.array([2.0, 1.0, 2.0]),
        np.array([-5, 9, -5], dtype=np.int8),
        ("x", "y", "x"),
    ]:
        assert evaluate(labels, [0, 1, 0])["acc"] == 1.0


def test_labels_may_be_a_pandas_or_polars_column():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.Series(["x", "y", "x"], dtype="category"), polars.Series([0, 1, 0])
    assert evaluate(*frame)["acc"] == 1.0


@pytest.mark.parametrize(
    ("y_true", "y_pred", "sentence"),
    [
        ([0, 1], [0, 1, 1], "y_true has 2 labels and y_pred has 3; give both one label per sample"),
        ([], [], "y_true is empty"),
        ([0], [], "y_pred is empty"),
        ([[0], [1]], [0, 1], r"y_true has shape \(2, 1\); give a vector"),
        (3, [0], r"y_true has shape \(\)"),
        ([0, 1], [0.0, math.nan], r"y_pred has no label \(nan\) at position 1"),
        (np.array(["a", None], dtype=object), [0, 1], r"y_true has no label \(None\) at position 1"),
        (np.array(["a", 1], dtype=object), [0, 1], "y_true mixes labels of type int and str"),
    ],
)
def test_bad_labels_get_one_clear_sentence(y_true, y_pred, sentence):
    for score in [evaluate, *SCORES.values()]:
        with pytest.raises(ValueError, match=sentence) as error:
            score(y_true, y_pred)
        assert "\n" not in str(error.value)
