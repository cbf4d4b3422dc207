"""Estimators for scikit-learn: the suite as a part of its pipelines and searches."""

try:
    from .api.estimator import EXPECTED_FAILED_CHECKS, MultiClassFromBinary
except ImportError as error:
    if (error.name or "").split(".")[0] != "sklearn":
        raise
    raise ImportError(
        "agfmc.estimators needs scikit-learn: install it with `pip install agfmc[sklearn]`"
    ) from error

__all__ = ["EXPECTED_FAILED_CHECKS", "MultiClassFromBinary"]
