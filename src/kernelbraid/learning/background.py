"""Clouds without clusters, as large and as wide as samples: what any data would show."""

import numpy as np

from kernelbraid._arrays import to_numpy
from kernelbraid._typing import Array
from kernelbraid.kernels import Custom
from kernelbraid.learning.candidates import Candidates, Views

#: Samples, and numbers in all views together, up to which a cloud is drawn.
MOST_SAMPLES, MOST_NUMBERS = 5000, 100_000_000


def cloud_of(candidates: Candidates, random_state: np.random.RandomState) -> Candidates | None:
    """Return candidate kernels over normal samples that have the mean and the covariances of the fitted ones.

    Parameters
    ----------
    candidates : Candidates
        Candidate kernels over samples.
    random_state : RandomState
        Draws the cloud.

    Returns
    -------
    Candidates or None
        None for precomputed kernels and functions of users, which may not take such samples, and for very many.
    """
    bank, n = candidates.bank, candidates.n_samples
    if bank is None or candidates.mixing is not None or any(isinstance(k, Custom) for own in bank.banks for k in own):
        return None
    if n > MOST_SAMPLES or n * sum(int(view.shape[1]) for view in bank.views) > MOST_NUMBERS:
        return None
    draws = random_state.normal(size=(n, n))
    views = [_mixed(draws, view) for view in bank.views]
    del draws  # as large as a kernel
    return Views(views).pose(bank.banks)


def _mixed(draws: np.ndarray, X: Array) -> np.ndarray:
    """Return random sums of samples about their mean: rows have the covariance of all."""
    X = X if hasattr(X, "toarray") else to_numpy(X)
    mean = np.asarray(X.mean(axis=0)).ravel()
    n = draws.shape[0]
    mixed = np.asarray(draws @ X) - draws.sum(axis=1)[:, None] * mean
    return np.asarray(mixed / np.sqrt(n) + mean)
