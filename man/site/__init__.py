"""The site: `python -m man.site [--strict]` writes it to build/site.

Pages in docs/ are written by hand; guides and formats are manual pages too (`man/generate.py`).
All others are made here: those of the commands from their parsers, the Python names from their
docstrings, the benchmarks from stored results, and the rest from files at the top of the tree.
"""
