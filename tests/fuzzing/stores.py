"""Damaged stores: bit flips, cut files, exchanged records; nothing may be lost, doubled or changed without a word."""

import random
import sqlite3
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.synthetic_records import keeping, lost, record
from kernelbraid.bench.records.record import Record
from kernelbraid.bench.records.store import Store, StoreError

from fuzzing.mutation import flip_bits, mutate
from fuzzing.target import OURS, RefusedError, Target, may_refuse

FILE = "records.db"
N_RECORDS = 40


@cache
def known() -> dict[str, Record]:
    """Return records of every kind by their keys."""
    made = [record(0.5 + number / 100, seed=number, method=("KKM", "LKGr")[number % 2]) for number in range(N_RECORDS)]
    made += [lost("failed", "LinAlgError: no", seed=100), lost("skipped", "it would take a day", seed=101)]
    made.append(keeping(record(0.9, seed=102)))
    return {entry.trial.key: entry for entry in made}


@cache
def sound(layout: int) -> bytes:
    """Return the file of a store of this layout, or of the first one, which has no checksums."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        store = Store(path)
        store.add(*known().values())
        store.add_titles({"small": "Small & fast"})
        if layout == 1:
            with sqlite3.connect(path) as connection:
                for table in ("checksums", "runners", "claims", "experiments"):
                    connection.execute(f"DROP TABLE {table}")
                connection.execute("UPDATE layout SET version = 1")
            connection.close()
        return path.read_bytes()


def make(rng: random.Random, folder: Path) -> None:
    """Write a store that is damaged."""
    content, path = sound(2), folder / FILE
    how = rng.choice(("bits", "bits", "bits", "first page", "bytes", "rows", "old"))
    if how == "bits":
        path.write_bytes(flip_bits(rng, content, rng.choice((1, 1, 1, 3, 20))))
    elif how == "first page":
        path.write_bytes(flip_bits(rng, content[:4096], rng.choice((1, 3))) + content[4096:])
    elif how == "bytes":
        path.write_bytes(mutate(rng, content))
    elif how == "old":
        path.write_bytes(sound(1))
    else:
        path.write_bytes(content)
        _exchange(rng, path)


def _exchange(rng: random.Random, path: Path) -> None:
    """Change rows as a program would that knows nothing of the checksums."""
    one, other = rng.sample(list(known()), 2)
    column = rng.choice(("trial", "outcome"))
    connection = sqlite3.connect(path)
    way = rng.randrange(6)
    if way == 0:
        take = f"(SELECT {column} FROM records WHERE key = ?)"
        connection.execute(f"UPDATE records SET {column} = {take} WHERE key = ?", (other, one))
    elif way == 1:
        connection.execute("UPDATE records SET key = ? WHERE key = ?", (one[::-1], one))
    elif way == 2:
        connection.execute(f"UPDATE records SET {column} = ? WHERE key = ?", (rng.choice(("", "{}", "[]", "nan")), one))
    elif way == 3:
        connection.execute("DELETE FROM records WHERE key = ?", (one,))
    elif way == 4:
        connection.execute("UPDATE checksums SET value = ? WHERE key = ?", ("0" * 64, one))
    else:
        connection.execute(f"UPDATE records SET {column} = replace({column}, '0.5', '0.9') WHERE key = ?", (one,))
    connection.commit()
    connection.close()


def check(folder: Path) -> None:
    """Read the store, then write to it what should be in it: both must leave the records that were written."""
    path = folder / FILE
    # A run that is killed while it makes its store leaves an empty file; SQLite takes one byte for nothing as well.
    if path.stat().st_size <= 1:
        assert read(path, create=True, wanted=0) == set()
        return
    refusals = []
    for create in (False, True):
        try:
            found = read(path, create)
        except RefusedError as refusal:
            refusals.append(refusal)
            continue
        if create:
            with may_refuse(StoreError):
                Store(path).add(*known().values())
            assert read(path, create=False) == set(known()), "records that were added again are not there"
        assert found <= set(known())
    if refusals:
        raise refusals[0]


def read(path: Path, create: bool, wanted: int | None = None) -> set[str]:
    """Return the keys of a store; what is missing has been told, and what is there is what was written."""
    OURS.clear()
    with may_refuse(StoreError, about=path):
        store = Store(path, create=create)
        records, keys = store.records(), store.keys()
        store.titles()  # or a refusal
    assert [entry.trial.key for entry in records] == sorted(keys), "records and keys do not agree"
    for entry in records:
        assert entry.trial.key in known(), "a record that nobody has written"
        assert entry == known()[entry.trial.key], "a record says something else"
    assert len(records) == (len(known()) if wanted is None else wanted) or OURS, "records are lost without a word"
    return keys


TARGETS = [Target("stores", make, check, share=2.0)]
