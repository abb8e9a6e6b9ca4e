"""Clusters of AnnData and MuData objects, written where scanpy looks for them."""

from kernelbraid.scverse.clustering import cluster

__all__ = ["cluster"]
