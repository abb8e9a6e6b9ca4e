"""What LKG does without labels, on data of twelve kinds: ``python -m benchmarks.judge``.

Four constants of the defaults are tried at several values on all data sets; those that are best on the mean of the
other kinds are judged on the kind that is left out, and stand beside what the library does. The form of the rule, its
other constants, the search and the number of clusters are not chosen so: they are judged as they are, on data that they
were found on. The same run compares the
defaults with scikit-learn, the search with the defaults, the number of clusters that is chosen with the true one, and
the reliability with the adjusted Rand index. Data sets are done one by one, and those in the file of results are not
done again. KERNELBRAID_DATA names the folder with the data sets of the paper and, in its folder dev, with more.
"""

import argparse
import itertools
import json
import math
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn import datasets as bundled
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.preprocessing import StandardScaler, normalize
from threadpoolctl import threadpool_limits

from kernelbraid import LKG, LKGSearch
from kernelbraid.datasets import load, npz
from kernelbraid.datasets.made import MADE
from kernelbraid.learning.candidates import Candidates, Views
from kernelbraid.learning.learn import learn
from kernelbraid.learning.readout import CUTS, PlacedGraph, place
from kernelbraid.learning.settings import LEAST_ALPHA, NEIGHBORS, SAMPLES_PER_ALPHA, Settings
from kernelbraid.metrics import accuracy, agreement, ari
from kernelbraid.solvers.pieces import CLOSENESS, PIECES, cut, join, settle

RESULTS = Path(__file__).parent / "results"
SEEDS = (0, 1, 2)
#: Values of the constants; the library's are among them. Pieces of one a cluster are k-means.
SCALES, FEW, POWERS, NUMBERS = (125, 250, 500), (5, 7, 10), (0.7, 0.85, 1.0), (1, 2, 3)
DEFAULT = (SAMPLES_PER_ALPHA, NEIGHBORS[0], CLOSENESS, PIECES)
RIVALS = ("KMeans", "SC-knn", "KMeans, unit rows", "SC-knn, unit rows")
REAL = {
    "faces": ("yale", "jaffe", "orl", "ar"),
    "letters": ("ba",),
    "texts": ("tr11", "tr41", "tr45"),
    "more faces": ("warpar10p", "warppie10p", "pixraw10p", "orlraws10p", "umist"),
    "more texts": ("pcmac", "relathe"),
    "genes": ("colon", "lymphoma", "leukemia", "nci9", "prostate", "allaml", "arcene"),
    "tables": ("iris", "iris, standardised", "wine, standardised", "breast cancer, standardised", "digits"),
}
PAPER = (*REAL["faces"], *REAL["letters"], *REAL["texts"], "tdt2")
MORE = (*REAL["more faces"], *REAL["more texts"], *REAL["genes"])
Samples = np.ndarray | sparse.csr_array
Choice = tuple[float, int, float, int]
Row = dict[str, Any]


def groups() -> dict[str, list[str]]:
    """Return the data sets of every kind."""
    found = {kind: list(names) for kind, names in REAL.items()}
    for name, made in MADE.items():
        found.setdefault(f"made {made.group}", []).append(name)
    return found


def read(name: str) -> tuple[Samples, np.ndarray]:
    """Return samples and classes of a data set."""
    if name in MORE:
        content = npz.read(npz.data_folder() / "dev" / f"{name}.npz")
        return content.views[0], np.unique(content.y, return_inverse=True)[1]
    if name in REAL["tables"]:
        table, _, scaled = name.partition(", ")
        X, y = getattr(bundled, f"load_{table.replace(' ', '_')}")(return_X_y=True)
        return StandardScaler().fit_transform(X) if scaled else X, y
    dataset = load(name)
    return dataset.views[0], dataset.y


def tried() -> list[Choice]:
    """Return every combination of values; the power says nothing where there is one piece a cluster."""
    every = itertools.product(SCALES, FEW, POWERS, NUMBERS)
    return [choice for choice in every if choice[3] > 1 or choice[2] == CLOSENESS]


def judge(name: str, *, rivals: bool = True) -> Row:
    """Return what was measured on one data set."""
    X, y = read(name)
    k = int(y.max()) + 1
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "name": name,
            "n_samples": int(X.shape[0]),
            "n_clusters": k,
            "tried": [[*choice, score] for choice, score in try_constants(X, y, k)],
            "rivals": beside(X, y, k) if rivals else {},
            **users(X, y, k),
        }


def try_constants(X: Samples, y: np.ndarray, k: int) -> Iterator[tuple[Choice, float]]:
    """Yield the accuracy with every combination of constants, in per cent, a mean over seeds."""
    candidates = Views([X]).pose("auto")
    small = Settings.of({"preset": "recommended"}).sized(candidates.n_samples, k).readout.n_neighbors != NEIGHBORS[1]
    for scale in SCALES:
        scores: dict[tuple[float, int], float] = {}
        for few in FEW:
            if small or not scores:  # otherwise clusters are large, and the number of edges is that of all
                scores = score_ways(place_with(candidates, k, scale, few if small else NEIGHBORS[1]), y, k)
            yield from (((scale, few, power, number), score) for (power, number), score in scores.items())


def place_with(candidates: Candidates, k: int, scale: float, n_neighbors: int) -> PlacedGraph:
    """Return the embedding of the graph with a weight of the penalty and a number of edges."""
    n = candidates.n_samples
    alpha = max(n / (scale * math.sqrt(k)), LEAST_ALPHA)
    few = min(n_neighbors, max(n // k - 1, 2))
    settings = Settings.of({"preset": "recommended", "alpha": alpha, "n_neighbors": few}).sized(n, k)
    return place(learn(candidates, settings.learning), settings.readout)


def score_ways(placed: PlacedGraph, y: np.ndarray, k: int) -> dict[tuple[float, int], float]:
    """Return the accuracy of clusters as the library finds them, for every power and number of pieces."""
    X, found = placed.embedding, defaultdict(list)
    for number, seed in itertools.product(NUMBERS, SEEDS):
        n_pieces, random_state = min(number * k, X.shape[0]), np.random.RandomState(seed)
        cuts = cut(X, n_pieces, n_cuts=CUTS, n_init=4, random_state=random_state)
        for power in POWERS if number > 1 else (CLOSENESS,):
            joined = [settle(placed.graph, join(placed.graph, pieces, k, closeness=power)) for pieces in cuts]
            found[power, number].append(100 * accuracy(y, joined[int(np.argmax(agreement(joined)))]))
    return {way: float(np.mean(scores)) for way, scores in found.items()}


def beside(X: Samples, y: np.ndarray, k: int) -> dict[str, list[float]]:
    """Return accuracy and adjusted Rand index of scikit-learn, rows as given and of unit length."""
    found: dict[str, list[float]] = {}
    for unit, data in (("", X), (", unit rows", normalize(X))):
        makes: Mapping[str, Callable[[int], Any]] = {
            "KMeans": lambda seed: KMeans(k, n_init=10, random_state=seed),
            "SC-knn": lambda seed: SpectralClustering(k, affinity="nearest_neighbors", random_state=seed),
        }
        for method, make in makes.items():
            labels = [make(seed).fit_predict(data) for seed in SEEDS]
            found[method + unit] = mean_scores(y, labels)
    return found


def mean_scores(y: np.ndarray, labellings: Sequence[np.ndarray]) -> list[float]:
    """Return accuracy in per cent, and the adjusted Rand index, means over clusterings."""
    return [
        100 * float(np.mean([accuracy(y, labels) for labels in labellings])),
        float(np.mean([ari(y, labels) for labels in labellings])),
    ]


def users(X: Samples, y: np.ndarray, k: int) -> Row:
    """Return what the library does as users call it: default, search, and the number of clusters."""
    started = time.perf_counter()
    fits = [LKG(k, random_state=seed).fit(X) for seed in SEEDS]
    seconds = (time.perf_counter() - started) / len(fits)
    searches = [LKGSearch(k, random_state=seed).fit(X) for seed in SEEDS]
    started = time.perf_counter()
    chosen = LKG("auto", random_state=0).fit(X)
    return {
        "LKG": [*mean_scores(y, [fit.labels_ for fit in fits]), float(np.mean([fit.reliability_ for fit in fits]))],
        "LKGSearch": [
            *mean_scores(y, [search.labels_ for search in searches]),
            float(np.mean([search.reliability_ for search in searches])),
        ],
        "by label": [100 * float(np.mean([max(accuracy(y, own) for own in s.candidate_labels_) for s in searches]))],
        "auto": [int(chosen.n_clusters_), (time.perf_counter() - started) / seconds],
        "seconds": seconds,
    }


def run(names: Sequence[str], store: Path, n_jobs: int) -> list[Row]:
    """Judge data sets that are not in the file yet; append each when it is done."""
    store.touch()
    found = [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]
    done = {row["name"] for row in found}
    with ProcessPoolExecutor(n_jobs) as pool, store.open("a", encoding="utf-8") as file:
        for row in pool.map(judge, [name for name in names if name not in done]):
            file.write(json.dumps(row) + "\n")
            file.flush()
            found.append(row)
    return [row for row in found if row["name"] in names]


def mean_of_kinds(scores: Mapping[str, float], kinds: Mapping[str, str]) -> float:
    """Return the mean over kinds of the means over their data sets."""
    by_kind = defaultdict(list)
    for name, score in scores.items():
        by_kind[kinds[name]].append(score)
    return float(np.mean([np.mean(values) for values in by_kind.values()]))


def leave_out(rows: Sequence[Row], kinds: Mapping[str, str]) -> dict[str, Choice]:
    """Return for each kind the constants that are best on the mean of the other kinds."""
    scores = {row["name"]: {tuple(line[:-1]): line[-1] for line in row["tried"]} for row in rows}
    chosen = {}
    for kind in sorted(set(kinds.values())):
        others = [name for name in scores if kinds[name] != kind]
        means = {
            choice: mean_of_kinds({name: scores[name][choice] for name in others}, kinds)
            for choice in map(tuple, tried())
        }
        chosen[kind] = max(means, key=lambda choice: means[choice])
    return chosen


def table(header: Sequence[str], lines: Sequence[Sequence[Any]]) -> list[str]:
    """Return a table in Markdown; numbers have one digit."""
    words = [[f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in line] for line in lines]
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return ["| " + " | ".join(cells) + " |" for cells in (header, rule, *words)]


def write(rows: Sequence[Row], path: Path) -> None:
    """Write what was found as a page."""
    rows = [row for row in rows if row["name"] != "tdt2"]
    kinds = {name: kind for kind, names in groups().items() for name in names}
    by_kind = {kind: [row for row in rows if kinds[row["name"]] == kind] for kind in groups()}
    chosen = leave_out(rows, kinds)
    constants = {row["name"]: {tuple(line[:-1]): line[-1] for line in row["tried"]} for row in rows}
    lines = []
    for kind, own in by_kind.items():
        rival = max(float(np.mean([row["rivals"][name][0] for row in own])) for name in RIVALS)
        out = float(np.mean([constants[row["name"]][chosen[kind]] for row in own]))
        means = [float(np.mean([row[what][0] for row in own])) for what in ("LKG", "LKGSearch")]
        lines.append([kind, len(own), *means, rival, out, ", ".join(f"{value:g}" for value in chosen[kind])])
    names = ["kind", "sets", "LKG", "LKGSearch", "best of scikit-learn", "constants of the others", "which"]
    total = ["mean of kinds", len(rows), *(float(np.mean([line[at] for line in lines])) for at in range(2, 6)), ""]
    told = [
        "# Without labels",
        "",
        "Accuracy in per cent, seeds 0 to 2, true number of clusters. The best of scikit-learn is the best of k-means",
        "and neighbour spectral clustering on the rows as given or of unit length, for each kind. The last two columns",
        "have the constants that are best on all other kinds: samples for each unit of alpha (times the root of the",
        f"clusters), edges where clusters are small, power of the volumes, pieces a cluster; ours are {DEFAULT}.",
        "",
        *table(names, [*lines, total]),
        "",
        *summary(rows, kinds),
        "",
        "## Every data set",
        "",
        *table(
            ["data", "samples", "clusters", "LKG", "LKGSearch", *RIVALS, "chosen number", "reliability"],
            [
                [
                    row["name"], row["n_samples"], row["n_clusters"], row["LKG"][0], row["LKGSearch"][0],
                    *(row["rivals"][name][0] for name in RIVALS), row["auto"][0], f"{row['LKG'][2]:.2f}",
                ]
                for row in rows
            ],
        ),
    ]  # fmt: skip
    path.write_text("\n".join(told) + "\n", encoding="utf-8")


def summary(rows: Sequence[Row], kinds: Mapping[str, str]) -> list[str]:
    """Return the figures that stand for all data sets."""

    def mean(what: str, names: Sequence[str] | None = None) -> float:
        return float(np.mean([row[what][0] for row in rows if names is None or row["name"] in names]))

    flat = [row for row in rows if kinds[row["name"]] == "made shapes"]
    ours = np.mean([row["LKG"][1] for row in flat])
    theirs = np.mean([row["rivals"]["SC-knn"][1] for row in flat])
    near = [abs(row["auto"][0] - row["n_clusters"]) <= max(1, 0.15 * row["n_clusters"]) for row in rows]
    ratios = [row["auto"][1] for row in rows]
    told = [
        f"- Sets of the paper without TDT2: LKG {mean('LKG', PAPER):.1f}, LKGSearch {mean('LKGSearch', PAPER):.1f}; "
        f"the 14 others with one view: {mean('LKG', MORE):.1f} and {mean('LKGSearch', MORE):.1f}; all: "
        f"{mean('LKG'):.1f} and {mean('LKGSearch'):.1f}; the best setting of the search on each set, by its classes: "
        f"{mean('by label'):.1f}.",
        f"- Shapes in two and three dimensions, mean adjusted Rand index: {ours:.3f}, SC-knn {theirs:.3f}.",
        f'- `n_clusters="auto"`: within 15 % of the true number, or one, on {sum(near)} of {len(near)} sets, in '
        f"{np.median(ratios):.0f} times the time of a fit (median; largest {max(ratios):.0f}).",
    ]
    for what in ("LKG", "LKGSearch"):
        correlation = stats.spearmanr([row[what][2] for row in rows], [row[what][1] for row in rows]).statistic
        told.append(
            f"- `reliability_` of {what} and adjusted Rand index, rank correlation over all sets: {correlation:.2f}."
        )
    return told


def main() -> None:
    """Judge, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", help="names of data sets; all but TDT2 by default")
    parser.add_argument("--jobs", type=int, default=2, help="processes, each with one thread")
    parser.add_argument("--store", type=Path, default=RESULTS / "judge.jsonl", help="file that is resumed")
    parser.add_argument("--out", type=Path, default=RESULTS / "judge.md", help="page that is written")
    arguments = parser.parse_args()
    names = [name for own in groups().values() for name in own]
    rows = run(arguments.sets or names, arguments.store, arguments.jobs)
    if {row["name"] for row in rows} >= set(names):
        write(sorted(rows, key=lambda row: names.index(row["name"])), arguments.out)


if __name__ == "__main__":
    main()
