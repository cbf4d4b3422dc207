"""Trained configurations: type, reading, merging, files, description."""
