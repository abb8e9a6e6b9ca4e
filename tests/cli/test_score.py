import json

import numpy as np
import pytest
from scipy import io

from kernelbraid.metrics import evaluate


@pytest.fixture
def write(tmp_path):
    def write_text(name, content):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return write_text


def test_the_table_and_the_json_object_are_what_evaluate_returns(run, write):
    truth, labels = write("truth.csv", "a\na\nb\nb\n"), write("labels.csv", "label\n0\n0\n1\n2\n")
    scores = json.loads(run("score", truth, labels, "--json").stdout)
    assert scores == evaluate(list("aabb"), [0, 0, 1, 2])
    lines = run("score", truth, labels).stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [[name, f"{value:.4f}"] for name, value in scores.items()]
    assert lines[3].endswith("the share of samples that belong to the most frequent class of their cluster.")


def test_the_mean_of_the_entropies_is_an_option(run, write):
    truth, labels = write("truth.csv", "a\na\nb\nb\n"), write("labels.csv", "0\n0\n1\n2\n")
    scores = json.loads(run("score", truth, labels, "--json", "--nmi-average", "arithmetic").stdout)
    assert scores["nmi"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("truth", "labels"),
    [
        ("id,label\nx,a\ny,b\nz,b\n", "0\n1\n1\n"),  # the order counts where one side has no ids
        ("id,label\nx,a\ny,b\nz,b\n", "sample,label\n0,0\n1,1\n2,1\n"),  # or merely counts its rows
        ("sample,label\n2,a\n0,b\n1,b\n", "sample,label\n0,0\n1,0\n2,1\n"),  # and not where both do
        ("id,label\na,1541815603606036480\nb,1541815603606036481\n", "id,label\na,0\nb,1\n"),
    ],
)
def test_labels_meet_their_samples(run, write, truth, labels):
    result = run("score", write("truth.csv", truth), write("labels.csv", labels), "--json")
    assert json.loads(result.stdout)["acc"] == 1.0


def test_labels_come_from_files_of_arrays_without_columns(run, refuse, tmp_path):
    truth, labels = tmp_path / "truth.mat", tmp_path / "labels.npy"
    io.savemat(truth, {"fea": np.eye(3), "gnd": np.array([[1], [2], [2]])})
    np.save(labels, np.array([5, 0, 0]))
    assert json.loads(run("score", truth, labels, "--json").stdout)["acc"] == 1.0
    refuse("score", truth, labels, "--column", 1, code=1, says="truth.mat: an array file has no columns")


def test_ids_in_another_order_are_matched(run, write):
    truth, labels = write("truth.csv", "id,label\nx,a\ny,b\nz,b\n"), write("labels.csv", "id,label\nz,1\nx,0\ny,1\n")
    assert json.loads(run("score", truth, labels, "--json").stdout)["acc"] == 1.0


@pytest.mark.parametrize(
    ("truth", "labels", "says"),
    [
        ("0\n1\n", "0\n1\n1\n", ["labels.csv has 3 labels", "truth.csv has 2"]),
        ("id,label\nx,0\ny,1\n", "id,label\nx,0\nz,1\n", ["labels.csv: 1 of the 2 ids in", "'y'"]),
        ("id,label\nx,0\n", "id,label\nx,0\nz,1\n", ["truth.csv: 1 of the 2 ids in", "'z'"]),
        ("id,label\nx,0\nx,1\n", "id,label\nx,0\ny,1\n", ["truth.csv", "'x' occurs more than once"]),
        ("", "0\n", ["truth.csv", "empty"]),
        ("id,label\nx,\n", "0\n", ["column 'label'", "row 2"]),
    ],
)
def test_files_that_do_not_match_are_refused(refuse, write, truth, labels, says):
    refuse("score", write("truth.csv", truth), write("labels.csv", labels), code=1, says=says)


def test_what_the_first_rows_are_is_said_and_can_be_given(run, refuse, write):
    truth, labels = write("truth.csv", "kind\na\nb\n"), write("labels.csv", "0\n0\n1\n")
    result = run("score", truth, labels)
    assert result.stderr == "Header: none, row 1 is a sample.\n"
    labels = write("labels.csv", "number\n0\n1\n")
    refuse("score", truth, labels, code=1, says=["labels.csv has 2 labels and truth.csv has 3", "--no-header"])
    result = run("score", truth, labels, "--header")
    assert result.exit_code == 0
    assert result.stderr == "Header: row 1 names the columns.\n"


def test_each_file_has_a_first_row_of_its_own(run, write):
    result = run("score", write("truth.csv", "a\nb\n"), write("labels.csv", "label\n0\n1\n"))
    assert result.stderr == "Header: truth.csv: none, row 1 is a sample; labels.csv: row 1 names the columns.\n"


def test_the_column_of_the_classes_is_asked_for_not_guessed(run, refuse, write):
    truth = write("wine.csv", "cultivar,alcohol,proline\n1,14.2,1065\n1,13.2,1050\n2,12.1,520\n")
    labels = write("labels.csv", "sample,label\n0,0\n1,0\n2,1\n")
    refuse("score", truth, labels, code=1, says=["wine.csv", "cultivar, alcohol, proline", "--column NAME"])
    for column in ("cultivar", 1):
        result = run("score", truth, labels, "--column", column, "--json")
        assert json.loads(result.stdout)["acc"] == 1.0
    refuse("score", truth, labels, "--column", "kind", code=1, says="there is no column 'kind'")


def test_both_columns_may_be_in_one_table(run, refuse, write):
    table = write("all.csv", "kind,mine,other\na,p,u\na,p,v\nb,q,v\n")
    refuse("score", table, table, "--column", "kind", code=1, says="--labels-column NAME")
    for column, acc in (("mine", 1.0), ("other", 2 / 3)):
        result = run("score", table, table, "--column", "kind", "--labels-column", column, "--json")
        assert json.loads(result.stdout)["acc"] == pytest.approx(acc)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_what_cluster_writes_with_confidence_needs_no_column(run, blobs_csv, blobs, tmp_path, suffix):
    truth, labels = tmp_path / "truth.csv", tmp_path / f"labels{suffix}"
    truth.write_text("\n".join(["id,class", *(f"s{i},{label}" for i, label in enumerate(blobs[1]))]))
    assert run("cluster", blobs_csv, "-k", 3, "--set", "n_init=3", "--confidence", "-o", labels).exit_code == 0
    assert json.loads(run("score", truth, labels, "--json").stdout)["acc"] == 1.0


CELLS = ["T cell", "T cell", "B cell", "B cell"]
NAMED = ["cell,celltype", *(f"c{i},{cell}" for i, cell in enumerate(CELLS))]


@pytest.mark.parametrize(
    ("truth", "labels", "says"),
    [
        (["celltype", *CELLS], ["label", "0", "0", "1", "1"], "labels.csv has 4 labels and truth.csv has 5"),
        (NAMED, ["label", "0", "0", "1", "1"], "labels.csv has 4 labels and truth.csv has 5"),
        (NAMED, ["sample,label", "0,0", "1,0", "2,1", "3,1"], "the first is 'cell'"),
    ],
)
def test_a_header_above_texts_is_a_sample_that_does_not_fit_and_can_be_said(run, refuse, write, truth, labels, says):
    files = write("truth.csv", "\n".join(truth)), write("labels.csv", "\n".join(labels))
    refuse("score", *files, code=1, says=[says, "say with --header or --no-header what row 1 is"])
    result = run("score", *files, "--header", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["acc"] == 1.0


def test_a_header_above_texts_is_told_by_the_ids(run, write):
    files = write("truth.csv", "cell,celltype\nc0,T cell\nc1,B cell"), write("labels.csv", "id,label\nc1,1\nc0,0")
    for paths in (files, files[::-1]):
        result = run("score", *paths, "--json")
        assert json.loads(result.stdout)["acc"] == 1.0
        assert "row 1 names the columns" in result.stderr


@pytest.mark.parametrize(
    ("truth", "labels"),
    [
        ("kind\na\na\nb\nb\n", "group\np\np\nq\nq\n"),  # both may be of five samples, or of four
        ("cell,kind\nx,a\ny,a\n", "cell,group\nx,p\ny,p\n"),
    ],
)
def test_a_first_row_that_nothing_tells_is_asked_for(refuse, write, truth, labels):
    paths = write("truth.csv", truth), write("labels.csv", labels)
    refuse("score", *paths, code=1, says=["truth.csv: row 1 may be a header or a sample", "--header or --no-header"])


def test_a_sample_of_a_class_of_its_own_is_not_lost(run, write):
    truth, labels = write("truth.csv", "a\nb\nb\nc\nc\n"), write("labels.csv", "0\n1\n1\n2\n2\n")
    result = run("score", truth, labels)
    assert result.stderr == "Header: none, row 1 is a sample.\n"
    assert "acc        1.0000" in result.stdout
