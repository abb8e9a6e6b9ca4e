import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from kernelbraid.kernels import Linear, build_bank
from kernelbraid.methods import CrossViewDiffusion
from problems import relative_gap, rival, rival_views

rng = np.random.default_rng(0)
y = np.arange(60) % 3
ONE = [Linear()]
VIEWS = [rng.normal(size=(3, d))[y] + 0.4 * rng.normal(size=(60, d)) for d in (12, 20)]


def fit(views=VIEWS, k=3, **parameters):
    return CrossViewDiffusion(k, **{"n_init": 5, "random_state": 0, **parameters}).fit(views)


@pytest.mark.parametrize("preset", ["authors", "paper"])
def test_clusters_are_found_in_several_views(preset):
    model = fit(preset=preset)
    assert model.status_ == "converged"
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.graph_.min() >= 0
    np.testing.assert_allclose(model.graph_, model.graph_.T)


def test_a_view_of_noise_counts_less():
    weights = fit([*VIEWS, rng.normal(size=(60, 9))]).kernel_weights_
    assert np.argmin(weights) == 2


def test_kernels_take_the_place_of_views_where_there_is_one():
    one, given = fit(VIEWS[0], kernels="middle"), fit(build_bank(VIEWS[0], "middle"), kernels="precomputed")
    assert len(one.kernel_names_) == 4
    np.testing.assert_allclose(one.graph_, given.graph_, atol=1e-8)


def test_a_kernel_without_neighbours_is_no_view():
    H = build_bank(VIEWS[0], "middle")
    model = fit(np.concatenate([H, np.eye(60)[None]]), kernels="precomputed")
    assert model.kernel_weights_[4] == 0
    np.testing.assert_allclose(model.graph_, fit(H, kernels="precomputed").graph_, atol=1e-9)


def test_one_view_under_one_kernel_is_refused_with_a_sentence():
    told = r"^X is one view under one kernel, and CrossViewDiffusion needs several views; give a list of views"
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


@pytest.mark.reference
def test_a_fit_to_views_is_that_of_the_authors_code():
    known = rival("cgd", "webkb203")
    model = fit(rival_views("webkb203"), 4, max_iter=10, n_init=50)
    assert relative_gap(model.kernel_weights_, known["weights"][-1]) < 1e-8
    sampled = model.graph_[known["A_sample_i"], known["A_sample_j"]]
    assert relative_gap(sampled, known["A_sample"]) < 1e-8
    assert adjusted_rand_score(model.labels_, known["labels"]) == 1
