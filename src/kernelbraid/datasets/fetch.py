"""Get a data set into the user's folder: from its public source, when asked to, or from the user's own file."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from kernelbraid.datasets import conversion, npz, preprocessing
from kernelbraid.datasets.entries import Entry, Source
from kernelbraid.datasets.loading import check_content, files, find, locate, read_checked
from kernelbraid.files.errors import DataError

if TYPE_CHECKING:
    from pooch import Pooch


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
        The data set is unknown or its source has no known checksum, pooch is not installed, or the download failed;
        nothing is left behind then.
    """
    entry = find(name)
    present = locate(entry)
    if present is not None and not force:
        read_checked(entry, present)
        return present, False
    if entry.source.sha256 is None:
        raise DataError(
            f"{name}: the checksum of {entry.source.url(base)} is not known, so that it is not downloaded; save its "
            f"{len(entry.views)} views as X0, X1, ... and its classes as y in an .npz file, and use "
            f"kernelbraid datasets import {name} FILE."
        )
    with TemporaryDirectory() as folder:
        url = entry.source.url(base)
        file = _download(entry, url, Path(folder))
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


def _download(entry: Entry, url: str, folder: Path) -> Path:
    """Return the file of the public source in a folder, its checksum verified."""
    pooch = _import_pooch(entry)
    from requests import HTTPError, RequestException  # pooch needs it, so it is there

    by_hand = f"download the file by hand and use kernelbraid datasets import {entry.name} FILE"
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")  # it prints what it does
    try:
        # The files have a few megabytes; a stream would leave its connection open after a failure.
        fetcher = _Checked(pooch.HTTPDownloader(stream=False), entry.source)
        known = f"sha256:{entry.source.sha256}"
        return Path(pooch.retrieve(url, known, fname=Path(entry.source.path).name, path=folder, downloader=fetcher))
    except HTTPError as error:
        response = error.response
        answer = "an error" if response is None else f"{response.status_code} {response.reason}"
        raise DataError(f"{entry.name}: {url} answered {answer}; try again later, or {by_hand}.") from None
    except (RequestException, OSError) as error:
        reason = type(error).__name__
        raise DataError(
            f"{entry.name}: the download of {url} failed ({reason}); check the connection and try again, or {by_hand}."
        ) from None
    finally:
        logger.setLevel(level)


def _import_pooch(entry: Entry) -> ModuleType:
    """Return the package that downloads files."""
    try:
        import pooch
    except ImportError:
        raise DataError(
            f'{entry.name}: a download needs pooch; install it with pip install "kernelbraid[bench]", '
            f"or use kernelbraid datasets import {entry.name} FILE."
        ) from None
    return pooch


class _Checked:
    """A downloader of pooch that refuses a file with another checksum, and names both."""

    def __init__(self, download: Callable[[str, str, "Pooch | None"], None], source: Source) -> None:
        self.download, self.source = download, source

    def __call__(self, url: str, output_file: str, pooch: "Pooch | None") -> None:
        self.download(url, output_file, pooch)
        found = npz.checksum(Path(output_file))
        if found != self.source.sha256:
            raise DataError(
                f"{url}: the SHA-256 of the download is {found}, but {self.source.sha256} is expected; "
                "nothing was kept, try again later."
            )
