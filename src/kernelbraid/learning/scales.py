"""Features in units that differ by orders of magnitude, so that most of them do not count."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kernelbraid._arrays import measured_rows, quiet_overflow, to_numpy
from kernelbraid._typing import Array, Host

SEEN = 1000  # samples that spreads are taken from
WIDE = 100.0  # spreads of the typical other feature from which on a spread is one of other orders
UNHEARD = 1e-3  # share of the squared distances below which half of the features do not count
STILL = 1e-7  # spread, in sizes of a feature, up to which it is a constant with rounding errors
CHANCE = 4.0  # standard errors up to which columns are orthogonal but for the choice of samples


@dataclass(frozen=True)
class Outweighing:
    """A feature that outweighs the others."""

    feature: int  # counted from 0
    ratio: float  # its spread over the median spread of the others
    share: float  # of the squared distances between samples


def outweighing_feature(X: Array) -> Outweighing | None:
    r"""Return the feature of the largest spread if its unit makes that of most others count for nothing.

    The squared distance of two samples is :math:`2 \sum_j s_j^2` on the mean, with spreads :math:`s_j`, the standard
    deviations. There is such a feature where

    - the largest spread is at least 100 times the median of the others, each taken over entries that are not zero:
      what is rare is not small,
    - half of the features, those of the smallest spreads, make up at most a thousandth of the squared distances,
    - the column is not orthogonal to all others, as those of principal components and singular vectors are, up to
      chance: spreads are meant there.

    Constant features do not count. Pixels, words and genes, many of one unit, fail the second condition.

    Parameters
    ----------
    X : array or csr matrix of shape (n_samples, n_features)
        Samples of one view, of which up to 1000 are looked at; rows of NaN are left out.

    Returns
    -------
    Outweighing or None
        None if there is none.
    """
    rows = _some_rows(X)
    if min(rows.shape) < 2:
        return None
    with quiet_overflow():
        means = np.asarray(rows.mean(axis=0)).ravel()
        squares = np.asarray((rows.multiply(rows) if sparse.issparse(rows) else rows**2).mean(axis=0)).ravel()
        variances = squares - means**2 if sparse.issparse(rows) else rows.var(axis=0)
        total = variances.sum()
    if not np.isfinite(total):  # numbers of hundreds of digits
        return None
    moving = np.flatnonzero(variances > STILL**2 * squares)
    if len(moving) < 2:
        return None
    order = moving[np.argsort(variances[moving])]  # the widest is the last one
    widest = int(order[-1])
    unheard = variances[order[: len(order) // 2]].sum() / total
    filled = np.asarray((rows != 0).sum(axis=0)).ravel() / rows.shape[0]
    of_entries = (variances - (1 - filled) * means**2)[order] / filled[order]
    if _ratio(of_entries) < WIDE or unheard > UNHEARD or _is_orthogonal(rows, widest, squares, moving):
        return None
    return Outweighing(widest, _ratio(variances[order]), float(variances[widest] / total))


def _ratio(variances: Host) -> float:
    """Return the last spread over the median of the others."""
    spreads = np.sqrt(np.maximum(variances, 0.0))
    return float(spreads[-1] / np.median(spreads[:-1]))


def _some_rows(X: Array) -> Array:
    """Return measured samples, evenly from all, in double precision."""
    rows = X[:: max(1, X.shape[0] // SEEN), :]
    rows = rows if sparse.issparse(rows) else to_numpy(rows)
    return rows[measured_rows(rows)].astype(np.float64)


def _is_orthogonal(rows: Array, column: int, squares: Host, others: Host) -> bool:
    """Tell whether a column is orthogonal to others, up to what the choice of the samples does."""
    values = rows[:, [column]].toarray().ravel() if sparse.issparse(rows) else rows[:, column]
    products = np.abs(np.asarray(rows.T @ values)[others]) / len(values)
    lengths = np.sqrt(squares[others]) * np.sqrt(squares[column])  # the root of a product of tiny squares may be zero
    cosines = products / np.where(lengths > 0, lengths, 1.0)
    return bool(cosines[others != column].max() < CHANCE / np.sqrt(len(values)))


def tell_of_scales(views: Sequence[Array], names: Sequence[str] | None = None) -> str | None:
    """Return what to warn of: the feature that outweighs the others of its view most, if there is one.

    Parameters
    ----------
    views : sequence of arrays or csr matrices
        Samples.
    names : sequence of str, default=None
        Names of the features of a single view.
    """
    found = [(one, number) for number, view in enumerate(views, 1) if (one := outweighing_feature(view)) is not None]
    if not found:
        return None
    worst, number = max(found, key=lambda pair: pair[0].ratio)
    feature = f"{worst.feature} (counted from 0)" if names is None else repr(str(names[worst.feature]))
    where = f"view {number} of X" if len(views) > 1 else "X"
    scaler = "StandardScaler()" if len(views) == 1 else "kernelbraid.EachView(StandardScaler())"
    return (
        f"feature {feature} of {where} has {worst.ratio:.0f} times the spread of the typical other one and makes up "
        f"{worst.share:.1%} of the squared distances between samples, so that most features do not count; scale them "
        f"first, for example in make_pipeline({scaler}, ...) of scikit-learn, or with --scale standard in the program."
    )
