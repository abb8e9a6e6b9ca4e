"""scikit-learn's own checks, for every estimator of the package."""

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelbraid import LKG


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the checks fit arbitrary noise
@parametrize_with_checks([LKG(), LKG(graph_penalty="l1"), LKG(preset="paper")])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_the_filter_above_names_the_class_that_fits_raise():
    assert ConvergenceWarning.__module__ == "sklearn.exceptions"
