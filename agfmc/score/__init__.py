"""The rows of all scores, their formulas, intervals and tests; evaluation of results."""
