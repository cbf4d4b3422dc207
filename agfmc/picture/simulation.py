"""A figure of simulated success probabilities against the number of classes."""

from __future__ import annotations

import io
import os

from ..errors import UsageError
from ..formats.files import replacing

__all__ = ["check_picture", "draw"]

_KINDS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
_UNDATED = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_BLUES = ["#08306b", "#2171b5", "#6baed6", "#9ecae1"]  # POLL, most opponents first
_MAX_WIN, _ADAG, _DDAG = "#222222", "#d95f02", "#7b3294"
_STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
          "axes.titlesize": 10, "savefig.dpi": 160, "svg.hashsalt": "agfmc"}


def check_picture(path):
    """Raise UsageError unless matplotlib is there and `path` names a kind of picture."""
    if os.path.splitext(path)[1].lower() not in _KINDS:
        raise UsageError(f"--plot {path}: expected a name that ends in "
                         + " or ".join(_KINDS))
    _new_figure()


def _new_figure(**settings):
    """A figure without a screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("--plot needs matplotlib: pip install 'agfmc[plot]'") from None
    return Figure(**settings)


def draw(path, rows, top, similarity=None):
    """Draw the rows of `flow.simulate.simulations`, a panel for each error probability.

    The kind of picture follows from the name; the same rows give the same bytes with
    the same matplotlib.  The file is written whole or not at all.
    Raises UsageError as `check_picture`, DataError when the file cannot be written.
    """
    check_picture(path)
    import matplotlib
    kind = _KINDS[os.path.splitext(path)[1].lower()]
    image = io.BytesIO()
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **_STYLE, "backend": "agg"}):
        _figure(rows, top, similarity).savefig(image, format=kind, metadata=_UNDATED[kind])
    with replacing(path, binary=True) as file:
        file.write(image.getvalue())


def _figure(rows, top, similarity):
    errors = list(dict.fromkeys(row["error"] for row in rows))
    across = 2 if len(errors) == 4 else min(len(errors), 3)
    down = -(-len(errors) // across)
    figure = _new_figure(figsize=(2.2 + 3.6 * across, 3.7 * down), layout="constrained")
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    panels = grid.ravel()
    for panel in panels[len(errors):]:
        panel.remove()
    for panel, error in zip(panels, errors):
        shown = sorted((row for row in rows if row["error"] == error),
                       key=lambda row: row["classes"])
        _panel(panel, shown, top)
        title = f"similarity {similarity}" if error is None else f"error probability {error:g}"
        panel.set_title(title[:50], loc="left", pad=9, parse_math=False)
    for panel in grid[:, 0]:
        panel.set_ylabel("probability that the true class is found")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False,
                  handlelength=3.4)
    return figure


def _panel(panel, rows, top):
    classes = [row["classes"] for row in rows]

    def line(parts, **style):
        panel.plot(classes, [part["success"] for part in parts], linewidth=1.4, markersize=4,
                   clip_on=False, **style)

    line([row["max_win"] for row in rows], label="MAX-WIN", color=_MAX_WIN, marker="o")
    polls = sorted(range(len(rows[0]["polls"])), key=lambda i: -rows[-1]["polls"][i]["draws"])
    colours = {i: _BLUES[min(place, len(_BLUES) - 1)] for place, i in enumerate(polls)}
    for i in polls:
        line([row["polls"][i]["top"] for row in rows], color=colours[i], linestyle=(0, (4, 2)),
             marker="s", markerfacecolor="white", label=f"POLL {_formula(rows, i)} + TOP-{top}")
    for i in polls:
        line([row["polls"][i] for row in rows], color=colours[i], marker="s",
             label=f"POLL {_formula(rows, i)}")
    line([row["adag"] for row in rows], label="ADAG", color=_ADAG, marker="^")
    line([row["ddag"] for row in rows], label="DDAG", color=_DDAG, marker="v")
    panel.set_ylim(0, 1)
    panel.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    panel.set_xlabel("number of classes $k$")
    panel.grid(color="#e4e4e4", linewidth=0.6)
    panel.set_axisbelow(True)
    if _grow_exponentially(classes):
        panel.set_xscale("log", base=2)
    if len(classes) <= 8:
        panel.set_xticks(classes, [str(k) for k in classes])
        panel.minorticks_off()


def _formula(rows, i):
    word = rows[0]["polls"][i]["opponents"]
    if not word.endswith("log"):
        return f"$l={word}$"
    factor = word.removesuffix("log")
    return rf"$l={'' if float(factor) == 1 else factor + chr(92) + ','}\log_2 k$"


def _grow_exponentially(classes):
    """Whether the last step from one number of classes to the next is far above the first."""
    return len(classes) > 2 and classes[-1] - classes[-2] > 1.5 * (classes[1] - classes[0])
