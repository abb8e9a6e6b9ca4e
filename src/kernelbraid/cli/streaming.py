"""Samples that are read block by block, here or by the workers of a Dask cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernelbraid.bench.cluster import open_client
from kernelbraid.cli.failure import BAD_USAGE, Failure
from kernelbraid.cli.progress import show_blocks, show_progress
from kernelbraid.datasets import DataError, Stream, open_stream


def open_one(paths: Sequence[Path], **reading: Any) -> Stream:
    """Open the only file."""
    if len(paths) > 1:
        raise Failure(
            f"DATA is {len(paths)} files, several views, and landmarks take one; join their columns.", BAD_USAGE
        )
    return open_stream(paths[0], **reading)


@contextmanager
def samples_of(stream: Stream, name: str, *, times: int, address: str | None, hidden: bool) -> Iterator[Any]:
    """Yield what an estimator takes: the samples, watched as they are read, or a Dask array of them.

    Parameters
    ----------
    stream : Stream
        The samples.
    name : str
        What reads them.
    times : int
        How often they are gone through.
    address : str or None
        Of a Dask scheduler whose workers read them, if that is asked for.
    hidden : bool
        Show no progress.
    """
    if address is None:
        with show_blocks(name, times * stream.n_samples, hidden=hidden) as tell:
            yield stream if tell is None else Watched(stream, tell)
        return
    if stream.in_memory:
        raise Failure(
            f"{stream.path}: --dask lets workers read .npy and Parquet files; write the samples to such a file.",
            BAD_USAGE,
        )
    with open_client(address) as client, client.as_current(), show_progress(f"{name} on Dask", None, hidden=hidden):
        yield on_workers(stream)


class Watched:
    """Samples whose reader is watched."""

    def __init__(self, stream: Stream, tell: Callable[[int], None]) -> None:
        self._stream, self._tell = stream, tell

    def __iter__(self) -> Iterator[Any]:
        """Go through the samples, and tell how many were taken."""
        for block in self._stream:
            yield block
            self._tell(block.shape[0])


def on_workers(stream: Stream) -> Any:
    """Return a Dask array of the samples, whose workers read the pieces."""
    import dask
    import dask.array as da

    shared = dask.delayed(replace(stream, path=stream.path.resolve(), ids=None), pure=False, traverse=False)
    pieces = (dask.delayed(read_on_worker, pure=False)(shared, number) for number in range(len(stream.sizes)))
    shapes = ((rows, stream.n_features) for rows in stream.sizes)
    return da.concatenate(
        [da.from_delayed(piece, shape, stream.dtype) for piece, shape in zip(pieces, shapes, strict=True)]
    )


def read_on_worker(stream: Stream, number: int) -> Any:
    """Read a piece, or say on which worker there is no such file."""
    from distributed import get_worker

    if not stream.path.exists():
        where = f"on the Dask worker {get_worker().address} there is no file {stream.path}"
        raise DataError(f"{where}; put it where all workers see it.")
    return stream.piece(number)
