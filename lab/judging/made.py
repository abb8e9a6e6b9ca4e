"""Data sets that are drawn, each by a seed of its own: what defaults are judged by beside real data.

They are fixed: a rule that is chosen on them must not have had a hand in them. Groups are of one kind each, so that a
rule can be chosen with a whole kind left out.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

#: Samples and classes, drawn by a generator.
Drawn: TypeAlias = tuple[np.ndarray | sparse.csr_array, np.ndarray]


def read_made(name: str) -> Drawn:
    """Return samples in random order, and their classes."""
    draws = {name: draw for kind in MADE.values() for name, draw in kind.items()}
    rng, (draw, *what) = np.random.default_rng(100 + list(draws).index(name)), draws[name]
    X, y = draw(rng, *what)
    order = rng.permutation(len(y))
    return X[order], y[order]


def moons(rng: np.random.Generator) -> Drawn:
    """Draw two half circles that interlock."""
    y, angle = np.repeat([0, 1], 200), np.pi * rng.random(400)
    X = np.c_[np.cos(angle), np.sin(angle)] * np.where(y, -1, 1)[:, None] + np.where(y, 1, 0)[:, None] * [1.0, 0.5]
    return X + rng.normal(0, 0.08, X.shape), y


def circles(rng: np.random.Generator) -> Drawn:
    """Draw three circles around one centre."""
    y, angle = np.repeat([0, 1, 2], [100, 200, 300]), 2 * np.pi * rng.random(600)
    return (1.0 + y)[:, None] * np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.08, (600, 2)), y


def spirals(rng: np.random.Generator) -> Drawn:
    """Draw three arms of a spiral."""
    y, t = np.repeat([0, 1, 2], 150), np.sqrt(rng.uniform(0.1, 1, 450))
    angle = 2 * np.pi * (1.2 * t + y / 3)
    return 4 * t[:, None] * np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.08, (450, 2)), y


def cigars(rng: np.random.Generator) -> Drawn:
    """Draw four long parallel strips."""
    y = np.repeat(np.arange(4), 120)
    return np.c_[rng.uniform(-6, 6, 480), y + rng.normal(0, 0.12, 480)], y


def eye(rng: np.random.Generator) -> Drawn:
    """Draw a ring with a blob inside and one outside, of different density."""
    angle = 2 * np.pi * rng.random(250)
    ring = 3 * np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.15, (250, 2))
    inside, outside = rng.normal(0, 0.4, (150, 2)), rng.normal([6.0, 0.0], 0.8, (60, 2))
    return np.concatenate([ring, inside, outside]), np.repeat([0, 1, 2], [250, 150, 60])


def links(rng: np.random.Generator) -> Drawn:
    """Draw two rings in three dimensions, linked as in a chain."""
    y, angle = np.repeat([0, 1], 250), 2 * np.pi * rng.random(500)
    c, s, zero = np.cos(angle), np.sin(angle), np.zeros(500)
    X = np.concatenate([np.c_[c, s, zero][:250], np.c_[1 + c, zero, s][250:]])
    return X + rng.normal(0, 0.07, X.shape), y


def rolls(rng: np.random.Generator) -> Drawn:
    """Draw two sheets in three dimensions, rolled into each other."""
    y, t = np.repeat([0, 1], 400), 1.5 * np.pi * (1 + rng.random(800))
    angle = t + np.pi * y
    X = np.c_[t * np.cos(angle), 8 * rng.random(800), t * np.sin(angle)]
    return X + rng.normal(0, 0.2, X.shape), y


def tilted(rng: np.random.Generator) -> Drawn:
    """Draw three blobs that are stretched in one direction."""
    y = np.repeat([0, 1, 2], 150)
    blobs = np.array([[-6.0, -4.0], [0.0, 0.0], [5.0, -6.0]])[y] + rng.normal(size=(450, 2))
    return blobs @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def blobs(
    rng: np.random.Generator, sizes: Sequence[int], n_features: int, between: float, within: Sequence[float] = (1.0,)
) -> Drawn:
    """Draw normal clusters with centres of deviation `between`, and deviations that take turns."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    centres = rng.normal(0, between, (len(sizes), n_features))
    return centres[y] + np.resize(within, len(sizes))[y][:, None] * rng.normal(size=(len(y), n_features)), y


def subspaces(
    rng: np.random.Generator, sizes: Sequence[int], dimensions: Sequence[int], n_features: int, noise: float
) -> Drawn:
    """Draw samples on subspaces through the origin, with noise."""
    parts = [
        rng.normal(size=(size, d)) @ np.linalg.qr(rng.normal(size=(n_features, d)))[0].T
        for size, d in zip(sizes, dimensions, strict=True)
    ]
    X = np.concatenate(parts)
    return X + rng.normal(0, noise, X.shape), np.repeat(np.arange(len(sizes)), sizes)


def topics(rng: np.random.Generator, sizes: Sequence[int], n_words: int, length: int, own: float) -> Drawn:
    """Draw counts of words: a share `own` of a text is from its topic, the rest from a common language."""
    common = 1 / np.arange(1, n_words + 1)
    y = np.repeat(np.arange(len(sizes)), sizes)
    themes = rng.dirichlet(np.full(n_words, 0.02), size=len(sizes))
    odds = own * themes[y] + (1 - own) * rng.permutation(common / common.sum())
    lengths = np.maximum(rng.poisson(length, size=len(y)), 5)
    return sparse.csr_array(rng.multinomial(lengths, odds / odds.sum(axis=1, keepdims=True)).astype(float)), y


def genes(rng: np.random.Generator, sizes: Sequence[int], n_features: int, n_telling: int, shift: float) -> Drawn:
    """Draw few samples with many features, of which few differ by class, and hidden common factors."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(y), 5)) @ rng.normal(0, 0.15, (5, n_features)) + rng.normal(size=(len(y), n_features))
    for label in range(len(sizes)):
        X[np.ix_(y == label, rng.choice(n_features, n_telling, replace=False))] += shift
    return X + rng.gamma(2.0, 2.0, n_features), y


#: By kind and name, how to draw and with what; the place decides the seed.
MADE: dict[str, dict[str, tuple[Any, ...]]] = {
    "made shapes": {draw.__name__: (draw,) for draw in (moons, circles, spirals, cigars, eye, links, rolls, tilted)},
    "made blobs": {
        "blobs_plane": (blobs, [100] * 6, 2, 8.0),
        "blobs_spread": (blobs, [120] * 5, 2, 8.0, (0.4, 1.0, 2.5)),
        "blobs_sizes": (blobs, [600, 120, 60, 30], 5, 3.0),
        "blobs_near": (blobs, [100] * 8, 10, 1.1),
        "blobs_many": (blobs, [15] * 60, 20, 1.6),
        "blobs_most": (blobs, [10] * 120, 50, 1.2),
    },
    "made subspaces": {
        "subspaces_five": (subspaces, [80] * 5, [3] * 5, 30, 0.05),
        "subspaces_ten": (subspaces, [40] * 10, [4] * 10, 50, 0.1),
        "subspaces_uneven": (subspaces, [200, 100, 50, 50], [2, 4, 3, 6], 25, 0.1),
        "subspaces_noisy": (subspaces, [100] * 3, [5] * 3, 40, 0.3),
    },
    "made texts": {
        "topics_five": (topics, [80] * 5, 1500, 60, 0.25),
        "topics_twenty": (topics, [30] * 20, 2500, 80, 0.35),
        "topics_uneven": (topics, [300, 120, 60, 40, 25, 20], 2000, 60, 0.3),
        "topics_short": (topics, [150] * 4, 1000, 15, 0.4),
    },
    "made genes": {
        "genes_three": (genes, [25, 20, 15], 2000, 150, 1.2),
        "genes_two": (genes, [50, 50], 3000, 150, 1.0),
        "genes_uneven": (genes, [40, 15, 10, 8, 6, 5], 1500, 150, 1.3),
    },
}
