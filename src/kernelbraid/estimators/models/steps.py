"""Pipelines in model files: which steps of scikit-learn they may have before an estimator of ours, and their rules.

It loads modules of scikit-learn that estimators do without, and is loaded when a pipeline is saved or read.
Lengths have letters: d features, c components.
"""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from kernelbraid.estimators.base import refused_parameter
from kernelbraid.estimators.each_view import AS_IT_IS, EachView
from kernelbraid.estimators.models.parts import FEATURES, fail_unless
from kernelbraid.estimators.models.rules import FAR, Rule, Sizes, check_fields, count, maybe, numbers, several

# Samples are multiplied with these, or divided by them.
OF_FEATURES, SPREADS = numbers("d", most=FAR), numbers("d", least=1 / FAR, most=FAR)
OF_COMPONENTS = numbers("c", least=0.0)


def step(value: Any, sizes: Sizes) -> None:
    """Check a step inside another, with lengths of its own."""
    check_step(value)


#: The rules of what a step may hold, by its class; without those that have a value it cannot do its work.
RULES: dict[type, dict[str, Rule]] = {
    StandardScaler: {"mean_": maybe(OF_FEATURES), "scale_": maybe(SPREADS), "var_": maybe(numbers("d", least=0.0))},
    MinMaxScaler: {"min_": OF_FEATURES, "scale_": OF_FEATURES},
    RobustScaler: {"center_": maybe(OF_FEATURES), "scale_": maybe(SPREADS)},
    MaxAbsScaler: {"scale_": SPREADS},
    Normalizer: {},
    PCA: {
        "components_": numbers("c d", most=FAR),
        "mean_": OF_FEATURES,
        "explained_variance_": OF_COMPONENTS,
        "n_components_": count(1, "c"),
    },
    TruncatedSVD: {"components_": numbers("c d", most=FAR)},
    EachView: {"transformers_": several(step, least=1)},
    FunctionTransformer: {},
}
#: The classes by their names, by which alone a file calls them.
STEPS: dict[str, type] = {kind.__name__: kind for kind in RULES}
#: Attributes without which a step can do nothing.
NEEDED: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in rules if name != "var_") for kind, rules in RULES.items()
}
#: A parameter that is true, and the attribute that must not be None then.
ASKED = {"with_mean": "mean_", "with_std": "scale_", "with_centering": "center_", "with_scaling": "scale_"}


def is_step(value: Any) -> bool:
    """Tell a step that a file can hold: one of scikit-learn itself, or ours."""
    return type(value) is STEPS.get(type(value).__name__)


def is_idle(value: Any) -> bool:
    """Tell a step that does nothing."""
    return value is None or (isinstance(value, str) and value == AS_IT_IS)


def check_steps(pipeline: Pipeline, models: Mapping[str, type]) -> None:
    """Refuse a pipeline that a file cannot hold, and say which step it is and what can be held."""
    *before, (name, model) = pipeline.steps
    for label, value in before:
        _check_savable(label, value)
    if type(model) is not models.get(type(model).__name__):
        raise ValueError(
            f"the last step {name!r} of the pipeline is {_called(model)}, and save_model saves estimators of "
            "kernelbraid; end the pipeline with one of them, such as LKG."
        )


def _check_savable(label: str, value: Any) -> None:
    inner = value.transformer if type(value) is EachView else []
    for one in inner if isinstance(inner, list | tuple) else [inner]:
        _check_savable(label, one)
    function = getattr(value, "func", None) or getattr(value, "inverse_func", None)
    is_known = is_idle(value) or is_step(value)
    if is_known and function is None:
        return
    name = getattr(function, "__name__", "a function")
    what = f"calls {name}, which is code" if is_known else f"is {_called(value)}"
    raise ValueError(
        f"step {label!r} of the pipeline {what}, and a model file cannot hold that; it can hold {', '.join(STEPS)} "
        "without a function, and 'passthrough', so take this step before the pipeline."
    )


def _called(value: Any) -> str:
    return repr(value) if isinstance(value, str) else f"a {type(value).__name__}"


def changed_parameters(value: BaseEstimator) -> dict[str, Any]:
    """Return the parameters that differ from the defaults: those of other versions of scikit-learn are left to them."""
    defaults = {name: one.default for name, one in inspect.signature(type(value)).parameters.items()}
    given = value.get_params(deep=False)
    return {name: found for name, found in given.items() if not _is_same(found, defaults[name])}


def _is_same(found: Any, default: Any) -> bool:
    return found is default or (type(found) is type(default) and bool(np.all(found == default)))


def check_step(value: Any) -> int | None:
    """Raise a ValueError that says what no step can have written; return the number of its features otherwise."""
    if is_idle(value):
        return None
    kind = type(value)
    fail_unless(kind in RULES, f"{kind.__name__} is no step")
    refused = refused_parameter(value)
    fail_unless(refused is None, f"{kind.__name__} takes no such {'' if refused is None else refused.parameter}")
    missing = next((name for name in NEEDED[kind] if name not in vars(value)), None)
    fail_unless(missing is None, f"{kind.__name__} lacks {missing}")
    sizes = Sizes()
    check_fields(value, {**FEATURES, **RULES[kind]}, sizes)
    for parameter, attribute in ASKED.items():
        is_there = not getattr(value, parameter, False) or getattr(value, attribute, None) is not None
        fail_unless(is_there, f"{kind.__name__} lacks {attribute}")
    fail_unless(getattr(value, "func", None) is None, f"{kind.__name__} calls a function")
    return sizes.get("d")


def check_chain(pipeline: Pipeline) -> None:
    """Check the steps before the last, and that each takes what the one before it makes."""
    labels = [label for label, _ in pipeline.steps]
    is_named = all(isinstance(label, str) and "__" not in label for label in labels)
    fail_unless(is_named and len(set(labels)) == len(labels), "the steps of the pipeline have no names")
    width: int | None = None
    for label, value in pipeline.steps:
        found = check_step(value) if value is not pipeline.steps[-1][1] else int(value.n_features_in_)
        fits = width is None or found is None or width == found
        fail_unless(fits, f"step {label!r} takes {found} features and gets {width}")
        width = _width_after(value, width if found is None else found)


def _width_after(value: Any, width: int | None) -> int | None:
    """Return how many features a step makes of so many."""
    if isinstance(value, PCA | TruncatedSVD):
        return int(value.components_.shape[0])
    if not isinstance(value, EachView):
        return width
    made = [_width_after(one, getattr(one, "n_features_in_", None)) for one in value.transformers_]
    return None if None in made else sum(one for one in made if one is not None)
