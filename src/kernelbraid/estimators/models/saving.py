"""Fitted models as files: plain data and arrays, never code."""

import json
import re
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernelbraid._system import write_whole
from kernelbraid.estimators.models.encoding import MODELS, Reader, UnknownNameError, Writer, member

FORMAT, VERSION = "kernelbraid model", 2
READABLE = (1, 2)  # other versions are refused with what to install
TREE = "model.json"  # the member that names the others
# What a damaged file makes NumPy, zipfile, json and our own classes raise.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, LookupError, ValueError, TypeError),
    *(AttributeError, ArithmeticError, RuntimeError),
)
NO_MODEL = "{} is no model of kernelbraid; give a file that save_model has written."


def save_model(model: BaseEstimator, path: str | PathLike[str]) -> None:
    """Write a fitted estimator to a file.

    The file is a zip archive of JSON and .npy members. It holds no code, and reading it runs none, unlike a pickle.

    Parameters
    ----------
    model : estimator
        A fitted estimator of kernelbraid.
    path : str or path-like
        The file, which appears when it is complete and replaces an older one. Any suffix will do.

    Raises
    ------
    NotFittedError
        The estimator is not fitted.
    ValueError
        It holds what cannot be saved, such as a function as a kernel; the message says where and what to do.
    OSError
        The file cannot be written.

    See Also
    --------
    load_model : Read the file.

    Notes
    -----
    Parameters and fitted attributes are saved, the fitted samples among them: new samples are compared with these. So
    treat the file as confidential if the samples are. Its size is that of the arrays in memory.

    Arrays of other libraries are saved as NumPy arrays. A `callback` and a RandomState as `random_state` are not saved,
    they become None; attributes that are Dask arrays are left out.

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
    name = type(model).__name__
    if type(model) is not MODELS.get(name):
        raise ValueError(
            f"save_model cannot save a {name}; give a fitted estimator of kernelbraid, for a pipeline its last step."
        )
    check_is_fitted(model, msg="This %(name)s is not fitted yet; call fit before save_model.")
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}; create it first.")
    writer = Writer()
    header = {"format": FORMAT, "version": VERSION, "kernelbraid": _our_version()}
    tree = json.dumps({**header, "model": writer.encode(model, name)}, allow_nan=False)
    with write_whole(path, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(TREE), tree)  # without a date, so that equal models make equal files
        for number, array in enumerate(writer.arrays):
            with archive.open(zipfile.ZipInfo(member(number)), "w", force_zip64=True) as content:
                np.lib.format.write_array(content, array, allow_pickle=False)


def load_model(path: str | PathLike[str]) -> Any:
    """Read an estimator that :func:`save_model` has written.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        Fitted, with NumPy arrays; its predictions are those of the estimator that was saved.

    Raises
    ------
    ValueError
        The file is no model, damaged, or of another version of the format; the message says what to do.
    OSError
        The file is not there or cannot be read.

    See Also
    --------
    save_model : Write the file.

    Notes
    -----
    Only estimators and kernels of kernelbraid are made, from a fixed list of names, and pickled objects are refused.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give a file that save_model has written.")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; check the path.")
    try:
        with zipfile.ZipFile(path) as archive:
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise _RefusedError(NO_MODEL.format(path))  # ours are not compressed: they cannot grow when read
            header = _read_header(archive, path)
            model = Reader(archive, header["version"]).decode(header["model"])
        check_is_fitted(model)
        return model
    except _RefusedError as error:
        raise ValueError(str(error)) from None
    except UnknownNameError as error:
        raise ValueError(
            f"{path} holds {error}, which kernelbraid {_our_version()} does not know; install {_writer(header)}, "
            "which wrote it, or save the model again."
        ) from None
    except DAMAGE as error:
        if not _looks_like_zip(path):
            raise ValueError(NO_MODEL.format(path)) from None
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ValueError(f"{path} is cut short or damaged ({reason}); copy it anew, or save the model again.") from None


class _RefusedError(ValueError):
    """A file that cannot be read; the text says why and what to do."""


def _our_version() -> str:
    from kernelbraid import __version__  # when it is needed: the package imports this module first

    return __version__


def _writer(header: dict[str, Any]) -> str:
    """Return what wrote a file, as far as its text can be trusted."""
    version = str(header.get("kernelbraid"))
    return f"kernelbraid {version}" if re.fullmatch(r"[0-9][0-9A-Za-z.+]{0,30}", version) else "another kernelbraid"


def _looks_like_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _read_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """Return the tree of a file of ours, or say what the file is instead."""
    header = json.loads(archive.read(TREE)) if TREE in archive.namelist() else None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _RefusedError(NO_MODEL.format(path))
    if header.get("version") not in READABLE:
        raise _RefusedError(
            f"{path} has version {header.get('version')} of the model format, and kernelbraid {_our_version()} reads "
            f"versions up to {VERSION}; install {_writer(header)}, which wrote it."
        )
    return header
