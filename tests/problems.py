"""The small problems that tests share."""

import math
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls
from sklearn.datasets import make_blobs

from kernelbraid import ADMM, LKG
from kernelbraid._arrays import to_numpy
from kernelbraid.kernels import StoredStack, build_bank
from kernelbraid.solvers.low_rank import step as low_rank

PENALTIES = low_rank.GRAPH_PENALTIES


def lkg(n_clusters=8, *, matrices=False, **given):
    """LKG by the letters of the paper: what belongs to the solver goes there, and with `matrices` there is one."""
    of_solver = {name: given.pop(name) for name in sorted(given.keys() & ADMM().get_params().keys())}
    if not (of_solver or matrices):
        return LKG(n_clusters, **given)
    if given.get("preset", "recommended") == "recommended":
        of_solver = {"gamma": math.inf, **of_solver}
    return LKG(n_clusters, **given, solver=ADMM(**of_solver))


def lazy_and_stored(monkeypatch, fit):
    """Fit with kernels that are formed when they are needed, and with kernels that are kept; memory decides else."""
    for stored in (False, True):
        monkeypatch.setattr("kernelbraid.learning.effort.choose_storage", lambda *_, stored=stored, **__: stored)
        yield fit()


def blobs(n=60, d=6, k=3, seed=0):
    """Well separated Gaussian blobs, the same number of samples in each."""
    return make_blobs(n_samples=n, n_features=d, centers=k, random_state=seed)


def rings(n=60, seed=0):
    """Two concentric rings."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1 + 2 * y + rng.normal(0, 0.05, n)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)], y


def view_of(truth, rng, d=4):
    """A view in which classes lie apart, in directions of their own."""
    return rng.normal(0, 3, (3, d))[truth] + rng.normal(0, 0.7, (len(truth), d))


def lacking(X, rows):
    """A view without some of its samples."""
    found = X.copy()
    found[rows] = np.nan
    return found


def dense(A):
    """A matrix, sparse or of any array library, as a plain NumPy array."""
    return A.toarray() if sparse.issparse(A) else to_numpy(A)


def low_rank_problem(H, *, alpha=0.1, beta=1.0, gamma=1.0, penalty="nuclear", growth=1.1, pull=2.0):
    kernels = StoredStack.of(H)
    return low_rank.LowRankProblem(kernels, kernels.factor(), alpha, beta, gamma, PENALTIES[penalty], growth, pull)


def begin(H, mu):
    """A function that makes the starting point over a stack of kernels."""
    return partial(low_rank.starting_point, StoredStack.of(H), mu)


def shared_folder(name):
    """Folder of optional files: named by KERNELBRAID_SHARED, or `shared` beside the checkout. Skips if missing."""
    places = [Path(__file__).resolve().parents[2] / "shared"]
    if "KERNELBRAID_SHARED" in os.environ:
        places.insert(0, Path(os.environ["KERNELBRAID_SHARED"]))
    for place in places:
        if (place / name).is_dir():
            return place / name
    pytest.skip(f"no folder '{name}' in ../shared or in $KERNELBRAID_SHARED: the reference files are not distributed")


def paper_data(name):
    """Data of the reference fits in full precision: YALE and JAFFE recomputed from their grey levels."""
    folder = shared_folder("datasets")
    if name == "wide3":
        return _load(folder / "nuswide_view3.npz")
    X, y = _load(folder / f"{name}_raw.npz")
    if name == "yale":
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def _load(path):
    with np.load(path, allow_pickle=False) as file:
        return file["X"].astype(float), file["y"].astype(int)


def blob_bank(n=24, k=3, seed=0, bank="rmkkm"):
    X, y = blobs(n=n, k=k, seed=seed)
    return build_bank(X, bank), y


def random_settings(count, seed=0):
    """Settings over the ranges in which the published iteration fails for about a fifth."""
    rng = np.random.default_rng(seed)
    low, high = np.log10([[1e-5, 1e-4, 1e-5, 0.03], [10, 100, 100, 100]])
    values = 10 ** rng.uniform(low, high, (count, 4))
    penalties = np.where(rng.random(count) < 0.5, "nuclear", "l1")
    return [
        dict(zip(("alpha", "beta", "gamma", "mu"), row.tolist(), strict=True), graph_penalty=str(penalty))
        for row, penalty in zip(values, penalties, strict=True)
    ]


def survives_unguarded(H, settings):
    """Tell whether Algorithm 1 without any guard ends with finite matrices, a kernel and an edge in the graph."""
    Z, K, J, W = run_unguarded(H, settings)
    return bool(np.isfinite([Z, K, J, W]).all() and K.any() and J[~np.eye(len(J), dtype=bool)].any())


def is_chaotic(H, settings):
    """Tell whether rounding decides how Algorithm 1 without any guard ends: two such runs have no graph in common."""
    noise = 1e-15 * np.random.default_rng(0).standard_normal(H.shape)
    one, other = (run_unguarded(kernels, settings)[2] for kernels in (H, H * (1 + noise + noise.transpose(0, 2, 1))))
    return not np.allclose(one, other, rtol=0, atol=1e-6 * np.abs(one).max())


def run_unguarded(H, settings, max_iter=200, tol=1e-5):
    """Return Z, K, J and W where Algorithm 1 without any guard ends, NaN if it cannot go on.

    Independent of the package: plain NumPy, nonnegative least squares for the weights.
    """
    alpha, beta, gamma, mu = (settings[name] for name in ("alpha", "beta", "gamma", "mu"))
    m, n, _ = H.shape
    flat, eye = H.reshape(m, -1), np.eye(n)
    root = np.linalg.cholesky(flat @ flat.T + 1e-12 * np.sum(flat**2) * np.eye(m))
    K = W = flat.mean(axis=0).reshape(n, n)
    S, J, Y1, Y2 = K, eye, np.zeros((n, n)), np.zeros((n, n))
    with np.errstate(all="ignore"):
        for n_iter in range(1, max_iter + 1):
            try:
                Z = np.linalg.solve(K + mu * eye, K + mu * J + Y1).clip(0)
                before = K
                K = ((2 * gamma * S + mu * W + Y2 - eye / 2 + Z.T - Z @ Z.T / 2) / (mu + 2 * gamma)).clip(0)
                J = _shrink(Z - Y1 / mu, alpha / mu, settings["graph_penalty"]).clip(0)
                W = _shrink(K - Y2 / mu, beta / mu, "nuclear").clip(0)
                S = (_weights(root, flat @ K.ravel()) @ flat).reshape(n, n)
            except (np.linalg.LinAlgError, ValueError):
                return [np.full((n, n), np.nan)] * 4
            Y1, Y2, mu = Y1 + mu * (J - Z), Y2 + mu * (W - K), mu * 1.1
            if n_iter > 5 and np.linalg.norm(K - before) < tol * np.linalg.norm(before):
                break
    return [Z, K, J, W]


def singular_value_threshold(A, t):
    """Return A with every singular value lowered by t, those below t to zero: Eqs. (10) and (13), as they are printed.

    Independent of the package, like all that follows.
    """
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return (U * np.maximum(s - t, 0)) @ Vt


def _shrink(A, t, penalty):
    if penalty == "l1":
        return np.sign(A) * np.maximum(np.abs(A) - t, 0)
    return singular_value_threshold(A, t)


def _weights(root, t):
    heavy = 1e4 * np.linalg.norm(root)
    m = len(t)
    g, _ = nnls(np.vstack([root.T, heavy * np.ones(m)]), np.r_[np.linalg.solve(root, t), heavy], maxiter=5000)
    return g / g.sum()


def rival(method, name):
    """A fit made with the code of the authors of a later method, as arrays by name."""
    with np.load(shared_folder("reference") / "rivals" / f"{method}_{name}.npz", allow_pickle=False) as file:
        return dict(file)


def rival_views(name):
    """The views of such a fit, as arrays."""
    with np.load(shared_folder("datasets") / "dev" / f"{name}.npz", allow_pickle=False) as file:
        found = dict(file)
    if "X0" in found:
        return [found[f"X{i}"].astype(float) for i in range(sum(key.startswith("X") for key in found))]
    parts = [[found[f"X{i}_{part}"] for part in ("data", "indices", "indptr", "shape")] for i in range(len(found) // 4)]
    return [sparse.csr_array(tuple(arrays), shape=tuple(shape)).toarray().astype(float) for *arrays, shape in parts]


def rival_kernels(name):
    """The kernels of such a fit: a bank over faces, or the cosines of the samples in each view."""
    if name == "yale":
        return build_bank(paper_data(name)[0], "rmkkm")
    views = rival_views(name)
    lengths = [np.linalg.norm(view, axis=1, keepdims=True) for view in views]
    units = [view / np.where(length > 0, length, 1) for view, length in zip(views, lengths, strict=True)]
    return np.stack([unit @ unit.T for unit in units])


def triangle(A):
    """The upper triangle of a symmetric matrix row by row, as the files of such fits hold it."""
    return A[np.triu_indices(len(A))]


def relative_gap(A, B):
    """The largest difference in units of the largest entry of the second."""
    return float(np.abs(A - B).max() / np.abs(B).max())
