"""The library's messages in the words of the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelbraid._messages import numbered_views

if TYPE_CHECKING:
    from kernelbraid.estimators.base import Range, Refusal

RENAMED = {
    "n_landmarks": "--landmarks",
    "n_clusters": "--clusters",
    "graph_penalty": "--penalty",
    "n_neighbors": "--neighbors",
    "n_jobs": "--jobs",
    "random_state": "--seed",
}
# Words for the phrases of `kernelbraid._messages`, which has those of Python.
PHRASES = {
    "data": "DATA",
    "again": "run the command again",
    "all_samples": "the {n_samples:#sample} of DATA",
    "align_views": "; --id COLUMN aligns files by the names of samples",
    "more_on_views": "views are counted in the order of the files, and the table of them says more",
    "no_device": "leave out --device",
    "or_budget": "",  # there is no option for it
    "or_growth": "",
    "or_growth_if_flat": "",
    "other_penalty": "--penalty frobenius (without --method) if it is l1",
    "samples_are_below": "DATA holds {n_samples:#sample}, fewer than",
    "samples_are_few": "DATA holds {n_samples:#sample}, too few",
    "scale_features": "give --scale standard",
    "several_kernels": "a method with several kernels (see kernelbraid methods)",
    "steps": "{max_iter:#step}",
    "third": "a third of the samples",
    "with_gamma": " with --gamma inf; --gamma 10 learns them",
    "through_landmarks": "--landmarks {n_landmarks}",
}


def option_name(parameter: str) -> str:
    """Return the option that sets a parameter of an estimator."""
    return RENAMED.get(parameter, f"--{parameter.replace('_', '-')}")


@dataclass(frozen=True)
class InOptions:
    """The wording of the command line: options for parameters, and a method for its estimator.

    Parameters
    ----------
    methods : mapping of str to str
        Names of methods by those of their classes; a class that is not there keeps its name.
    phrases : mapping of str to str, default=PHRASES
        Words for the phrases.
    columns : sequence of (sequence of str or None), default=()
        Names of the columns of each file, where they are known.
    """

    methods: Mapping[str, str]
    phrases: Mapping[str, str] = field(default_factory=lambda: PHRASES)
    columns: Sequence[Sequence[str] | None] = ()

    def setting(self, parameter: str, value: object, spec: str) -> str:
        """Return an option with its value."""
        return f"{option_name(parameter)} {value:{spec}}"

    def parameter(self, parameter: str) -> str:
        """Return an option."""
        return option_name(parameter)

    def estimator(self, name: str) -> str:
        """Return the name of a method."""
        return self.methods.get(name, name)

    def views(self, numbers: Sequence[int]) -> str:
        """Return views by their numbers, which are those of the files."""
        return numbered_views(numbers)

    def feature(self, number: int, view: int) -> str:
        """Return a feature by the name of its column, or by its number from 1."""
        names = self.columns[view - 1] if self.columns else None
        return f"column {number + 1}" if names is None else f"column {names[number]!r}"


def out_of_range(refusal: "Refusal", method: str) -> str:
    """Return what to say of an option whose value a method refuses."""
    wanted = " or ".join(_wanted(constraint) for constraint in refusal.wanted if constraint != "None")
    return f"{option_name(refusal.parameter)} {refusal.value} is out of range for {method}; give {wanted}."


def _wanted(constraint: "Range | frozenset[str] | str") -> str:
    if isinstance(constraint, str):
        return constraint
    if isinstance(constraint, frozenset):
        return f"one of {', '.join(sorted(constraint))}" if len(constraint) > 1 else next(iter(constraint))
    return f"{'an int' if constraint.is_whole else 'a number'} in the range {constraint.bounds}"
