"""Coding matrices: standard, orthogonal, random and designed from data."""
