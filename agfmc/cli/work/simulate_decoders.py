"""The work of simulate_decoders."""

import json
import sys

from ...experiments.simulation import simulations
from ...report.chart_simulation import draw
from ...report.simulations import simulation_blocks, simulation_csv
from ...report.text import blocks_text
from ..messages import Progress


def run(plan, similarity, reports):
    """Simulate, draw, print."""
    with Progress("simulating") as progress:
        rows = simulations(plan, progress)

    def all_numbers():
        content = {
            "rounds": plan.rounds,
            "seed": plan.seed,
            "top": plan.top,
            "chance": plan.chance,
            "similarity": similarity,
            "results": rows,
        }
        return json.dumps(content, indent=1) + "\n"

    text = reports.write(
        {".json": all_numbers, ".csv": lambda: simulation_csv(rows, plan.top)},
        lambda path: draw(path, rows, plan.top, similarity),
    )
    if text is None:
        text = blocks_text(simulation_blocks(rows, plan.top))
    sys.stdout.write(text)
