"""Samples, labels and names that hypothesis makes, written to files of every format: they come back as they are."""

import csv
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.io import savemat

from fuzzing.mutation import draw
from fuzzing.target import RefusedError, Target, all_refused, outcome_of
from kernelbraid.datasets import DataError, read_labels, read_samples

TABLE = "table.json"
# Numbers at the ends of what the formats hold, and whole ones that floats do not tell apart.
NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.5, 1e-320, 5e-324, 1.7976931348623157e308, -1e300, 0.1, 1 / 3, 2.0**53 + 2]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-1000, 1000).map(float),
)
WHOLE = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1), st.integers(2**60, 2**60 + 5))
# Words with what cuts, quotes and breaks lines in tables, and what might be taken for something else.
WORDS = st.one_of(
    st.sampled_from(["a", "b", "label", "id", "NA", "nan", "?", "1", "1.0", "x y", "é", "-", "3..5", "True", "1e5"]),
    st.text(st.sampled_from("ab,;\t\"'\n.1é☃ "), min_size=1, max_size=6).filter(
        str.strip
    ),  # a row of blanks at the end is none
)


@st.composite
def tables(choose):
    """Return samples, labels, and names of rows and columns if there are some."""
    n, d = choose(st.integers(1, 6)), choose(st.integers(1, 4))
    rows = choose(st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=n, max_size=n))
    names = choose(st.lists(WORDS, min_size=d, max_size=d))
    ids = choose(st.one_of(st.none(), st.lists(WORDS, min_size=n, max_size=n)))
    labels = choose(st.one_of(*(st.lists(kind, min_size=n, max_size=n) for kind in (WHOLE, WORDS, NUMBERS))))
    suffix = choose(st.sampled_from([".csv", ".tsv", ".parquet", ".npy", ".npz", ".mat"]))
    return {"rows": rows, "names": names, "ids": ids, "labels": labels, "suffix": suffix}


MADE = tables()


def make(rng: random.Random, folder: Path) -> None:
    """Write a table as JSON."""
    (folder / TABLE).write_text(json.dumps(draw(rng, MADE)), encoding="utf-8")


def write(folder: Path, name: str, columns: dict[str, list[Any]], suffix: str) -> Path:
    """Write columns as a file, all of them alike numbers for an array file."""
    path = folder / f"{name}{suffix}"
    if suffix in (".csv", ".tsv"):
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="," if suffix == ".csv" else "\t")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    elif suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table(columns), path)
    else:
        values = np.array(list(columns.values())).T
        values = values[:, 0] if name == "labels" else values
        if suffix == ".npy":
            np.save(path, values)
        elif suffix == ".npz":
            np.savez(path, values)
        else:
            savemat(path, {name: values})
    return path


def check(folder: Path) -> None:
    """Write the table, and read it: what is read is what was written."""
    made = json.loads((folder / TABLE).read_text(encoding="utf-8"))
    X, suffix = np.array(made["rows"]), made["suffix"]
    is_array = suffix in (".npy", ".npz", ".mat")
    names = [f"c{number} {name}" for number, name in enumerate(made["names"])]
    ids = None if is_array or made["ids"] is None else made["ids"]
    columns: dict[str, list[Any]] = dict(zip(names, X.T.tolist(), strict=True))
    path = write(folder, "samples", {"id": ids, **columns} if ids is not None else columns, suffix)
    samples = outcome_of(lambda: read_samples(path), DataError, about=path)
    if not isinstance(samples, RefusedError):
        assert np.array_equal(samples.X, X), "the samples are others"
        assert is_array or [one.strip() for one in samples.feature_names] == [one.strip() for one in names]
        assert ids is None or [one.strip() for one in samples.ids] == [one.strip() for one in ids], "the ids are others"
    place = write(folder, "labels", {"label": made["labels"]}, suffix)
    is_named = True if "label" in map(str.lower, map(str, made["labels"])) else None  # the name is among the labels
    labels = outcome_of(lambda: read_labels(place, header=is_named), DataError, about=place)
    if not isinstance(labels, RefusedError):
        check_partition(labels.values.tolist(), made["labels"])
    all_refused(samples, labels)


def check_partition(found: list[Any], written: list[Any]) -> None:
    """Expect as many labels as were written, and the same ones for the same samples."""
    written = [one.strip() if isinstance(one, str) else one for one in written]
    assert len(found) == len(written), f"{len(found)} labels of {len(written)}"
    pairs = set(zip(map(str, found), map(_canonical, written), strict=True))
    assert len(pairs) == len({one for one, _ in pairs}), "different labels have become one"


def _canonical(label: Any) -> str:
    """Return a label as the readers compare it: 1 and 1.0 are the same number."""
    try:
        number = Decimal(str(label))
        return str(int(number)) if number == int(number) else str(float(label))
    except (ArithmeticError, ValueError):
        return str(label)


TARGETS = [Target("tables", make, check)]
