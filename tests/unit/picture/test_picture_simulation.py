"""Simulated decoders: intervals of the shares."""

import pytest

from agfmc.experiments.simulation_tables import simulations, SimulationPlan
from agfmc.picture import simulation as module
from agfmc.score.intervals import wilson

pytest.importorskip("matplotlib")


def test_bars_are_wilsons_intervals_of_the_simulated_shares(shown):
    rows = simulations(SimulationPlan([4, 8], [0.2], ["1log"], 3, 300, 1))
    figure = shown(module._figure, rows, 3, None, math=True)
    assert not figure.clashes() and "95 % interval" in figure.texts
    bars = {tuple(line.get_ydata()) for line in figure.figure.axes[0].get_lines()
            if line.get_gid() == "interval"}
    assert wilson(rows[0]["ddag"]["success"], 300) in bars
    assert len(bars) <= 2 * 5
