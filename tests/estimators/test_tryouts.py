import math

import numpy as np
import pytest

from kernelbraid import LKG
from kernelbraid.estimators.tryouts import Member, Reference, agreed, best_of, check_tryouts, explain, score_members
from kernelbraid.kernels import Custom, Gaussian, build_bank
from kernelbraid.metrics import agreement
from problems import blobs

X, y = blobs(n=30)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "^candidates is an empty list; give at least one dict of parameters"),
        ([{}, {"alpha": -1.0}], r"^candidates\[1\]: The 'alpha' parameter"),
        ([{"nonsense": 1}], r"^candidates\[0\] sets 'nonsense', which is no parameter of LKG; it has"),
        ([{}, {}, ["alpha"]], r"^candidates\[2\]=\['alpha'\] is no dict; give parameters of LKG"),
        ([{"kernels": "nosuch"}], r"^candidates\[0\]: kernels='nosuch' is no bank; use one of"),
        ([{"kernels": ["rmkkm", "nosuch"]}], r"^candidates\[0\]: kernels='nosuch' is no bank"),
        ([{"kernels": []}], r"^candidates\[0\]: kernels is an empty list"),
        ([{"kernels": "precomputed"}], r"^candidates\[0\] asks for 'precomputed' kernels"),
        ([{"n_clusters": 0}], r"^candidates\[0\]: The 'n_clusters' parameter"),
        ([{"preset": "best"}], r"^candidates\[0\]: The 'preset' parameter"),
    ],
)
def test_the_first_setting_that_no_fit_can_have_is_named(candidates, message):
    with pytest.raises(ValueError, match=message):
        check_tryouts(LKG(3), candidates)


def test_kernels_of_a_setting_are_refused_where_kernels_are_given():
    with pytest.raises(ValueError, match=r"^candidates\[1\] asks for kernels of its own, and the search was given"):
        check_tryouts(LKG(3, kernels="precomputed"), [{}, {"kernels": "rmkkm"}])


def test_a_setting_changes_its_own_parameters_and_leaves_the_base_alone():
    base = LKG(3, alpha=0.5)
    before = base.get_params()
    first, second = check_tryouts(base, [{"alpha": 2.0, "gamma": 10.0}, {}])
    assert first.model.get_params() == {**before, "alpha": 2.0, "gamma": 10.0}
    assert (first.settings.learning.alpha, first.settings.learning.gamma) == (2.0, 10.0)
    assert second.settings.learning.alpha == 0.5
    assert base.get_params() == before


def test_settings_share_kernels_if_their_banks_are_the_same():
    kernels = [[Gaussian(0.5)], [Gaussian(0.5)], [Gaussian(2.0)]]
    one, same, other = check_tryouts(LKG(3), [{"kernels": bank, "alpha": 1.0 + i} for i, bank in enumerate(kernels)])
    assert one.bank == same.bank != other.bank


def test_functions_share_kernels_only_if_they_are_the_same():
    def dot(X, Y):
        return X @ Y.T

    def squared(X, Y):
        return (X @ Y.T) ** 2

    banks = [[Custom(dot)], [Custom(dot)], [Custom(squared)], [dot], "middle", ["middle", [Custom(dot)]]]
    first, same, *others = (tryout.bank for tryout in check_tryouts(LKG(3), [{"kernels": bank} for bank in banks]))
    assert first == same
    assert len({first, *others}) == len(others) + 1


def member(labels, fault="", **scores):
    return Member(
        {"alpha": 0.25}, np.asarray(labels), "converged", 0.1, {"modularity": 0.5, "components": 1.0, **scores}, fault
    )


def test_a_score_is_the_agreement_with_the_others_times_that_of_cuts_of_its_own():
    labellings = [y, y, np.arange(30) % 3]
    members = [member(labels, stability=share) for labels, share in zip(labellings, (0.4, 0.6, -0.2), strict=True)]
    score_members(members, build_bank(X, [Gaussian(1.0)])[0])
    for each, agrees in zip(members, agreement(labellings), strict=True):
        assert each.scores["score"] == pytest.approx(max(agrees, 0) * max(each.scores["stability"], 0))
    assert best_of(members) == 1
    assert agreed(members, members[0]) == members[0].scores["agreement"]


def test_a_single_setting_has_nobody_to_agree_with():
    alone = member(y, stability=0.4)
    score_members([alone], build_bank(X, [Gaussian(1.0)])[0])
    assert alone.scores["score"] == 0.4
    assert agreed([alone], alone) == 1.0
    assert agreed([alone, member(y, "broken")], alone) == 1.0


def test_a_faulty_setting_is_never_chosen_before_a_sound_one():
    assert best_of([member(y, "broken"), member(y, score=0.0), member(y, score=0.3)]) == 2
    assert best_of([member(y, "broken"), member(y, score=0.0)]) == 1
    assert best_of([member(y, "broken"), member(y, "too")]) == 0


def test_the_first_setting_stays_unless_another_is_better_by_the_lead():
    assert best_of([member(y, score=0.5), member(y, score=0.54)], lead=1.1) == 0
    assert best_of([member(y, score=0.5), member(y, score=0.56)], lead=1.1) == 1
    assert best_of([member(y, "broken"), member(y, score=0.01)], lead=1.1, least=0.8) == 1
    assert best_of([member(y, score=0.1), member(y, score=0.7)], lead=1.1, least=0.8) == 0
    assert best_of([member(y, score=0.1), member(y, score=0.9)], lead=1.1, least=0.8) == 1


def test_settings_are_compared_by_the_mean_of_their_kernels_each_taken_once():
    H = build_bank(X, [Gaussian(0.5), Gaussian(2.0)])
    reference = Reference()
    for name, K in (("a", H[0]), ("b", H[1]), ("a", H[0])):
        reference.add(name, lambda K=K: K)
    np.testing.assert_allclose(reference.kernel(), H.mean(axis=0), rtol=1e-14)
    assert not reference.all_alike


def test_kernels_are_alike_if_there_are_several_and_none_differs():
    K = build_bank(X, [Gaussian(1.0)])[0]
    reference = Reference()
    reference.add("a", lambda: K)
    assert not reference.all_alike
    reference.add("b", lambda: K * (1 + 1e-9))
    assert reference.all_alike
    reference.add("c", lambda: K * 1.01)
    assert not reference.all_alike


@pytest.mark.parametrize(
    ("agrees", "says"), [(0.9, "The settings agree well (0.90"), (0.5, None), (0.1, "The settings agree little (0.10")]
)
def test_sentences_say_what_was_chosen_and_how_far_the_settings_agree(agrees, says):
    members = [member(y, agreement=agrees, silhouette=0.2, score=agrees / 2) for _ in range(2)]
    told = explain([*members, member(y, "the fit ended with diverged")], members[0], available=5, seconds=1.0)
    assert told[0] == "3 settings were fitted in 1.0 s (2 more were left when the search ended); 2 of them are sound."
    assert told[1:3] == ["Left out: the fit ended with diverged.", "Chosen: alpha=0.25."]
    heard = [sentence for sentence in told if sentence.startswith("The settings agree")]
    assert [sentence[: len(says)] for sentence in heard] == [says] if says else heard == []


def test_without_a_sound_setting_the_sentences_end_with_that():
    broken = member(y, "broken")
    told = explain([broken], broken, available=1, seconds=math.pi)
    assert told[0] == "1 setting was fitted in 3.1 s; 0 of them are sound."
    assert told[-1].startswith("No setting is sound, so the first one was kept (alpha=0.25);")
