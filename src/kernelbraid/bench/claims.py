"""What the paper claims, judged by records: what each part of LKG contributes, and what bad data do to it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from kernelbraid.bench.published import DATA, RECORD_NAMES, TABLE_2
from kernelbraid.bench.records import ABLATED, Record
from kernelbraid.bench.select import Conditions, Pools, pools
from kernelbraid.bench.statistics import compare
from kernelbraid.bench.tables import EMPTY, Footnotes, Table, figures, show_cell

WHOLE = f"LKGr{ABLATED}whole"
#: What the paper claims of a part of LKGr, by the method without that part.
PARTS = {
    f"LKGr{ABLATED}no-rank": "The low-rank term on the kernel helps.",
    f"LKGr{ABLATED}bound": "A kernel near the combination is better than the combination itself.",
    f"LKGr{ABLATED}average": "Learned weights are better than the plain average kernel.",
    f"LKGr{ABLATED}one-kernel": "Several kernels are better than the best single one (picked by label).",
    f"LKGr{ABLATED}in-turn": "Kernel and graph learned together are better than one after the other.",
}
#: Changes of the data and what the paper claims of them.
ROBUST = {
    "noise": "LKG is robust to noise in the samples",
    "outliers": "LKG is robust to outliers among the samples",
    "useless_views": "LKG is robust to views that say nothing",
    "shuffled": "LKG is robust to a corrupted kernel",
}
#: Methods on several kernels, and the same on one.
TWINS = {"MKKM": "KKM", "RMKKM": "RKKM", "SCMK": "SCSK"}
PROPOSED = "LKGr"
SCORING = Conditions("best100", altered=True)
MARGIN = 0.5  # points of accuracy: less is no difference
LEVEL = 0.05  # of significance
ROBUSTNESS_NOTE = (
    "Accuracy in per cent, label-tuned at every level, mean over the seeds. Noise: in deviations of the entries. "
    "Outliers: the share of the samples that are replaced by uniform noise; they are not scored. Useless views: how "
    "many of nothing but noise are added. Shuffled: the share of the samples that change places in one kernel."
)


@dataclass(frozen=True)
class Verdict:
    """A claim and what the records say of it."""

    claim: str
    verdict: str  # "holds" or "fails", each perhaps only on average, "no difference" or "not tested"
    evidence: str


def verdicts(records: Sequence[Record]) -> list[Verdict]:
    """Return a verdict a claim."""
    return [*_on_methods(records), *_on_parts(records), *_on_robustness(records), *_on_weights(records)]


def claim_tables(records: Sequence[Record]) -> list[Table]:
    """Return the verdicts and the figures behind them; nothing where no record was made for a claim."""
    if not any(record.trial.altered for record in records):
        return []
    rows = tuple((found.claim, found.verdict, found.evidence) for found in verdicts(records))
    rule = (
        f"A difference of {MARGIN} points of mean accuracy or less is none; p is that of the signed-rank test over the "
        f"data sets, and above {LEVEL} not significant. Whole and parts are compared over the same settings."
    )
    judged = Table("claims", "The claims of the paper", ("Claim", "Verdict", "Evidence"), rows, (rule,))
    return [judged, ablation_table(records), robustness_table(records), weights_table(records)]


def ablation_table(records: Sequence[Record]) -> Table:
    """Return accuracies of LKGr as a whole and without each part."""
    results, notes = _ablations(records), Footnotes()
    methods = [WHOLE, *PARTS]
    rows = []
    for title, name in _titles(results).items():
        shown = (show_cell(results[name, method].best("acc"), f"{title}, {method}", notes) for method in methods)
        rows.append((title, *shown))
    means = [_accuracies(results, method) for method in methods]
    shared = [name for name in means[0] if all(name in found for found in means)]
    rows.append((f"mean of {len(shared)}", *(f"{fmean(found[name] for name in shared):.2f}" for found in means)))
    explained = (
        "Accuracy in per cent, best over the settings of the experiment, the same for all; for one kernel also over "
        "the kernels, with their mean in brackets.",
        *notes.notes(),
    )
    return Table("ablation", "LKGr without one of its parts", ("Data", *methods), tuple(rows), explained)


def robustness_table(records: Sequence[Record]) -> Table:
    """Return accuracies for every level of every change."""
    steps = _steps(records)
    methods = sorted({record.trial.method for record in records if record.trial.changes})
    rows = []
    for (change, level), results in steps.items():
        for title, name in _titles(results).items():
            found = (_accuracies(results, method).get(name) for method in methods)
            rows.append((title, change, f"{level:g}", *(EMPTY if value is None else f"{value:.2f}" for value in found)))
    header = ("Data", "Change", "Level", *methods)
    return Table("robustness", "Accuracy on data made worse", header, tuple(rows), (ROBUSTNESS_NOTE,))


def weights_table(records: Sequence[Record]) -> Table:
    """Return the learned weight of the corrupted kernel beside an even one."""
    rows = []
    for (data, method, level), weights in sorted(_weights(records).items()):
        below = sum(weight < even for weight, even in weights)
        mean, even = fmean(weight for weight, _ in weights), weights[0][1]
        rows.append((data, method, f"{level:g}", f"{mean:.4f}", f"{even:.4f}", f"{below} of {len(weights)}"))
    header = ("Data", "Method", "Shuffled share", "Mean weight", "1/m", "Fits below 1/m")
    note = "Means over all settings and seeds, sound fits only."
    return Table("corrupted_kernel", "Weight of a corrupted kernel", header, tuple(rows), (note,))


def accuracies_by_level(records: Sequence[Record], change: str) -> dict[str, dict[float, float]]:
    """Return accuracies in per cent by method and level of a change: means over the data sets of every level."""
    steps = {level: results for (name, level), results in _steps(records).items() if name == change}
    found: dict[str, dict[float, float]] = {}
    for method in sorted({method for results in steps.values() for method in results.methods()}):
        lines = {level: _accuracies(results, method) for level, results in steps.items()}
        shared = [data for data in next(iter(lines.values())) if all(data in line for line in lines.values())]
        if shared:
            found[method] = {level: fmean(line[data] for data in shared) for level, line in lines.items()}
    return found


def _on_methods(records: Sequence[Record]) -> Iterator[Verdict]:
    """Judge what Table 2 says: published figures, and ours."""
    published = {
        method: {data: TABLE_2["acc"][data][method].value for data in DATA} for method in TABLE_2["acc"]["YALE"]
    }
    ours: dict[str, dict[str, float]] = {}
    for scoring in ("best100", "mean20"):
        results = pools(records, Conditions(scoring))
        ours |= {method: figures(results, method, "acc") for method in results.methods()}
    for several, one in TWINS.items():
        claim = f"Several kernels are better than one: {several} against {one} on its best kernel"
        yield _judge(f"{claim} (published).", published[several], published[one])
        yield _judge(f"{claim} (ours).", ours.get(several, {}), ours.get(one, {}))
    for rival in ("SCMK", "SCSK", "SSR"):
        yield _judge(f"{PROPOSED} is better than {rival} (published).", published[PROPOSED], published[rival])
    plain = {"KMeans": "k-means", "SC-knn": "spectral clustering on neighbours, untuned"}
    for rival, words in plain.items():
        yield _judge(f"{PROPOSED}, label-tuned, is better than scikit-learn's {words} (ours).", *_pair(ours, rival))


def _pair(ours: Mapping[str, Mapping[str, float]], rival: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    return ours.get(PROPOSED, {}), ours.get(rival, {})


def _on_parts(records: Sequence[Record]) -> Iterator[Verdict]:
    results = _ablations(records)
    whole = _accuracies(results, WHOLE)
    for method, claim in PARTS.items():
        yield _judge(claim, whole, _accuracies(results, method))


def _on_robustness(records: Sequence[Record]) -> Iterator[Verdict]:
    """Compare what the worst level costs LKGr with what it costs the others."""
    steps = _steps(records)
    for change, claim in ROBUST.items():
        levels = [level for name, level in steps if name == change]
        costs: dict[str, dict[str, float]] = {}
        for method in sorted({record.trial.method for record in records if change in record.trial.changes}):
            clean, worst = (_accuracies(steps[change, end], method) for end in (min(levels), max(levels)))
            costs[method] = {name: clean[name] - worst[name] for name in clean if name in worst}
        own = costs.pop(PROPOSED, {})
        others = {method: fmean(lost.values()) for method, lost in costs.items() if lost}
        if not own or not others:
            yield Verdict(f"{claim}.", "not tested", "no records")
            continue
        lost, least = fmean(own.values()), min(others.values())
        shown = ", ".join(f"{method} {value:.1f}" for method, value in sorted(others.items(), key=lambda item: item[1]))
        verdict = "holds" if lost < least - MARGIN else "fails" if lost > least + MARGIN else "no difference"
        evidence = (
            f"at level {max(levels):g} {PROPOSED} loses {lost:.1f} points on average over {len(own)} data sets; {shown}"
        )
        yield Verdict(f"{claim}, more than the others.", verdict, evidence)


def _on_weights(records: Sequence[Record]) -> Iterator[Verdict]:
    claim = "A corrupted kernel gets a small weight (below 1/m)"
    weights = _weights(records)
    for method in sorted({method for _, method, _ in weights}):
        highest = max(level for _, name, level in weights if name == method)
        found = [
            pair for (_, name, level), pairs in weights.items() if (name, level) == (method, highest) for pair in pairs
        ]
        clean = [pair for (_, name, level), pairs in weights.items() if (name, level) == (method, 0) for pair in pairs]
        share = sum(weight < even for weight, even in found) / len(found)
        before = f"; {fmean(weight for weight, _ in clean):.3f} when it is sound" if clean else ""
        evidence = (
            f"mean weight {fmean(weight for weight, _ in found):.3f} at level {highest:g}{before}; below 1/m in "
            f"{100 * share:.0f} % of {len(found)} fits"
        )
        yield Verdict(f"{claim}: {method}.", "holds" if share > 0.5 else "fails", evidence)


def _judge(claim: str, first: Mapping[str, float], second: Mapping[str, float]) -> Verdict:
    comparison = compare(first, second, "acc")
    if comparison is None:
        return Verdict(claim, "not tested", "no records")
    gap = fmean(first[name] - second[name] for name in first if name in second)
    verdict = "holds" if gap > MARGIN else "fails" if gap < -MARGIN else "no difference"
    if verdict != "no difference" and comparison.p > LEVEL:
        verdict += " on average, not significantly"
    wins = f"better on {comparison.wins} of {comparison.n} data sets"
    return Verdict(claim, verdict, f"{gap:+.2f} points on average, {wins} (p = {comparison.p:.4f})")


def _ablations(records: Iterable[Record]) -> Pools:
    return pools((record for record in records if not record.trial.changes), SCORING)


def _steps(records: Iterable[Record]) -> dict[tuple[str, float], Pools]:
    """Return results by change and level."""
    groups: dict[tuple[str, float], list[Record]] = defaultdict(list)
    for record in records:
        for name, level in record.trial.changes.items():
            if name in ROBUST:
                groups[name, level].append(record)
    return {step: pools(groups[step], SCORING) for step in sorted(groups)}


def _weights(records: Iterable[Record]) -> dict[tuple[str, str, float], list[tuple[float, float]]]:
    """Return weights of the shuffled kernel and even ones, by data, method and level."""
    found: dict[tuple[str, str, float], list[tuple[float, float]]] = defaultdict(list)
    for record in records:
        trial, learned = record.trial, record.learned
        if trial.changes.get("kernel") in learned and record.status == "converged":
            pair = (learned[trial.changes["kernel"]], 1 / len(learned))
            found[trial.data, trial.method, trial.changes["shuffled"]].append(pair)
    return dict(found)


def _titles(results: Pools) -> dict[str, str]:
    """Return titles and record names of the data sets that have results, those of the paper first."""
    known = {title: name for title, name in RECORD_NAMES.items() if name in results.data()}
    return known | {name: name for name in results.data() if name not in known.values()}


def _accuracies(results: Pools, method: str) -> dict[str, float]:
    cells = {name: results[name, method].best("acc") for name in results.data()}
    return {name: 100 * cell.value for name, cell in cells.items() if cell.value is not None}
