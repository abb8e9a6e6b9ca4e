"""What somebody without labels gets: LKG as it comes beside scikit-learn's, and what labels would add.

No figure of ours here is picked by the true classes, unless its row or column is called label-tuned.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from lab.records import Record, Trial
from lab.results import figures
from lab.results.paper import shown_methods
from lab.results.pools import Outcome, Place, Untuned, kind_of, pools
from lab.results.published import DATA, NINE, RECORD_NAMES, TABLE_2
from lab.results.reproduction import show_parameters
from lab.results.table import EMPTY, Footnotes, Picture, Table, bold_best, bold_best_of_columns, headed, show, show_mean

LKG = "LKG"
RIVALS = ("SC-knn", "SC-rbf", "KMeans", "HDBSCAN")
DRAWN = ("LKG", "SC-knn", "KMeans")
PUBLISHED = "label-tuned: LKGr as published"
_TITLES = {name: title for title, name in RECORD_NAMES.items()}


def _place(trial: Trial) -> Place:
    return trial.method, _TITLES.get(trial.data, trial.data), kind_of(trial.changes)


def study(records: Sequence[Record]) -> Iterator[Table | Picture]:
    """Yield what the study says; nothing where no record is of it."""
    found = Untuned.of(records, _place, "label-free", "baselines")
    if found.methods.intersection((LKG, *RIVALS)):
        yield label_free_table(found)
        yield _picture(found)
    yield from left_out([record for record in records if record.trial.study == "candidates"])
    if found.levels("noise"):
        yield noise_table(found)
    if found.methods.difference((LKG, *RIVALS)):
        yield baselines_table(found)


def label_free_table(found: Untuned) -> Table:
    """Return accuracies of all methods without labels on the nine data sets, and below them those of the paper."""
    notes, printed, rows = Footnotes(), _published().values(), []
    for method, *line in _rows(found, notes, [LKG, *RIVALS], list(DATA)):
        scorings = {record.trial.scoring for title in DATA for record in found.runs(method, title)}
        rows.append((method, ", ".join(sorted(scorings)) or EMPTY, *line))
    rows.append((PUBLISHED, EMPTY, *map(show, printed), show_mean(printed, len(DATA))))
    header = ("Method", "Scored", *DATA, "mean")
    return headed("study_label_free", header, rows, *notes.notes())


def _rows(found: Untuned, notes: Footnotes, methods: Sequence[str], titles: Sequence[str]) -> list[tuple[str, ...]]:
    """Return one row per method with its accuracies and their mean, the best of every column in bold."""
    lines = []
    for method in methods:
        cells = [found.cell(notes, method, title) for title in titles]
        lines.append([*cells, show_mean(found.figures(method, titles).values(), len(titles))])
    return [(method, *line) for method, line in zip(methods, bold_best_of_columns(lines), strict=True)]


def _picture(found: Untuned) -> Picture:
    """Return the picture of these accuracies, with means of the methods that have all of them."""
    series = {PUBLISHED: _published(), **{method: found.figures(method, DATA) for method in DRAWN}}
    for line in series.values():
        line |= {"mean": fmean(line.values())} if len(line) == len(DATA) else {}
    title = "Accuracy in per cent: filled without labels, open circle label-tuned"
    return Picture("study", title, partial(figures.dots, title, {"": ([*DATA, "mean"], series)}, columns=1))


def _published() -> dict[str, float]:
    return {title: TABLE_2["acc"][title]["LKGr"].value for title in DATA}


def left_out(records: Sequence[Record]) -> Iterator[Table]:
    """Yield for each data set the setting of LKG that is best on the others, and what it gives here."""
    results = pools(records)
    outcomes = {title: results[NINE[title], LKG].outcomes for title in DATA}
    titles = [title for title, of in outcomes.items() if of]
    lines: dict[str, dict[str, float]] = defaultdict(dict)  # accuracies by setting and title
    for title in titles:
        for outcome in outcomes[title]:
            lines[outcome.setting][title] = 100 * outcome.scores["acc"]
    complete = {setting: line for setting, line in sorted(lines.items()) if len(line) == len(titles)}
    if len(titles) < 2 or not complete:
        return
    words, same = _in_words([outcome for outcome in outcomes[titles[0]] if outcome.setting in complete])

    def best(on: Sequence[str]) -> str:
        return max(complete, key=lambda setting: fmean(complete[setting][title] for title in on))

    overall, rows, columns = best(titles), [], []
    for title in titles:
        other = best([each for each in titles if each != title])
        here = max(line[title] for line in complete.values())
        columns.append((complete[other][title], complete[overall][title], here))
        rows.append((title, words[other], *map(show, columns[-1])))
    rows.append((f"mean of {len(titles)}", EMPTY, *(show(fmean(column)) for column in zip(*columns, strict=True))))
    header = ("Data", "Best on the others", "Accuracy", "Best on all", "Label-tuned here")
    yield headed("study_left_out", header, rows, n=len(complete), same=same, best=words[overall])


def _in_words(outcomes: Sequence[Outcome]) -> tuple[dict[str, str], str]:
    """Return settings in words, each by what differs, and what all have in common."""
    parameters = {outcome.setting: {"bank": outcome.trial.bank, **outcome.trial.parameters} for outcome in outcomes}
    first = next(iter(parameters.values()))
    same = {key: value for key, value in first.items() if all(of.get(key) == value for of in parameters.values())}
    varied = {
        setting: {key: value for key, value in of.items() if key not in same} for setting, of in parameters.items()
    }
    return {setting: show_parameters(of) for setting, of in varied.items()}, show_parameters(same)


def noise_table(found: Untuned) -> Table:
    """Return accuracies without labels for every level of noise, with the clean data first."""
    kinds = {0.0: "", **{level: kind_of({"noise": level}) for level in found.levels("noise")}}
    noisy = [{method, data} for method, data, kind in found.records if kind]
    titles = [title for title in RECORD_NAMES if any(title in of for of in noisy)]
    methods = [method for method in (LKG, *RIVALS) if any(method in of for of in noisy)]
    rows = []
    for title in titles:
        for level, kind in kinds.items():
            cells = (show(found.figure(method, title, kind)) for method in methods)
            rows.append((title, f"{level:g}", *bold_best(list(cells))))
    for level, kind in kinds.items():
        lines = [found.figures(method, titles, kind) for method in methods]
        means = (show(fmean(line.values()) if len(line) == len(titles) else None) for line in lines)
        rows.append((f"mean of {len(titles)}", f"{level:g}", *bold_best(list(means))))
    return headed("study_noise", ("Data", "Noise", *methods), rows)


def baselines_table(found: Untuned) -> Table:
    """Return the comparison methods of the paper, untuned and with the same refinement, beside ours."""
    methods, notes = [method for method in shown_methods(found.methods) if method not in (LKG, *RIVALS)], Footnotes()
    titles = [title for title in DATA if any(found.runs(method, title) for method in methods)]
    rows = _rows(found, notes, [LKG, *methods], titles)
    return headed("study_baselines", ("Method", *titles, "mean"), rows, *notes.notes())
