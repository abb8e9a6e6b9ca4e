"""Random settings of every estimator on random small problems: fit, fit again, predict, transform."""

import pickle
import random
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import kernelbraid
from fuzzing.samples import MOST, generator, problem, snapshot, unchanged
from fuzzing.settings import settings
from fuzzing.target import OURS, RefusedError, Target, may_refuse, outcome_of
from kernelbraid.methods import LABEL_FREE, METHODS, VARIANTS

INPUT, TEXT = "input.pickle", "input.txt"
REFUSALS = (ValueError, TypeError, MemoryError)
ONE_VIEW = ("kernel", "block_size")  # parameters of estimators that take one view or kernel
COMPARED = [name for name in {**METHODS, **VARIANTS} if not name.startswith("LKG")]


def make(names: list[str], rng: random.Random, folder: Path) -> None:
    """Write an estimator, its settings, and samples."""
    numbers, name = generator(rng), rng.choice(names)
    method = {**METHODS, **VARIANTS, **LABEL_FREE}.get(name)
    estimator = method.estimator if method is not None else getattr(kernelbraid, name)
    legal = estimator._parameter_constraints
    what, X, n, precomputed = problem(
        numbers,
        views=not any(parameter in legal for parameter in ONE_VIEW),
        precomputed=any(parameter in legal for parameter in ("kernel", "kernels")) and name != "LandmarkLKG",
    )
    if "kernel" in legal and isinstance(X, list) and precomputed:
        X = X[0]
    drawn = settings(numbers, estimator, precomputed)
    if method is not None:
        drawn = {**method.settings, **drawn}
    if "n_clusters" in legal:
        drawn["n_clusters"] = "auto" if "auto" in str(legal["n_clusters"]) and rng.random() < 0.1 else rng.randint(1, n)
    y = None
    if name == "LKGClassifier":
        y = numbers.integers(-1, 3, n)
    elif "random_state" in legal:
        drawn["random_state"] = 0
    given = {"estimator": estimator.__name__, "settings": drawn, "X": X, "y": y, "refit": rng.random() < 0.3}
    (folder / INPUT).write_bytes(pickle.dumps(given))
    (folder / TEXT).write_text(
        f"{estimator.__name__}(**{drawn})\n{n} samples: {what}\n{X!r}\n{y!r}\n", encoding="utf-8"
    )


def check(folder: Path) -> None:
    """Fit and ask; an answer is complete, or there is a warning, or it is refused."""
    given = pickle.loads((folder / INPUT).read_bytes())
    X, before = given["X"], snapshot(given["X"])
    try:
        with may_refuse(*REFUSALS):
            model = _fit(given)
    finally:
        assert unchanged(before, X), "fit has changed its input"
    warned = bool(OURS)
    check_fit(model, given, warned)
    if given["refit"]:
        again = _fit(given)
        assert np.array_equal(_labels(model), _labels(again)), "the same fit gives other labels"
        assert warned == bool(OURS), "the same fit warns once"
    check_answers(model, X, warned)
    assert unchanged(before, X), "an answer has changed its input"


def _fit(given: dict[str, Any]) -> Any:
    OURS.clear()
    model = getattr(kernelbraid, given["estimator"])(**given["settings"])
    return model.fit(given["X"]) if given["y"] is None else model.fit(given["X"], given["y"])


def _labels(model: Any) -> np.ndarray:
    return np.asarray(model.labels_ if hasattr(model, "labels_") else model.transduction_)


def n_samples(X: Any) -> int:
    """Return the number of samples of any data."""
    first = X[0] if isinstance(X, list) and hasattr(X[0], "shape") else X
    return first.shape[-2] if hasattr(first, "shape") else len(first)


def check_fit(model: Any, given: dict[str, Any], warned: bool) -> None:
    """Expect labels of clusters that there are, and finite numbers unless something was said."""
    labels = _labels(model)
    assert labels.shape == (n_samples(given["X"]),), f"labels of shape {labels.shape}"
    if given["y"] is None:
        n_clusters = getattr(model, "n_clusters_", given["settings"]["n_clusters"])
        assert labels.dtype.kind in "iu", f"labels of type {labels.dtype}"
        assert labels.min() >= 0, "negative labels"
        assert labels.max() < n_clusters, f"label {labels.max()} of {n_clusters} clusters"
    for name, value in _numbers(vars(model)):
        assert warned or np.isfinite(value).all(), f"{name} is not finite, and nobody says so"


def _numbers(attributes: dict[str, Any], prefix: str = "") -> list[tuple[str, np.ndarray]]:
    """Return all fitted attributes that are real numbers, by name."""
    found = []
    for name, value in attributes.items():
        if not prefix and (not name.endswith("_") or name.startswith("_") or name == "settings_"):
            continue  # a setting may be infinite, as gamma is
        if isinstance(value, dict):
            found += _numbers({str(key): entry for key, entry in value.items()}, f"{prefix}{name}.")
        elif sparse.issparse(value):
            found.append((f"{prefix}{name}", value.data))
        elif isinstance(value, float | np.ndarray | np.floating) and np.asarray(value).dtype.kind == "f":
            found.append((f"{prefix}{name}", np.asarray(value)))
    return found


def check_answers(model: Any, X: Any, warned: bool) -> None:
    """Expect what `predict` promises for the fitted samples, and coordinates and shares that are finite."""
    predictor = getattr(model, "best_estimator_", model)
    if hasattr(predictor, "predict"):
        found = outcome_of(lambda: predictor.predict(X), *REFUSALS)
        if not isinstance(found, RefusedError):
            expected = _labels(predictor)
            assert found.shape == expected.shape, f"predictions of shape {found.shape}"
            assert np.isin(found, getattr(predictor, "classes_", np.arange(MOST))).all(), "predictions of no cluster"
            # A classifier may be told different classes of the same sample; the others have one label for all copies.
            if "fitted samples" in predictor.predict.__doc__ and hasattr(predictor, "labels_"):
                differ = int(np.sum(np.asarray(found) != expected))
                assert not differ, f"{differ} of {len(found)} fitted samples are predicted otherwise (warned: {warned})"
    for name in ("transform", "predict_proba"):
        if hasattr(predictor, name):
            placed = outcome_of(lambda name=name: getattr(predictor, name)(X), *REFUSALS)
            if not isinstance(placed, RefusedError):
                values = placed.data if sparse.issparse(placed) else placed
                assert np.isfinite(values).all(), f"{name} is not finite (warned: {warned})"


def _target(name: str, names: list[str], share: float) -> Target:
    return Target(name, partial(make, names), check, share)


TARGETS = [
    _target("LKG", ["LKG", "LKG", "LKGs", "LKGr"], 3.0),
    _target("LKGSearch", ["LKGSearch"], 1.5),
    _target("LandmarkLKG", ["LandmarkLKG"], 1.5),
    _target("LKGClassifier", ["LKGClassifier"], 1.0),
    _target("compared", COMPARED, 3.0),
]
