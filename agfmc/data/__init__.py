"""Points with labels from any file; class names, weights, costs, normalisation, conversion."""
