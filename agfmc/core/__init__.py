"""Types and functions for all rooms: errors, text, points, weights, costs, splits, models."""
