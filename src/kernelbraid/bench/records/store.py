"""A file of records that survives being killed at any moment, and may be shared by several runners."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, fields
from pathlib import Path

from kernelbraid.bench.records.record import Json, Record, Trial, to_json

# Version of the layout of the file; newer files are refused.
LAYOUT = 1
# Seconds to wait for another writer.
PATIENCE = 60.0
OUTCOME = [column.name for column in fields(Record) if column.name != "trial"]
RECORDS = """
CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, trial TEXT NOT NULL, outcome TEXT NOT NULL) WITHOUT ROWID
"""
WRITE = "BEGIN IMMEDIATE"


class StoreError(Exception):
    """The file of records cannot be used; the text says why and what to do."""


class Store:
    """Records in an SQLite file, each under the key of its trial.

    Parameters
    ----------
    path : path
        The file; made if it is not there.
    create : bool, default=True
        Whether it may be made.
    """

    def __init__(self, path: Path | str, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise StoreError(f"there is no store {str(self.path)!r}; make one with kernelbraid bench run.")
        if not self.path.parent.is_dir():
            raise StoreError(f"there is no folder {str(self.path.parent)!r} for the store; create it first.")
        with self._connect(WRITE if create else "BEGIN") as connection:
            self._check_layout(connection, create)

    @contextmanager
    def _connect(self, begin: str = "BEGIN") -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction, and say in a sentence what SQLite finds wrong with it."""
        try:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")  # readers beside one writer; whole when killed
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise StoreError(f"the store {str(self.path)!r} {explain(error)}.") from None

    def _check_layout(self, connection: sqlite3.Connection, create: bool) -> None:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if (tables or not create) and not {"layout", "records"} <= tables:
            raise StoreError(f"{str(self.path)!r} is a database, but no store of records; choose another file.")
        if create:
            connection.execute("CREATE TABLE IF NOT EXISTS layout (version INTEGER NOT NULL)")
            connection.execute(RECORDS)
        row = connection.execute("SELECT version FROM layout").fetchone()
        if row is None:
            connection.execute("INSERT INTO layout VALUES (?)", (LAYOUT,))
        elif row[0] > LAYOUT:
            raise StoreError(
                f"the store {str(self.path)!r} is of a newer version (layout {row[0]}, known up to {LAYOUT}); "
                "upgrade kernelbraid or choose another file."
            )

    def add(self, *records: Record) -> None:
        """Add records; one that is there already stays as it is."""
        rows = [(record.trial.key, to_json(asdict(record.trial)), to_json(_outcome(record))) for record in records]
        with self._connect(WRITE) as connection:
            connection.executemany("INSERT OR IGNORE INTO records VALUES (?, ?, ?)", rows)

    def keys(self) -> set[str]:
        """Return the keys of all trials that are done."""
        with self._connect() as connection:
            return {row[0] for row in connection.execute("SELECT key FROM records")}

    def forget_failures(self, keys: Iterable[str]) -> int:
        """Remove records of those trials that failed, so that they are run again; return how many."""
        asked = set(keys)
        failed = [r.trial.key for r in self.records() if r.status == "failed" and r.trial.key in asked]
        with self._connect(WRITE) as connection:
            connection.executemany("DELETE FROM records WHERE key = ?", [(key,) for key in failed])
        return len(failed)

    def records(self) -> list[Record]:
        """Return all records in the order of their keys."""
        with self._connect() as connection:
            rows = connection.execute("SELECT trial, outcome FROM records ORDER BY key").fetchall()
        return [Record(trial=Trial(**json.loads(trial)), **json.loads(outcome)) for trial, outcome in rows]


def _outcome(record: Record) -> dict[str, Json]:
    content = asdict(record)
    return {name: content[name] for name in OUTCOME}


def explain(error: sqlite3.DatabaseError) -> str:
    """Return what is wrong with a file, and what to do."""
    text = str(error)
    if "locked" in text:
        return "is locked by another program; wait for it, or choose another file"
    if "full" in text:
        return "could not grow: the disk is full; free some space and run the same command again"
    if "not a database" in text or "malformed" in text:
        return "is no store or is damaged; choose another file, or restore it from a copy"
    if "readonly" in text or "unable to open" in text:
        return "could not be opened for writing; check its permissions"
    return f"could not be used ({text}); choose another file"
