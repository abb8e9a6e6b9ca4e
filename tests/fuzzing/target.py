"""What is attacked: how an input is made from a seed, and what must hold for it."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

MEGABYTE = 2**20
HANG = 20.0  # seconds after which somebody would give up
ROOM = 300 * MEGABYTE  # that a small input may take beside the memory that it is allowed
LONGEST = 1000  # characters of a sentence; a path and names from a file may be in it

T = TypeVar("T")

#: What kernelbraid has warned of since the attempt began, or since the target has emptied the list.
OURS: list[str] = []


@dataclass(frozen=True)
class Target:
    """Something that takes input from outside.

    Parameters
    ----------
    name : str
        Its name.
    make : callable
        Writes an input into a folder, drawn with a generator.
    check : callable
        Uses the input in the folder; raises `RefusedError` if it was refused in the documented way, and anything else
        if it was not dealt with as it should be.
    share : float, default=1.0
        Of the time, in relation to the other targets.
    limit : float, default=20.0
        Seconds after which an attempt hangs.
    room : int
        Bytes that an attempt may take.
    """

    name: str
    make: Callable[[random.Random, Path], None]
    check: Callable[[Path], None]
    share: float = 1.0
    limit: float = HANG
    room: int = ROOM

    def rng(self, seed: int) -> random.Random:
        """Return the generator of a seed, another one for every target."""
        return random.Random(f"{self.name} {seed}")


class RefusedError(Exception):
    """An input was refused as it should be."""


@contextmanager
def may_refuse(*kinds: type[Exception], about: Path | None = None) -> Iterator[None]:
    """Take errors of exactly these kinds for a refusal, if they are a sentence that begins with what it is about."""
    try:
        yield
    except kinds as error:
        if type(error) not in kinds:  # such as LinAlgError, which is a ValueError
            raise
        check_sentence(str(error), about)
        raise RefusedError(str(error)) from None


def check_sentence(text: str, about: Path | None = None) -> None:
    """Expect one line that a person can read."""
    assert text.isprintable(), f"a message has characters that cannot be printed: {text!r}"
    assert 10 <= len(text) <= LONGEST, f"a message of {len(text)} characters: {text!r}"
    assert " " in text.strip(), f"a message is no sentence: {text!r}"
    assert about is None or str(about) in text, f"a message does not name {about.name}: {text!r}"


def outcome_of(call: Callable[[], T], *kinds: type[Exception], about: Path | None = None) -> T | RefusedError:
    """Return what a call returns, or its refusal, for inputs that several calls are checked with."""
    try:
        with may_refuse(*kinds, about=about):
            return call()
    except RefusedError as refusal:
        return refusal


def all_refused(*outcomes: object) -> None:
    """Count an input as refused if every call has refused it."""
    refusals = [outcome for outcome in outcomes if isinstance(outcome, RefusedError)]
    if len(refusals) == len(outcomes):
        raise refusals[0]
