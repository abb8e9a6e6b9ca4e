"""``kernelbraid demo``: a bundled data set, clustered by LKG and by two methods of scikit-learn."""

from pathlib import Path
from time import perf_counter
from typing import Any

import typer
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from kernelbraid import LKG, plotting
from kernelbraid.cli import output
from kernelbraid.metrics import evaluate
from kernelbraid.plotting.axes import new_figure


def load() -> tuple[str, Any, Any]:
    """Return what the samples of the demo are, the samples, and their classes."""
    X, classes = load_digits(return_X_y=True)
    return "300 handwritten digits, 8 x 8 pixels", normalize(X[:300]), classes[:300]


def run(out: Path, *, as_json: bool) -> None:
    """Cluster the data set, compare, and write labels and pictures."""
    there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    output.check_target(there / "labels.csv", "'--out'")
    title, X, classes = load()
    k, results, warnings = len(set(classes)), {}, []
    models = {
        "LKG": LKG(k, random_state=0),
        "KMeans": KMeans(k, n_init=10, random_state=0),
        "SpectralClustering": SpectralClustering(k, affinity="nearest_neighbors", random_state=0),
    }
    for name, model in models.items():
        start = perf_counter()
        with output.library_speaks() as lines:
            scores = evaluate(classes, model.fit_predict(X))
        results[name] = {**scores, "seconds": round(perf_counter() - start, 4)}
        warnings += [f"{name}: {line}" for line in lines]
    with output.writing(out):
        out.mkdir(parents=True, exist_ok=True)
    output.write_labels(out / "labels.csv", models["LKG"].labels_, None, {})
    files = ["labels.csv"]
    try:
        for name in ("graph", "embedding"):
            figure, ax = new_figure(6.4, 4.8)
            getattr(plotting, f"plot_{name}")(models["LKG"], ax=ax)
            output.write_picture(out / f"{name}.png", figure)
            files.append(f"{name}.png")
    except ImportError as error:
        warnings.append(str(error))
    output.print_warnings(warnings)
    if as_json:
        told = {"data": title, "n_samples": len(X), "n_clusters": k, "results": results, "out": str(out)}
        output.print_json({**told, "files": files, "warnings": warnings})
        return
    typer.echo(f"{title}, {k} clusters\n")
    rows = [[name, *(f"{one[name]:.4f}" for one in results.values())] for name in results["LKG"]]
    output.print_table(rows, header=["", *results], numbers=range(1, len(results) + 1))
    typer.echo(f"\nWritten to {out}: {', '.join(files)}")
