"""Labels beside points, so that none covers another label, a point or a bar."""

from __future__ import annotations

import math

__all__ = ["overlap", "place_labels"]

_HEIGHT = 0.15  # inches, of a line of text
_RADII = (0.09, 0.16, 0.24, 0.32, 0.42, 0.52, 0.64, 0.76, 0.9, 1.05, 1.25, 1.5, 1.8, 2.2)
_ANGLES = tuple(math.radians(angle) for angle in
                (0, 180, 90, 270, 35, 325, 145, 215, 65, 295, 115, 245, 15, 345, 165, 195))
_MARKER = 0.06


def place_labels(points, widths, bars, room):
    """Rectangles (left, bottom, right, top) of the labels of `points`, all in inches.

    points: (x, y), the most important first; widths: of their labels; bars:
    segments (x0, y0, x1, y1) better left free; room: (width, height).  The nearest
    free place is taken, to the right if that is free; where none is, the place that
    covers least.  The same input gives the same places.
    """
    points = list(points)
    marks = [(x - _MARKER, y - _MARKER, x + _MARKER, y + _MARKER) for x, y in points]
    placed, leaders = [], []
    for i, (x, y) in enumerate(points):
        best = None
        for turn, radius in enumerate(_RADII):
            for angle in _ANGLES:
                dx, dy = math.cos(angle), math.sin(angle)
                # the side that faces the point is what stands at this distance
                centre = (x + dx * radius + (0.0 if abs(dx) < 0.1 else
                                             math.copysign(widths[i] / 2, dx)),
                          y + dy * radius + (0.0 if abs(dy) < 0.1 else
                                             math.copysign(_HEIGHT / 2, dy) * abs(dy)))
                spot = (centre[0] - widths[i] / 2, centre[1] - _HEIGHT / 2,
                        centre[0] + widths[i] / 2, centre[1] + _HEIGHT / 2)
                if spot[0] < 0 or spot[1] < 0 or spot[2] > room[0] or spot[3] > room[1]:
                    continue
                leader = (x, y, *_nearest(spot, x, y))
                cost = (100 * sum(overlap(spot, other) for other in placed) +
                        30 * sum(overlap(spot, mark) for mark in marks) +
                        8 * sum(_crosses(line, spot) for line in leaders) +
                        3 * sum(_crosses(bar, spot) for bar in bars) +
                        (8 * sum(_crosses(leader, other) for other in placed) +
                         8 * sum(_crosses(leader, mark) for j, mark in enumerate(marks) if j != i) +
                         6 * sum(_meet(leader, other) for other in leaders) +
                         1 * sum(_meet(leader, bar) for bar in bars)
                         if turn > 1 else 0) + 0.7 * turn)
                if best is None or cost < best[0]:
                    best = (cost, spot, leader if turn > 1 else None)
            if best is not None and best[0] <= 0.7 * turn:
                break
        if best is None:  # wider than the room
            best = (0, (x, y, x + widths[i], y + _HEIGHT), None)
        placed.append(best[1])
        if best[2] is not None:
            leaders.append(best[2])
    return placed


def overlap(a, b):
    """Whether two rectangles (left, bottom, right, top) have more than an edge in common."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _nearest(spot, x, y):
    return min(max(x, spot[0]), spot[2]), min(max(y, spot[1]), spot[3])


def _crosses(line, spot):
    """Whether a segment enters a rectangle (Liang and Barsky's clipping)."""
    x0, y0, x1, y1 = line
    enter, leave = 0.0, 1.0
    for delta, start, low, high in ((x1 - x0, x0, spot[0], spot[2]), (y1 - y0, y0, spot[1],
                                                                      spot[3])):
        if delta == 0:
            if not low < start < high:
                return False
            continue
        near, far = sorted(((low - start) / delta, (high - start) / delta))
        enter, leave = max(enter, near), min(leave, far)
    return enter < leave


def _meet(a, b):
    """Whether two segments cross."""

    def side(line, x, y):
        x0, y0, x1, y1 = line
        return (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)

    return (side(a, *b[:2]) * side(a, *b[2:]) < 0) and (side(b, *a[:2]) * side(b, *a[2:]) < 0)
