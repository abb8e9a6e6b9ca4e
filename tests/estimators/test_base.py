import pytest

from kernelbraid.estimators.base import check_n_clusters


def test_a_choice_of_clusters_needs_six_samples():
    check_n_clusters("auto", 6)
    with pytest.raises(ValueError, match="n_samples=5 is too small to choose the number of clusters"):
        check_n_clusters("auto", 5)
