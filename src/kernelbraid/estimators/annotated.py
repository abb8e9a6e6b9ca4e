"""What holds matrices, or will be one, but is none: annotated data, dictionaries of views, tables not read yet."""

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator


def is_anndata(data: object) -> bool:
    """Tell an AnnData, without having it loaded."""
    return _is_named(data, "AnnData", "anndata")


def is_mudata(data: object) -> bool:
    """Tell a MuData, without having it loaded."""
    return _is_named(data, "MuData", "mudata")


def _is_named(data: object, name: str, package: str) -> bool:
    return any(base.__name__ == name and base.__module__.partition(".")[0] == package for base in type(data).__mro__)


def refuse_annotated(estimator: BaseEstimator, X: Any) -> None:
    """Say what to call for annotated data, alone or as one of several views, and for what is near to views."""
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # a sparse matrix may be a dictionary, too
        raise TypeError(f"X is a {type(X).__name__} of views; give them as a list of matrices.")
    for given in X if isinstance(X, list | tuple) else [X]:
        if _is_named(given, "LazyFrame", "polars"):
            raise TypeError(f"X {_holds(given, X)} a LazyFrame; call its collect() first.")
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
