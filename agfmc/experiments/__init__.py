"""Experiments: configurations tried on splits of the data, compared and tuned."""
