"""Targets that fail on purpose: the engine must notice each of them."""

import ctypes
import random
import time
import warnings
from pathlib import Path

from fuzzing.target import MEGABYTE, Target, may_refuse


def make(rng: random.Random, folder: Path) -> None:
    """Write a number."""
    (folder / "number.txt").write_text(str(rng.randrange(100)), encoding="utf-8")


def refuse(folder: Path) -> None:
    """Refuse as it should be."""
    with may_refuse(ValueError, about=folder):
        raise ValueError(f"{folder}: this number is too small; give a larger one.")


def mumble(folder: Path) -> None:
    """Refuse with what is no sentence."""
    with may_refuse(ValueError):
        raise ValueError("bad\nvalue")


def raise_error(folder: Path) -> None:
    """Raise what nobody expects."""
    raise KeyError((folder / "number.txt").read_text(encoding="utf-8"))


def hang(folder: Path) -> None:
    """Do not end."""
    time.sleep(60)


def crash(folder: Path) -> None:
    """Take the interpreter down."""
    ctypes.string_at(0)


def hog(folder: Path) -> None:
    """Take memory."""
    bytearray(b"x") * (200 * MEGABYTE)


def warn(folder: Path) -> None:
    """Warn as another library does."""
    warnings.warn("overflow encountered in multiply", RuntimeWarning, stacklevel=1)


TARGETS = {
    "sound": Target("sound", make, lambda folder: None),
    "refuse": Target("refuse", make, refuse),
    "mumble": Target("mumble", make, mumble),
    "error": Target("error", make, raise_error),
    "hang": Target("hang", make, hang, limit=0.5),
    "crash": Target("crash", make, crash),
    "hog": Target("hog", make, hog, room=100 * MEGABYTE),
    "warn": Target("warn", make, warn),
}
