"""The page of a fit: what was clustered and how, what sets its clusters apart, and how far to trust them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from kernelbraid import methods
from kernelbraid._arrays import to_numpy
from kernelbraid._machine import install, write_whole
from kernelbraid._version import __version__
from kernelbraid.plotting.axes import check_fitted, mark
from kernelbraid.plotting.layout import FEWEST_MAPPED, middles_of, place


@dataclass(frozen=True)
class Contrast:
    """A feature, and by how much it differs between a cluster and all other samples."""

    name: str
    inside: float  # mean in the cluster
    outside: float  # mean over the others
    effect: float  # their difference, in standard deviations of all samples


def contrasts(X: Any, labels: np.ndarray, names: Sequence[str], n_clusters: int, most: int) -> list[list[Contrast]]:
    """Return the features that set every cluster apart, those that differ most first.

    Parameters
    ----------
    X : ndarray or csr matrix of shape (n_samples, n_features)
        One view. Samples of it that are rows of NaN were not measured.
    labels : ndarray of shape (n_samples,)
        Clusters from 0 on.
    names : sequence of str
        Of the features.
    n_clusters : int
        Above all labels.
    most : int
        Features per cluster.

    Returns
    -------
    list of list of Contrast
        One list per cluster; empty for one that has no samples in the view, or all of them.
    """
    if not sparse.issparse(X):
        there = np.isfinite(X).all(axis=1)
        X, labels = (X, labels) if there.all() else (X[there], labels[there])
    n, sizes = len(labels), np.bincount(labels, minlength=n_clusters)[:, None]
    scaler = StandardScaler(with_mean=False).fit(X)  # a feature that does not vary has scale 1
    sums = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n)) @ X
    sums = np.asarray(sums.toarray() if sparse.issparse(sums) else sums, dtype=np.float64)
    inside, outside = sums / np.maximum(sizes, 1), (sums.sum(axis=0) - sums) / np.maximum(n - sizes, 1)
    effect = np.where((sizes > 0) & (sizes < n), (inside - outside) / scaler.scale_, 0.0)
    first = np.argsort(-np.abs(effect), axis=1, kind="stable")[:, :most]
    tables = [np.take_along_axis(table, first, axis=1).tolist() for table in (inside, outside, effect)]
    rows = zip(first.tolist(), *tables, strict=True)
    return [[Contrast(names[j], *of_j) for j, *of_j in zip(*row, strict=True) if of_j[2]] for row in rows]


MOST_FEATURES = 5  # that are told of a cluster
MOST_SAMPLES = 10  # that are to be looked at first, of each kind
MOST_NAMED = 20  # clusters whose sizes a notebook shows
UNSURE, SURE, ASIDE = 0.5, 0.9, 0.5  # confidence of a label, and outlier score of a sample that stands aside
LOW, HIGH = 0.5, 0.8  # reliability
PALEST = 0.25  # opacity of a sample whose label is not sure at all
GLANCE = 300  # samples on the map of a notebook
BUTTONS = [["zoomIn2d", "zoomOut2d", "pan2d", "resetScale2d"]]
# Markers as plotly calls them, and as signs in words.
SYMBOLS = {"o": "circle", "^": "triangle-up", "s": "square", "D": "diamond", "v": "triangle-down"}
SYMBOLS |= {"P": "cross", "X": "x", "*": "star"}
SIGNS = dict(zip(SYMBOLS, "●▲■◆▼✚✕★", strict=True))


def write_report(
    model: Any,
    path: str | PathLike[str],
    X: Any = None,
    *,
    ids: Sequence[Any] | None = None,
    title: str | None = None,
    call: str | None = None,
) -> None:
    """Write a page about a fitted clusterer: one file of HTML that any browser shows, without a network.

    Parameters
    ----------
    model : estimator
        A fitted clusterer of this package; what it does not know is left out.
    path : str or path-like
        The file, which appears when it is complete and replaces an older one.
    X : matrix, data frame, or list of them, default=None
        The samples of the fit, in the units in which they shall be described; by default what the model keeps of them.
    ids : sequence of shape (n_samples,), default=None
        What the samples are called, all different: the index of a data frame `X`, or the number of the row from 0.
    title : str, default=None
        The heading.
    call : str, default=None
        How the fit is repeated; in Python by default.

    Notes
    -----
    Of more than 2,000 samples so many at even distances are drawn. Memberships and outlier scores are worked out if
    nobody asked for them before.
    """
    environment = load_template_engine()
    check_fitted(model, "labels_")
    path, labels = Path(path), to_numpy(model.labels_)
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} for the report; create it first.")
    facts = _facts(model, labels, X, names_of_samples(ids, X, len(labels)))
    template = environment.from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    with write_whole(path) as file:
        file.write(template.render(facts, title=title, call=call or _call(model)))


def load_template_engine() -> Any:
    """Return what fills in templates, or say what to install."""
    try:
        import jinja2
        import plotly  # noqa: F401 (before any work is done)
    except ImportError as error:
        raise ImportError(f"A report needs {error.name}; {install('report')}.") from None
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = lambda x: f"{x:,.0f}" if 1e3 <= abs(x) < 1e9 else f"{x:.3g}"  # large ones whole
    return environment


def _facts(model: Any, labels: np.ndarray, X: Any, ids: list[str]) -> dict[str, Any]:
    """Return what the page says."""
    membership, aside = _known(model, "membership_"), _known(model, "outlier_scores_")
    sure = None if membership is None else membership[np.arange(len(labels)), labels]
    views, reliability = getattr(model, "views_", None), getattr(model, "reliability_", None)
    kept, params = _samples(model, X, len(labels)), model.get_params(deep=False)
    return {
        "what": (type(model).__doc__ or "").partition("\n")[0],
        "n_samples": len(labels),
        "n_features": sum(len(names) for _, _, names in kept),
        "clusters": _clusters(kept, labels, sure, ids),
        "reliability": reliability,
        "trust": _in_a_word(reliability),
        "why": list(getattr(model, "why_", [])),
        "map": _map(model, labels, sure, ids),
        "unsure": [] if membership is None else _unsure(membership, labels, ids),
        "n_unsure": None if sure is None else int((sure < UNSURE).sum()),
        "aside": [] if aside is None else _aside(aside, labels, ids),
        "n_aside": None if aside is None else int((aside > ASIDE).sum()),
        "levels": _levels(model, labels),
        "views": [] if views is None or len(views) < 2 else views.entries(),
        "settings": {**params, **getattr(model, "settings_", {})},
        "is_seeded": params.get("random_state") is not None,
        "versions": [f"kernelbraid {__version__}", *(f"{one} {version(one)}" for one in ("numpy", "scikit-learn"))],
    }


def _in_a_word(reliability: float | None) -> str:
    """Return how far clusters can be relied on."""
    at = 0.0 if reliability is None else reliability
    return "low" if at < LOW else "high" if at >= HIGH else "fair"


def names_of_samples(ids: Sequence[Any] | None, X: Any, n_samples: int) -> list[str]:
    """Return what samples are called, or say what is wrong with their names."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else X
    if ids is None and hasattr(first, "iloc") and first.index.is_unique:
        ids = first.index
    names = [str(name) for name in (range(n_samples) if ids is None else ids)]
    if len(names) != n_samples:
        raise ValueError(f"ids has {len(names)} entries, and the model was fitted on {n_samples} samples.")
    if len(set(names)) < n_samples:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"ids holds {twice!r} more than once; give every sample a name of its own.")
    return names


def _known(model: Any, name: str) -> np.ndarray | None:
    """Return a fitted attribute; None for a model that has no such thing."""
    return to_numpy(getattr(model, name)) if hasattr(type(model), name) else None


def _samples(model: Any, X: Any, n_samples: int) -> list[tuple[np.ndarray, Any, list[str]]]:
    """Return the samples view by view: which ones a view has, the matrix, and names of its features."""
    if X is None:
        kept = model._kept_samples() if hasattr(model, "_kept_samples") else {}
        widths = model._fitted.widths if kept else []
    else:
        frames = X if isinstance(X, list | tuple) else [X]
        frames = [frame.select_dtypes(["number", "bool"]) if hasattr(frame, "iloc") else frame for frame in frames]
        kept, widths = {view: (np.arange(n_samples), A) for view, A in enumerate(frames)}, [A.shape[1] for A in frames]
    ends, known, views = np.cumsum([0, *widths]).tolist(), list(getattr(model, "feature_names_in_", ())), []
    for view, (rows, A) in kept.items():
        if A.shape[0] != len(rows):
            raise ValueError(f"X has {A.shape[0]} samples, and the model was fitted on {n_samples}; give those.")
        names = [f"feature {i}" for i in range(widths[view])]
        if len(known) == ends[-1]:
            names = known[ends[view] : ends[view + 1]]
        if hasattr(A, "columns"):
            names, A = list(A.columns), A.to_numpy(dtype=float)
        told = f" (view {view + 1})" if len(widths) > 1 else ""
        views.append((rows, A if sparse.issparse(A) else to_numpy(A), [f"{name}{told}" for name in names]))
    return views


def _clusters(
    kept: list[tuple[np.ndarray, Any, list[str]]], labels: np.ndarray, sure: np.ndarray | None, ids: list[str]
) -> list[dict[str, Any]]:
    """Return what there is to say of each cluster; what sets it apart over all views."""
    told, sizes = [], np.bincount(labels).tolist()
    apart = [contrasts(A, labels[rows], names, len(sizes), MOST_FEATURES) for rows, A, names in kept]
    for cluster, size in enumerate(sizes):
        own = np.flatnonzero(labels == cluster)
        typical = own[:3] if sure is None else own[np.argsort(-sure[own], kind="stable")[:3]]
        features, (colour, marker) = [one for view in apart for one in view[cluster]], mark(cluster)
        told.append(
            {
                "size": size,
                "width": size / max(sizes),
                "colour": colour,
                "sign": SIGNS[marker],
                "sure": None if sure is None else float(sure[own].mean()),
                "typical": [ids[i] for i in typical],
                "contrasts": sorted(features, key=lambda one: -abs(one.effect))[:MOST_FEATURES],
            }
        )
    return told


def _unsure(membership: np.ndarray, labels: np.ndarray, ids: list[str]) -> list[tuple[str, int, float, int, float]]:
    """Return the samples whose labels are the least sure: label and confidence, the next cluster and its share."""
    sure, others = membership[np.arange(len(labels)), labels], membership.copy()
    others[np.arange(len(labels)), labels] = -1.0
    first = [i for i in np.argsort(sure, kind="stable")[:MOST_SAMPLES] if sure[i] < SURE]
    following = others.argmax(axis=1)
    return [(ids[i], int(labels[i]), float(sure[i]), int(following[i]), float(max(others[i].max(), 0))) for i in first]


def _aside(scores: np.ndarray, labels: np.ndarray, ids: list[str]) -> list[tuple[str, int, float]]:
    """Return the samples that stand aside the most."""
    first = [i for i in np.argsort(-scores, kind="stable")[:MOST_SAMPLES] if scores[i] > ASIDE]
    return [(ids[i], int(labels[i]), float(scores[i])) for i in first]


def _levels(model: Any, labels: np.ndarray) -> list[dict[str, Any]]:
    """Return plausible partitions from coarse to fine, as far as several are: each as a row of clusters.

    These are coloured by, and stand in the order of, the clusters that were taken of which they hold most.
    """
    found, k = getattr(model, "levels_", None) or [], int(labels.max()) + 1
    told = []
    for level in found if len(found) > 1 else []:
        shared = np.bincount(np.asarray(level.labels) * k + labels, minlength=level.n_clusters * k).reshape(-1, k)
        sizes, most = shared.sum(axis=1), shared.argmax(axis=1)
        order = np.lexsort((-sizes, most)).tolist()
        segments = [(mark(int(most[i]))[0], float(sizes[i]) / len(labels)) for i in order]
        told.append({"level": level, "segments": segments})
    return told


def _map(model: Any, labels: np.ndarray, sure: np.ndarray | None, ids: list[str]) -> dict[str, Any] | None:
    """Return the map of the graph as a picture, and how many samples it shows; None where nothing places samples."""
    if not hasattr(model, "embedding_") or len(labels) < FEWEST_MAPPED:
        return None
    from plotly import graph_objects as go
    from plotly.offline import get_plotlyjs

    points, drawn, _ = place(model, "graph")
    points, at = np.round(points, 2), np.arange(len(labels))[drawn]
    figure = go.Figure()
    nothing: dict[str, Any] = {"visible": False, "fixedrange": False}
    for cluster in np.unique(labels[at]).tolist():
        own = labels[at] == cluster
        x, y = points[own].T
        told = [escape(ids[i]) + ("" if sure is None else f"<br>confidence {sure[i]:.2f}") for i in at[own]]
        colour, shape = mark(cluster)
        marker: dict[str, Any] = {"color": colour, "symbol": SYMBOLS[shape], "size": 7 if len(at) <= 1000 else 5}
        if sure is not None:
            marker["opacity"] = np.round(np.clip(sure[at[own]], PALEST, 1.0), 2)
        options = {"mode": "markers", "name": str(cluster), "text": told, "marker": marker}
        figure.add_scatter(x=x, y=y, hovertemplate="%{text}<extra>cluster %{fullData.name}</extra>", **options)
    x, y, named = zip(*middles_of(points, labels[at]), strict=True)
    figure.add_scatter(x=x, y=y, text=list(map(str, named)), mode="text", hoverinfo="skip")
    figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        xaxis=nothing,
        yaxis={**nothing, "scaleanchor": "x"},
        dragmode=False,  # a finger on the map scrolls the page
        showlegend=False,  # names are on the map
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": "#8a93a3", "activecolor": "#8a93a3"},
    )
    config = {"responsive": True, "displaylogo": False, "modeBarButtons": BUTTONS}
    page: dict[str, Any] = {"full_html": False, "include_plotlyjs": False, "div_id": "map", "default_height": "28rem"}
    return {"html": figure.to_html(config=config, **page), "n_drawn": len(at), "script": get_plotlyjs()}


def _call(model: Any) -> str:
    """Return how the fit is repeated in Python."""
    name, written = type(model).__name__, model.__repr__(N_CHAR_MAX=100_000)
    room = "kernelbraid.methods" if name in methods.__all__ else "kernelbraid"
    extra = ", ADMM" if "ADMM(" in written else ""
    return f"from {room} import {name}{extra}\n\nmodel = {written}\nmodel.fit(X)"


def summary_of(model: Any) -> str:
    """Return what notebooks show of a fit: clusters and their sizes, reliability, and a small map, as HTML."""
    labels = to_numpy(model.labels_)
    sizes = np.bincount(labels).tolist()
    dots, reliability = "", getattr(model, "reliability_", None)
    if hasattr(model, "embedding_") and len(labels) >= FEWEST_MAPPED:
        points, drawn, _ = place(model, "graph", GLANCE)
        points = np.round(100 * (points - points.min(axis=0)) / np.ptp(points, axis=0).max(), 1)
        shown = zip(points.tolist(), labels[drawn].tolist(), strict=True)
        dots = "".join(f'<circle cx="{x}" cy="{y}" r="1.3" fill="{mark(label)[0]}"/>' for (x, y), label in shown)
        dots = f'<svg viewBox="-2 -2 104 104" width="180" height="180" role="img" aria-label="map">{dots}</svg>'
    more = ", ..." if len(sizes) > MOST_NAMED else ""
    told = f"{len(sizes)} clusters of {len(labels)} samples: {', '.join(map(str, sizes[:MOST_NAMED]))}{more}"
    if reliability is not None:
        told += f"<br>reliability {reliability:.2f}: {_in_a_word(reliability)}"
    return f'<div style="display:flex;gap:1em;align-items:center;flex-wrap:wrap">{dots}<div>{told}</div></div>'
