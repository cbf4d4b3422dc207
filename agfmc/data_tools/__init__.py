"""Data tools: training data read, prepared, converted and reported."""
