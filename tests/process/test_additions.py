"""A learner, a score and a kernel that are added as CONTRIBUTING says, in a copy of the package."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from .conftest import make_points, ROOT, write_svm

LEARNER = '''"""Logistic regression with a parameter of its own."""

import math
from dataclasses import dataclass

from .logistic import Logistic
from .options import PlaneLearner


@dataclass(frozen=True)
class ToyOptions(PlaneLearner):
    """Options of the learner `toy`."""

    strength: float = 1.0
    weights: tuple = ()
    name = "toy"
    letters = {"-z": ("strength", 0, math.inf, False, True)}
    gives_probabilities = True

    def solve(self, packed, rows, side, w=None):
        return Logistic(1.0 / self.strength).solve(packed, rows, side, w)
'''
ROW = """    "toy": Learner("toy", "learners.toy:ToyOptions", searched=(
        Parameter("-z", "strength", "strength", -3.0, 9.0, 3.0),)),
    "K": Learner("""
SCORE = """    Score("mean_p", "probability of the class", "Its mean.", "probabilities",
          "score.toy:mean_p", "mean-p", "mean p", "mean", lambda points: points.p_true),
    )
}
HIERARCHICAL"""
MEAN = '''"""The mean probability of the true class."""

import numpy as np


def mean_p(p, y, weights=None):
    return float(np.average(p[np.arange(len(p)), y], weights=weights))
'''
KERNEL = """    "quadratic": KernelKind(
        7, None, ("gamma",), of_products="kernels.values:quadratic"),
}
KERNEL_NAMES"""
QUADRATIC = '''def quadratic(values, kernel):
    """values^2, in place."""
    values *= values


def sigmoid('''


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A folder with the package, in which there are a learner, a score and a kernel more."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(ROOT / "agfmc", folder / "agfmc")

    def insert(name, before, text):
        path = folder / "agfmc" / name
        source = path.read_text(encoding="utf-8")
        assert source.count(before) == 1
        path.write_text(source.replace(before, text), encoding="utf-8")

    (folder / "agfmc" / "learners" / "toy.py").write_text(LEARNER)
    insert("control/learners.py", '    "K": Learner(', ROW)
    (folder / "agfmc" / "score" / "toy.py").write_text(MEAN)
    insert("score/rows.py", "    )\n}\nHIERARCHICAL", SCORE)
    insert("core/kernels.py", "}\nKERNEL_NAMES", KERNEL)
    insert("kernels/values.py", "def sigmoid(", QUADRATIC)
    x, y = make_points(240, 4)
    write_svm(folder / "trn", x + np.random.default_rng(1).normal(size=x.shape), y)
    return folder


def started(house, command, *words):
    """What a command of that house prints, and writes as messages."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "bin" / command), *map(str, words)],
        cwd=house,
        env={**os.environ, "PYTHONPATH": str(house)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done


TUNE = ("tune_m", "-M", "--no-state", "-d", 3, "--refine", 0)


@pytest.mark.long
def test_a_learner_with_a_parameter_of_its_own(house):
    """It is searched, on its default grid and on the one given, and trained."""
    for grid, tried in ((), 5), (("--space", "strength=0:4"), 3):
        done = started(
            house,
            *TUNE,
            *grid,
            "--report",
            "t.csv",
            "--report",
            "t.json",
            "-+",
            "learner=toy",
            "one-vs-rest",
            "trn",
        )
        found = json.loads((house / "t.json").read_text())
        assert sorted(point["log2z"] for point in found["points"])[:: tried - 1] == (
            [0.0, 4.0] if grid else [-3.0, 9.0]
        )
        assert "log2z" in (house / "t.csv").read_text().splitlines()[0]
        assert '"learner=toy -z ' in done.stdout
    (house / "plan").write_text(done.stdout)
    started(house, "multi_borders", "-M", "plan", "trn", "m", "m.mbc")
    started(house, "mbh2mbm", "m.mbc", "m.mbm")
    assert "options learner=toy -z " in started(house, "mbm_info", "m.mbm").stdout
    assert "strength: default " in started(house, "tune_m", "--help-all").stdout


@pytest.mark.long
def test_a_score_for_which_larger_is_better(house):
    """Search, comparison and estimate take the largest."""
    started(
        house,
        *TUNE,
        "--by",
        "mean-p",
        "--report",
        "t.json",
        "--space",
        "C=-4:4:4 gamma=-8:0:4",
        "one-vs-one",
        "trn",
    )
    found = json.loads((house / "t.json").read_text())
    best = found["points"][found["best"]]["score"]
    assert best == max(point["score"] for point in found["points"] if len(point["parts"]) == 3)
    assert found["estimate"]["score"] == pytest.approx(best, abs=0.05)
    rows = json.loads(
        started(
            house,
            "compare_control",
            "-M",
            "--no-state",
            "-d",
            2,
            "--by",
            "mean-p",
            "--json",
            "trn",
            "one-vs-one",
            "one-vs-rest",
        ).stdout
    )
    values = [row["mean_p"]["pooled"] for row in rows["rows"]]
    assert [row["best"].count("mean_p") for row in rows["rows"]] == [
        value == max(values) for value in values
    ]
    assert rows["rows"][1]["difference"]["mean_p"]["pooled"] == pytest.approx(values[1] - values[0])


@pytest.mark.long
@pytest.mark.parametrize("learner", ["svm", "nystrom -m 40"])
def test_a_kernel_of_products(house, learner):
    """It is searched, trained and described: by LIBSVM from a table, and on landmarks."""
    started(
        house,
        *TUNE,
        "--space",
        "kernel=quadratic",
        "--report",
        "t.csv",
        "-+",
        f"learner={learner}",
        "one-vs-rest",
        "trn",
    )
    assert "-t quadratic -g " in (house / "t.csv").read_text()
    started(
        house,
        "multi_borders",
        "-M",
        "-+",
        f"learner={learner} -t quadratic -g 0.2",
        "one-vs-rest",
        "trn",
        "m",
        "m.mbc",
    )
    assert "quadratic gamma 0.2" in started(house, "mbm_info", "m.mbc").stdout
    assert started(house, "classify_m", "-M", "m.mbc", "trn", "o").stdout
