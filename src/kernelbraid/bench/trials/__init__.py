"""What is run: experiments, changes of the data, one trial, the runner, on a device, on Dask."""
