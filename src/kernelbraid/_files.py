"""Files that are whole or not there."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


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
    draft = path.with_name(f".kernelbraid-{secrets.token_hex(8)}.tmp")
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
