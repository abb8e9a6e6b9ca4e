"""What a file takes when it is decoded, held against the memory that is free before anything is decoded."""

from pathlib import Path

from kernelbraid._system import available_bytes, format_bytes
from kernelbraid.files.errors import DataError

# Bytes of an object of Python, such as a cell of MATLAB or a piece of text, beside what it holds.
OBJECT = 200


def check_room(path: Path, what: str, n_bytes: int, remedy: str = "save only what is needed") -> None:
    """Refuse what would not fit into the memory that is free."""
    free = available_bytes()
    if free is not None and n_bytes > free:
        raise DataError(
            f"{path}: {what} takes {format_bytes(n_bytes)} of memory, and {format_bytes(free)} are free; {remedy}."
        )
