"""What a fit can have written, part by part: samples with their kernels, and what new samples need of a graph.

Lengths have letters: n samples, d features over all views, k clusters, e coordinates, m kernels, p landmarks, v views.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, get_args

import numpy as np
from scipy import sparse

from kernelbraid.estimators.models.rules import (
    FAR,
    Rule,
    Sizes,
    check_fields,
    count,
    maybe,
    number,
    numbers,
    of,
    one_of,
    several,
    whole,
)
from kernelbraid.kernels import FittedBank, Gaussian, Linear, Neighbours, Polynomial, SelfTuning
from kernelbraid.kernels.functions import Pairs
from kernelbraid.learning.extension import Extension
from kernelbraid.learning.fused_extension import FusedExtension, ViewMember
from kernelbraid.learning.graph_extension import GraphExtension, GraphMember
from kernelbraid.ops.refinement import EdgeWeights
from kernelbraid.ops.spectral import Spectrum
from kernelbraid.solvers.extension import Expression, Placement
from kernelbraid.solvers.fused_landmarks import FusedExpression
from kernelbraid.solvers.kernel_kmeans import KernelCentres
from kernelbraid.solvers.landmarks import BipartiteEmbedding, LandmarkExpression

WEIGHTS = numbers("m", is_shared=True)
LIST, FLAG, POSITIVE = of(list), of(bool, np.bool_), number(is_positive=True)
#: The rules of a graph's edges, wherever they are.
EDGES: dict[str, Rule] = {"n_neighbors": maybe(count(1)), "edge_weights": one_of(get_args(EdgeWeights))}
SPECTRUM = one_of(get_args(Spectrum))
WIDTHS = several(count(1), "v", least=1)
USED = maybe(several(count(0), least=1))

# Kernels of a fit know its samples; those among parameters need not.
KERNELS: dict[type, dict[str, Rule]] = {
    Gaussian: {"scale": number(is_positive=True, is_finite=False), "label": of(str)},
    Polynomial: {"offset": number(is_finite=False), "degree": count(1)},
    Linear: {},
    SelfTuning: {"n_neighbors": count(1), "widths": numbers("n", is_positive=True)},
    Neighbours: {
        "n_neighbors": count(1),
        "graph": numbers("n n", least=0.0, thin=True),
        "roots": numbers("n", is_positive=True),
        "degrees": numbers("n", is_positive=True),
    },
}


def part(kind: type, rules: Mapping[str, Rule]) -> Rule:
    """Return the rule of an object whose attributes have rules."""

    def check(value: Any, sizes: Sizes) -> None:
        of(kind)(value, sizes)
        check_fields(value, rules, sizes)

    return check


def fail_unless(is_so: bool, problem: str) -> None:
    """Say what does not belong together."""
    if not is_so:
        raise ValueError(problem)


def names(value: Any, sizes: Sizes) -> None:
    """Check the names of features."""
    of(np.ndarray)(value, sizes)
    fail_unless(value.shape == (sizes["d"],) and all(isinstance(name, str) for name in value), "holds no names")


#: The rules of what every estimator knows about its features.
FEATURES: dict[str, Rule] = {"n_features_in_": count(1, "d"), "feature_names_in_": names}


def kernel(value: Any, sizes: Sizes) -> None:
    """Check a kernel of a fit."""
    of(*KERNELS)(value, sizes)
    check_fields(value, KERNELS[type(value)], sizes)


PAIRS = {
    **dict.fromkeys(("row_squares", "column_squares"), numbers("n")),
    **dict.fromkeys(("max_square", "max_distance"), number()),
    "scale": POSITIVE,
    "is_far": FLAG,
    **dict.fromkeys(("row_sides", "column_sides"), maybe(numbers("n"))),
}


def bank(value: Any, sizes: Sizes) -> None:
    """Check samples, with the kernels over them."""
    of(FittedBank)(value, sizes)
    inner = Sizes(n=sizes["n"])
    rules = {
        "views": several(numbers("n _", thin=True), "b", least=1),
        "banks": several(several(kernel, least=1), "b"),
        "pairs": several(part(Pairs, PAIRS), "b"),
    }
    check_fields(value, rules, inner)
    far = (view for view, pairs in zip(value.views, value.pairs, strict=True) if pairs.is_far)
    fail_unless(not any(map(sparse.issparse, far)), "has sparse samples far from the origin, which none are")
    total = sum(map(len, value.banks))
    fail_unless(sizes.setdefault("m", total) == total, f"has {total} kernels instead of {sizes['m']}")


def widths_of(fitted: FittedBank) -> list[int]:
    """Return the numbers of features of the views."""
    return [view.shape[1] for view in fitted.views]


def chosen(values: Sequence[int], used: Sequence[int] | None) -> list[int]:
    """Return some of the values."""
    fail_unless(used is None or max(used) < len(values), "names views that there are not")
    return list(values) if used is None else [values[view] for view in used]


def digests(value: Any, sizes: Sizes) -> None:
    """Check what tells the fitted samples apart."""
    whole("n 16")(value, sizes)
    fail_unless(value.dtype == np.uint8, "holds no bytes")


PLACEMENT = part(Placement, {"basis": numbers("n e", most=FAR), "values": numbers("e"), "spectrum": SPECTRUM})


def extension(value: Any, sizes: Sizes) -> None:
    """Check what new samples need of a graph."""
    rules = {
        "kernel_weights": WEIGHTS,
        "ridge": POSITIVE,
        **EDGES,
        "placement": PLACEMENT,
        "bank": maybe(bank),
        "kernel": maybe(numbers("n n", thin=True)),
        "digests": maybe(digests),
        "views": USED,
        "sizes": maybe(several(count(1), least=1)),
    }
    check_fields(value, rules, sizes)
    if value.bank is not None:
        known = widths_of(value.bank)
        fits = sum(known) == sizes["d"] if value.views is None else len(known) == len(value.views)
        fail_unless(fits, "holds other features than were fitted")
        return
    fail_unless(value.kernel is not None and value.digests is not None, "lacks the kernel of the fitted samples")
    fail_unless(sizes["n"] == sizes["d"], "holds another number of samples than were fitted")
    if value.sizes is not None:
        fail_unless(sum(chosen(value.sizes, value.views)) == sizes["m"], "has another number of kernels")


def fused_extension(value: Any, sizes: Sizes) -> None:
    """Check what new samples need of the graphs of several views."""
    rules = {
        "widths": WIDTHS,
        "n_samples": count(1, "n"),
        "placement": PLACEMENT,
        "digests": digests,
        "is_precomputed": FLAG,
    }
    check_fields(value, rules, sizes)
    held = sizes["n"] if value.is_precomputed else sum(value.widths)
    fail_unless(held == sizes["d"], "holds other features than were fitted")
    check_fields(value, {"members": several(partial(view_member, fused=value), least=1)}, sizes)
    fail_unless(not all(member.is_reserve for member in value.members), "has no view that counts")


def view_member(value: Any, sizes: Sizes, fused: FusedExtension) -> None:
    """Check the graphs of one view."""
    of(ViewMember)(value, sizes)
    check_fields(value, {"view": count(0), "rows": maybe(whole("_", below="n"))}, sizes)
    rows = value.rows
    fail_unless(rows is None or is_ascending(rows), "counts a sample twice")
    rules = {
        "weight": POSITIVE,
        **EDGES,
        "ridges": several(POSITIVE, "g", least=1),
        "degrees": numbers("g n", least=0.0),
        "bank": maybe(bank),
        "kernel": maybe(numbers("n n", thin=True)),
        "is_reserve": FLAG,
    }
    check_fields(value, rules, Sizes(n=sizes["n"] if rows is None else len(rows)))
    fail_unless((value.bank is None) == fused.is_precomputed, "holds samples and kernels")
    fail_unless(value.bank is not None or value.kernel is not None, "lacks the kernel of the fitted samples")
    width = chosen(fused.widths, [value.view])
    fail_unless(value.bank is None or widths_of(value.bank) == width, "holds other features than were fitted")


def graph_extension(value: Any, sizes: Sizes) -> None:
    """Check what new samples need of graphs that were given."""
    rules = {"n_views": count(1), "placement": PLACEMENT, "digests": digests}
    check_fields(value, rules, sizes)
    fail_unless(sizes["n"] == sizes["d"], "holds another number of samples than were fitted")
    member = {
        "view": one_of_views(range(value.n_views)),
        "weight": POSITIVE,
        "degrees": numbers("n", least=0.0),
        "scales": maybe(numbers("n", is_positive=True)),
        **dict.fromkeys(("is_alone", "is_reserve"), FLAG),
    }
    check_fields(value, {"members": several(part(GraphMember, member), least=1)}, sizes)
    fail_unless(not all(member.is_reserve for member in value.members), "has no graph that counts")


EXPRESSION = part(Expression, {"inverse": numbers("n n"), **EDGES})


def landmark_expression(value: Any, sizes: Sizes) -> None:
    """Check how samples are expressed over landmarks."""
    of(LandmarkExpression)(value, sizes)
    rules = {
        "bank": bank,
        "kernel_weights": WEIGHTS,
        "expression": EXPRESSION,
        **EDGES,
        "widths": WIDTHS,
        "views": USED,
        "scale": POSITIVE,
    }
    check_fields(value, rules, Sizes(n=sizes["p"]))
    fits = widths_of(value.bank) == chosen(value.widths, value.views) and sum(value.widths) == sizes["d"]
    fail_unless(fits, "holds other features than were fitted")


def fused_expression(value: Any, sizes: Sizes) -> None:
    """Check how samples of several views are."""
    rules = {
        "size": maybe(count(1, "p")),
        "members": several(of(LandmarkExpression), "f", least=1),
        "rows": maybe(several(maybe(whole("_", below="p")), "f")),
        "weights": numbers("f", is_shared=True),
        "n_neighbors": EDGES["n_neighbors"],
        "widths": WIDTHS,
    }
    check_fields(value, rules, sizes)
    every = [None] * len(value.members) if value.rows is None else value.rows
    fail_unless(all(rows is None or is_ascending(rows) for rows in every), "counts a landmark twice")
    fail_unless(value.rows is None or value.size is not None, "does not tell how many landmarks there are")
    for member, rows in zip(value.members, every, strict=True):
        landmark_expression(member, Sizes({**sizes, "p": sizes["p"] if rows is None else len(rows)}))
        fail_unless(member.views is not None and len(member.views) == 1, "has a graph of several views at once")
    fits = all(tuple(member.widths) == tuple(value.widths) for member in value.members)
    fail_unless(fits, "holds other features than were fitted")
    check_fields(value, {"reserve": several(one_of_views(value.views))}, sizes)
    fail_unless(set(value.reserve) < set(value.views), "has no view that counts")


def is_ascending(rows: np.ndarray) -> bool:
    """Tell whether there are rows, each of them once."""
    return len(rows) > 0 and bool((np.diff(rows) > 0).all())


def one_of_views(views: Sequence[int]) -> Rule:
    """Return the rule of the number of one of some views."""

    def check(value: Any, sizes: Sizes) -> None:
        count(0)(value, sizes)
        fail_unless(value in views, "names views that there are not")

    return check


BIPARTITE = part(BipartiteEmbedding, {"basis": numbers("p e", most=FAR), "values": numbers("e"), "spectrum": SPECTRUM})


def either(rules: Mapping[type, Rule]) -> Rule:
    """Return the rule of an object by its class."""

    def check(value: Any, sizes: Sizes) -> None:
        of(*rules)(value, sizes)
        rules[type(value)](value, sizes)

    return check


def centres(value: Any, sizes: Sizes) -> None:
    """Check the centres of kernel k-means."""
    part(KernelCentres, {"V": numbers("k n"), "weights": WEIGHTS, "squares": numbers("k")})(value, sizes)


#: How a fit places new samples, of every kind.
GRAPHS = either({Extension: extension, FusedExtension: fused_extension, GraphExtension: graph_extension})
EXPRESSIONS = either({LandmarkExpression: landmark_expression, FusedExpression: fused_expression})
