"""Splits, trials, comparison, tuning, simulation of decoders."""
