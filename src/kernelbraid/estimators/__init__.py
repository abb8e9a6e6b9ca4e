"""scikit-learn estimators; the methods of comparison come from :mod:`kernelbraid.methods`."""

from kernelbraid.estimators.classifier import LKGClassifier
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.solver import ADMM

__all__ = ["LKG", "ADMM", "LKGClassifier"]
