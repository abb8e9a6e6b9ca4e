"""Rules for what a model holds: kinds of values, their ranges, and lengths that belong together.

A rule is called with a value and the lengths that are known so far, and raises a ValueError that says what the value
is instead; the caller puts its name before that.
"""

import math
from collections.abc import Callable, Collection, Mapping
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

# How far weights may be from a sum of one, or below zero: those of float32 on a GPU are.
SLACK = 1e-3
# The largest coordinate: distances are sums of squares.
FAR = 1e150
ANY = "_"  # a length that belongs to no other


class Sizes(dict[str, int]):
    """Lengths by their letters; a letter that was met stands for the same length again."""

    def match(self, letter: str, length: int) -> None:
        """Compare a length with that of the letter, or keep it."""
        if letter != ANY and self.setdefault(letter, length) != length:
            raise ValueError(f"has length {length} instead of {self[letter]}")


Rule: TypeAlias = Callable[[Any, Sizes], None]


def numbers(
    shape: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    is_positive: bool = False,
    is_shared: bool = False,
    thin: bool = False,
    has_gaps: bool = False,
) -> Rule:
    """Return the rule of finite floating-point numbers.

    Parameters
    ----------
    shape : str
        Letters of the lengths, separated by blanks.
    least, most : float
        The smallest and the largest that are allowed.
    is_positive : bool
        Whether all are above zero.
    is_shared : bool
        Whether they are weights: not negative, and the sum of the last axis is one.
    thin : bool
        Whether they may be a sparse matrix.
    has_gaps : bool
        Whether rows may be NaN in part, as those of samples are that some views lack.
    """

    def check(value: Any, sizes: Sizes) -> None:
        if not (isinstance(value, np.ndarray) or (thin and sparse.issparse(value))):
            raise ValueError(f"is {_named(value)} instead of an array")
        if value.dtype not in (np.float32, np.float64):
            raise ValueError(f"holds {value.dtype} values instead of floating-point numbers")
        _match_shape(value.shape, shape, sizes)
        held = value.data if sparse.issparse(value) else value
        if has_gaps and isinstance(value, np.ndarray) and not np.isnan(value).all(axis=-1).any():
            held = held[~np.isnan(held)]
        if not np.isfinite(held).all():
            raise ValueError("holds NaN or infinity")
        smallest, largest = (float(found) for found in (held.min(), held.max())) if held.size else (math.inf, -math.inf)
        if smallest < (-SLACK if is_shared else least) or (is_positive and not smallest > 0):
            raise ValueError(f"holds {smallest:g}, which is too small")
        if max(largest, -smallest) > most:
            raise ValueError(f"holds {max(largest, -smallest):g}, which is too large")
        if is_shared and not (abs(value.sum(axis=-1) - 1) <= SLACK).all():
            raise ValueError("holds weights whose sum is not one")

    return check


def whole(shape: str, *, below: str | None = None, is_complete: bool = False) -> Rule:
    """Return the rule of an array of whole numbers from 0 on.

    Parameters
    ----------
    shape : str
        As for `numbers`.
    below : str, optional
        The letter of the length that all are below.
    is_complete : bool
        Whether every number up to the largest occurs, as labels do.
    """

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu":
            raise ValueError(f"is {_named(value)} instead of an array of whole numbers")
        _match_shape(value.shape, shape, sizes)
        if value.size and int(value.min()) < 0:
            raise ValueError(f"holds {int(value.min())}")
        if below is not None and value.size and int(value.max()) >= sizes[below]:
            raise ValueError(f"holds {int(value.max())}, which is not below {sizes[below]}")
        # Only now: what is counted takes memory up to the largest.
        if is_complete and below is not None and not np.bincount(value.ravel()).all():
            raise ValueError("leaves out a number below its largest")

    return check


def count(least: int = 0, letter: str = ANY) -> Rule:
    """Return the rule of a whole number, which may be a length."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) < 2**63:
            raise ValueError(f"is {_named(value)} instead of a whole number from {least} on")
        sizes.match(letter, int(value))

    return check


def number(*, is_positive: bool = False, is_finite: bool = True) -> Rule:
    """Return the rule of a number that is not negative."""

    def check(value: Any, _: Sizes) -> None:
        try:
            found = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
        except OverflowError:  # of a whole number
            found = math.nan
        if not found >= 0 or (is_positive and found == 0) or (is_finite and found == math.inf):
            raise ValueError(f"is {_named(value)} instead of a {'positive ' if is_positive else ''}number")

    return check


def of(*kinds: type) -> Rule:
    """Return the rule of values of some types, whatever they are."""

    def check(value: Any, _: Sizes) -> None:
        if not isinstance(value, kinds):
            raise ValueError(f"is {_named(value)} instead of {' or '.join(kind.__name__ for kind in kinds)}")

    return check


def one_of(words: Collection[Any]) -> Rule:
    """Return the rule of a word of a list."""

    def check(value: Any, _: Sizes) -> None:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"is {_named(value)} instead of one of {', '.join(sorted(words))}")

    return check


def maybe(rule: Rule) -> Rule:
    """Return the rule of something that may be None."""
    return lambda value, sizes: None if value is None else rule(value, sizes)


def several(rule: Rule, letter: str = ANY, least: int = 0) -> Rule:
    """Return the rule of a list or tuple, which has so many entries."""

    def check(value: Any, sizes: Sizes) -> None:
        of(list, tuple)(value, sizes)
        if len(value) < least:
            raise ValueError(f"has {len(value)} entries")
        sizes.match(letter, len(value))
        for entry in value:
            rule(entry, sizes)

    return check


def check_fields(owner: Any, rules: Mapping[str, Rule], sizes: Sizes) -> None:
    """Check those attributes of an object that it has."""
    for name, rule in rules.items():
        if name not in vars(owner):
            continue
        try:
            rule(vars(owner)[name], sizes)
        except _PlacedError:
            raise
        except (ValueError, TypeError) as error:
            raise _PlacedError(f"{name} of {type(owner).__name__} {error}") from None


class _PlacedError(ValueError):
    """What is wrong, with the name of the attribute."""


def _match_shape(shape: tuple[int, ...], letters: str, sizes: Sizes) -> None:
    wanted = letters.split()
    if len(shape) != len(wanted):
        raise ValueError(f"has {len(shape)} axes instead of {len(wanted)}")
    for letter, length in zip(wanted, shape, strict=True):
        if letter.isdigit() and length != int(letter):
            raise ValueError(f"has length {length} instead of {letter}")
        sizes.match(letter, length)


def _named(value: Any) -> str:
    """Return a value in a word or two: numbers and short text as they are, anything else by its type."""
    is_short = isinstance(value, str) and len(value) < 30
    is_number = isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64)
    return repr(value) if value is None or is_short or is_number else f"a {type(value).__name__}"
