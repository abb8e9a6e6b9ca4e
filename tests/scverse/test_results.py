import numpy as np

from kernelbraid.scverse.clustering import by_size


def test_clusters_are_numbered_by_their_sizes():
    np.testing.assert_array_equal(by_size(np.array([0, 2, 2, 1, 1, 1])), [2, 1, 1, 0, 0, 0])
