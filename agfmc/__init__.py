"""agfmc: multi-class classification from binary classifiers."""

from ._version import __version__

__all__ = ["__version__"]
