"""What somebody without labels gets: ours as they come and scikit-learn's, and beside them what labels would add.

No figure of ours here is picked by the true classes, unless its row or column is called label-tuned.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from kernelbraid.bench.records.record import SCORINGS, STUDIES, Record
from kernelbraid.bench.results.published import DATA, MEASURES, MULTI_VIEW, RECORD_NAMES, TABLE_2
from kernelbraid.bench.results.selection import Cell, Conditions, Outcome, Pool, Pools, pools
from kernelbraid.bench.results.table import EMPTY, Footnotes, Table, bold
from kernelbraid.bench.results.tables import show_cell, show_parameters, shown_methods

LABEL_FREE, CANDIDATES, BASELINES = STUDIES[:3]
SEARCH = "LKGSearch"
OURS = (SEARCH, "LKG")
RIVALS = ("SC-knn", "SC-rbf", "KMeans", "HDBSCAN")
#: The rivals that a search should not fall behind, and by how many points it may.
STRONG, NEAR = ("KMeans", "SC-knn"), 2.0
AS_IT_COMES = ("", "auto")  # banks of methods as they come
TUNED = "label-tuned: best candidate of LKGSearch"
PUBLISHED = "label-tuned: LKGr as published"
NOISE = "noise"
HOW = "Accuracy in per cent, mean over the seeds; one k-means each, best of 100 restarts by their inertia"
BOTH = f"{HOW} (best100), or for scikit-learn's the mean of 20 runs with its own settings (mean20)."
DIGITS = 1

Figures = Mapping[str, float]  # per cent by title of the data set


def study_tables(records: Sequence[Record]) -> list[Table]:
    """Return every table of the study that has a row; none where no record is of the study.

    Parameters
    ----------
    records : sequence of Record
        Results in any order, of whatever experiment.

    Returns
    -------
    list of Table
        Label-free accuracies, what choosing costs, the default chosen without each data set, noise, the comparison
        methods of the paper, and several views.
    """
    makers = (label_free_table, choosing_table, left_out_table, noise_table, baselines_table, views_table)
    found = [record for record in records if record.trial.study]
    return [table for table in (make(found) for make in makers if found) if table.rows]


def label_free_table(records: Sequence[Record]) -> Table:
    """Return accuracies of all methods without labels on the nine data sets, and below them two with labels."""
    results, notes = _results(records), Footnotes()
    rows = []
    for method in (*OURS, *RIVALS):
        cells = {title: as_it_comes(results[RECORD_NAMES[title], method]) for title in DATA}
        shown = [show_cell(cell, f"{title}, {method}", notes, digits=DIGITS) for title, cell in cells.items()]
        rows.append((method, _scored(results, method), *shown, _mean(_values(cells))))
    rows = _bold_columns(rows, 2)
    for name, found in ((TUNED, tuned(results)), (PUBLISHED, published())):
        rows.append((name, EMPTY, *(_show(found.get(title)) for title in DATA), _mean(found)))
    explained = (BOTH, "Best of the rows without labels in bold.", *_beside(results), *notes.notes())
    header = ("Method", "Scored", *DATA, "mean")
    return Table("study_label_free", "Accuracy without labels", header, tuple(rows) if results else (), explained)


def choosing_table(records: Sequence[Record]) -> Table:
    """Return what `LKGSearch` chose, what labels would have chosen of the same candidates, and the difference."""
    results = _results(records)
    rows = []
    gaps: dict[str, list[float]] = {"free": [], "tuned": []}
    for title in DATA:
        outcome = as_it_comes(results[RECORD_NAMES[title], SEARCH]).outcome
        best = tuned(results).get(title)
        if outcome is None or best is None:
            continue
        free, chosen = 100 * outcome.scores["acc"], sorted({record.chosen for record in outcome.records})
        rows.append((title, *_cost(free, best), "; ".join(text for text in chosen if text) or EMPTY))
        gaps["free"].append(free)
        gaps["tuned"].append(best)
    if rows:
        rows.append((f"mean of {len(rows)}", *_cost(fmean(gaps["free"]), fmean(gaps["tuned"])), EMPTY))
    header = ("Data", "Label-free", "Label-tuned", "Cost", "Kept", "Chosen without labels")
    note = "Label-tuned: the best of the candidates that the search has tried, picked by the true classes. Kept: share."
    return Table("study_choosing", "What choosing without labels costs", header, tuple(rows), (f"{HOW}.", note))


def _cost(free: float, best: float) -> tuple[str, ...]:
    return _show(free), _show(best), _show(best - free), f"{100 * free / best:.0f} %"


def left_out_table(records: Sequence[Record]) -> Table:
    """Return for each data set the setting of LKG that is best on the others, and what it gives here."""
    found, parameters = _by_setting(records)
    titles = [title for title in DATA if any(title in figures for figures in found.values())]
    complete = {name: figures for name, figures in found.items() if len(figures) == len(titles)}
    name, heading = "study_left_out", "The default of LKG chosen without the data set that it is used on"
    header = ("Data", "Best on the others", "Accuracy", "Best on all", "Label-tuned here")
    if len(titles) < 2 or not complete:
        return Table(name, heading, header, ())
    varied = [key for key in next(iter(parameters.values())) if len({str(p.get(key)) for p in parameters.values()}) > 1]
    words = {key: show_parameters({name: p[name] for name in varied if name in p}) for key, p in parameters.items()}
    overall = _best(complete, titles)
    rows, columns = [], []
    for title in titles:
        other = _best(complete, [each for each in titles if each != title])
        here = max(figures[title] for figures in complete.values())
        columns.append((complete[other][title], complete[overall][title], here))
        rows.append((title, words[other], *map(_show, columns[-1])))
    means = [_show(fmean(column)) for column in zip(*columns, strict=True)]
    rows.append((f"mean of {len(titles)}", EMPTY, *means))
    fixed = {key: value for key, value in parameters[overall].items() if key not in varied}
    notes = (
        f"{HOW}. {len(complete)} settings, all with {show_parameters(fixed) or 'the defaults'}.",
        f"Best on all: {words[overall]}. Label-tuned here: the best setting of each data set, picked by its classes.",
    )
    return Table(name, heading, header, tuple(rows), notes)


def _by_setting(records: Iterable[Record]) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, object]]]:
    """Return accuracies by setting and title of the data set, and the settings as parameters."""
    results = _results(records, CANDIDATES)
    found: dict[str, dict[str, float]] = {}
    parameters: dict[str, dict[str, object]] = {}
    for title in DATA:
        for outcome in results[RECORD_NAMES[title], "LKG"].outcomes:
            found.setdefault(outcome.setting, {})[title] = 100 * outcome.scores["acc"]
            parameters[outcome.setting] = {"bank": outcome.bank, **outcome.parameters}
    return found, parameters


def _best(found: Mapping[str, Figures], titles: Sequence[str]) -> str:
    """Return the setting with the best mean over some data sets; of equal ones the first."""
    return max(sorted(found), key=lambda setting: fmean(found[setting][title] for title in titles))


def noise_table(records: Sequence[Record]) -> Table:
    """Return accuracies without labels for every level of noise, with the clean data first."""
    noisy = sorted({float(record.trial.changes[NOISE]) for record in records if NOISE in record.trial.changes})
    steps = {level: _results(records, level=level) for level in (0, *noisy)} if noisy else {}
    names = {name for level in noisy for name in steps[level].data()}
    titles = [title for title, name in RECORD_NAMES.items() if name in names]
    methods = [name for name in (*OURS, *RIVALS) if any(name in steps[level].methods() for level in noisy)]
    rows = []
    found: dict[float, list[Figures]] = {level: [] for level in steps}
    for title in titles:
        for level, results in steps.items():
            cells = {method: as_it_comes(results[RECORD_NAMES[title], method]) for method in methods}
            values = _values(cells)
            found[level].append(values)
            rows.append(_bold_row((title, f"{level:g}", *(_show(values.get(method)) for method in methods)), 2))
    for level, lines in found.items():
        means = {m: fmean(line[m] for line in lines) for m in methods if all(m in line for line in lines)}
        shown = tuple(_show(means.get(method)) for method in methods)
        rows.append(_bold_row((f"mean of {len(titles)}", f"{level:g}", *shown), 2))
    header = ("Data", "Noise", *methods)
    notes = (BOTH, "Noise in deviations of the entries. Best of a row in bold.")
    return Table("study_noise", "Accuracy without labels on noisy data", header, tuple(rows), notes)


def baselines_table(records: Sequence[Record]) -> Table:
    """Return the comparison methods of the paper, untuned and with the same refinement, beside ours."""
    theirs, ours = _results(records, BASELINES), _results(records)
    titles = [title for title in DATA if RECORD_NAMES[title] in theirs.data()]
    rows, notes = [], Footnotes()
    for method in (*OURS, *shown_methods(theirs.methods(), first=())):
        take, results = (as_it_comes, ours) if method in OURS else (nothing_chosen, theirs)
        cells = {title: take(results[RECORD_NAMES[title], method]) for title in titles}
        shown = [show_cell(cell, f"{title}, {method}", notes, digits=DIGITS) for title, cell in cells.items()]
        rows.append((method, *shown, _mean(_values(cells), len(titles))))
    rows = _bold_columns(rows, 1)
    explained = (
        "Accuracy in per cent, scoring best100, ours as the mean over the seeds. Untuned; graphs with 10 neighbours, "
        "scaled edges and the embedding of LKG. Methods on one kernel: the mean over their kernels, none of which is "
        "chosen. Best of a column in bold.",
        *notes.notes(),
    )
    title = "The comparison methods of the paper with the refinement of LKG"
    return Table("study_baselines", title, ("Method", *titles, "mean"), tuple(rows) if titles else (), explained)


def views_table(records: Sequence[Record]) -> Table:
    """Return Cora with both views at once, without labels, beside the published figures of single views."""
    results, rows = _results(records), []
    name = RECORD_NAMES["Cora"]
    for method in OURS:
        outcome = as_it_comes(results[name, method]).outcome
        if outcome is not None:
            rows.append((method, *(_show(100 * outcome.scores[measure]) for measure in TABLE_2)))
    best = {measure: tuned(results, measure, ["Cora"]).get("Cora") for measure in TABLE_2}
    if any(value is not None for value in best.values()):
        rows.append((TUNED, *(_show(value) for value in best.values())))
    for view in (1, 2) if rows else ():
        printed = MULTI_VIEW["Cora", view]["LKGr"]
        rows.append((f"{PUBLISHED}, view {view} alone", *(_show(100 * printed[measure].value) for measure in TABLE_2)))
    header = ("Method", *(MEASURES[measure] for measure in TABLE_2))
    note = "In per cent, best100, mean over the seeds; published: means over 20 runs."
    return Table("study_cora", "Cora, both views, without labels", header, tuple(rows), (note,))


def label_free_figures(records: Sequence[Record], methods: Sequence[str]) -> dict[str, Figures]:
    """Return accuracies of methods without labels, and under `TUNED` those of the best candidates with labels."""
    results = _results(records)
    found: dict[str, Figures] = {method: _figures(results, method) for method in methods}
    return found | {TUNED: tuned(results)}


def as_it_comes(pool: Pool) -> Cell:
    """Return the result of a method with its defaults: one that no label has picked."""
    plain = [outcome for outcome in pool.outcomes if not outcome.parameters and outcome.bank in AS_IT_COMES]
    return _cell(plain, pool)


def nothing_chosen(pool: Pool) -> Cell:
    """Return the mean over all that was run, kernels above all."""
    return _cell(pool.outcomes, pool)


def _cell(outcomes: Sequence[Outcome], pool: Pool) -> Cell:
    if not outcomes:
        return Cell(why=pool.why)
    return Cell(fmean(outcome.scores["acc"] for outcome in outcomes), outcome=outcomes[0])


def tuned(results: Pools, measure: str = "acc", titles: Iterable[str] = tuple(DATA)) -> dict[str, float]:
    """Return what labels would have picked of the candidates of `LKGSearch`, in per cent, mean over the seeds."""
    found = {}
    for title in titles:
        outcome = as_it_comes(results[RECORD_NAMES[title], SEARCH]).outcome
        values = [] if outcome is None else [r.tuned[measure] for r in outcome.records if measure in r.tuned]
        if values:
            found[title] = 100 * fmean(values)
    return found


def published() -> dict[str, float]:
    """Return the accuracies of LKGr in the paper."""
    return {title: TABLE_2["acc"][title]["LKGr"].value for title in DATA}


def _results(records: Iterable[Record], study: str = LABEL_FREE, level: float = 0) -> Pools:
    """Return results of a part of the study at a level of noise; of two scorings of a method the first one counts."""
    changes = {NOISE: level} if level else {}
    chosen = [record for record in records if dict(record.trial.changes) == changes]
    found = Pools()
    for scoring in reversed(SCORINGS):
        found.update(pools(chosen, Conditions(scoring, altered=bool(changes), study=study)))
    return found


def _scored(results: Pools, method: str) -> str:
    """Return the scoring of a method."""
    outcomes = [outcome for (_, name), pool in results.items() if name == method for outcome in pool.outcomes]
    return ", ".join(sorted({outcome.records[0].trial.scoring for outcome in outcomes})) or EMPTY


def _beside(results: Pools) -> Iterable[str]:
    """Yield how often the search keeps up with the rivals that it must not fall behind."""
    found = {method: _figures(results, method) for method in (SEARCH, *STRONG)}
    shared = [title for title in DATA if all(title in figures for figures in found.values())]
    kept = [title for title in shared if found[SEARCH][title] >= max(found[name][title] for name in STRONG) - NEAR]
    if shared:
        yield (
            f"{SEARCH} is within {NEAR:g} points of the better of {' and '.join(STRONG)}, or above, on {len(kept)} of "
            f"{len(shared)} data sets."
        )


def _figures(results: Pools, method: str) -> dict[str, float]:
    return _values({title: as_it_comes(results[RECORD_NAMES[title], method]) for title in DATA})


def _values(cells: Mapping[str, Cell]) -> dict[str, float]:
    return {title: 100 * cell.value for title, cell in cells.items() if cell.value is not None}


def _mean(found: Figures, wanted: int = len(DATA)) -> str:
    """Return the mean; an incomplete one only says how much there is."""
    return _show(fmean(found.values())) if found and len(found) == wanted else f"{len(found)} of {wanted}"


def _show(value: float | None) -> str:
    return EMPTY if value is None else f"{value:.{DIGITS}f}"


def _bold_columns(rows: Sequence[tuple[str, ...]], first: int) -> list[tuple[str, ...]]:
    """Set the best of every column from `first` in bold."""
    columns = list(zip(*rows, strict=True))
    marked = [column if place < first else _bold_row(column, 0) for place, column in enumerate(columns)]
    return list(zip(*marked, strict=True))


def _bold_row(row: tuple[str, ...], first: int) -> tuple[str, ...]:
    """Set the best numbers from place `first` in bold; a note behind a number stays as it is."""
    numbers = {place: _number(text) for place, text in enumerate(row) if place >= first}
    best = max((number for number in numbers.values() if number is not None), default=None)
    best_at = {place for place, number in numbers.items() if number is not None and number == best}
    return tuple(bold(text) if place in best_at else text for place, text in enumerate(row))


def _number(text: str) -> float | None:
    """Return the number that a cell starts with; "3 of 9" is none."""
    head, _, tail = text.partition(" ")
    try:
        return None if tail.startswith("of ") else float(head)
    except ValueError:
        return None
