"""How often chance alone makes two views agree: ``python -m benchmarks.trust``.

Views of several kinds are drawn; the samples of one of two are shuffled again and again, so that nothing is left to
agree on, and the deviations above chance are counted. A fit with m views compares m (m - 1) / 2 pairs.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from kernelbraid.kernels import build_bank
from kernelbraid.learning.trust import LEVEL, deviations, neighbour_graph

SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
COUNTS = (2, 3, 5, 10, 20)
LEVELS = (3.0, 4.0, 5.0, 6.0)
RESULT = Path(__file__).parent / "results" / "trust.md"
View = np.ndarray | sparse.csr_array


def noise(n: int, rng: np.random.Generator) -> View:
    """Draw 50 features of normal noise."""
    return rng.standard_normal((n, 50))


def clusters(n: int, rng: np.random.Generator) -> View:
    """Draw seven clear clusters."""
    return 3 * rng.standard_normal((7, 50))[rng.integers(7, size=n)] + rng.standard_normal((n, 50))


def uneven(n: int, rng: np.random.Generator) -> View:
    """Draw one large cluster and two small ones, whose samples are all of each other's neighbours."""
    members = rng.choice(3, size=n, p=[0.9, 0.05, 0.05])
    return 6 * rng.standard_normal((3, 20))[members] + rng.standard_normal((n, 20))


def hubs(n: int, rng: np.random.Generator) -> View:
    """Draw samples of very different lengths in many dimensions, some of which are near everybody."""
    return rng.standard_normal((n, 200)) * rng.lognormal(0, 1, size=(n, 1))


def words(n: int, rng: np.random.Generator) -> View:
    """Draw counts of words, most of them zero."""
    return sparse.csr_array(rng.poisson(0.02, size=(n, 500)).astype(float))


def ties(n: int, rng: np.random.Generator) -> View:
    """Draw a few whole numbers, so that many samples are copies of each other."""
    return rng.integers(3, size=(n, 3)).astype(float)


def line(n: int, rng: np.random.Generator) -> View:
    """Draw one feature."""
    return rng.lognormal(0, 1, size=(n, 1))


KINDS: dict[str, Callable[[int, np.random.Generator], View]] = {
    kind.__name__: kind for kind in (noise, clusters, uneven, hubs, words, ties, line)
}


def null_deviations(n: int, n_pairs: int, n_shuffles: int, rng: np.random.Generator) -> np.ndarray:
    """Return deviations of pairs of views that have nothing in common."""
    found = []
    for _ in range(n_pairs):
        drawn = {name: neighbour_graph(build_bank(draw(n, rng), "middle").mean(axis=0)) for name, draw in KINDS.items()}
        for i, A in enumerate(drawn.values()):
            for B in list(drawn.values())[: i + 1]:
                for _ in range(n_shuffles):
                    order = rng.permutation(n)
                    found.append(deviations(A, B[order][:, order])[0])
    return np.array(found)


def bound(z: np.ndarray, level: float, n_views: int) -> str:
    """Return a bound on the chance that any of the pairs of views is above a level, as text."""
    above, pairs = int(np.sum(z > level)), n_views * (n_views - 1) / 2
    share = min(1.0, pairs * (above or 3) / len(z))
    return f"{share:.1e}" if above else f"< {share:.0e}"


def main() -> None:
    """Measure, and write a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few shuffles")
    effort = 2_000 if parser.parse_args().quick else 4_000_000
    rng = np.random.default_rng(0)
    rows, every = [], []
    for n in SIZES:
        n_shuffles = max(2, effort // (28 * 2 * n))
        z = null_deviations(n, 2, n_shuffles, rng)
        every.append(z)
        above = [float(np.mean(z > level)) for level in LEVELS]
        cells = [f"{share:.1e}" if share else f"< {1 / len(z):.0e}" for share in above]
        rows.append(f"| {n} | {len(z)} | {z.std():.2f} | {z.max():.2f} | {' | '.join(cells)} |")
        print(rows[-1], flush=True)
    head = " | ".join(f"above {level:g}" for level in LEVELS)
    table = [f"| samples | pairs | deviation | largest | {head} |", "|---" * (4 + len(LEVELS)) + "|", *rows]
    per_fit = [
        f"| {m} | {m * (m - 1) // 2} | {' | '.join(bound(np.concatenate(every), level, m) for level in LEVELS[1:])} |"
        for m in COUNTS
    ]
    text = [
        "# How often chance makes views agree",
        "",
        "`python -m benchmarks.trust`: views of seven kinds (noise, clear clusters, uneven clusters, hubs, words, "
        f"samples with copies, one feature), one of two shuffled. Two views agree above {LEVEL:g} deviations.",
        "",
        *table,
        "",
        "The same for a fit with m views: an upper bound on the chance that any false pair agrees, by the share over "
        "all sizes. Where no pair was above, by the share that would have shown itself with 95 % certainty (three of "
        "all pairs).",
        "",
        f"| views | pairs | {' | '.join(f'above {level:g}' for level in LEVELS[1:])} |",
        "|---" * (1 + len(LEVELS)) + "|",
        *per_fit,
        "",
    ]
    RESULT.write_text("\n".join(text))


if __name__ == "__main__":
    main()
