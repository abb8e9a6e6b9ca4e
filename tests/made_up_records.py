"""Made-up records, one function for each kind that tables tell apart."""

from lab.records import Record, Trial
from lab.results.published import RECORD_NAMES

CREATED = "2026-01-01T00:00:00Z"


def trial(data="yale", method="LKGr", scoring="best100", **rest):
    return Trial(data, f"{sum(map(ord, data)):016x}", method, scoring, **{"version": "0.3.0", **rest})


def record(acc, status="converged", *, others=None, created=CREATED, learned=None, **of_trial):
    scores = {"acc": acc, "nmi": acc, **(others or {})}
    return Record(trial(**of_trial), status, scores=scores, created=created, learned=learned or {})


def lost(status, reason, **of_trial):
    return Record(trial(**of_trial), status, reason=reason, created=CREATED)


def label_free(acc, method="LKG", title="YALE", **more):
    more = {"bank": "auto" if method == "LKG" else "", **more}
    return record(acc, method=method, data=RECORD_NAMES[title], study="label-free", **more)


def of_views(acc, data="ngs", method="LKG", weights=(), **more):
    learned = {f"view {i}": weight for i, weight in enumerate(weights, 1)}
    return record(acc, data=data, method=method, scoring="once", study="views", learned=learned, **more)


def compared(acc, data="yale", method="LKGr", **more):
    return record(acc, data=data, method=method, scoring="once", study="comparison", **more)


def by_name(items):
    return {item.name: item for item in items if hasattr(item, "rows")}


def row(table, *first):
    [found] = [row for row in table.rows if row[: len(first)] == first]
    return dict(zip(table.header, found, strict=True))
