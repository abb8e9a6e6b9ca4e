"""Users' files: samples and labels from CSV, TSV, Parquet, .npy, .npz and .mat files."""
