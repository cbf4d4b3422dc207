"""Calibration maps, prediction sets, thresholds, priors, and their file."""
