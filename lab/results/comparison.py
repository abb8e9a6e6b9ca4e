"""All fifteen methods as they come, and beside them what users have: nothing is chosen by the true classes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from statistics import fmean

from lab.records import Record, Trial
from lab.results import figures
from lab.results.pools import Place, Untuned, state
from lab.results.published import DATA, RECORD_NAMES
from lab.results.published import METHODS as PAPER
from lab.results.significance import LEVEL, Ranking
from lab.results.table import Footnotes, Picture, Table, bold_best, headed, show
from lab.results.views import BESIDE as MORE_VIEWS
from lab.results.views import SEVEN

#: What came after the paper.
LATER = ("SMKL", "SimpleMKKM", "GMC", "CGD")
FIFTEEN = (*PAPER, *LATER)
#: What users have; ranked one by one among the fifteen, and not with each other.
BESIDE = ("LKG", "SC-normalised", "KMeans", "SC-knn")
JOINED = "-joined"  # ends the name of a method that was given several views side by side
FOURTEEN = (
    *("colon", "lymphoma", "leukemia", "nci9", "prostate", "allaml", "arcene", "pcmac", "relathe", "warpar10p"),
    *("warppie10p", "pixraw10p", "orlraws10p", "umist"),
)
#: Kinds of data by what tables call them, each with its data sets.
ONE_VIEW, SEVERAL_VIEWS, FALSE_VIEWS = "one view", "several views", "with false views"
KINDS: dict[str, tuple[str, ...]] = {
    ONE_VIEW: (*(RECORD_NAMES[title] for title in DATA), *FOURTEEN),
    SEVERAL_VIEWS: (*SEVEN, *MORE_VIEWS),
    FALSE_VIEWS: SEVEN,
}
#: Data as they are: what tests are over, since those with false views are the same samples once more.
CLEAN = (ONE_VIEW, SEVERAL_VIEWS)
MEASURES = {"acc": "Accuracy", "nmi": "NMI"}


def _place(trial: Trial) -> Place:
    plain = SEVERAL_VIEWS if trial.data in KINDS[SEVERAL_VIEWS] else ONE_VIEW
    return trial.method.removesuffix(JOINED), trial.data, FALSE_VIEWS if trial.changes else plain


class Compared(Untuned):
    """The figures of the comparison."""

    @cached_property
    def places(self) -> list[tuple[str, str]]:
        """Data sets and kinds that anything was run on, in the order of tables."""
        there = {(data, kind) for _, data, kind in (*self.records, *self.reasons)}
        return [(data, kind) for kind, names in KINDS.items() for data in names if (data, kind) in there]

    @cached_property
    def fifteen(self) -> list[str]:
        """Those of the fifteen that were run on anything, in the order of tables."""
        return [method for method in FIFTEEN if method in self.methods]

    @cached_property
    def beside(self) -> list[str]:
        """What users have, as far as it was run."""
        return [method for method in BESIDE if method in self.methods]

    @cached_property
    def complete(self) -> list[tuple[str, str]]:
        """Data sets on which all methods have a figure: those that ranks and means are over."""
        every = [*self.fifteen, *self.beside]
        return [place for place in self.places if all(self.runs(method, *place) for method in every)]

    def clean_figures(self, method: str) -> dict[str, float]:
        """Return the accuracies of a method in per cent on data as they are."""
        values = {data: self.figure(method, data, kind) for data, kind in self.places if kind in CLEAN}
        return {data: value for data, value in values.items() if value is not None}

    def ranking(self, measure: str, kinds: Sequence[str] = CLEAN, guest: str = "") -> Ranking | None:
        """Rank the fifteen over complete data sets of some kinds, with one of those beside them as a guest.

        None where there are fewer than three methods, or no data sets.
        """
        data = {kind: [name for name, of in self.complete if of == kind] for kind in kinds}
        methods = [*self.fifteen, *([guest] if guest else [])]
        if len(methods) < 3 or not any(data.values()):
            return None
        lines = {by: [self.figures(by, names, kind, measure) for kind, names in data.items()] for by in methods}
        return Ranking.of({by: [value for of in line for value in of.values()] for by, line in lines.items()})


def compared(records: Iterable[Record]) -> Compared:
    """Sort records, given from the oldest to the newest; those of other studies are left out."""
    return Compared.of(records, _place, "comparison")


def comparison(records: Sequence[Record]) -> Iterator[Table | Picture]:
    """Yield mean ranks, and the figures of every data set by measure; nothing without records of the comparison."""
    found = compared(records)
    ranks = ranks_table(found)
    rankings = {words: (found.ranking(measure), _guests(found, measure)) for measure, words in MEASURES.items()}
    panels = {words: (ranking, guests) for words, (ranking, guests) in rankings.items() if ranking is not None}
    if panels:
        title = "Mean ranks without labels; a bar joins methods that do not differ significantly"
        yield Picture("comparison_ranks", title, partial(figures.ranks, title, panels))
    if ranks.rows:
        yield ranks
    if found.fifteen:
        yield from (figures_table(found, measure) for measure in MEASURES)


def _guests(found: Compared, measure: str) -> dict[str, float]:
    """Return the mean rank that each method beside the others has among them."""
    rankings = {name: found.ranking(measure, guest=name) for name in found.beside}
    return {name: ranking.mean_ranks[name] for name, ranking in rankings.items() if ranking is not None}


def ranks_table(found: Compared) -> Table:
    """Return mean ranks by kind of data, the best method first, and below what users have."""
    groups = {ONE_VIEW: (ONE_VIEW,), SEVERAL_VIEWS: (SEVERAL_VIEWS,), "all": CLEAN, FALSE_VIEWS: (FALSE_VIEWS,)}
    columns = [(measure, words, kinds) for measure in MEASURES for words, kinds in groups.items()]
    columns = [column for column in columns if found.ranking(column[0], column[2]) is not None]
    header = ("Method", *(f"{MEASURES[measure]}, {words}" for measure, words, _ in columns))
    rows: list[tuple[str, ...]] = []
    for guest in ("", *found.beside) if columns else ():
        rankings = [found.ranking(measure, kinds, guest) for measure, _, kinds in columns]
        ranks = [ranking.mean_ranks for ranking in rankings if ranking is not None]
        best = found.ranking("acc")
        order = [guest] if guest else ranks[0] if best is None else best.mean_ranks
        rows += [(method, *(f"{of[method]:.2f}" for of in ranks)) for method in order]
    return headed("comparison_ranks", header, rows, *_told(found))


def _told(found: Compared) -> tuple[str, ...]:
    """Return what is to know of the ranks."""
    told = []
    if found.beside:
        told.append(f"Below the fifteen: {', '.join(found.beside)}, each ranked as a sixteenth method.")
    for measure, words in MEASURES.items():
        ranking = found.ranking(measure)
        if ranking is not None:
            told.append(
                f"{words}, all: Friedman's test of {len(found.fifteen)} methods on {ranking.n_data} data sets has "
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
    every = (*found.fifteen, *found.beside)
    counts = {place: {method: len(found.runs(method, *place)) for method in every} for place in found.places}
    methods: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for method in every:
        few = [data for (data, _), of in counts.items() if 0 < of[method] < max(of.values())]
        methods[tuple(few)].append(method)
    for data, names in methods.items():
        if data:
            verb = "has" if len(names) == 1 else "have"
            yield f"{', '.join(names)} {verb} fewer seeds than the others on {', '.join(data)}."


def _collapsed(found: Compared) -> Iterator[str]:
    """Say how many fits of which methods found nothing; their scores count like others, since users have them, too."""
    for method in (*found.fifteen, *found.beside):
        fits = [record for place in found.places for record in found.runs(method, *place)]
        collapsed = sum(state(record) == "collapsed" for record in fits)
        if collapsed:
            yield f"{method}: {collapsed} of {len(fits)} fits ended with a graph or kernel that says nothing."


def figures_table(found: Compared, measure: str) -> Table:
    """Return the figures of all methods on every data set, and their means over complete ones of each kind."""
    notes, rows, methods = Footnotes(), [], [*found.fifteen, *found.beside]
    for place in found.places:
        cells = [found.cell(notes, method, *place, measure) for method in methods]
        rows.append((*place, *bold_best(cells)))
    for kind in KINDS:
        shared = [data for data, of in found.complete if of == kind]
        if shared:
            means = [fmean(found.figures(by, shared, kind, measure).values()) for by in methods]
            rows.append((f"mean of {len(shared)}", kind, *bold_best(list(map(show, means)))))
    header = ("Data", "Kind", *methods)
    return headed(f"comparison_{measure}", header, rows, *notes.notes(), measure=MEASURES[measure])
