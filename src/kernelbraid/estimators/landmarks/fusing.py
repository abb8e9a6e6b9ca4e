"""How samples are expressed over landmarks whose graphs, one or more for every view, were fused."""

from collections.abc import Sequence

import numpy as np

from kernelbraid.learning.extend import KernelMember
from kernelbraid.learning.weighing import Weighed
from kernelbraid.solvers.fused_landmarks import FusedExpression
from kernelbraid.solvers.landmarks import LandmarkExpression, mean_diagonal
from kernelbraid.solvers.low_rank.ridge import Expression


def express_fused(weighed: Weighed, members: Sequence[KernelMember], n_neighbors: int | None) -> FusedExpression:
    """Return how samples are expressed over landmarks.

    Parameters
    ----------
    weighed : Weighed
        Views of the landmarks, some of which these may lack.
    members : sequence of KernelMember
        What was learned on them.
    n_neighbors : int or None
        Strongest edges of a sample in each graph; the sum keeps so many for each view that is used. None for all.
    """
    widths = tuple(weighed.samples.widths)
    expressions = []
    for member in members:
        assert member.bank is not None  # landmarks are samples
        K = member.consensus().astype(np.float64)
        expressions += [
            LandmarkExpression(
                member.bank,
                member.kernel_weights,
                Expression.of(K, ridge, None, "learned"),
                n_neighbors,
                member.edge_weights,
                widths,
                member.views,
                mean_diagonal(K),
            )
            for ridge in member.ridges
        ]
    each = [member for member in members for _ in member.ridges]
    weights = np.array([member.weight for member in each])
    reserve = tuple(sorted({view for member in members if member.is_reserve for view in member.views}))
    rows = None if all(member.rows is None for member in each) else [member.rows for member in each]
    return FusedExpression(
        expressions,
        weights / weights.sum() if reserve else weights,
        None if n_neighbors is None else n_neighbors * len(weighed.used),
        widths,
        rows,
        reserve,
        None if rows is None else weighed.n_samples,
    )
