"""The loss of codes against their number of rows."""

from dataclasses import replace

import pytest

from agfmc.picture import code_curve as module
from agfmc.training.code_search import CurvePoint

matplotlib = pytest.importorskip("matplotlib")


@pytest.mark.parametrize("sizes", [range(6, 14), [4]])
def test_curve(shown, sizes):
    curve = [CurvePoint(size, 0.2 - 0.01 * size, 0.1, 0.3 - 0.01 * size, 0.02) for size in sizes]
    exchanged = replace(curve[-1], judged=curve[-1].judged - 0.01, added=(((0,), (1,)),))
    texts = shown(module._figure, curve, exchanged).texts
    assert "chosen, rows exchanged at the end" in texts and "\u00b1 standard error" in texts
    figure = shown(module._figure, curve, curve[-1])
    assert not figure.clashes()
    lines = {line.get_gid(): line for line in figure.figure.axes[0].get_lines()}
    assert lines["loss"].get_ydata().tolist() == [point.loss for point in curve]
    assert lines["judged"].get_ydata().tolist() == [point.judged for point in curve]
    assert lines["judged"].get_xdata().tolist() == list(sizes)
    assert lines["chosen"].get_xdata().tolist() == [sizes[-1]]
    assert f"{sizes[-1]} rows, log loss {curve[-1].judged:.4f} of points that did not choose " \
        "them" in figure.texts and "chosen" in figure.texts
