"""Scores of a clustering without classes that scikit-learn computes: how apart, how much alike beyond chance."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, silhouette_score

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


def held_out_agreement(estimator: Any, X: Any, y: Any = None) -> float:
    """Return how far clusters hold on samples that they were not learned from: a score for scikit-learn's searches.

    The samples are labelled twice, by the fitted estimator and by a fit of their own, and the labels are compared.

    Parameters
    ----------
    estimator : estimator
        Fitted on other samples; with ``predict`` and ``fit_predict``, such as :class:`~kernelbraid.LKG`, or a pipeline.
    X : matrix of shape (n_samples, n_features)
        Samples that were held out; enough of them to be clustered.
    y : None
        Ignored, here for scikit-learn.

    Returns
    -------
    float
        Adjusted Rand index: 1 where both are the same, about 0 where they have nothing in common.

    Notes
    -----
    No classes are looked at. Few clusters hold more easily than many, so compare settings for one number of clusters,
    and take a peak among numbers for what it is. Folds must be shuffled where samples are sorted.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.model_selection import GridSearchCV, KFold
    >>> from kernelbraid import LKG
    >>> from kernelbraid.metrics import held_out_agreement
    >>> X, _ = make_blobs(300, n_features=6, centers=7, random_state=1)
    >>> halves = KFold(2, shuffle=True, random_state=0)
    >>> search = GridSearchCV(LKG(random_state=0), {"n_clusters": [4, 7, 10]}, scoring=held_out_agreement, cv=halves)
    >>> search.fit(X).best_params_
    {'n_clusters': 7}
    """
    return float(adjusted_rand_score(clone(estimator).fit_predict(X), estimator.predict(X)))
