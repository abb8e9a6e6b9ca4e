"""Fitted models as files of skops: plain data and arrays, never code."""

import copy
import importlib
import io
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernelbraid._arrays import detach, is_foreign, to_numpy
from kernelbraid._machine import write_whole
from kernelbraid._version import __version__

# The member beside those of skops that holds the version of kernelbraid.
VERSION = "kernelbraid"
# Whose estimators and dataclasses hold a fit; no class of these touches files.
ROOMS = tuple(f"kernelbraid.{room}." for room in ("estimators", "kernels", "learning", "methods", "solvers"))
# Plain data that skops leaves to us: sparse matrices, which it trusts by their base classes alone, types of numbers.
PLAIN = {f"scipy.sparse._{form}.{form}_{kind}" for form in ("csr", "csc", "coo") for kind in ("array", "matrix")}
PLAIN |= {"numpy.dtype"}
# What a damaged file makes zipfile, json, NumPy, skops and our own classes raise.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    *(LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError, SyntaxError),
)


def save_model(model: BaseEstimator, path: str | PathLike[str]) -> None:
    """Write an estimator to a file.

    The file is an archive of `skops <https://skops.readthedocs.io/en/stable/persistence.html>`_. It holds no code, and
    reading it runs none, unlike a pickle.

    Parameters
    ----------
    model : estimator
        An estimator of kernelbraid, or a pipeline of scikit-learn that ends with one.
    path : str or path-like
        The file, which appears when it is complete and replaces an older one. Any suffix will do.

    Raises
    ------
    ValueError
        It holds what cannot be saved, such as a function as a kernel; the message says what, and what to do.
    OSError
        The file cannot be written.

    See Also
    --------
    load_model : Read the file.

    Notes
    -----
    Parameters and fitted attributes are saved, the fitted samples among them: new samples are compared with these. So
    treat the file as confidential if the samples are.

    Arrays of other libraries and data frames are saved as NumPy arrays. Callbacks and
    attributes that are Dask arrays are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernelbraid import LKG, load_model, save_model
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0], [0.1, 1.0], [0.2, 1.0], [0.0, 1.0]])
    >>> model = LKG(n_clusters=2, random_state=0).fit(X)
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "two.model")
    ...     loaded = load_model(Path(folder) / "two.model")
    >>> loaded.predict([[1.0, 0.3], [0.3, 1.0]])
    array([0, 1])
    """
    name, path, skops = type(model).__name__, Path(path), _skops()
    if not _is_model(model):
        raise ValueError(
            f"save_model cannot save a {name}; give an estimator of kernelbraid, or a pipeline that ends in one."
        )
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}; create it first.")
    content = io.BytesIO()
    try:
        skops.dump(_on_host(model), content, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{name} cannot be saved ({error}); give it numbers, text or arrays alone.") from None
    foreign = _not_ours(skops.get_untrusted_types(data=content.getvalue()))
    if foreign:
        raise ValueError(
            f"{name} holds {foreign[0]!r}, which is no part of kernelbraid or scikit-learn, and a model file holds no "
            "code; use kernels of kernelbraid.kernels or a precomputed one, and take steps of your own before the "
            "pipeline."
        )
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr(VERSION, __version__)
    with write_whole(path, "wb") as file:
        file.write(content.getbuffer())


def load_model(path: str | PathLike[str]) -> Any:
    """Read an estimator that :func:`save_model` has written.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator or Pipeline
        With NumPy arrays; its predictions are those of the estimator that was saved.

    Raises
    ------
    ValueError
        The file is no model, damaged, or of a version of kernelbraid with another minor number; the message says what
        to do.
    OSError
        The file is not there or cannot be read.

    See Also
    --------
    save_model : Write the file.

    Notes
    -----
    Only classes of kernelbraid, and those of scikit-learn, NumPy and SciPy that skops trusts, are made. What is in
    their attributes is not checked: give it no file of somebody you do not trust.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give a file that save_model has written.")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; check the path.")
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            version = archive.read(VERSION).decode("ascii")
        is_readable = version.split(".")[:2] == __version__.split(".")[:2]
        foreign, model = _read(content) if is_readable else ([], None)
    except DAMAGE as error:
        raise ValueError(
            f"{path} is no model of kernelbraid, or damaged; give a file that save_model has written, or copy it anew."
        ) from error
    if not is_readable:
        raise ValueError(
            f"{path} was saved by kernelbraid {version[:20]!r}, and {__version__} reads models of its own minor "
            f"version; fit again with {__version__}, or install the version that saved it."
        )
    if foreign or not _is_model(model):
        raise ValueError(
            f"{path} holds {[*foreign, type(model).__name__][0]!r}, which is no part of a model of kernelbraid; give a "
            "file that save_model has written."
        )
    return model


def _read(content: bytes) -> tuple[list[str], Any]:
    """Return the types in a file that are refused, and the model if there are none."""
    found = _skops().get_untrusted_types(data=content)
    foreign = _not_ours(found)
    return foreign, None if foreign else _skops().loads(content, trusted=found)


def _skops() -> Any:
    """Return skops.io, loaded when it is needed: it loads all of scikit-learn, and PyTorch and Dask unless hindered."""
    wrappers = {f"sklearn.externals.array_api_compat.{name}" for name in ("torch", "dask")}
    hidden: Any = dict.fromkeys(wrappers - {*sys.modules})
    sys.modules.update(hidden)  # what is None there cannot be imported, and has no estimators
    try:
        import skops.io
    finally:
        for name in hidden:
            del sys.modules[name]
    return skops.io


def _not_ours(names: Iterable[str]) -> list[str]:
    """Return the names that are not those of estimators and dataclasses of kernelbraid, or of plain data."""
    return [name for name in names if name not in PLAIN and not _is_ours(*name.rpartition(".")[::2])]


def _is_ours(module: str, name: str) -> bool:
    """Tell whether a name in a module is a class of ours that holds data, defined there."""
    if not module.startswith(ROOMS):
        return False
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ImportError:
        return False
    holds_data = isinstance(found, type) and (is_dataclass(found) or issubclass(found, BaseEstimator))
    return holds_data and found.__module__ == module


def _is_model(value: Any) -> bool:
    """Tell an estimator of kernelbraid, or a pipeline that ends in one."""
    last = value.steps[-1][1] if type(value).__module__ == "sklearn.pipeline" else value
    return isinstance(last, BaseEstimator) and _is_ours(type(last).__module__, type(last).__name__)


def _on_host(value: Any) -> Any:
    """Return a value with arrays of NumPy for those of other libraries, without those of Dask and callbacks."""
    if isinstance(value, dict):
        return {key: _on_host(held) for key, held in value.items() if key != "_skl_callbacks"}
    if isinstance(value, list | tuple):
        return type(value)(map(_on_host, value))
    if isinstance(value, type):  # such as the dtype of an encoder
        return value
    if isinstance(value, BaseEstimator) or is_dataclass(value):
        copied = copy.copy(value)
        attributes = _on_host(vars(copied))
        vars(copied).clear()
        vars(copied).update(attributes)
        return copied
    if is_foreign(value):
        return to_numpy(detach(value))
    is_table = hasattr(value, "__array__") and not isinstance(value, np.ndarray | np.generic)
    return np.asarray(value) if is_table else value
