"""All fifteen methods as they come, and beside them what users have: nothing is chosen by the true classes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from kernelbraid.bench.records.record import STUDIES, Record, to_json
from kernelbraid.bench.results.published import DATA, RECORD_NAMES
from kernelbraid.bench.results.published import METHODS as PAPER
from kernelbraid.bench.results.ranks import LEVEL, Ranking
from kernelbraid.bench.results.selection import state
from kernelbraid.bench.results.table import EMPTY, Footnotes, Table, bold
from kernelbraid.bench.results.views import BESIDE as MORE_VIEWS
from kernelbraid.bench.results.views import SEVEN

COMPARISON = STUDIES[4]
#: What came after the paper.
LATER = ("SMKL", "SimpleMKKM", "GMC", "CGD")
FIFTEEN = (*PAPER, *LATER)
#: What users have; ranked one by one among the fifteen, and not with each other.
BESIDE = ("LKG", "SC-normalised", "KMeans", "SC-knn")
JOINED = "-joined"  # ends the name of a method that was given several views side by side
NINE = tuple(RECORD_NAMES[title] for title in DATA)
FOURTEEN = (
    *("colon", "lymphoma", "leukemia", "nci9", "prostate", "allaml", "arcene", "pcmac", "relathe", "warpar10p"),
    *("warppie10p", "pixraw10p", "orlraws10p", "umist"),
)
#: Kinds of data by what tables call them, each with its data sets.
ONE_VIEW, SEVERAL_VIEWS, FALSE_VIEWS = "one view", "several views", "with false views"
KINDS: dict[str, tuple[str, ...]] = {
    ONE_VIEW: (*NINE, *FOURTEEN),
    SEVERAL_VIEWS: (*SEVEN, *MORE_VIEWS),
    FALSE_VIEWS: SEVEN,
}
#: Data as they are: what tests are over, since those with false views are the same samples once more.
CLEAN = (ONE_VIEW, SEVERAL_VIEWS)
MEASURES = {"acc": "Accuracy", "nmi": "NMI"}
HOW = (
    "Methods as they come, with the number of classes; mean over the seeds. Those on one kernel have the Gaussian of "
    "their estimators; those on one matrix get several views side by side, as rows of unit length."
)
FALSE = "With false views: three of noise and one of seven clear clusters that have nothing to do with the classes."

#: A data set as it is, or with false views.
Place = tuple[str, str]


@dataclass
class Compared:
    """Records of the comparison, the newest of each trial, by data set, kind and method."""

    records: dict[tuple[str, str, str], dict[str, Record]] = field(default_factory=lambda: defaultdict(dict))
    reasons: dict[tuple[str, str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Compared":
        """Sort records; those of other studies are left out."""
        found = cls()
        mine = [record for record in records if record.trial.study == COMPARISON]
        for record in sorted(mine, key=lambda record: record.created):
            trial = record.trial
            plain = SEVERAL_VIEWS if trial.data in KINDS[SEVERAL_VIEWS] else ONE_VIEW
            key = (trial.data, FALSE_VIEWS if trial.changes else plain, trial.method.removesuffix(JOINED))
            if record.succeeded:
                found.records[key][to_json([trial.seed, trial.changes])] = record
            else:
                found.reasons[key] = f"{record.status}: {record.reason or 'no reason given'}"
        return found

    @cached_property
    def places(self) -> list[Place]:
        """Data sets that anything was run on, in the order of tables."""
        there = {(data, kind) for data, kind, _ in (*self.records, *self.reasons)}
        return [(data, kind) for kind, names in KINDS.items() for data in names if (data, kind) in there]

    def figures(self, method: str, measure: str) -> dict[Place, float]:
        """Return the means of a method over the seeds in per cent, by data set."""
        return {
            place: 100 * fmean(record.scores[measure] for record in self.records[*place, method].values())
            for place in self.places
            if (*place, method) in self.records
        }

    def clean_figures(self, method: str, measure: str) -> dict[str, float]:
        """Return those on data as they are, by the name of the data set."""
        return {data: value for (data, kind), value in self.figures(method, measure).items() if kind in CLEAN}

    @cached_property
    def methods(self) -> list[str]:
        """Those of the fifteen that were run on anything, in the order of tables."""
        there = {method for _, _, method in self.records}
        return [method for method in FIFTEEN if method in there]

    @cached_property
    def beside(self) -> list[str]:
        """What users have, as far as it was run."""
        there = {method for _, _, method in self.records}
        return [method for method in BESIDE if method in there]

    @cached_property
    def complete(self) -> list[Place]:
        """Data sets on which all methods have a figure: those that ranks and means are over."""
        every = [*self.methods, *self.beside]
        return [place for place in self.places if all((*place, method) in self.records for method in every)]

    def ranking(self, measure: str, kinds: Sequence[str] = CLEAN, guest: str | None = None) -> Ranking | None:
        """Rank the fifteen over complete data sets of some kinds, with one of those beside them as a guest.

        None where there are fewer than two methods, or no data sets.
        """
        places = [(data, kind) for data, kind in self.complete if kind in kinds]
        methods = [*self.methods, *([] if guest is None else [guest])]
        if len(methods) < 2 or not places:
            return None
        found = {method: self.figures(method, measure) for method in methods}
        return Ranking.of({method: [figures[place] for place in places] for method, figures in found.items()})


def comparison_tables(records: Sequence[Record]) -> list[Table]:
    """Return mean ranks, and the figures of every data set by measure; none without records of the comparison.

    Parameters
    ----------
    records : sequence of Record
        Results in any order, of whatever experiment.
    """
    found = Compared.of(records)
    tables = [ranks_table(found), *(figures_table(found, measure) for measure in MEASURES)]
    return [table for table in tables if table.rows]


def ranks_table(found: Compared) -> Table:
    """Return mean ranks by kind of data, the best method first, and below what users have."""
    groups = {ONE_VIEW: (ONE_VIEW,), SEVERAL_VIEWS: (SEVERAL_VIEWS,), "all": CLEAN, FALSE_VIEWS: (FALSE_VIEWS,)}
    columns = [(measure, words, kinds) for measure in MEASURES for words, kinds in groups.items()]
    columns = [column for column in columns if found.ranking(column[0], column[2]) is not None]
    header = ("Method", *(f"{MEASURES[measure]}, {words}" for measure, words, _ in columns))
    rows: list[tuple[str, ...]] = []
    for guest in (None, *found.beside) if columns else ():
        rankings = [found.ranking(measure, kinds, guest) for measure, _, kinds in columns]
        ranks = [{} if ranking is None else ranking.mean_ranks for ranking in rankings]
        methods = _by_rank(found, ranks[0]) if guest is None else [guest]
        rows += [(method, *(f"{of[method]:.2f}" for of in ranks)) for method in methods]
    return Table("comparison_ranks", "Fifteen methods without labels: mean ranks", header, tuple(rows), _told(found))


def _by_rank(found: Compared, otherwise: Mapping[str, float]) -> list[str]:
    ranking = found.ranking("acc")
    return list(otherwise if ranking is None else ranking.mean_ranks)


def _told(found: Compared) -> tuple[str, ...]:
    """Return what is to know of the ranks."""
    told = [HOW, FALSE]
    if found.beside:
        told.append(f"Below the fifteen: {', '.join(found.beside)}, each ranked as a sixteenth method.")
    for measure, words in MEASURES.items():
        ranking = found.ranking(measure)
        if ranking is not None:
            told.append(
                f"{words}, all: Friedman's test of {len(found.methods)} methods on {ranking.n_data} data sets has "
                f"p = {ranking.p:.1g}; by Nemenyi's, mean ranks that differ by less than "
                f"{ranking.critical_difference:.2f} do not differ (level {LEVEL})."
            )
    for kind in KINDS:
        names = [data for data, of in found.complete if of == kind]
        left = [data for data, of in found.places if of == kind and data not in names]
        if names:
            without = f"; without {', '.join(left)}, where methods have no figure" if left else ""
            told.append(f"Ranked, {kind} ({len(names)}): {', '.join(names)}{without}.")
    return (*told, *_fewer_seeds(found), *_collapsed(found))


def _fewer_seeds(found: Compared) -> Iterator[str]:
    """Say where methods have fewer seeds than others on the same data."""
    methods: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for method in (*found.methods, *found.beside):
        counts = {place: len(found.records.get((*place, method), {})) for place in found.places}
        most = {place: max(len(of) for key, of in found.records.items() if key[:2] == place) for place in counts}
        methods[tuple(place[0] for place, count in counts.items() if 0 < count < most[place])].append(method)
    for data, names in methods.items():
        if data:
            verb = "has" if len(names) == 1 else "have"
            yield f"{', '.join(names)} {verb} fewer seeds than the others on {', '.join(data)}."


def _collapsed(found: Compared) -> Iterator[str]:
    """Say how many fits of which methods found nothing; their scores count like others, since users have them, too."""
    for method in (*found.methods, *found.beside):
        fits = [record for (*_, name), of in found.records.items() if name == method for record in of.values()]
        collapsed = sum(state(record) == "collapsed" for record in fits)
        if collapsed:
            yield f"{method}: {collapsed} of {len(fits)} fits ended with a graph or kernel that says nothing."


def figures_table(found: Compared, measure: str) -> Table:
    """Return the figures of all methods on every data set, and their means over complete ones of each kind."""
    notes, rows = Footnotes(), []
    methods = [*found.methods, *found.beside]
    figures = {method: found.figures(method, measure) for method in methods}
    for place in found.places:
        rows.append((*place, *_cells(found, place, figures, notes)))
    for kind in KINDS:
        shared = [place for place in found.complete if place[1] == kind]
        if shared:
            means = [fmean(figures[method][place] for place in shared) for method in methods]
            rows.append((f"mean of {len(shared)}", kind, *_bold_best([f"{mean:.1f}" for mean in means])))
    title = f"Fifteen methods without labels: {MEASURES[measure]} in per cent"
    told = (HOW, FALSE, "Best of a row in bold. Means are over the data sets on which all methods have a figure.")
    header = ("Data", "Kind", *methods)
    return Table(f"comparison_{measure}", title, header, tuple(rows) if methods else (), (*told, *notes.notes()))


def _cells(
    found: Compared, place: Place, figures: Mapping[str, Mapping[Place, float]], notes: Footnotes
) -> Sequence[str]:
    cells = []
    for method, line in figures.items():
        state, _, reason = found.reasons.get((*place, method), "").partition(": ")
        missing = f"{state} {notes.mark(reason, f'{place[0]}, {method}')}" if reason and place not in line else EMPTY
        cells.append(f"{line[place]:.1f}" if place in line else missing)
    return _bold_best(cells)


def _bold_best(cells: Sequence[str]) -> list[str]:
    """Set the largest numbers, as they are shown, in bold."""
    numbers = [float(cell) if cell.replace(".", "", 1).isdigit() else -1.0 for cell in cells]
    return [bold(cell) if number == max(numbers) >= 0 else cell for cell, number in zip(cells, numbers, strict=True)]
