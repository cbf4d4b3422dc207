"""Merging binary models: every support vector once."""
