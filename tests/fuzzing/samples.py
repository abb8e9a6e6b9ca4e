"""Random small problems: few samples, copies, constant columns, any scale, any kind of array, views, kernels, gaps."""

import random
from typing import Any

import numpy as np
from scipy import sparse

MOST = 32  # samples
SCALES = (1e-150, 1e-30, 1e-12, 1e-3, 1e3, 1e8, 1e30, 1e150)


def _blobs(rng, n, d):
    centres = rng.normal(size=(rng.integers(1, 5), d)) * 5
    return centres[rng.integers(0, len(centres), n)] + 0.3 * rng.normal(size=(n, d))


def _copies(rng, n, d):
    return rng.normal(size=(max(1, n // 3), d))[rng.integers(0, max(1, n // 3), n)]


def _constant_columns(rng, n, d):
    return np.where(rng.random(d) < 0.6, 3.0, rng.normal(size=(n, d)))


def _zero_samples(rng, n, d):
    return np.where(rng.random((n, 1)) < 0.5, 0.0, rng.normal(size=(n, d)))


def _one_hot(rng, n, d):
    return np.eye(max(n, d))[:n, :d]


def _rank_one(rng, n, d):
    return np.outer(rng.normal(size=n), rng.normal(size=d))


SHAPES = [
    *(_blobs, _blobs, _copies, _constant_columns, _zero_samples, _one_hot, _rank_one),
    lambda rng, n, d: rng.normal(size=(n, d)),
    lambda rng, n, d: np.full((n, d), rng.normal()),
    lambda rng, n, d: 1 + 1e-9 * rng.normal(size=(n, d)),
    lambda rng, n, d: 1e8 + rng.normal(size=(n, d)),
    lambda rng, n, d: rng.integers(0, 2, (n, d)).astype(float),
    lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-8, 9, d),
]


def _strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def _frame(X, kind):
    import pandas as pd

    return pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]).astype(kind)


KINDS = {
    "plain": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "integer": lambda X: np.clip(np.nan_to_num(X * 3), -1e9, 1e9).astype(np.int64),
    "boolean": lambda X: np.median(X) < X,
    "fortran": np.asfortranarray,
    "read only": _read_only,
    "strided": _strided,
    "csr": sparse.csr_array,
    "csc float32": lambda X: sparse.csc_array(X.astype(np.float32)),
    "coo": sparse.coo_array,
    "frame": lambda X: _frame(X, "float64"),
    "frame with nulls": lambda X: _frame(X, "Float64"),
    "lists": lambda X: X.tolist(),
    "big-endian": lambda X: X.astype(">f8"),
    "objects": lambda X: X.astype(object),
}


def matrix(rng: np.random.Generator, n: int) -> tuple[str, Any]:
    """Return samples and what they are."""
    d = int(rng.choice([1, 1, 2, 3, 5, 20]))
    shape = rng.integers(len(SHAPES))
    X, kind = SHAPES[shape](rng, n, d), str(rng.choice(["plain"] * 6 + list(KINDS)))
    scale = float(rng.choice(SCALES)) if rng.random() < 0.25 else 1.0
    spoilt = rng.random()
    if spoilt < 0.03:
        X.flat[rng.integers(X.size)] = np.nan if spoilt < 0.02 else np.inf
    with np.errstate(all="ignore"):
        return f"shape {shape}, {kind}, times {scale:g}", KINDS[kind](X * scale)


def _kernel(rng, n):
    factor = rng.normal(size=(n, max(1, n // 2)))
    kernels = [
        *(factor @ factor.T, factor @ factor.T, factor[:, :1] @ factor[:, :1].T, np.eye(n), np.ones((n, n))),
        *(np.zeros((n, n)), -np.abs(factor @ factor.T), np.where(np.eye(n) > 0, 1.0, rng.random((n, n)) < 0.3)),
        (factor @ factor.T) * np.outer(*[rng.random(n) < 0.5] * 2),
    ]
    K = kernels[rng.integers(len(kernels))] * (float(rng.choice(SCALES)) if rng.random() < 0.2 else 1.0)
    with np.errstate(all="ignore"):
        K = ((K + K.T) / 2).astype(rng.choice(["f8", "f8", "f8", "f4"]))
    return sparse.csr_array(K) if rng.random() < 0.2 else K


def kernels(rng: np.random.Generator, n: int, most: int = 3) -> tuple[str, Any]:
    """Return precomputed kernels and what they are."""
    found = [_kernel(rng, n) for _ in range(rng.integers(1, most + 1))]
    if len(found) == 1:
        return "a kernel", found[0]
    if rng.random() < 0.3 and not any(map(sparse.issparse, found)):
        return "a stack of kernels", np.stack(found)
    return f"{len(found)} kernels", found


def problem(rng: np.random.Generator, *, views: bool, precomputed: bool) -> tuple[str, Any, int, bool]:
    """Return what the data are, the data, the number of samples, and whether they are kernels."""
    n = int(rng.integers(1, 9) if rng.random() < 0.25 else rng.integers(2, MOST + 1))
    what = rng.random()
    if precomputed and what < 0.2:
        return (*kernels(rng, n), n, True)
    if views and what < 0.4:
        parts = [matrix(rng, n) for _ in range(rng.integers(1, 4))]
        parts = [(text, np.asarray(X) if isinstance(X, list) else X) for text, X in parts]
        if rng.random() < 0.15 and len(parts) > 1 and isinstance(parts[0][1], np.ndarray):
            first = parts[0][1].astype(float)
            first[rng.random(n) < 0.3] = np.nan  # samples that a view does not have
            parts[0] = ("gaps", first)
        return "; ".join(text for text, _ in parts), [X for _, X in parts], n, False
    return (*matrix(rng, n), n, False)


def snapshot(X: Any) -> Any:
    """Return a copy of data that can be compared with `unchanged`."""
    if isinstance(X, list):
        return [snapshot(part) for part in X]
    return X.copy() if hasattr(X, "copy") else X


def unchanged(before: Any, after: Any) -> bool:
    """Tell whether data are what they were."""
    if isinstance(after, list):
        return all(unchanged(one, other) for one, other in zip(before, after, strict=True))
    if sparse.issparse(after):
        arrays = ("data", "indices", "indptr") if after.format in ("csr", "csc") else ("data", "row", "col")
        return all(np.array_equal(getattr(before, name), getattr(after, name), equal_nan=True) for name in arrays)
    if hasattr(after, "equals"):
        return before.equals(after)
    if isinstance(after, np.ndarray):
        return before.dtype == after.dtype and before.tobytes() == after.tobytes()
    return before == after or before != before


def generator(rng: random.Random) -> np.random.Generator:
    """Return a generator of NumPy that follows from one of Python."""
    return np.random.default_rng(rng.getrandbits(64))
