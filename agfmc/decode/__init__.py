"""Decision values to class probabilities."""
