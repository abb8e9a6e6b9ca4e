"""What a fit takes: memory, and whether it may have it; and work, of which it is told how far it has come.

What works tells it, and need not know who listens. A fit is a row of phases. Of each it is known before how many parts
it has: steps of an iteration, which may end early, or as many as its effort asks for. Efforts are milliseconds, about,
of one core of 2024; only their ratios count.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

from kernelbraid._arrays import BLOCK_SIZE, free_bytes
from kernelbraid._machine import available_bytes, counted, format_bytes
from kernelbraid.kernels.local import LocalKernel
from kernelbraid.learning.settings import FEW_RESTARTS, GUESS, MANY_SAMPLES, Settings
from kernelbraid.learning.sources import KEPT, Samples
from kernelbraid.learning.trust import TELLING
from kernelbraid.solvers.low_rank.rows import BLOCK, DEVICE_SHARE, LANDMARKS, RANK, jobs_of

# Matrices of n x n that a fit of LKG holds at its peak beside the kernels: the seven of the iteration, the workspace
# of an eigendecomposition and temporaries; and what a whole singular value decomposition takes beside them.
WORKING_MATRICES, SVD_MATRICES = 9.5, 4.0
# The same where one linear system gives the graph: the kernel, whose memory becomes that of the graph.
CLOSED_FORM_MATRICES = 1.0
# What it takes beside them to choose the number of clusters: a cloud and what it is drawn from.
COUNTING_MATRICES = 2.0
# The same where views are compared: similarities of one, what they are sorted in, and its neighbours.
FUSED_MATRICES = 5.5
# The same of the samples by which views of many are compared, beside the inner products of each.
COMPARED_MATRICES = 3.0
# Blocks that a pass over matrices of n x n keeps.
PASS_BLOCKS = 2.4
#: Of a fit in rows: matrices of landmarks, blocks on their way, those that each thread keeps, also of local kernels,
#: and bytes beside features and factor that a sample has: edges on their way to a graph.
LANDMARK_MATRICES, PASSED_BLOCKS, ROW_BLOCKS, LOCAL_BLOCKS, EDGE_BYTES = 5, 2.5, 3.5, 2, 600
#: Distances that solvers in batches have at once, unless one run has more; and arrays as large as these.
BATCH_NUMBERS, RUN_ARRAYS = 4_000_000, 2
#: Restarts of k-means, as far as memory goes, where the preset sets them.
RESTARTS = 20
PIECES_AND_PLACES = 2  # for each cluster: coordinates before and after they are scaled


def clustering_bytes(n_samples: int, n_clusters: int | str, n_init: int | None = None) -> int:
    """Return what it takes to cluster samples in an embedding.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_clusters : int or "auto"
        Number of clusters: communities need no embedding, and that of the clusters found is small.
    n_init : int, default=None
        Starts of k-means; None: as the preset has it.
    """
    if isinstance(n_clusters, str):
        k, n_init = GUESS, 1
    else:
        k, n_init = min(n_clusters, n_samples), n_init or (RESTARTS if n_samples < MANY_SAMPLES else FEW_RESTARTS)
    one = n_samples * 2 * k
    numbers = min(n_init * one, max(BATCH_NUMBERS, one))
    return 8 * (RUN_ARRAYS * numbers + PIECES_AND_PLACES * n_samples * k)


def predict_bytes(
    n_samples: int,
    n_kernels: int,
    n_views: int,
    itemsize: int,
    *,
    stored: bool,
    n_given: int = 0,
    working: float = WORKING_MATRICES,
    beside: int = 0,
) -> int:
    """Return the peak memory of a fit beside its input.

    Parameters
    ----------
    n_samples, n_kernels, n_views : int
        Size of the problem; n_views is 0 for precomputed kernels, which need no inner products.
    itemsize : int
        Bytes of a number: 4 or 8.
    stored : bool
        Whether the kernels are kept as matrices; otherwise the inner products are, one float64 matrix per view.
    n_given : int, default=0
        How many of the kernels are functions of the user, whose matrices are kept in either case.
    working : float, default=9.5
        Matrices of n x n at the peak beside the kernels.
    beside : int, default=0
        Further bytes, which do not grow with n x n.

    Returns
    -------
    int
        Bytes.
    """
    square = n_samples * n_samples
    kernels = n_given * 8 + (n_kernels * itemsize if stored else n_views * 8)
    return int(square * (working * itemsize + kernels)) + beside


def pass_bytes(n_samples: int) -> int:
    """Return what the blocks of a pass over matrices of n x n take."""
    return int(8 * PASS_BLOCKS * min(n_samples**2, BLOCK_SIZE))


def rows_bytes(
    n_samples: int, width: int, *, clustering: int, has_local: bool, n_jobs: int, on_device: bool = False
) -> int:
    """Return what a fit in rows takes: landmarks and blocks, or clustering; and beside them what samples have.

    Parameters
    ----------
    n_samples, width : int
        Number of samples, and of features of the widest view.
    clustering : int
        As :func:`clustering_bytes` says.
    has_local : bool
        Whether some kernels are local.
    n_jobs : int
        Blocks in work at a time.
    on_device : bool, default=False
        Whether they are those of an accelerator, which has no edges.
    """
    of_samples = n_samples * (4 * (width + RANK) + EDGE_BYTES * (not on_device))
    side = math.sqrt(BLOCK * DEVICE_SHARE if on_device else BLOCK)
    numbers = (n_samples / math.ceil(n_samples / side)) ** 2  # of a block of pairs
    blocks = int(4 * numbers * (PASSED_BLOCKS + n_jobs * (ROW_BLOCKS + LOCAL_BLOCKS * has_local)))
    return of_samples + max(8 * LANDMARK_MATRICES * min(LANDMARKS, n_samples) ** 2, blocks, clustering)


def room(on_device: int | None = None) -> int | None:
    """Return the free bytes of the accelerator that computes, or of the machine; None if nobody knows."""
    return available_bytes() if on_device is None else on_device


def choose_storage(
    storage: Literal["auto", "lazy", "stored"], on_device: int | None = None, *, n_views: int, **size: Any
) -> bool:
    """Return whether to store the kernels, or say that the fit does not fit.

    Parameters
    ----------
    storage : {"auto", "lazy", "stored"}
        ``"auto"`` stores them if there is room.
    on_device : int or None
        Free bytes of the accelerator that computes; the memory of the machine counts if None.
    n_views : int
        0 for precomputed kernels, which are there already.
    **size
        As for :func:`predict_bytes`.
    """
    limit, needs = room(on_device), partial(predict_bytes, n_views=n_views, **size)
    stored, lazy = needs(stored=True), needs(stored=False)
    storage = storage if n_views else "stored"
    if limit is None or (storage != "lazy" and stored <= limit):
        return storage != "lazy"
    if storage != "stored" and lazy <= limit:
        return False
    needed = stored if storage == "stored" else lazy
    halved = needs(stored=storage == "stored", itemsize=4)
    is_enough = size["itemsize"] == 8 and halved <= limit
    ways = f"float32 data ({format_bytes(halved)}) or fewer samples" if is_enough else "fewer samples"
    raise MemoryError(
        f"a fit of {size['n_samples']} samples with {counted(size['n_kernels'], 'kernel')} needs about "
        f"{format_bytes(needed)}, and {format_bytes(limit)} are free; use {ways}."
    )


Task = TypeVar("Task")

#: Phases of a fit.
CHOOSE, LEARN, CUT, CLUSTER = (
    "choosing the number of clusters",
    "learning the graph",
    "cutting the graph",
    "clustering the samples",
)
#: Parts of all phases together that have no steps.
PARTS = 100
#: Effort of a step of the paper's iteration, in units of that of the closed form.
STEP = 3.0


def check_memory(
    samples: Samples,
    kernels: Any,
    *,
    n_clusters: int | str,
    n_init: int | None = None,
    storage: Literal["auto", "lazy", "stored"],
    working: float,
    copies: float = 0.0,
) -> bool:
    """Return whether kernels are to be stored; refuse a fit for which there is no room.

    Parameters
    ----------
    samples : Samples
        What was read.
    kernels : str or list
        Bank, or a bank per view.
    n_clusters, n_init
        As for :func:`clustering_bytes`.
    storage
        As for :func:`choose_storage`.
    working, copies : float
        Matrices of n x n at the peak beside the kernels, and further ones for each kernel.
    """
    n, size = samples.n_samples, samples.size(kernels)
    working += copies * size["n_kernels"] + (COUNTING_MATRICES if n_clusters == "auto" else 0.0)
    beside = max(pass_bytes(n), clustering_bytes(n, n_clusters, n_init))
    return choose_storage(storage, free_bytes(samples.there), **size, working=working, beside=beside)


def check_memory_of_fit(samples: Any, settings: Settings, *, is_weighed: bool, is_joined: bool, in_rows: bool) -> bool:
    """Refuse a fit of LKG for which there is no room; return whether kernels are stored, and not formed on demand."""
    learning, readout, kernels, n_views = settings.learning, settings.readout, settings.kernels, samples.n_views
    n_init = None if "n_init" in settings.left_open else readout.n_init
    if in_rows:
        banks = [kernels] if n_views == 1 or settings.fusion == "kernels" else settings.fused_banks
        clustering = clustering_bytes(samples.n_samples, readout.n_clusters, n_init)
        check_memory_of_rows(samples, banks, clustering, learning.n_jobs)
        return False
    storage: Literal["auto", "lazy"] = "lazy"
    working = WORKING_MATRICES + (SVD_MATRICES if learning.thresholding == "svd" else 0.0)
    working = CLOSED_FORM_MATRICES if learning.is_closed_form else working
    if not is_weighed:  # none is kept where their average is all that is needed
        storage = "lazy" if learning.is_kernel_fixed else "auto"
    elif is_joined:
        working = max(working + n_views - 1, FUSED_MATRICES - samples.size(kernels).get("n_given", 0))
    else:
        every_edge = WORKING_MATRICES + 2 * n_views  # the graphs of all views, with their indices
        working = every_edge if settings.fused_neighbors == "all" else FUSED_MATRICES
        samples = samples.only(0) if samples.n_samples > KEPT else samples
        kernels = settings.fused_banks[0]
    of_clusters: dict[str, Any] = {"n_clusters": readout.n_clusters, "n_init": n_init}
    return check_memory(samples, kernels, **of_clusters, storage=storage, working=working)


def check_memory_of_rows(samples: Any, banks: Sequence[Any], clustering: int, n_jobs: int | None) -> None:
    """Refuse a fit in rows for which there is no room; views are compared by some samples, over all pairs of these."""
    n, limit = samples.n_samples, room()
    kernels = [kernel for view in range(samples.n_views) for bank in samples.row_banks(view, banks) for kernel in bank]
    size: dict[str, Any] = {"has_local": any(isinstance(kernel, LocalKernel) for kernel in kernels)}
    size["n_jobs"], on_device = jobs_of(samples.there, n_jobs), free_bytes(samples.there)
    there = rows_bytes(n, max(samples.widths), clustering=0, on_device=True, **size)
    if on_device is not None and there > on_device:
        raise MemoryError(
            f"a fit of {n} samples needs about {format_bytes(there)} on the device, and {format_bytes(on_device)} are "
            "free there; compute on the CPU, or free some of it."
        )
    needed = rows_bytes(n, max(samples.widths), clustering=clustering, **size)
    some = min(n, TELLING)
    if samples.n_views > 1:
        needed = max(needed, int(8 * some * some * (COMPARED_MATRICES + samples.n_views)) + pass_bytes(some))
    if limit is not None and needed > limit:
        raise MemoryError(
            f"a fit of {n} samples in rows needs about {format_bytes(needed)}, and {format_bytes(limit)} are free; "
            f"give at most about {int(n * limit / needed)} samples."
        )


class Watcher(Protocol):
    """Is told how far work has come."""

    def plan(self, phases: Mapping[str, int]) -> None:
        """Hear which phases there will be, and of how many parts each."""

    def enter(self, phase: str) -> None:
        """Hear that a phase begins."""

    def leave(self) -> None:
        """Hear that it is over."""

    def reach(self, share: float) -> None:
        """Hear what share of it is done."""

    def step(self, told: Mapping[str, Any]) -> bool:
        """Hear of a step of an iteration, which is a part of the phase; return whether there shall be no more."""


_watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("_watchers", default=())


@contextmanager
def _heard_by(watchers: tuple[Watcher, ...]) -> Iterator[None]:
    token = _watchers.set(watchers)
    try:
        yield
    finally:
        _watchers.reset(token)


def watched_by(*watchers: Watcher) -> AbstractContextManager[None]:
    """Tell some more how far work has come that is done meanwhile in this thread."""
    return _heard_by((*_watchers.get(), *watchers))


def unheard() -> AbstractContextManager[None]:
    """Do what is a part of a phase, and has none of its own to tell of."""
    return _heard_by(())


def plan(phases: Mapping[str, int]) -> None:
    """Tell which phases there will be, in which order, and of how many parts."""
    for watcher in _watchers.get():
        watcher.plan(phases)


def parts_of(efforts: Mapping[str, float], unit: float | None = None) -> dict[str, int]:
    """Return of how many parts phases are that ask for so much effort: of a hundred in all, or of a size."""
    unit = unit or sum(efforts.values()) / PARTS or 1.0
    return {name: max(1, round(effort / unit)) for name, effort in efforts.items()}


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Do a phase that was planned."""
    watchers = _watchers.get()
    for watcher in watchers:
        watcher.enter(name)
    yield
    for watcher in watchers:
        watcher.leave()


def reach(share: float) -> None:
    """Tell what share of the phase is done; in another process, nobody is told."""
    for watcher in _watchers.get():
        watcher.reach(share)


def step(told: Mapping[str, Any]) -> bool:
    """Tell of a step, and return whether the iteration is to end."""
    told_to_end = [watcher.step(told) for watcher in _watchers.get()]  # everybody hears of it
    return any(told_to_end)


def reported(
    tasks: Iterable[Task], size: Callable[[Task], int], total: int, span: tuple[float, float] = (0.0, 1.0)
) -> Iterator[Task]:
    """Return tasks of so much work in all, a span of the phase; it is told when they are taken, by whatever thread."""
    watchers, (first, last) = _watchers.get(), span

    def told() -> Iterator[Task]:
        done = 0
        for task in tasks:
            yield task
            done += size(task)
            for watcher in watchers:
                watcher.reach(first + (last - first) * done / total)

    return told()


def factor_effort(n: int) -> float:
    """Return the effort of a graph's coefficients: a kernel of n samples is factorised."""
    return 75.0 * (n / 1000) ** 3


def refine_effort(n: int) -> float:
    """Return the effort of keeping the strongest edges of n samples."""
    return 50.0 * (n / 1000) ** 2


def efforts_of_fit(n: int, k: int | None, *, n_graphs: int = 1, in_rows: bool = False) -> dict[str, float]:
    """Return the effort of each phase of a fit of LKG to n samples; k is None where the number is to be found."""
    few = k or GUESS
    learning = n_graphs * (0.045 * n**1.3 if in_rows else factor_effort(n) + refine_effort(n))
    cutting, searching = 4 * few * n / 1000 + 20, 0.5 * n
    return {LEARN: learning, CHOOSE: learning + searching, CUT: cutting}
