"""The site: `python -m man.site [--strict]` writes it to build/site.

Pages in docs/ are written by hand.  All others are made here: the guides, the commands and the
formats from the manual pages, the Python names from their docstrings, the benchmarks from stored
results, and the rest from the files at the top of the source tree.
"""
