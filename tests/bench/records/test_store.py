import random
import shutil
import sqlite3
import warnings
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest

from kernelbraid.bench.records.checking import digest
from kernelbraid.bench.records.record import Record, Trial, to_json
from kernelbraid.bench.records.store import LAYOUT, Store, StoreError, StoreWarning, explain

SCORES = {"acc": 0.5}


def record(seed=0, status="converged", *, scores=SCORES, **more):
    trial = Trial("wine", "abc", "KKM", "mean20", "rmkkm", "linear", {"gamma": 0.5}, seed)
    return Record(trial, status, scores=scores, **more)


def test_records_come_back_as_they_were_added(tmp_path):
    store = Store(tmp_path / "store.db")
    added = [record(seed, scores={"acc": 0.1 * seed}, learned={"linear": 1.0}, n_iter=seed) for seed in range(5)]
    trial = Trial("wine", "abc", "LKGr", "mean20", seed=5, keep=("history", "kernel"))
    added.append(Record(trial, "converged", scores=SCORES, kept={"history": {"mu": [1.0, 1.1]}}))
    noisy = Trial("wine", "abc", "LKGr", "mean20", seed=6, changes={"noise": 0.5})
    added.append(Record(noisy, "converged", scores=SCORES))
    endless = Trial("wine", "abc", "LKG", "best100", parameters={"gamma": float("inf")}, seed=7, study="candidates")
    added.append(Record(endless, "converged", scores=SCORES, tuned={"acc": 0.5}, chosen="alpha 1"))
    store.add(*added)
    assert sorted(store.records(), key=lambda r: r.trial.seed) == added
    assert Store(tmp_path / "store.db").keys() == {r.trial.key for r in added}


def test_a_trial_that_is_there_stays_as_it_is(tmp_path):
    store = Store(tmp_path / "store.db")
    store.add(record(n_iter=1))
    store.add(record(n_iter=2))
    assert [r.n_iter for r in store.records()] == [1]


def test_the_key_depends_on_everything_that_decides_the_outcome():
    base = {"data": "wine", "checksum": "abc", "method": "KKM", "scoring": "mean20"}
    variants = [{}, {"data": "x"}, {"checksum": "x"}, {"method": "x"}, {"scoring": "best100"}, {"bank": "paper"}]
    variants += [
        {"kernel": "linear"},
        {"parameters": {"alpha": 1.0}},
        {"seed": 1},
        {"version": "2"},
        {"keep": ("kernel",)},
        {"changes": {"noise": 0}},
        {"changes": {"noise": 1}},
        {"changes": {"outliers": 0}},
        {"study": "label-free"},
        {"parameters": {"gamma": float("inf")}},
    ]
    keys = {Trial(**{**base, **variant}).key for variant in variants}
    assert len(keys) == len(variants)
    assert Trial(**base, parameters={"a": 1, "b": 2}).key == Trial(**base, parameters={"b": 2, "a": 1}).key


def test_the_key_of_a_trial_that_says_nothing_new_is_that_of_the_first_release():
    trial = Trial("wine", "abc", "KKM", "mean20", "rmkkm", "linear", {"gamma": 0.5}, 1, "0.1.0")
    assert trial.key == "69fb9d0ad2f07f1eb87c40172aa42404dc66d374a35ce4413d5eb6db71010eb0"
    assert Trial(**{**vars(trial), "keep": ["kernel", "history"]}) == Trial(
        **{**vars(trial), "keep": ("history", "kernel")}
    )


def test_a_row_that_is_older_than_a_field_is_read(tmp_path):
    store, old = Store(tmp_path / "store.db"), Trial("wine", "abc", "KKM", "mean20", seed=3)
    trial = '{"data":"wine","checksum":"abc","method":"KKM","scoring":"mean20","seed":3}'
    outcome = '{"status":"done","n_iter":2,"scores":{"acc":0.5}}'
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        connection.execute("INSERT INTO records VALUES (?, ?, ?)", (old.key, trial, outcome))
        connection.execute("INSERT INTO checksums VALUES (?, ?)", (old.key, digest(old.key, trial, outcome)))
    assert store.records() == [Record(old, "done", scores=SCORES, n_iter=2)]


def test_failures_can_be_forgotten(tmp_path):
    store = Store(tmp_path / "store.db")
    store.add(record(0, "failed", reason="boom"), record(1), record(2, "skipped", reason="too dear"))
    assert store.forget([record(1).trial.key], "failed") == 0
    assert store.forget([record(seed).trial.key for seed in range(3)], "failed") == 1
    assert {r.status for r in store.records()} == {"converged", "skipped"}


def test_a_newer_store_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "store.db"
    Store(path).add(record())
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE layout SET version = ?", (LAYOUT + 1,))
    connection.close()
    with pytest.raises(StoreError, match="newer version"):
        Store(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM records").fetchone() == (1,)
    connection.close()


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not records " * 100)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is no store or is damaged"):
        Store(path)
    assert path.read_bytes() == before


def test_another_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
    connection.close()
    for create in (True, False):
        with pytest.raises(StoreError, match="no store of records"):
            Store(path, create=create)


def test_a_missing_store_or_folder_is_named(tmp_path):
    with pytest.raises(StoreError, match="there is no store"):
        Store(tmp_path / "none.db", create=False)
    with pytest.raises(StoreError, match="there is no folder"):
        Store(tmp_path / "none" / "store.db")


def test_a_locked_store_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelbraid.bench.records.store.PATIENCE", 0.05)
    store = Store(tmp_path / "store.db")
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="locked by another program"):
        store.add(record())
    other.close()
    store.add(record())
    assert len(store.records()) == 1


@pytest.fixture
def change(tmp_path):
    """Change the file behind the back of its store."""

    def execute(statement, *values):
        with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
            return connection.execute(statement, values).fetchall()

    return execute


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE records SET outcome = replace(outcome, '0.5', '0.6') WHERE key = ?",
        "UPDATE records SET trial = replace(trial, 'wine', 'vine') WHERE key = ?",
        "UPDATE records SET outcome = x'ff' WHERE key = ?",
        "UPDATE records SET outcome = 3 WHERE key = ?",
        "UPDATE records SET key = 'k' WHERE key = ?",
        "DELETE FROM records WHERE key = ?",
        "UPDATE checksums SET value = 'c' WHERE key = ?",
        "DELETE FROM checksums WHERE key = ?",
    ],
)
def test_a_damaged_record_is_told_of_not_used_and_can_be_written_again(tmp_path, change, damage):
    store = Store(tmp_path / "store.db")
    store.add(record(0), record(1))
    change(damage, record(1).trial.key)
    for read in (store.records, store.keys):
        with pytest.warns(StoreWarning, match="1 of the records in the store .* is damaged and not used"):
            assert len(read()) == 1
    store.add(record(1))
    change("DELETE FROM records WHERE key = 'k'")
    assert store.records() == sorted([record(0), record(1)], key=lambda r: r.trial.key)


@pytest.mark.parametrize(
    "damage",
    [
        "ALTER TABLE checksums RENAME TO chacksums",
        "DELETE FROM checksums",
        "UPDATE layout SET version = 0",
        "DELETE FROM layout",
    ],
)
def test_damaged_checksums_make_no_old_store_of_a_new_one(tmp_path, change, damage):
    path = tmp_path / "store.db"
    Store(path).add(record())
    change(damage)
    change("UPDATE records SET outcome = replace(outcome, '0.5', '0.6')")
    for create in (False, True):
        with pytest.warns(StoreWarning, match="1 of the records"):
            assert Store(path, create=create).records() == []


def test_no_bit_of_a_store_changes_a_record_without_a_word(tmp_path):
    path = tmp_path / "store.db"
    added = {r.trial.key: r for r in map(record, range(20))}
    Store(path).add(*added.values())
    sound, rng = path.read_bytes(), random.Random(0)
    for _ in range(60):
        damaged = bytearray(sound)
        damaged[rng.randrange(len(sound))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                found = Store(path, create=False).records()
            except StoreError:
                continue
        assert all(added[r.trial.key] == r for r in found)
        assert said or len(found) == len(added)


@pytest.fixture
def old(tmp_path, change):
    """A store as version 0.1.0 wrote it, and its one record."""
    change("CREATE TABLE layout (version INTEGER NOT NULL)")
    change("INSERT INTO layout VALUES (1)")
    change(
        "CREATE TABLE records (key TEXT PRIMARY KEY, trial TEXT NOT NULL, outcome TEXT NOT NULL) WITHOUT ROWID",
    )
    change("PRAGMA journal_mode=WAL")
    content = asdict(record())
    row = (record().trial.key, to_json(content.pop("trial")), to_json(content))
    change("INSERT INTO records VALUES (?, ?, ?)", *row)
    return tmp_path / "store.db"


def test_an_old_store_is_read_as_it_is_and_gets_checksums_when_it_is_written(old, change):
    before = old.read_bytes()
    assert Store(old, create=False).records() == [record()]
    assert old.read_bytes() == before
    store = Store(old)
    assert store.records() == [record()]
    assert change("SELECT version FROM layout") == [(LAYOUT,)]
    change("UPDATE records SET outcome = replace(outcome, '0.5', '0.6')")
    with pytest.warns(StoreWarning):
        assert store.records() == []


def test_a_store_beside_which_nothing_can_be_written_is_read(old):
    old.with_name("store.db-wal").mkdir()  # no file of that name can be made, by whomever
    assert Store(old, create=False).records() == [record()]
    with pytest.raises(StoreError, match="could not be opened for writing"):
        Store(old)


def test_what_a_killed_writer_left_beside_a_store_is_read_with_it(old, tmp_path):
    with closing(sqlite3.connect(old, isolation_level=None)) as writer:  # its files are those of one that was killed
        writer.execute("DELETE FROM records")
        for suffix in ("", "-wal"):
            shutil.copy(f"{old}{suffix}", f"{tmp_path / 'copy.db'}{suffix}")
    Path(f"{tmp_path / 'copy.db'}-shm").mkdir()
    assert Store(tmp_path / "copy.db", create=False).records() == []


def test_a_store_whose_pages_do_not_fit_together_is_read_but_not_written(tmp_path, change):
    store = Store(tmp_path / "store.db")
    store.add(*map(record, range(40)))
    [(page,)] = change("SELECT rootpage FROM sqlite_master WHERE name = 'records'")
    [(size,)] = change("PRAGMA page_size")
    content = bytearray(store.path.read_bytes())
    content[page * size - 1] ^= 1  # within the last cell of the page, a key or the number of a page
    content[(page - 1) * size + 12] ^= 16  # where the first cell is said to be
    store.path.write_bytes(content)
    with pytest.raises(StoreError, match=r"is damaged; kernelbraid bench export takes out of it what is sound"):
        Store(store.path)
    with pytest.warns(StoreWarning):
        found = Store(store.path, create=False).records()
    assert len(found) < 40


def test_records_that_are_gone_together_with_their_checksums_are_told_of(tmp_path, change):
    store = Store(tmp_path / "store.db")
    store.add(record())
    pages = change("SELECT rootpage FROM sqlite_master WHERE name IN ('records', 'checksums')")
    [(size,)] = change("PRAGMA page_size")
    content = bytearray(store.path.read_bytes())
    for (page,) in pages:
        content[(page - 1) * size] = 0  # no kind of page
    store.path.write_bytes(content)
    with pytest.warns(StoreWarning, match="at least 1 of the records in the store .* is damaged and not used"):
        assert store.records() == []


def test_a_layout_that_is_no_number_is_damage(tmp_path, change):
    Store(tmp_path / "store.db")
    change("UPDATE layout SET version = 'x'")
    with pytest.raises(StoreError, match="is damaged"):
        Store(tmp_path / "store.db", create=False)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("database or disk is full", "free some space"),
        ("disk I/O error", "check the disk"),
        ("attempt to write a readonly database", "permissions"),
        ("no such column: key", "is damaged"),
        ("no such table: checksums", "is damaged"),
    ],
)
def test_what_sqlite_says_becomes_a_sentence(text, remedy):
    assert remedy in explain(sqlite3.OperationalError(text))


def test_titles_of_experiments_are_kept_the_newest_of_each(tmp_path):
    store = Store(tmp_path / "store.db")
    assert store.titles() == {}
    store.add_titles({"small": "Small"})
    store.add_titles({"small": "Smaller", "large": "Large"})
    assert Store(store.path, create=False).titles() == {"small": "Smaller", "large": "Large"}
