import random
from contextlib import suppress

import pytest

from kernelbraid.bench.records.export import read_records, read_titles, write_records
from kernelbraid.bench.records.record import Record, Trial
from kernelbraid.bench.records.store import StoreError

RECORDS = [
    Record(
        Trial("wine", "abc", "LKGr", "mean20", "rmkkm", "", {"alpha": 0.1, "graph_from": "J"}, seed, "1.0"),
        "converged",
        scores={"acc": 1 / 3, "nmi": 0.25},
        deviations={"acc": 0.1},
        label_free={"balance": 0.9},
        learned={"linear": 0.7, "gaussian t=1": 0.3},
        n_iter=7,
        seconds=0.5,
        peak_bytes=1 << 40,
        machine="a machine",
        created="2020-01-01T00:00:00Z",
    )
    for seed in range(3)
]
RECORDS.append(Record(Trial("wine", "abc", "KKM", "best100"), "failed", reason="boom"))
RECORDS.append(Record(Trial("wine", "abc", "LKGr", "best100", changes={"shuffled": 1, "kernel": "linear"}), "failed"))
STUDY = Trial("wine", "abc", "LKG", "best100", "middle", "", {"gamma": float("inf")}, study="candidates")
RECORDS.append(Record(STUDY, "done", scores={"acc": 0.5}, tuned={"acc": 0.9}, chosen="alpha 1"))
KEPT = {"history": {"mu": [1.0, 1.1]}, "kernel": {"image": [[0.5]], "sizes": [1]}}
RECORDS.append(Record(Trial("wine", "abc", "LKGr", "best100", keep=("history", "kernel")), "failed", kept=KEPT))


def by_key(records):
    return sorted(records, key=lambda record: record.trial.key)


def test_titles_come_back_with_the_records(tmp_path):
    path = write_records(RECORDS, tmp_path / "records.parquet", {"small": "Small & fast"})
    assert read_titles(path) == {"small": "Small & fast"}
    assert read_titles(write_records(RECORDS, path)) == {}
    (tmp_path / "text.parquet").write_text("no records")
    with pytest.raises(StoreError, match="holds no records"):
        read_titles(tmp_path / "text.parquet")


def test_records_come_back_as_they_were_written(tmp_path):
    path = write_records(RECORDS, tmp_path / "records.parquet")
    assert read_records(path) == by_key(RECORDS)
    assert [file.name for file in tmp_path.iterdir()] == ["records.parquet"]


def test_equal_records_give_equal_files(tmp_path):
    first = write_records(RECORDS, tmp_path / "first.parquet").read_bytes()
    assert write_records(RECORDS[::-1], tmp_path / "second.parquet").read_bytes() == first


def test_a_file_that_is_older_than_some_columns_is_read(tmp_path):
    from pyarrow import parquet

    path = write_records(RECORDS[:3], tmp_path / "new.parquet")
    table = parquet.read_table(path).drop_columns(["keep", "kept", "study", "tuned", "chosen"])
    parquet.write_table(table.replace_schema_metadata(), tmp_path / "old.parquet")
    assert read_records(tmp_path / "old.parquet") == by_key(RECORDS[:3])


def test_other_content_than_was_written_is_refused(tmp_path):
    from pyarrow import compute, parquet

    path = write_records(RECORDS, tmp_path / "records.parquet")
    table = parquet.read_table(path)
    later = compute.add(table["n_iter"], 1)
    parquet.write_table(table.set_column(table.schema.get_field_index("n_iter"), "n_iter", later), path)
    with pytest.raises(StoreError, match="is damaged: its checksum is another"):
        read_records(path)


@pytest.mark.parametrize(("column", "value"), [("scores", "{"), ("scores", '{"acc": 7}'), ("parameters", None)])
def test_rows_that_no_run_can_have_written_are_refused(tmp_path, column, value):
    import pyarrow
    from pyarrow import parquet

    table = parquet.read_table(write_records(RECORDS, tmp_path / "records.parquet")).replace_schema_metadata()
    wrong = pyarrow.array([value] * len(RECORDS), pyarrow.string())
    parquet.write_table(table.set_column(table.schema.get_field_index(column), column, wrong), tmp_path / "w.parquet")
    with pytest.raises(StoreError, match=r"holds no records \(a row is"):
        read_records(tmp_path / "w.parquet")


def test_no_byte_of_a_file_changes_a_record_without_a_word(tmp_path):
    path = write_records(RECORDS, tmp_path / "records.parquet")
    sound, rng = path.read_bytes(), random.Random(0)
    for _ in range(60):
        damaged = bytearray(sound)
        damaged[rng.randrange(len(sound))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with suppress(StoreError):
            assert read_records(path) == by_key(RECORDS)


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "notes.parquet"
    path.write_text("no records")
    with pytest.raises(StoreError, match="holds no records"):
        read_records(path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreError, match="could not be written"):
        write_records(RECORDS, tmp_path / "none" / "records.parquet")
