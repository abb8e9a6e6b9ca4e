"""Cell by cell: what of Table 2 was reached, with which kernels and settings, and what was not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from lab.records import Record
from lab.results.paper import gap
from lab.results.pools import AS_PUBLISHED, Pool, Pools, by_scoring, pools
from lab.results.published import DATA, MEASURES, METHODS, NINE, PROPOSED, TABLE_2, Printed
from lab.results.table import Table, headed

REACHED, NEAR = 1.0, 3.0  # points below the published figure; more than the second above it are no reproduction, either
#: Methods whose published figures come from one repository, and the data sets of up to 1404 samples.
STORED = ("KKM", "SC", "RKKM", "MKKM", "RMKKM")
SMALLER = tuple(data for data in DATA if data != "TDT2")


def reproduction(records: Sequence[Record]) -> Iterator[Table]:
    """Yield the summary, and a table of cells for each measure of Table 2, where records are scored as published."""
    chosen = by_scoring(records).get(AS_PUBLISHED)
    if chosen:
        results = pools(chosen)
        yield summary_table(results)
        yield from (cells_table(results, measure) for measure in TABLE_2)


def summary_table(results: Pools) -> Table:
    """Return how many cells were reached, and how far ours are from the published ones."""
    gaps = list(_gaps(results, PROPOSED, DATA, TABLE_2))
    rows = [
        ("Cells of LKGs and LKGr", str(len(PROPOSED) * len(DATA) * len(TABLE_2))),
        ("with a figure of ours", str(len(gaps))),
        (f"of these within {REACHED:g} point of the published one, or above", str(sum(g >= -REACHED for g in gaps))),
        (f"more than {NEAR:g} points above", str(sum(gap > NEAR for gap in gaps))),
        (f"more than {NEAR:g} points below", str(sum(gap < -NEAR for gap in gaps))),
    ]
    stored = list(map(abs, _gaps(results, STORED, SMALLER, ["acc"], brackets=True)))
    if stored:
        which = f"{', '.join(STORED)} on {len(SMALLER)} data sets, best and kernel mean"
        name = f"Mean absolute difference of accuracy, {which}"
        rows.append((name, f"{fmean(stored):.2f} points over {len(stored)} figures, at most {max(stored):.2f}"))
    return headed("reproduction_summary", ("What", "Ours"), rows)


def _gaps(
    results: Pools, methods: Sequence[str], data: Iterable[str], measures: Iterable[str], *, brackets: bool = False
) -> Iterator[float]:
    """Yield differences of ours and published, also of the means over kernels."""
    for measure in measures:
        for title in data:
            for method in methods:
                cell, printed = results[NINE[title], method].best(measure), TABLE_2[measure][title][method]
                found = gap(cell, printed)
                if found is not None:
                    yield found
                if brackets and printed.bracket is not None and cell.kernel_mean is not None:
                    yield 100 * cell.kernel_mean - printed.bracket


def cells_table(results: Pools, measure: str) -> Table:
    """Return one row per data set and method of Table 2."""
    rows = []
    for title in DATA:
        for method in METHODS:
            cells = _cells(results[NINE[title], method], measure, TABLE_2[measure][title][method])
            rows.append((title, method, *cells))
    header = ("Data", "Method", "Published", "Ours", "Difference", "Verdict", "Kernels", "Setting", "Tried")
    return headed(f"reproduction_{measure}", header, rows, measure=MEASURES[measure])


def _cells(pool: Pool, measure: str, printed: Printed) -> tuple[str, ...]:
    cell = pool.best(measure)
    found = gap(cell, printed)
    if found is None or cell.value is None or cell.outcome is None:
        return printed.text, "-", "-", cell.why, "", "", "0"
    ours = f"{100 * cell.value:.2f}" + ("" if cell.kernel_mean is None else f" ({100 * cell.kernel_mean:.2f})")
    trial = cell.outcome.trial
    kernels = ", ".join(word for word in (trial.bank, trial.kernel) if word)
    tried = str(len(pool.settings)) + (f" x {cell.n_kernels} kernels" if trial.kernel else "")
    return printed.text, ours, f"{found:+.2f}", _verdict(found), kernels, show_parameters(trial.parameters), tried


def show_parameters(parameters: Mapping[str, object]) -> str:
    """Return parameters as words."""
    return ", ".join(f"{name} {value}" for name, value in parameters.items())


def _verdict(found: float) -> str:
    """Return a difference from the published figure in a word; far above it is no reproduction, either."""
    if found > NEAR:
        return "above"
    return "reached" if found >= -REACHED else "near" if found >= -NEAR else "below"
