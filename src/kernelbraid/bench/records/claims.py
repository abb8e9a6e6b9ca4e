"""Who runs what: runners that share a store claim trials before they run them, so that none is run twice.

A claim stands as long as its runner lives. Each runner counts up a number of its own in the store while it works. Who
waits for one looks at that number by its own clock alone, so that clocks that differ do no harm; that a process of the
same machine has ended is known at once.
"""

import secrets
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import NamedTuple

from kernelbraid._system import has_ended, this_process
from kernelbraid.bench.records.record import Trial
from kernelbraid.bench.records.store import Store, StoreError

# Seconds between two signs of life of a runner.
BEAT = 15.0
# Seconds without one after which its claims are void: it may wait a minute for others who write.
LEASE = 120.0


class Taken(NamedTuple):
    """What became of trials that a runner wanted."""

    mine: list[Trial]  # claimed now
    done: list[Trial]  # recorded by now
    theirs: list[Trial]  # of other runners that live


class Claims:
    """The claims of one runner; at the end of its context they are given back.

    Parameters
    ----------
    store : Store
        Where the trials and claims are.
    """

    def __init__(self, store: Store) -> None:
        self.store, self.name = store, secrets.token_hex(8)
        self._seen: dict[str, tuple[int, float]] = {}  # of other runners: the last number, and since when it stands
        self._ended = Event()
        self._thread = Thread(target=self._keep_beating, daemon=True)

    def __enter__(self) -> "Claims":
        """Begin to show that this runner lives."""
        with self.store.writing() as connection:
            self._beat(connection)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give back what is claimed; where that fails, it is void when this process has ended."""
        self._ended.set()
        self._thread.join()
        with suppress(StoreError), self.store.writing() as connection:
            _remove(connection, self.name)

    def take(self, trials: Sequence[Trial]) -> Taken:
        """Claim those trials that are not done and not claimed by others."""
        taken = Taken([], [], [])
        with self.store.writing() as connection:
            for name in self._dead(connection):
                _remove(connection, name)
            done = self.store.sound_keys(connection, {key for trial in trials for key in trial.keys})
            owners = dict(connection.execute("SELECT key, runner FROM claims"))
            for trial in trials:
                if not done.isdisjoint(trial.keys):
                    taken.done.append(trial)
                elif owners.get(trial.key, self.name) != self.name:
                    taken.theirs.append(trial)
                else:
                    taken.mine.append(trial)
            rows = [(trial.key, self.name) for trial in taken.mine]
            connection.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?)", rows)
        return taken

    def _dead(self, connection: sqlite3.Connection) -> Iterable[str]:
        """Return the runners that have ended, or gave no sign of life for too long."""
        now = time.monotonic()
        runners = connection.execute("SELECT name, process, beat FROM runners").fetchall()
        dead = {row[0] for row in connection.execute("SELECT runner FROM claims")} - {name for name, *_ in runners}
        for name, process, beat in runners:
            if self._seen.get(name, (None, now))[0] != beat:
                self._seen[name] = beat, now
            if has_ended(process) or now - self._seen[name][1] > LEASE:
                dead.add(name)
        return dead - {self.name}

    def _keep_beating(self) -> None:
        while not self._ended.wait(BEAT):
            with suppress(StoreError), self.store.writing() as connection:  # what is wrong is said when records come
                self._beat(connection)

    def _beat(self, connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO runners VALUES (?, ?, 0) ON CONFLICT (name) DO UPDATE SET beat = beat + 1",
            (self.name, this_process()),
        )


def _remove(connection: sqlite3.Connection, name: str) -> None:
    connection.execute("DELETE FROM claims WHERE runner = ?", (name,))
    connection.execute("DELETE FROM runners WHERE name = ?", (name,))
