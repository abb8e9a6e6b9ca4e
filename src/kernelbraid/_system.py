"""What differs between systems: files that are whole or not there; and words for what there is."""

import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

# Files that are not complete, hidden.
DRAFT = ".kernelbraid-{}.tmp"
# Seconds after which a draft that nobody touched is left over by a process that was killed.
ABANDONED = 86400


@contextmanager
def write_whole(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when it is complete, replacing an older one.

    Parameters
    ----------
    path : Path
        The file; its folder must be there.
    mode : {"w", "wb"}, default="w"
        Text in UTF-8 with line ends as they are written, or bytes.
    """
    path = path.resolve()
    remove_drafts(path.parent)
    draft = path.parent / DRAFT.format(secrets.token_hex(4))
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    try:
        with draft.open(mode.replace("w", "x"), **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def remove_drafts(folder: Path) -> None:
    """Remove what processes that were killed have left in a folder a day ago or more."""
    with suppress(OSError):
        for draft in folder.glob(DRAFT.format("*")):
            if time.time() - draft.stat().st_mtime > ABANDONED:
                draft.unlink()


def peak_bytes() -> int:
    """Return the largest memory that this process has had; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def format_bytes(count: float) -> str:
    """Return a number of bytes for people."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def counted(number: int, thing: str) -> str:
    """Return how many of something there are, as 1 sample or 2 samples."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def install(extra: str) -> str:
    """Return how the libraries of an extra are installed, wherever this package came from."""
    return f'install it with pip install "kernelbraid[{extra}]", or pip install ".[{extra}]" in a checkout'
