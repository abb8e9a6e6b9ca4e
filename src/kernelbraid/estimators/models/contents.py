"""What a fit can have written: every estimator with the rules of its attributes.

Lengths have letters: n samples, d features over all views, k clusters, e coordinates, m kernels, p landmarks, v views,
c classes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernelbraid.estimators.base import refused_parameter
from kernelbraid.estimators.classifier import LKGClassifier
from kernelbraid.estimators.diffusion import CrossViewDiffusion
from kernelbraid.estimators.graph_fusion import MultiViewGraphFusion
from kernelbraid.estimators.kernel_kmeans import KernelKMeans, MultipleKernelKMeans
from kernelbraid.estimators.landmarks.estimator import LandmarkLKG
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.min_max_kmeans import SimpleMultipleKernelKMeans
from kernelbraid.estimators.models.parts import (
    BIPARTITE,
    EXPRESSIONS,
    FEATURES,
    GRAPHS,
    WEIGHTS,
    bank,
    centres,
    fail_unless,
    widths_of,
)
from kernelbraid.estimators.models.rules import (
    FAR,
    Rule,
    Sizes,
    check_fields,
    count,
    maybe,
    numbers,
    of,
    several,
    whole,
)
from kernelbraid.estimators.self_weighted import SelfWeightedMultipleKernel
from kernelbraid.estimators.similarity import MultipleKernelTwinGraph, SimplexGraph, TwinGraph
from kernelbraid.estimators.spectral import AffinityAggregation, KernelSpectralClustering


def classes(value: Any, sizes: Sizes) -> None:
    """Check the classes: different, and plain values."""
    of(np.ndarray)(value, sizes)
    fail_unless(value.ndim == 1 and value.size > 0, "is no list of classes")
    sizes.match("c", value.shape[0])
    plain = all(isinstance(name, str | bool | int | float) for name in value.tolist()) or value.dtype.kind in "SmM"
    fail_unless(plain and len(set(value.tolist())) == len(value), "holds no classes")


def inner_model(*kinds: type) -> Rule:
    """Return the rule of a model inside another, with lengths of its own."""

    def check(value: Any, sizes: Sizes) -> None:
        of(*kinds)(value, sizes)
        check_model(value)

    return check


MATRIX = numbers("n n", thin=True)
LABELS = whole("n", below="k", is_complete=True)
ENDED: dict[str, Rule] = {"n_iter_": count(0), "status_": of(str), "why_": several(of(str))}
OF_KERNELS: dict[str, Rule] = {"kernel_weights_": WEIGHTS, "kernel_names_": several(of(str), "m")}
OF_VIEWS: dict[str, Rule] = {
    "view_weights_": numbers("v", is_shared=True),
    "view_report_": several(of(dict), "v"),
    "sample_view_weights_": numbers("n v", least=0.0),
}
COUNTED: dict[str, Rule] = {"n_clusters_": count(1, "k"), "n_clusters_evidence_": maybe(of(dict))}
GRAPH: dict[str, Rule] = {
    "embedding_": numbers("n k", most=FAR),
    "labels_": LABELS,
    "graph_": MATRIX,
    "coefficients_": MATRIX,
}


def certainty(value: Any, sizes: Sizes) -> None:
    """Check what was found out about the labels, as far as somebody has asked."""
    of(dict)(value, sizes)
    rules: dict[str, Rule] = {
        "membership": numbers("n k", is_shared=True),
        "outlier_scores": numbers("n", least=0.0, most=1.0),
    }
    fail_unless(set(value) <= set(rules), "holds what no fit finds")
    for name, found in value.items():
        rules[name](found, sizes)


def settings(value: Any, sizes: Sizes) -> None:
    """Check the values of parameters: for the names of LKG alone."""
    of(dict)(value, sizes)
    fail_unless(set(value) <= set(LKG._parameter_constraints), "holds what is no parameter of LKG")
    count(1)(value.get("n_clusters"), sizes)


KMEANS = {
    **FEATURES,
    "centre_weights_": numbers("k n"),
    "labels_": LABELS,
    **OF_KERNELS,
    **ENDED,
    "_fitted": maybe(bank),
    "_centres": centres,
}
SIMPLE = {**FEATURES, **GRAPH, **OF_KERNELS, **ENDED}
#: The rules of each estimator, in an order in which letters are known before they are needed.
MODEL_RULES: dict[type, dict[str, Rule]] = {
    LKG: {
        **FEATURES,
        **COUNTED,
        **GRAPH,
        "embedding_": numbers("n e", most=FAR),  # there may be fewer clusters than coordinates
        **dict.fromkeys(("auxiliary_graph_", "kernel_"), MATRIX),
        **OF_KERNELS,
        **ENDED,
        "n_components_": count(1),
        **OF_VIEWS,
        "history_": of(dict),
        "settings_": settings,
        "_fitted": GRAPHS,
        "_certainty": certainty,
    },
    LKGClassifier: {
        **FEATURES,
        "classes_": classes,
        "label_distributions_": numbers("n c", is_shared=True),
        "_spread": numbers("n c"),
        "graph_model_": inner_model(LKG),
    },
    LandmarkLKG: {
        **FEATURES,
        **COUNTED,
        "landmarks_": numbers("p d", thin=True, has_gaps=True),
        **dict.fromkeys(("graph_", "kernel_"), numbers("p p", thin=True)),
        "cluster_centers_": numbers("k e", most=FAR),
        "singular_values_": numbers("e", least=0.0),
        "embedding_": numbers("n e", most=FAR),
        "labels_": whole("n", below="k"),
        "landmark_labels_": whole("p", below="k"),
        "outlier_scores_": numbers("n", least=0.0, most=1.0),
        **OF_KERNELS,
        **OF_VIEWS,
        **ENDED,
        "_placement": BIPARTITE,
        "_expression": EXPRESSIONS,
    },
    **dict.fromkeys((KernelKMeans, MultipleKernelKMeans), KMEANS),
    **dict.fromkeys((KernelSpectralClustering, AffinityAggregation, SimplexGraph, TwinGraph), SIMPLE),
    **dict.fromkeys((MultipleKernelTwinGraph, SelfWeightedMultipleKernel, MultiViewGraphFusion), SIMPLE),
    **dict.fromkeys((CrossViewDiffusion, SimpleMultipleKernelKMeans), SIMPLE),
}
#: Attributes without which a model of a class cannot do what it is kept for; all others may be missing.
NEEDED: dict[type, tuple[str, ...]] = {
    LKG: ("n_features_in_", "n_clusters_", "embedding_", "labels_", "_fitted"),
    LKGClassifier: ("n_features_in_", "classes_", "label_distributions_", "transduction_", "_spread", "graph_model_"),
    # Labels and embedding may have been Dask arrays.
    LandmarkLKG: ("n_features_in_", "n_clusters_", "landmarks_", "cluster_centers_", "_placement", "_expression"),
    **dict.fromkeys(
        (KernelKMeans, MultipleKernelKMeans),
        ("n_features_in_", "centre_weights_", "labels_", "kernel_weights_", "_fitted", "_centres"),
    ),
    SimpleMultipleKernelKMeans: ("n_features_in_", "embedding_", "labels_", "kernel_weights_"),
}


def check_model(model: BaseEstimator) -> None:
    """Raise a ValueError that says what no fit can have written, if there is such."""
    name = type(model).__name__
    refused = refused_parameter(model)
    fail_unless(refused is None, f"{name} takes no such {'' if refused is None else refused.parameter}")
    needed = NEEDED.get(type(model), ("n_features_in_", "embedding_", "labels_", "graph_"))
    missing = next((attribute for attribute in needed if attribute not in vars(model)), None)
    fail_unless(missing is None, f"{name} lacks {missing}")
    sizes = Sizes()
    check_fields(model, MODEL_RULES[type(model)], sizes)
    together = TOGETHER.get(type(model))
    if together is not None:
        together(model, sizes)


def _check_kmeans(model: Any, sizes: Sizes) -> None:
    held = sizes["n"] if model._fitted is None else sum(widths_of(model._fitted))
    fail_unless(held == sizes["d"], "_fitted holds other features than were fitted")


def _check_counted(model: Any, sizes: Sizes) -> None:
    fits = sizes["k"] <= sizes["e"]
    fail_unless(fits, f"n_clusters_ of LKG is {sizes['k']}, more than the {sizes['e']} coordinates of embedding_")


def _check_classifier(model: Any, sizes: Sizes) -> None:
    fail_unless("graph_" in vars(model.graph_model_), "graph_model_ of LKGClassifier lacks graph_")
    check_fields(model.graph_model_, {"labels_": whole("n"), "n_features_in_": count(1, "d")}, sizes)
    found = model.transduction_
    of(np.ndarray)(found, sizes)
    known = set(model.classes_.tolist())
    fits = found.shape == (sizes["n"],) and found.dtype == model.classes_.dtype
    fail_unless(fits and all(name in known for name in found.tolist()), "transduction_ holds other classes")


TOGETHER: dict[type, Callable[[Any, Sizes], None]] = {
    **dict.fromkeys((KernelKMeans, MultipleKernelKMeans), _check_kmeans),
    LKG: _check_counted,
    LKGClassifier: _check_classifier,
}
