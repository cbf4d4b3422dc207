"""The one place that names the version."""

__version__ = "0.3.0"
RESULTS = 1  # version of the dictionaries of scores and experiments, in their JSON
