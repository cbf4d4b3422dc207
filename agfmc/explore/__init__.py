"""Experiments: configurations tried on data, compared and tuned."""
