"""Many samples, a GPU, and several machines."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from kernelbraid import LKG

CENTRES = np.array([[0, 0, 0, 9], [9, 0, 0, 0], [0, 9, 0, 0]], dtype=np.float32)


def drawn(n):
    """Samples around three centres, and which."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    return CENTRES[y] + rng.standard_normal((n, 4), dtype=np.float32), y


def test_very_many_samples_are_clustered():
    X, y = drawn(150_000)
    model = LKG(3, random_state=0).fit(X)
    assert adjusted_rand_score(y[::100], model.labels_[::100]) > 0.99


def test_a_file_is_clustered_from_where_it_lies_on_the_command_line(program, folder, read_labels):
    X, y = drawn(3000)
    np.save(folder / "samples.npy", X)
    program("cluster", "samples.npy", "-k", 3, "--out", "labels.csv")
    assert adjusted_rand_score(y, list(read_labels("labels.csv").values())) > 0.99


def test_dask_arrays_are_clustered_where_they_are():
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    X, y = drawn(3000)
    model = LKG(3, random_state=0).fit(da.from_array(X, chunks=(700, 4)))
    assert adjusted_rand_score(y, model.labels_) > 0.99


@pytest.mark.gpu
def test_a_gpu_finds_the_same_clusters(blobs):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    X, _ = blobs
    labels = LKG(3, device="cuda", random_state=0).fit_predict(X)
    assert adjusted_rand_score(labels, LKG(3, random_state=0).fit_predict(X)) == 1
