"""What bad data do to LKG and to others: noise, outliers, useless views, a corrupted kernel."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean
from typing import TypeAlias

from lab.records import ABLATED, Record
from lab.results.pools import Pools, pools, state
from lab.results.published import PROPOSED, RECORD_NAMES
from lab.results.significance import NOT_TESTED, Figures, Verdict, count_data, in_words, mean_gap
from lab.results.table import Table, headed, show

LKGR = "LKGr"
#: Changes of the data, and what the paper claims LKG to be robust to.
CHANGES = {
    "noise": "noise in the samples",
    "outliers": "outliers among the samples",
    "useless_views": "views that say nothing",
    "shuffled": "a corrupted kernel",
}
# Names of a corrupted kernel, where there is one view and where there are several.
CORRUPTED = ("{}", "view 1: {}")

#: Results by change of the data and its level.
Steps: TypeAlias = Mapping[tuple[str, float], Pools]
#: By data, method and level: weights of the shuffled kernel, and what an even one would be.
Weights: TypeAlias = Mapping[tuple[str, str, float], list[tuple[float, float]]]


def collect_steps(records: Iterable[Record]) -> Steps:
    """Sort records by change and level."""
    groups: dict[tuple[str, float], list[Record]] = defaultdict(list)
    for record in records:
        for name, level in record.trial.changes.items():
            if name in CHANGES:
                groups[name, float(level)].append(record)
    return {step: pools(groups[step]) for step in sorted(groups)}


def collect_weights(steps: Steps) -> Weights:
    """Sort the weights of the shuffled kernel in sound fits by data, method and level."""
    found: dict[tuple[str, str, float], list[tuple[float, float]]] = defaultdict(list)
    for (change, level), results in steps.items():
        outcomes = [outcome for pool in results.values() for outcome in pool.outcomes if change == "shuffled"]
        for record in (record for outcome in outcomes for record in outcome.records if state(record) == "done"):
            for name in (each.format(record.trial.changes["kernel"]) for each in CORRUPTED):
                if name in record.learned:
                    place = (record.trial.data, record.trial.method, level)
                    found[place].append((record.learned[name], 1 / len(record.learned)))
    return found


def levels_table(steps: Steps) -> Table:
    """Return accuracies for every level of every change."""
    methods, rows = sorted({method for results in steps.values() for method in results.methods}), []
    for (change, level), results in steps.items():
        for title, name in titles_of(results).items():
            found = (results.accuracies(method).get(name) for method in methods)
            rows.append((title, change, f"{level:g}", *(show(value, 2) for value in found)))
    return headed("robustness", ("Data", "Change", "Level", *methods), rows)


def titles_of(results: Pools) -> dict[str, str]:
    """Return titles and record names of the data sets that have results, those of the paper first."""
    known = {title: name for title, name in RECORD_NAMES.items() if name in results.data}
    return known | {name: name for name in results.data if name not in known.values()}


def accuracies_by_level(steps: Steps, change: str) -> dict[str, dict[float, float]]:
    """Return accuracies in per cent by method and level of a change, over the data sets that all have at all levels.

    A method that was not run at all levels is left out.
    """
    levels = _levels(steps, change)
    methods = sorted({method for results in levels.values() for method in results.methods})
    lines = {method: [results.accuracies(method) for results in levels.values()] for method in methods}
    lines = {method: line for method, line in lines.items() if all(line)}
    shared = set.intersection(*(set(found) for line in lines.values() for found in line)) if lines else set()
    return {
        method: {level: fmean(found[name] for name in shared) for level, found in zip(levels, line, strict=True)}
        for method, line in lines.items()
        if shared
    }


def on_changes(steps: Steps) -> Iterator[Verdict]:
    """Compare what bad data cost LKGr with what they cost the methods that are no form of LKG."""
    for change, what in CHANGES.items():
        levels = _levels(steps, change)
        costs = _costs(levels)
        own = costs.get(LKGR, {})
        others = {method: lost for method, lost in costs.items() if method.partition(ABLATED)[0] not in PROPOSED}
        gaps = [mean_gap(lost, own) for lost in others.values() if any(name in own for name in lost)]
        if not gaps:
            missing = "one level only" if len(levels) == 1 else "no records"
            yield Verdict(f"LKG is robust to {what}.", NOT_TESTED, missing)
            continue
        means = sorted((fmean(lost.values()), method) for method, lost in others.items() if lost)
        evidence = (
            f"from level {min(levels):g} to {max(levels):g} {LKGR} loses {fmean(own.values()):.1f} points on "
            f"average over {count_data(own)}; {', '.join(f'{method} {lost:.1f}' for lost, method in means)}"
        )
        yield Verdict(f"LKG is robust to {what}, more than the others.", in_words(min(gaps)), evidence)


def _levels(steps: Steps, change: str) -> dict[float, Pools]:
    return {level: results for (name, level), results in steps.items() if name == change}


def _costs(levels: Mapping[float, Pools]) -> dict[str, Figures]:
    """Return points of accuracy that are lost from the lowest level to the highest, by method and data set."""
    if len(levels) < 2:
        return {}
    best, worst = levels[min(levels)], levels[max(levels)]
    costs: dict[str, Figures] = {}
    for method in best.methods:
        before, after = best.accuracies(method), worst.accuracies(method)
        costs[method] = {name: before[name] - after[name] for name in before if name in after}
    return costs


def weights_table(weights: Weights) -> Table:
    """Return the learned weight of the corrupted kernel beside an even one."""
    rows = []
    for (data, method, level), pairs in sorted(weights.items()):
        below = sum(weight < even for weight, even in pairs)
        mean, even = fmean(weight for weight, _ in pairs), pairs[0][1]
        rows.append((data, method, f"{level:g}", f"{mean:.4f}", f"{even:.4f}", f"{below} of {len(pairs)}"))
    header = ("Data", "Method", "Shuffled share", "Mean weight", "1/m", "Fits below 1/m")
    return headed("corrupted_kernel", header, rows)


def on_weights(weights: Weights) -> Iterator[Verdict]:
    """Judge by how often the weight of a corrupted kernel is below an even one at the highest level."""
    claim = "A corrupted kernel gets a small weight (below 1/m)"
    by_method: dict[str, dict[float, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for (_, method, level), pairs in weights.items():
        by_method[method][level] += pairs
    corrupted = {method: levels for method, levels in sorted(by_method.items()) if max(levels) > 0}
    if not corrupted:
        yield Verdict(f"{claim}.", NOT_TESTED, "no records")
    for method, levels in corrupted.items():
        worst, clean = levels[max(levels)], levels.get(0, [])
        share = sum(weight < even for weight, even in worst) / len(worst)
        before = f"; {fmean(weight for weight, _ in clean):.3f} when it is sound" if clean else ""
        evidence = (
            f"mean weight {fmean(weight for weight, _ in worst):.3f} at level {max(levels):g}{before}; below 1/m in "
            f"{100 * share:.0f} % of {len(worst)} fits"
        )
        yield Verdict(f"{claim}: {method}.", "holds" if share > 0.5 else "fails", evidence)
