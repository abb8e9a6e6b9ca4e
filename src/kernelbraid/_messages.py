"""Messages as data: a sentence is its Python wording, and keeps what it is about for who words it otherwise.

A template says of each placeholder what it is: ``{set.mu:g}`` is a parameter with its value, ``{name.max_iter}`` a
parameter alone, ``{class.estimator}`` an estimator, ``{view.number}`` a view, or several, counted from 1,
``{feature.number}`` a feature, counted from 0, of the view that is the fact ``view``, ``{n_iter}`` a fact, and
``{data}`` a phrase, which each wording has in its own words (:data:`PHRASES` has those of Python). A spec ``#sample``
counts: 1 sample, 2 samples.
"""

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

#: What Python says, and every other wording in its own way; the phrases use the facts of their message.
PHRASES: dict[str, str] = {
    "data": "X",
    "again": "fit again",
    "align_views": "; kernelbraid.align_views aligns data frames by their rows' names",
    "all_samples": "n_samples={n_samples}",
    "more_on_views": "view_report_ says more",
    "no_device": "leave device=None",
    "or_budget": " or a larger memory_budget",
    "or_growth": ", or mu_growth={mu_growth:g}",
    "or_growth_if_flat": ", or mu_growth={mu_growth:g} if the residuals in history_ are flat",
    "other_penalty": "graph_penalty='frobenius' if it is 'l1'",
    "samples_are_below": "n_samples={n_samples} is below",
    "samples_are_few": "n_samples={n_samples} is too small",
    "scale_features": "scale them first, for example in make_pipeline({scaler}, ...) of scikit-learn",
    "several_kernels": "an estimator with several kernels",
    "steps": "max_iter={max_iter} steps",
    "third": "n_samples / 3",
    "with_gamma": " with gamma=inf",
    "through_landmarks": "LandmarkLKG(n_clusters={n_clusters!r}, n_landmarks={n_landmarks}).fit(X)",
}


class Wording(Protocol):
    """How somebody who does not read Python is spoken to."""

    @property
    def phrases(self) -> Mapping[str, str]:
        """Words for every phrase of :data:`PHRASES`."""
        ...

    def setting(self, parameter: str, value: object, spec: str) -> str:
        """Return words for a parameter with its value, which is formatted by a spec."""
        ...

    def parameter(self, parameter: str) -> str:
        """Return words for a parameter."""
        ...

    def estimator(self, name: str) -> str:
        """Return words for an estimator."""
        ...

    def views(self, numbers: Sequence[int]) -> str:
        """Return words for one view or several, which are counted from 1."""
        ...

    def feature(self, number: int, view: int) -> str:
        """Return words for a feature, counted from 0, of a view, counted from 1."""
        ...


def numbered_views(numbers: Sequence[int]) -> str:
    """Return views by their numbers."""
    return f"view{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


class InPython:
    """The wording of the library."""

    phrases: Mapping[str, str] = PHRASES

    def setting(self, parameter: str, value: object, spec: str) -> str:
        """Return a parameter as it is given to an estimator."""
        return f"{parameter}={value!r}" if isinstance(value, str) and not spec else f"{parameter}={value:{spec}}"

    def parameter(self, parameter: str) -> str:
        """Return the name of a parameter."""
        return parameter

    def estimator(self, name: str) -> str:
        """Return the name of a class."""
        return name

    def views(self, numbers: Sequence[int]) -> str:
        """Return views by their numbers."""
        return numbered_views(numbers)

    def feature(self, number: int, view: int) -> str:
        """Return a feature by its number."""
        return f"feature {number} (counted from 0)"


PYTHON = InPython()


class Message(str):
    """A sentence for a Python user that other wordings can say in their way; errors and warnings carry it.

    Parameters
    ----------
    template : str
        What is said, with placeholders.
    **facts
        Values of the parameters and whatever else it mentions; those that are messages are worded alike.
    """

    template: str
    facts: dict[str, object]

    def __new__(cls, template: str, /, **facts: object) -> "Message":
        """Word a message for Python."""
        message = super().__new__(cls, _Writer(PYTHON).vformat(template, (), facts))
        message.template, message.facts = template, facts
        return message

    def __reduce__(self) -> tuple[object, ...]:
        """Let messages travel between processes."""
        return _message, (self.template, self.facts)

    def worded(self, wording: Wording) -> str:
        """Return the message in other words."""
        return _Writer(wording).vformat(self.template, (), self.facts)

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters that it mentions by name, with their values; None where there is none."""
        found: dict[str, object] = {}
        for _, field, _, _ in string.Formatter().parse(self.template):
            kind, _, name = (field or "").partition(".")
            if kind in ("set", "name"):
                found[name] = self.facts.get(name)
            elif isinstance(part := self.facts.get(kind), Message):
                found |= part.parameters
        return found


def _message(template: str, facts: dict[str, object]) -> Message:
    return Message(template, **facts)


def join(separator: str, parts: Iterable[str]) -> Message:
    """Return several messages as one."""
    facts = {f"part{number}": part for number, part in enumerate(parts)}
    return Message(separator.join(f"{{{name}}}" for name in facts), **facts)


def content_of(error: BaseException) -> str:
    """Return what an error or a warning says: a message if it carries one, its text otherwise."""
    return error.args[0] if len(error.args) == 1 and isinstance(error.args[0], Message) else str(error)


def say(text: str, wording: Wording) -> str:
    """Return a message in other words; a text that is none stays what it is."""
    return text.worded(wording) if isinstance(text, Message) else text


@dataclass(frozen=True)
class _Setting:
    parameter: str
    value: object


class _Writer(string.Formatter):
    """Fills templates in the words of somebody."""

    def __init__(self, wording: Wording) -> None:
        self.wording = wording

    def get_field(self, field_name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[Any, str]:
        """Return what a placeholder stands for."""
        kind, is_typed, name = field_name.partition(".")
        if is_typed:
            return self._typed(kind, name, kwargs), name
        if kind not in kwargs:
            return self.vformat(self.wording.phrases[kind], args, kwargs), kind
        fact = kwargs[kind]
        return say(fact, self.wording) if isinstance(fact, str) else fact, kind

    def _typed(self, kind: str, name: str, facts: Mapping[str, object]) -> Any:
        if kind == "set":
            return _Setting(name, facts[name])
        if kind == "name":
            return self.wording.parameter(name)
        if kind == "class":
            return self.wording.estimator(str(facts[name]))
        if kind == "view":
            return self.wording.views(cast(Sequence[int], found if isinstance(found := facts[name], list) else [found]))
        if kind == "feature":
            return self.wording.feature(cast(int, facts[name]), cast(int, facts.get("view", 1)))
        raise KeyError(f"{kind}.{name}")

    def format_field(self, value: object, format_spec: str) -> str:
        """Return a value as text."""
        if isinstance(value, _Setting):
            return self.wording.setting(value.parameter, value.value, format_spec)
        if format_spec.startswith("#"):
            return f"{value} {format_spec[1:]}{'' if value == 1 else 's'}"
        return str(super().format_field(value, format_spec))
