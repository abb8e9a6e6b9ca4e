import os

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

from kernelbraid import LKG
from kernelbraid.learning.counting import count_clusters, each, largest_count
from kernelbraid.learning.counts import Counts
from problems import blobs


def block_graphs(sizes, n_graphs=4, seed=0):
    """Graphs with dense blocks and a few edges between them, drawn anew for each."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(y[:, None] == y, 0.6, 0.01)
    found = []
    for _ in range(n_graphs):
        upper = np.triu(rng.random(chance.shape) < chance, 1).astype(float)
        found.append(sparse.csr_array(upper + upper.T))
    return found


def test_blocks_are_counted():
    for sizes in [[20, 20, 20], [12, 15, 20, 25, 30, 18, 14], [40, 10]]:
        counts = count_clusters(block_graphs(sizes), random_state=np.random.RandomState(0))
        assert counts.best == len(sizes)
        assert (np.diff(counts.n_clusters) > 0).all()
        assert counts.stability.max() <= 1 + 1e-12


def evidence(stability, modularity=None, cut=None, **more):
    """Return counts for 2, 3, ... with these columns; modularity at its limit and nothing cut if they are not given."""
    numbers = np.arange(2, len(stability) + 2)
    limit = 1 - 1 / numbers
    modularity = limit if modularity is None else np.array(modularity)
    zero = np.zeros(len(stability))
    return Counts(numbers, np.array(stability), modularity, zero if cut is None else np.array(cut), zero, **more)


def test_the_score_is_the_product_of_what_speaks_for_a_number():
    counts = evidence([0.5, 0.9, -0.1], modularity=[0.25, 0.3, 0.2], cut=[0.2, 0.1, 0.0])
    np.testing.assert_allclose(counts.score, [0.5 * 0.8 * 0.5, 0.9 * 0.9 * 0.45, 0.0])
    assert counts.best == 3
    assert set(counts.columns()) == {"n_clusters", "score", "stability", "modularity", "cut", "eigengap"}


def test_the_largest_score_wins_and_modularity_decides_among_equals():
    assert evidence([0.5, 0.9, 0.8]).best == 3
    assert evidence([0.9, 0.9, 0.8]).best == 3  # the limit of the modularity is higher
    near = np.array([False, True, True])  # the others had few restarts, and may owe their place to them
    assert evidence([0.9, 0.5, 0.8], is_near=near).best == 4


def test_the_plateau_and_other_peaks_are_told():
    counts = evidence([0.5, 0.97, 1.0, 0.96, 0.6, 0.9, 0.3])
    assert counts.plateau == (3, 5)
    assert counts.alternatives == [7]
    told = " ".join(counts.sentences())
    assert "4 clusters have the best score among 2 to 8" in told
    assert "3 to 5 are about as good" in told
    assert "Plausible as well: 7;" in told
    sharp = evidence([0.2, 1.0, 0.3])
    assert sharp.plateau == (3, 3)
    assert len(sharp.sentences()) == 1


@pytest.mark.parametrize(("share", "best", "told"), [(0.2, 3, ""), (0.7, 3, "may be none"), (1.0, 1, "left in one")])
def test_a_cloud_that_falls_apart_as_easily_speaks_against_any_clusters(share, best, told):
    counts = evidence([0.2, 1.0, 0.3], background=share)
    assert counts.best == best
    assert counts.peak == 3
    assert (counts.warning is None) == (told == "")
    assert told in " ".join(counts.sentences())


@pytest.mark.parametrize("draw", [lambda rng: rng.normal(size=(150, 2)), lambda rng: rng.normal(size=(120, 30))])
def test_noise_is_one_cluster_or_doubted(draw):
    X = draw(np.random.default_rng(0))
    with pytest.warns(UserWarning, match="no clear clusters"):
        model = LKG("auto", random_state=0).fit(X)
    assert "a cloud without any" in " ".join(model.why_)
    if model.n_clusters_ == 1:
        assert set(model.labels_) == {0}


def test_the_eigengap_is_that_of_the_normalised_graph():
    graphs = block_graphs([15, 15, 15], n_graphs=1) * 2
    counts = count_clusters(graphs, random_state=np.random.RandomState(0))
    A = graphs[0].toarray()
    scale = 1 / np.sqrt(A.sum(axis=1))
    values = np.linalg.eigvalsh(scale[:, None] * A * scale)[::-1]
    expected = values[counts.n_clusters - 1] - values[counts.n_clusters]
    np.testing.assert_allclose(counts.eigengap, expected, atol=1e-6)  # graphs are embedded in single precision


def test_all_numbers_near_the_best_are_tried():
    counts = count_clusters(block_graphs([20] * 3 + [10] * 9), random_state=np.random.RandomState(0))
    assert {counts.best - 1, counts.best, counts.best + 1} <= set(counts.n_clusters)
    assert counts.n_clusters[-1] == largest_count(150) == 50


def test_processes_count_as_this_one_does():
    graphs = block_graphs([12, 15, 18])
    alone, together = (count_clusters(graphs, random_state=np.random.RandomState(0), n_jobs=n) for n in (None, 2))
    for name, column in alone.columns().items():
        np.testing.assert_array_equal(column, together.columns()[name])


def test_lkg_chooses_and_reports(xp):
    X, y = blobs(n=60)
    model = LKG("auto", random_state=0).fit(X)
    assert model.n_clusters_ == len(set(y)) == len(set(model.labels_))
    found = model.n_clusters_evidence_
    assert set(found) == {"n_clusters", "score", "stability", "modularity", "cut", "eigengap"}
    assert len({len(column) for column in found.values()}) == 1
    assert found["n_clusters"].min() == 2
    assert found["n_clusters"].max() == 20
    again = LKG("auto", random_state=0).fit(xp.asarray(X))
    assert again.n_clusters_ == model.n_clusters_


def test_a_given_number_needs_no_evidence():
    X, _ = blobs(n=30)
    model = LKG(4, random_state=0).fit(X)
    assert (model.n_clusters_, model.n_clusters_evidence_) == (4, None)
    assert model.n_components_ >= 1


def square(number):
    return number * number


def process(number):
    return os.getpid()


def blas_threads(number):
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def total(A, number):
    return float(A.sum()) + number


def fail(number):
    raise ValueError(f"task {number}")


def test_results_come_in_the_order_of_the_tasks():
    for n_jobs in [None, 1, 2, 3]:
        assert list(each(square, ((i,) for i in range(12)), n_jobs)) == [i * i for i in range(12)]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_no_tasks_have_no_results(n_jobs):
    assert list(each(square, (), n_jobs)) == []


def test_one_process_is_this_one_and_several_are_others():
    for n_jobs in (None, 1):
        assert set(each(process, ((i,) for i in range(3)), n_jobs)) == {os.getpid()}
    assert os.getpid() not in set(each(process, ((i,) for i in range(4)), 2))


def test_tasks_are_made_as_they_are_needed():
    made = []

    def tasks():
        for i in range(100):
            made.append(i)
            yield (i,)

    alone = each(square, tasks())
    assert made == []
    assert [next(alone), next(alone)] == [0, 1]
    assert made == [0, 1]


def test_processes_have_one_thread_of_linear_algebra():
    for threads in each(blas_threads, ((i,) for i in range(2)), 2):
        assert set(threads) <= {1}


def test_large_arrays_are_shared():
    A = np.ones((400, 400))
    assert list(each(total, ((A, i) for i in range(3)), 2)) == [160000.0, 160001.0, 160002.0]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_errors_come_back(n_jobs):
    with pytest.raises(ValueError, match=r"task [01]"):  # of two processes either may be first
        list(each(fail, ((i,) for i in range(2)), n_jobs))


def test_nobody_is_warned_when_the_rest_is_not_wanted():
    results = each(square, ((i,) for i in range(50)), 2)
    assert next(results) == 0
    results.close()  # warnings are errors here
