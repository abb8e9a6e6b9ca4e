"""Samples that are read block by block, here or by the workers of a Dask cluster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kernelbraid.blocks.client import open_client
from kernelbraid.blocks.source import Blocks
from kernelbraid.cli.failure import BAD_USAGE, Failure
from kernelbraid.cli.progress import show_blocks, show_progress
from kernelbraid.datasets import DataError, Stream


@contextmanager
def samples_of(streams: Sequence[Stream], name: str, *, times: int, address: str | None, hidden: bool) -> Iterator[Any]:
    """Yield the views that an estimator takes: streams, watched as they are read, or Dask arrays of them.

    Parameters
    ----------
    streams : sequence of Stream
        Views of the samples.
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
        with show_blocks(name, times * streams[0].n_samples, hidden=hidden) as tell:
            # All views are read at the same pace.
            first = streams[0] if tell is None else Blocks(Watched(streams[0], tell))
            yield [first, *streams[1:]]
        return
    for stream in streams:
        if stream.in_memory:
            raise Failure(
                f"{stream.path}: --dask lets workers read .npy and Parquet files; write the samples to such a file.",
                BAD_USAGE,
            )
    with open_client(address) as client, client.as_current(), show_progress(f"{name} on Dask", None, hidden=hidden):
        yield [on_workers(stream) for stream in streams]


class Watched:
    """Samples whose reader is watched."""

    def __init__(self, samples: Iterable[Any], tell: Callable[[int], None]) -> None:
        self._samples, self._tell = samples, tell

    def __iter__(self) -> Iterator[Any]:
        """Go through the samples, and tell how many were taken."""
        for block in self._samples:
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
