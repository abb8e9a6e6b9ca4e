import numpy as np
import pytest
from scipy import sparse

from kernelbraid.datasets import available, load
from kernelbraid.datasets.made import MADE
from kernelbraid.metrics import accuracy


def test_every_data_set_is_drawn_alike_each_time():
    for name in MADE:
        once, again = load(name), load(name)
        assert once.checksum == again.checksum
        values = once.X.data if sparse.issparse(once.X) else once.X
        assert np.isfinite(values).all()
        assert set(once.y) == set(range(once.n_clusters))
        assert np.bincount(once.y).min() >= 5
        assert name not in available()  # they are no data of anybody


def test_seeds_and_draws_are_their_own():
    assert len({made.seed for made in MADE.values()}) == len(MADE)
    assert len({load(name).checksum for name in MADE}) == len(MADE)


def test_there_are_groups_of_several_kinds():
    groups = [made.group for made in MADE.values()]
    assert len(MADE) >= 20
    assert min(groups.count(group) for group in set(groups)) >= 3
    counts = [load(name).n_clusters for name in MADE]
    assert (min(counts), max(counts)) == (2, 120)


def test_samples_come_in_random_order():
    for name in MADE:
        y = load(name).y
        changes = np.count_nonzero(np.diff(y))
        sizes = np.bincount(y) / len(y)
        assert changes > 0.7 * (1 - np.sum(sizes**2)) * (len(y) - 1)


@pytest.mark.parametrize("name", ["made_blobs_plane", "made_subspaces_five", "made_topics_five", "made_genes_two"])
def test_the_classes_are_there_to_be_found(name):
    """Samples are nearest by angle to those of their own class, far above chance."""
    dataset = load(name)
    X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X - dataset.X.mean(axis=0)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    similarity = np.abs(X @ X.T) if MADE[name].group == "subspaces" else X @ X.T
    np.fill_diagonal(similarity, -1)
    found = dataset.y[similarity.argmax(axis=1)]
    assert np.mean(found == dataset.y) > 1.5 * np.max(np.bincount(dataset.y)) / len(dataset.y)
    assert accuracy(dataset.y, dataset.y[::-1]) < 0.9
