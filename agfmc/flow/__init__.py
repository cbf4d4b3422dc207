"""The joints: training and classification from end to end."""
