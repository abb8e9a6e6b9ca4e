"""Array files: which of the arrays in a .npy, .npz or .mat file is meant, and that one alone read."""

from collections.abc import Callable, Mapping, Sequence

from kernelbraid.files.archives import list_npz
from kernelbraid.files.errors import DataError
from kernelbraid.files.mat import list_mat
from kernelbraid.files.npy import load_npy
from kernelbraid.files.sources import Source
from kernelbraid.files.stored import Matrix, Stored


def read_array(source: Source, key: str | None, preferred: Sequence[str], fits: Callable[[Stored], bool]) -> Matrix:
    """Return one array of a file: the one called `key`, the only one that fits, or the first preferred name."""
    if source.suffix == ".npy":
        return load_npy(source)
    arrays = list_arrays(source, key)
    if key is not None:
        if key not in arrays:
            raise DataError(f"{source.path}: there is no array {key!r}; use one of {_listing(arrays)}.")
        return arrays[key].read()
    fitting = [name for name, array in arrays.items() if fits(array)]
    if len(fitting) == 1:
        return arrays[fitting[0]].read()
    for name in preferred:
        if name in (fitting or arrays):
            return arrays[name].read()
    if fitting:
        names = ", ".join(fitting)
        raise DataError(f"{source.path}: several arrays could be meant ({names}); name one with --key.")
    raise DataError(
        f"{source.path}: no array has the right shape and type (found {_listing(arrays)}); save one that has."
    )


def list_arrays(source: Source, key: str | None = None) -> dict[str, Stored]:
    """Return the arrays of an .npz or .mat file by name, not yet read; given a key, of an .npz file that one alone."""
    return list_npz(source, key) if source.suffix == ".npz" else list_mat(source)


def _listing(arrays: Mapping[str, Stored]) -> str:
    """Return the names and shapes in a file, for a message."""
    return ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "none"
