"""About how long the parts of the choice of a number of clusters take, in milliseconds of one core of 2024.

Only their ratios count: they tell how much of the work is done.
"""


def factor(n: int) -> float:
    """Return the effort of a graph's coefficients: a kernel of n samples is factorised."""
    return 75.0 * (n / 1000) ** 3


def refine(n: int) -> float:
    """Return the effort of keeping the strongest edges of n samples."""
    return 50.0 * (n / 1000) ** 2


def basis(n: int, largest: int) -> float:
    """Return the effort of the leading eigenvectors of a graph, one per cluster at most."""
    return 1.6 * (n / 1000) ** 2 * largest


def evidence(n: int, k: int, n_graphs: int, n_init: int) -> float:
    """Return the effort of cutting graphs of n samples into k clusters."""
    return (n / 1000) * n_graphs * (8 + 0.6 * k) * (2 + n_init) / 3


def separation(n: int) -> float:
    """Return the effort of cutting one graph of n samples as often as a cloud is."""
    return factor(n) + refine(n) + 60.0 * n / 1000


def cloud(n: int) -> float:
    """Return the effort of drawing as many samples, and of their kernels."""
    return 80.0 * (n / 1000) ** 2
