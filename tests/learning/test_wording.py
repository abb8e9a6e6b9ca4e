import numpy as np
import pytest

from kernelbraid import ADMM, LKG
from kernelbraid.kernels import BANKS, bank_names
from kernelbraid.learning.report import describe_weights
from problems import blobs

FOUR = ["gaussian s=2", "polynomial (1 + x.y)^2", "polynomial (1 + x.y)^4", "linear"]


def test_a_sentence_says_which_kernel_matters_and_how_many_are_used():
    for weights, sentence in [
        ([0.61, 0.29, 0.1, 0.0], "gaussian s=2 matters most (weight 0.61); 3 of 4 kernels are used."),
        ([0.1, 0.1, 0.2, 0.6], "linear matters most (weight 0.60); all 4 kernels are used."),
        (
            [1.0, 0.0, 0.0, 1e-9],
            "gaussian s=2 matters most (weight 1.00); it is the only one of 4 kernels that is used.",
        ),
        ([0.4, 0.2, 0.0, 0.4], "gaussian s=2 and linear matter most (weight 0.40 each); 3 of 4 kernels are used."),
        (
            [0.31, 0.309, 0.08, 0.311],
            "gaussian s=2, polynomial (1 + x.y)^2 and linear matter most (weight 0.31 each); all 4 kernels are used.",
        ),
        ([0.25, 0.25, 0.25, 0.25], "All 4 kernels have the same weight (0.25)."),
        ([0.26, 0.24, 0.25, 0.25], "All 4 kernels matter alike (weights 0.24 to 0.26)."),
        ([0.0, 0.0, 0.0, 0.0], "None of 4 kernels is used."),
    ]:
        assert describe_weights(FOUR, weights) == [sentence]


def test_few_and_many_kernels_have_words_of_their_own():
    assert describe_weights([], []) == []
    assert describe_weights(["linear"], [1.0]) == ["linear is the only kernel."]
    assert describe_weights(["a", "b"], [0.5, 0.5]) == ["Both kernels have the same weight (0.5)."]
    assert describe_weights(["a", "b"], [0.7, 0.3]) == ["a matters most (weight 0.70); both kernels are used."]
    (many,) = describe_weights([f"kernel {i}" for i in range(6)], [0.24, 0.24, 0.24, 0.24, 0.04, 0.0])
    assert many == "4 kernels share the largest weight (0.24 each); 5 of 6 kernels are used."


def test_every_view_has_its_share_in_the_order_of_the_views():
    names = bank_names([BANKS["near"], BANKS["near"]])
    told = describe_weights(names, [0.3, 0.1, 0.3, 0.25, 0.05, 0.0])
    assert told == [
        f"{names[0].split(': ')[1]} of view 1 and {names[2].split(': ')[1]} of view 1 matter most (weight 0.30 each); "
        "5 of 6 kernels are used.",
        "View 1: 0.70 of the weight.",
        "View 2: 0.30 of the weight.",
    ]


def test_shares_are_of_the_whole_even_where_weights_do_not_sum_to_one():
    assert describe_weights(["view 1: a", "view 2: b"], [3.0, 1.0])[1:] == [
        "View 1: 0.75 of the weight.",
        "View 2: 0.25 of the weight.",
    ]
    assert describe_weights(["view 1: a", "view 2: b"], [0.0, 0.0]) == ["None of 2 kernels is used."]


def test_the_weights_of_a_fit_are_described():
    X, _ = blobs(n=30)
    model = LKG(3, kernels="rmkkm", n_init=1, solver=ADMM(gamma=10.0), random_state=0).fit(X)
    (sentence,) = describe_weights(model.solution_.names, model.solution_.g)
    assert f"{len(model.solution_.names)} kernels" in sentence
    views = LKG(3, n_init=1, solver=ADMM(gamma=10.0), random_state=0).fit(
        [X, X + 0.1 * np.random.default_rng(0).normal(size=X.shape)]
    )
    assert [told[:7] for told in describe_weights(views.solution_.names, views.solution_.g)[1:]] == [
        "View 1:",
        "View 2:",
    ]


def test_names_and_weights_must_match():
    with pytest.raises(ValueError, match="names has 2 entries and weights 1; give one name a weight"):
        describe_weights(["a", "b"], [1.0])
