"""A file of records that survives being killed at any moment, and may be shared by several runners."""

import shutil
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kernelbraid.bench.records.checking import digest, parse_record
from kernelbraid.bench.records.record import Json, Record, to_json

# Version of the layout of the file; newer files are refused.
LAYOUT = 2
# The first layout with checksums and claims.
SUMMED = 2
# Seconds to wait for another writer.
PATIENCE = 60.0
OUTCOME = [column.name for column in fields(Record) if column.name != "trial"]
TABLES = """
CREATE TABLE IF NOT EXISTS layout (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, trial TEXT NOT NULL, outcome TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS checksums (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runners (name TEXT PRIMARY KEY, process TEXT NOT NULL, beat INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, runner TEXT NOT NULL) WITHOUT ROWID
"""
# Not in layout 2 from the start: made when the first title is written.
TITLES = "CREATE TABLE IF NOT EXISTS experiments (name TEXT PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID"
ROWS = "SELECT records.key, trial, outcome, value FROM records LEFT JOIN checksums ON records.key = checksums.key"
WRITE = "BEGIN IMMEDIATE"
# Files beside a store that hold what a writer who was killed did not finish.
UNFINISHED = ("-journal", "-wal")
UNREADABLE = "is no store or is damaged; choose another file, or restore it from a copy"
DAMAGED = (
    "is damaged; kernelbraid bench export takes out of it what is sound, and kernelbraid bench import puts that into "
    "a new one"
)


class StoreError(Exception):
    """The file of records cannot be used; the text says why and what to do."""


class StoreWarning(UserWarning):
    """Some records of a store are damaged and not used."""


class Store:
    """Records in an SQLite file, each under the key of its trial, with a checksum that is verified on reading.

    Parameters
    ----------
    path : path
        The file; made if it is not there.
    create : bool, default=True
        Whether it may be made and written; otherwise it is read, and may be where nothing can be written.
    """

    def __init__(self, path: Path | str, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise StoreError(f"there is no store {str(self.path)!r}; make one with kernelbraid bench run.")
        if not self.path.parent.is_dir():
            raise StoreError(f"there is no folder {str(self.path.parent)!r} for the store; create it first.")
        if create:
            with self.writing() as connection:
                versions, is_summed = self._check_layout(connection, create=True)
                self._check_pages(connection)
                if versions != [LAYOUT]:
                    _lay_out(connection, is_summed)
                self._is_summed = True
        else:
            with self._reading() as connection:
                _, self._is_summed = self._check_layout(connection, create=False)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction that nobody else writes beside."""
        with self._explained(), closing(_connect(self.path, "rwc")) as connection:
            # Unlike the other journals, this one needs no memory that is shared, and so no common machine.
            connection.execute("PRAGMA journal_mode=DELETE")
            connection.execute(WRITE)
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Open the file to read it; a copy of it where what is unfinished in it cannot be put in order."""
        with self._explained(), TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            connection = _connect(self.path)
            try:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except sqlite3.OperationalError as error:
                connection.close()
                if _code(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                    raise
                connection = _connect(self._copy_to(Path(folder)))
            with closing(connection):
                connection.execute("BEGIN")
                yield connection

    def _copy_to(self, folder: Path) -> Path:
        try:
            copy = Path(shutil.copyfile(self.path, folder / "copy"))
            for suffix in UNFINISHED:
                beside = self.path.with_name(self.path.name + suffix)
                if beside.is_file():
                    shutil.copyfile(beside, folder / f"copy{suffix}")
        except OSError as error:
            raise StoreError(f"the store {str(self.path)!r} could not be read ({error.strerror or error}).") from None
        return copy

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in a sentence what SQLite finds wrong with the file."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise StoreError(f"the store {str(self.path)!r} {explain(error)}.") from None
        except (MemoryError, UnicodeDecodeError):  # of a damaged length or a damaged name of a table
            raise StoreError(f"the store {str(self.path)!r} {UNREADABLE}.") from None

    def _check_layout(self, connection: sqlite3.Connection, create: bool) -> tuple[list[int], bool]:
        """Return the version of the layout, if there is one, and whether every record has had a checksum.

        A file that is no store or a newer one is refused. An empty file is neither: a run that is killed while it makes
        its store leaves one, and a store that has lost all of its bytes cannot be told from that.
        """
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if (tables or not create) and not {"layout", "records"} <= tables:
            raise StoreError(f"{str(self.path)!r} is a database, but no store of records; choose another file.")
        versions = [row[0] for row in connection.execute("SELECT version FROM layout")] if tables else []
        if not all(isinstance(version, int) for version in versions):
            raise StoreError(f"the store {str(self.path)!r} {UNREADABLE}.")
        if max(versions, default=0) > LAYOUT:
            raise StoreError(
                f"the store {str(self.path)!r} is of a newer version (layout {max(versions)}, known up to {LAYOUT}); "
                "upgrade kernelbraid or choose another file."
            )
        # The number and the name of the table are apart: damage of one makes no old store of a new one.
        return versions, max(versions, default=0) >= SUMMED or "checksums" in tables

    def _check_pages(self, connection: sqlite3.Connection) -> None:
        """Refuse to write into a file whose pages do not fit together."""
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise StoreError(f"the store {str(self.path)!r} {DAMAGED}.")

    def add(self, *records: Record) -> None:
        """Add records, and end the claims on them; one that is there already stays as it is unless it is damaged."""
        with self.writing() as connection:
            there = self.sound_keys(connection, [record.trial.key for record in records])
            for record in records:
                key = record.trial.key
                row = (key, to_json(asdict(record.trial)), to_json(_outcome(record)))
                if key not in there:
                    connection.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", row)
                    connection.execute("INSERT OR REPLACE INTO checksums VALUES (?, ?)", (key, digest(*row)))
                connection.execute("DELETE FROM claims WHERE key = ?", (key,))

    def add_titles(self, titles: Mapping[str, str]) -> None:
        """Keep the titles of experiments by name, the newest of each."""
        with self.writing() as connection:
            connection.execute(TITLES)
            connection.executemany("INSERT OR REPLACE INTO experiments VALUES (?, ?)", titles.items())

    def titles(self) -> dict[str, str]:
        """Return the titles of the experiments whose records are here, by name; none in stores of before."""
        with self._reading() as connection:
            rows, _ = _readable(connection, "SELECT name, title FROM experiments")
        return {name: title for name, title in rows if isinstance(name, str) and isinstance(title, str)}

    def sound_keys(self, connection: sqlite3.Connection, keys: Iterable[str]) -> set[str]:
        """Return those of some keys under which there is a sound record."""
        rows = (connection.execute(f"{ROWS} WHERE records.key = ?", (key,)).fetchone() for key in keys)
        return {row[0] for row in rows if row is not None and _sound(row, is_summed=True) is not None}

    def statuses(self) -> dict[str, str]:
        """Return how each trial ended that is done, by its key."""
        return {key: record.status for key, record in self._sound_records().items()}

    def keys(self) -> set[str]:
        """Return the keys of all trials that are done."""
        return set(self.statuses())

    def forget(self, keys: Iterable[str], status: str) -> int:
        """Remove records that ended with a status, such as ``"failed"``, so that they are run; return how many."""
        asked = set(keys)
        gone = [key for key, record in self._sound_records().items() if record.status == status and key in asked]
        if gone:
            with self.writing() as connection:
                for table in ("records", "checksums"):
                    connection.executemany(f"DELETE FROM {table} WHERE key = ?", [(key,) for key in gone])
        return len(gone)

    def records(self) -> list[Record]:
        """Return all sound records in the order of their keys, and warn of the others.

        Warns
        -----
        StoreWarning
            Some are damaged.
        """
        found = self._sound_records()
        return [found[key] for key in sorted(found)]

    def _sound_records(self) -> dict[str, Record]:
        with self._reading() as connection:
            sums, has_sums = _readable(connection, "SELECT key, value FROM checksums")
            rows, has_rows = _readable(connection, "SELECT key, trial, outcome FROM records")
        known = dict(sums)
        is_summed = self._is_summed or bool(known)  # somebody may have written into an old one meanwhile
        has_sums = has_sums or not is_summed
        checked = ((row[0], _sound((*row, known.get(row[0])), is_summed)) for row in rows)
        found = {key: record for key, record in checked if record is not None}
        # A row may be damaged, or be gone with the page that it was on while its checksum is there.
        damaged = max(len(rows) - len(found), len(known.keys() - found.keys()))
        if damaged or not (has_sums and has_rows):
            count = str(damaged) if has_sums and has_rows else f"at least {max(damaged, 1)}"
            warnings.warn(
                f"{count} of the records in the store {str(self.path)!r} {'is' if damaged <= 1 else 'are'} damaged "
                "and not used; kernelbraid bench run runs their trials again.",
                StoreWarning,
                stacklevel=3,
            )
        return found


def _connect(path: Path, mode: str = "rw") -> sqlite3.Connection:
    """Open a file; "rw" is content with reading where nothing can be written, "rwc" may make it."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    connection.text_factory = lambda text: text.decode(errors="replace")  # a checksum notices
    connection.execute("PRAGMA cell_size_check=ON")
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _lay_out(connection: sqlite3.Connection, is_summed: bool) -> None:
    """Make the tables that are not there; records of a layout without checksums get theirs now."""
    for statement in TABLES.split(";"):
        connection.execute(statement)
    rows = [row for row in connection.execute(ROWS).fetchall() if _sound(row, is_summed) is not None]
    sums = [(key, digest(key, trial, outcome)) for key, trial, outcome, _ in rows]
    connection.executemany("INSERT OR IGNORE INTO checksums VALUES (?, ?)", sums)
    connection.execute("DELETE FROM layout")
    connection.execute("INSERT INTO layout VALUES (?)", (LAYOUT,))


def _readable(connection: sqlite3.Connection, query: str) -> tuple[list[tuple[Any, ...]], bool]:
    """Return rows up to the first page that cannot be read, and whether these are all."""
    rows: list[tuple[Any, ...]] = []
    try:
        rows.extend(connection.execute(query))
    except sqlite3.DatabaseError as error:
        is_missing = "no such table" in str(error)
        if not is_missing and _code(error) not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_TOOBIG):
            raise
        return rows, False
    except MemoryError:  # a damaged length
        return rows, False
    return rows, True


def _sound(row: tuple[Any, ...], is_summed: bool) -> Record | None:
    """Return the record of a row if it is what was written; in a store without checksums, its key tells."""
    key, trial, outcome, checksum = row
    try:
        if is_summed and checksum != digest(key, trial, outcome):
            return None
        record = parse_record(trial, outcome)
        return record if is_summed or record.trial.key == key else None
    except (TypeError, ValueError):
        return None


def _outcome(record: Record) -> dict[str, Json]:
    content = asdict(record)
    return {name: content[name] for name in OUTCOME}


def _code(error: sqlite3.Error) -> int:
    """Return the kind of an error of SQLite, without the details in its upper bits; 0 if it is one of Python."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def explain(error: sqlite3.DatabaseError) -> str:
    """Return what is wrong with a file, and what to do."""
    text = str(error)
    if "locked" in text:
        return "is locked by another program; wait for it, or choose another file"
    if "full" in text:
        return "could not grow: the disk is full; free some space and run the same command again"
    if "disk I/O" in text:
        return "could not be read or written; check the disk and the space on it, and run the same command again"
    damaged = ("not a database", "malformed", "no such column", "no such table", "unsupported file format")
    if any(words in text for words in damaged):
        return UNREADABLE
    if "readonly" in text or "unable to open" in text:
        return "could not be opened for writing; check its permissions"
    return f"could not be used ({text}); choose another file"
