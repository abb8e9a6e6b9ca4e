"""Fitted models as files: plain data and arrays, never code."""

import errno
import json
import re
import struct
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernelbraid._system import write_whole
from kernelbraid.estimators.models.contents import check_model
from kernelbraid.estimators.models.encoding import MODELS, Reader, UnknownNameError, Writer, member
from kernelbraid.estimators.models.members import MembersIn, MembersOut

FORMAT, VERSION = "kernelbraid model", 2
READABLE = (1, 2)  # other versions are refused with what to install
TREE = "model.json"  # the member that names the others
# What a damaged file makes NumPy, zipfile, json and our own classes raise.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    *(LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError, AssertionError),
)
LONGEST = 200  # characters of a reason, which may repeat what the file holds
NO_MODEL = "{} is no model of kernelbraid; give a file that save_model has written."


def save_model(model: BaseEstimator, path: str | PathLike[str]) -> None:
    """Write a fitted estimator to a file.

    The file is a zip archive of JSON and .npy members with their checksums. It holds no code, and reading it runs none,
    unlike a pickle.

    Parameters
    ----------
    model : estimator
        A fitted estimator of kernelbraid, or a fitted pipeline of scikit-learn that ends with one; before it, the
        pipeline may have StandardScaler, MinMaxScaler, RobustScaler, MaxAbsScaler, Normalizer, PCA, TruncatedSVD,
        FunctionTransformer without a function, :class:`EachView` of these, and ``"passthrough"``.
    path : str or path-like
        The file, which appears when it is complete and replaces an older one. Any suffix will do.

    Raises
    ------
    NotFittedError
        The estimator is not fitted.
    ValueError
        It holds what cannot be saved, such as a function as a kernel or another step; the message says where and what
        to do.
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
    if is_pipeline(model):
        from kernelbraid.estimators.models.steps import check_steps  # when it is needed: it loads more of scikit-learn

        check_steps(model, MODELS)
    elif type(model) is not MODELS.get(name):
        raise ValueError(
            f"save_model cannot save a {name}; give a fitted estimator of kernelbraid, or a pipeline that ends in one."
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
        members = MembersOut(archive)
        members.write(TREE, tree.encode())
        for number, array in enumerate(writer.arrays):
            with members.open(member(number)) as content:
                np.lib.format.write_array(content, array, allow_pickle=False)
        members.close()


def load_model(path: str | PathLike[str]) -> Any:
    """Read an estimator that :func:`save_model` has written.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator or Pipeline
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
    Only estimators and kernels of kernelbraid, and steps that :func:`save_model` names, are made, from a fixed list of
    names, and pickled objects are refused.
    Checksums are compared, and contents with what a fit can have written: finite numbers, weights with sum one, labels
    of clusters that there are, lengths that belong together, parameters that the class takes. A file of 0.1.0 has no
    checksums, and is read without them.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give a file that save_model has written.")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; check the path.")
    header: dict[str, Any] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise _RefusedError(NO_MODEL.format(path))  # ours are not compressed: they cannot grow when read
            header = _read_header(archive, path)
            members = MembersIn(archive, TREE)
            model = Reader(members, header["version"]).decode(header["model"])
        last = model.steps[-1][1] if is_pipeline(model) else model
        if type(last) not in MODELS.values():
            raise ValueError("it holds no estimator")
        check_is_fitted(last)
        check_model(last)
        if last is not model:
            from kernelbraid.estimators.models.steps import check_chain

            check_chain(model)
        return model
    except _RefusedError as error:
        raise ValueError(str(error)) from None
    except (UnknownNameError, *DAMAGE, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # that is a place before the start of the file
            raise
        raise ValueError(_complaint(path, header, error)) from None


def is_pipeline(model: Any) -> bool:
    """Tell a pipeline of scikit-learn, without having that loaded."""
    return type(model).__name__ == "Pipeline" and type(model).__module__ == "sklearn.pipeline"


def _complaint(path: Path, header: dict[str, Any], error: Exception) -> str:
    """Say why a file cannot be read, and what to do."""
    reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    reason = reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}..."
    problem = f"it holds {reason}, which is unknown" if isinstance(error, UnknownNameError) else reason
    if _is_newer(header) and not isinstance(error, zipfile.BadZipFile):  # it is as it was written
        return (
            f"{path} is newer than kernelbraid {_our_version()}, which cannot read it ({problem}); install "
            f"{_writer(header)}, which wrote it, or save the model with this version."
        )
    if not _looks_like_zip(path):
        return NO_MODEL.format(path)
    return f"{path} is cut short or damaged ({problem}); copy it anew, or save the model again."


class _RefusedError(ValueError):
    """A file that cannot be read; the text says why and what to do."""


def _our_version() -> str:
    from kernelbraid import __version__  # when it is needed: the package imports this module first

    return __version__


def _writer(header: dict[str, Any]) -> str:
    """Return what wrote a file, as far as its text can be trusted."""
    version = str(header.get("kernelbraid"))
    return f"kernelbraid {version}" if re.fullmatch(r"[0-9][0-9A-Za-z.+]{0,30}", version) else "another kernelbraid"


def _is_newer(header: dict[str, Any]) -> bool:
    """Tell whether a later version wrote a file."""
    return _numbers(str(header.get("kernelbraid"))) > _numbers(_our_version())


def _numbers(version: str) -> list[int]:
    """Return the first numbers of a version, nothing if it is none."""
    found = re.match(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}", version)
    return [] if found is None else [int(number) for number in found.group().split(".")]


def _looks_like_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _read_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """Return the tree of a file of ours, or say what the file is instead."""
    header = json.loads(archive.read(TREE)) if TREE in archive.namelist() else None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _RefusedError(NO_MODEL.format(path))
    version = header.get("version")
    if version not in READABLE:
        newer = ", which is newer" if isinstance(version, int) and version > VERSION else ""
        raise _RefusedError(
            f"{path} has version {_short(version)} of the model format{newer}, and kernelbraid {_our_version()} reads "
            f"versions up to {VERSION}; install {_writer(header)}, which wrote it."
        )
    return header


def _short(value: Any) -> str:
    """Return a value of a file, of which nothing is known, as a word."""
    return str(value) if isinstance(value, int | None) and abs(value or 0) < 10**6 else repr(str(value)[:20])
