"""How settings of LKG do in four published cells of Table 2: ``python -m benchmarks.lkg_cells --data orl --drawn 60``.

Settings are drawn from wide ranges or given by hand, then drawn around the best of them, which the true classes pick,
as those behind the published figures must have been picked. A setting is learned once and read out after several
numbers of steps: stopping there is what ``max_iter`` does. Every reading is scored as the published figures are,
k-means with 100 starts, once. Lines are added to those that are there, so that the same command goes on;
KERNELBRAID_DATA names the folder with the data sets. Without ``--data`` the table alone is written.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelbraid.bench.results.published import RECORD_NAMES, TABLE_2
from kernelbraid.datasets import load
from kernelbraid.learning.candidates import Candidates, Views
from kernelbraid.learning.learn import LearnedGraph, _start
from kernelbraid.learning.readout import cluster, place
from kernelbraid.learning.settings import PRESETS
from kernelbraid.metrics import accuracy, nmi
from kernelbraid.solvers.low_rank import step as low_rank
from kernelbraid.solvers.low_rank.step import LowRankState

OUT = Path(__file__).parent / "results"
LINES = OUT / "lkg_cells.jsonl"
#: The methods whose published figures are looked for, and the ways to choose among the starts of k-means.
CELLS = {"orl": "LKGs", "tr11": "LKGs", "ar": "LKGs", "ba": "LKGr"}
PENALTIES = {"LKGs": "l1", "LKGr": "nuclear"}
SCORES = {"orl": ("inertia", "distance"), "tr11": ("inertia", "distance"), "ar": ("inertia",), "ba": ("inertia",)}
#: Ends between which numbers are drawn, log-uniform, and words of which one is drawn.
RANGES = {"alpha": (1e-5, 3.0), "beta": (1e-4, 30.0), "gamma": (1e-2, 100.0), "mu": (1e-3, 30.0)}
WORDS: dict[str, Sequence[Any]] = {
    "bank": ("rmkkm", "paper"),
    "mu_growth": (1.1, 1.0),
    "graph_start": ("identity", "random"),
    "kernel_start": ("average", "average/m"),
    "weights_problem": ("projection", "printed"),
}
#: The same where all else is as in the code: numbers with which its rule ends the iteration after few steps.
CODED_RANGES = {"alpha": (1e-5, 1.0), "beta": (1e-3, 1.0), "gamma": (1.0, 100.0), "mu": (0.5, 30.0)}
STEPS = (2, 3, 4, 6, 8, 12, 20, 40)  # after which settings are read out
MOST = {"orl": 40, "tr11": 40, "ar": 20, "ba": 12}  # steps, by what they cost
FIRST = 6  # steps that the published code makes at least; settings near the best are read out from there on
SPREAD, BEST = 0.2, 6  # decades by which numbers change near the best, and settings that count as such


@dataclass(frozen=True)
class Reading:
    """What one setting gave after so many steps."""

    n_iter: int
    ended: bool  # whether the stopping rule ended the iteration here
    graph_from: str
    restart_score: str
    acc: float
    nmi: float

    @property
    def merit(self) -> float:
        """By which the best are picked."""
        return self.acc + self.nmi


@dataclass(frozen=True)
class Line:
    """One setting, and its readings."""

    data: str
    kind: str  # "drawn", drawn as the code is ("coded"), "given" by hand, or "near" the best
    setting: dict[str, Any]
    readings: tuple[Reading, ...]

    @classmethod
    def of(cls, text: str) -> "Line":
        """Read a line of the file."""
        data, kind, setting, readings = json.loads(text)
        return cls(data, kind, setting, tuple(Reading(*reading) for reading in readings))

    def __str__(self) -> str:
        readings = [list(asdict(reading).values()) for reading in self.readings]
        return json.dumps([self.data, self.kind, self.setting, readings], separators=(",", ":"))

    @property
    def best(self) -> Reading | None:
        """The best reading after as many steps as the published code makes; None if there is none."""
        return max((r for r in self.readings if r.n_iter >= FIRST), key=lambda r: r.merit, default=None)


class Trajectories:
    """Settings over the samples of one data set, read out on the way."""

    def __init__(self, data: str) -> None:
        self.data, self.dataset = data, load(data)
        self.views = Views([self.dataset.X])
        self.candidates: dict[str, Candidates] = {}

    def follow(
        self, setting: dict[str, Any], steps: Iterable[int], graphs: Sequence[str] = ("J", "Z")
    ) -> list[Reading]:
        """Learn with a setting, and read out after given steps, and where the stopping rule ends them."""
        bank, last, wanted = setting["bank"], max(steps), set(steps)
        if bank not in self.candidates:
            self.candidates[bank] = self.views.pose(bank, stored=True)
        candidates = self.candidates[bank]
        numbers = {name: value for name, value in setting.items() if name != "bank"}
        penalty = PENALTIES[CELLS[self.data]]
        learning = replace(PRESETS["authors"].learning, graph_penalty=penalty, max_iter=last, **numbers)
        readings: list[Reading] = []

        def watch(n: int, state: LowRankState) -> None:
            ended = n >= low_rank.MIN_ITER and state.progress.kernel_change < learning.tol
            if ended or n in wanted:
                for graph in graphs:
                    readings.extend(self.read(candidates, state, graph, n, ended))

        problem = learning.problem(candidates.stack)
        start = _start(candidates.stack, learning, np.random.RandomState(0))
        low_rank.solve(problem, start, graph="Z", max_iter=last, tol=learning.tol, watch=watch)
        return readings

    def read(self, candidates: Candidates, state: LowRankState, graph: str, n: int, ended: bool) -> Iterator[Reading]:
        """Read out a graph if it joins any samples."""
        if low_rank.defect(state, graph) is not None:
            return
        learned = LearnedGraph(Z=state.Z, J=state.J, identities=candidates.identities)
        readout = replace(PRESETS["authors"].readout, graph_from=graph, n_clusters=self.dataset.n_clusters)
        placed, y = place(learned, readout), self.dataset.y
        for score in SCORES[self.data]:
            how = replace(readout, restart_score=score)
            labels = cluster(placed, how, random_state=np.random.RandomState(0)).labels
            figures = (round(100 * measure(y, labels), 2) for measure in (accuracy, nmi))
            yield Reading(n, bool(ended), graph, score, *figures)


def draw(number: int) -> dict[str, Any]:
    """Return the setting of this number."""
    rng = np.random.default_rng([0, number])
    numbers = {name: rounded(10 ** rng.uniform(*np.log10(ends))) for name, ends in RANGES.items()}
    return {**numbers, **{name: words[rng.integers(len(words))] for name, words in WORDS.items()}}


def draw_coded(number: int) -> dict[str, Any]:
    """Return the setting of this number with everything but the four numbers and the kernels as in the code."""
    rng = np.random.default_rng([2, number])
    numbers = {name: rounded(10 ** rng.uniform(*np.log10(ends))) for name, ends in CODED_RANGES.items()}
    words = {name: choices[0] for name, choices in WORDS.items()}
    return {**numbers, **words, "bank": WORDS["bank"][rng.integers(len(WORDS["bank"]))]}


def near(number: int, lines: Sequence[Line]) -> tuple[dict[str, Any], Reading]:
    """Return a setting near one of the best, and the reading that is to be passed."""
    rng = np.random.default_rng([1, number])
    ranked = sorted((line for line in lines if line.best), key=lambda line: -line.best.merit)[:BEST]
    line = ranked[min(int(rng.exponential(1.5)), len(ranked) - 1)]
    spread = SPREAD * rng.choice([0.25, 1.0, 2.0])
    factors = {name: 10 ** (rng.normal(0, spread) * (rng.random() < 0.7)) for name in RANGES}
    return {**line.setting, **{name: rounded(line.setting[name] * by) for name, by in factors.items()}}, line.best


def rounded(value: float) -> float:
    """Return a number with four digits, as experiments have them."""
    return float(f"{value:.4g}")


def search(data: str, n_drawn: int, n_coded: int, n_near: int, given: Sequence[dict[str, Any]] = ()) -> None:
    """Add the lines of given settings, and those that are missing to so many others."""
    lines = [line for line in read_lines() if line.data == data]
    trajectories = Trajectories(data)

    def add(kind: str, setting: dict[str, Any], steps: Iterable[int], graphs: Sequence[str]) -> None:
        lines.append(Line(data, kind, setting, tuple(trajectories.follow(setting, steps, graphs))))
        with LINES.open("a") as file:
            print(lines[-1], file=file)

    few = [step for step in STEPS if step <= MOST[data]]
    for number in range(sum(line.kind == "drawn" for line in lines), n_drawn):
        add("drawn", draw(number), few, ("J", "Z"))
    for number in range(sum(line.kind == "coded" for line in lines), n_coded):
        add("coded", draw_coded(number), [FIRST, MOST[data]], ("J",))
    for setting in given:
        add("given", setting, few, ("J", "Z"))
    for number in range(sum(line.kind == "near" for line in lines), n_near):
        setting, best = near(number, lines)
        add("near", setting, range(max(best.n_iter - 1, FIRST), best.n_iter + 3), (best.graph_from,))


def read_lines() -> list[Line]:
    """Return what was found so far."""
    return [Line.of(text) for text in LINES.read_text().splitlines()] if LINES.exists() else []


def table(lines: Sequence[Line]) -> Iterator[str]:
    """Yield one row per cell and kind of setting."""
    names = ("Data", "Method", "Measure", "Published", "Settings", "learned", "read out")
    yield "| " + " | ".join([*names, "50 %", "90 %", "99 %", "best", "within 1 point", "best setting"]) + " |"
    yield "| --- | --- | --- | ---: | --- " + "| ---: " * 7 + "| --- |"
    titles = {name: title for title, name in RECORD_NAMES.items()}
    for data, method in CELLS.items():
        mine = [line for line in lines if line.data == data]
        for measure in ("acc", "nmi"):
            published = TABLE_2[measure][titles[data]][method].value
            for kind, chosen in kinds(mine).items():
                if chosen:
                    start = [titles[data], method, measure.upper(), f"{published:.2f}", kind]
                    yield "| " + " | ".join([*start, *figures(chosen, measure, published)]) + " |"


def kinds(lines: Sequence[Line]) -> dict[str, list[tuple[Line, Reading]]]:
    """Return the readings of each kind."""
    every = [(line, reading) for line in lines for reading in line.readings]
    drawn, coded = ([pair for pair in every if pair[0].kind == kind] for kind in ("drawn", "coded"))
    return {
        "drawn": drawn,
        "drawn, ended by the rule": [(line, reading) for line, reading in drawn if reading.ended],
        "drawn, all else as in the code": coded,
        "given, and near the best": [pair for pair in every if pair[0].kind in ("given", "near")],
    }


def figures(chosen: Sequence[tuple[Line, Reading]], measure: str, published: float) -> Iterator[str]:
    """Yield the entries of a row."""
    values = np.array([getattr(reading, measure) for _, reading in chosen])
    yield str(len({str(line) for line, _ in chosen}))
    yield str(len(values))
    yield from (f"{value:.2f}" for value in [*np.percentile(values, [50, 90, 99]), values.max()])
    yield str(int((values >= published - 1).sum()))
    line, reading = chosen[int(values.argmax())]
    words = {**line.setting, "graph_from": reading.graph_from, "max_iter": reading.n_iter}
    yield ", ".join(f"{name} {value}" for name, value in {**words, "restart_score": reading.restart_score}.items())


def main() -> None:
    """Search, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", choices=CELLS)
    parser.add_argument("--drawn", type=int, default=0, help="settings from the ranges")
    parser.add_argument("--coded", type=int, default=0, help="settings from ranges for the code as it is")
    parser.add_argument("--given", type=json.loads, default=[], nargs="*", help="settings by hand, as JSON objects")
    parser.add_argument("--near", type=int, default=0, help="settings near the best")
    asked = parser.parse_args()
    if asked.data is not None:
        search(asked.data, asked.drawn, asked.coded, asked.near, asked.given)
    written = ["# Settings of LKG in four cells of Table 2", "", *table(read_lines()), ""]
    (OUT / "lkg_cells.md").write_text("\n".join(written))


if __name__ == "__main__":
    main()
