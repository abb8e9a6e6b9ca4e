"""scikit-learn estimators."""

from kernelbraid.estimators.low_rank import LKG

__all__ = ["LKG"]
