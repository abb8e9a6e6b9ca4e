import pytest
from sklearn.base import clone

import kernelbraid
from kernelbraid import methods
from kernelbraid.methods import METHODS, TITLES, KernelKMeans, kernels_taken, settings_of
from problems import blobs

PAPER = ("KKM", "SC", "RKKM", "SSR", "SCSK", "MKKM", "AASC", "RMKKM", "SCMK", "LKGs", "LKGr")
LATER = ("SimpleMKKM", "SMKL", "GMC", "CGD")


def values(model):
    """Return the parameters, also those of a solver, which itself equals no other one."""
    return {name: value for name, value in model.get_params().items() if name != "solver"}


def test_the_methods_are_those_of_the_paper_in_its_order_and_four_later_ones():
    assert tuple(METHODS) == (*PAPER, *LATER)
    assert tuple(TITLES) == tuple(METHODS)
    assert len(set(TITLES.values())) == len(METHODS)


def test_a_look_up_gives_an_estimator_that_nobody_else_has():
    METHODS["KKM"].set_params(n_clusters=3, n_init=7).fit(blobs(n=12, d=2)[0])
    assert METHODS["KKM"].get_params() == KernelKMeans(init="random", n_init=1).get_params()
    assert not hasattr(METHODS["KKM"], "labels_")


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_an_exported_class_with_legal_settings(name):
    model = METHODS[name]
    assert type(model).__name__ in (*kernelbraid.__all__, *methods.__all__)
    model._validate_params()
    assert values(type(model)().set_params(**settings_of(model))) == values(model)
    assert values(clone(model)) == values(model)


def test_one_kernel_several_or_none_are_told_by_the_parameters():
    taken = {name: kernels_taken(METHODS[name]) for name in METHODS}
    assert [name for name in taken if taken[name] == "one"] == ["KKM", "SC", "RKKM", "SCSK"]
    assert [name for name in taken if taken[name] == "none"] == ["SSR"]


def test_the_two_forms_of_the_proposed_method_differ_in_the_penalty_alone():
    for name, penalty in [("LKGs", "l1"), ("LKGr", "nuclear")]:
        assert settings_of(METHODS[name]) == {"preset": "authors", "solver__graph_penalty": penalty}
