"""What all rooms speak: errors, text, points, weights, costs, provenance, splits, model types."""
