"""Data sets that are drawn, each by a seed of its own: what defaults are judged by beside real data.

They are fixed: a rule that is chosen on them must not have had a hand in them. Groups are of one kind each, so that a
rule can be chosen with a whole kind left out.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

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


def cells(rng: np.random.Generator, n_markers: int, strength: float) -> Drawn:
    """Draw counts of genes of cells of six types, and return 50 components of the logarithms of their shares."""
    y = rng.choice(6, 3000, p=[0.4, 0.25, 0.15, 0.1, 0.07, 0.03])
    profiles = np.tile(rng.lognormal(-1.5, 1.2, 2000), (6, 1))
    for profile in profiles:
        profile[rng.choice(2000, n_markers, replace=False)] *= np.exp(rng.normal(strength, 0.5, n_markers))
    means = profiles[y] * (rng.lognormal(8, 0.4, len(y)) / profiles[y].sum(axis=1))[:, None]
    counts = rng.poisson(means * rng.gamma(2, 0.5, means.shape))
    logs = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
    return PCA(50, random_state=0).fit_transform(logs[:, np.argsort(-logs.var(axis=0))[:1000]]), y


def letters(rng: np.random.Generator, n: int, spread: float) -> Drawn:
    """Draw letters of three styles each, told by 16 features of 16 levels, which are standardised."""
    y, style, mixed = rng.integers(26, size=n), rng.integers(3, size=n), rng.normal(0, 0.5, (26, 16, 4))
    X = rng.normal(0, 0.8 * spread, (26, 16))[y] + rng.normal(0, 0.65 * spread, (26, 3, 16))[y, style]
    X += np.einsum("ndj,nj->nd", mixed[y], rng.normal(size=(n, 4))) + rng.normal(0, 0.7, X.shape)
    return StandardScaler().fit_transform(np.clip(np.round(7.5 + 2 * X), 0, 15)), y


def survey(rng: np.random.Generator, n_questions: int) -> Drawn:
    """Draw answers from one to five of three kinds of people."""
    y, profiles = rng.integers(3, size=1500), np.array([rng.permutation([1.5, 3.0, 4.5]) for _ in range(n_questions)])
    return np.clip(np.round(profiles.T[y] + rng.normal(0, 0.7, (1500, n_questions))), 1, 5), y


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
    "simulated cells": {
        "cells_medium": (cells, 40, 1.0),
        "cells_hard": (cells, 20, 1.0),
        "cells_harder": (cells, 20, 0.9),
    },
    "rare classes": {
        f"rare_{d}": (blobs, [950, 40, 10], d, between, within)
        for d, between, within in (
            (2, 4.5, (1.0,)),
            (4, 3.0, (1.0, 0.6, 0.5)),
            (10, 1.8, (1.0,)),
            (20, 1.5, (1.0, 0.6)),
        )
    },
    "letters-like": {"letters_1900": (letters, 1900, 1.9), "letters_4000": (letters, 4000, 1.6)},
    "surveys": {f"survey_{questions}": (survey, questions) for questions in (3, 4, 6)},
}
