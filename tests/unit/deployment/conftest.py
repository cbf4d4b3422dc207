"""Random configurations of every kind, made of numbers without any training."""

import csv
import io
import itertools
import warnings
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from agfmc.calibration.types import Calibration, DecoderCalibration, ProbabilityMap
from agfmc.decode.methods import MAP_KINDS
from agfmc.control.parse import parse
from agfmc.core.errors import AgfmcWarning, UsageError
from agfmc.core.forest import Forest
from agfmc.core.kernels import KERNELS
from agfmc.core.models import BinaryModel, Kernel, LearnedDecoder, NodeModel
from agfmc.core.provenance import Provenance
from agfmc.data.normalisation import Normalisation
from agfmc.deployment.steps import steps_of
from agfmc.models.configuration import Configuration
from agfmc.models.join import join
from agfmc.decode.code_kinds import one_vs_rest
from agfmc.models.merge import collate
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decoding import coding_matrix, decoders_of, Decoding
from agfmc.tables.dates import DateRecipe, PERIODS
from agfmc.tables.number_forms import NumberForm
from agfmc.tables.places import PairRecipe
from agfmc.tables.types import ColumnRecipe, TableRecipe
from own_warnings import own_warnings

DECODERS = (
    "least-squares",
    "vote",
    "vote-values",
    "orthogonal",
    "learned",
    "inverse",
    "unconstrained",
    "renormalised",
    "loss:hinge",
    "loss:logit",
    "loss:exponential",
    "loss:hamming",
    "loss:quadratic",
)


def random_code(rng, k, strict):
    """Rows of a code in which all classes occur, with both sides in each row."""
    while True:
        code = rng.choice((-1, 1) if strict else (-1, 0, 1), (int(rng.integers(1, k + 3)), k))
        if code.any(axis=0).all() and all((code == side).any(axis=1).all() for side in (-1, 1)):
            return code.tolist()


def code_of(rng, kind, k):
    rows = {
        "pairs": [
            [(j == b) - (j == a) for j in range(k)] for a in range(k) for b in range(a + 1, k)
        ],
        "rest": (2 * np.eye(k, dtype=int) - 1).tolist(),
        "ordered": [[1 if j > i else -1 for j in range(k)] for i in range(k - 1)],
    }.get(kind) or random_code(rng, k, kind == "strict")
    signs = rng.choice((-1, 1), len(rows))
    return (np.array(rows) * signs[:, None])[rng.permutation(len(rows))].tolist()


def node(rng, kind, parts):
    """The text of a node over its parts."""
    if kind == "direct":
        number = rng.integers(1e9)
        return f"n{number} {'LT'[number % 2]} {{{' '.join(parts)}}}"
    if kind == "tree":
        while len(parts) > 1:
            at = int(rng.integers(len(parts) - 1))
            parts[at : at + 2] = [f"m{rng.integers(1e9)} {{{parts[at]} {parts[at + 1]}}}"]
        return parts[0]
    rows = [
        "{} {} / {};".format(
            f"m{rng.integers(1e9)}",
            *(" ".join(str(j) for j, entry in enumerate(row) if entry == side) for side in (-1, 1)),
        )
        for row in code_of(rng, kind, len(parts))
    ]
    return f"{' '.join(rows)} {{{' '.join(parts)}}}"


def random_forest(rng, d):
    """Some trees of one or two levels."""
    forests = []
    for _ in range(int(rng.integers(1, 4))):
        forests.append(
            Forest(
                d,
                np.array([0, 1]),
                np.array([0], "<i4"),
                np.array([rng.integers(d), -1, rng.integers(d), -1, -1], "<i4"),
                rng.normal(size=5),
                np.array([1, 1, 3, 3, 4], "<i4"),
                np.array([2, 1, 4, 3, 4], "<i4"),
                rng.random(5) < 0.5,
            )
        )
    whole = Forest.concatenate(forests)
    return replace(whole, starts=np.array([0, len(forests)]))


def random_kernel(rng):
    kind = str(rng.choice(list(KERNELS)))
    values = {
        "gamma": float(rng.uniform(0.05, 1)),
        "coef0": float(rng.normal()),
        "degree": int(rng.integers(0, 4)),
    }
    return Kernel(kind, **{name: values[name] for name in KERNELS[kind].parameters})


def random_node(rng, direct, branches, d):
    """A multi-class node of code L or T."""
    weights = rng.normal(size=(branches, d + 1))
    if direct.learner_letter == "L":
        return NodeModel("L", direct.name, branches, weights=weights)
    draw = np.random.default_rng(int(1e9 * abs(weights[0, 0])))
    forest = Forest.concatenate([random_forest(draw, d) for _ in range(branches)])
    return NodeModel("T", direct.name, branches, forest=forest)


def random_member(rng, labels, features, structures, mix):
    """A configuration without a calibration."""
    k = len(labels)
    kind = str(rng.choice(structures))
    order = [str(label) for label in rng.permutation(labels)]
    if kind == "nested":
        cut = int(rng.integers(1, k)) if k > 2 else 1
        inner = str(rng.choice(["pairs", "tree", "direct", "zeros"])) if mix else "tree"
        parts = order[:cut] + ([node(rng, inner, order[cut:])] if k - cut > 1 else order[cut:])
        kind, order = str(rng.choice(["pairs", "rest", "zeros", "tree"])), parts
    tree = parse(node(rng, kind, order) if len(order) > 1 else order[0])
    normalisation, d = None, features
    if rng.random() < 0.7:
        d = features if rng.random() < 0.5 else int(rng.integers(1, features + 1))
        matrix = (
            np.diag(rng.uniform(0.3, 2, features))
            if d == features
            else rng.normal(size=(features, d))
        )
        normalisation = Normalisation(matrix.astype("f4"), rng.normal(size=features).astype("f4"))
    kernels, points = [random_kernel(rng) for _ in range(2)], rng.normal(size=(25, d))
    models = []
    for number in range(len(tree.rows)):
        s = int(rng.integers(1, 12))
        is_forest = rng.random() < 0.25
        labels_of = (0, 1) if rng.random() < 0.5 else (1, 0)
        rho, platt = rng.normal(scale=0.3), (-rng.uniform(0.2, 2), rng.normal(scale=0.3))
        if is_forest:
            s, rho = 0, 0.0
        models.append(
            BinaryModel(
                f"m{number}",
                "c_svc",
                kernels[int(rng.integers(2))],
                points[rng.choice(25, s, replace=False)],
                rng.normal(size=s),
                rho,
                labels_of,
                (s, 0),
                platt,
                Provenance(),
                d,
                random_forest(rng, d) if is_forest else None,
            )
        )
    nodes = {
        number: random_node(rng, one, len(tree.nodes[number].children), d)
        for number, one in tree.directs.items()
    }
    machines = collate(models, tree.sides(), tree.classes, list(nodes.values()))
    return Configuration(tree, machines, nodes, normalisation)


def random_map(rng, k):
    kind = str(rng.choice(MAP_KINDS))
    shape = {"none": None, "temperature": ()}.get(kind, (k, k))
    return (
        ProbabilityMap(kind)
        if shape is None
        else ProbabilityMap(
            kind,
            np.array(rng.uniform(0.3, 2, shape)),
            rng.normal(size=k) * (kind != "temperature"),
            np.float64(rng.uniform(0, 0.1)),
        )
    )  # as it is fitted


def calibrated(rng, configuration, decoder):
    """The configuration with a calibration of the decoder."""
    tree, k = configuration.tree, len(configuration.tree.classes)
    decoding = (decoders_of(tree, (decoder,))[0] if decoder else Decoding()).suited_to(tree)
    key = decoding.calibration_key(tree)
    key = key and key.replace("recursive", "full")
    learned = (
        LearnedDecoder(rng.normal(size=(k, len(tree.rows))), rng.normal(size=k))
        if decoder == "learned"
        else None
    )
    code = (
        configuration.as_code() if decoding.tree == "flat" and tree.hierarchical else configuration
    )
    maps = {} if key is None else {key: DecoderCalibration(random_map(rng, k))}
    return replace(
        configuration,
        calibration=Calibration(
            configuration.digest() if code is configuration else code.digest(),
            tree.classes,
            "points",
            (1,) * k,
            maps,
            learned,
        ),
    )


@pytest.fixture(scope="session")
def random_steps():
    """random_steps(seed): `Steps` of a random configuration; random_steps.points(steps, n).

    With a recipe they are those of its table.
    """

    def make(seed, recipe=None):
        rng = np.random.default_rng(seed)
        labels = rng.choice(20, int(rng.integers(2, 7)), replace=False).tolist()
        features = int(rng.integers(1, 6)) if recipe is None else len(recipe.features)
        structures = ["pairs", "rest", "zeros", "strict", "ordered", "tree", "nested", "direct"]
        members = [random_member(rng, labels, features, structures, True)]
        if seed % 4 == 3:
            members += [
                random_member(rng, labels, features, structures[:6], False)
                for _ in range(int(rng.integers(1, 3)))
            ]
        members = [one for one in members if not one.node_classifiers] or members[:1]
        configuration = members[0] if len(members) == 1 else join(members)
        configuration = replace(configuration, recipe=recipe)
        decoder = None
        if len(members) > 1:
            decoder = str(rng.choice(["average", "geometric"]))
        elif not configuration.node_classifiers and rng.random() < 0.7:
            is_rest = not configuration.tree.hierarchical and one_vs_rest(
                coding_matrix(configuration.tree)
            )
            decoder = str(rng.choice((*DECODERS, "argmax", "argmax") if is_rest else DECODERS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AgfmcWarning)
            try:
                return steps_of(calibrated(rng, configuration, decoder), decoder)
            except UsageError as error:
                assert 'choose `decoder="least-squares"`' in error.message
            return steps_of(calibrated(rng, configuration, "least-squares"), "least-squares")

    def points(steps, n, seed=0):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n, len(steps.recipe.columns))) * rng.choice((1, 1, 1, 5), (n, 1))
        if steps.takes_missing:
            x[rng.random(x.shape) < 0.1] = np.nan
        return x[takes_sure_logarithms(steps, x)]

    make.points = points
    return make


@pytest.fixture(scope="session")
def boosted_steps():
    """{name: `Steps`} of nodes of boosted trees: alone, and as members of ensembles."""
    rng = np.random.default_rng(5)

    def node(letter, normalised):
        tree = parse(f"n {letter} {{0 1 2}}")
        models = {0: random_node(rng, tree.directs[0], 3, 3)}
        machines = collate([], [], tree.classes, [*models.values()])
        normalisation = None
        if normalised:
            matrix = np.diag(rng.uniform(0.3, 2, 3))
            normalisation = Normalisation(matrix.astype("f4"), rng.normal(size=3).astype("f4"))
        return Configuration(tree, machines, models, normalisation)

    def forests():
        tree = parse("a 0 / 1 2; b 1 / 0 2; c 2 / 0 1; {0 1 2}")
        empty = np.empty((0, 3)), np.empty(0), 0.0, (0, 1), (0, 0), (-0.5, 0.1), Provenance(), 3
        models = [
            BinaryModel(name, "trees", Kernel("linear"), *empty, random_forest(rng, 3))
            for name in "abc"
        ]
        return Configuration(tree, collate(models, tree.sides(), tree.classes))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)
        return {
            "alone": steps_of(node("T", False)),
            "normalised": steps_of(node("T", True)),
            "beside forests": steps_of(join([node("T", True), forests()])),
            "beside planes": steps_of(join([node("T", True), node("L", True)])),
        }


@pytest.fixture(scope="session")
def forest_above_planes():
    """`Steps` of boosted trees at the top, and a node of code L below."""
    rng = np.random.default_rng(5)
    tree = parse("a 0 / 1; {0 n L {1 2}}")
    forest = Forest(
        3,
        np.array([0, 1]),
        np.array([0], "<i4"),
        np.array([1, -1, -1], "<i4"),
        np.array([0.1, 1.0, -2.0]),
        np.array([1, 1, 2], "<i4"),
        np.array([2, 1, 2], "<i4"),
        np.array([True, False, False]),
    )
    empty = np.empty((0, 3)), np.empty(0), 0.0, (0, 1), (0, 0), (-0.5, 0.1), Provenance(), 3
    models = [BinaryModel("a", "trees", Kernel("linear"), *empty, forest)]
    nodes = {1: NodeModel("L", "n", 2, weights=rng.normal(size=(2, 4)))}
    machines = collate(models, tree.sides(), tree.classes, [*nodes.values()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)
        return steps_of(Configuration(tree, machines, nodes))


def takes_sure_logarithms(steps, x, least=1e-12):
    """Mask (n,) of the points without probabilities below the least, but 0 itself.

    The logarithm in a geometric average or a map divides the rounding of p, some 1e-16, by p.
    """
    if steps.gives != "probabilities" or steps.map is None and not steps.geometric:
        return np.ones(len(x), dtype=bool)
    configuration, decoding, *_ = steps.classifier._arguments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)
        plain = Classifier(configuration, replace(decoding, calibrated=False))
    if not steps.takes_missing:
        x = np.nan_to_num(x)
    parts = [plain.probabilities(x)] + (plain.by_member(x) if len(steps.members) > 1 else [])
    sure = ~np.any([(p > 0) & (p < least) for p in parts], axis=(0, 2))
    if plain.values.count:
        _, r = plain.values(range(plain.values.count), plain.values.prepared(x))
        sure &= (np.abs(r) < 1 - least).all(axis=1)
    return sure


WORDS = (
    "Biscoe",
    "Dream",
    "Ünïcödé 猫",
    'say "no"',
    "back\\slash\\",
    "two\nlines",
    "what??/",
    "*/",
    "1",
    "2",
    "true",
    "false",
    "%s",
    "x" * 300,
    "NAN",
    "-1",
    "1.5",
)
SPELLED = {
    "1": ["1.0", "1.", " 1"],
    "2": ["2.000"],
    "true": ["True", "TRUE"],
    "false": ["False"],
    "-1": ["-1.0"],
}
DATES = {
    "year first": "%Y-%m-%d",
    "day first": "%d.%m.%Y",
    "month first": "%m/%d/%Y",
}


TIMES = {
    "time of day": ["{h}:{m:02}", "{h:02}:{m:02}:{s:02}.5", "{n}:{m:02} pm", "{n}:{m:02}a.m."],
    "duration": [
        "{h}:{m:02}:{s:02}.25",
        "0 days {h}:{m:02}:{s:02}",
        "-1 day, {h}:{m:02}:{s:02}",
        "P0DT{h}H",
        "PT{h}H{m}M",
        "PT{s}.5S",
    ],
}
FORMS = [
    NumberForm("kg"),
    NumberForm("%", blanks=("k.A.", "-")),
    NumberForm("\u20ac", before=True, thousands=".", decimal=","),
    NumberForm("m2", thousands=" "),
    NumberForm(limits=("<", ">")),
    NumberForm("mg/l", decimal=",", limits=("<",)),
    NumberForm("EUR", before=True, thousands="'"),
]


def random_number(rng, form, is_missing):
    """The text of a number in a form."""
    if is_missing and form.blanks and rng.random() < 0.1:
        return str(rng.choice(form.blanks))
    text = f"{rng.choice([1, 1, 1e4]) * rng.normal():,.{rng.integers(4)}f}"
    if not form.thousands or rng.random() < 0.3:
        text = text.replace(",", "")
    text = text.translate(str.maketrans({",": form.thousands, ".": form.decimal}))
    if form.unit and form.before:
        text = text.replace("-", "-" + form.unit + " ") if "-" in text else f"{form.unit} {text}"
    elif form.unit:
        text += str(rng.choice(["", " ", "\xa0"])) + form.unit
    if form.limits and rng.random() < 0.2:
        text = str(rng.choice([*form.limits, form.limits[0] + " "])) + text
    return text.replace("-", str(rng.choice(["-", "\u2212"])))


def random_pair(rng):
    """The text of two numbers."""
    numbers = [f"{number:+.{rng.integers(4)}f}" for number in 50 * rng.normal(size=2)]
    text = str(rng.choice([", ", ",", "; ", ";", " ", "  "])).join(numbers)
    if rng.random() < 0.2:
        text = str(rng.choice(["; ", ";", " ", ", "])).join(numbers).replace(".", ",")
    return str(rng.choice([text, f"({text})", text.replace("+", "")]))


def random_recipe(rng, missing):
    """The recipe of some columns of all kinds."""
    columns = []
    for number in range(int(rng.integers(2, 6))):
        name = f"{rng.choice(WORDS)} {number}"
        if not number:  # the first column is known in all rows
            columns.append(ColumnRecipe(name))
            continue
        kind = str(rng.choice(["number", "words", "order", "date", "time", "form", "pair"]))
        words = tuple(rng.permutation(WORDS)[: int(rng.integers(2, 8))].tolist())
        indicator = missing == "indicator" and rng.random() < 0.7
        fill = None  # of new rows alone, where it is not a way to treat rows of training
        if missing in ("mean", "indicator") or rng.random() < 0.5:
            fill = round(float(rng.normal()), 3)
        column = ColumnRecipe(name, fill=fill, indicator=indicator)
        if kind == "words":
            fill = None if fill is None or indicator else str(rng.choice(words))
            other = str(rng.choice(words)) if rng.random() < 0.3 else None
            column = replace(column, categories=words, fill=fill, other=other)
        elif kind == "order":
            column = replace(column, order=words)
        elif kind == "time":
            order = str(rng.choice(["time of day", "duration"]))
            cycles = ("hour",) * (order == "time of day")
            column = replace(column, date=DateRecipe(order, 0, cycles))
        elif kind == "form":
            column = replace(column, numbers=FORMS[int(rng.integers(len(FORMS)))])
        elif kind == "date":
            cycles = tuple(cycle for cycle in PERIODS if rng.random() < 0.5)
            date = DateRecipe(str(rng.choice(list(DATES))), int(rng.integers(0, 20000)), cycles)
            form = NumberForm(serial=True) if rng.random() < 0.3 else None
            column = replace(column, date=date, numbers=form)
        if kind == "pair":
            column, second = (
                replace(column, name=f"{name} {place + 1}", pair=PairRecipe(name, place))
                for place in (0, 1)
            )
            columns += [column, second]
        else:
            columns.append(column)
    return TableRecipe(
        tuple(columns),
        "class",
        tuple(f"c{label}" for label in range(20)),
        missing=missing,
        blanks=("", "NA", "-9"),
    )


def random_cell(rng, recipe, column):
    """The text of a cell, missing where the recipe has a way to treat that."""
    can_be_missing = recipe.missing != "error" or column.fill is not None
    if rng.random() < 0.15 and can_be_missing and column != recipe.columns[0]:
        return str(rng.choice([*recipe.blanks, " NA ", "-9.0"]))
    if column.date is not None and column.date.order in TIMES:
        hour, minute, second = (int(rng.integers(most)) for most in (24, 60, 60))
        style = str(rng.choice(TIMES[column.date.order]))
        return style.format(h=hour, n=hour % 12 or 12, m=minute, s=second)
    if column.date is not None and column.numbers is not None and rng.random() < 0.7:
        return f"{25569 + column.date.first + rng.normal():.{rng.integers(5)}f}"
    if column.date is None and column.numbers is not None:
        return random_number(rng, column.numbers, can_be_missing)
    if column.pair is not None:
        return random_pair(rng)
    if column.date is not None:
        day = datetime(1970, 1, 1) + timedelta(column.date.first + rng.normal())
        style = DATES[column.date.order] if rng.random() < 0.8 else "%Y-%m-%d"
        times = ["", " %H:%M", "T%H:%M:%S.25", " %H:%M:%SZ", " %H:%M+0130"]
        return day.strftime(style + str(rng.choice(times)))
    if column.categories is None and column.order is None:
        return f"{rng.normal():.9g}"
    words = column.order or (*column.categories, "unknown", "")[:-1]
    word = str(rng.choice(words))
    return str(rng.choice([word, *SPELLED.get(word, ())]))


@pytest.fixture(scope="session")
def random_table(random_steps):
    """random_table(seed, n): `Steps` with a recipe, about n points, and the rows of their table.

    The first row is the heading.
    """

    def make(seed, n):
        rng = np.random.default_rng((seed, 1))
        missing = str(rng.choice(["error", "mean", "indicator", "keep"]))
        recipe = random_recipe(rng, missing)
        steps = random_steps(seed, recipe)
        columns = {column.source: column for column in recipe.columns}
        rows = [[random_cell(rng, recipe, one) for one in columns.values()] for _ in range(n)]
        heading = [*columns]
        text = io.StringIO()
        csv.writer(text).writerows([heading, *rows])
        with own_warnings():
            x = recipe.apply(io.StringIO(text.getvalue())).astype(float)
        sure = takes_sure_logarithms(steps, x, 1e-8)
        if not steps.takes_missing:
            sure &= ~np.isnan(x).any(axis=1)
        if not sure.any():
            return make(seed + 1000, n)
        return steps, x[sure], [heading, *itertools.compress(rows, sure)]

    make.is_sure = takes_sure_logarithms
    return make
