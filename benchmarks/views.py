"""How several views are fused, chosen by leaving one data set out: ``python -m benchmarks.views [NAME ...]``.

A rule says what is joined (kernels averaged over views, or graphs summed), of which banks, with which weights of the
penalty, and how many edges stay of each sample. Every rule is tried on every data set. Then each data set is left out
once: the rule that is best on the mean of the others is used on it. Views are weighed first, as in a fit. It goes on
where it was stopped: sets that views.json has are left out.
"""

import argparse
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np

from kernelbraid._typing import Array
from kernelbraid.datasets import load
from kernelbraid.datasets.view_sets import VIEW_SETS
from kernelbraid.learning.candidates import Views
from kernelbraid.learning.learn import LearnedGraph
from kernelbraid.learning.readout import cluster, place
from kernelbraid.learning.settings import FUSED_BANKS, PRESETS
from kernelbraid.learning.views import WeighedViews, weigh
from kernelbraid.metrics import accuracy
from kernelbraid.ops.refinement import refine_graph
from kernelbraid.ops.spectral import normalised_graph
from kernelbraid.solvers.low_rank.ridge import ridge_coefficients

SETS = (*(entry.name for entry in VIEW_SETS), "cora")
#: Sets of so many samples get one seed.
LARGE = 1500
SEEDS = (0, 1, 2)
OUT = Path(__file__).parent / "results"
FUSIONS = ("kernels", "graphs")
BANKS: dict[str, tuple[int, ...]] = {"middle": (0,), "self-tuning": (1,), "both": (0, 1)}  # places in FUSED_BANKS
ALPHAS = ((1.0,), (1.0, 30.0), (0.3, 1.0, 3.0, 30.0))
NEIGHBOURS = (10, 20)


@dataclass(frozen=True)
class Rule:
    """How views are fused."""

    fusion: str
    banks: str
    alphas: tuple[float, ...]
    n_neighbors: int

    def __str__(self) -> str:
        alphas = " ".join(f"{alpha:g}" for alpha in self.alphas)
        return f"{self.fusion}, bank {self.banks}, alpha {alphas}, {self.n_neighbors} edges"


RULES = [Rule(*parts) for parts in product(FUSIONS, BANKS, ALPHAS, NEIGHBOURS)]
_READOUT = PRESETS["recommended"]
#: What LKG does as it comes.
BUILT_IN = Rule(_READOUT.fusion, "both", _READOUT.alphas, max(NEIGHBOURS))


def normal_graphs(weighed: WeighedViews) -> dict[tuple[str, int, float, int], Array]:
    """Return the graphs that rules are made of, degrees divided out, by fusion, bank, alpha and edges."""
    found: dict[tuple[str, int, float, int], Array] = {}
    for number, bank in enumerate(FUSED_BANKS):
        joined: Array = 0.0
        for view in weighed.used:
            K = weighed.samples.only(view).pose(bank).average()
            joined = joined + K / len(weighed.used)
            for key, graph in _graphs(K):
                name = ("graphs", number, *key)
                found[name] = found[name] + graph if name in found else graph
        found |= {("kernels", number, *key): graph for key, graph in _graphs(joined)}
    return found


def _graphs(K: Array) -> Iterator[tuple[tuple[float, int], Array]]:
    """Yield the graphs of a kernel by alpha and edges."""
    for alpha in sorted({alpha for alphas in ALPHAS for alpha in alphas}):
        Z = ridge_coefficients(K, alpha)
        for k in NEIGHBOURS:
            yield (alpha, k), normalised_graph(refine_graph(Z, n_neighbors=k, edge_weights="scaled"))


def measure(name: str) -> dict[str, float]:
    """Return the accuracy of every rule on a data set in per cent, mean over the seeds."""
    dataset = load(name)
    weighed = weigh(Views(dataset.views))
    graphs = normal_graphs(weighed)
    readout = replace(_READOUT.readout, n_clusters=dataset.n_clusters)
    seeds = SEEDS if dataset.n_samples < LARGE else SEEDS[:1]
    figures = {}
    for rule in RULES:
        parts = [
            graphs[rule.fusion, bank, alpha, rule.n_neighbors]
            for bank, alpha in product(BANKS[rule.banks], rule.alphas)
        ]
        fused = parts[0]
        for part in parts[1:]:
            fused = fused + part
        placed = place(LearnedGraph(Z=None, identities=weighed.identities, graph=fused), readout)
        found = [cluster(placed, readout, random_state=np.random.RandomState(seed)).labels for seed in seeds]
        figures[str(rule)] = 100 * fmean(accuracy(dataset.y, labels) for labels in found)
    return figures


def best(figures: Mapping[str, Mapping[str, float]], sets: list[str]) -> str:
    """Return the rule with the best mean over some sets; of equal ones the first."""
    return max(map(str, RULES), key=lambda rule: fmean(figures[name][rule] for name in sets))


def page(figures: Mapping[str, Mapping[str, float]]) -> str:
    """Return the tables as Markdown."""
    sets = [name for name in SETS if name in figures]
    rows, chosen = [], {}
    built_in = str(BUILT_IN)
    for name in sets:
        rule = best(figures, [other for other in sets if other != name])
        chosen[name] = figures[name][rule]
        here = max(figures[name].values())
        rows.append(f"| {name} | {rule} | {chosen[name]:.1f} | {figures[name][built_in]:.1f} | {here:.1f} |")
    means = [fmean(chosen.values()), *(fmean(figures[n][rule] for n in sets) for rule in (built_in,))]
    tops = fmean(max(figures[name].values()) for name in sets)
    rows.append(f"| mean of {len(sets)} | | {means[0]:.1f} | {means[1]:.1f} | {tops:.1f} |")
    ordered = sorted(map(str, RULES), key=lambda rule: -fmean(figures[name][rule] for name in sets))
    every = [
        f"| {rule} | {' | '.join(f'{figures[name][rule]:.1f}' for name in sets)} | "
        f"{fmean(figures[name][rule] for name in sets):.1f} |"
        for rule in ordered
    ]
    text = [
        "# How several views are fused",
        "",
        f"`python -m benchmarks.views`: accuracy in per cent, mean over {len(SEEDS)} seeds (one from {LARGE} samples "
        f"on). {len(RULES)} rules; the one that is best on the mean of the other sets is used on the set that is left "
        f"out. Built in: {built_in}. Label-tuned: the best rule of each set, picked by its classes.",
        "",
        "| left out | best on the others | there | built in | label-tuned |",
        "|---|---|---|---|---|",
        *rows,
        "",
        "All rules, the best on the mean first:",
        "",
        f"| rule | {' | '.join(sets)} | mean |",
        "|---" * (len(sets) + 2) + "|",
        *every,
        "",
    ]
    return "\n".join(text)


def main() -> None:
    """Measure what is missing, and write figures and page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="sets to measure anew; those that are missing if none")
    names = parser.parse_args().names
    store = OUT / "views.json"
    figures = json.loads(store.read_text()) if store.is_file() else {}
    for name in names or [name for name in SETS if name not in figures]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figures[name] = {rule: round(value, 2) for rule, value in measure(name).items()}
        store.write_text(json.dumps({name: figures[name] for name in SETS if name in figures}, indent=1) + "\n")
        print(name, figures[name][str(BUILT_IN)], flush=True)
    if len(figures) > 1:
        (OUT / "views.md").write_text(page(figures))


if __name__ == "__main__":
    main()
