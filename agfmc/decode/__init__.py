"""Decision values become probabilities or votes; one row for each decoder."""
