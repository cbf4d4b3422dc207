"""The sections about answers: scores, confusions, probabilities, hard points, nodes of a tree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..score.rows import BEFORE, COST, HIERARCHICAL, PAGE
from . import charts, structure
from .blocks import (
    beside,
    Block,
    facts,
    heading,
    Matrix,
    matrix,
    note,
    pictures,
    Section,
    table,
    text,
    without_empty,
)
from .classes import Classes, classes_of, with_distinct_names, wrong_cells
from .content import AnswersPart, Column, DataTable, ReportContent, TableRow
from .words import count, cut, interval, number, percent, plural, whole

_WHOLE_TABLE = 30  # classes whose confusions are a table of all cells
_FREQUENT, _FEW = 30, 10  # confusions in a list: where it is all there is, and beside the table
_WIDEST, _TYPED = 400, 40  # classes with a separate row, on a page and in text
_SCREEN = 12, 30  # the most classes, and letters of their names, for confusions in text
_NARROW = 10  # classes of such a table that has room for another one beside it
_ALL_OF_THEM = "The JSON of eval_uc has all of them."

_COUNTS = frozenset(("support", "rejected"))


def answer_sections(content: ReportContent) -> list[Section]:
    """The sections of the answers, or none."""
    if content.answers is None:
        return []
    answers = content.answers
    classes = classes_of(content)
    if content.model is None:
        tree = None
    else:
        tree = content.model.tree
    makers = (
        (("scores", "Scores"), _scores(answers, classes)),
        (("confusions", "Confusions"), _confusions(answers, classes)),
        (("probabilities", "Probabilities"), _probabilities(answers)),
        (("hardest", "Hardest points"), _hardest(answers, classes)),
        (("nodes", "Nodes of the tree"), _nodes(answers, classes, tree)),
    )
    return [Section(*names, tuple(blocks)) for names, blocks in makers]


def score_blocks(scores: Mapping) -> list[Block]:
    """Blocks of scores alone, as a screen of a terminal has room for them."""
    answers = AnswersPart("", scores)
    labels = scores["labels"]
    names = {label: name for label, name in zip(labels, scores.get("names") or ()) if name}
    classes = Classes(tuple(labels), with_distinct_names(names))
    few = len(labels) <= _SCREEN[0]
    short = sum(len(classes.name(label)) + 1 for label in labels) <= _SCREEN[1]
    confusions = _matrix(scores, classes if short else Classes(classes.labels, {}))
    return [
        *_overall(answers),
        text(""),
        *beside(_class_table(scores, classes, _TYPED, not few), [matrix(confusions)] * few),
        *_sets_words(scores),
        *(block for shown in _further_tables(scores) for block in (text(""), table(shown))),
    ]


def _further_tables(scores):
    """Tables of sets, and of the calibration of classes, where there are some."""
    sets = scores.get("sets")
    sizes = charts.class_sets(scores)
    if sizes is not None:
        yield sizes.table
    if sets and sets["by_class"]:
        keys = ("label", "points", "coverage", "low", "high", "mean_size")
        titles = ("class", "points", "coverage", "from", "to", "mean size")
        rows = [row for row in sets["by_class"] if row["points"]]
        yield _numbers_table("Coverage by class.", titles, keys, rows)
    by_class = scores.get("calibration_by_class", ())
    bins = [("Calibration of the winning class.", scores["calibration"])] * bool(by_class)
    bins += [
        (
            f"Calibration of class {row['label']}, error {row['expected_calibration_error']:.6f}.",
            row["bins"],
        )
        for row in by_class
    ]
    for caption, every in bins:
        keys = ("lower", "upper", "count", "forecast", "observed", "error")
        titles = ("p from", "to", "points", "forecast", "observed", "std.error")
        rows = [row for row in every or () if row["count"]]
        if rows:
            yield _numbers_table(caption, titles, keys, rows)


def _numbers_table(caption, titles, keys, rows):
    return DataTable(
        caption,
        tuple(Column(title, "number") for title in titles),
        tuple(TableRow(tuple(row[key] for key in keys)) for row in rows),
    )


def answer_verdict(answers: AnswersPart, classes: Classes) -> list[str]:
    """Sentences that say how good the answers are, against what, and what they confuse most."""
    scores = answers.scores
    bounds = _bounds(scores, "accuracy")
    base = _baselines(scores).get("accuracy")
    points = plural(scores["points"], "held-out sample" if answers.splits else "sample")
    right = (
        f"{percent(scores['accuracy'])}{' of these' * bool(scores['rejected'])} correctly"
        + (f" (95\u00a0% interval {interval(bounds, percent)})" if bounds else "")
        + ", weighted" * ("priors" in scores)
    )
    if scores["rejected"]:
        right = f"{percent(scores['coverage'])}, {right}"
    words = [
        f"{'Of' if scores['rejected'] else 'On'} {points} the model answers {right}; always "
        f"answering the most frequent class would give {percent(base)}."
    ]
    if COST.name in scores:
        words.append(
            f"The mean cost is {number(scores[COST.name])}; always giving the answer "
            f"that costs least would give {number(scores['single_class_cost'])}."
        )
    wrong = wrong_cells(scores)
    labels = scores["labels"]
    if not wrong:
        return [*words, "No answer is wrong."]
    value, i, j = wrong[0]
    taken = [f"\u201c{cut(classes.name(labels[at]))}\u201d" for at in (i, j)]
    return [
        *words,
        f"It most often takes {taken[0]} for {taken[1]}: {count(whole(-value))} of "
        f"{count(whole(math.fsum(scores['contingency'][i])))}.",
    ]


def score_tiles(answers: AnswersPart) -> list[tuple[str, str, str]]:
    """(title, value, what belongs to it) of the scores that are seen first."""
    scores = answers.scores
    if scores["rejected"]:
        scope = " of the answered"
    else:
        scope = ""
    tiles = []
    for name, title in (
        ("accuracy", f"Accuracy{scope}"),
        (COST.name, "Mean cost"),
        ("log_loss", "Log loss"),
        ("balanced_accuracy", "Balanced accuracy"),
        ("expected_calibration_error", "Calibration error"),
    ):
        value = scores.get(name)
        if value is not None:
            tiles.append(
                (
                    title,
                    percent(value) if PAGE[name].share else number(value),
                    _sureness(answers, name),
                )
            )
    if scores["rejected"]:
        tiles.insert(
            1,
            (
                "Coverage",
                percent(scores["coverage"]),
                f"{plural(scores['rejected'], 'point')} rejected",
            ),
        )
    return tiles[:5]


def _sureness(answers, name):
    """The interval of a score, why it has none, its deviation, or what it is in other words."""
    if PAGE[name].share:
        show = percent
    else:
        show = number
    bounds = _bounds(answers.scores, name)
    if bounds:
        return f"95 %: {interval(bounds, show)}"
    if _unsure(answers.scores, name):
        if answers.scores["accuracy"] == 1:
            return f"no interval: no error in {plural(answers.scores['points'], 'point')}"
        return "no interval: the same in all resamples"
    summary = (answers.splits or {}).get(name)
    if summary and summary.get("sd") is not None:
        return f"\u00b1 {show(summary['sd'])} over the splits"
    base = _baselines(answers.scores).get(name)
    if base is None:
        return ""
    return f"the shares of the classes alone: {show(base)}"


def _bounds(scores, name):
    """The interval of a score within what the score can be, which a bootstrap does not know, or
    None."""
    interval = scores["intervals"].get(name)
    if interval is None or name == COST.name:
        return interval and tuple(interval)
    return tuple(min(max(bound, PAGE[name].low), PAGE[name].high) for bound in interval)


def _unsure(scores, name):
    """Return True if a score has no interval, as it is the best or the worst in all resamples."""
    return (
        bool(scores["intervals"])
        and name not in scores["intervals"]
        and scores.get(name) in (0.0, 1.0)
        and PAGE[name].resampled
    )


# -- scores ----------------------------------------------------------------------------------------


def _scores(answers, classes):
    return [
        *_overall(answers),
        heading("Scores of each class"),
        *_class_table(answers.scores, classes, _WIDEST),
        *pictures(charts.class_recall(answers.scores, classes.names)),
    ]


def _overall(answers):
    scores = answers.scores
    blocks = [
        facts(
            [
                *[("answers", answers.origin)] * bool(answers.origin),
                ("points", count(scores["points"])),
                *[("classes", "unknown (-k)")] * (scores["classes"] is None),
                *[("rejected", count(scores["rejected"]))] * bool(scores["rejected"]),
                *[("cost without answers", number(scores.get("no_answer_cost")))]
                * ("no_answer_cost" in scores),
            ]
        ),
        *map(note, answers.warnings),
        *map(table, _overall_tables(answers)),
    ]
    if scores.get("before"):
        blocks += [heading("Before and after"), table(_before_table(scores))]
    return blocks


def _baselines(scores: Mapping) -> dict[str, float]:
    baselines = shares_alone([math.fsum(row) for row in scores["contingency"]])
    for name, key in (
        (COST.name, "single_class_cost"),
        ("uncertainty_coefficient", "uncertainty_coefficient_random"),
    ):
        if scores.get(key) is not None:
            baselines[name] = scores[key]
    return baselines


def shares_alone(totals: Sequence[float]) -> dict[str, float]:
    """{score: value} of answers that know the shares of the classes and nothing else."""
    everything = math.fsum(totals)
    if not everything:
        return {}
    shares = [total / everything for total in totals if total]
    return {
        "accuracy": max(shares),
        "balanced_accuracy": 1 / len(shares),
        "cohen_kappa": 0.0,
        "matthews": 0.0,
        "uncertainty_coefficient": 0.0,
        "macro_auc": 0.5,
        "hand_till_auc": 0.5,
        "log_loss": -math.fsum(share * math.log(share) for share in shares),
        "brier": 1 - math.fsum(share**2 for share in shares),
    }


def _overall_tables(answers):
    scores = answers.scores
    base = _baselines(answers.scores)
    rows: tuple[list, list] = ([], [])
    for name, row in PAGE.items():
        value = scores.get(name)
        summary = (answers.splits or {}).get(name) or {}
        if value is not None and (name != "coverage" or scores["rejected"]):
            title = row.title.format(scores.get("top")) + " of the answered" * (
                name == "accuracy" and scores["rejected"] > 0
            )
            rows[row.rare].append(
                TableRow(
                    (
                        title,
                        value,
                        _bounds(scores, name),
                        summary.get("sd"),
                        base.get(name),
                        row.meaning,
                    ),
                    strong=name in ("accuracy", "log_loss"),
                )
            )
    zero = scores["zero_probability"]
    if zero:
        more = f" The true class of {plural(zero, 'point')} had the probability 0."
    else:
        more = ""
    if any(_unsure(scores, name) for name in PAGE):
        more += (
            " A score that is the same in all resamples of the points has no interval: they "
            "cannot tell how far off it may be. That of the accuracy needs no resamples."
        )
    return [
        without_empty(
            DataTable(
                caption,
                (
                    Column("score"),
                    Column("value", "number"),
                    Column("95 % interval", "number"),
                    Column("\u00b1 over splits", "number", "standard deviation"),
                    Column("class frequencies alone", "number"),
                    Column("what it is", "prose"),
                ),
                tuple(entries),
                sortable=False,
                folded=folded,
            )
        )
        for caption, entries, folded in (
            (
                f"Scores of all points{', weighted' * ('priors' in scores)}; \u201cclass frequencies "
                f"alone\u201d: those of predictions that ignore the features.{more}",
                rows[0],
                False,
            ),
            ("Further scores", rows[1], True),
        )
        if entries
    ]


def _before_table(scores):
    before = scores["before"]
    rows = []
    for name in BEFORE:
        change = before["difference"].get(
            name, {"mean": scores[name] - before[name], "error": None}
        )
        rows.append(
            TableRow(
                (PAGE[name].title, before[name], scores[name], change["mean"], change["error"])
            )
        )
    zeros = before["zero_probability"], scores["zero_probability"]
    if any(zeros):
        rows.append(TableRow(("true classes with p = 0", *zeros, None, None)))
    return DataTable(
        "Scores of the probabilities before, and of these.",
        (
            Column("score"),
            Column("before", "number"),
            Column("after", "number"),
            Column("change", "number"),
            Column("standard error", "number"),
        ),
        tuple(rows),
        sortable=False,
    )


def _class_table(scores, classes, most, taken_for=True):
    names = list(scores["by_class"])
    chosen = names
    blocks = []
    if len(names) > most:
        chosen = sorted((row for row in names if row["f1"] is not None), key=lambda row: row["f1"])[
            :most
        ]
        blocks.append(
            text(
                f"These are {len(chosen)} of {count(len(names))} classes, those with "
                f"the least F1: {_ALL_OF_THEM}"
            )
        )
    keys = [
        ("f1", "F1"),
        ("precision", "precision"),
        ("recall", "recall"),
        ("auc", "AUC"),
        ("cost", "cost"),
        ("support", "points"),
        ("rejected", "rejected"),
    ]
    keys = [key for key in keys if any(row.get(key[0]) is not None for row in names)]
    named = any(classes.name(row["label"]) != str(row["label"]) for row in chosen)
    taken: dict[int, tuple] = {}  # {label: class that it is most often taken for, how often}
    for value, i, j in wrong_cells(scores) if taken_for else ():
        labels = scores["labels"]
        taken.setdefault(labels[i], (classes.name(labels[j]), whole(-value)))
    rows = tuple(
        TableRow(
            (
                classes.name(row["label"]),
                *(whole(row.get(key)) if key in _COUNTS else row.get(key) for key, _ in keys),
                *([row["label"]] * named),
                *taken.get(row["label"], ("", None)),
            ),
            classes.at(row["label"]),
        )
        for row in chosen
    )
    columns = (
        Column("class"),
        *(Column(title, "number") for _, title in keys),
        *[Column("label", "number")] * named,
        Column("most often taken for"),
        Column("times", "number"),
    )
    return [
        *blocks,
        table(without_empty(DataTable("Each class against all others.", columns, rows))),
    ]


# -- confusions ------------------------------------------------------------------------------------


def _confusions(answers, classes):
    scores = answers.scores
    if len(scores["labels"]) <= _WHOLE_TABLE:
        blocks = [matrix(_matrix(scores, classes))]
    else:
        blocks = pictures(charts.confusion_map(scores, classes.names))
    if len(scores["labels"]) <= _NARROW:
        return beside(blocks, _frequent(scores, classes))
    return [*blocks, *_frequent(scores, classes)]


def _matrix(scores, classes):
    heads = [(classes.name(label), classes.at(label)) for label in scores["labels"]]
    if scores["rejected"]:
        heads.append(("rejected", ()))
    rows = tuple(tuple(map(whole, counts[: len(heads)])) for counts in scores["contingency"])
    weighted = ", sums of weights" * ("priors" in scores)
    return Matrix(f"Rows are true classes, columns answers{weighted}.", tuple(heads), rows)


def _frequent(scores, classes):
    labels = scores["labels"]
    totals = [math.fsum(row) for row in scores["contingency"]]
    cells = wrong_cells(scores)
    if not cells:
        return [text("No answer is wrong.")]
    if len(labels) <= _WHOLE_TABLE:
        most = _FEW
    else:
        most = _FREQUENT
    rows = tuple(
        TableRow(
            (classes.name(labels[i]), classes.name(labels[j]), whole(-value), -value / totals[i]),
            classes.at(labels[i], labels[j]),
        )
        for value, i, j in cells[:most]
    )
    if len(cells) > most:
        left = f"{len(rows)} of {plural(len(cells), 'pair')} of a true class and a wrong answer. "
    else:
        left = ""
    shown = left and len(labels) > _WHOLE_TABLE
    return [
        heading("Most frequent confusions"),
        table(
            DataTable(
                f"{left}{_ALL_OF_THEM if shown else ''}".strip() or "All wrong answers.",
                (
                    Column("true class"),
                    Column("answer"),
                    Column("points", "number"),
                    Column("share", "share", "of the points of the class"),
                ),
                rows,
            )
        ),
    ]


# -- probabilities ---------------------------------------------------------------------------------


def _probabilities(answers):
    scores = answers.scores
    return [
        *pictures(
            charts.reliability(scores),
            charts.risk_coverage(scores),
            charts.class_sets(scores),
            charts.monitored(scores),
        ),
        *_sets_words(scores),
    ]


def _sets_words(scores):
    blocks = []
    sets = scores.get("sets")
    if sets:
        words = [
            f"{percent(sets['coverage'])} of the sets hold the true class (95 %: "
            f"{interval((sets['low'], sets['high']), percent)}); mean size "
            f"{number(sets['mean_size'], 2)}; {percent(sets['exact'])} are the true class "
            f"alone; {plural(sets['empty'], 'set')} "
            f"{'is' if sets['empty'] == 1 else 'are'} empty."
        ]
        words += [
            f"{title.capitalize()}: {number(sets[name])}."
            for name, title in HIERARCHICAL.items()
            if sets.get(name) is not None
        ]
        blocks.append(text("Sets of classes: " + " ".join(words)))
    return blocks


# -- points and nodes ------------------------------------------------------------------------------


def _hardest(answers: AnswersPart, classes: Classes) -> Sequence[Block]:
    if not answers.hardest:
        return []
    most = min(3, max(len(point.likely) for point in answers.hardest))
    same = all(
        point.likely[:1] and point.likely[0][0] == point.answer for point in answers.hardest
    )  # as where no costs and no thresholds decide
    columns = [
        Column("point"),
        Column("true class"),
        Column("p of it", "number"),
        *[Column("answer")] * (not same),
    ]
    for index in range(most):
        columns += [
            Column("answer" if same and not index else ("most probable", "second", "third")[index]),
            Column("p", "number"),
        ]
    rows = []
    for point in answers.hardest:
        likely = [(classes.name(label), p) for label, p in point.likely[:most]]
        likely += [("", None)] * (most - len(likely))
        rows.append(
            TableRow(
                (
                    point.id,
                    classes.name(point.truth),
                    point.p_truth,
                    *[classes.name(point.answer)] * (not same),
                    *(cell for pair in likely for cell in pair),
                ),
                classes.at(point.truth, point.answer),
            )
        )
    return [
        text(
            "The points whose true class had the lowest probability: check them first for "
            "wrong labels, rare cases, and what the features do not show."
        ),
        table(
            DataTable(
                f"{plural(len(rows), 'point')} with the lowest probability of the true class.",
                tuple(columns),
                tuple(rows),
            )
        ),
    ]


def _nodes(answers, classes, tree):
    if not answers.nodes or tree is None:
        return []
    return [
        text(
            "What each node adds to the errors of the whole tree: the log losses of the nodes "
            "sum to that of all points."
        ),
        *pictures(structure.node_costs(answers.nodes, tree, classes.names)),
    ]
