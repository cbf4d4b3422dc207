"""Arrays made ready for training: normalised, split, relabelled."""
