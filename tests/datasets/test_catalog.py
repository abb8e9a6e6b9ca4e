import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kernelbraid.datasets import CATALOG, load
from kernelbraid.datasets.catalog import PAPER, unknown_name
from kernelbraid.datasets.loading import available
from kernelbraid.datasets.preprocessing import STEPS
from kernelbraid.datasets.single_sets import SINGLE_SETS
from kernelbraid.datasets.view_sets import VIEW_SETS
from problems import shared_folder

ROOT = Path(__file__).resolve().parents[2]
TITLES = ["YALE", "JAFFE", "ORL", "AR", "BA", "TR11", "TR41", "TR45", "TDT2", "Cora", "NUS-WIDE"]


def test_the_data_sets_of_the_paper_are_there():
    assert [entry.title for entry in PAPER.values()] == TITLES
    assert list(CATALOG)[: len(PAPER)] == list(PAPER)
    assert len(CATALOG["cora"].views) == 2


def test_an_entry_is_consistent():
    for entry in CATALOG.values():
        assert CATALOG[entry.name] is entry
        assert sum(entry.class_sizes) == entry.n_samples
        assert min(entry.class_sizes) > 0
        assert set(entry.preprocessing) <= set(STEPS)
        assert entry.preprocessing[len(entry.preprocessing) - len(entry.pending) :] == entry.pending
        for source in [entry.source] + ([entry.raw.source] if entry.raw else []):
            assert re.fullmatch("[0-9a-f]{64}", source.sha256) if entry.name in PAPER else source.sha256 is None
            assert re.fullmatch("[0-9a-f]{40}", source.commit)
            assert re.fullmatch(r"[\w-]+/[\w-]+", source.repository)
            assert source.n_bytes > 0 if entry.name in PAPER else source.n_bytes is None
        url = f"https://raw.githubusercontent.com/{entry.source.repository}/{entry.source.commit}/{entry.source.path}"
        assert entry.source.url() == url
        assert entry.source.url("http://mirror/").startswith("http://mirror/" + entry.source.repository)
        assert entry.licence


@pytest.mark.reference
def test_the_catalogue_agrees_with_the_manifest():
    manifest = json.loads((shared_folder("datasets") / "MANIFEST.json").read_text())
    listed = {one["name"]: one for one in manifest["datasets"]}
    for name, entry in PAPER.items():
        one = listed[name]
        assert (entry.title, entry.n_samples, entry.n_classes) == (one["paper_name"], one["n"], one["classes"])
        assert list(entry.class_sizes) == one["class_sizes"]
        assert [[entry.n_samples, width] for width in entry.n_features] == [part["shape"] for part in one["arrays"]]
        assert [view.nonzeros for view in entry.views] == [part.get("nnz") for part in one["arrays"]]
        assert entry.sha256 == one["sha256"]
        check_source(entry.source, one["source"])
        assert (one["licence_stated"].split(":")[0], entry.licence[:4]) == ("none", "none")
        if entry.raw is not None:
            assert entry.raw.sha256 == listed[f"{name}_raw"]["sha256"]
            check_source(entry.raw.source, listed[f"{name}_raw"]["source"])


@pytest.mark.reference
def test_the_sets_beside_those_of_the_paper_agree_with_their_manifest():
    listed = {
        one["name"]: one
        for one in json.loads((shared_folder("datasets/dev") / "MANIFEST.json").read_text())["datasets"]
    }
    assert all(len(listed[entry.name]["arrays"]) > 1 for entry in VIEW_SETS)
    assert all(len(listed[entry.name]["arrays"]) == 1 for entry in SINGLE_SETS)
    for entry in (*VIEW_SETS, *SINGLE_SETS):  # the manifest may list more
        one = listed[entry.name]
        assert (entry.sha256, entry.n_samples, list(entry.class_sizes)) == (one["sha256"], one["n"], one["class_sizes"])
        assert [[entry.n_samples, width] for width in entry.n_features] == [part["shape"] for part in one["arrays"]]
        assert [view.nonzeros is not None for view in entry.views] == [part["sparse"] for part in one["arrays"]]
        assert f"github.com/{entry.source.repository}" == one["source"]["repository"]
        assert (entry.source.path, entry.source.commit) == (one["source"]["path"], one["source"]["commit"])


def check_source(source, listed):
    assert f"github.com/{source.repository}" == listed["repository"]
    assert (source.path, source.commit) == (listed["path"], listed["commit"])
    assert (source.sha256, source.n_bytes) == (listed["source_sha256"], listed["source_bytes"])


@pytest.mark.parametrize(("name", "near"), [("yal", "yale"), ("TR11", "tr11"), ("nuswide", "nuswide_view3")])
def test_an_unknown_name_brings_the_nearest_ones(name, near):
    sentence = str(unknown_name(name, available()))
    assert sentence.startswith(f"{name!r} is no known data set; choose ")
    assert near in sentence


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
        assert entry.source.repository in row
        steps = ", ".join(f"`{step}`" for step in entry.preprocessing) or "none"
        assert cells[6] == steps


def test_no_data_file_is_committed():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout of git")
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    data = (".npz", ".npy", ".mat", ".parquet", ".h5", ".pgm", ".tif", ".tiff", ".gif")
    found = [name for name in listing.splitlines() if name.lower().endswith(data)]
    assert found in ([], ["results/records.parquet"])  # records of experiments hold scores, not samples
