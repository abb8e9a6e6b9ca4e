"""Clustering with several kernels or several views of the data."""

from kernelbraid.estimators import LKG

__version__ = "0.1.0"

__all__ = ["LKG", "__version__"]
