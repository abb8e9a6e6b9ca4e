"""``kernelbraid demo``: a bundled data set, clustered by LKG and by two methods of scikit-learn."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import typer
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from kernelbraid import plotting
from kernelbraid._system import install
from kernelbraid.cli.failure import Failure
from kernelbraid.cli.label_files import write_labels
from kernelbraid.cli.output import (
    check_folder,
    collect_warnings,
    print_json,
    print_table,
    print_warnings,
    write_whole,
)
from kernelbraid.estimators import LKG
from kernelbraid.metrics import evaluate

SEED = 0
PICTURES: dict[str, Callable[..., Any]] = {
    "graph.png": plotting.plot_graph,
    "kernel.png": plotting.plot_kernel,
    "embedding.png": plotting.plot_embedding,
}


@dataclass(frozen=True)
class DemoData:
    """Samples whose classes are known."""

    title: str
    X: np.ndarray
    classes: np.ndarray
    n_clusters: int


def load() -> DemoData:
    """Return the data set of the demo."""
    X, classes = load_digits(return_X_y=True)
    return DemoData("300 handwritten digits, 8 x 8 pixels", normalize(X[:300]), classes[:300], 10)


def methods(n_clusters: int) -> dict[str, Any]:
    """Return the methods that are compared, LKG first, each as people call it: scikit-learn's with ten restarts."""
    return {
        "LKG": LKG(n_clusters, random_state=SEED),
        "KMeans": KMeans(n_clusters, n_init=10, random_state=SEED),
        "SpectralClustering": SpectralClustering(n_clusters, affinity="nearest_neighbors", random_state=SEED),
    }


def run(out: Path, *, as_json: bool) -> None:
    """Cluster the data set, compare, and write labels and pictures."""
    check_folder(out, "'--out'")
    data = load()
    models = methods(data.n_clusters)
    results, warnings = {}, []
    for name, model in models.items():
        with collect_warnings() as lines:
            start = perf_counter()
            labels = model.fit_predict(data.X)
            seconds = perf_counter() - start
        results[name] = {**evaluate(data.classes, labels), "seconds": round(seconds, 4)}
        warnings += [f"{name}: {line}" for line in lines]
    files = write_files(out, models["LKG"])
    print_warnings(warnings)
    if as_json:
        content = {"data": data.title, "n_samples": len(data.X), "n_clusters": data.n_clusters, "results": results}
        print_json({**content, "out": str(out), "files": files, "warnings": warnings})
    else:
        print_comparison(data, results, out, files)


def write_files(out: Path, model: LKG) -> list[str]:
    """Write labels and, where matplotlib is installed, pictures; return the names of the files."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"the folder {out} could not be created ({error.strerror}).") from None
    write_labels(out / "labels.csv", model.labels_.tolist())
    return ["labels.csv", *write_pictures(out, model)]


def write_pictures(out: Path, model: LKG) -> list[str]:
    """Write all pictures of a fit; return their names, none without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    for name, plot in PICTURES.items():
        figure = Figure(figsize=(6.4, 4.8), layout="constrained")
        plot(model, ax=figure.subplots())
        with write_whole(out / name, "wb") as file:
            figure.savefig(file, format="png", dpi=150)
    return list(PICTURES)


def print_comparison(data: DemoData, results: dict[str, dict[str, float]], out: Path, files: list[str]) -> None:
    """Print the measures of all methods, one column each."""
    typer.echo(f"{data.title}, {data.n_clusters} clusters\n")
    measures = list(next(iter(results.values())))
    rows = [[name, *(f"{scores[name]:.4f}" for scores in results.values())] for name in measures]
    print_table(rows, header=["", *results], numbers=range(1, len(results) + 1))
    typer.echo(f"\nWritten to {out}: {', '.join(files)}")
    if len(files) == 1:
        typer.echo(f"Pictures need matplotlib; {install('plot')}.")
