"""The laboratory: reproduces the paper and judges the library. It stands beside the package and is not installed."""
