"""LKG of many samples, through landmarks."""

from kernelbraid.estimators.landmarks.estimator import LandmarkLKG

__all__ = ["LandmarkLKG"]
