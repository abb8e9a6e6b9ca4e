import numpy as np
import pytest

from kernelbraid.kernels import build_bank
from kernelbraid.methods import SimpleMultipleKernelKMeans
from kernelbraid.ops.closed_forms import cosine_kernel
from kernelbraid.solvers.kmeans import kmeans
from problems import blobs, relative_gap, rival, rival_kernels

X, y = blobs(n=36)
NOISY = X + np.random.default_rng(0).normal(size=X.shape)


def fit(samples=NOISY, k=3, **parameters):
    return SimpleMultipleKernelKMeans(k, random_state=0, **parameters).fit(samples)


def test_the_embedding_has_unit_rows_and_its_clusters_are_the_labels():
    model = fit()
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1)
    found = kmeans(model.embedding_, 3, n_init=10, random_state=np.random.RandomState(0))
    assert model.inertia_ == pytest.approx(found.inertia)


def test_the_objective_falls_and_the_paper_has_the_lowest():
    authors, paper = fit(), fit(preset="paper")
    assert (np.diff(authors.objective_) <= 0).all()
    assert (np.diff(paper.objective_) <= 0).all()
    assert paper.objective_[-1] <= authors.objective_[-1] * (1 + 1e-12)
    assert (authors.status_, paper.status_) == ("converged", "converged")


def test_views_count_with_a_kernel_each():
    model = fit([NOISY[:, :3], NOISY[:, 3:]], kernels="middle")
    assert len(model.kernel_names_) == 8
    assert model.n_features_in_ == 6


def test_a_negative_kernel_is_refused_with_a_sentence():
    H = build_bank(NOISY, "middle")
    H[2] *= -1
    with pytest.raises(ValueError, match=r"^kernel 2 of X is no inner product: the squared length of sample \d+ is -"):
        fit(H, kernels="precomputed")


def test_negative_values_beside_the_diagonal_are_no_negative_kernel():
    H = np.stack([cosine_kernel(NOISY @ NOISY.T, "K", centred=True), build_bank(NOISY, "middle")[0]])
    assert H[0].min() < 0
    assert len(set(fit(H, kernels="precomputed").labels_)) == 3


@pytest.mark.reference
@pytest.mark.parametrize(("name", "k"), [("webkb203", 4)])
def test_weights_and_clusters_are_those_of_the_authors_code(name, k):
    known = rival("simplemkkm", name)
    model = SimpleMultipleKernelKMeans(k, kernels="precomputed", n_init=200, random_state=0).fit(rival_kernels(name))
    assert relative_gap(model.kernel_weights_, known["weights"][-1]) < 1e-8
    assert model.inertia_ <= known["kmeans_inertia"].min() * (1 + 1e-9)
