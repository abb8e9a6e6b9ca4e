"""Files to data: samples and labels from CSV, TSV, Parquet, .npy, .npz and .mat files."""

from kernelbraid.datasets.errors import DataError
from kernelbraid.datasets.readers import LabelFile, Samples, column_names, read_labels, read_samples

__all__ = ["DataError", "LabelFile", "Samples", "column_names", "read_labels", "read_samples"]
