"""What a calibration did, as blocks."""

from __future__ import annotations

from collections.abc import Sequence

from .blocks import Block, table, text
from .content import Column, DataTable, TableRow


_SCORES = (
    ("log_loss", "log loss"),
    ("brier", "Brier score"),
    ("calibration_error", "calibration error"),
    ("accuracy", "accuracy"),
)


def calibration_blocks(reports: Sequence[dict]) -> list[Block]:
    """Blocks of the reports of decoders, those of decoders with equal ones together."""
    decoders: list[tuple[dict, list[str]]] = []
    for report in reports:
        rest = {**report, "decoder": ""}
        alike = [names for other, names in decoders if other == rest]
        if alike:
            alike[0].append(report["decoder"])
        else:
            decoders.append((rest, [report["decoder"]]))
    blocks: list[Block] = []
    for report, names in decoders:
        blocks += [text("")] * bool(blocks) + [text(f"{', '.join(names)}: {_fitted(report)}")]
        if len(report["compared"]) > 1:
            losses = [f"{kind} {value:.4f}" for kind, value in report["compared"].items()]
            blocks.append(text(f"log loss: {', '.join(losses)}"))
        for shown in _tables(report):
            if shown.rows:
                blocks += [text(""), table(shown)]
    return blocks


def _fitted(report):
    fitted = f"{report['map']} map"
    if report["temperature"] is not None:
        fitted = f"temperature {report['temperature']:.4g}, floor {report['floor']:.2g}"
    elif report["ridge"] is not None:
        fitted += f", ridge {report['ridge']:g}, floor {report['floor']:.2g}"
    if "effective_points" not in report:
        weighted = ""
    else:
        weighted = f", which count as {report['effective_points']:.4g} of equal weight"
    return f"{report['points']} points of {report['classes']} classes{weighted}; {fitted}"


def _tables(report):
    """The scores before and after, the thresholds, and the sizes of sets, all cells as text."""
    yield _cells(
        ("", "before", "after", "difference"),
        [
            (
                title,
                *(
                    _signed_interval(report["scores"][name][when], sign)
                    for when, sign in (("before", ""), ("after", ""), ("difference", "+"))
                ),
            )
            for name, title in _SCORES
        ],
    )
    rows = []
    for row in report["thresholds"]:
        if row["threshold"] is None:
            known = ("-", row["why"].partition(": ")[2].partition(" (")[0])
        else:
            known = (f"{row['threshold']:g}", f"{100 * row['answered']:.1f} %")
        rows.append((f"{row['max_error']:g}", *known))
    yield _cells(("error at most", "probability from", "points answered"), rows)
    yield _cells(
        ("coverage", "mean size of sets", "with aps", "by class"),
        [
            (
                f"{row['coverage']:g}",
                *(f"{row['mean_size'][name]:.3f}" for name in ("lac", "aps", "lac_by_class")),
            )
            for row in report["sets"]
        ],
    )


def _cells(titles, rows):
    columns = tuple(Column(title, "code") for title in titles)
    return DataTable("", columns, tuple(map(TableRow, rows)))


def _signed_interval(score, sign):
    return f"{score['value']:{sign}.4f} ({score['low']:{sign}.4f} {score['high']:{sign}.4f})"
