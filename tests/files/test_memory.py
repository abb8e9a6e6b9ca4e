from pathlib import Path

import pytest

from kernelbraid.files import memory
from kernelbraid.files.errors import DataError
from kernelbraid.files.memory import check_room


def test_what_fits_passes_and_what_does_not_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    check_room(Path("a.npy"), "the array", 1000)
    with pytest.raises(DataError, match=r"^a.npy: the array takes 2 KB of memory, and 1 KB are free; save less\.$"):
        check_room(Path("a.npy"), "the array", 2000, "save less")


def test_nothing_is_refused_where_the_system_does_not_tell(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    check_room(Path("a.npy"), "the array", 10**30)
