"""Every number that eval_uc prints, computed again from the definitions, point by point."""

import json
import math
import re
from itertools import chain

import numpy as np
import pytest

KEYS = ("accuracy", "uncertainty_coefficient", "uncertainty_coefficient_reverse",
        "uncertainty_coefficient_symmetric", "brier_all", "brier_winning", "log_loss",
        "expected_calibration_error")
LINES = ("accuracy", "uncertainty coefficient", "  reverse", "  symmetric",
         "Brier score, all classes", "Brier score, winning class", "log loss",
         "expected calibration error")
LABELS = {2: [0, 1], 3: [2, 7, 2**31 - 1], 5: [0, 1, 4, 9, 1000]}


class Case:
    """Truth, answers and probabilities in files of a folder, and their scores by definition."""

    def __init__(self, folder, k, seed, rejecting=False, priors=False, sharp=False):
        rng = np.random.default_rng(seed)
        self.labels, n = LABELS[k], 60
        p = rng.dirichlet(np.full(k, 0.05 if sharp else 0.7), n)
        text = [[f"{v:9.6f}" for v in row] for row in p]
        text[0] = ["1.000000"] + ["0.000000"] * (k - 1)  # edges of bins
        text[1] = ["0.500000"] * 2 + ["0.000000"] * (k - 2)
        text[2] = ["0.000000"] * (k - 1) + ["1.000000"]
        for row, v in enumerate((.6, .7, .3, .9, .8), 3):
            text[row] = [f"{v:8.6f}", f"{1 - v:8.6f}"] + ["0.000000"] * (k - 2)
        self.p = [[float(v) for v in row] for row in text]
        self.truth = [self.labels[int(rng.choice(k, p=row / row.sum()))] for row in p]
        self.truth[2] = self.labels[0]  # told with probability 0
        self.truth[-k:] = self.labels
        self.result = [self.labels[row.index(max(row))] for row in self.p]
        if rejecting:
            self.result = [-1 if max(row) < .55 else answer
                           for row, answer in zip(self.p, self.result)]
        np.array(self.truth, "<i4").tofile(folder / "truth.cls")
        np.array(self.result, "<i4").tofile(folder / "out.cls")
        self.rating = np.array([(k * max(row) - 1) / (k - 1) for row in self.p], "<f4")
        self.rating.tofile(folder / "out.con")
        (folder / "p").write_text(f"labels {' '.join(map(str, self.labels))}\n" + "".join(
            "".join(f" {v}" for v in row) + f"{c: 4d}\n" for row, c in zip(text, self.result)))
        self.k = k
        self.shares = None
        self.weight = [1] * n
        if priors:
            self.shares = [(j + 1) / (k * (k + 1) / 2) for j in range(k)]
            self.weight = [self.shares[self.labels.index(t)] * n / self.truth.count(t)
                           for t in self.truth]

    def rows(self, answers):
        """(truth, answer, p, winner, weight) of each point."""
        winners = [max(row) for row in self.p]
        if answers == "con":
            winners = [(c * (self.k - 1) + 1) / self.k for c in self.rating.tolist()]
        return list(zip(self.truth, self.result, self.p, winners, self.weight))

    def scores(self, bins, answers="p"):
        rows = self.rows(answers)
        total = math.fsum(w for *_, w in rows)
        columns = self.labels + [-1] * (-1 in self.result)
        table = [[math.fsum(w for t, a, _, _, w in rows if (t, a) == (i, j)) for j in columns]
                 for i in self.labels]
        cells = list(chain(*table))
        h_t = entropy([math.fsum(row) for row in table])
        h_a = entropy([math.fsum(column) for column in zip(*table)])
        mutual = h_t + h_a - entropy(cells)
        all_p = answers == "p"
        told = [(w, max(row) if all_p else winner, t == a)
                for t, a, row, winner, w in rows if a >= 0]
        counted = math.fsum(w for w, *_ in told)
        values = {
            "accuracy": math.fsum(w for t, a, _, _, w in rows if t == a) / total,
            "uncertainty_coefficient": mutual / h_t,
            "uncertainty_coefficient_reverse": mutual / h_a,
            "uncertainty_coefficient_symmetric": 2 * mutual / (h_t + h_a),
            "brier_all": math.sqrt(math.fsum(
                w * (p - (label == t))**2 for t, _, row, _, w in rows
                for p, label in zip(row, self.labels)) / total / self.k) if all_p else None,
            "log_loss": math.fsum(-w * math.log(max(row[self.labels.index(t)], 2**-52))
                                  for t, _, row, _, w in rows) / total if all_p else None,
            "brier_winning": math.sqrt(math.fsum(w * (p - hit)**2 for w, p, hit in told) / counted)}
        values["calibration"] = [self.bin(told, b, bins) for b in range(bins)]
        values["expected_calibration_error"] = math.fsum(
            row["count"] * abs(row["observed"] - row["forecast"])
            for row in values["calibration"] if row["count"]) / counted
        return table, values

    @staticmethod
    def bin(told, number, bins):
        # which bin: the edges are number/bins, and 1 belongs to the last
        inside = [(w, p, hit) for w, p, hit in told
                  if min(int(np.floor(np.round(p * bins, 9))), bins - 1) == number]
        count = math.fsum(w for w, *_ in inside)
        row = {"lower": number / bins, "upper": (number + 1) / bins, "count": count,
               "forecast": None, "observed": None, "error": None}
        if inside:
            row["forecast"] = math.fsum(w * p for w, p, _ in inside) / count
            row["observed"] = math.fsum(w * hit for w, _, hit in inside) / count
            row["error"] = math.sqrt(math.fsum(w**2 * p * (1 - p) for w, p, _ in inside)) / count
        return row


def entropy(counts):
    total = math.fsum(counts)
    return -math.fsum(c / total * math.log(c / total) for c in counts if c)


def printed(run, *words):
    done = run("eval_uc", *words)
    assert done.err == ""
    return done.out


CASES = [(k, seed, rejecting, priors, sharp)
         for seed, (k, rejecting, priors, sharp) in enumerate([
             (2, False, False, False), (3, False, False, False), (5, False, False, True),
             (3, True, False, False), (5, True, True, False), (2, False, True, True),
             (5, False, True, False)])]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, case)))
def case(request, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return Case(tmp_path, *request.param)


def words(case, answers, *more):
    if case.shares is not None:
        more += ("--priors", ",".join(map(repr, case.shares)))
    labels = ("--labels", ",".join(map(str, case.labels)))
    return [*more, "truth.cls", "out", "p"] if answers == "p" else [
        *more, *labels, "truth.cls", "out"]


@pytest.mark.parametrize("answers, bins", [("p", 10), ("p", 7), ("con", 10), ("con", 1)])
def test_json(case, run, answers, bins):
    told = json.loads(printed(run, *words(case, answers, "--json", "-q", bins)))
    table, values = case.scores(bins, answers)
    np.testing.assert_allclose(told["contingency"], table, rtol=1e-12, atol=1e-12)
    assert told["labels"] == case.labels and told["classes"] == case.k
    assert told["points"] == len(case.truth) and told["rejected"] == case.result.count(-1)
    for name in KEYS:
        assert told[name] == (None if values[name] is None
                              else pytest.approx(values[name], rel=1e-9, abs=1e-12)), name
    assert len(told["calibration"]) == bins
    for row, wanted in zip(told["calibration"], values["calibration"], strict=True):
        assert row == {name: value if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)
                       for name, value in wanted.items()}
    if case.shares is not None:
        assert told["priors"] == pytest.approx(case.shares)


@pytest.mark.parametrize("answers", ["p", "con"])
def test_page(case, run, answers):
    page = printed(run, *words(case, answers))
    table, values = case.scores(10, answers)
    found = {line[:28].rstrip(): line[28:].strip() for line in page.splitlines()
             if re.match(r" {0,2}\w", line)}
    for line, name in zip(LINES, KEYS):
        if values[name] is not None:
            assert re.fullmatch(r"-?\d+\.\d{6}", found[line])
            assert abs(float(found[line]) - values[name]) <= .5e-6 + 1e-9, name
        else:
            assert found[line].startswith("needs")
    assert found["points"].split(",")[0] == str(len(case.truth))
    assert found["classes"] == str(case.k)
    lines = page.split("weighted)\n" if case.shares else "result)\n")[1].splitlines()
    assert lines[0].split() == [str(label) for label in case.labels] + \
        ["rejected"] * (-1 in case.result)
    for line, label, row in zip(lines[1:], case.labels, table):
        first, *counts = line.split()
        assert first == str(label)
        if case.shares is None:
            assert counts == [str(int(count)) for count in row]
        else:
            np.testing.assert_allclose([float(c) for c in counts], row, atol=.00501)
    bins = page.split("std.error\n")[1].splitlines()[:10]
    for line, row in zip(bins, values["calibration"], strict=True):
        lower, dash, upper, count, *means = line.split()
        assert (float(lower), dash, float(upper)) == (
            pytest.approx(row["lower"]), "-", pytest.approx(row["upper"]))
        assert abs(float(count) - row["count"]) <= .00501
        if row["count"]:
            np.testing.assert_allclose([float(v) for v in means], [
                row["forecast"], row["observed"], row["error"]], rtol=0, atol=.51e-6)
        else:
            assert means == ["-"] * 3


def test_short_forms(case, run):
    _, values = case.scores(10)
    pairs = [("-b", "{accuracy:6.4f} {uncertainty_coefficient:6.4f}\n"),
             ("-B", "{brier_all:8.6f}\n")]
    for flag, form in pairs:
        assert printed(run, *words(case, "p", flag, "-H")) == form.format(**values)
    assert printed(run, *words(case, "p", "-B", "-b", "-H")) == \
        f"{values['brier_winning']:8.6f}\n"


def test_one_class_alone_and_answers_that_are_all_right(monkeypatch, tmp_path, run):
    monkeypatch.chdir(tmp_path)
    for truth, answer, accuracy, uncertainty in (
            ([3, 3], [3, 3], 1.0, None), ([3, 5], [3, 5], 1.0, 1.0), ([3, 5], [5, 3], 0.0, 1.0),
            ([3, 5], [3, 3], 0.5, 0.0), ([3, 3], [3, 5], 0.5, None), ([3, 5], [-1, -1], 0.0, 0.0)):
        np.array(truth, "<i4").tofile("truth.cls")
        np.array(answer, "<i4").tofile("out.cls")
        told = json.loads(printed(run, "--json", "truth.cls", "out"))
        assert told["accuracy"] == accuracy
        assert told["uncertainty_coefficient"] == (
            None if uncertainty is None else pytest.approx(uncertainty, abs=1e-12))
