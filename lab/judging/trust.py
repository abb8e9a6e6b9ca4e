"""How often chance makes views agree.

Views of seven kinds that have nothing in common (noise, clear clusters, uneven clusters, hubs, words, samples with
copies, one feature), four of each in a fit: how many deviations above chance two of them agree, and the share of
pairs above a level. Where no pair was above, the share that would have shown itself with 95 % certainty (three of all
pairs).
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from kernelbraid import LKG
from lab.judging.jobs import Row, table
from lab.judging.samples import Matrix

#: How many fits by the number of samples; less is known about many, which take long.
FITS = {50: 200, 100: 100, 200: 40, 500: 12, 1000: 4, 2000: 2}
JOBS = tuple(map(str, FITS))
EACH = 4  # views of each kind
COUNTS = (2, 3, 5, 10, 20)
LEVELS = (3.0, 4.0, 5.0, 6.0)


def noise(n: int, rng: np.random.Generator) -> Matrix:
    """Draw 50 features of normal noise."""
    return rng.standard_normal((n, 50))


def clusters(n: int, rng: np.random.Generator) -> Matrix:
    """Draw seven clear clusters."""
    return 3 * rng.standard_normal((7, 50))[rng.integers(7, size=n)] + rng.standard_normal((n, 50))


def uneven(n: int, rng: np.random.Generator) -> Matrix:
    """Draw one large cluster and two small ones, whose samples are all of each other's neighbours."""
    members = rng.choice(3, size=n, p=[0.9, 0.05, 0.05])
    return 6 * rng.standard_normal((3, 20))[members] + rng.standard_normal((n, 20))


def hubs(n: int, rng: np.random.Generator) -> Matrix:
    """Draw samples of very different lengths in many dimensions, some of which are near everybody."""
    return rng.standard_normal((n, 200)) * rng.lognormal(0, 1, size=(n, 1))


def words(n: int, rng: np.random.Generator) -> Matrix:
    """Draw counts of words, most of them zero."""
    return sparse.csr_array(rng.poisson(0.02, size=(n, 500)).astype(float))


def ties(n: int, rng: np.random.Generator) -> Matrix:
    """Draw a few whole numbers, so that many samples are copies of each other."""
    return rng.integers(3, size=(n, 3)).astype(float)


def line(n: int, rng: np.random.Generator) -> Matrix:
    """Draw one feature."""
    return rng.lognormal(0, 1, size=(n, 1))


DRAWN: tuple[Callable[[int, np.random.Generator], Matrix], ...] = (noise, clusters, uneven, hubs, words, ties, line)


def measure(job: str) -> list[Row]:
    """Return how the deviations of pairs are spread."""
    n, rng = int(job), np.random.default_rng(0)
    z = np.concatenate([deviations(n, rng) for _ in range(FITS.get(n, 2))])
    above = {f"above {level:g}": int((z > level).sum()) for level in LEVELS}
    return [{"pairs": len(z), "deviation": float(z.std()), "largest": float(z.max()), **above}]


def deviations(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return what a fit reports on all pairs of views that have nothing in common."""
    views = [draw(n, rng) for draw in DRAWN for _ in range(EACH)]
    # A sum of kernels, read once, is the least that a fit can do beside the comparison of its views.
    model = LKG(2, fusion="kernels", assign_labels="kmeans", n_init=1, random_state=0).fit(views)
    return np.asarray(model.views_.agreement[np.tril_indices(len(views), -1)])


def page(rows: Sequence[Row]) -> list[str]:
    """Return the page."""
    names = [f"above {level:g}" for level in LEVELS]
    lines = [
        [row["job"], row["pairs"], f"{row['deviation']:.2f}", f"{row['largest']:.2f}"]
        + [bound(row[name], row["pairs"]) for name in names]
        for row in rows
    ]
    pairs = sum(row["pairs"] for row in rows)
    per_fit = [
        [m, m * (m - 1) // 2, *(bound(sum(row[name] for row in rows), pairs, m * (m - 1) // 2) for name in names[1:])]
        for m in COUNTS
    ]
    return [
        *table(["samples", "pairs", "deviation", "largest", *names], lines),
        "",
        "The same for a fit with m views: a bound on the chance that any pair agrees, by the share over all sizes.",
        "",
        *table(["views", "pairs", *names[1:]], per_fit),
    ]


def bound(above: int, pairs: int, times: int = 1) -> str:
    """Return a share times a number, at most one; that of three pairs if there were none."""
    return f"{min(1.0, times * above / pairs):.1e}" if above else f"< {min(1.0, times * 3 / pairs):.0e}"
