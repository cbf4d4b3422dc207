"""A figure of simulated success probabilities against the number of classes."""

import math

from ..score.intervals import wilson
from .canvas import GRID, INK, new_figure, save
from .style import DECODERS, LIGHT, POLLS

__all__ = ["draw"]

_ASIDE = 0.3  # of the way to the next number of classes, over which intervals are spread
_NARROW = 0.03  # intervals up to this width stand above each other


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
    # the last step from one number of classes to the next is far above the first
    powers = len(classes) > 2 and classes[-1] - classes[-2] > 1.5 * (classes[1] - classes[0])
    beside = _beside(classes, rounds, powers, 3 + 2 * len(rows[0]["polls"]))

    def line(parts, **style):
        places = next(beside)
        panel.plot(places, [part["success"] for part in parts], linewidth=1.4, markersize=4,
                   clip_on=False, **style)
        for k, n, part in zip(places, rounds, parts):
            if n:
                panel.plot((k, k), wilson(part["success"], n), color=style["color"], linewidth=1,
                           marker="_", markersize=4, clip_on=False, gid="interval")

    line([row["max_win"] for row in rows], label="MAX-WIN", color=DECODERS["max_win"], marker="o")
    polls = sorted(range(len(rows[0]["polls"])), key=lambda i: -rows[-1]["polls"][i]["draws"])
    colours = {i: POLLS[min(place, len(POLLS) - 1)] for place, i in enumerate(polls)}
    for i in polls:
        line([row["polls"][i]["top"] for row in rows], color=colours[i], linestyle=(0, (4, 2)),
             marker="s", markerfacecolor=LIGHT["paper"],
             label=f"POLL {_formula(rows, i)} + TOP-{top}")
    for i in polls:
        line([row["polls"][i] for row in rows], color=colours[i], marker="s",
             label=f"POLL {_formula(rows, i)}")
    line([row["adag"] for row in rows], label="ADAG", color=DECODERS["adag"], marker="^")
    line([row["ddag"] for row in rows], label="DDAG", color=DECODERS["ddag"], marker="v")
    panel.set_ylim(0, 1)
    panel.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    panel.set_xlabel("number of classes $k$")
    panel.grid(color=GRID, linewidth=0.6)
    panel.set_axisbelow(True)
    if powers:
        panel.set_xscale("log", base=2)
    if len(classes) <= 8:
        panel.set_xticks(classes, [str(k) for k in classes])
        panel.minorticks_off()


def _beside(classes, rounds, powers, count):
    """For each of `count` lines its places across: side by side where wide intervals would hide
    each other.
    """
    scale = [math.log2(k) if powers else float(k) for k in classes]
    # the widest is that of one half
    wide = max((high - low for low, high in (wilson(0.5, n) for n in rounds if n)), default=0.0)
    step = min((b - a for a, b in zip(scale, scale[1:])), default=0.0) * (wide > _NARROW)
    for i in range(count):
        shift = (i / max(count - 1, 1) - 0.5) * _ASIDE * step
        yield [2.0**(k + shift) if powers else k + shift for k in scale] if shift else classes


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
