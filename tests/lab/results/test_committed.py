"""Tables beside the code are what the records beside them say."""

from pathlib import Path
from random import Random

import pytest

from lab.records import STUDIES, LabError, read_records
from lab.results import PARTS, write_tables
from lab.results.pools import newest

RESULTS = Path(__file__).parents[3] / "results"


@pytest.fixture(scope="module")
def records():
    return read_records(RESULTS / "records.parquet")


def test_every_committed_table_comes_out_of_the_committed_records_byte_for_byte_with_a_picture_for_each(
    records, tmp_path
):
    written = write_tables(records, tmp_path)
    ours = {path.name: path.read_bytes() for path in written if path.suffix == ".md"}
    committed = {path.name: path.read_bytes() for path in (RESULTS / "tables").glob("*.md")}
    assert ours.keys() == committed.keys()
    assert [name for name, text in ours.items() if text != committed[name]] == []
    pictures = {path.name for path in written if path.suffix == ".png"}
    assert pictures == {path.name for path in (RESULTS / "tables").glob("*.png")}


def test_table_2_alone_is_written_by_its_name(records, tmp_path):
    names = {path.name for path in write_tables(records, tmp_path, only="table2")}
    assert names == {"table2_acc_as-published.md", "table2_nmi_as-published.md"} == {p.name for p in tmp_path.iterdir()}


def test_a_name_that_no_table_has_is_told_with_those_there_are(records, tmp_path):
    with pytest.raises(LabError, match=r"begins with 'table9'; there are table1_data, table2_acc_as-published"):
        write_tables(records[:2000], tmp_path / "new", only="table9")
    assert not (tmp_path / "new").exists()


def test_whatever_was_run_so_far_fills_tables(records):
    for study in ["", *STUDIES]:
        for seed in range(4):
            of_study = [record for record in records if record.trial.study == study]
            some = newest(Random(seed).sample(of_study, (1, 5, 25, 125)[seed]))
            for make in PARTS.values():
                for item in make(some):
                    assert item.content()
                    if item.suffix == "md":
                        assert {len(row) for row in item.rows} == {len(item.header)}
