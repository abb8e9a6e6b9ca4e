"""Get a data set into the user's folder: from its public source, when asked to, or from the user's own file."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kernelbraid.datasets import conversion, npz, preprocessing
from kernelbraid.datasets.download import downloaded
from kernelbraid.datasets.entries import Entry
from kernelbraid.datasets.loading import check_content, files, find, locate, read_checked
from kernelbraid.files.errors import DataError


def fetch(name: str, *, force: bool = False, base: str | None = None) -> tuple[Path, bool]:
    """Download a data set from its public source, check its checksum, and write it to the user's folder.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    force : bool, default=False
        Whether to download it also if it is there already.
    base : str, default=None
        Address to download from instead of the public one, say of a mirror.

    Returns
    -------
    path : Path
        The file.
    is_new : bool
        Whether it was downloaded; otherwise it was there, and passed its checks.

    Raises
    ------
    DataError
        The data set is unknown or its source has no known checksum, or the download failed. What came of one that broke
        off is kept for the next; nothing else is left behind.
    """
    entry = find(name)
    present = locate(entry)
    if present is not None and not force:
        read_checked(entry, present)
        return present, False
    if entry.source.sha256 is None or entry.source.n_bytes is None:
        raise DataError(
            f"{name}: the checksum of {entry.source.url(base)} is not known, so that it is not downloaded; save its "
            f"{len(entry.views)} views as X0, X1, ... and its classes as y in an .npz file, and use "
            f"kernelbraid datasets import {name} FILE."
        )
    url = entry.source.url(base)
    with downloaded(name, entry.source, url, npz.data_folder()) as file:
        path = _convert(entry, file, entry.pending, origin=url, sizes=entry.class_sizes)
    return path, True


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
    entry, file = find(name), Path(file)
    target = npz.data_folder() / f"{name}.npz"
    if files(entry) and not force:
        raise DataError(f"{files(entry)[0]}: the file is there already; add --force to replace it.")
    if not file.is_file():
        raise DataError(f"{file}: there is no such file; check the path.")
    found = npz.checksum(file)
    if found == entry.sha256:
        with file.open("rb") as old, npz.whole(target) as new:  # as published, byte for byte
            shutil.copyfileobj(old, new)
        return target
    steps = entry.preprocessing if raw or found in _raw_sums(entry) else ()
    if found == entry.source.sha256:
        steps = entry.pending
    return _convert(entry, file, steps, origin=str(file))


def _raw_sums(entry: Entry) -> tuple[str | None, ...]:
    """Return the checksums of the files that are known to hold raw values."""
    return () if entry.raw is None else (entry.raw.sha256, entry.raw.source.sha256)


def _convert(
    entry: Entry, file: Path, steps: Sequence[str], *, origin: str, sizes: tuple[int, ...] | None = None
) -> Path:
    """Write a file as it was found in the format of the folder; return where."""
    found, y = conversion.read(entry, file)
    views = [preprocessing.apply(X, steps) for X in found]
    check_content(entry, file, views, y)
    if sizes is not None and tuple(np.bincount(y).tolist()) != sizes:
        raise DataError(f"{file}: the sizes of the classes are not those of {entry.title}; report this as a defect.")
    target = npz.data_folder() / f"{entry.name}.npz"
    npz.write(target, views, y, origin=origin)
    return target
