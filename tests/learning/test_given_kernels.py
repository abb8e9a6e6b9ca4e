"""Kernels that are handed over."""

import numpy as np
import pytest

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import Gaussian, LazyStack, Linear, StoredStack, build_bank
from kernelbraid.kernels.precomputed import stack_kernels
from kernelbraid.learning.given import GivenKernels
from problems import blobs

X, _ = blobs(n=30)
H = build_bank(X, [Gaussian(0.1), Gaussian(1.0), Linear()])


def given(H, **more):
    return GivenKernels(list(H), stack_kernels, **more)


def test_kernels_are_taken_as_they_are(xp):
    for stored in [False, True]:
        candidates = given([xp.asarray(K) for K in H]).pose(None, stored=stored)
        assert isinstance(candidates.stack, StoredStack if stored else LazyStack)
        np.testing.assert_allclose(to_numpy(candidates.average()), H.mean(axis=0), atol=1e-14)
        assert candidates.names == ["kernel 0", "kernel 1", "kernel 2"]
        assert candidates.bank is None


def test_they_are_not_checked_before_they_are_needed():
    checked = []
    kernels = GivenKernels(list(H), lambda matrices: checked.append(1) or stack_kernels(matrices))
    kernels.size(None)
    assert checked == []
    kernels.pose(None).average()
    assert checked == [1]


def test_samples_with_equal_rows_are_copies():
    rows = np.array([0, 1, 0, 2])
    candidates = given(H[:, rows][:, :, rows]).pose(None)
    assert candidates.identities.tolist() == [0, 1, 0, 2]


def test_posing_and_summing_leave_the_kernels_alone(xp):
    for stored in [False, True]:
        for count in [1, 3]:
            kernels = xp.asarray(H[:count], copy=True)
            candidates = given([kernels[i, ...] for i in range(count)]).pose(None, stored=stored)
            total = candidates.average()
            total *= 0.0
            candidates.stack.factor()
            np.testing.assert_array_equal(to_numpy(kernels), H[:count])
            np.testing.assert_allclose(to_numpy(candidates.average()), H[:count].mean(axis=0), atol=1e-12)


def test_their_size_is_known():
    assert given(H).size(None) == {"n_samples": 30, "n_kernels": 3, "n_views": 0, "itemsize": 8}
    assert given(H.astype(np.float32)).size(None)["itemsize"] == 4


def test_they_are_placed_where_they_are_asked_to_be():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert isinstance(given(H, place=torch.asarray).pose(None).average(), torch.Tensor)
