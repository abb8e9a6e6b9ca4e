"""``kernelbraid predict``: read a model and new samples, write labels, summarise."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from kernelbraid._messages import content_of, say
from kernelbraid.cli.failure import Failure
from kernelbraid.cli.label_files import write_labels
from kernelbraid.cli.messages import InOptions
from kernelbraid.cli.output import beside_labels, collect_warnings, print_json, print_table, print_warnings
from kernelbraid.cli.progress import show_progress
from kernelbraid.cli.recipe import pairs_word
from kernelbraid.cli.scaling import first_step, last_step, prepared
from kernelbraid.cli.streaming import samples_of
from kernelbraid.cli.summary import by_sample, certainty_in_words, labels_in_words, summarise_certainty
from kernelbraid.cli.views import FileViews, headers_in_words, in_order, open_views, read_views, tables_in_words
from kernelbraid.datasets import DataError
from kernelbraid.estimators import LandmarkLKG
from kernelbraid.estimators.each_view import AS_IT_IS
from kernelbraid.io.models import load_model

WORDS = InOptions({})  # a model is called by its class


def run(
    model_path: Path,
    paths: Sequence[Path],
    *,
    reading: dict[str, Any],
    out: Path | None,
    confidence: bool = False,
    as_json: bool,
    quiet: bool,
) -> None:
    """Label the samples in the files and report."""
    model = read_model(model_path)
    if confidence and not hasattr(model, "predict_proba"):
        raise Failure(
            f"{model_path} holds a {type(model).__name__}, which does not know how sure its labels are; leave out "
            "--confidence, or save a fitted LKG."
        )
    with collect_warnings(WORDS) as warnings:
        views = read_new(model, paths, reading)
        with watched(model, views, times=1 + confidence, hidden=quiet or as_json) as data:
            labels, seconds = label(model, data, views.n_samples)
            certainty = None
            if confidence:
                shares, more = label(model, data, views.n_samples, "predict_proba")
                certainty, seconds = {"confidence": shares_of_labels(model, shares, labels)}, seconds + more
    if out is not None:
        write_labels(out, labels.tolist(), views.ids, certainty)
    summary = {"model": str(model_path), **summarise(model, views, labels), "seconds": round(seconds, 4)}
    summary["confidence"] = None if certainty is None else summarise_certainty(**certainty)
    summary |= {"header": views.headers, "tables": views.tables}
    summary |= {"out": None if out is None else str(out), "warnings": warnings}
    print_warnings(warnings)
    if as_json:
        print_json({**summary, **by_sample(labels.tolist(), views.ids, certainty)})
    elif not quiet:
        with beside_labels(out):
            print_summary(summary)


def read_model(path: Path) -> Any:
    """Return a fitted estimator that can label samples."""
    try:
        model = load_model(path)
    except OSError as error:
        raise Failure(f"{path} could not be read ({error.strerror or error}).") from None
    except ValueError as error:
        raise Failure(str(error)) from None
    except MemoryError:
        raise Failure(f"{path} does not fit into memory; free some, or fit a smaller model.") from None
    if not hasattr(last_step(model), "n_features_in_"):
        raise Failure(f"{path} holds an estimator that was not fitted; call fit first, and save it again.")
    last = last_step(model)
    if not hasattr(last, "predict"):
        raise Failure(
            f"{path} holds a {type(last).__name__}, which cannot label new samples; save a fitted LKG instead."
        )
    return model


def read_new(model: BaseEstimator, paths: Sequence[Path], reading: dict[str, Any]) -> FileViews:
    """Read new samples, or their kernels with the fitted ones, as the model takes them."""
    remedy = "the model was fitted on samples, give such as rows"
    # Columns are found by these names; matrices, which the model gets, have none.
    first, last = first_step(model), last_step(model)
    known = vars(first).pop("feature_names_in_", None)
    names = None if known is None else [str(name) for name in known]
    reading = {**reading, "keep": names if len(paths) == 1 else None}
    if isinstance(last, LandmarkLKG):
        views = open_views(paths, **reading)
    else:
        views = read_views(paths, precomputed=takes_kernels(last), instead_of_kernels=remedy, **reading)
    if views.n_features not in (None, first.n_features_in_):
        raise Failure(
            f"DATA has {views.n_features} features, and the model was fitted on {first.n_features_in_}; give the same "
            "columns (--drop leaves some out) of all views."
        )
    return views if names is None or len(paths) == 1 else in_order(views, names)


def takes_kernels(model: BaseEstimator) -> bool:
    """Return whether a model was fitted on kernels, or on graphs."""
    return pairs_word(lambda name: getattr(model, name, None)) is not None


@contextmanager
def watched(model: BaseEstimator, views: FileViews, *, times: int = 1, hidden: bool) -> Iterator[Any]:
    """Yield what to label, while something shows that the work goes on."""
    last = last_step(model)
    name = f"{type(last).__name__}, labels"
    if isinstance(last, LandmarkLKG):
        with samples_of(views.data, name, times=times, address=None, hidden=hidden) as data:
            yield data
        return
    with show_progress(name, None, hidden=hidden):
        yield views.data


def label(model: BaseEstimator, data: Any, n_samples: int, method: str = "predict") -> tuple[np.ndarray, float]:
    """Return the labels of the samples, or what else a method finds, and the seconds that they took."""
    start, last = perf_counter(), last_step(model)
    try:
        is_read_later = last is not model and isinstance(last, LandmarkLKG)
        found = getattr(last, method)(prepared(model, data)) if is_read_later else getattr(model, method)(data)
    except DataError:
        raise
    except ValueError as error:
        raise Failure(say(content_of(error), WORDS)) from None
    except (AttributeError, TypeError) as error:
        raise Failure(f"the model does not hold what a fitted one needs ({error}); save it again.") from None
    except MemoryError:
        raise Failure(f"{n_samples} samples do not fit into memory; give DATA in parts.") from None
    return np.asarray(found), perf_counter() - start


def shares_of_labels(model: BaseEstimator, shares: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the share of its own label of each sample; classes are in their order."""
    classes = getattr(model, "classes_", None)
    numbers = labels if classes is None else np.searchsorted(classes, labels)
    return np.asarray(shares[np.arange(len(labels)), numbers])


def summarise(model: BaseEstimator, views: FileViews, labels: np.ndarray) -> dict[str, Any]:
    """Return what there is to say about the labels, as plain data; clusters have numbers, classes have names."""
    last = last_step(model)
    classes = getattr(last, "classes_", None)
    names = np.arange(n_clusters_of(last)) if classes is None else classes
    return {
        "estimator": type(last).__name__,
        "steps": steps_of(model),
        "n_samples": views.n_samples,
        "n_features": views.n_features,
        "n_clusters": len(names),
        "classes": None if classes is None else [str(name) for name in classes],
        "cluster_sizes": [int((labels == name).sum()) for name in names],
    }


def steps_of(model: BaseEstimator) -> list[str]:
    """Return what is done to samples before they are labelled."""
    before = model.steps[:-1] if isinstance(model, Pipeline) else []
    return [type(step).__name__ for _, step in before if step not in (None, AS_IT_IS)]


def n_clusters_of(model: BaseEstimator) -> int:
    """Return the number of clusters that a model has."""
    return int(getattr(model, "n_clusters_", None) or len(model.centre_weights_))


def print_summary(summary: dict[str, Any]) -> None:
    """Print labels for people."""
    features, sizes, classes = summary["n_features"], summary["cluster_sizes"], summary["classes"]
    kind = "cluster" if classes is None else "class"
    told = sizes if classes is None else [f"{name} {size}" for name, size in zip(classes, sizes, strict=True)]
    present = sum(size > 0 for size in sizes)
    rows = {
        "model": f"{summary['model']}, {' and '.join([*summary['steps'], summary['estimator']])}",
        "samples": str(summary["n_samples"]),
        "features": "none, kernels or a graph" if features is None else str(features),
        "header": headers_in_words(summary["header"]),
        "tables": tables_in_words(summary["tables"]),
        "clusters" if classes is None else "classes": f"{present} of {len(sizes)} occur",
        f"{kind} sizes": ", ".join(map(str, told)),
        "confidence": certainty_in_words(summary["confidence"]),
        "time": f"{summary['seconds']:.2f} seconds",
        "labels": labels_in_words(summary["out"]),
    }
    print_table([name, text] for name, text in rows.items() if text is not None)
