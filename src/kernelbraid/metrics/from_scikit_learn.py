"""Scores of a clustering without classes that scikit-learn computes: how apart, how much alike beyond chance."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_mutual_info_score, silhouette_score

from kernelbraid.metrics.partitions import encode_pair, numbers_of


def kernel_silhouette(K: ArrayLike, labels: ArrayLike) -> float:
    r"""Return the mean silhouette under the distance of a kernel.

    .. math:: d(i, j)^2 = K_{ii} + K_{jj} - 2 K_{ij}

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric kernel.
    labels : array of shape (n,)
        Clusters.

    Returns
    -------
    float
        Between -1 and 1; 0 if there is only one cluster, or one for each sample. Clusters of one sample count 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid.metrics import kernel_silhouette
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> round(kernel_silhouette(X @ X.T, [0, 0, 1, 1]), 2)
    0.98
    """
    return float(kernel_silhouettes(K, [labels])[0])


def kernel_silhouettes(K: ArrayLike, labellings: Sequence[ArrayLike]) -> NDArray[np.float64]:
    """Return the mean silhouettes of several clusterings under one kernel, whose distances are formed once.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric kernel.
    labellings : sequence of arrays of shape (n,)
        Clusterings of the same samples.

    Returns
    -------
    ndarray of shape (len(labellings),)
        What :func:`kernel_silhouette` is for each of them.
    """
    K = np.asarray(K)
    groups = [numbers_of(labels, K.shape) for labels in labellings]
    diagonal = K.diagonal().astype(float)
    distances = np.sqrt(np.maximum(diagonal[:, None] + diagonal[None, :] - 2 * K, 0.0))
    scored = (1 < int(found.max()) + 1 < len(found) for found in groups)
    return np.array(
        [
            silhouette_score(distances, found, metric="precomputed") if is_scored else 0.0
            for found, is_scored in zip(groups, scored, strict=True)
        ]
    )


def ami(first: ArrayLike, second: ArrayLike) -> float:
    """Return the adjusted mutual information of two clusterings: what they share beyond chance.

    Parameters
    ----------
    first, second : array of shape (n,)
        Clusterings of the same samples.

    Returns
    -------
    float
        1 if they are the same, about 0 if independent; both entropies count alike in the norm.

    Examples
    --------
    >>> from kernelbraid.metrics import ami
    >>> ami([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return float(adjusted_mutual_info_score(*encode_pair(first, second)))
