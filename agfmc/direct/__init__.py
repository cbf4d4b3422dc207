"""Classifiers that tell all classes apart at once: neighbours, logistic regression."""
