"""The loss of a code against its number of rows, as a search for the best code has seen it."""

from .canvas import GREY, GRID, LEFT, new_figure, RIGHT, save

__all__ = ["draw_code_curve"]


def draw_code_curve(path: str, curve, chosen) -> None:
    """Draw the points of a search for a code, objects with rows, loss, judged and error.

    Blue the loss of the points that chose, orange that of points that did not, with a standard
    error to either side; the code that was chosen is ringed, off the line where rows were
    exchanged at the end.

    Raises UsageError and DataError as `canvas.save`.
    """
    save(path, lambda: _figure(curve, chosen))


def _figure(curve, chosen):
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(figsize=(5.2, 3.9))
    axes = figure.add_axes((0.14, 0.26, 0.82, 0.65))
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    rows = [point.rows for point in curve]
    judged = [point.judged for point in curve]
    axes.fill_between(rows, [point.judged - point.error for point in curve],
                      [point.judged + point.error for point in curve], color=RIGHT, alpha=0.15,
                      linewidth=0, label="\u00b1 standard error")
    axes.plot(rows, judged, marker="o", markersize=3.5, color=RIGHT, linewidth=1.2,
              label="points that did not choose the rows", gid="judged")
    axes.plot(rows, [point.loss for point in curve], marker="o", markersize=3.5, color=LEFT,
              linewidth=1.2, label="points that chose them", gid="loss")
    axes.plot([chosen.rows], [chosen.judged], marker="o", markersize=11, markerfacecolor="none",
              markeredgecolor=GREY, markeredgewidth=1.6, linestyle="none", gid="chosen",
              label="chosen, rows exchanged at the end" if chosen.added else "chosen")
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.set_xlabel("rows of the code")
    axes.set_ylabel("log loss")
    axes.set_title(f"{chosen.rows} rows, log loss {chosen.judged:.4f} of points that did not "
                   "choose them", loc="left", fontsize=9)
    figure.legend(loc="lower center", ncol=2, frameon=False, fontsize=8)
    return figure
