"""A figure of simulated success probabilities against the number of classes."""

from ..score.intervals import wilson
from .canvas import GRID, INK, new_figure, save

__all__ = ["draw"]

_BLUES = ["#08306b", "#2171b5", "#6baed6", "#9ecae1"]  # POLL, most opponents first
_MAX_WIN, _ADAG, _DDAG = INK, "#d95f02", "#7b3294"


def draw(path, rows, top, similarity=None):
    """Draw simulations (`experiments.simulation_tables`), a panel for each error probability.

    The same rows give the same bytes with the same matplotlib.
    Bars are Wilson's 95 % intervals of the simulated shares.
    Raises UsageError and DataError as `canvas.save`.
    """
    save(path, lambda: _figure(rows, top, similarity), math=True)


def _figure(rows, top, similarity):
    errors = list(dict.fromkeys(row["error"] for row in rows))
    across = 2 if len(errors) == 4 else min(len(errors), 3)
    down = -(-len(errors) // across)
    figure = new_figure(figsize=(2.2 + 3.6 * across, 3.7 * down), layout="constrained")
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
    if any(line.get_gid() == "interval" for line in panels[0].get_lines()):
        # in the legend, beside the lines that they belong to
        handles, labels = [*handles, _bar()], [*labels, "95 % interval"]
    figure.legend(handles, labels, loc="outside right center", frameon=False,
                  handlelength=3.4)
    return figure


def _bar():
    from matplotlib.lines import Line2D
    return Line2D([], [], color=INK, linewidth=0, marker="|", markersize=8)


def _panel(panel, rows, top):
    classes = [row["classes"] for row in rows]

    rounds = [_rounds(row) for row in rows]

    def line(parts, **style):
        panel.plot(classes, [part["success"] for part in parts], linewidth=1.4, markersize=4,
                   clip_on=False, **style)
        for k, n, part in zip(classes, rounds, parts):
            if n:
                panel.plot((k, k), wilson(part["success"], n), color=style["color"], linewidth=1,
                           marker="_", markersize=4, clip_on=False, gid="interval")

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
    panel.grid(color=GRID, linewidth=0.6)
    panel.set_axisbelow(True)
    # the last step from one number of classes to the next is far above the first
    if len(classes) > 2 and classes[-1] - classes[-2] > 1.5 * (classes[1] - classes[0]):
        panel.set_xscale("log", base=2)
    if len(classes) <= 8:
        panel.set_xticks(classes, [str(k) for k in classes])
        panel.minorticks_off()


def _rounds(row):
    """The number of points behind the shares of a row; 0 where none of them tells it."""
    parts = [row["max_win"], row["adag"], row["ddag"], *row["polls"]]
    part = max(parts, key=lambda part: part["standard_error"])
    share, error = part["success"], part["standard_error"]
    return round(share * (1 - share) / error**2) if error else 0


def _formula(rows, i):
    word = rows[0]["polls"][i]["opponents"]
    if not word.endswith("log"):
        return f"$l={word}$"
    factor = word.removesuffix("log")
    return rf"$l={'' if float(factor) == 1 else factor + chr(92) + ','}\log_2 k$"
