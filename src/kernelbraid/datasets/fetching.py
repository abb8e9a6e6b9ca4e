"""Get a data set into the user's folder: from its public source, when asked to, or from the user's own file.

What is written there is an .npz file without pickles: X and y, or X0, X1, ... and y, and where it comes from, `origin`.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kernelbraid._machine import write_whole
from kernelbraid.datasets.catalogue import FOLDER_VARIABLE, Entry, data_folder, files, find_in_file
from kernelbraid.datasets.loading import SPARSE_PARTS, checksum, locate, preprocess, read, read_checked
from kernelbraid.io.sources import DataError


def fetch(name: str, *, force: bool = False) -> tuple[Path, bool]:
    """Download a data set from its public source, check its checksum, and write it to the user's folder.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    force : bool, default=False
        Whether to download it also if it is there already.

    Returns
    -------
    path : Path
        The file.
    is_new : bool
        Whether it was downloaded; otherwise it was there, and passed its checks.

    Raises
    ------
    DataError
        The data set is unknown or its source has no known checksum, or the download failed. Nothing is left behind.
    """
    entry = find_in_file(name)
    present, url = locate(entry), entry.source.url
    if present is not None and not force:
        read_checked(entry, present)
        return present, False
    if entry.source.sha256 is None:
        raise DataError(f"{name}: the checksum of its source is not known, so that it is not fetched; {entry.by_hand}.")
    import pooch

    pooch.get_logger().setLevel("ERROR")
    with TemporaryDirectory() as folder:
        try:
            file = pooch.retrieve(url, f"sha256:{entry.source.sha256}", path=folder)
        except (OSError, ValueError) as error:  # of requests; of pooch, if the checksum is another one
            why = str(error).partition(" for url")[0].partition(". Deleted")[0]
            why = type(error).__name__ if "Pool(" in why else why  # without the insides of urllib3
            raise DataError(f"{name}: the download failed ({why}); try again later, or {entry.by_hand}.") from None
        return _convert(entry, Path(file), entry.pending, origin=url), True


def import_file(name: str, file: str | Path, *, raw: bool = False, force: bool = False) -> Path:
    """Write the user's own file of a data set to the user's folder, if its shape and classes are those known.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    file : str or Path
        A .mat, .npz, .csv, .tsv or .parquet file with samples and classes.
    raw : bool, default=False
        Whether the values are raw, so that the preprocessing in the catalogue is applied. A file of the public source
        is known by its checksum and needs no such hint; the values of any other are taken as they are.
    force : bool, default=False
        Whether to replace a file that is there already.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    DataError
        The data set is unknown, or the file is none of it; nothing is written then.
    """
    entry, file = find_in_file(name), Path(file)
    if files(entry) and not force:
        raise DataError(f"{files(entry)[0]}: the file is there already; add --force to replace it.")
    if not file.is_file():
        raise DataError(f"{file}: there is no such file; check the path.")
    found = checksum(file)
    raw = raw or (entry.raw is not None and found in (entry.raw.sha256, entry.raw.npz_sha256))
    steps = entry.pending if found == entry.source.sha256 else entry.preprocessing if raw else ()
    return _convert(entry, file, steps, origin=str(file))


def _convert(entry: Entry, file: Path, steps: Sequence[str], origin: str) -> Path:
    """Write a file as it was found in the format of the folder; return where."""
    views, y = read(entry, file)
    arrays: dict[str, Any] = {"y": y, "origin": np.array(origin)}
    for i, X in enumerate(preprocess(X, steps) for X in views):
        name = "X" if len(views) == 1 else f"X{i}"
        if isinstance(X, np.ndarray):
            arrays[name] = X
        else:
            arrays |= {f"{name}_{part}": np.asarray(getattr(X, part)) for part in SPARSE_PARTS}
    target = data_folder() / f"{entry.name}.npz"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with write_whole(target, "wb") as new:
            np.savez(new, **arrays)
    except OSError as error:
        raise DataError(
            f"{target}: the file could not be written ({error.strerror or error}); "
            f"name another folder in {FOLDER_VARIABLE}."
        ) from None
    return target
