"""Scores of classes and probabilities."""
