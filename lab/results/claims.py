"""What the paper claims, judged by records: of methods, of what each part of LKG contributes, and of bad data."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from functools import partial
from statistics import fmean

from lab.records import ABLATED, Record, outside_study
from lab.results import figures, robustness
from lab.results.comparison import LATER, Compared, compared
from lab.results.pools import Pools, as_published, pools
from lab.results.published import DATA, NINE, TABLE_2, is_published
from lab.results.significance import NOT_TESTED, Figures, Verdict, judge
from lab.results.table import EMPTY, Footnotes, Picture, Table, headed, show

LKGR, WHOLE = "LKGr", f"LKGr{ABLATED}whole"
#: What the paper claims of a part of LKGr, by the method without that part.
PARTS = {
    f"LKGr{ABLATED}no-rank": "The low-rank term on the kernel helps.",
    f"LKGr{ABLATED}bound": "A kernel near the combination is better than the combination itself.",
    f"LKGr{ABLATED}average": "Learned weights are better than the plain average kernel.",
    f"LKGr{ABLATED}one-kernel": "Several kernels are better than the best single one (picked by label).",
    f"LKGr{ABLATED}in-turn": "Kernel and graph learned together are better than one after the other.",
}
#: Methods on several kernels, and the same on one.
TWINS = {"MKKM": "KKM", "RMKKM": "RKKM", "SCMK": "SCSK"}
#: What users have, in words.
PLAIN = {"KMeans": "k-means", "SC-knn": "spectral clustering on neighbours, untuned"}


def claims(records: Sequence[Record]) -> Iterator[Table | Picture]:
    """Yield the verdicts and the figures behind them; nothing where no record was made for a claim.

    On other data than the paper's there are only those claims of ours that were tested.
    """
    tested = outside_study(records)
    altered = [record for record in tested if record.trial.altered and record.trial.scoring == "best100"]
    if not altered:
        return
    parts, steps = pools(record for record in altered if not record.trial.changes), robustness.collect_steps(altered)
    weights = robustness.collect_weights(steps)
    judged = [
        *_on_methods([record for record in tested if not record.trial.altered]),
        *_on_later_methods(compared(records)),
        *(judge(claim, *_at_shared_settings(parts, method)) for method, claim in PARTS.items()),
        *robustness.on_changes(steps),
        *robustness.on_weights(weights),
    ]
    if not is_published(record.trial.data for record in tested):
        judged = [one for one in judged if one.verdict != NOT_TESTED and not one.claim.endswith("(published).")]
    if judged:
        yield headed("claims", ("Claim", "Verdict", "Evidence"), map(astuple, judged))
    if parts:
        yield ablation_table(parts)
    if steps:
        yield robustness.levels_table(steps)
        title = "Mean accuracy on data made worse"
        found = {change: robustness.accuracies_by_level(steps, change) for change in robustness.CHANGES}
        yield Picture("robustness", title, partial(figures.lines, title, found))
    if weights:
        yield robustness.weights_table(weights)


def _on_methods(records: Sequence[Record]) -> Iterator[Verdict]:
    """Judge what Table 2 says: published figures, and ours."""
    grid = TABLE_2["acc"]
    published = {method: {data: grid[data][method].value for data in DATA} for method in grid["YALE"]}
    results = pools(as_published(records))
    ours = {method: results.figures(method, "acc", NINE) for method in (*published, *PLAIN)}
    for several, one in TWINS.items():
        claim = f"Several kernels are better than one: {several} against {one} on its best kernel"
        yield judge(f"{claim} (published).", published[several], published[one])
        yield judge(f"{claim} (ours).", ours[several], ours[one])
    for rival in ("SCMK", "SCSK", "SSR"):
        yield judge(f"{LKGR} is better than {rival} (published).", published[LKGR], published[rival])
    for rival, words in PLAIN.items():
        yield judge(f"{LKGR}, label-tuned, is better than scikit-learn's {words} (ours).", ours[LKGR], ours[rival])


def _on_later_methods(found: Compared) -> Iterator[Verdict]:
    """Compare LKGr with what came after the paper, neither tuned, on all data sets that both were run on."""
    ours = found.clean_figures(LKGR)
    for rival in LATER:
        yield judge(f"{LKGR} is better than {rival}, both as they come (ours).", ours, found.clean_figures(rival))


def ablation_table(results: Pools) -> Table:
    """Return accuracies of LKGr as a whole and without each part."""
    notes, methods = Footnotes(), [WHOLE, *PARTS]
    rows = []
    for title, name in robustness.titles_of(results).items():
        rows.append((title, *(_show_part(results, name, method, f"{title}, {method}", notes) for method in methods)))
    means = [results.accuracies(method) for method in methods]
    shared = [name for name in results.data if any(means) and all(name in found for found in means if found)]
    if shared:
        shown = (show(fmean(found[name] for name in shared), 2) if found else EMPTY for found in means)
        rows.append((f"mean of {len(shared)}", *shown))
    return headed("ablation", ("Data", *methods), rows, *notes.notes())


def _show_part(results: Pools, name: str, method: str, where: str, notes: Footnotes) -> str:
    """Return a cell, with a note where settings of the whole are missing."""
    pool, whole = results[name, method], results[name, WHOLE].settings
    text, missing = pool.best("acc").show(where, notes), whole - pool.settings
    if not pool.outcomes or not missing:
        return text
    return f"{text} {notes.mark(f'without {len(missing)} of the {len(whole)} settings of {WHOLE}', where)}"


def _at_shared_settings(results: Pools, method: str) -> tuple[Figures, Figures]:
    """Return accuracies of the whole and of a part, each the best over the settings that both have on a data set."""
    found: tuple[dict[str, float], dict[str, float]] = ({}, {})
    for name in results.data:
        shared = results[name, WHOLE].settings & results[name, method].settings
        for accuracies, which in zip(found, (WHOLE, method), strict=True) if shared else ():
            outcomes = results[name, which].outcomes
            accuracies[name] = 100 * max(each.scores["acc"] for each in outcomes if each.setting in shared)
    return found
