"""Models of earlier formats, as those of today."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from kernelbraid.kernels import Neighbours
from kernelbraid.learning.extension import Extension
from kernelbraid.learning.identity import row_digests


@dataclass(frozen=True)
class FittedGraph:
    """What format 1 kept of a fit for new samples."""

    bank: Any
    samples: list[Any]
    settings: Mapping[str, Any]  # values of all parameters
    placement: Any

    def extension(self, kernel_weights: Any, kernel: Any) -> Extension:
        """Return the same as today; the kernel stays only where it cannot be formed again."""
        asked = self.settings
        is_formed = self.bank is not None and np.isinf(asked["gamma"])
        digests = np.frombuffer(b"".join(row_digests(self.samples)), dtype=np.uint8).reshape(-1, 16)
        return Extension(
            self.bank,
            np.asarray(kernel_weights).astype(np.float64, casting="same_kind"),  # not from what is damaged
            float(asked["alpha"] if asked["graph_penalty"] == "frobenius" else asked["mu"]),
            None if asked["n_neighbors"] == "all" else int(asked["n_neighbors"]),
            asked["edge_weights"],
            self.placement,
            None if is_formed else kernel,
            digests if self.bank is None else None,
        )


def neighbours(graph: Any = None, values: Any = None, **fields: Any) -> Neighbours:
    """Return the kernel of shared neighbours, which format 1 kept with dense matrices."""
    return Neighbours(graph=None if graph is None else sparse.csr_array(graph), **fields)


#: Parts of format 1 that are made otherwise today, by their names in a file.
PARTS_OF_VERSION_1: dict[str, Callable[..., Any]] = {"FittedGraph": FittedGraph, "Neighbours": neighbours}


def upgrade(model: BaseEstimator) -> Any:
    """Return a model of an earlier format as one of today; it keeps all its attributes."""
    old = vars(model).get("_fitted")
    if isinstance(old, FittedGraph):
        model._fitted = old.extension(model.kernel_weights_, vars(model).get("kernel_"))
    return model
