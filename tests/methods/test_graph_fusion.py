import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from kernelbraid.kernels import Linear, build_bank
from kernelbraid.methods import MultiViewGraphFusion
from problems import relative_gap, rival, rival_views

rng = np.random.default_rng(0)
y = np.arange(60) % 3
ONE = [Linear()]
VIEWS = [rng.normal(size=(3, d))[y] + 0.4 * rng.normal(size=(60, d)) for d in (12, 20)]

NOISE = [rng.normal(size=(60, d)) for d in (12, 20)]


def fit(views=VIEWS, k=3, **parameters):
    return MultiViewGraphFusion(k, **{"n_init": 5, "random_state": 0, **parameters}).fit(views)


@pytest.mark.parametrize("preset", ["authors", "paper"])
def test_clusters_are_the_components_of_the_graph(preset):
    model = fit(preset=preset)
    count, parts = connected_components(model.graph_)
    assert (count, model.status_) == (3, "converged")
    assert adjusted_rand_score(parts, model.labels_) == adjusted_rand_score(y, model.labels_) == 1
    assert model.inertia_ == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(model.coefficients_.sum(axis=0), 1)


def test_scale_and_offset_of_a_sample_do_not_matter():
    scales = rng.uniform(1, 5, size=(60, 1))
    other = fit([scales * view + rng.normal(size=(60, 1)) for view in VIEWS])
    np.testing.assert_allclose(other.graph_, fit().graph_, atol=1e-6)


def test_kernels_take_the_place_of_views_where_there_is_one():
    one, given = fit(VIEWS[0], kernels="middle"), fit(build_bank(VIEWS[0], "middle"), kernels="precomputed")
    assert len(one.kernel_names_) == 4
    np.testing.assert_allclose(one.graph_, given.graph_, atol=1e-8)
    assert fit().kernel_names_ == ["view 1: linear", "view 2: linear"]


def test_one_view_under_one_kernel_is_refused_with_a_sentence():
    told = r"^X is one view under one kernel, and MultiViewGraphFusion needs several views; give a list of views"
    for samples, kernels in ((VIEWS[0], ONE), (build_bank(VIEWS[0], ONE), "precomputed")):
        with pytest.raises(ValueError, match=told):
            fit(samples, kernels=kernels)


def test_a_negative_kernel_and_views_of_unequal_length_are_refused_with_a_sentence():
    H = build_bank(VIEWS[0], "middle")
    H[1] *= -1
    with pytest.raises(ValueError, match=r"^kernel 1 of X is no inner product: the squared length of sample \d+ is -"):
        fit(H, kernels="precomputed")
    with pytest.raises(ValueError, match=r"^the views of X have \[60, 50\] rows; every view must hold"):
        fit([VIEWS[0], VIEWS[1][:50]])


def test_a_graph_in_too_few_components_is_told_unless_none_could_have_more():
    with pytest.warns(ConvergenceWarning, match=r"its graph has not fallen into as many components as clusters\."):
        fit(NOISE, max_iter=1)
    assert fit([view[:8] for view in VIEWS], 5, max_iter=3).status_ == "max_iter"


@pytest.mark.reference
def test_a_fit_to_views_is_that_of_the_authors_code():
    known = rival("gmc", "webkb203")
    model = fit(rival_views("webkb203"), 4)
    weights = known["weights"][-1]
    assert relative_gap(model.kernel_weights_, weights / weights.sum()) < 1e-7
    assert adjusted_rand_score(model.labels_, known["labels"]) == 1
