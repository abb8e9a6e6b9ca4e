"""Rules of reading out.

Adjusted Rand index times 100, seeds 0 to 2, with the true number of clusters. On every graph, which is learned once and
kept, communities are taken from a steadiness on, or where each of them keeps a part of its edges to itself and all of
them more than pieces do that are joined: the two numbers, of which those of LKG are constants chosen here and nowhere
else. The last two columns have the index with the rule that is best on all other kinds.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy import sparse

from kernelbraid import LKG
from kernelbraid.learning import PRESETS, LearnedGraph, choose, place
from lab.judging.jobs import JUDGED, Row, table
from lab.judging.judge import JOBS, by_kind, scored
from lab.judging.samples import REAL, SEEDS, as_input, read

__all__ = ["JOBS"]
OURS = "0.65, 0.95"
RULES = {f"{steady}, {apart}": (steady, apart) for steady, apart in product((0.5, 0.65, 0.8), (0.9, 0.95, 0.98))}
WAYS = {"communities": (0.0, 1.0), "pieces": (inf, inf)}
#: Where graphs are kept: delete it where graphs are learned otherwise.
GRAPHS = Path(os.environ.get("KERNELBRAID_GRAPHS", JUDGED / "graphs"))


def measure(job: str) -> list[Row]:
    """Read the graph of a data set out by every rule."""
    views, y = read(job)
    k, kept = int(y.max()) + 1, GRAPHS / f"{job}.npz"
    if not kept.is_file():
        GRAPHS.mkdir(parents=True, exist_ok=True)
        sparse.save_npz(kept, sparse.csr_array(LKG(k, random_state=0).fit(as_input(views)).graph_))
    shares = None if len(views) == 1 else np.ones((len(y), 1))
    learned = LearnedGraph(graph=sparse.csr_array(sparse.load_npz(kept)), identities=np.arange(len(y)), shares=shares)
    readout = replace(PRESETS["recommended"].readout, n_clusters=k)
    placed, found = place(learned, readout), {}
    for rule, (steady, apart) in (RULES | WAYS).items():
        drawn = [np.random.RandomState(seed) for seed in SEEDS]
        readings = [choose(placed, readout, state, steady=steady, apart=apart) for state in drawn]
        found[rule] = scored(y, [reading.labels for reading in readings])["index"]
    return [{"tried": found}]


def rules_of_others(rows: Sequence[Row]) -> dict[str, str]:
    """Return for each kind the rule that is best on the mean of the other kinds; where all are alike, ours."""
    kinds = {kind: means(own, RULES) for kind, own in by_kind(rows).items()}
    ordered = [OURS, *RULES]

    def best(left_out: str) -> str:
        others = [own for kind, own in kinds.items() if kind != left_out]
        return max(ordered, key=lambda rule: sum(own[rule] for own in others))

    return {kind: best(kind) for kind in kinds}


def means(rows: Sequence[Row], rules: Iterable[str]) -> dict[str, float]:
    """Return the mean index of every rule."""
    return {rule: fmean(row["tried"][rule] for row in rows) for rule in rules}


def page(rows: Sequence[Row]) -> list[str]:
    """Return the page."""
    names, chosen, real = (*WAYS, *RULES), rules_of_others(rows), [row for row in rows if row["job"] in REAL]
    kinds = by_kind(rows) | ({"all real sets": real} if real else {})
    lines: list[list[Any]] = []
    for kind, own in kinds.items():
        found, rule = means(own, names), chosen.get(kind)
        lines.append([kind, len(own), *found.values(), None if rule is None else found[rule], rule])
    return table(["kind", "sets", *names, "rule of the others", "which"], lines)
