"""How much memory a fit needs, and whether it may have it."""

from typing import Any, Literal

from kernelbraid._arrays import BLOCK_SIZE
from kernelbraid._machine import available_bytes
from kernelbraid._system import counted, format_bytes
from kernelbraid.solvers.low_rank.rows import BLOCK, DEVICE_SHARE, LANDMARKS, RANK

# Matrices of n x n that a fit of LKG holds at its peak beside the kernels: the seven of the iteration, the workspace
# of an eigendecomposition and temporaries; and what a whole singular value decomposition takes beside them.
WORKING_MATRICES, SVD_MATRICES = 9.5, 4.0
# The same where one linear system gives the graph: the kernel, whose memory becomes that of the graph.
CLOSED_FORM_MATRICES = 1.0
# What it takes beside them to choose the number of clusters: a cloud and what it is drawn from.
COUNTING_MATRICES = 2.0
# The same where views are compared: similarities of one, what they are sorted in, and its neighbours.
FUSED_MATRICES = 5.5
# Blocks that a pass over matrices of n x n keeps.
PASS_BLOCKS = 2.4
#: Of a fit in rows: matrices of landmarks, blocks that each thread keeps, also of local kernels, and numbers beside
#: features and factor that a sample has: edges on their way to a graph.
LANDMARK_MATRICES, ROW_BLOCKS, LOCAL_BLOCKS, EDGE_BYTES = 5, 5, 4, 600
STORAGES = ("auto", "stored", "lazy")
#: Distances that solvers in batches have at once, unless one run has more; and arrays as large as these.
BATCH_NUMBERS, BATCH_ARRAYS, RUN_ARRAYS = 4_000_000, 4, 2
PIECES_AND_PLACES = 2  # for each cluster: coordinates before and after they are scaled


def clustering_bytes(n_samples: int, n_clusters: int, n_init: int) -> int:
    """Return what it takes to cluster samples in an embedding.

    Parameters
    ----------
    n_samples, n_clusters, n_init : int
        Size of the embedding, and starts of k-means.
    """
    one = n_samples * 2 * n_clusters
    numbers = min(n_init * one, max(BATCH_NUMBERS, one))
    return 8 * (RUN_ARRAYS * numbers + PIECES_AND_PLACES * n_samples * n_clusters)


def batch_bytes(n_samples: int) -> int:
    """Return what a batch of small systems takes."""
    return 8 * BATCH_ARRAYS * min(BATCH_NUMBERS, n_samples**3)


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
    numbers = BLOCK * DEVICE_SHARE if on_device else BLOCK
    blocks = 4 * numbers * n_jobs * (ROW_BLOCKS + LOCAL_BLOCKS * has_local)
    return of_samples + max(8 * LANDMARK_MATRICES * min(LANDMARKS, n_samples) ** 2, blocks, clustering)


def room(on_device: int | None = None) -> int | None:
    """Return the free bytes of the accelerator that computes, or of the machine; None if nobody knows."""
    return available_bytes() if on_device is None else on_device


def choose_storage(
    storage: Literal["auto", "lazy", "stored"],
    on_device: int | None = None,
    *,
    n_samples: int,
    n_kernels: int,
    n_views: int,
    itemsize: int,
    n_given: int = 0,
    working: float = WORKING_MATRICES,
    beside: int = 0,
) -> bool:
    """Return whether to store the kernels, or say that the fit does not fit.

    Parameters
    ----------
    storage : {"auto", "lazy", "stored"}
        ``"auto"`` stores them if there is room.
    on_device : int or None
        Free bytes of the accelerator that computes; the memory of the machine counts if None.
    n_samples, n_kernels, n_views, itemsize, n_given : int
        As for :func:`predict_bytes`.
    working : float, default=9.5
        As for :func:`predict_bytes`.
    beside : int, default=0
        As for :func:`predict_bytes`.
    """
    limit = room(on_device)
    size: dict[str, Any] = {"n_samples": n_samples, "n_kernels": n_kernels, "n_views": n_views, "n_given": n_given}
    size |= {"itemsize": itemsize, "working": working, "beside": beside}
    stored, lazy = (predict_bytes(**size, stored=is_stored) for is_stored in (True, False))
    if n_views == 0:  # precomputed kernels are there already
        storage = "stored"
    if limit is None or (storage != "lazy" and stored <= limit):
        return storage != "lazy"
    if storage != "stored" and lazy <= limit:
        return False
    needed = stored if storage == "stored" else lazy
    ways: list[str] = []
    if itemsize == 8:
        halved = predict_bytes(**{**size, "itemsize": 4}, stored=storage == "stored")
        ways += [f"float32 data ({format_bytes(halved)})"] if halved <= limit else []
    ways.append("fewer samples")
    raise MemoryError(
        f"a fit of {n_samples} samples with {counted(n_kernels, 'kernel')} needs about {format_bytes(needed)}, and "
        f"{format_bytes(limit)} are free; use {' or '.join(ways)}."
    )
