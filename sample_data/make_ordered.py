#!/usr/bin/env python3
"""Make ordered.vec and ordered.cls: a continuous quantity cut into eight ordered classes.

t = sum_j cos(j) x_j + noise, with x uniform in [-1, 1]^20; class i is the i-th
eighth of the sorted t, like a humidity that is told from many channels of a
radiometer.  Every border between neighbouring classes has nearly the same
direction, and a partition that keeps neighbours together finds it from all
samples at once: the adjacent scheme.
"""

import sys

import numpy as np

from agfmc.data.convert import write_together
from agfmc.data.types import Dataset

POINTS, FEATURES, CLASSES, NOISE, SEED = 1000, 20, 8, 0.3, 1


def main(base):
    """Write the data to base.vec and base.cls."""
    generator = np.random.default_rng(SEED)
    x = generator.uniform(-1.0, 1.0, (POINTS, FEATURES)).astype(np.float32)
    t = x.astype(np.float64) @ np.cos(np.arange(FEATURES))
    t = t + NOISE * generator.standard_normal(POINTS)
    thresholds = np.quantile(t, np.arange(1, CLASSES) / CLASSES)
    write_together({base: Dataset(x, np.searchsorted(thresholds, t))})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "ordered")
