"""What the tests of pictures share: figures as they are saved, and the texts in them."""

import pytest

from agfmc.picture.canvas import styled


def _beyond(figure):
    """Labels of ticks outside of what an axis shows, which are never drawn."""
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            span = 1e-9 * (high - low)
            hidden.update(id(label) for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]
                          for label in (tick.label1, tick.label2)
                          if not low - span <= tick.get_loc() <= high + span or not axes.axison)
    return hidden


class Shown:
    """A figure that has been laid out, with its texts and the boxes they fill."""

    def __init__(self, figure):
        import matplotlib.text
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        self.figure = figure
        hidden = _beyond(figure)
        self.boxes = [(text.get_text(), text.get_window_extent(renderer))
                      for text in figure.findobj(matplotlib.text.Text)
                      if text.get_visible() and text.get_text().strip() and id(text) not in hidden]
        self.texts = [text for text, _ in self.boxes]

    def clashes(self):
        """Pairs of texts that overlap by more than a pixel, and texts that leave the figure."""
        found = []
        for i, (text, a) in enumerate(self.boxes):
            found += [(text, other) for other, b in self.boxes[:i]
                      if min(a.x1, b.x1) - max(a.x0, b.x0) > 1
                      and min(a.y1, b.y1) - max(a.y0, b.y0) > 1]
            whole = self.figure.bbox
            if a.x0 < -1 or a.y0 < -1 or a.x1 > whole.x1 + 1 or a.y1 > whole.y1 + 1:
                found.append((text, "the edge"))
        return found


@pytest.fixture
def shown():
    """A function: a function that makes a figure -> `Shown`."""

    def show(make, *values, math=False):
        with styled(math):
            return Shown(make(*values))

    return show
