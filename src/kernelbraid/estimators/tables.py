"""What users hand over as it comes: tables, several as views, what only holds matrices, features in unlike units."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from kernelbraid._arrays import measured_rows, quiet_overflow, to_numpy
from kernelbraid._typing import Array, Host

NUMBERS = "fiub"  # kinds of dtypes
FILL = "drop such samples or fill them in, for example with sklearn.impute.SimpleImputer"
REPLACE = "drop such samples or replace the value"  # an imputer leaves infinity as it is
SEEN = 1000  # samples that spreads are taken from
WIDE = 100.0  # spreads of the typical other feature from which on a spread is one of other orders
UNHEARD = 1e-3  # share of the squared distances below which half of the features do not count
STILL = 1e-7  # spread, in sizes of a feature, up to which it is a constant with rounding errors
CHANCE = 4.0  # standard errors up to which columns are orthogonal but for the choice of samples


def remedy_for(value: float) -> str:
    """Return what to do about a value that is not finite."""
    return FILL if np.isnan(value) else REPLACE


def no_numbers(name: str, header: object, dtype: object) -> ValueError:
    """Return what to raise for a column, by its name or number, that holds no numbers."""
    return ValueError(
        f"{name} has a column {header!r} of {dtype} values; encode it, for example with OneHotEncoder in a "
        "ColumnTransformer of scikit-learn, or drop it."
    )


@contextmanager
def named_columns(X: Any, name: str) -> Iterator[None]:
    """Name the first column that holds no numbers, where a table cannot be read for that reason."""
    try:
        yield
    except (ValueError, TypeError):
        for header, values in _columns(X):
            if not _are_numbers(values):
                raise no_numbers(name, header, getattr(values, "dtype", "mixed")) from None
        raise


def _columns(X: Any) -> Iterator[tuple[object, Any]]:
    """Yield the columns of a data frame by name, and of an array that may hold text by number."""
    if hasattr(X, "column_names"):  # of PyArrow, whose columns are the values
        yield from ((header, np.asarray(X[header])) for header in X.column_names)
    elif hasattr(X, "columns"):
        columns = ((header, X[header]) for header in X.columns)
        yield from ((header, values) for header, values in columns if len(getattr(values, "shape", ())) == 1)
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OSU":
        yield from enumerate(X.T)


def _are_numbers(values: Any) -> bool:
    kind = getattr(values.dtype, "kind", "O")
    if kind in "mM":  # moments, which NumPy would count
        return False
    try:
        return kind in NUMBERS or np.asarray(values, dtype=np.float64).ndim == 1
    except ValueError:
        return False
    except TypeError:  # no text: scikit-learn says what it is
        return True


def check_names(estimator: BaseEstimator, views: Sequence[Any], *, reset: bool) -> None:
    """Note the names of the columns of several views, or compare them with those of the fit.

    Parameters
    ----------
    estimator : estimator
        Gets ``feature_names_in_``, view by view, if all views have names.
    views : sequence
        Data frames, or anything else, which has no names.
    reset : bool
        False for new samples of a fitted estimator.
    """
    names = [own for view in views if (own := _column_names(view)) is not None]
    if len(names) < len(views):
        return
    if reset:
        estimator.feature_names_in_ = np.array([name for own in names for name in own], dtype=object)
        return
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is not None and len(fitted) == sum(map(len, names)):  # other numbers are told of elsewhere
        _check_columns(names, fitted.tolist())


def in_one_order(views: Sequence[Any]) -> Sequence[Any]:
    """Return views whose rows have names with the rows of all in the order of the first of them.

    Rows without names, which are counted only, are taken as they stand.
    """
    named = [(number, own) for number, view in enumerate(views) if (own := _row_names(view)) is not None]
    ordered = list(views)
    first, names = named[0] if named else (0, _row_names(None))
    for number, own in named[1:]:
        if len(own) != len(names) or own.equals(names):  # views of different lengths are told of elsewhere
            continue
        if not (names.is_unique and own.is_unique and names.isin(own).all()):
            row = int(np.argmax(np.asarray(own != names)))
            raise ValueError(
                f"row {row} is called {own[row]!r} in view {number + 1} of X and {names[row]!r} in view {first + 1}; "
                "every view must hold the same samples; kernelbraid.align_views aligns data frames by their rows' "
                "names, and without names rows are taken as they stand."
            )
        ordered[number] = views[number].loc[names]
    return ordered


def _row_names(view: Any) -> Any:
    """Return the index of a frame of pandas, unless it only counts the rows."""
    if type(view).__module__.partition(".")[0] != "pandas":  # pandas.core.frame before pandas 3
        return None
    is_count = type(view.index).__name__ == "RangeIndex" and view.index.start == 0 and view.index.step == 1
    return None if is_count else view.index


def _column_names(view: Any) -> list[str] | None:
    """Return the names of the columns of a data frame if all of them are text."""
    given = getattr(view, "columns", None)  # of pandas, polars and Dask
    names = list(getattr(view, "column_names", ()) if given is None else given)  # of PyArrow
    return names if names and all(isinstance(name, str) for name in names) else None


def _check_columns(names: Sequence[Sequence[str]], fitted: Sequence[str]) -> None:
    """Name the first column that does not stand where it stood in the fit."""
    place = 0
    for number, own in enumerate(names, 1):
        for column, name in enumerate(own, 1):
            if name != fitted[place]:
                raise ValueError(
                    f"column {column} of view {number} of X is {name!r}, and was {fitted[place]!r} in the fit; "
                    "give the views, and the columns of each, in the order of the fit."
                )
            place += 1


def is_anndata(data: object) -> bool:
    """Tell an AnnData, without having it loaded."""
    return _is_named(data, "AnnData", "anndata")


def is_mudata(data: object) -> bool:
    """Tell a MuData, without having it loaded."""
    return _is_named(data, "MuData", "mudata")


def _is_named(data: object, name: str, package: str) -> bool:
    return any(base.__name__ == name and base.__module__.partition(".")[0] == package for base in type(data).__mro__)


def refuse_containers(estimator: BaseEstimator, X: Any) -> None:
    """Say what to do with what holds samples, or will hold some, but is no matrix of them, alone or as a view."""
    if X is None or (isinstance(X, list | tuple) and not X):
        raise ValueError(f"X is {X!r}; give samples as the rows of a matrix, (n_samples, n_features).")
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # a sparse matrix may be a dictionary, too
        raise TypeError(f"X is a {type(X).__name__} of views; give them as a list of matrices.")
    for given in X if isinstance(X, list | tuple) else [X]:
        if _is_named(given, "LazyFrame", "polars"):
            raise TypeError(f"X {_holds(given, X)} a LazyFrame; call its collect() first.")
        if type(given).__module__.partition(".")[0] == "dask":
            raise TypeError(
                f"X {_holds(given, X)} a Dask {type(given).__name__}, and {type(estimator).__name__} needs its samples "
                "here; call its compute() first, or fit LKG, which takes samples of Dask as they are."
            )
        if isinstance(given, np.ma.MaskedArray):
            raise ValueError(
                f"X {_holds(given, X)} a masked array, whose mask would be lost; fill in what is masked, or drop such "
                "samples."
            )
        if not (is_anndata(given) or is_mudata(given)):
            continue
        n_clusters = getattr(estimator, "n_clusters", None)
        kind = "an AnnData" if is_anndata(given) else "a MuData"
        call = f"kernelbraid.scverse.cluster(data{'' if n_clusters is None else f', n_clusters={n_clusters!r}'})"
        matrix = "data.obsm['X_pca']" if is_anndata(given) else "data['rna'].obsm['X_pca']"
        raise TypeError(
            f"X {_holds(given, X)} {kind}; call {call}, or {type(estimator).__name__} with a matrix of it, such as "
            f"{matrix}."
        )


def _holds(given: Any, X: Any) -> str:
    return "is" if given is X else "holds"


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
