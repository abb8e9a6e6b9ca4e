"""From a graph to the coordinates that k-means clusters."""

from typing import Literal, TypeAlias

from kernelbraid._arrays import asarray_like, namespace, symmetric_part
from kernelbraid._linalg import eigh
from kernelbraid._typing import Array

#: Which eigenvectors of the normalised graph span the embedding.
Spectrum: TypeAlias = Literal["magnitude", "largest"]


def symmetrise(A: Array) -> Array:
    """Return (A + A') / 2, computed so that it is exactly symmetric and does not overflow."""
    return A / 2 + A.T / 2


def normalised_graph(S: Array) -> Array:
    """Return D^-1/2 S D^-1/2 for a symmetric nonnegative graph with degrees D; an isolated vertex keeps zeros."""
    xp = namespace(S)
    largest = xp.max(S)
    S = S / xp.where(largest > 0, largest, asarray_like(1.0, S))  # degrees cannot overflow
    scale = 1 / (float(xp.finfo(S.dtype).eps) + xp.sqrt(xp.sum(S, axis=1)))
    S *= scale[:, None]
    S *= scale[None, :]
    return symmetric_part(S)


def spectral_embedding(S: Array, n_components: int, *, spectrum: Spectrum = "largest") -> Array:
    """Embed the vertices of a graph by eigenvectors of its normalised adjacency, rows of unit length.

    Parameters
    ----------
    S : array of shape (n, n)
        Symmetric nonnegative graph.
    n_components : int
        Number of eigenvectors.
    spectrum : {"largest", "magnitude"}, default="largest"
        ``"largest"`` takes the eigenvectors of largest eigenvalue (Ng, Jordan and Weiss), ``"magnitude"`` those of
        largest absolute eigenvalue, which are the leading left singular vectors.

    Returns
    -------
    array of shape (n, n_components)
        Each row of length one (rows of zeros stay). The largest entry of each eigenvector is positive before that.
    """
    xp = namespace(S)
    values, vectors = eigh(normalised_graph(S), overwrite=True)
    order = xp.argsort(xp.abs(values) if spectrum == "magnitude" else values, descending=True, stable=True)
    vectors = xp.take(vectors, order[:n_components], axis=1)
    peaks = xp.take_along_axis(vectors, xp.argmax(xp.abs(vectors), axis=0)[None, :], axis=0)
    return unit_rows(vectors * xp.where(peaks < 0, asarray_like(-1.0, S), asarray_like(1.0, S)))


def unit_rows(A: Array) -> Array:
    """Scale each row to length one; rows of zeros stay."""
    xp = namespace(A)
    lengths = xp.linalg.vector_norm(A, axis=1, keepdims=True)
    return A / xp.where(lengths > 0, lengths, asarray_like(1.0, A))
