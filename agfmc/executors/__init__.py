"""Places for tasks to run: threads, processes, dask, any executor of `concurrent.futures`."""
