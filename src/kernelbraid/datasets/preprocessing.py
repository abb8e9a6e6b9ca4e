"""The preprocessing of the paper's data: each step turns a matrix of samples into another one."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid.files.arrays import Matrix


def zscore(X: Matrix) -> NDArray[np.float64]:
    """Return X with every feature at mean 0 and variance 1 (ddof 1); a constant feature becomes 0."""
    X = X if isinstance(X, np.ndarray) else X.toarray()
    centred = X - X.mean(axis=0)
    deviation = X.std(axis=0, ddof=1)
    constant = np.ptp(X, axis=0) == 0
    return np.where(constant, 0.0, centred) / np.where(constant, 1.0, deviation)


def unit_norm(X: Matrix) -> Matrix:
    """Return X with every sample divided by its l2 norm; a sample of zeros is left as it is."""
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=True)
        length = np.sqrt(X.multiply(X).sum(axis=1))
        X.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(X.indptr))
        return X
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1.0)


def tfidf(X: Matrix) -> sparse.csr_array:
    """Return counts weighted by (1 + ln tf) ln(n / df), as a sparse matrix."""
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    X.eliminate_zeros()
    documents = np.bincount(X.indices, minlength=X.shape[1])
    X.data = (1 + np.log(X.data)) * np.log(X.shape[0] / documents[X.indices])
    X.eliminate_zeros()  # a word of every document weighs nothing
    return X


#: The steps by the name that the catalogue gives them.
STEPS: dict[str, Callable[[Matrix], Matrix]] = {"zscore": zscore, "unit_norm": unit_norm, "tfidf": tfidf}


def apply(X: Matrix, steps: Iterable[str]) -> Matrix:
    """Return X as float64 after the named steps."""
    X = X.astype(np.float64)
    for step in steps:
        X = STEPS[step](X)
    return X
