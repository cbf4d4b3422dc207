"""Training of binary classifiers."""
