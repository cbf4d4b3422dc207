"""Splits, trials, comparison, tuning, nested estimates, simulation of decoders."""
