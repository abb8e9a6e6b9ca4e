import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kernelbraid.datasets import CATALOG, DataError, available, load
from problems import shared_folder

ROOT = Path(__file__).resolve().parents[2]
PAPER = ["YALE", "JAFFE", "ORL", "AR", "BA", "TR11", "TR41", "TR45", "TDT2", "Cora", "NUS-WIDE"]


def test_the_data_sets_of_the_paper_come_first_and_those_of_scikit_learn_last():
    assert [entry.title for entry in CATALOG.values()][: len(PAPER)] == PAPER
    assert available() == [*CATALOG, "digits", "wine", "breast_cancer"]


def test_an_entry_is_consistent():
    for name, entry in CATALOG.items():
        assert name == entry.name
        assert min(entry.class_sizes) > 0
        assert list(entry.preprocessing)[-len(entry.pending) :] == list(entry.pending) or not entry.pending
        assert (entry.source.sha256 is not None) == (entry.title in PAPER)
        for source in filter(None, (entry.source, entry.raw)):
            assert re.fullmatch(r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/[^ ]+", source.url)
            for known in filter(None, (source.sha256, source.npz_sha256)):
                assert re.fullmatch("[0-9a-f]{64}", known)


@pytest.mark.reference
def test_the_catalogue_agrees_with_the_manifests():
    folders = [shared_folder("datasets"), shared_folder("datasets/dev")]
    listed = {one["name"]: one for f in folders for one in json.loads((f / "MANIFEST.json").read_text())["datasets"]}
    for name, entry in CATALOG.items():
        one = listed[name]
        assert list(entry.class_sizes) == one["class_sizes"]
        assert [[entry.n_samples, width] for width in entry.n_features] == [part["shape"] for part in one["arrays"]]
        assert [view.nonzeros is not None for view in entry.views] == [part["sparse"] for part in one["arrays"]]
        check_source(entry.source, one)
        if entry.raw is not None:
            check_source(entry.raw, listed[f"{name}_raw"])
        if entry.title in PAPER:
            assert entry.title == one["paper_name"]
            assert [view.nonzeros for view in entry.views] == [part.get("nnz") for part in one["arrays"]]


def check_source(source, listed):
    there = listed["source"]
    address = f"{there['repository'].removeprefix('github.com/')}/{there['commit']}/{there['path']}"
    assert source.url == f"https://raw.githubusercontent.com/{address}"
    assert source.npz_sha256 == listed["sha256"]
    if source.sha256 is not None:
        assert (source.sha256, source.n_bytes) == (there["source_sha256"], there["source_bytes"])


def test_an_unknown_name_brings_the_nearest_ones():
    for name, near in [("yal", "yale"), ("TR11", "tr11"), ("nuswide", "nuswide_view3")]:
        with pytest.raises(DataError, match=rf"^{name!r} is no known data set; choose .*{near}"):
            load(name)


def test_a_name_that_is_like_no_other_brings_them_all():
    with pytest.raises(ValueError, match=r"'\?' is no known data set") as error:
        load("?")
    assert all(name in str(error.value) for name in available())


def test_the_page_on_data_lists_every_entry():
    lines = (ROOT / "docs" / "data.md").read_text(encoding="utf-8").splitlines()
    for name, entry in CATALOG.items():
        (row,) = [line for line in lines if line.startswith(f"| `{name}` ")]
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        features = " + ".join(map(str, entry.n_features))
        assert cells[1:5] == [entry.title, str(entry.n_samples), features, str(entry.n_classes)]
        assert cells[5] == "/".join(entry.source.url.split("/")[3:5])
        steps = ", ".join(f"`{step}`" for step in entry.preprocessing) or "none"
        assert cells[6] == steps


def test_no_data_file_is_committed():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout of git")
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    data = (".npz", ".npy", ".mat", ".parquet", ".h5", ".pgm", ".tif", ".tiff", ".gif")
    found = [name for name in listing.splitlines() if name.lower().endswith(data)]
    assert found in ([], ["results/records.parquet"])  # records of experiments hold scores, not samples
