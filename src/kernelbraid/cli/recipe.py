"""From the options of the command line to a method with its parameters."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from kernelbraid._typing import Parameters
from kernelbraid.cli.failure import BAD_USAGE, Failure
from kernelbraid.cli.messages import option_name
from kernelbraid.estimators import LKG, LandmarkLKG
from kernelbraid.estimators.given_graphs import DISTANCES, GRAPH
from kernelbraid.learning.settings import PRESETS, Settings
from kernelbraid.methods import METHODS, TITLES, kernels_taken, settings_of

PRECOMPUTED = "precomputed"
#: Words for data that are matrices over pairs of samples.
OVER_PAIRS = (PRECOMPUTED, GRAPH, DISTANCES)
PENALTY = "graph_penalty"
AUTO = "auto"  # the number of clusters is chosen
LANDMARKS = "LandmarkLKG"
#: What can be fitted: the methods of the paper, LKG as we recommend it, and LKG of many samples.
FITTED: dict[str, BaseEstimator] = {**METHODS, "LKG": LKG(graph_penalty="frobenius"), LANDMARKS: LandmarkLKG()}
#: What each of them is, in words.
WORDS = {
    **TITLES,
    "LKG": "several kernels, graph of small squares",
    LANDMARKS: "LKG of many samples, through landmarks",
}
# The name of LKG under each penalty; without --method it is chosen by --penalty.
BY_PENALTY = {model.graph_penalty: name for name, model in FITTED.items() if isinstance(model, LKG)}


@dataclass(frozen=True)
class Recipe:
    """A method with its parameters, ready to be fitted."""

    name: str  # in `FITTED`
    parameters: Parameters

    @property
    def estimator(self) -> type[BaseEstimator]:
        """The class that is fitted."""
        return type(FITTED[self.name])

    @property
    def precomputed(self) -> bool:
        """Whether the data are kernels, or graphs."""
        return pairs_word(self.parameters.get) is not None

    @property
    def tells_steps(self) -> bool:
        """Whether the estimator calls back after every step."""
        return self.name != LANDMARKS and "callback" in _parameters(self.name)

    @property
    def streams(self) -> bool:
        """Whether samples are read block by block."""
        return self.name == LANDMARKS

    @property
    def predicts(self) -> bool:
        """Whether what is fitted can label new samples."""
        return hasattr(self.estimator, "predict")

    def make(self) -> Any:
        """Return an unfitted estimator."""
        return self.estimator(**self.parameters)


def choose(name: str | None, asked: Parameters) -> Recipe:
    """Return a method with its own settings and the given ones, which win.

    Parameters
    ----------
    name : str or None
        A method of the registry; None for LKG with the defaults of its estimator.
    asked : dict
        A value for every parameter that has an option; None if the option was not given.

    Returns
    -------
    Recipe
        The method and the parameters of its estimator.
    """
    given = _given(asked)
    if name is None:
        name = BY_PENALTY[given.get(PENALTY, _preset(given).learning.graph_penalty)]
        _refuse_foreign(f"{name}, the default", name, given, asked)
        return Recipe(name, {"n_clusters": AUTO, **given})
    model = METHODS[name]
    if given.get("kernels") in (GRAPH, DISTANCES) and not isinstance(model, LKG):
        raise Failure(
            f"--kernels {given['kernels']} is read out by LKG, and {name} learns from kernels; leave out --method, or "
            "give it --kernels precomputed.",
            BAD_USAGE,
        )
    if kernels_taken(model) == "one":
        given = _with_one_kernel(given)
    _refuse_foreign(name, name, given, [parameter for parameter in asked if parameter != PENALTY])
    if "n_clusters" not in given:
        raise Failure(
            f"{name} does not choose the number of clusters; give --clusters, or leave out --method.", BAD_USAGE
        )
    return Recipe(name, {**settings_of(model), **given})


def choose_landmarks(name: str | None, asked: Parameters) -> Recipe:
    """Return LKG through landmarks.

    Parameters
    ----------
    name : str or None
        The method that was given beside, which is refused.
    asked : dict
        As for :func:`choose`.

    Returns
    -------
    Recipe
        The method and its parameters.
    """
    if name is not None:
        raise Failure(f"--landmarks are for LKG, not for {name}; leave out --landmarks or --method.", BAD_USAGE)
    given = _given(asked)
    if given.get("kernels") in OVER_PAIRS:
        raise Failure(
            f"--landmarks are chosen among samples, and --kernels {given['kernels']} has none; leave out one of them.",
            BAD_USAGE,
        )
    _refuse_foreign("--landmarks", LANDMARKS, given, asked)
    return Recipe(LANDMARKS, {"n_clusters": AUTO, **given})


def refuse_confidence(recipe: Recipe) -> None:
    """Refuse to tell how sure labels are of a method that does not know."""
    if not hasattr(recipe.estimator, "confidence_"):
        raise Failure(f"{recipe.name} does not know how sure its labels are; --confidence needs LKG.", BAD_USAGE)


def refuse_to_save(recipe: Recipe) -> None:
    """Refuse a method that has no labels for new samples, before any work is done."""
    if not recipe.predicts:
        able = [name for name in METHODS if Recipe(name, {}).predicts]
        raise Failure(
            f"{recipe.name} cannot label new samples, so there is no model to save; leave out --save or --method, "
            f"or choose {', '.join(able[:-1])} or {able[-1]}.",
            BAD_USAGE,
        )


def pairs_word(get: Callable[[str], Any]) -> str | None:
    """Return the word of `OVER_PAIRS` for the data of a method, whose parameters are asked for; None for samples."""
    words = [word for word in map(get, ("kernels", "kernel")) if isinstance(word, str) and word in OVER_PAIRS]
    return next(iter(words), None)


def _given(asked: Parameters) -> dict[str, Any]:
    return {parameter: value for parameter, value in asked.items() if value is not None}


def _preset(given: Parameters) -> Settings:
    """Return the preset that LKG would use."""
    return PRESETS[given.get("preset", inspect.signature(LKG).parameters["preset"].default)]


def _with_one_kernel(given: dict[str, Any]) -> dict[str, Any]:
    """Read ``--kernels precomputed`` as one precomputed kernel."""
    if given.get("kernels") != PRECOMPUTED:
        return given
    if "kernel" in given:
        raise Failure(
            f"--kernel {given['kernel']} and --kernels precomputed exclude each other; leave out --kernel if DATA "
            "holds a kernel, and --kernels if it holds samples.",
            BAD_USAGE,
        )
    return {("kernel" if parameter == "kernels" else parameter): value for parameter, value in given.items()}


def _refuse_foreign(whose: str, name: str, given: Parameters, known: Iterable[str]) -> None:
    """Refuse an option that a method does not have, and say which ones it has."""
    own = [parameter for parameter in known if parameter in _parameters(name)]
    foreign = next((parameter for parameter in given if parameter not in own), None)
    if foreign is None:
        return
    options = [option_name(parameter) for parameter in own if parameter not in ("n_clusters", "n_landmarks")]
    wrong = option_name(foreign)
    if kernels_taken(FITTED[name]) == "one":
        options.insert(options.index("--kernel") + 1, "--kernels precomputed")
        wrong += f" {given[foreign]}" if foreign == "kernels" else ""
    takes = f"{', '.join(options[:-1])} and {options[-1]}"
    raise Failure(f"{wrong} is no option of {whose}; it takes {takes}.", BAD_USAGE)


def _parameters(name: str) -> Iterable[str]:
    """Return the names of the parameters of a method's estimator."""
    return inspect.signature(type(FITTED[name])).parameters
