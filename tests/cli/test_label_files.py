import gzip

import numpy as np
import pyarrow.parquet as pq
import pytest
import typer

from kernelbraid.cli import label_files
from kernelbraid.cli.failure import Failure
from kernelbraid.cli.inputs import STANDARD
from kernelbraid.cli.label_files import check_label_file, write_labels
from kernelbraid.datasets import read_labels

CONFIDENCE = {"confidence": np.array([1.0, 0.12345])}


@pytest.mark.parametrize(
    ("ids", "text"),
    [(None, "sample,label\n0,2\n1,0\n"), (["a", "b,c"], 'id,label\na,2\n"b,c",0\n')],
)
def test_labels_are_written_by_id_or_by_number(tmp_path, ids, text):
    write_labels(tmp_path / "labels.csv", [2, 0], ids)
    assert (tmp_path / "labels.csv").read_bytes() == text.encode()


def test_numbers_are_written_beside_the_labels(tmp_path):
    write_labels(tmp_path / "labels.csv", [2, 0], ["a", "b"], {"confidence": np.array([1.0, 0.12345])})
    assert (tmp_path / "labels.csv").read_text() == "id,label,confidence\na,2,1.0000\nb,0,0.1235\n"


def test_ids_that_do_not_fit_the_labels_leave_no_file(tmp_path):
    with pytest.raises(ValueError, match="argument 2"):
        write_labels(tmp_path / "labels.csv", [2, 0], ["a"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "delimiter"), [("a.tsv", "\t"), ("a.tsv.gz", "\t"), ("a.csv.gz", ","), ("a.gz", ",")])
def test_the_name_of_the_file_says_how_it_is_written(tmp_path, name, delimiter):
    write_labels(tmp_path / name, [2, 0], ["a", "b"])
    content = (tmp_path / name).read_bytes()
    content = gzip.decompress(content) if name.endswith(".gz") else content
    assert content.decode() == "id,label\na,2\nb,0\n".replace(",", delimiter)


@pytest.mark.parametrize("labels", [[2, 0], ["ash", "birch"]])
@pytest.mark.parametrize("ids", [None, ["a", "b"]])
def test_parquet_holds_the_numbers_as_they_are(tmp_path, labels, ids):
    write_labels(tmp_path / "a.parquet", labels, ids, CONFIDENCE)
    table = pq.read_table(tmp_path / "a.parquet").to_pydict()
    assert table == {"sample" if ids is None else "id": ids or [0, 1], "label": labels, "confidence": [1.0, 0.12345]}
    assert read_labels(tmp_path / "a.parquet").values.tolist() == labels


def test_labels_go_to_standard_output(capsys):
    write_labels(STANDARD, [2, 0], None, CONFIDENCE)
    assert capsys.readouterr().out == "sample,label,confidence\n0,2,1.0000\n1,0,0.1235\n"


def test_parquet_without_pyarrow_is_refused_with_what_installs_it(tmp_path, monkeypatch):
    monkeypatch.setattr(label_files, "find_spec", lambda name: None)
    with pytest.raises(Failure, match=r'pyarrow; .*install it with pip install "kernelbraid\[io\]"'):
        check_label_file(tmp_path / "a.parquet", "'--out'")
    check_label_file(tmp_path / "a.csv", "'--out'")


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("a.npy", ".npy"),
        ("a.MAT", ".mat"),
        ("a.npz.gz", ".npz.gz"),
        ("a.parquet.gz", ".parquet.gz"),
        ("a.xlsx", ".xlsx"),
        ("a.csv.json", ".json"),
        ("a.json.gz", ".json.gz"),
        ("a.txt", ".txt"),
        ("a.zip", ".zip"),
    ],
)
def test_labels_are_not_written_under_the_name_of_something_else(tmp_path, name, ending):
    with pytest.raises(typer.BadParameter, match=f"not as {ending}; choose another name"):
        check_label_file(tmp_path / name, "'--out'")


def test_endings_of_tables_and_names_without_one_are_taken(tmp_path):
    for name in ["a.csv", "a.CSV", "a.tsv", "a.tab", "a.csv.gz", "a.tab.gz", "a.gz", "a", "b.c/a"]:
        (tmp_path / "b.c").mkdir()
        check_label_file(tmp_path / name, "'--out'")


@pytest.mark.parametrize("name", ["labels.xlsx", "labels.json"])
def test_an_unknown_ending_is_refused_before_anything_is_computed(refuse, no_fit, blobs_csv, tmp_path, name):
    refuse("cluster", blobs_csv, "-k", 3, "--out", tmp_path / name, code=2, says=["--out", name[6:], "another name"])
