"""From the options of the command line to a method with its parameters."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kernelbraid.bench import METHODS, Method
from kernelbraid.cli.failure import BAD_USAGE, Failure
from kernelbraid.cli.wording import option_name

PRECOMPUTED = "precomputed"
PENALTY = "graph_penalty"
# The name of LKG under each penalty; without --method it is chosen by --penalty.
BY_PENALTY = {method.settings[PENALTY]: name for name, method in METHODS.items() if PENALTY in method.settings}


@dataclass(frozen=True)
class Recipe:
    """A method with its parameters, ready to be fitted."""

    name: str  # in the registry
    parameters: Mapping[str, Any]

    @property
    def method(self) -> Method:
        """The entry of the registry."""
        return METHODS[self.name]

    @property
    def precomputed(self) -> bool:
        """Whether the data are kernels."""
        return PRECOMPUTED in (self.parameters.get("kernels"), self.parameters.get("kernel"))

    @property
    def tells_steps(self) -> bool:
        """Whether the estimator calls back after every step."""
        return "callback" in _parameters(self.method)

    def make(self) -> Any:
        """Return an unfitted estimator."""
        return self.method.estimator(**self.parameters)


def choose(name: str | None, asked: Mapping[str, Any]) -> Recipe:
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
    given = {parameter: value for parameter, value in asked.items() if value is not None}
    if name is None:
        name = BY_PENALTY[given.get(PENALTY, "nuclear")]
        _refuse_foreign(f"{name}, the default", METHODS[name], given, asked)
        return Recipe(name, given)
    method = METHODS[name]
    if method.policy == "each":
        given = _with_one_kernel(given)
    _refuse_foreign(name, method, given, [parameter for parameter in asked if parameter != PENALTY])
    return Recipe(name, {**method.settings, **given})


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


def _refuse_foreign(whose: str, method: Method, given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse an option that a method does not have, and say which ones it has."""
    own = [parameter for parameter in known if parameter in _parameters(method)]
    foreign = next((parameter for parameter in given if parameter not in own), None)
    if foreign is None:
        return
    options = [option_name(parameter) for parameter in own if parameter != "n_clusters"]
    wrong = option_name(foreign)
    if method.policy == "each":
        options.insert(options.index("--kernel") + 1, "--kernels precomputed")
        wrong += f" {given[foreign]}" if foreign == "kernels" else ""
    takes = f"{', '.join(options[:-1])} and {options[-1]}"
    raise Failure(f"{wrong} is no option of {whose}; it takes {takes}.", BAD_USAGE)


def _parameters(method: Method) -> Iterable[str]:
    """Return the names of the parameters of a method's estimator."""
    return inspect.signature(method.estimator).parameters
