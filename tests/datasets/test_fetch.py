from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import io, sparse

from kernelbraid.datasets import CATALOG, DataError, load, npz
from kernelbraid.datasets.entries import Raw
from kernelbraid.datasets.fetch import fetch, import_file
from kernelbraid.datasets.preprocessing import apply
from problems import shared_folder


def refuse(*fragments, folder, run):
    """Expect one sentence, and that nothing is left behind."""
    with pytest.raises(DataError) as error:
        run()
    sentence = str(error.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    for fragment in fragments:
        assert fragment in sentence, sentence
    assert not folder.exists() or not list(folder.iterdir())


def test_a_file_is_downloaded_checked_and_converted(folder, tiny, samples, server, capfd):
    path, is_new = fetch("tiny", base=server.base)
    assert is_new
    assert path == folder / "tiny.npz"
    assert server.asked == ["/owner/repository/abc/data/tiny%20set.mat"]
    assert [file.name for file in folder.iterdir()] == ["tiny.npz"]
    data = load("tiny")
    np.testing.assert_array_equal(data.X, apply(samples[0], ["zscore", "unit_norm"]))
    np.testing.assert_array_equal(data.y, samples[1] - 1)
    assert capfd.readouterr() == ("", "")
    with np.load(path) as file:
        assert str(file["origin"]) == tiny.source.url(server.base)


def test_a_file_that_is_there_is_not_downloaded_again(folder, tiny, server):
    first, _ = fetch("tiny", base=server.base)
    before = first.read_bytes()
    assert fetch("tiny", base=server.base) == (first, False)
    assert len(server.asked) == 1
    assert fetch("tiny", base=server.base, force=True) == (first, True)
    assert len(server.asked) == 2
    assert first.read_bytes() == before


def test_a_damaged_file_is_replaced_only_when_asked_to(folder, tiny, server):
    path, _ = fetch("tiny", base=server.base)
    path.write_bytes(b"damaged")
    with pytest.raises(DataError, match="fetch tiny --force"):
        fetch("tiny", base=server.base)
    fetch("tiny", base=server.base, force=True)
    assert load("tiny").n_clusters == 3


def test_a_wrong_checksum_is_refused_with_both(folder, tiny, server, change):
    change(tiny, source=replace(tiny.source, sha256="0" * 64))
    says = (tiny.source.sha256, "0" * 64, "nothing was kept")
    refuse(*says, folder=folder, run=lambda: fetch("tiny", base=server.base))


def test_a_missing_page_is_one_sentence(folder, tiny, server, change):
    change(tiny, source=replace(tiny.source, path="data/other.mat"))
    says = ("other.mat answered 404", "import tiny FILE")
    refuse(*says, folder=folder, run=lambda: fetch("tiny", base=server.base))


def test_no_connection_is_one_sentence(folder, tiny, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    nobody = partial(fetch, "tiny", base="http://127.0.0.1:1")  # nothing listens on port 1
    refuse("failed (ConnectionRefusedError)", "check the connection", folder=folder, run=nobody)


def test_other_classes_in_the_source_are_refused(folder, tiny, server, change):
    change(tiny, class_sizes=(5, 4, 3))
    refuse("sizes of the classes", folder=folder, run=lambda: fetch("tiny", base=server.base))


@pytest.mark.parametrize("name", ["digits", "yal"])
def test_a_name_without_a_file_cannot_be_fetched_or_imported(folder, name):
    says = "scikit-learn" if name == "digits" else "choose yale"
    refuse(says, folder=folder, run=lambda: fetch(name))
    refuse(says, folder=folder, run=lambda: import_file(name, "x.mat"))


def test_loading_never_downloads(tiny, server, monkeypatch):
    monkeypatch.setattr("kernelbraid.datasets.entries.DOWNLOADS", server.base)
    with pytest.raises(DataError, match="datasets fetch tiny"):
        load("tiny")
    assert server.asked == []


def test_a_file_of_the_user_is_taken_as_it_is(tmp_path, folder, tiny, samples):
    np.savez(tmp_path / "mine.npz", X=samples[0] / 7, y=samples[1])
    path = import_file("tiny", tmp_path / "mine.npz")
    assert path == folder / "tiny.npz"
    np.testing.assert_array_equal(load("tiny").X, samples[0] / 7)
    with np.load(path) as file:
        assert str(file["origin"]) == str(tmp_path / "mine.npz")


def test_raw_values_of_the_user_are_preprocessed_on_request(tmp_path, tiny, samples):
    np.savez(tmp_path / "mine.npz", X=samples[0], y=samples[1])
    import_file("tiny", tmp_path / "mine.npz", raw=True)
    np.testing.assert_array_equal(load("tiny").X, apply(samples[0], ["zscore", "unit_norm"]))


@pytest.mark.parametrize("pending", [("zscore", "unit_norm"), ("unit_norm",), ()])
def test_the_source_file_is_known_by_its_checksum(tmp_path, tiny, samples, change, pending):
    change(tiny, pending=pending)
    import_file("tiny", tmp_path / "site" / "owner" / "repository" / "abc" / "data" / "tiny set.mat")
    np.testing.assert_array_equal(load("tiny").X, apply(samples[0], pending))


def test_a_raw_file_is_known_by_its_checksum(tmp_path, tiny, samples, change):
    np.savez(tmp_path / "raw.npz", X=samples[0], y=samples[1])
    change(tiny, raw=Raw(npz.checksum(tmp_path / "raw.npz"), tiny.source), pending=())
    import_file("tiny", tmp_path / "raw.npz")
    np.testing.assert_array_equal(load("tiny").X, apply(samples[0], ["zscore", "unit_norm"]))


def test_a_published_file_is_copied_byte_for_byte(tmp_path, tiny, samples, change):
    np.savez(tmp_path / "published.npz", X=samples[0], y=samples[1] - 1)
    change(tiny, sha256=npz.checksum(tmp_path / "published.npz"))
    path = import_file("tiny", tmp_path / "published.npz")
    assert path.read_bytes() == (tmp_path / "published.npz").read_bytes()


def test_an_import_replaces_a_file_only_when_asked_to(tmp_path, folder, tiny, samples):
    np.savez(tmp_path / "mine.npz", X=samples[0], y=samples[1])
    path = import_file("tiny", tmp_path / "mine.npz")
    before = path.read_bytes()
    np.savez(tmp_path / "mine.npz", X=samples[0] + 1, y=samples[1])
    with pytest.raises(DataError, match="there already; add --force"):
        import_file("tiny", tmp_path / "mine.npz")
    assert path.read_bytes() == before
    import_file("tiny", tmp_path / "mine.npz", force=True)
    np.testing.assert_array_equal(load("tiny").X, samples[0] + 1)


def test_a_file_of_another_shape_or_number_of_classes_is_refused(tmp_path, folder, tiny, samples):
    X, y = samples
    path = tmp_path / "mine.npz"
    np.savez(path, X=X[:, :4], y=y)
    refuse("no matrix of 12 x 5", str(path), folder=folder, run=lambda: import_file("tiny", path))
    np.savez(path, X=X, y=y // 2)
    refuse("2 classes", "Tiny has 3", str(path), folder=folder, run=lambda: import_file("tiny", path))
    refuse("no such file", folder=folder, run=lambda: import_file("tiny", tmp_path / "missing.npz"))
    path.write_bytes(b"")
    refuse("empty", folder=folder, run=lambda: import_file("tiny", path))


@pytest.mark.reference
def test_counts_of_tdt2_become_the_published_values(tmp_path, folder):
    with np.load(shared_folder("datasets") / "tdt2_raw.npz") as file:
        parts = file["X_data"].astype(float), file["X_indices"], file["X_indptr"]
        counts, y = sparse.csr_array(parts, shape=tuple(file["X_shape"])), file["y"]
    extra = np.c_[y + 1, np.full(len(y), 980104)]
    io.savemat(tmp_path / "TDT2.mat", {"fea": sparse.hstack([counts, sparse.csr_array(extra)], format="csc")})
    import_file("tdt2", tmp_path / "TDT2.mat", raw=True)
    made = load("tdt2")
    with np.load(shared_folder("datasets") / "tdt2.npz") as file:
        np.testing.assert_allclose(made.X.data, file["X_data"], atol=1e-7)
        np.testing.assert_array_equal(made.X.indices, file["X_indices"])
    np.testing.assert_array_equal(np.bincount(made.y), CATALOG["tdt2"].class_sizes)


@pytest.mark.reference
@pytest.mark.parametrize("name", ["yale", "jaffe", "orl", "ar"])
def test_an_imported_raw_file_gives_the_values_that_load_recomputes(name, monkeypatch):
    import_file(name, shared_folder("datasets") / f"{name}_raw.npz")
    imported = load(name).X
    monkeypatch.setenv("KERNELBRAID_DATA", str(shared_folder("datasets")))
    np.testing.assert_array_equal(imported, load(name).X)


@pytest.mark.reference
def test_cora_is_found_among_the_cells_of_its_source(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("KERNELBRAID_DATA", str(shared_folder("datasets")))
        cora = load("cora")
    links, words = cora.views
    cells = np.empty((1, 4), dtype=object)
    cells[0, :] = [words.tocsc(), sparse.triu(links, format="csc"), sparse.tril(links, format="csc"), links.tocsc()]
    io.savemat(tmp_path / "Cora.mat", {"X": cells, "y": cora.y[:, None] + 1})
    import_file("cora", tmp_path / "Cora.mat")
    made = load("cora")
    assert abs(made.views[0] - links).nnz == abs(made.views[1] - words).nnz == 0
    np.testing.assert_array_equal(made.y, cora.y)


def test_a_source_without_a_known_checksum_is_not_downloaded(folder):
    says = r"ngs: the checksum of .*NGs.mat is not known, .* save its 3 views as X0, X1, "
    with pytest.raises(DataError, match=says):
        fetch("ngs")
    assert not folder.exists()


def test_views_of_the_same_shape_are_taken_by_their_names(folder, tmp_path):
    rng = np.random.default_rng(0)
    views = [rng.random((1600, 64)) for _ in range(3)]
    np.savez(tmp_path / "mine.npz", y=np.repeat(np.arange(100), 16), **{f"X{i}": X for i, X in enumerate(views)})
    import_file("leaves100", tmp_path / "mine.npz")
    for found, given in zip(load("leaves100").views, views, strict=True):
        np.testing.assert_array_equal(found, given)
