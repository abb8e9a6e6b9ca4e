"""Labels of which some are unknown: which ones are known, and what they are."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

UNLABELLED = -1
# What NumPy makes of marks for unknown labels where it has to put them beside text.
LOST_MARKS = ("-1", "-1.0", "nan")


def read_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels that are known, and for every sample whether its label is.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Numbers or text; -1, None, NaN or pandas' NA where none is known.

    Returns
    -------
    labels : ndarray of shape (n_known,)
        Of one kind, so that they can be sorted.
    known : ndarray of bool, shape (n_samples,)
        Where they are.
    """
    if y is None:
        raise ValueError("LKGClassifier requires y to be passed, but the target y is None; give -1 if unknown.")
    labels = np.asarray(y)
    if labels.ndim not in (1, 2) or (labels.ndim == 2 and labels.shape[1] != 1):
        raise ValueError(f"y has shape {labels.shape}; give a vector with one label per sample.")
    labels = column_or_1d(labels, warn=True)
    known = np.array([not _is_unknown(label) for label in labels.tolist()], dtype=bool)
    labels = labels[known]
    if labels.dtype == object:
        labels = _of_one_kind(labels)
    _refuse_lost_marks(labels)
    assert_all_finite(labels, input_name="y")
    if not len(labels):
        raise ValueError("y holds no known label, only -1 or None; give at least one, or cluster with LKG.")
    check_classification_targets(labels)
    return labels, known


def _is_unknown(label: Any) -> bool:
    """Tell a mark for an unknown label from a label; pandas' NA cannot be compared with anything."""
    if label is None or type(label).__name__ == "NAType":
        return True
    return isinstance(label, Real) and (label == UNLABELLED or label != label)


def _of_one_kind(labels: np.ndarray) -> np.ndarray:
    """Return labels that came as objects as text, which stays objects, or as numbers."""
    texts = [label for label in labels if isinstance(label, str)]
    if not texts:
        return np.array(labels.tolist())
    other = next((label for label in labels if not isinstance(label, str)), None)
    if other is not None:
        raise ValueError(
            f"y mixes text with other labels, such as {texts[0]!r} and {other!r}; give all classes as text or all as "
            "numbers."
        )
    return labels


def _refuse_lost_marks(labels: np.ndarray) -> None:
    """Refuse text that was a mark for an unknown label before it came into an array of text."""
    held = set(labels.tolist())
    mark = next((mark for mark in LOST_MARKS if mark in held), None)
    if mark is not None:
        raise ValueError(
            f"y holds the text {mark!r}, which would be a class of its own; give y with dtype=object, and the number "
            "-1 or None where no label is known."
        )
