"""Searches of C and gamma: panels, points, the best."""

import pytest

from agfmc.errors import UsageError
from agfmc.picture import search as module

matplotlib = pytest.importorskip("matplotlib")


def point(c, g, kernel="Gaussian", score=None):
    score = 0.9 - 0.01 * ((c - 3)**2 + ((g or 0) + 3)**2) if score is None else score
    return {"options": f"-c {2.0**c:g} $g$", "log2c": c, "log2g": g, "kernel": kernel,
            "score": score}


def grid(kernel="Gaussian"):
    return [point(c, g, kernel) for c in range(-5, 16, 2) for g in range(-15, 4, 2)]


def figure_of(shown, points, best, by="accuracy"):
    figure = shown(module._figure, {"points": points, "best": best, "by": by})
    assert not figure.clashes()
    return figure


def test_surface(shown):
    points = [*grid(), *(point(3 + a / 2, -3 + b / 2) for a in (-1, 1) for b in (-1, 1)),
              {**point(20, 0), "score": None}]
    best = max(range(len(points) - 1), key=lambda i: points[i]["score"])
    figure = figure_of(shown, points, best)
    axes = figure.figure.axes[0]
    failed, scored = axes.collections
    assert failed.get_offsets().tolist() == [[20, 0]]
    assert len(scored.get_offsets()) == len(points) - 1
    assert sorted(scored.get_array()) == sorted(p["score"] for p in points[:-1])
    sizes = {tuple(place): size for place, size in zip(scored.get_offsets().tolist(),
                                                       scored.get_sizes())}
    assert sizes[-5, -15] > 2 * sizes[3.5, -3.5]  # a refinement does not hide in large points
    ring, = (line for line in axes.get_lines() if line.get_gid() == "best")
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (3, -3)
    assert "best: -c 8 $g$, accuracy 0.9000" in figure.texts


def test_kernels_have_panels(shown):
    points = [*grid(), *(point(c, None, "linear") for c in (5, 1, 3)), *grid("polynomial, d = 2"),
              *grid("sigmoid")]
    figure = figure_of(shown, points, len(grid()) + 2, "log_loss")
    panels = {axes.get_title(loc="left"): axes for axes in figure.figure.axes}
    assert {"Gaussian", "linear", "polynomial, d = 2", "sigmoid"} <= set(panels)
    curve, ring = panels["linear"].get_lines()
    assert list(curve.get_xdata()) == [1, 3, 5] and ring.get_gid() == "best"
    assert "(smaller is better)" in panels["linear"].get_ylabel()


@pytest.mark.long
def test_good_is_bright_either_way(shown):
    points = grid()
    for by, good in (("accuracy", max), ("brier_all", min)):
        best = good(range(len(points)), key=lambda i: points[i]["score"])
        scored = figure_of(shown, points, best, by).figure.axes[0].collections[1]
        light = scored.to_rgba([p["score"] for p in points])[:, :3].sum(axis=1)
        assert light[best] == max(light)


@pytest.mark.parametrize("points", [
    [point(0, 0)], [point(0, None)], [point(0, 0), point(1, 0)], [{**point(0, 0), "score": None}]])
def test_small_searches(shown, points):
    figure_of(shown, points, 0)


def test_nothing_searched():
    with pytest.raises(UsageError, match="without points"):
        module.draw_search("a.png", {"points": [], "best": 0, "by": "accuracy"})


def test_curves_over_gamma_where_there_is_no_c(shown):
    points = [{**point(3, g), "log2c": None} for g in (-1, -5, -3)]
    points.append({**point(3, None, "linear", 0.5), "log2c": None})
    figure = figure_of(shown, points, 2)
    panels = {axes.get_title(loc="left"): axes for axes in figure.figure.axes}
    curve, ring = panels["Gaussian"].get_lines()
    assert list(curve.get_xdata()) == [-5, -3, -1] and ring.get_xdata()[0] == -3
    assert panels["Gaussian"].get_xlabel() == "log2 gamma"
    level, = panels["linear"].get_lines()
    assert set(level.get_ydata()) == {0.5} and panels["linear"].get_xlabel() == ""


def test_curve_over_the_parameter_of_a_learner_without_kernels(shown):
    points = [{**point(0, None, None, 0.5 - k / 10), "log2c": None, "log2k": k}
              for k in (2, 1, 3)]
    axes = figure_of(shown, points, 1).figure.axes[0]
    curve, ring = axes.get_lines()
    assert list(curve.get_xdata()) == [1, 2, 3] and ring.get_xdata()[0] == 1
    assert axes.get_xlabel() == "log2 k" and axes.get_title(loc="left") == ""


def test_a_stopped_search_and_its_deviations(shown):
    """Rims for what is within the deviation of the best, diamonds for fewer points or parts."""
    points = [{**point(c, -3.0, score=score), "sd": 0.02, "rows": None, "parts": [1, 2]}
              for c, score in ((1, 0.9), (3, 0.89), (5, 0.7))]
    points.append({**points[2], "log2c": 7, "rows": 50, "parts": [1]})
    figure = shown(module._figure, {"points": points, "best": 0, "by": "accuracy",
                                    "complete": False, "data": "letters"})
    assert not figure.clashes()
    assert "stopped at the time limit after 4 sets of options; letters" in figure.texts
    assert "best so far: -c 2 $g$, accuracy 0.9000 ± 0.0200" in figure.texts
    _, diamonds, discs = figure.figure.axes[0].collections
    assert diamonds.get_offsets().tolist() == [[7, -3]]
    rims = {tuple(place): width for place, width in zip(discs.get_offsets().tolist(),
                                                       discs.get_linewidths())}
    assert rims[3, -3] > 1 > rims[5, -3]
    curve = [{**point(c, None, "linear", 0.9), "sd": 0.1} for c in (1, 3)]
    figure = shown(module._figure, {"points": curve, "best": 0, "by": "accuracy"})
    assert "bars: standard deviation over the parts" in figure.texts and not figure.clashes()
