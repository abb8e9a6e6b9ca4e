"""Change valid files a little, as disks, wires and people do, and draw values that people think of."""

import random
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

# Numbers of four bytes at which lengths overflow, become negative, or take all memory.
LENGTHS = (0, 1, 8, 2**16, 10**9, 2**31 - 8, 2**31 - 1, 2**31, 2**32 - 8, 2**32 - 1)
# What stands in headers, tables and JSON where it means something.
CHARACTERS = b"0123456789,.-+eE(){}[]<>|'\"\\:; \t\n\r\0TFNnLOVUuifc"
NEAR_AN_END = 80  # bytes: where headers and tables of contents are


def mutate(rng: random.Random, content: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Return a file with one change or a few; pieces of other files may be put into it."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 12))):
        if changed:
            rng.choice(WAYS)(rng, changed, rng.choice(others) if others else content)
    return bytes(changed)


def flip_bits(rng: random.Random, content: bytes, count: int) -> bytes:
    """Return a file with so many bits of it the other way round."""
    changed = bytearray(content)
    for _ in range(count):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _place(rng: random.Random, content: bytearray) -> int:
    """Return a place, half of the time near the beginning or the end."""
    last = len(content) - 1
    near = min(last, int(rng.expovariate(1 / NEAR_AN_END)))
    return rng.choice((rng.randint(0, last), rng.randint(0, last), near, last - near))


def _flip(rng: random.Random, content: bytearray, other: bytes) -> None:
    content[_place(rng, content)] ^= 1 << rng.randrange(8)


def _write_byte(rng: random.Random, content: bytearray, other: bytes) -> None:
    content[_place(rng, content)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.choice(CHARACTERS)))


def _write_length(rng: random.Random, content: bytearray, other: bytes) -> None:
    at = _place(rng, content)
    content[at : at + 4] = rng.choice(LENGTHS).to_bytes(4, rng.choice(("little", "little", "big")))


def _remove(rng: random.Random, content: bytearray, other: bytes) -> None:
    at = _place(rng, content)
    del content[at : at + rng.randint(1, 9)]


def _insert(rng: random.Random, content: bytearray, other: bytes) -> None:
    at = _place(rng, content)
    content[at:at] = rng.choice((rng.randbytes(rng.randint(1, 9)), bytes(rng.choices(CHARACTERS, k=rng.randint(1, 4)))))


def _cut(rng: random.Random, content: bytearray, other: bytes) -> None:
    del content[_place(rng, content) :]


def _repeat(rng: random.Random, content: bytearray, other: bytes) -> None:
    at, start, length = _place(rng, content), _place(rng, content), rng.randint(1, 60)
    content[at:at] = content[start : start + length]


def _write_digit(rng: random.Random, content: bytearray, other: bytes) -> None:
    digits = [at for at, byte in enumerate(content) if 48 <= byte <= 57]
    if digits:
        content[rng.choice(digits)] = rng.choice(CHARACTERS)


def _splice(rng: random.Random, content: bytearray, other: bytes) -> None:
    at, start, length = _place(rng, content), rng.randrange(max(len(other), 1)), rng.randint(1, 80)
    content[at : at + length] = other[start : start + length]


WAYS = (_flip, _flip, _flip, _write_byte, _write_length, _remove, _insert, _cut, _repeat, _write_digit, _splice)


def draw(rng: random.Random, strategy: SearchStrategy[T]) -> T:
    """Return what a strategy of hypothesis makes of random bytes."""
    taken, take = _taker(strategy)
    while not taken:
        take(rng.randbytes(4096))
    return taken.pop()


@cache
def _taker(strategy):
    taken = []

    @settings(database=None, deadline=None)
    @given(strategy)
    def take(value):
        taken.append(value)

    return taken, take.hypothesis.fuzz_one_input
