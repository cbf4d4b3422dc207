"""Where tasks run: threads, processes, dask, any executor of `concurrent.futures`."""
