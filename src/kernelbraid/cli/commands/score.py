"""``kernelbraid score``: compare two label files."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import cast

import numpy as np
import typer

from kernelbraid.cli.inputs import open_inputs
from kernelbraid.cli.output import print_json, print_table
from kernelbraid.cli.views import headers_in_words, headers_of
from kernelbraid.datasets import DataError, LabelFile, read_labels
from kernelbraid.files.sources import Form
from kernelbraid.metrics import evaluate
from kernelbraid.metrics.scores import NMIAverage

MEANINGS = {
    "acc": "samples right under the best matching of clusters to classes",
    "nmi": "normalised mutual information",
    "purity": "samples in the main class of their cluster",
    "ari": "adjusted Rand index",
    "f_score": "harmonic mean of pairwise precision and recall",
    "precision": "pairs of one cluster that are of one class",
    "recall": "pairs of one class that are in one cluster",
    "entropy": "bits, of the cluster sizes alone",
}


def run(
    truth_path: Path,
    labels_path: Path,
    *,
    key: str | None,
    header: bool | None,
    columns: tuple[str | None, str | None] = (None, None),
    form: Form | None = None,
    nmi_average: str,
    as_json: bool,
) -> None:
    """Score the labels of one file against those of another and report."""
    sources = open_inputs([truth_path, labels_path], form)
    paths = [source.path for source in sources]
    readers = [
        partial(read_labels, source, key=key, column=column) for source, column in zip(sources, columns, strict=True)
    ]
    truth, labels = (read(header=header) for read in readers)
    is_unclear = truth.is_unclear or labels.is_unclear
    if is_unclear:
        truth, labels = settle_headers((truth, labels), readers, paths)
    order = match(truth, labels, *paths)
    scores = evaluate(truth.values, labels.values[order], nmi_average=cast(NMIAverage, nmi_average))
    if as_json:
        print_json(scores)
    else:
        rows = [[name, f"{value:.4f}", MEANINGS.get(name, "")] for name, value in scores.items()]
        print_table(rows, header=["measure", "value", ""], numbers=[1])
    told = headers_in_words(headers_of(paths, (truth, labels)))
    if told is not None and (is_unclear or not as_json):
        typer.echo(f"Header: {told}.", err=True)


def settle_headers(
    files: tuple[LabelFile, LabelFile], readers: Sequence[Callable[..., LabelFile]], paths: Sequence[Path]
) -> tuple[LabelFile, LabelFile]:
    """Return the files with a first row that may be a header taken for what makes them fit each other.

    No sample is lost by a guess: a first row becomes a header where the ids of both files are the same then, or where
    the counts are and every label below it occurs more than once.
    """
    unclear = [file.is_unclear for file in files]
    if not all(unclear) and _fit(*files):
        return files
    options = [
        [file, read(header=True)] if is_unclear else [file]
        for file, read, is_unclear in zip(files, readers, unclear, strict=True)
    ]
    fitting = [(truth, labels) for truth, labels in product(*options) if _fit(truth, labels)]
    if len(fitting) == 1:
        headed = [file for file, first in zip(fitting[0], files, strict=True) if file is not first]
        if _have_ids(*fitting[0]) or all(file.repeats for file in headed):
            return fitting[0]
    if fitting:
        raise DataError(
            f"{paths[unclear.index(True)]}: row 1 may be a header or a sample, and nothing tells which; say it of both "
            "files with --header or --no-header, or call the column label."
        )
    return files


def _have_ids(truth: LabelFile, labels: LabelFile) -> bool:
    """Return whether samples are matched by id."""
    return truth.ids is not None and labels.ids is not None and not _only_row_numbers(truth.ids, labels.ids)


def _fit(truth: LabelFile, labels: LabelFile) -> bool:
    """Return whether two files hold the same samples, as far as they tell."""
    if _have_ids(truth, labels):
        return set(truth.ids or ()) == set(labels.ids or ())
    return len(truth.values) == len(labels.values)


def match(truth: LabelFile, labels: LabelFile, truth_path: Path, labels_path: Path) -> np.ndarray:
    """Return where in `labels` each sample of `truth` is: by id if both have ids, otherwise in the same place."""
    n_truth, n_labels = len(truth.values), len(labels.values)
    if _have_ids(truth, labels):
        places, expected = _places(labels.ids or [], labels_path), _places(truth.ids or [], truth_path)
        _check_known(expected, places, truth_path, labels_path)
        _check_known(places, expected, labels_path, truth_path)
        return np.array([places[name] for name in truth.ids or []])
    if n_truth != n_labels:
        has_rows = truth.header is not None or labels.header is not None
        advice = (
            ", and say with --header or --no-header what row 1 is" if has_rows and abs(n_truth - n_labels) == 1 else ""
        )
        raise DataError(
            f"{labels_path} has {n_labels} labels and {truth_path} has {n_truth}; give one label per sample in "
            f"both{advice}."
        )
    return np.arange(n_truth)


def _only_row_numbers(first: list[str], second: list[str]) -> bool:
    """Return whether one file merely counts its rows while the other one has names of its own."""
    numbers = [str(i) for i in range(len(first))]
    return len(first) == len(second) and numbers in (first, second) and set(first) != set(second)


def _places(ids: list[str], path: Path) -> dict[str, int]:
    """Return the position of each id, which must be unique."""
    places = {name: i for i, name in enumerate(ids)}
    if len(places) < len(ids):
        twice = next(name for i, name in enumerate(ids) if places[name] != i)
        raise DataError(f"{path}: the id {twice!r} occurs more than once; give every sample its own id.")
    return places


def _check_known(wanted: dict[str, int], known: dict[str, int], wanted_path: Path, known_path: Path) -> None:
    """Refuse ids that the other file does not have."""
    missing = [name for name in wanted if name not in known]
    if missing:
        raise DataError(
            f"{known_path}: {len(missing)} of the {len(wanted)} ids in {wanted_path} are missing, "
            f"the first is {missing[0]!r}; give both files the same samples."
        )
