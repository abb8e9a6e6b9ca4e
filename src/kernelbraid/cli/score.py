"""``kernelbraid score``: compare two label files."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import typer

from kernelbraid.cli.output import print_json, print_table
from kernelbraid.cli.views import headers_in_words, names_of, open_files
from kernelbraid.datasets import DataError, LabelFile, read_labels
from kernelbraid.metrics import evaluate

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


def run(paths: Sequence[Path], options: SimpleNamespace) -> None:
    """Score the labels of one file against those of another and report."""
    sources = open_files(paths, options)
    names, columns = names_of([source.path for source in sources]), (options.column, options.labels_column)
    readers = [partial(read_labels, one, key=options.key, column=of) for one, of in zip(sources, columns, strict=True)]
    files: Sequence[LabelFile] = [read(header=options.header) for read in readers]
    is_unclear = any(file.is_unclear for file in files)
    if is_unclear:
        files = settle_headers(files, readers, names)
    truth, labels = (file.values for file in files)
    scores = evaluate(truth, labels[match(files, names)], nmi_average=options.nmi_average or "max")
    if options.json:
        print_json(scores)
    else:
        rows = [[name, f"{value:.4f}", MEANINGS.get(name, "")] for name, value in scores.items()]
        print_table(rows, header=["measure", "value", ""], numbers=[1])
    named = zip(names, files, strict=True)
    told = headers_in_words({name: file.header for name, file in named if file.header is not None})
    if told is not None and (is_unclear or not options.json):
        typer.echo(f"Header: {told}.", err=True)


def settle_headers(
    files: Sequence[LabelFile], readers: Sequence[Callable[..., LabelFile]], names: Sequence[str]
) -> Sequence[LabelFile]:
    """Return the files with a first row that may be a header taken for what makes them fit each other.

    No sample is lost by a guess: a first row becomes a header where the ids of both files are the same then, or where
    the counts are and every label below it occurs more than once.
    """
    unclear = [file.is_unclear for file in files]
    if _fit(files) and not all(unclear):
        return files
    options = [(file, read(header=True))[: 1 + file.is_unclear] for file, read in zip(files, readers, strict=True)]
    fitting = [pair for pair in product(*options) if _fit(pair)]
    if not fitting:
        return files
    headed = [file for file, first in zip(fitting[0], files, strict=True) if file is not first]
    if len(fitting) == 1 and (_have_ids(fitting[0]) or all(file.repeats for file in headed)):
        return fitting[0]
    raise DataError(
        f"{names[unclear.index(True)]}: row 1 may be a header or a sample, and nothing tells which; say it of both "
        "files with --header or --no-header, or call the column label."
    )


def _fit(files: Sequence[LabelFile]) -> bool:
    """Return whether two files hold the same samples, as far as they tell."""
    if _have_ids(files):
        return len({frozenset(file.ids or ()) for file in files}) == 1
    return len({len(file.values) for file in files}) == 1


def _have_ids(files: Sequence[LabelFile]) -> bool:
    """Return whether samples are matched by id: not where one file merely counts its rows and the other has names."""
    first, second = (file.ids for file in files)
    if first is None or second is None:
        return False
    count = [str(i) for i in range(len(first))]
    return count not in (first, second) or len(first) != len(second) or set(first) == set(second)


def match(files: Sequence[LabelFile], names: Sequence[str]) -> np.ndarray:
    """Return where in the second file each sample of the first is: by id if both have ids, else in the same place."""
    counts = [len(file.values) for file in files]
    if not _have_ids(files):
        if counts[0] != counts[1]:
            raise DataError(
                f"{names[1]} has {counts[1]} labels and {names[0]} has {counts[0]}; give one label per sample in both, "
                "and say with --header or --no-header what row 1 is if it was taken wrongly."
            )
        return np.arange(counts[0])
    ids = [pd.Index(file.ids or []) for file in files]
    for here, there in ((1, 0), (0, 1)):
        for twice in ids[here][ids[here].duplicated()][:1]:
            raise DataError(f"{names[here]}: the id {twice!r} occurs more than once; give every sample its own id.")
        missing = ids[there].difference(ids[here], sort=False)
        if len(missing):
            raise DataError(
                f"{names[here]}: {len(missing)} of the {counts[there]} ids in {names[there]} are missing, the first is "
                f"{missing[0]!r}; give both files the same samples."
            )
    return ids[1].get_indexer(ids[0])
