"""The quality of probabilities and classes: a reliability diagram and the contingency table."""

from __future__ import annotations

from collections.abc import Mapping

from ..report.charts import confusion_map, reliability, risk_coverage
from ..report.words import cut, plural
from .canvas import picture_names, save

__all__ = ["draw_scores"]


def draw_scores(path: str, scores: Mapping, names: Mapping[int, str] | None = None,
                data: str = "") -> None:
    """Draw `scores`, the dictionary of `prediction.evaluation.evaluate`; names: {label: name};
    data: the name of the points, for the title.

    The reliability diagram, with the probabilities of all classes where calibration_by_class is
    known, the error of the surest answers, and the contingency table; of these, those that there
    is something for.  Raises UsageError and DataError as `canvas.save`.
    """
    parts = [plural(scores["points"], "point")] if "points" in scores else []
    parts.append(plural(len(scores["labels"]), "class", "es"))
    if scores.get("rejected"):
        parts.append(f"{scores['rejected']} without an answer")
    accuracy, coefficient = scores["accuracy"], scores["uncertainty_coefficient"]
    parts.append(f"accuracy {accuracy:.4f}")
    if coefficient is not None and coefficient == coefficient:
        parts.append(f"uncertainty coefficient {coefficient:.4f}")
    pictures = (reliability(scores, True), risk_coverage(scores),
                confusion_map(scores, picture_names(names)))
    save(path, (f"{cut(data, 60)}: " if data else "") + ", ".join(parts),
         [picture for picture in pictures if picture is not None])
