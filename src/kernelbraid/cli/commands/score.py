"""``kernelbraid score``: compare two label files."""

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
    truth, labels = (
        read_labels(source, key=key, header=header, column=column)
        for source, column in zip(sources, columns, strict=True)
    )
    order = match(truth, labels, *paths)
    scores = evaluate(truth.values, labels.values[order], nmi_average=cast(NMIAverage, nmi_average))
    if as_json:
        print_json(scores)
    else:
        rows = [[name, f"{value:.4f}", MEANINGS.get(name, "")] for name, value in scores.items()]
        print_table(rows, header=["measure", "value", ""], numbers=[1])
        told = headers_in_words(headers_of(paths, (truth, labels)))
        if told is not None:
            typer.echo(f"Header: {told}.", err=True)


def match(truth: LabelFile, labels: LabelFile, truth_path: Path, labels_path: Path) -> np.ndarray:
    """Return where in `labels` each sample of `truth` is: by id if both have ids, otherwise in the same place."""
    n_truth, n_labels = len(truth.values), len(labels.values)
    if truth.ids is not None and labels.ids is not None and not _only_row_numbers(truth.ids, labels.ids):
        places, expected = _places(labels.ids, labels_path), _places(truth.ids, truth_path)
        _check_known(expected, places, truth_path, labels_path)
        _check_known(places, expected, labels_path, truth_path)
        return np.array([places[name] for name in truth.ids])
    if n_truth != n_labels:
        raise DataError(
            f"{labels_path} has {n_labels} labels and {truth_path} has {n_truth}; give one label per sample in both."
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
