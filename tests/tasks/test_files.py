"""Files in, labels out."""

import gzip
import json

import numpy as np
import pytest
from scipy.io import savemat
from sklearn.metrics import adjusted_rand_score


def packed(write_table, X, folder):
    path = folder / "samples.csv.gz"
    path.write_bytes(gzip.compress(write_table("plain.csv", X).read_bytes()))
    return path


def parquet(_, X, folder):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pandas.DataFrame(X, columns=list("abcd")).to_parquet(folder / "samples.parquet")
    return folder / "samples.parquet"


def array(_, X, folder):
    np.save(folder / "samples.npy", X)
    return folder / "samples.npy"


def archive(_, X, folder):
    np.savez(folder / "samples.npz", X=X)
    return folder / "samples.npz"


def matlab(_, X, folder):
    savemat(folder / "samples.mat", {"fea": X})
    return folder / "samples.mat"


FORMS = {
    "commas": lambda write, X, _: write("samples.csv", X),
    "semicolons": lambda write, X, _: write("samples.csv", X, between=";"),
    "decimal commas": lambda write, X, _: write("samples.csv", X, between=";", decimal=","),
    "tabs": lambda write, X, _: write("samples.tsv", X, between="\t"),
    "packed": packed,
    "Parquet": parquet,
    "npy": array,
    "npz": archive,
    "mat": matlab,
}


@pytest.mark.parametrize("write", FORMS.values(), ids=FORMS)
def test_a_file_of_every_form_is_clustered(program, write_table, folder, blobs, read_labels, write):
    X, y = blobs
    program("cluster", write(write_table, X, folder), "-k", 3, "--out", "labels.csv")
    assert adjusted_rand_score(y, list(read_labels("labels.csv").values())) == 1


def test_a_table_comes_from_standard_input_and_its_labels_go_to_standard_output(program, write_table, blobs):
    X, y = blobs
    done = program("cluster", "-", "-k", 3, "--out", "-", content=write_table("samples.csv", X).read_bytes())
    rows = [line.split(",") for line in done.stdout.decode().splitlines()[1:]]
    assert [name for name, _ in rows] == [f"s{i}" for i in range(60)]
    assert adjusted_rand_score(y, [int(label) for _, label in rows]) == 1


def test_labels_are_written_beside_ids_as_csv_and_as_parquet(program, write_table, folder, blobs, read_labels):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    samples = write_table("samples.csv", blobs[0])
    program("cluster", samples, "-k", 3, "--out", "labels.csv")
    program("cluster", samples, "-k", 3, "--out", "labels.parquet")
    frame = pandas.read_parquet(folder / "labels.parquet").reset_index()
    assert read_labels("labels.csv") == dict(zip(frame["id"], frame["label"], strict=True))


def test_files_are_views_matched_by_ids_and_one_may_lack_samples(program, write_table, blobs, read_labels):
    X, y = blobs
    rng = np.random.default_rng(0)
    some = rng.permutation(60)[:50]
    one = write_table("one.csv", X, rng.permutation(60))
    other = write_table("other.csv", X @ rng.normal(size=(4, 6)), some)
    done = program("cluster", one, other, "-k", 3, "--id", "id", "--json", "--out", "labels.csv")
    labels = read_labels("labels.csv")
    assert adjusted_rand_score(y, [labels[f"s{i}"] for i in range(60)]) == 1
    assert [view["file"] for view in json.loads(done.stdout)["views"]] == ["one.csv", "other.csv"]


def test_a_model_is_saved_and_labels_new_samples_in_another_process(program, write_table, blobs, read_labels):
    X, _ = blobs
    program("cluster", write_table("old.csv", X), "-k", 3, "--save", "blobs.model", "--out", "old_labels.csv")
    (new := write_table("new.csv", X + 1e-3)).write_text(new.read_text().replace("new", "old"))
    program("predict", "blobs.model", new, "--out", "labels.csv")
    assert read_labels("labels.csv") == read_labels("old_labels.csv")


def test_labels_are_scored_with_the_eight_measures(program, write_table, folder, blobs):
    X, y = blobs
    program("cluster", write_table("samples.csv", X), "-k", 3, "--out", "labels.csv")
    rows = "\n".join(f"s{i},{label}" for i, label in enumerate(y))
    (folder / "truth.csv").write_text(f"id,class\n{rows}\n")
    scores = json.loads(program("score", "truth.csv", "labels.csv", "--json").stdout)
    perfect = dict.fromkeys(("acc", "nmi", "purity", "ari", "f_score", "precision", "recall"), 1.0)
    assert {name: scores[name] for name in perfect} == perfect
    assert scores["entropy"] == pytest.approx(np.log2(3))  # of clusters of one size
