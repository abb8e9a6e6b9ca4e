"""Samples in blocks: mapped, kept and summed by threads of this process, or by the workers of Dask."""
