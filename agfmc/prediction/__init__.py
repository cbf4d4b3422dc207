"""Classification: a configuration and a decoding make a classifier, which gives answers."""
