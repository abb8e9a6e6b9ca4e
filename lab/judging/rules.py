"""Rules of reading out.

Adjusted Rand index times 100, seeds 0 to 2, with the true number of clusters. On every graph, which is learned once and
kept, communities are taken from a steadiness on, or where each of them keeps a part of its edges to itself and all of
them more than pieces do that are joined; the third number is the support below which a cut is made elsewhere, 0 for
never. LKG has 0.65, 0.95 and 0.3: constants are chosen here and nowhere else. The last two columns have the index with
the rule that is best on all other kinds.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy import sparse

from kernelbraid import LKG
from kernelbraid.learning import PRESETS, LearnedGraph, choose, place
from lab.judging.jobs import JUDGED, Row, table
from lab.judging.judge import JOBS as JOBS
from lab.judging.judge import by_kind, scored
from lab.judging.samples import REAL, SEEDS, as_input, read

OURS = "0.65, 0.95, 0.3"
NEAR = ((0.5, 0.95, 0.3), (0.8, 0.95, 0.3), (0.65, 0.9, 0.3), (0.65, 0.98, 0.3), (0.65, 0.95, 0.3))
RULES = {", ".join(map(str, rule)): rule for rule in (*NEAR, *((0.65, 0.95, weak) for weak in (0.0, 0.2, 0.4)))}
WAYS = {"communities": (0.0, 1.0, 0.0), "pieces": (inf, inf, 0.0)}
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
    for rule, (steady, apart, weak) in (RULES | WAYS).items():
        drawn = [np.random.RandomState(seed) for seed in SEEDS]
        readings = [choose(placed, readout, state, steady=steady, apart=apart, weak=weak) for state in drawn]
        found[rule] = scored(y, [reading.labels for reading in readings])["index"]
    return [{"tried": found}]


def rules_of_others(rows: Sequence[Row]) -> dict[str, str]:
    """Return for each kind the rule that is best on the mean of the other kinds; where all are alike, ours."""
    kinds = {kind: means(own, RULES) for kind, own in by_kind(rows).items()}
    sums = {rule: sum(own[rule] for own in kinds.values()) for rule in (OURS, *RULES)}
    return {kind: max(sums, key=lambda rule: round(sums[rule] - own[rule], 6)) for kind, own in kinds.items()}


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
