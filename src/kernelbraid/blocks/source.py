"""Samples that come in blocks of rows, as whoever has them says."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


class Blocks:
    """Samples in blocks of rows, one after the other, for :class:`LandmarkLKG`.

    A list of matrices means several views of the same samples. In this class, it means parts of one matrix.

    Parameters
    ----------
    blocks : list of matrices, or iterable
        Matrices of shape (n_rows, n_features), dense, sparse or data frames: a list of them, or an object that yields
        the same ones every time it is gone through. They may have different numbers of rows. A generator can be gone
        through once and is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid import Blocks, LandmarkLKG
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 5.0], [5.0, 0.0]], 500, axis=0) + rng.normal(size=(1000, 2))
    >>> model = LandmarkLKG(n_clusters=2, n_landmarks=50, random_state=0).fit(Blocks([X[:300], X[300:]]))
    >>> np.bincount(model.labels_).tolist()
    [500, 500]

    Blocks that are made or read when they are needed:

    >>> class Drawn:
    ...     def __iter__(self):
    ...         for seed in range(3):
    ...             yield np.random.default_rng(seed).normal(size=(100, 2))
    >>> [block.shape for block in Blocks(Drawn())]
    [(100, 2), (100, 2), (100, 2)]
    """

    def __init__(self, blocks: Iterable[Any]) -> None:
        given = type(blocks).__name__
        if hasattr(blocks, "shape") or hasattr(blocks, "__array__") or isinstance(blocks, str | Path):
            raise ValueError(f"Blocks takes several blocks of rows, not one {given}; give that to the fit itself.")
        if not hasattr(blocks, "__iter__"):
            raise ValueError(
                f"Blocks cannot go through {given}; give a list of matrices, or an object that yields them."
            )
        check_again(blocks, "what Blocks got")
        self._blocks = blocks

    def __iter__(self) -> Iterator[Any]:
        """Go through the blocks, from the first one."""
        return iter(self._blocks)


def check_again(blocks: Iterable[Any], name: str) -> None:
    """Refuse blocks that are used up after going through them once."""
    if iter(blocks) is blocks:
        raise ValueError(
            f"{name} is a {type(blocks).__name__}, which can be gone through once, and the fit goes through the "
            "samples several times; give kernelbraid.Blocks of a list, or of an object whose __iter__ starts anew."
        )
