"""``kernelbraid score``: compare two label files."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import typer

from kernelbraid.cli.output import print_json, print_table
from kernelbraid.cli.reading import HEADERS, by_file, names_of, open_files
from kernelbraid.datasets import DataError, LabelFile, read_labels
from kernelbraid.metrics import SCORES, evaluate


def run(paths: list[Path], options: SimpleNamespace) -> None:
    """Score the labels of one file against those of another and report."""
    sources = open_files(paths, options)
    names, columns = names_of([source.path for source in sources]), (options.column, options.labels_column)
    reads = [partial(read_labels, one, key=options.key, column=of) for one, of in zip(sources, columns, strict=True)]
    files = [read(header=options.header) for read in reads]
    is_unclear = [file.is_unclear for file in files]
    if all(is_unclear):  # where one is clear, its ids or its count tell what the other is
        told = f"{names[0]}: row 1 may be a header or a sample, and nothing tells which"
        raise DataError(f"{told}; say it of both files with --header or --no-header, or call the column label.")
    headed = [read(header=True) if file.is_unclear else file for read, file in zip(reads, files, strict=True)]
    files = headed if have_ids(headed) and set(headed[0].ids or ()) == set(headed[1].ids or ()) else files
    truth, labels = (file.values for file in files)
    scores = evaluate(truth, labels[match(files, names)], nmi_average=options.nmi_average or "max")
    if options.json:
        print_json(scores)
    else:
        meanings = {name: (score.__doc__ or "").partition("\n")[0] for name, score in SCORES.items()}
        rows = [[name, f"{value:.4f}", meanings[name]] for name, value in scores.items()]
        print_table(rows, header=["measure", "value", ""], numbers=[1])
    headers = {name: file.header for name, file in zip(names, files, strict=True) if file.header is not None}
    if headers and (any(is_unclear) or not options.json):
        typer.echo(f"Header: {by_file(headers, HEADERS.__getitem__)}.", err=True)


def have_ids(files: Sequence[LabelFile]) -> bool:
    """Return whether samples are matched by id: not where one file merely counts its rows and the other has names."""
    first, second = (file.ids for file in files)
    if first is None or second is None:
        return False
    count = [str(i) for i in range(len(first))]
    return count not in (first, second) or len(first) != len(second) or set(first) == set(second)


def match(files: Sequence[LabelFile], names: list[str]) -> np.ndarray:
    """Return where in the second file each sample of the first is: by id if both have ids, else in the same place."""
    counts, say = [len(file.values) for file in files], "or say with --header or --no-header what row 1 is"
    if not have_ids(files):
        if counts[0] != counts[1]:
            told = f"{names[1]} has {counts[1]} labels and {names[0]} has {counts[0]}"
            raise DataError(f"{told}; give one label per sample in both, {say}.")
        return np.arange(counts[0])
    ids = [pd.Index(file.ids or []) for file in files]
    for here, there in ((1, 0), (0, 1)):
        for twice in ids[here][ids[here].duplicated()][:1]:
            raise DataError(f"{names[here]}: the id {twice!r} occurs more than once; give every sample its own id.")
        for missing in ids[there].difference(ids[here], sort=False)[:1]:
            lost = f"{len(set(ids[there]) - set(ids[here]))} of the {counts[there]} ids in {names[there]} are missing"
            raise DataError(f"{names[here]}: {lost}, the first is {missing!r}; give both the same samples, {say}.")
    return ids[1].get_indexer(ids[0])
