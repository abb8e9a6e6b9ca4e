from numbers import Integral, Real

import numpy as np
import pytest

from kernelbraid import LKG
from kernelbraid.estimators.base import Interval, Range, Refusal, check_n_clusters, refused_parameter
from kernelbraid.methods import METHODS


def test_a_choice_of_clusters_needs_six_samples():
    check_n_clusters("auto", 6)
    with pytest.raises(ValueError, match="n_samples=5 is too small to choose the number of clusters"):
        check_n_clusters("auto", 5)


def test_a_parameter_that_is_refused_is_found_with_what_it_may_be():
    assert refused_parameter(LKG(3)) is None
    assert refused_parameter(LKG(3, alpha=-1.0)) == Refusal("alpha", -1.0, (Range(False, "(0.0, inf)"), "None"))
    found = refused_parameter(METHODS["RMKKM"].set_params(gamma=1.5))
    assert (found.parameter, found.value) == ("gamma", 1.5)
    assert found.wanted == (Range(False, "[0.01, 0.99]"),)
    assert refused_parameter(LKG(3, n_neighbors="none")).wanted[:2] == (Range(True, "[1, inf)"), frozenset({"all"}))
    with pytest.raises(ValueError, match="The 'alpha' parameter of LKG must be"):
        LKG(3, alpha=-1.0).fit(np.eye(6))


@pytest.mark.parametrize(
    ("interval", "bounds"),
    [
        (Interval(Real, None, 1, closed="right"), "(-inf, 1.0]"),
        (Interval(Real, 0, 1, closed="both"), "[0.0, 1.0]"),
        (Interval(Integral, 2, None, closed="left"), "[2, inf)"),
    ],
)
def test_a_range_is_read_as_scikit_learn_words_it(interval, bounds):
    assert Range.of(interval).bounds == bounds
    assert str(interval).endswith(f" in the range {bounds}")
