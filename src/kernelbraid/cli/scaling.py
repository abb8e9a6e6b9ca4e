"""``--scale``: every view scaled on its own, in memory or block by block, and the model that remembers how."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from kernelbraid.blocks.dask_parts import is_dask
from kernelbraid.blocks.source import Blocks
from kernelbraid.cli.failure import Failure
from kernelbraid.estimators.each_view import AS_IT_IS, EachView, fit_measured, transform_measured


@dataclass(frozen=True)
class Scaling:
    """How the views of a fit were scaled."""

    transformers: tuple[Any, ...]  # one for each view

    @classmethod
    def of(cls, scale: str, views: Sequence[Any]) -> "Scaling":
        """Measure views: matrices, or samples that are gone through in blocks."""
        return cls(tuple(_measured(scale, view) for view in views))

    def apply(self, views: Sequence[Any]) -> list[Any]:
        """Return the views, scaled; those in blocks are when they are read."""
        each = zip(self.transformers, views, strict=True)
        return [in_blocks(partial(transform_measured, one), view) for one, view in each]

    def before(self, model: BaseEstimator, names: Sequence[str] | None) -> Pipeline:
        """Return the pipeline that scales new samples in the same way, and hands them to a fitted model.

        Parameters
        ----------
        model : estimator
            Fitted on the scaled samples.
        names : sequence of str or None
            Of the features, if all files have them.
        """
        step = self.transformers[0]
        if len(self.transformers) > 1:
            step = EachView([one if one == AS_IT_IS else clone(one) for one in self.transformers])
            step.transformers_, step.n_features_in_ = list(self.transformers), int(model.n_features_in_)
        if names is not None:
            step.feature_names_in_ = np.array(names, dtype=object)
        return Pipeline([("scale", step), ("cluster", model)])


def _measured(scale: str, view: Any) -> Any:
    """Return the fitted scaler of a view."""
    if hasattr(view, "shape"):
        return fit_measured(_scaler(scale, view), view)
    scaler = None
    for block in view:
        scaler = scaler or _scaler(scale, block)
        fit_measured(scaler, block, further=True)
    return scaler if hasattr(scaler, "n_features_in_") else AS_IT_IS


def _scaler(scale: str, view: Any) -> BaseEstimator:
    """Return what scales; sparse samples keep their means, and stay sparse."""
    return Normalizer() if scale == "unit" else StandardScaler(with_mean=not sparse.issparse(view))


class Mapped:
    """Blocks of samples, of which a function is taken when they are read."""

    def __init__(self, function: Callable[[Any], Any], blocks: Iterable[Any]) -> None:
        self._function, self._blocks = function, blocks

    def __iter__(self) -> Iterator[Any]:
        """Go through the blocks, from the first one."""
        return map(self._function, iter(self._blocks))


def in_blocks(function: Callable[[Any], Any], view: Any) -> Any:
    """Return a function of samples: of a matrix, of blocks that are read later, or on the workers of a Dask cluster."""
    if is_dask(view):
        return view.map_blocks(function, dtype=view.dtype, meta=np.empty((0, 0), view.dtype))
    return function(view) if hasattr(view, "shape") else Blocks(Mapped(function, view))


def prepared(model: Pipeline, views: Sequence[Any]) -> list[Any]:
    """Return streams as the last step of a pipeline takes them, transformed when they are read."""
    if len(views) == 1:
        return [in_blocks(model[:-1].transform, views[0])]
    for _, step in model.steps[:-1]:
        if isinstance(step, EachView) and len(step.transformers_) == len(views):
            views = Scaling(tuple(step.transformers_)).apply(views)
        elif step not in (None, AS_IT_IS):
            raise Failure(
                f"DATA has {len(views)} files, and the {type(step).__name__} of the model takes another number; give "
                "the files of the fit."
            )
    return list(views)


def first_step(model: BaseEstimator) -> Any:
    """Return what sees the features of new samples: the model, or the first step of a pipeline that does anything."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return next(step for step in steps if step not in (None, AS_IT_IS))


def last_step(model: BaseEstimator) -> Any:
    """Return what clusters: the model, or the last step of a pipeline."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model
