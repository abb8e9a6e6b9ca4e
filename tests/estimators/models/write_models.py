"""Write small models of every kind, and what they predict, with the kernelbraid that is installed.

``python write_models.py FOLDER`` made the folders beside this file, each with the version that it is named after; a
new version adds one and changes none. It uses what all versions have, but for the estimators that came with 0.2.0.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from kernelbraid import (
    LKG,
    AffinityAggregation,
    CrossViewDiffusion,
    KernelKMeans,
    KernelSpectralClustering,
    LandmarkLKG,
    LKGClassifier,
    MultipleKernelKMeans,
    MultipleKernelTwinGraph,
    MultiViewGraphFusion,
    SelfWeightedMultipleKernel,
    SimpleMultipleKernelKMeans,
    SimplexGraph,
    TwinGraph,
    save_model,
)
from kernelbraid.kernels import Gaussian, Linear, Neighbours, Polynomial, SelfTuning, build_bank

rng = np.random.default_rng(0)
CLUSTER = np.arange(19) % 2
SAMPLES = np.round(rng.normal(size=(19, 3)) + 4 * CLUSTER[:, None], 2)
FITTED, NEW = SAMPLES[:14], SAMPLES[14:]
KERNELS = np.round(build_bank(SAMPLES, [Gaussian(2.0), Gaussian(0.5)]), 6)
LABELS = np.array([0, 1] + 11 * [-1] + [1])
LOCAL = (SelfTuning(3), Neighbours(3), Gaussian(1.0))


def two(A):
    """Return two views of the samples."""
    return [A[:, :2].copy(), A[:, 1:].copy()]


def thin(A):
    """Return the samples as a sparse matrix."""
    return sparse.csr_matrix(np.maximum(A, 0))


#: From the name of a file: the estimator, what it is fitted on, new samples.
CASES = {
    "default": (LKG(2, random_state=0), FITTED, NEW),
    "learned": (LKG(2, gamma=10.0, random_state=0), FITTED, NEW),
    "authors": (LKG(2, preset="authors", kernels=[Linear(), Polynomial(1.0, 2)], random_state=0), FITTED, NEW),
    "near": (LKG(2, kernels=LOCAL, random_state=0), FITTED, NEW),
    "sparse": (LKG(2, random_state=0), thin(FITTED), thin(NEW)),
    "views": (LKG(2, random_state=0), two(FITTED), two(NEW)),
    "precomputed": (LKG(2, kernels="precomputed", random_state=0), KERNELS[:, :14, :14], KERNELS[:, 14:, :14]),
    "classifier": (LKGClassifier(), FITTED, NEW),
    "landmarks": (LandmarkLKG(2, n_landmarks=6, random_state=0), FITTED, NEW),
    "landmark_views": (
        *(
            LandmarkLKG(2, n_landmarks=6, view_widths=(2, 2), random_state=0),
            np.hstack(two(FITTED)),
            np.hstack(two(NEW)),
        ),
    ),
    "kernel_kmeans": (KernelKMeans(2, random_state=0), FITTED, NEW),
    "kernels_kmeans": (MultipleKernelKMeans(2, kernels=LOCAL, random_state=0), FITTED, NEW),
    "spectral": (KernelSpectralClustering(2, n_init=3, random_state=0), FITTED, None),
    "aggregation": (AffinityAggregation(2, kernels=LOCAL, n_init=3, random_state=0), FITTED, None),
    "simplex": (SimplexGraph(2, n_init=3, random_state=0), FITTED, None),
    "twin": (TwinGraph(2, n_init=3, random_state=0), FITTED, None),
    "twins": (MultipleKernelTwinGraph(2, kernels=LOCAL, n_init=3, random_state=0), FITTED, None),
    "min_max": (SimpleMultipleKernelKMeans(2, kernels=LOCAL, n_init=3, random_state=0), FITTED, None),
    "self_weighted": (SelfWeightedMultipleKernel(2, kernels=LOCAL, n_init=3, random_state=0), FITTED, None),
    "fusion": (MultiViewGraphFusion(2, n_neighbors=4, n_init=3, random_state=0), two(FITTED), None),
    "diffusion": (CrossViewDiffusion(2, n_neighbors=4, n_init=3, random_state=0), two(FITTED), None),
}


def plain(value):
    """Return arrays as lists; sparse ones are dense there."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return (value.toarray() if sparse.issparse(value) else np.asarray(value)).tolist()


def told(model, fitted, new):
    """Return what a model says, for samples that are plain lists."""
    said = {"fitted": plain(fitted), "is_sparse": sparse.issparse(fitted)}
    if hasattr(model, "labels_"):
        said["labels"] = plain(model.labels_)
    if new is None:
        return said
    predictor = getattr(model, "best_estimator_", model)
    said |= {"new": plain(new), "predict": plain(predictor.predict(new)), "known": plain(predictor.predict(fitted))}
    for method in ("transform", "predict_proba"):
        if hasattr(predictor, method):
            said[method] = plain(getattr(predictor, method)(new))
    return said


def write(folder):
    """Fit and save all cases."""
    folder.mkdir(exist_ok=True)
    said = {}
    for name, (model, fitted, new) in CASES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few samples are hardly clusters
            model.fit(fitted, LABELS) if name == "classifier" else model.fit(fitted)
        save_model(model, folder / f"{name}.model")
        said[name] = told(model, fitted, new)
    (folder / "predictions.json").write_text(json.dumps(said), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
