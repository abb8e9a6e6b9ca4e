"""The library's messages in the words of AnnData and MuData."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from kernelbraid._messages import PHRASES, InPython, Message, Wording, content_of, say


@dataclass(frozen=True)
class InCells(InPython):
    """The wording for who clusters annotated data: views have names.

    Parameters
    ----------
    data : str
        What the data are called.
    names : sequence of str
        Names of the views.
    key : str
        Where the report is.
    """

    data: str
    names: Sequence[str]
    key: str
    phrases: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Put the names into the phrases."""
        words = {
            "data": self.data,
            "again": "cluster again",
            "align_views": "",
            "more_on_views": f"uns[{self.key!r}]['views'] says more",
            "scale_features": "scale them first, for example with scanpy.pp.scale",
            "or_budget": ", a larger memory_budget, or n_landmarks=500",
            "through_landmarks": "n_landmarks={n_landmarks}",
        }
        object.__setattr__(self, "phrases", {**PHRASES, **words})

    def views(self, numbers: Sequence[int]) -> str:
        """Return views by their names."""
        return " and ".join(repr(self.names[number - 1]) for number in numbers)


@contextmanager
def worded(wording: Wording, stacklevel: int) -> Iterator[None]:
    """Say what a fit warns of or refuses in other words; warnings come when it ends, from `stacklevel` above."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    except (ValueError, TypeError, MemoryError) as error:
        if not isinstance(content_of(error), Message):
            raise
        raise type(error)(say(content_of(error), wording)) from error
    finally:
        for warning in caught:
            told = warning.message
            words = say(content_of(told), wording) if isinstance(told, Warning) else told
            warnings.warn(words, warning.category, stacklevel=stacklevel + 2)
