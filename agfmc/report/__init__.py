"""The page of a model: one HTML file that shows data, configuration, scores and comparisons."""
