"""Trained configurations as programs of other languages, for places without Python."""
