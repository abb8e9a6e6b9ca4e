import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, laplacian_kernel

from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import (
    BANKS,
    Custom,
    Gaussian,
    Linear,
    bank_names,
    banks_for,
    build_bank,
    name_in_view,
    pairs_of,
    resolve_bank,
    resolve_banks,
    split_name,
    stack_bank,
    stack_given,
    stack_pairs,
)
from kernelbraid.kernels.banks import FEW, KERNELS, count_directions, resolve_kernel

X = np.random.default_rng(0).standard_normal((9, 5))


WIDTHS = (0.01, 0.05, 0.1, 1, 10, 50, 100)


def by_hand(gaussian, normalise):
    G = X @ X.T
    D = euclidean_distances(X, squared=True)
    kernels = [gaussian(D / D.max(), t) for t in WIDTHS] + [G] + [(a + G) ** b for a in (0, 1) for b in (2, 4)]
    return np.array([normalise(K) for K in kernels])


def test_the_paper_bank_is_the_formula_of_the_text():
    expected = by_hand(lambda d, t: np.exp(-d / t), lambda K: K / K.max())
    np.testing.assert_allclose(build_bank(X, "paper"), expected, atol=1e-12)


def test_the_rmkkm_bank_is_the_recipe_behind_the_published_figures():
    expected = by_hand(lambda d, t: np.exp(-d / (2 * t**2)), lambda K: K / np.sqrt(np.outer(np.diag(K), np.diag(K))))
    np.testing.assert_allclose(build_bank(X, "rmkkm"), expected, atol=1e-12)


def test_every_kernel_of_a_ready_bank_has_its_own_name():
    for bank in BANKS:
        names = bank_names([resolve_bank(bank)])
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("bank", ["paper", "rmkkm"])
def test_the_banks_of_the_paper_hold_twelve_kernels_in_its_order(bank):
    names = bank_names([resolve_bank(bank)])
    assert len(names) == 12
    assert names[0] == "gaussian t=0.01"
    assert names[7:9] == ["linear", "polynomial (0 + x.y)^2"]


def test_sparse_and_dense_samples_give_the_same_bank():
    for bank in BANKS:
        S = sparse.random(12, 30, density=0.2, format="csr", random_state=0)
        for form in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array):
            np.testing.assert_allclose(build_bank(form(S), bank), build_bank(S.toarray(), bank), atol=1e-12)


def test_every_backend_gives_the_same_bank(foreign):
    for bank in BANKS:
        np.testing.assert_allclose(to_numpy(build_bank(foreign.asarray(X), bank)), build_bank(X, bank), atol=1e-12)


def test_the_type_of_the_data_is_kept_and_integers_become_double():
    assert build_bank(X.astype(np.float32)).dtype == np.float32
    assert build_bank(np.arange(6).reshape(3, 2)).dtype == np.float64
    assert build_bank(X, dtype=np.float32).dtype == np.float32


def test_single_precision_is_as_exact_as_its_storage():
    Y = X.astype(np.float32)
    np.testing.assert_allclose(build_bank(Y), build_bank(Y.astype(float)), atol=1e-7)


def test_views_are_stacked_one_after_the_other():
    views = [X, X[:, :2]]
    stack = build_bank(views, "rmkkm")
    np.testing.assert_array_equal(stack[:12], build_bank(X, "rmkkm"))
    np.testing.assert_array_equal(stack[12:], build_bank(X[:, :2], "rmkkm"))
    assert bank_names(resolve_banks("rmkkm", 2))[12] == "view 2: gaussian t=0.01"


def test_each_view_may_have_its_own_bank():
    stack = build_bank([X, X], ["paper", [Linear()]])
    assert stack.shape == (13, 9, 9)
    np.testing.assert_array_equal(stack[12], build_bank(X, [Linear()])[0])


def test_any_function_of_two_matrices_is_a_kernel():
    bank = [Gaussian(1.0), laplacian_kernel, Custom(lambda A, B: laplacian_kernel(A, B, gamma=2.0), "sharp")]
    stack = build_bank(X, bank)
    np.testing.assert_allclose(stack[1], laplacian_kernel(X))
    np.testing.assert_allclose(stack[2], laplacian_kernel(X, gamma=2.0))
    assert bank_names([resolve_bank(bank)])[1:] == ["laplacian_kernel", "sharp"]


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (X[:, 0], r"view 1 of X has shape \(9,\)"),
        (np.where(X[0, 0] == X, np.nan, X), "view 1 of X contains NaN"),
        ([X, X[None]], "view 2 of X has shape"),
    ],
)
def test_bad_samples_get_a_clear_sentence(samples, message):
    with pytest.raises(ValueError, match=message):
        build_bank(samples)


def test_coordinate_matrices_are_read():
    np.testing.assert_allclose(build_bank(sparse.coo_matrix(X)), build_bank(X), atol=1e-12)


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ("nosuch", "kernels='nosuch' is no bank"),
        ([], "empty list"),
        ([Linear(), 3], r"kernels\[1\]=3 is no kernel"),
        ([lambda A, B: np.zeros((9, 9))], "zero everywhere"),
        ([lambda A, B: np.ones((2, 9))], "must be square"),
        ([lambda A, B: np.ones((4, 4))], "9 samples need"),
        ([lambda A, B: np.full((9, 9), np.nan)], "NaN or infinity"),
        ([lambda A, B: np.triu(np.ones((9, 9)))], "not symmetric"),
        (["paper", "rmkkm"], "2 banks for 1 view"),
    ],
)
def test_bad_banks_get_a_clear_sentence(kernels, message):
    with pytest.raises(ValueError, match=message):
        build_bank(X, kernels)


def test_single_kernels_are_found_by_name():
    for name in KERNELS:
        assert resolve_kernel(name) is KERNELS[name]
        assert KERNELS[name].name.startswith(name)


def test_single_kernels_may_be_objects_or_functions():
    assert resolve_kernel(Gaussian(0.3)) == Gaussian(0.3)
    assert resolve_kernel(Custom(laplacian_kernel, "mine")).name == "mine"
    assert resolve_kernel(laplacian_kernel) == Custom(laplacian_kernel)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [("nearest", "'nearest' is unknown.*gaussian.*linear.*polynomial"), (Gaussian, "class"), (3, "kernel=3 is no")],
)
def test_what_is_no_single_kernel_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        resolve_kernel(wrong)


def flat(n=300, d=40, k=2, noise=0.01):
    """Samples that vary in k directions of d features, but for noise."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + noise * rng.standard_normal((n, d))


def test_directions_are_those_in_which_samples_vary():
    for samples, expected in [
        (flat(), 2),
        (flat(k=9), 9),
        (flat(k=15), FEW),
        (flat(noise=1.0), FEW),
        (flat() * 1e200, 2),
        (flat() * 1e-200, 2),
        (flat() + 1e4, 2),
        (flat(n=30, d=500), 2),
        (flat(n=5000), 2),
        (flat(d=4), 4),  # so few features need no look
        (flat(n=FEW), FEW),  # so few samples cannot tell
        (sparse.csr_array(flat()), FEW),
        (np.ones((20, 30)), 0),
    ]:
        assert count_directions(samples) == expected


def test_every_backend_counts_the_same_directions(xp):
    assert count_directions(xp.asarray(flat())) == 2
    assert count_directions(xp.asarray(flat(n=30, d=500).astype(np.float32))) == 2


def test_auto_adds_local_kernels_where_there_are_few_directions():
    few, many = banks_for("auto", [flat(), flat(k=15)])
    assert few == [*BANKS["middle"], *BANKS["near"]]
    assert many == [*BANKS["middle"]]


def test_several_banks_over_the_same_products_are_what_each_is_alone(xp):
    views = [xp.asarray(X), xp.asarray(X[:, :2])]
    pairs = pairs_of(views)
    for bank in ("paper", "local", [Linear(), Gaussian(0.3)]):
        shared = stack_pairs(views, banks_for(bank, views), pairs)
        np.testing.assert_array_equal(to_numpy(shared.evaluate()), to_numpy(stack_bank(views, bank).evaluate()))


def test_given_kernels_are_a_stack_without_a_copy(xp):
    H = xp.asarray(build_bank(X, "rmkkm"))
    stack = stack_given(H)
    weights = np.random.default_rng(0).dirichlet(np.ones(12))
    assert (stack.n_kernels, stack.n_samples) == (12, 9)
    np.testing.assert_allclose(to_numpy(stack.combine(weights)), np.tensordot(weights, to_numpy(H), axes=1), atol=1e-14)
    np.testing.assert_allclose(to_numpy(stack.evaluate()), to_numpy(H))
    before = to_numpy(H).copy()
    total = stack.combine(np.eye(12)[0])
    total *= 0.0
    np.testing.assert_array_equal(to_numpy(H), before)


def test_names_of_kernels_on_views_come_apart_again():
    assert name_in_view("gaussian t=1", 2) == "view 2: gaussian t=1"
    assert split_name(name_in_view("gaussian t=1", 2)) == (2, "gaussian t=1")
    assert split_name("view 12: view 3: linear") == (12, "view 3: linear")


def test_a_name_without_a_view_stays_whole():
    for name in ["polynomial (1 + x.y)^2", "view", "view x: linear", "view 2:", "a view 2: linear"]:
        assert split_name(name) == (None, name)


def test_names_of_a_bank_have_a_view_where_there_are_several():
    for bank in BANKS:
        for n_views in [1, 3]:
            found = [split_name(name) for name in bank_names(resolve_banks(bank, n_views))]
            views = [None] if n_views == 1 else [1, 2, 3]
            assert found == [(view, kernel.name) for view in views for kernel in BANKS[bank]]
