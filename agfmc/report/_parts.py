"""Pictures of the page, as far as they are there."""

from typing import Any

charts: Any
structure: Any


class _Missing:
    def __init__(self, module=None):
        self._module = module

    def __getattr__(self, name):
        found = None if self._module is None else getattr(self._module, name, None)
        if found is not None:
            return found
        return lambda *arguments: () if name in ("configuration", "search_surface") else None


try:
    from . import charts as _charts
except ImportError:
    charts = _Missing()
else:
    charts = _Missing(_charts)
try:
    from . import structure as _structure
except ImportError:
    structure = _Missing()
else:
    structure = _Missing(_structure)
