"""Kernel values, in blocks."""
