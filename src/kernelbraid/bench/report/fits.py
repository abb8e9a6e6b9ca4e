"""The part of the report that looks inside the fits: curves of convergence, and consensus kernels."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import log10

from kernelbraid.bench.records.record import Json, KernelPicture, Record
from kernelbraid.bench.records.snapshot_data import CURVES, Curves, block_edges, colour_range, ending, kept_fits
from kernelbraid.bench.results.tables import show_parameters

TICKS = 8  # on the axis of the curves, at most


def fits_section(records: Iterable[Record]) -> str:
    """Return the part of the page, empty boxes for the pictures in it; nothing if no record kept any."""
    options = "".join(
        f'<option value="{place}">{escape(_title(record))}</option>' for place, record in enumerate(kept_fits(records))
    )
    shown = (
        f"<p><label>Fit <select id='fit'>{options}</select></label></p><p id='ending'></p>"
        "<div id='history'><h3>Convergence</h3><div class='plot' id='curves'></div><p class='note'>One point per step, "
        "on a logarithmic axis. K is the consensus kernel, Z the graph; W and J are the copies of them that carry the "
        "penalties.</p></div>"
        "<div id='consensus'><h3>Consensus kernel</h3><div class='plot square' id='kernel'></div><p class='note'>"
        "Samples ordered by cluster, lines between the clusters; means over blocks of samples where there are many.</p>"
        "</div>"
    )
    return shown if options else ""


def fits_payload(records: Iterable[Record]) -> list[dict[str, Json]]:
    """Return what the pictures show, in the order of the choice."""
    return [
        {
            "ending": _ending(record),
            "curves": _curves(record.kept["history"]) if "history" in record.kept else None,
            "kernel": _kernel(record.kept["kernel"]) if "kernel" in record.kept else None,
        }
        for record in kept_fits(records)
    ]


def _title(record: Record) -> str:
    trial = record.trial
    words = [trial.data, trial.method, trial.bank and f"bank {trial.bank}", show_parameters(trial.parameters)]
    words += [f"seed {trial.seed}"] if trial.seed else []
    words += [f"changed: {show_parameters(trial.changes)}"] if trial.changes else []
    return ", ".join(word for word in words if word)


def _ending(record: Record) -> str:
    text = ending(record)
    return f"{text[0].upper()}{text[1:]}. Accuracy {100 * record.scores['acc']:.2f} per cent ({record.trial.scoring})."


def _curves(history: Mapping[str, Sequence[float | None]]) -> dict[str, Json]:
    """Return the curves, what the box over a point tells beside its value, and the ends of the logarithmic axis."""
    curves = Curves.of(history)
    rest = {name.replace("_", " "): values for name, values in history.items() if name not in CURVES}
    besides = [_besides(dict(zip(rest, values, strict=True))) for values in zip(*rest.values(), strict=True)]
    top = max((value for values in curves.series.values() for value in values if value is not None), default=1.0)
    low, high = log10(curves.bottom), log10(3 * top)
    return {
        "lines": [{"label": label, "values": values} for label, values in curves.series.items()],
        "besides": besides,
        "range": [low, high],
        "dtick": max(1, round((high - low) / TICKS)),
    }


def _besides(values: Mapping[str, float | None]) -> str:
    """Return what else is known of a step; there is no rank, which is -1, where the penalty has none."""
    return "<br>".join(
        f"{escape(name)} {value:g}" for name, value in values.items() if value is not None and value >= 0
    )


def _kernel(kernel: KernelPicture) -> dict[str, Json]:
    edges = block_edges(sum(kernel["sizes"])).tolist()
    picture: dict[str, Json] = {"image": kernel["image"], "sizes": kernel["sizes"]}
    return {**picture, "edges": edges, "range": colour_range(kernel["image"])}
