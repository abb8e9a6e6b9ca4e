"""The paper's iteration as a parameter of LKG: what only it needs, and what a fit with it gives."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from kernelbraid._typing import Array
from kernelbraid.estimators.base import Interval, Options, StrOptions, storing
from kernelbraid.estimators.callbacks import CallbackSupportMixin
from kernelbraid.learning.coefficients import Coefficients
from kernelbraid.learning.settings import PULLS
from kernelbraid.solvers.low_rank.penalties import ROUTES
from kernelbraid.solvers.low_rank.step import GRAPH_PENALTIES


class ADMM(CallbackSupportMixin, BaseEstimator):
    r"""The iteration of the paper, for ``LKG(solver=ADMM(...))``: learns the kernel together with the graph.

    What is None comes from the preset of :class:`LKG`. Below, *published* stands for the presets ``"authors"`` and
    ``"paper"`` where they agree.

    Parameters
    ----------
    graph_penalty : {"frobenius", "nuclear", "l1"}, default=None
        :math:`\rho`: half the sum of squares (recommended; not in the paper), a low-rank graph (LKGr, published), or a
        sparse one (LKGs).
    beta : float, default=None
        Weight of the kernel's nuclear norm. Recommended: 0.01; published: 0.1.
    gamma : float, default=None
        Weight of the distance between K and the weighted sum of the candidates; with ``math.inf`` K stays their
        average. Recommended: 10; ``"authors"``: 0.1; ``"paper"``: 100.
    mu : float, default=None
        Weight of the constraints Z = J and K = W in the first step, on which the result depends. All presets: 1.
    mu_growth : float, default=None
        Factor of mu after every step, at least 1. Recommended and ``"authors"``: 1.1; ``"paper"``: 1.
    graph_start : {"identity", "random"}, default=None
        First value of J: the identity (recommended, ``"authors"``), or uniform on [0, 1 / n_samples) (``"paper"``).
    kernel_start : {"average", "average/m"}, default=None
        First value of K and W: the average kernel (recommended, ``"authors"``), or that divided by the number of
        kernels once more (``"paper"``).
    weights_problem : {"projection", "printed"}, default=None
        ``"projection"`` (recommended, ``"authors"``) gives the weighted sum nearest to K; ``"printed"``
        (``"paper"``) takes the linear term as it stands in the text, which gives the weighted sum nearest to K / 4.
    graph_from : {"J", "Z"}, default=None
        The matrix that becomes the graph: J, the copy that carries the penalty (``"authors"``), or Z (recommended,
        ``"paper"``).
    thresholding : {"auto", "svd"}, default="auto"
        How singular values are thresholded: through the eigenvectors of A'A, and by the singular value decomposition
        where squaring would lose digits; or always by the decomposition.
    max_iter : int, default=None
        Largest number of steps. All presets: 200.
    tol : float, default=None
        Stop, after six steps at the earliest, when the relative change of K is below `tol`; of Z against J if K stays.
        With 0 all `max_iter` steps are made. Recommended: 1e-3; published: 1e-5.
    record_objective : bool, default=False
        Record the objective in the history (costs one or two singular value decompositions per step).

    Notes
    -----
    One step solves for Z, K, J, W and g in this order and raises the multipliers of Z = J and K = W; for Z and J alone
    if K stays. It takes about 11 matrices of n_samples x n_samples beside the kernels, and O(n_samples^3) time.

    Examples
    --------
    >>> from kernelbraid import ADMM, LKG
    >>> model = LKG(3, solver=ADMM(gamma=1.0))
    >>> model.set_params(solver__gamma=10.0).solver.gamma
    10.0
    """

    _parameter_constraints: ClassVar = {
        "graph_penalty": [StrOptions(set(GRAPH_PENALTIES)), None],
        **{name: [Interval(Real, 0, None, closed="neither"), None] for name in ("beta", "mu")},
        "gamma": [Interval(Real, 0, None, closed="neither"), Options(Real, {math.inf}), None],
        "mu_growth": [Interval(Real, 1, None, closed="left"), None],
        "graph_start": [StrOptions({"identity", "random"}), None],
        "kernel_start": [StrOptions({"average", "average/m"}), None],
        "weights_problem": [StrOptions(set(PULLS)), None],
        "graph_from": [StrOptions({"J", "Z"}), None],
        "thresholding": [StrOptions(set(ROUTES))],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "record_objective": ["boolean"],
    }

    @storing
    def __init__(
        self,
        *,
        graph_penalty=None,
        beta=None,
        gamma=None,
        mu=None,
        mu_growth=None,
        graph_start=None,
        kernel_start=None,
        weights_problem=None,
        graph_from=None,
        thresholding="auto",
        max_iter=None,
        tol=None,
        record_objective=False,
    ): ...


@dataclass(frozen=True, eq=False)
class Solved:
    r"""What a solver found.

    Parameters
    ----------
    Z : array of shape (n_samples, n_samples)
        Column j expresses sample j by the others.
    J : array of shape (n_samples, n_samples)
        The copy of Z that carries the penalty; Z itself if one linear system gives it.
    K : array of shape (n_samples, n_samples)
        The consensus kernel; the average of the candidates if it stays.
    g : array of shape (n_kernels,)
        Weight of each candidate, not negative, sum 1; candidates that are nearly the same matrix share theirs.
    names : list of str
        Of the candidates.
    status : str
        How the solver ended. ``"converged"``, ``"max_iter"`` and ``"stopped"`` (by a callback) come with the
        last iterate. ``"non_finite"``, ``"kernel_vanished"``, ``"graph_empty"`` and ``"graph_diagonal"`` say what
        was wrong with it; the last sound iterate is here instead, or the average kernel with itself as the graph if
        there was none, with a warning.
    history : dict of ndarray
        Per step: ``kernel_change``, ``graph_residual`` :math:`\|Z - J\|_F`, ``kernel_residual``
        :math:`\|K - W\|_F`, ``mu``; how many singular values passed the thresholds, ``graph_rank`` (-1 where the
        penalty cuts none) and ``kernel_rank``, and by which route, ``graph_route`` and ``kernel_route``; and
        ``objective`` when asked for.
    n_iter : int
        Steps.
    """

    Z: Array
    J: Array
    K: Array
    g: Array
    names: list[str]
    status: str
    history: dict[str, np.ndarray]
    n_iter: int

    @classmethod
    def of(cls, found: Coefficients, g: Array, names: list[str], place: Callable[[Array], Array]) -> "Solved":
        """Return it with arrays where results are published."""
        matrices = (place(found.Z), place(found.J), place(found.K))
        return cls(*matrices, place(g), names, str(found.status), found.history, found.n_iter)
