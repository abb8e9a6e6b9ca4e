"""What is kept: a record of every trial, their store, one Parquet file of all, snapshots of fits."""
