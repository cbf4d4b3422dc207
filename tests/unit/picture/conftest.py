"""What the tests of pictures share: figures as they are saved, and the texts in them."""

import pytest

from agfmc.picture.canvas import figure_of, styled


class Shown:
    """A figure that has been laid out, with its texts and the boxes they fill."""

    def __init__(self, figure):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        self.figure = figure
        axes, = figure.axes
        self.boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in axes.texts
                      if text.get_text().strip()]
        self.texts = [text for text, _ in self.boxes]

    def clashes(self):
        """Pairs of texts that overlap, with the room of a line, and texts that leave the figure."""
        found = []
        for i, (text, a) in enumerate(self.boxes):
            found += [(text, other) for other, b in self.boxes[:i]
                      if min(a.x1, b.x1) - max(a.x0, b.x0) > 1
                      and min(a.y1, b.y1) - max(a.y0, b.y0) > 4]
            whole = self.figure.bbox
            if a.x0 < -1 or a.y0 < -1 or a.x1 > whole.x1 + 1 or a.y1 > whole.y1 + 1:
                found.append((text, "the edge"))
        return found


@pytest.fixture
def shown():
    """A function: pictures, and their title -> `Shown`."""

    def show(*pictures, title="a title"):
        with styled():
            return Shown(figure_of(title, pictures))

    return show
