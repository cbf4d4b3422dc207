#!/usr/bin/env python3
"""Whether sets cover, and errors stay below their bound, as often as promised; time of large sets.

Splits into calibration and test points, of made probabilities whose truth is known and of
sample_data/digits.svm and other LIBSVM text (trained once; the splits are of points kept apart).
In each split a temperature and a floor are fitted, then sets and thresholds, as calibrate_m does.
Coverage of m test points from n calibration points is beta-binomial for scores without ties; a
guarantee holds where about 95 % of the splits lie within its central 95 %, and the
mean is 1 - alpha or more.

    python tests/benchmarks/guarantees.py [--splits 1000] [--section NAME] [--sizes 200 400]
                                          [PATH/segment.svm ...]

Sections: coverage, nodes, errors, training and empty (slow: they train for each split), classes.
"""

import argparse
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import betabinom

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agfmc.calibration.maps import apply_map, fit_temperature  # noqa: E402
from agfmc.calibration.sets import (  # noqa: E402
    calibration_points,
    node_sets,
    p_values,
    prediction_sets,
    quantiles,
)
from agfmc.calibration.thresholds import error_threshold  # noqa: E402
from agfmc.calibration.types import CalibrationPoints  # noqa: E402
from agfmc.core.errors import DataError  # noqa: E402

SECTIONS = "coverage", "nodes", "errors", "training", "classes", "empty"
ALPHAS = (0.01, 0.05, 0.1, 0.2)
ERRORS = (0.02, 0.05, 0.1)
SIZES = 200, 400, 800, 3000
CONFIDENCE = 0.95
CENTRES = 1.4 * np.random.default_rng(5).normal(size=(10, 8))


def made(n, k, generator, weights=None, doubt=1.5, over=2.0):
    """Probabilities p (n, k) that are too sure, and true columns y (n,).

    doubt: the larger, the more alike are the probabilities of a point.
    """
    weights = np.full(k, 1 / k) if weights is None else weights
    q = generator.dirichlet(doubt * weights, n) + 1e-12
    q /= q.sum(axis=1)[:, None]
    y = (q.cumsum(axis=1) < generator.random(n)[:, None]).sum(axis=1).clip(0, k - 1)
    p = q**over
    return p / p.sum(axis=1)[:, None], y


def points_of(path):
    """x (n, d) and y (n,) of LIBSVM text, in a random order."""
    from agfmc.data.reading import read_training
    from agfmc.data.types import InputFormat

    data = read_training(str(path), InputFormat("svm"))
    rows = np.random.default_rng(0).permutation(len(data.y))
    return np.asarray(data.x)[rows], data.y[rows]


def digits():
    """Uncalibrated p (n, 10) and y (n,) of points of sample_data that were not trained on."""
    import agfmc

    x, y = points_of(ROOT / "sample_data" / "digits.svm")
    model = agfmc.train(
        "one-vs-rest", x[:300], y[:300], options="-c 1 -g 0.02", normalise=True, calibration=0
    )
    return agfmc.Classifier(model, "least-squares").probabilities(x[300:]), y[300:]


def balanced(p):
    """What `node_sets` takes, (n, k), of a balanced tree of the columns of p (n, k)."""
    n, k = p.shape
    sums, rows = np.cumsum(np.column_stack([np.zeros(n), p]), axis=1), np.arange(n)
    left, low, high = np.zeros(p.shape), np.zeros(n, dtype=int), np.full(n, k)
    while (high - low > 1).any():
        middle = np.where(high - low > 1, (low + high) // 2, low)
        right = 2 * sums[rows, middle] <= sums[rows, low] + sums[rows, high]
        new = np.where(right, middle, low), np.where(right, high, middle)
        column = np.arange(k)[None]
        there, here = (
            (column >= a[:, None]) & (column < b[:, None]) for a, b in ((low, high), new)
        )
        share = sums[rows, new[1]] - sums[rows, new[0]]
        left = np.where(there & ~here, share[:, None], left)
        low, high = new
    return left


def trees(paths):
    """{name: function of the number of a split -> (p, left, y) of calibration and of test}."""
    import agfmc

    def drawn(split):
        generator = np.random.default_rng([1, split])
        return tuple(
            (p, balanced(p), y) for p, y in (made(1000, 10, generator, doubt=0.8) for _ in range(2))
        )

    found = {"made, 10 classes, a balanced tree, 1000 + 1000 points": drawn}
    for path in (ROOT / "sample_data" / "digits.svm", *map(Path, paths)):
        x, y = points_of(path)
        y, train = np.unique(y, return_inverse=True)[1], 20 * len(np.unique(y))
        spread = x[:train].std(axis=0)
        x = (x - x[:train].mean(axis=0)) / np.where(spread > 0, spread, 1)
        for scheme in ("empirical", "random-tree"):
            tree = agfmc.design(scheme, range(y.max() + 1), x=x[:train], y=y[:train])
            model = agfmc.train(tree, x[:train], y[:train], options="-c 1 -g 0.02", calibration=0)
            p, left = (
                agfmc.Classifier(model, decoding).classify(x[train:]).columns
                for decoding in (
                    agfmc.Decoding(tree="full"),
                    agfmc.Decoding(stop="auto", calibrated=False),
                )
            )
            rest, half = y[train:], (len(y) - train) // 2

            def real(split, p=p, left=left, y=rest, half=half):
                rows = np.random.default_rng([2, split]).permutation(len(y))
                return tuple((p[part], left[part], y[part]) for part in (rows[:half], rows[half:]))

            found[f"{path.stem}, {scheme}, {train} for training, {half} + {len(rest) - half}"] = (
                real
            )
    return found


def sources(splits):
    """{name: function of the number of a split -> (p, y) of calibration, (p, y) of test}."""
    weights = np.array([0.3, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01])

    def drawn(split):
        generator = np.random.default_rng([1, split])
        return made(1000, 10, generator, weights), made(1000, 10, generator, weights)

    p, y = digits()

    def real(split):
        rows = np.random.default_rng([2, split]).permutation(len(y))
        half = len(y) // 2
        return (p[rows[:half]], y[rows[:half]]), (p[rows[half:]], y[rows[half:]])

    return {
        "made, 10 classes, 1000 + 1000 points": drawn,
        f"digits, {len(y) // 2} + {len(y) - len(y) // 2} points": real,
    }


def fitted(p, y):
    """A map and calibration points."""
    found = fit_temperature(p, y)
    mapped = apply_map(found, p)
    return found, calibration_points(mapped, y, mapped.argmax(axis=1), range(p.shape[1]))


def within(hits, m, n, alpha):
    """True where hits of m are in the central 95 % for n calibration points."""
    rank = int(np.ceil((n + 1) * (1 - alpha) - 1e-9))
    if rank > n:
        return hits == m
    low, high = betabinom.ppf((0.025, 0.975), m, rank, n + 1 - rank)
    return low <= hits <= high


def coverage(splits):
    print(
        "coverage: mean over splits; splits within the central 95 % of the beta-binomial; mean "
        "size of sets\n"
    )
    for name, draw in sources(splits).items():
        print(f"{name}, {splits} splits")
        cells = {}
        for split in range(splits):
            (p, y), (q, z) = draw(split)
            found, points = fitted(p, y)
            q = apply_map(found, q)
            k, rows = q.shape[1], np.arange(len(z))
            for alpha in ALPHAS:
                for score in ("lac", "aps"):
                    sets = prediction_sets(q, quantiles(points, range(k), alpha, score), score)
                    holds = sets[rows, z]
                    cells.setdefault((alpha, score), []).append(
                        (
                            holds.mean(),
                            within(holds.sum(), len(z), len(y), alpha),
                            sets.sum(axis=1).mean(),
                            (),
                        )
                    )
                sets = prediction_sets(q, quantiles(points, range(k), alpha, "lac", True), "lac")
                holds = sets[rows, z]
                by_class = [
                    (
                        holds[z == j].mean() if (z == j).any() else np.nan,
                        np.nan
                        if np.count_nonzero(y == j) < 1 / alpha - 1 or not (z == j).any()
                        else within(
                            holds[z == j].sum(),
                            np.count_nonzero(z == j),
                            np.count_nonzero(y == j),
                            alpha,
                        ),
                    )
                    for j in range(k)
                ]
                cells.setdefault((alpha, "lac by class"), []).append(
                    (holds.mean(), np.nan, sets.sum(axis=1).mean(), by_class)
                )
        print(
            f"{'wanted':8s}{'sets':14s}{'coverage':>10s}{'within':>9s}{'size':>8s}   "
            "least mean coverage of a class"
        )
        for (alpha, score), values in cells.items():
            mean, share, size = (np.mean([one[i] for one in values]) for i in range(3))
            line = f"{1 - alpha:<8g}{score:14s}{mean:10.4f}"
            if score == "lac by class":
                table = np.array([one[3] for one in values])  # (splits, k, 2)
                share = np.nanmean(table[:, :, 1])
                least = np.nanmin(np.nanmean(table[:, :, 0], axis=0))
                print(f"{line}{100 * share:8.1f}%{size:8.3f}   {least:.4f}")
            else:
                print(f"{line}{100 * share:8.1f}%{size:8.3f}")
        print(flush=True)


def nodes(splits, paths):
    print(
        "sets below nodes of a tree: mean coverage; splits within the central 95 % of the "
        "beta-binomial, and\nsplits not below it (of equal scores, as those of right answers are,"
        " coverage is larger); of classes, the\nleast; mean size, share of single right classes; "
        "the same of --coverage with --tree full\n"
    )
    for name, draw in trees(paths).items():
        cells = {}
        for split in range(splits):
            (p, left, y), (q, left_there, z) = draw(split)
            (n, k), rows = p.shape, np.arange(len(z))
            found, points = fitted(p, y)
            q = apply_map(found, q)
            ones = np.ones(n)
            scores = CalibrationPoints(y, ones, ones, ones, ones == 1, left[np.arange(n), y])
            for coverage in (0.9, 0.95):
                for by_class in (False, True):
                    sets = node_sets(
                        left_there, quantiles(scores, range(k), 1 - coverage, "node", by_class)
                    )
                    free = prediction_sets(
                        q, quantiles(points, range(k), 1 - coverage, "lac", by_class), "lac"
                    )
                    groups = [z == j for j in range(k)] if by_class else [z >= 0]
                    sizes = [np.count_nonzero(y == j) for j in range(k)] if by_class else [n]
                    held = sets[rows, z]
                    at = [
                        quantile_of(held[some].sum(), some.sum(), size, 1 - coverage)
                        for some, size in zip(groups, sizes)
                    ]
                    shares = [held[some].mean() for some in groups]
                    cells.setdefault((coverage, by_class), []).append(
                        (
                            held.mean(),
                            np.mean([0.025 <= one <= 0.975 for one in at]),
                            np.mean([one >= 0.025 for one in at]),
                            *(
                                value
                                for one in (sets, free)
                                for value in (
                                    one.sum(axis=1).mean(),
                                    (one[rows, z] & (one.sum(axis=1) == 1)).mean(),
                                )
                            ),
                            *shares,
                        )
                    )
        accuracy = np.mean(left_there[rows, z] == 0)
        print(
            f"{name}, {splits} splits, accuracy {accuracy:.3f}\n{'wanted':17s}coverage  within "
            "not below  least class    size  exact     size  exact of --coverage"
        )
        for (coverage, by_class), values in cells.items():
            mean = np.mean(values, axis=0)
            print(
                f"{coverage:<8g}{'by class' * by_class:9s}{mean[0]:8.4f}{100 * mean[1]:7.1f}%"
                f"{100 * mean[2]:9.1f}%{min(mean[7:]):13.4f}{mean[3]:8.3f}{mean[4]:7.3f}"
                f"{mean[5]:9.3f}{mean[6]:7.3f}",
                flush=True,
            )
        print()


def quantile_of(hits, m, n, alpha):
    """The share of the beta-binomial of coverage, m test and n calibration points, up to hits."""
    rank = int(np.ceil((n + 1) * (1 - alpha) - 1e-9))
    return 1.0 if rank > n or m == 0 else betabinom.cdf(hits, m, rank, n + 1 - rank)


def errors(splits):
    print(
        f"--max-error with confidence {CONFIDENCE}: splits in which the error of the answered, "
        "of all possible\npoints, is larger (promised: at most "
        f"{100 * (1 - CONFIDENCE):g} %); share of points answered; splits without a threshold\n"
    )
    p_all, _ = made(50_000, 10, np.random.default_rng(77), doubt=0.4)
    print(f"{'points':8s}{'max-error':11s}{'larger':>8s}{'answered':>10s}{'none':>8s}")
    for n in SIZES:
        for bound in ERRORS:
            larger, answered, none = 0, [], 0
            for split in range(splits):
                p, y = made(n, 10, np.random.default_rng([3, n, split]), doubt=0.4)
                found, points = fitted(p, y)
                try:
                    threshold = error_threshold(points.p_largest, points.right, bound, CONFIDENCE)[
                        0
                    ]
                except DataError:
                    none += 1
                    continue
                told, wrong = answered_of(found, p_all, threshold)
                answered.append(told)
                larger += wrong > bound
            share = f"{100 * np.mean(answered):9.1f}%" if answered else f"{'-':>10s}"
            print(
                f"{n:<8d}{bound:<11g}{100 * larger / splits:7.1f}%{share}"
                f"{100 * none / splits:7.1f}%",
                flush=True,
            )
    print()


def answered_of(found, p, threshold):
    """(share answered, error among them) of points like these, whose labels are not drawn."""
    told = apply_map(found, p).max(axis=1) >= threshold
    q = np.sqrt(p)  # `made` squared the true probabilities
    error = 1 - q.max(axis=1) / q.sum(axis=1)  # a temperature keeps the order
    return told.mean(), np.mean(error[told]) if told.any() else 0.0


def training(splits, sizes, paths):
    print(
        f"--max-error with confidence {CONFIDENCE} from the points of the training itself; "
        "before: sigmoids\nfitted to all points, after: without the point; real data: the error "
        "among the other points\n"
    )
    print(
        f"{'':16s}{'points':8s}{'max-error':11s}{'':8s}{'larger':>8s}{'answered':>10s}"
        f"{'none':>8s}{'error':>8s}"
    )
    for path in ("made", ROOT / "sample_data" / "digits.svm", *map(Path, paths)):
        data, fit = (None, discriminants) if path == "made" else (points_of(path), trained)
        for n in sizes:
            cells = {}
            for split in range(splits):
                if path == "made":
                    x, y, _ = mixture(n, [6, n, split])
                    test, truth = mixture(1000 if n < 800 else 6000, [7, n, split])[::2]
                else:
                    rows = np.random.default_rng([6, n, split]).permutation(len(data[1]))
                    x, y = data[0][rows[:n]], data[1][rows[:n]]
                    test, truth = data[0][rows[n:]], np.eye(y.max() + 1)[data[1][rows[n:]]]
                for key, value in bounded(fit, x, y, test, truth).items():
                    cells.setdefault(key, []).append(value)
            for (bound, when), values in sorted(
                cells.items(), key=lambda cell: (cell[0][0], cell[0][1] != "before")
            ):
                told, wrong = np.array(values).T
                share = f"{100 * np.sum(told * wrong) / max(told.sum(), 1e-9):7.2f}%"
                print(
                    f"{getattr(path, 'stem', path):16s}{n:<8d}{bound:<11g}{when:8s}"
                    f"{100 * np.mean(wrong > bound):7.1f}%{100 * np.mean(told):9.1f}%"
                    f"{100 * np.mean(told == 0):7.1f}%{share}",
                    flush=True,
                )


def mixture(n, seed):
    """x (n, 8) of ten classes that overlap, y (n,), and probabilities of the classes (n, 10)."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 10, n)
    x = CENTRES[y] + generator.normal(size=(n, 8))
    p = np.exp(-((x[:, None] - CENTRES) ** 2).sum(axis=2) / 2)
    return x, y, p / p.sum(axis=1)[:, None]


def trained(x, y):
    """A `Configuration` of one-vs-one machines, and its `HeldOut`."""
    import agfmc
    from agfmc.training.fit import TrainingSettings
    from agfmc.training.in_memory import train_configuration

    return train_configuration(
        agfmc.design("one-vs-one", range(y.max() + 1)),
        x,
        y,
        TrainingSettings("-c 4 -g 0.05", scale=True),
    )


def discriminants(x, y):
    """The same of planes halfway between the centres of `mixture`; their sigmoids alone are fitted.

    As the planes are known, this is fast, and all values are held out.
    """
    import agfmc
    from agfmc.core.models import BinaryModel, HeldOut, Kernel
    from agfmc.learners.platt import fit_sigmoid
    from agfmc.models.configuration import Configuration
    from agfmc.models.merge import collate

    tree = agfmc.design("one-vs-one", range(10))
    models, values = [], []
    for number, ((left,), (right,)) in enumerate(tree.sides()):
        w = CENTRES[right] - CENTRES[left]
        shift = w @ (CENTRES[right] + CENTRES[left]) / 2
        point = np.flatnonzero((y == left) | (y == right))
        f = x[point] @ w - shift
        a, b, _ = fit_sigmoid(f, y[point] == right)
        models.append(
            BinaryModel(
                f"m{number}",
                "c_svc",
                Kernel("linear"),
                w[None],
                np.ones(1),
                shift,
                (1, 0),
                (1, 0),
                (a, b),
                features=8,
            )
        )
        values.append((point, np.full(len(point), number), f))
    point, classifier, value = map(np.concatenate, zip(*values))
    order = np.argsort(point, kind="stable")
    return Configuration(tree, collate(models, tree.sides(), tree.classes)), HeldOut(
        np.arange(len(y)),
        y.astype(np.int32),
        x,
        point[order].astype(np.int32),
        classifier[order].astype(np.int32),
        value[order],
    )


def bounded(fit, x, y, test, truth):
    """{(bound, before or after): (share answered, error among them)}; fit: as `trained`."""
    import agfmc
    from agfmc.calibration.maps import fit_in_training
    from agfmc.prediction.known_points import held_out_answers

    (configuration, held_out), key = fit(x, y), "inverse"
    decodings = {key: agfmc.Decoding(key)}
    p, without = (
        answers[key].p
        for answers in held_out_answers(configuration, held_out, decodings, (False, True))
    )
    found, mapped = fit_in_training(p, y)
    q = apply_map(
        found,
        agfmc.Classifier(configuration, agfmc.Decoding(key, calibrated=False))
        .classify(test)
        .columns,
    )
    error = 1 - truth[np.arange(len(q)), q.argmax(axis=1)]
    results = {}
    for when, of_points in (("before", mapped(p)), ("after", mapped(without))):
        for bound in ERRORS:
            threshold = 2
            try:
                threshold = error_threshold(
                    of_points.max(axis=1), of_points.argmax(axis=1) == y, bound, CONFIDENCE
                )[0]
            except DataError:
                pass
            told = q.max(axis=1) >= threshold
            results[bound, when] = told.mean(), error[told].mean() if told.any() else 0.0
    return results


def classes():
    k, n, m = 1000, 20_000, 10_000
    generator = np.random.default_rng(5)
    weights = 1 / np.arange(1, k + 1)
    weights /= weights.sum()
    p, y = made(n, k, generator, weights, 1.5, 1.2)
    q, z = made(m, k, generator, weights, 1.5, 1.2)
    counts = np.bincount(y, minlength=k)
    print(
        f"{k} classes, {n} calibration points ({np.count_nonzero(counts < 19)} classes with "
        f"fewer than 19, {np.count_nonzero(counts == 0)} without), {m} points; p alone has "
        f"{q.nbytes / 1e6:.0f} MB\n"
    )
    print(f"{'step':40s}{'seconds':>9s}{'peak MB':>9s}")

    def step(name, function):
        tracemalloc.start()
        start = time.process_time()
        value = function()
        seconds = time.process_time() - start
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"{name:40s}{seconds:9.2f}{peak / 1e6:9.1f}", flush=True)
        return value

    found = step("fit a temperature", lambda: fit_temperature(p, y))
    p, q = apply_map(found, p), step("apply the map", lambda: apply_map(found, q))
    points = step("calibration points", lambda: calibration_points(p, y, p.argmax(1), range(k)))
    rows = np.arange(m)
    for score in ("lac", "aps"):
        for by_class in (False, True):
            what = score + " by class" * by_class
            limits = step(
                f"quantiles, {what}", lambda: quantiles(points, range(k), 0.05, score, by_class)
            )
            sets = step(f"sets, {what}", lambda: prediction_sets(q, limits, score))
            rare = (counts[z] < 19) & (counts[z] > 0)
            print(
                f"{'':8s}coverage {sets[rows, z].mean():.4f}, of rare classes "
                f"{sets[rows, z][rare].mean():.4f}, mean size {sets.sum(axis=1).mean():.1f}"
            )
        for by_class in (False, True):
            step(
                f"p values, {score}{' by class' * by_class}",
                lambda: p_values(q, points, range(k), score, by_class),
            )


def empty(splits, paths):
    """Sets of coverage .95 with the most probable class always, and without, of whole models.

    A third of the points each trains, calibrates (beside the held-out values of training) and tests.
    """
    import agfmc
    from agfmc.estimators import MultiClassFromBinary

    penguins = agfmc.read_table(
        str(ROOT / "sample_data" / "penguins.csv"),
        label="species",
        ids=("id",),
        ignored=("comments", "year"),
        missing="median",
    )
    sources = {"penguins": (np.asarray(penguins.x), penguins.y)}
    for path in (ROOT / "sample_data" / "digits.svm", *map(Path, paths)):
        sources[path.stem] = points_of(path)
    print("\nempty: coverage .95, mean over splits with the deviation of one split")
    print(f"{'':12}{'calibrated in':16}{'filled':>16}{'allow_empty':>16}{'empty sets':>12}")
    for name, (x, y) in sources.items():
        rows = {"training": [], "new rows": []}
        for split in range(splits):
            order = np.random.default_rng([7, split]).permutation(len(y))
            train, apart, test = np.array_split(order, 3)
            model = MultiClassFromBinary("one-vs-one", normalise=True).fit(x[train], y[train])
            for way in rows:
                if way == "new rows":
                    model.calibrate(x[apart], y[apart])
                shares = []
                for allowed in (False, True):
                    sets = model.predict_set(x[test], coverage=0.95, allow_empty=allowed)
                    column = np.searchsorted(model.classes_, y[test])
                    shares.append(sets[np.arange(len(test)), column].mean())
                shares.append(1 - sets.any(axis=1).mean())
                rows[way].append(shares)
        for way, shares in rows.items():
            mean, deviation = np.mean(shares, axis=0), np.std(shares, axis=0, ddof=1)
            cells = [f"{mean[i]:9.3f} +- {deviation[i]:.3f}" for i in range(2)]
            print(f"{name:12}{way:16}{cells[0]:>16}{cells[1]:>16}{mean[2]:12.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=1000)
    parser.add_argument("--section", choices=SECTIONS)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="of training")
    parser.add_argument("data", nargs="*", help="LIBSVM text, for nodes and training")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # few points for .99 by class: the table shows it
    for name, function in (
        ("coverage", lambda: coverage(args.splits)),
        ("nodes", lambda: nodes(args.splits, args.data)),
        ("errors", lambda: errors(args.splits)),
        ("training", lambda: training(args.splits, args.sizes, args.data)),
        ("classes", classes),
        ("empty", lambda: empty(args.splits, args.data)),
    ):
        if args.section in (None, name):
            function()


if __name__ == "__main__":
    main()
