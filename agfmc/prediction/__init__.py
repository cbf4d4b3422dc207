"""Prediction: a configuration, its classifier, answers and scores."""
