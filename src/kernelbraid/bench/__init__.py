"""Comparisons: the methods of the paper as data."""

from kernelbraid.bench.methods import METHODS, Method

__all__ = ["METHODS", "Method"]
