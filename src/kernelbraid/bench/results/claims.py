"""What the paper claims, judged by records: what each part of LKG contributes, and what bad data do to it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from kernelbraid.bench.records.record import ABLATED, Record
from kernelbraid.bench.results.comparison import LATER, Compared
from kernelbraid.bench.results.judging import LEVEL, MARGIN, NOT_TESTED, Verdict, count_data, judge, mean_gap
from kernelbraid.bench.results.published import DATA, RECORD_NAMES, TABLE_2, is_published
from kernelbraid.bench.results.published import PROPOSED as FORMS
from kernelbraid.bench.results.selection import AS_PUBLISHED, Conditions, Pools, pools, state
from kernelbraid.bench.results.table import EMPTY, Footnotes, Table
from kernelbraid.bench.results.tables import figures, show_cell
from kernelbraid.kernels import split_name

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
ROBUSTNESS_NOTE = (
    "Accuracy in per cent, label-tuned at every level, mean over the seeds. Noise: in deviations of the entries. "
    "Outliers: the share of the samples that are replaced by uniform noise; they are not scored. Useless views: how "
    "many of nothing but noise are added. Shuffled: the share of the samples that change places in one kernel."
)


def verdicts(records: Sequence[Record]) -> list[Verdict]:
    """Return one verdict per claim; of the study those records count that compare all methods as they come."""
    tested = _of_claims(records)
    return [
        *_on_methods(tested),
        *_on_later_methods(records),
        *_on_parts(tested),
        *_on_robustness(tested),
        *_on_weights(tested),
    ]


def _of_claims(records: Iterable[Record]) -> list[Record]:
    """Return the records that are not of the study."""
    return [record for record in records if not record.trial.study]


def claim_tables(records: Sequence[Record]) -> list[Table]:
    """Return the verdicts and the figures behind them; nothing where no record was made for a claim.

    On other data than the paper's there are only those claims that were tested.
    """
    judged, records = verdicts(records), _of_claims(records)
    if not any(record.trial.altered for record in records):
        return []
    if not is_published(record.trial.data for record in records):
        judged = [found for found in judged if found.verdict != NOT_TESTED and not found.claim.endswith("(published).")]
    rows = tuple((found.claim, found.verdict, found.evidence) for found in judged)
    rule = (
        f"A difference of {MARGIN} points of mean accuracy or less is none; p is that of the signed-rank test over the "
        f"data sets, and above {LEVEL} not significant. Whole and parts are compared over the settings that both have."
    )
    scored = (
        "Ours against ours: scored as published; as they come: by the records of all fifteen methods without labels. "
        f"Parts and bad data: scoring {SCORING.scoring} alone."
    )
    first = Table("claims", "The claims of the paper", ("Claim", "Verdict", "Evidence"), rows, (rule, scored))
    behind = [ablation_table(records), robustness_table(records), weights_table(records)]
    return [table for table in (first, *behind) if table.rows]


def ablation_table(records: Sequence[Record]) -> Table:
    """Return accuracies of LKGr as a whole and without each part."""
    results, notes = _ablations(records), Footnotes()
    methods = [WHOLE, *PARTS]
    rows = []
    for title, name in _titles(results).items():
        rows.append((title, *(_show_part(results, name, method, f"{title}, {method}", notes) for method in methods)))
    means = [_accuracies(results, method) for method in methods]
    shared = [name for name in results.data() if any(means) and all(name in found for found in means if found)]
    if shared:
        shown = (f"{fmean(found[name] for name in shared):.2f}" if found else EMPTY for found in means)
        rows.append((f"mean of {len(shared)}", *shown))
    explained = (
        "Accuracy in per cent, best over the settings of the experiment; for one kernel also over the kernels, with "
        "their mean in brackets.",
        *notes.notes(),
    )
    return Table("ablation", "LKGr without one of its parts", ("Data", *methods), tuple(rows), explained)


def _show_part(results: Pools, name: str, method: str, where: str, notes: Footnotes) -> str:
    """Return a cell, with a note where settings of the whole are missing."""
    pool, whole = results[name, method], _settings(results, name, WHOLE)
    text, missing = show_cell(pool.best("acc"), where, notes), whole - _settings(results, name, method)
    if not pool.outcomes or not missing:
        return text
    return f"{text} {notes.mark(f'without {len(missing)} of the {len(whole)} settings of {WHOLE}', where)}"


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
    """Return accuracies in per cent by method and level of a change.

    They are means over the data sets that every method has at every level; a method without such a data set is left
    out.
    """
    steps = {level: results for (name, level), results in _steps(records).items() if name == change}
    found: dict[str, dict[float, dict[str, float]]] = {}
    complete: list[set[str]] = []
    for method in sorted({method for results in steps.values() for method in results.methods()}):
        line = {level: _accuracies(results, method) for level, results in steps.items()}
        names = set.intersection(*map(set, line.values()))
        if names:
            found[method] = line
            complete.append(names)
    shared = sorted(set.intersection(*complete)) if complete else []
    return {
        method: {level: fmean(figures[name] for name in shared) for level, figures in line.items()}
        for method, line in found.items()
        if shared
    }


def _on_methods(records: Sequence[Record]) -> Iterator[Verdict]:
    """Judge what Table 2 says: published figures, and ours."""
    published = {
        method: {data: TABLE_2["acc"][data][method].value for data in DATA} for method in TABLE_2["acc"]["YALE"]
    }
    results = pools(records, Conditions(AS_PUBLISHED))
    ours = {method: figures(results, method, "acc") for method in results.methods()}
    for several, one in TWINS.items():
        claim = f"Several kernels are better than one: {several} against {one} on its best kernel"
        yield judge(f"{claim} (published).", published[several], published[one])
        yield judge(f"{claim} (ours).", ours.get(several, {}), ours.get(one, {}))
    for rival in ("SCMK", "SCSK", "SSR"):
        yield judge(f"{PROPOSED} is better than {rival} (published).", published[PROPOSED], published[rival])
    plain = {"KMeans": "k-means", "SC-knn": "spectral clustering on neighbours, untuned"}
    for rival, words in plain.items():
        yield judge(f"{PROPOSED}, label-tuned, is better than scikit-learn's {words} (ours).", *_pair(ours, rival))


def _on_later_methods(records: Sequence[Record]) -> Iterator[Verdict]:
    """Compare LKGr with what came after the paper, neither tuned, on all data sets that both were run on."""
    found = Compared.of(records)
    for rival in LATER:
        claim = f"{PROPOSED} is better than {rival}, both as they come (ours)."
        yield judge(claim, found.clean_figures(PROPOSED, "acc"), found.clean_figures(rival, "acc"))


def _pair(ours: Mapping[str, Mapping[str, float]], rival: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    return ours.get(PROPOSED, {}), ours.get(rival, {})


def _on_parts(records: Sequence[Record]) -> Iterator[Verdict]:
    results = _ablations(records)
    for method, claim in PARTS.items():
        yield judge(claim, *_at_shared_settings(results, method))


def _at_shared_settings(results: Pools, method: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return accuracies of the whole and of a part, each the best over the settings that both have on a data set."""
    found: tuple[dict[str, float], dict[str, float]] = ({}, {})
    for name in results.data():
        shared = _settings(results, name, WHOLE) & _settings(results, name, method)
        for accuracies, which in zip(found, (WHOLE, method), strict=True):
            same = [each.scores["acc"] for each in results[name, which].outcomes if each.setting in shared]
            if same:
                accuracies[name] = 100 * max(same)
    return found


def _settings(results: Pools, name: str, method: str) -> set[str]:
    return {outcome.setting for outcome in results[name, method].outcomes}


def _on_robustness(records: Sequence[Record]) -> Iterator[Verdict]:
    """Compare what bad data cost LKGr with what they cost the methods that are no form of LKG."""
    steps = _steps(records)
    for change, claim in ROBUST.items():
        levels = [level for name, level in steps if name == change]
        costs = _costs({level: steps[change, level] for level in levels})
        own = costs.get(PROPOSED, {})
        others = {method: lost for method, lost in costs.items() if method.partition(ABLATED)[0] not in FORMS}
        gaps = [mean_gap(lost, own) for lost in others.values() if any(name in own for name in lost)]
        if not gaps:
            yield Verdict(f"{claim}.", NOT_TESTED, "one level only" if len(levels) == 1 else "no records")
            continue
        verdict = "holds" if min(gaps) > MARGIN else "fails" if min(gaps) < -MARGIN else "no difference"
        means = sorted((fmean(lost.values()), method) for method, lost in others.items() if lost)
        evidence = (
            f"from level {min(levels):g} to {max(levels):g} {PROPOSED} loses {fmean(own.values()):.1f} points on "
            f"average over {count_data(own)}; {', '.join(f'{method} {lost:.1f}' for lost, method in means)}"
        )
        yield Verdict(f"{claim}, more than the others.", verdict, evidence)


def _costs(levels: Mapping[float, Pools]) -> dict[str, dict[str, float]]:
    """Return points of accuracy that are lost from the lowest level to the highest, by method and data set."""
    if len(levels) < 2:
        return {}
    best, worst = levels[min(levels)], levels[max(levels)]
    costs = {}
    for method in best.methods():
        before, after = _accuracies(best, method), _accuracies(worst, method)
        costs[method] = {name: before[name] - after[name] for name in before if name in after}
    return costs


def _on_weights(records: Sequence[Record]) -> Iterator[Verdict]:
    claim = "A corrupted kernel gets a small weight (below 1/m)"
    weights = _weights(records)
    corrupted = sorted({method for _, method, level in weights if level > 0})
    if not corrupted:
        yield Verdict(f"{claim}.", NOT_TESTED, "no records")
    for method in corrupted:
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


def _ablations(records: Iterable[Record]) -> Pools:
    return pools((record for record in records if not record.trial.changes), SCORING)


def _steps(records: Iterable[Record]) -> dict[tuple[str, float], Pools]:
    """Return results by change and level."""
    groups: dict[tuple[str, float], list[Record]] = defaultdict(list)
    for record in records:
        for name, level in record.trial.changes.items():
            if name in ROBUST:
                groups[name, float(level)].append(record)
    return {step: pools(groups[step], SCORING) for step in sorted(groups)}


def _weights(records: Iterable[Record]) -> dict[tuple[str, str, float], list[tuple[float, float]]]:
    """Return weights of the shuffled kernel and even ones, by data, method and level."""
    found: dict[tuple[str, str, float], list[tuple[float, float]]] = defaultdict(list)
    for (change, level), results in _steps(records).items():
        outcomes = [outcome for pool in results.values() for outcome in pool.outcomes if change == "shuffled"]
        for record in (record for outcome in outcomes for record in outcome.records if state(record) == "done"):
            worse = [(view, record.trial.changes["kernel"]) for view in (None, 1)]  # the first view, or the only one
            weights = [weight for name, weight in record.learned.items() if split_name(name) in worse]
            pairs = [(weight, 1 / len(record.learned)) for weight in weights]
            found[record.trial.data, record.trial.method, level] += pairs
    return {key: pairs for key, pairs in found.items() if pairs}


def _titles(results: Pools) -> dict[str, str]:
    """Return titles and record names of the data sets that have results, those of the paper first."""
    known = {title: name for title, name in RECORD_NAMES.items() if name in results.data()}
    return known | {name: name for name in results.data() if name not in known.values()}


def _accuracies(results: Pools, method: str) -> dict[str, float]:
    cells = {name: results[name, method].best("acc") for name in results.data()}
    return {name: 100 * cell.value for name, cell in cells.items() if cell.value is not None}
