"""Banks of kernels: lists that turn data into a stack of kernel matrices."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from kernelbraid._arrays import (
    device,
    is_finite,
    is_foreign,
    measured_rows,
    namespace,
    power_of_two,
    quiet_overflow,
    to_numpy,
)
from kernelbraid._typing import Array, DType, Host
from kernelbraid.kernels.functions import Custom, Gaussian, Given, Kernel, Linear, Normalisation, Pairs, Polynomial
from kernelbraid.kernels.local import Neighbours, SelfTuning
from kernelbraid.kernels.pairs import pairs_of, stack_pairs
from kernelbraid.kernels.stacks import LazyStack

#: One entry of a bank: a kernel of ours or any function of two data matrices.
KernelLike: TypeAlias = Kernel | Custom | Callable[[Array, Array], Array]
#: A bank: the name of a ready one, or a list of kernels.
BankLike: TypeAlias = str | Sequence[KernelLike]

WIDTHS = (0.01, 0.05, 0.1, 1, 10, 50, 100)  # t of the seven Gaussians, in the paper and in the recipe alike


def _twelve(scale: Callable[[float], float], normalise: Normalisation) -> tuple[Kernel, ...]:
    """Return seven Gaussians, the linear kernel and four polynomials."""
    gaussians = [Gaussian(scale(t), f"gaussian t={t:g}") for t in WIDTHS]
    polynomials = [Polynomial(a, b, normalise) for a in (0, 1) for b in (2, 4)]
    return (*gaussians, Linear(normalise), *polynomials)


#: The ready banks. ``"paper"`` is the formula in the text, exp(-d^2 / (t d_max^2)), divided by the largest
#: element; ``"rmkkm"`` is the recipe behind the published figures, exp(-d^2 / (2 t^2 d_max^2)), cosine-normalised.
#: ``"local"`` compares samples by their neighbourhoods. ``"middle"`` leaves out what is nearly the identity or nearly
#: constant, ``"near"`` is for samples that vary in few directions, which a polynomial cannot tell apart.
BANKS: dict[str, tuple[Kernel, ...]] = {
    "paper": _twelve(lambda t: t, "max"),
    "rmkkm": _twelve(lambda t: 2 * t**2, "cosine"),
    "local": (SelfTuning(5), SelfTuning(10), Neighbours(5), Neighbours(10), Linear("cosine")),
    "middle": (Gaussian(2.0), Polynomial(1, 2), Polynomial(1, 4), Linear()),
    "near": (Gaussian(0.1), SelfTuning(7), Neighbours(10)),
}
#: As a bank: ``"middle"``, and ``"near"`` beside it for a view with fewer directions than `FEW`.
AUTO = "auto"
FEW = 10
# A direction counts with this share of the largest variance; so many samples, evenly spaced, tell.
LEAST_VARIANCE, N_TELLING = 1e-3, 2000

_OF_A_VIEW = re.compile(r"view (\d+): (.+)")

#: Single kernels by name.
KERNELS: dict[str, Kernel] = {
    "gaussian": Gaussian(1.0),
    "linear": Linear(),
    "polynomial": Polynomial(1.0, 2),
    "self-tuning": SelfTuning(),
    "neighbours": Neighbours(),
}


def resolve_kernel(kernel: str | KernelLike) -> Kernel | Custom:
    """Return one kernel given by name, as a kernel, or as a function of two data matrices."""
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise ValueError(
                f"kernel={kernel!r} is unknown; use one of {sorted(KERNELS)}, 'precomputed', a kernel such as "
                "Gaussian(0.5), or a function f(X, Y)."
            )
        return KERNELS[kernel]
    return _as_kernel(kernel, "kernel")


def resolve_bank(kernels: BankLike) -> list[Kernel | Custom]:
    """Return the kernels of a bank given by name or as a list.

    Parameters
    ----------
    kernels : str or sequence
        ``"paper"``, ``"rmkkm"``, ``"local"``, or a list of :class:`Linear`, :class:`Polynomial`, :class:`Gaussian`,
        :class:`SelfTuning`, :class:`Neighbours`, :class:`Custom` and functions ``f(X, Y)``.

    Returns
    -------
    list of kernels
        Functions are wrapped in :class:`Custom`.
    """
    if isinstance(kernels, str):
        if kernels not in BANKS:
            raise ValueError(
                f"kernels={kernels!r} is no bank; use one of {sorted([*BANKS, AUTO])} or a list of kernels."
            )
        return list(BANKS[kernels])
    entries = list(kernels)
    if not entries:
        raise ValueError("kernels is an empty list; give at least one kernel.")
    return [_as_kernel(entry, f"kernels[{position}]") for position, entry in enumerate(entries)]


def _as_kernel(entry: Any, where: str) -> Kernel | Custom:
    if isinstance(entry, type):
        raise ValueError(f"{where}={entry.__name__} is a class; write {entry.__name__}(...).")
    if isinstance(entry, Custom | Kernel):
        return entry
    if callable(entry):
        return Custom(entry)
    raise ValueError(f"{where}={entry!r} is no kernel; use Linear, Polynomial, Gaussian or a function f(X, Y).")


def resolve_banks(
    kernels: BankLike | Sequence[BankLike], n_views: int, widths: Sequence[int] = ()
) -> list[list[Kernel | Custom]]:
    """Return one bank per view: the same for all, or one each when `kernels` is a list of banks.

    Parameters
    ----------
    kernels : str, list of kernels, or list of banks
        As for :func:`build_bank`.
    n_views : int
        How many there are.
    widths : sequence of int, default=()
        Numbers of directions of the views, :func:`count_directions`, by which ``"auto"`` chooses.
    """
    if isinstance(kernels, str) and kernels == AUTO:
        if len(widths) != n_views:
            raise ValueError("kernels='auto' chooses by the features of samples; name a bank, or give kernels.")
        return [[*BANKS["middle"], *(BANKS["near"] if width < FEW else ())] for width in widths]
    if not isinstance(kernels, str) and kernels and all(isinstance(bank, str | list | tuple) for bank in kernels):
        if len(kernels) != n_views:
            raise ValueError(
                f"kernels holds {len(kernels)} banks for {n_views} view(s); give one bank per view, or one for all."
            )
        return [resolve_bank(bank) for bank in kernels]  # type: ignore[arg-type]
    return [resolve_bank(kernels)] * n_views  # type: ignore[arg-type]


def banks_for(kernels: BankLike | Sequence[BankLike], views: Sequence[Array]) -> list[list[Kernel | Custom]]:
    """Return one bank per view, chosen by its directions if `kernels` is ``"auto"``."""
    is_auto = isinstance(kernels, str) and kernels == AUTO
    return resolve_banks(kernels, len(views), [count_directions(view) for view in views] if is_auto else [])


def count_directions(X: Array) -> int:
    """Return in how many principal directions samples vary, up to `FEW`: noise in further features does not count.

    A direction counts if its variance is at least a thousandth of the largest, on at most 2000 samples. For sparse
    samples, and if there are not more than `FEW`, every feature is a direction.
    """
    n, d = int(X.shape[0]), int(X.shape[1])
    if sparse.issparse(X) or d < FEW or n <= FEW:
        return min(d, FEW)
    X = X[:: -(-n // N_TELLING), ...]
    xp = namespace(X)
    X = xp.astype(X, xp.float64)
    X = X / power_of_two(float(xp.max(xp.abs(X))))
    X = X - xp.mean(X, axis=0)
    variances = xp.linalg.eigvalsh(X @ X.T if X.shape[0] < d else X.T @ X)
    largest = float(xp.max(variances))
    return min(int(xp.count_nonzero(variances >= LEAST_VARIANCE * largest)), FEW) if largest > 0 else 0


def bank_names(banks: Sequence[Sequence[Kernel | Custom]]) -> list[str]:
    """Return the kernels' readable names, led by the number of the view when there are several."""
    if len(banks) == 1:
        return [kernel.name for kernel in banks[0]]
    return [name_in_view(kernel.name, view) for view, bank in enumerate(banks, 1) for kernel in bank]


def name_in_view(kernel: str, view: int) -> str:
    """Return the name of a kernel of one of several views, which are counted from 1."""
    return f"view {view}: {kernel}"


def split_name(name: str) -> tuple[int | None, str]:
    """Return the number of the view and the name of the kernel alone; None where there is one view."""
    found = _OF_A_VIEW.fullmatch(name)
    return (None, name) if found is None else (int(found[1]), found[2])


def build_bank(
    X: Array | Sequence[Array], kernels: BankLike | Sequence[BankLike] = "rmkkm", *, dtype: DType = None
) -> Array:
    """Evaluate a bank of kernels on data.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), or list of them
        Samples as rows, finite; a list holds several views of the same samples. Nothing is rescaled.
    kernels : str, list of kernels, or list of banks, default="rmkkm"
        ``"paper"``, ``"rmkkm"``, a list of kernels for every view, or a list with one bank for each view.
    dtype : dtype, default=None
        Floating-point type of the result; that of `X` if None (float64 for integers). Inner products are always
        formed in float64: narrow Gaussians multiply the rounding of a distance by thousands.

    Returns
    -------
    array of shape (n_kernels, n_samples, n_samples)
        In the order of the bank, view after view. For the ready banks: seven Gaussians (t from 0.01 to 100), the
        linear kernel, and the polynomials (0 + x.y)^2, (0 + x.y)^4, (1 + x.y)^2, (1 + x.y)^4.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.kernels import build_bank
    >>> build_bank(np.eye(4), "paper").shape
    (12, 4, 4)
    """
    return stack_bank(X, kernels, dtype=dtype).evaluate()


def stack_bank(
    X: Array | Sequence[Array], kernels: BankLike | Sequence[BankLike] = "rmkkm", *, dtype: DType = None
) -> LazyStack:
    """Return a bank of kernels on data without evaluating it.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), or list of them
        As for :func:`build_bank`.
    kernels : str, list of kernels, or list of banks, default="rmkkm"
        As for :func:`build_bank`.
    dtype : dtype, default=None
        As for :func:`build_bank`.

    Returns
    -------
    LazyStack
        The kernels, formed block by block when a solver asks for them; its method ``store()`` keeps them in memory.
    """
    views: list[Array] = list(X) if isinstance(X, list | tuple) else [X]
    views = [_check_samples(view, number) for number, view in enumerate(views, 1)]
    return stack_pairs(views, banks_for(kernels, views), pairs_of(views), dtype=dtype)


def stack_given(H: Array) -> LazyStack:
    """Return given kernels, (n_kernels, n, n), as a stack that adds them up without another copy of each."""
    kernels = [Given(H[i, ...], f"kernel {i}") for i in range(H.shape[0])]
    nothing = namespace(H).zeros((H.shape[-1],), dtype=H.dtype, device=device(H))
    return LazyStack([(Pairs(H[0, ...], nothing, nothing, max_square=0.0, max_distance=0.0), kernels)], H.dtype)


def _check_samples(X: Array, number: int) -> Array:
    """Return samples as a finite matrix that can be cut into blocks of rows."""
    if sparse.issparse(X):
        X = X.tocsr()
    elif not is_foreign(X):
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"view {number} of X has shape {tuple(X.shape)}; samples are the rows of a matrix.")
    if not is_finite(X.data if sparse.issparse(X) else X):
        raise ValueError(
            f"view {number} of X contains NaN or infinity; drop such samples or fill them in, for example with "
            "sklearn.impute.SimpleImputer."
        )
    return X


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
