"""Files to data: samples and labels from CSV, TSV, Parquet, .npy, .npz and .mat files, and the paper's data by name."""

from kernelbraid.datasets.catalogue import CATALOG, available
from kernelbraid.datasets.fetching import fetch, import_file
from kernelbraid.datasets.loading import Dataset, Images, load, load_images
from kernelbraid.io.samples import LabelFile, Samples, column_names, read_labels, read_samples
from kernelbraid.io.sources import DataError

__all__ = [
    "CATALOG",
    "DataError",
    "Dataset",
    "Images",
    "LabelFile",
    "Samples",
    "available",
    "column_names",
    "fetch",
    "import_file",
    "load",
    "load_images",
    "read_labels",
    "read_samples",
]
