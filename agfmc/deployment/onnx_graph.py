"""A trained configuration as an ONNX model of plain operators in double precision.

Its inputs are `x` (n, d), or, for a table, a column (n, 1) of each name, numbers or text; its
outputs `label` (n,), and `probabilities` (n, k), or `scores` where the decoder gives votes or
estimates.
A point without an answer, such as one with NaN, has the label "" or -1, and NaN in its place.

NumPy's operators and functions of an `_Array` make the operators of the graph.  Sums and products
over features, rows of codes or classes are loops (Scan) where one operator for all of them would
need too much memory for each point.
"""

from __future__ import annotations

import json

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from scipy.sparse import issparse

from ..calibration.maps import KINDS
from ..core.provenance import settings_text
from ..core.errors import ModelError, needed_library, UsageError
from ..core.kernels import KERNELS
from ..core.probabilities import SMALLEST
from ..core.text import clean
from ..core.version import __version__
from ..decode.class_scores import FAR, FAR_EXPONENTIAL, LOSSES
from ..decode.learned import LIMIT
from ..models.configuration import Configuration
from ..tables.dates import PERIODS
from .steps import CodeRule, dense_blocks, features_if_missing, Steps

LARGEST = 2**31 - 2**20  # bytes of a protocol buffer, less what is no array
_FAR = 1e5  # of gamma |s|^2, where a matrix product loses digits of a distance
_MOST_BLOCKS = 100  # of coefficients, as products of their own
_DEEPEST = 10_000  # comparisons; where there are some times more, ONNX Runtime crashes
_MISSING = -2  # the number of a word that is missing; -1 is that of unknown ones
_UNITS = {  # of numbers in place of dates and times, and how many of them a day has
    "date": ("days since 1970-01-01", 1),
    "time of day": ("minutes since midnight", 1440),
    "duration": ("seconds", 86400),
}
_DOC = (
    "Inputs are columns of a table: numbers without units, where NaN is missing; words, without "
    "blanks around them; dates and times as numbers, in the unit that the name says. The model "
    "holds {} rows of the training data."
)
_OPSETS = {"": 18, "ai.onnx.ml": 3}
_IR_VERSION = 8
_OPERATORS = {
    np.add: "Add",
    np.subtract: "Sub",
    np.multiply: "Mul",
    np.divide: "Div",
    np.power: "Pow",
    np.matmul: "MatMul",
    np.negative: "Neg",
    np.absolute: "Abs",
    np.sign: "Sign",
    np.sqrt: "Sqrt",
    np.exp: "Exp",
    np.log: "Log",
    np.tanh: "Tanh",
    np.maximum: "Max",
    np.minimum: "Min",
    np.isnan: "IsNaN",
}


def onnx_model(steps: Steps, configuration: Configuration) -> bytes:
    """The ONNX model of a configuration.

    Parameters
    ----------
    steps : Steps
        What the configuration computes.
    configuration : Configuration
        The configuration itself, for its origin and the columns of its table.

    Returns
    -------
    bytes
        The model, as the checker of onnx accepts it.

    Raises
    ------
    UsageError
        If the decoder has no closed form, or onnx is not installed.
    ModelError
        If the model would have more than 2 GB, or trees that ONNX Runtime cannot have.
    """
    with needed_library("models in ONNX need onnx: pip install 'agfmc[onnx]'"):
        import onnx
    for node in steps.nodes:
        if isinstance(node.rule, CodeRule) and node.rule.decoder == "least-squares":
            if node.rule.code.all():
                way = '`decoder="renormalised"`, which is about as good, or learned'
            else:
                way = '`decoder="learned"`'
            raise UsageError(
                "least squares have no closed form for this code, which ONNX needs: "
                f"choose {way} (calibrate_m -Q learned fits it)"
            )
    graph = _Graph(onnx)
    x, inputs = _points(graph, steps)
    z = graph.joined([_normalised(x, one) for one in steps.normalisations] or [x])
    f = _decision_values(graph, steps, z)
    outputs = ["label", "probabilities" if steps.gives == "probabilities" else "scores"]
    info = onnx.helper.make_tensor_value_info
    types = onnx.TensorProto
    kind = getattr(types, _answers(graph, steps, z, f, outputs))
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            "agfmc",
            inputs,
            [
                info(outputs[0], kind, ["n"]),
                info(outputs[1], types.DOUBLE, ["n", len(steps.labels)]),
            ],
            graph.constants,
            doc_string=_DOC.format(steps.rows) if steps.of_table else "",
        ),
        producer_name="agfmc",
        producer_version=__version__,
        ir_version=_IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid(*one) for one in _OPSETS.items()],
    )
    lines = [settings_text(one.to_record()) for one in configuration.provenances]
    onnx.helper.set_model_props(
        model,
        {
            name: json.dumps(value)
            for name, value in {
                "features": [one.name for one in steps.recipe.columns],
                "classes": steps.names,
                "labels": steps.labels,
                "decoder": steps.classifier.decoding.name,
                "gives": steps.gives,
                "provenance": list(dict.fromkeys(filter(None, lines))),
            }.items()
        },
    )
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


class _Array(NDArrayOperatorsMixin):
    """An array of a graph, by its name."""

    def __init__(self, graph, name):
        self.graph, self.name = graph, name

    def __array_ufunc__(self, ufunc, method, *inputs):
        if ufunc is np.logaddexp:
            a, b = inputs
            return np.maximum(a, b) + np.log(1 + np.exp(-np.absolute(a - b)))
        return self.graph.add(
            _OPERATORS[ufunc],
            *(one if isinstance(one, _Array) else np.asarray(one, dtype=float) for one in inputs),
        )

    def by(self, operator, *inputs, **attributes):
        """The result of another operator on it."""
        return self.graph.add(operator, self, *inputs, **attributes)

    def columns(self, numbers):
        """Some of its columns; of a single number (n,) without that dimension."""
        return self.by("Gather", np.asarray(numbers, dtype=np.int64), axis=1)

    def sums(self):
        """Sums (n, 1) of its rows."""
        return self.by("ReduceSum", np.array([1]))

    def wide(self, axis=1):
        """Itself with one more dimension."""
        return self.by("Unsqueeze", np.array([axis]))

    def filled(self, value, width):
        """A number in all cells of (n, width), with as many rows as it has."""
        shape = self.by("Shape", start=0, end=1).by("Concat", np.array([width]), axis=0)
        return self.graph.add("Expand", np.float64(value), shape)


class _Graph:
    """The operators and constants of a graph."""

    def __init__(self, onnx):
        self.onnx = onnx
        self.nodes = []
        self.constants = []
        self._bytes = 0
        self._taken = {"label", "probabilities", "scores"}

    def array(self, word=""):
        """A new array, which has this name if nothing else has it."""
        name = word = word or f"t{len(self._taken)}"
        while name in self._taken:
            name = f"{word}_{len(self._taken)}"
        self._taken.add(name)
        return _Array(self, name)

    def add(self, operator, *inputs, results=1, outputs=(), **attributes):
        """The result, or the tuple of several results, of an operator."""
        names = [(one if isinstance(one, _Array) else self._constant(one)).name for one in inputs]
        made = tuple(_Array(self, name) for name in outputs) or tuple(
            self.array() for _ in range(results)
        )
        self.nodes.append(
            self.onnx.helper.make_node(operator, names, [one.name for one in made], **attributes)
        )
        if len(made) > 1:
            return made
        return made[0]

    def count(self, size):
        """Raise an error if these bytes make the model too large."""
        self._bytes += size
        if self._bytes > LARGEST:
            raise ModelError(
                "the ONNX model would have more than 2 GB: train with fewer support "
                "vectors (learner=nystrom) or smaller trees"
            )

    def _constant(self, value):
        made = self.array()
        self.count(8 * float(np.prod(np.shape(value))))
        self.constants.append(
            self.onnx.numpy_helper.from_array(
                value.toarray() if issparse(value) else np.array(value, order="C"), made.name
            )
        )
        return made

    def joined(self, parts):
        """Columns side by side."""
        if len(parts) == 1:
            return parts[0]
        return self.add("Concat", *parts, axis=1)

    def scan(self, step, state, *sequences):
        """The last state of state = step(state, item of each sequence), and the items of a second
        result where steps return pairs."""
        helper, outer, self.nodes = self.onnx.helper, self.nodes, []
        items = [self.array() for _ in (state, *sequences)]
        made = step(*items)
        if not isinstance(made, tuple):
            made = (made,)
        given, results = (
            [
                helper.make_tensor_value_info(one.name, self.onnx.TensorProto.DOUBLE, None)
                for one in arrays
            ]
            for arrays in (items, made)
        )
        body = helper.make_graph(self.nodes, "step", given, results)
        self.nodes = outer
        return self.add(
            "Scan", state, *sequences, results=len(made), body=body, num_scan_inputs=len(sequences)
        )


def _points(graph, steps):
    """The points (n, d), and the descriptions of the inputs."""
    info = graph.onnx.helper.make_tensor_value_info
    types = graph.onnx.TensorProto
    if not steps.of_table:
        return graph.array("x"), [info("x", types.DOUBLE, ["n", len(steps.features)])]
    inputs = []
    numbers = []
    parts = []
    known = []  # whether a cell is neither missing nor an unknown word
    start = {}  # of the features of a column among the parts
    width = 0
    for column in steps.recipe.columns:
        names = [column.name]
        kind = types.DOUBLE
        if column.date is not None:
            names = [f"{column.name} ({_UNITS.get(column.date.order, _UNITS['date'])[0]})"]
        elif not column.is_number:
            kind = types.STRING
        elif column.numbers is not None:
            names = column.numbers.features(column.name)
        arrays = [graph.array(clean(name)) for name in names]
        inputs += [info(one.name, kind, ["n", 1]) for one in arrays]
        if column.date is not None:
            part = _dates(graph, steps.recipe, column, *arrays)
        elif not column.is_number:
            part = _words(graph, steps.recipe, column, *arrays)
        elif len(arrays) > 1:
            part = _limits(graph, steps.recipe, column, arrays)
        else:
            numbers += [(column, *arrays)]
            continue
        part, is_known = part
        known.append(is_known)
        start[column.name] = width
        width += len(column.features)
        parts.append(part)
    order = []
    if numbers:  # together, as there may be many
        part, is_known = _numbers(graph, steps.recipe, numbers)
        known.append(is_known)
        parts.append(part)
        for at, (column, _) in enumerate(numbers):
            start[column.name] = width + at
    for column in steps.recipe.columns:
        step = 1
        if any(column is one for one, _ in numbers):
            step = len(numbers)
        order += [start[column.name] + step * at for at in range(len(column.features))]
    # as tables are read
    x = graph.joined(parts).columns(order).by("Cast", to=types.FLOAT).by("Cast", to=types.DOUBLE)
    is_known = graph.joined(known).by("Cast", to=types.DOUBLE).sums().by("Cast", to=types.BOOL)
    return graph.add("Where", is_known, x, np.inf), inputs


def _numbers(graph, recipe, numbers):
    """The numbers of some columns, and behind them whether they are missing."""
    cells = graph.joined([cells for _, cells in numbers])
    fills = [[features_if_missing(recipe, column)[0] for column, _ in numbers]]
    missing = np.isnan(cells)
    double = missing.by("Cast", to=graph.onnx.TensorProto.DOUBLE)
    part = graph.joined([graph.add("Where", missing, np.array(fills), cells), double])
    return part, missing.by("Not")


def _limits(graph, recipe, column, arrays):
    """Numbers, and whether they are limits."""
    parts = [*arrays, *[arrays[0] * 0] * column.indicator]
    row = features_if_missing(recipe, column)
    missing = np.isnan(arrays[0])
    return graph.add("Where", missing, row[None], graph.joined(parts)), missing.by("Not")


def _dates(graph, recipe, column, cells):
    parts = [cells - column.date.first]
    days = cells / _UNITS.get(column.date.order, _UNITS["date"])[1]
    for cycle in column.date.cycles:
        angle = (days + 3 * (cycle == "weekday")) * (2 * np.pi / PERIODS[cycle])
        parts += [angle.by("Sin"), angle.by("Cos")]
    parts += [cells * 0] * column.indicator
    row = features_if_missing(recipe, column)
    missing = np.isnan(cells)
    return graph.add("Where", missing, row[None], graph.joined(parts)), missing.by("Not")


def _words(graph, recipe, column, cells):
    """The features of a column of words, or of words in an order."""
    words = column.order or column.categories
    places = {}
    for place, word in enumerate(words):
        places |= dict.fromkeys(_spellings(word), place)
    for blank in recipe.blanks:
        places |= dict.fromkeys(_spellings(blank), _MISSING)
    place = cells.by(
        "LabelEncoder",
        domain="ai.onnx.ml",
        keys_strings=[*places],
        values_int64s=[*places.values()],
        default_int64=column.feature_of.get(column.other, -1),
    )
    double = graph.onnx.TensorProto.DOUBLE
    if column.order is None:
        numbers = np.arange(len(column.features))
        features = place.by("Equal", numbers[None]).by("Cast", to=double)
    else:
        features = place.by("Cast", to=double)
        features = graph.add("Where", place.by("Equal", np.int64(-1)), np.inf, features)
        features = graph.joined([features, features * 0][: len(column.features)])
    row = features_if_missing(recipe, column)
    missing = place.by("Equal", np.int64(_MISSING))
    is_known = place.by("Greater", np.int64(-1))
    return graph.add("Where", missing, row[None], features), is_known


def _spellings(word):
    """The texts of cells that are this word: programs write truth values and whole numbers so."""
    if word in ("true", "false"):
        return word, word.title(), word.upper()
    if word.lstrip("+-").isdecimal() and word.isascii():
        return word, f"{word}.", f"{word}.0"
    return (word,)


def _normalised(x, normalisation):
    x = x - normalisation.mean
    if not normalisation.keeps_features_apart:
        return x @ normalisation.matrix.astype(float)
    return x.columns(normalisation.column) * normalisation.scale.astype(float)


def _decision_values(graph, steps, z):
    f = z.filled(0.0, len(steps.rho)) - steps.rho
    for one in steps.kernel_sums:
        if one.kernel.columns is None:
            x = z
        else:
            x = z.columns(np.arange(*one.kernel.columns))
        f = f + _weighted(_kernel_values(graph, one.kernel, x, one.sv), one.coef)
    if len(steps.forest.roots):
        f = f + _leaves(graph, steps.forest, z)
    return f


def _weighted(values, coef):
    """values @ coef, by blocks where these are few and small, as they are of one-vs-one."""
    blocks = list(dense_blocks(coef))
    if len(blocks) > _MOST_BLOCKS or len(blocks) == 1:
        return values.by("MatMul", coef)
    products = [
        values.by("Slice", np.array([first]), np.array([stop]), np.array([1]))
        @ coef[first:stop][:, columns].toarray()
        for first, stop, columns in blocks
    ]
    owner = np.concatenate([columns for _, _, columns in blocks])
    joined = values.graph.joined([*products, values.filled(0.0, 1)])  # zeros stand last
    rows = joined.by("Transpose")  # of which Gather takes some much faster than of columns
    places = np.full((np.bincount(owner).max(), coef.shape[1]), len(owner))
    for at, classifier in enumerate(owner):
        places[np.argmax(places[:, classifier] == len(owner)), classifier] = at
    return sum(rows.by("Gather", place, axis=0) for place in places).by("Transpose")


def _kernel_values(graph, kernel, x, sv):
    """K (n, s) of points x (n, d) and support vectors sv (s, d)."""
    if KERNELS[kernel.kind].distance is None:
        if kernel.kind == "linear":
            return x @ sv.T
        product = x @ (kernel.gamma * sv.T) + kernel.coef0
        if kernel.kind == "sigmoid":
            return np.tanh(product)
        return product**kernel.degree
    if kernel.kind == "rbf":
        centre = sv.mean(axis=0)
        s, x = sv - centre, x - centre
        norms = kernel.gamma * np.einsum("ij,ij->i", s, s)
        if norms.max() < _FAR:
            return np.exp(x @ (2 * kernel.gamma * s.T) - norms - (x * x).sums() * kernel.gamma)
        sv = s

    def add(total, column, row):
        difference = column.wide() - row
        return total + (
            np.absolute(difference) if kernel.kind == "laplacian" else difference * difference
        )

    distance = graph.scan(add, x.filled(0.0, len(sv)), x.by("Transpose"), sv.T)
    return np.exp((np.sqrt(distance) if kernel.kind == "exponential" else distance) * -kernel.gamma)


def _leaves(graph, forest, z):
    """Sums (n, m) of leaves.

    A TreeEnsembleRegressor gives single precision: of each classifier the sum of leaves rounded to
    so few digits that it is exact, and the sum of what rounding left.  In ONNX Runtime a node may
    follow several others only where their conditions hold.
    """
    inner = forest.feature >= 0
    nodes = np.arange(len(forest.feature))
    tree = np.searchsorted(forest.roots, nodes, side="right") - 1
    m = len(forest.starts) - 1
    classifier = np.repeat(np.arange(m), np.diff(forest.starts))  # of each tree
    before = np.bincount(
        np.concatenate([forest.left[inner], forest.right[inner]]), minlength=len(nodes)
    )
    turned = inner & (before[forest.right] > 1)
    if (before[forest.left[turned]] > 1).any() or forest.depth > _DEEPEST:
        raise ModelError(
            "ONNX Runtime cannot have trees of more than 10000 comparisons to a leaf, "
            "or with a node of which both branches lead to nodes that follow several"
        )
    true, false = np.where(turned, [forest.right, forest.left], [forest.left, forest.right])
    graph.count(60 * len(nodes))
    leaf = np.flatnonzero(~inner)
    owner = classifier[tree[leaf]]
    largest = np.zeros(len(forest.roots))
    np.maximum.at(largest, tree[leaf], np.abs(forest.value[leaf]))
    unit = 2.0 ** (np.frexp(np.bincount(classifier, largest, m))[1][owner] - 22)
    coarse = np.round(forest.value[leaf] / unit) * unit
    tensor = graph.onnx.numpy_helper.from_array
    sums = graph.add(
        "TreeEnsembleRegressor",
        z,
        domain="ai.onnx.ml",
        n_targets=2 * m,
        nodes_treeids=tree,
        nodes_nodeids=nodes,
        nodes_featureids=np.maximum(forest.feature, 0),
        nodes_modes=np.where(inner, np.where(turned, "BRANCH_GT", "BRANCH_LEQ"), "LEAF").tolist(),
        nodes_values_as_tensor=tensor(np.where(inner, forest.value, 0.0)),
        nodes_truenodeids=true,
        nodes_falsenodeids=false,
        nodes_missing_value_tracks_true=(inner & (forest.missing_left ^ turned)).astype(int),
        target_treeids=np.tile(tree[leaf], 2),
        target_nodeids=np.tile(leaf, 2),
        target_ids=np.concatenate([owner, owner + m]),
        target_weights_as_tensor=tensor(np.concatenate([coarse, forest.value[leaf] - coarse])),
    )
    sums = sums.by("Cast", to=graph.onnx.TensorProto.DOUBLE)
    return sums.columns(np.arange(m)) + sums.columns(np.arange(m, 2 * m))


def _answers(graph, steps, z, f, outputs):
    """Add the operators of the outputs, and return the type of the labels."""
    p = [_member(graph, steps, part, f) for part, _ in steps.members]
    p = sum(
        (np.log(np.maximum(one, SMALLEST)) if steps.geometric else one) * weight
        for one, (_, weight) in zip(p, steps.members)
    )
    if steps.geometric:
        p = p.by("Softmax", axis=1)
    if steps.map is None:
        mapped = p
    else:
        mapped = _mapped(steps.map, p)
    if steps.map is not None and KINDS[steps.map.kind].keeps_order:
        sure = p
    else:
        sure = mapped
    best = sure.columns(steps.tie_order).by("ArgMax", axis=1, keepdims=0)
    checked = [f] * (len(steps.rho) > 0) + [z]
    if steps.takes_missing:
        checked[-1] = graph.add("Where", np.isnan(z), 0.0, z)
    unknown = np.isnan(sum(one.sums() for one in checked) * 0)  # infinite ones, too
    graph.add("Where", unknown, np.nan, mapped, outputs=outputs[1:])
    best = graph.add("Where", unknown.by("Squeeze", np.array([1])), len(steps.labels), best)
    named = steps.names != tuple(map(str, steps.labels))
    if named:
        labels = np.array([*map(clean, steps.names), ""], object)
    else:
        labels = np.array([*steps.labels, -1])
    graph.add("Gather", labels[[*steps.tie_order, -1]], best, outputs=outputs[:1])
    if named:
        return "STRING"
    return "INT64"


def _member(graph, steps, part, f):
    """Probabilities (n, k) of the member of an ensemble that has this slice of the nodes."""
    reached = {}
    k = len(steps.labels)
    columns = []
    parts = []
    for number, node in enumerate(steps.nodes[part], k + part.start):
        some = node.classifiers
        p = _branches(
            node.rule,
            f if len(some) == len(steps.rho) else f.columns(some),
            steps.a[some],
            steps.b[some],
        )
        if number in reached:
            p = p * reached[number]
        reached |= {at: p.columns([column]) for column, at in enumerate(node.branches) if at >= k}
        columns += node.branches
        parts.append(p)
    return graph.joined(parts).columns([columns.index(at) for at in range(k)])


def _branches(rule, f, a, b):
    """Probabilities (n, c) of the branches of a node of its decision values f (n, m')."""
    if isinstance(rule, CodeRule):
        return {"pairs": _pairs, "products": _products}.get(rule.decoder, _losses)(
            rule, f if rule.decoder in LOSSES else np.tanh(f * a + b)
        )
    v = {
        "f": lambda: f,
        "r": lambda: np.tanh(f * a + b),
        "signs": lambda: np.sign(np.tanh(f * a + b)),
        "log-odds": lambda: np.minimum(np.maximum((f * a + b) * 2, -LIMIT), LIMIT),
    }[rule.takes]()
    p = v @ rule.matrix.T + rule.offset
    then = {
        "nothing": lambda p, c: p,
        "project": _projected,
        "shares": _shares,
        "differences": _differences,
        "softmax": lambda p, c: p.by("Softmax", axis=1),
    }[rule.then]
    return then(p, len(rule.offset))


def _projected(p, c):
    """max(p - theta, 0) with theta = max over t of (sum of the t largest - 1) / t."""
    falling, _ = p.by("TopK", np.array([c]), results=2, axis=1)
    excess = falling.by("CumSum", np.int64(1)) - 1
    return np.maximum(p - (excess / np.arange(1, c + 1)).by("ReduceMax", np.array([1])), 0)


def _shares(p, c):
    """max(p, 0) divided by their sum, 1 / c where that is 0: a least number is added to each."""
    p = np.maximum(p, 0) + 1e-300
    return p / p.sums()


def _products(rule, r):
    """Products of (1 + a_ij r_i) / 2 over the rows with a_ij != 0."""
    return r.graph.scan(
        lambda p, r, half, rest: p * (r.wide() * half + rest),
        r.filled(1.0, rule.code.shape[1]),
        r.by("Transpose"),
        rule.code / 2,
        1 - np.abs(rule.code) / 2,
    )


def _differences(p, c):
    """Differences of F_b = max over a <= b of min over e >= b of the mean from a to e, in [0, 1].

    That is isotonic regression of all columns but the last; b goes from the end to the beginning.
    """
    t = c - 1
    left = p.columns(np.arange(t))
    ends = left.by("CumSum", np.int64(1))
    starts = ends - left
    b = np.arange(t)[::-1, None]
    a = np.arange(t)

    def step(least, end, factor, hidden):
        least = np.minimum(least, (end.wide() - starts) * factor)
        return least, (least + hidden).by("ReduceMax", np.array([1]), keepdims=0)

    _, sums = p.graph.scan(
        step,
        p.filled(np.inf, t),
        ends.columns(b[:, 0]).by("Transpose"),
        np.where(a <= b, 1 / np.maximum(b - a + 1, 1), 0.0),
        np.where(a <= b, 0.0, -np.inf),
    )
    sums = np.minimum(np.maximum(sums.by("Transpose"), 0), 1)
    sums = p.graph.joined([p.filled(0.0, 1), sums.columns(a[::-1]), p.filled(1.0, 1)])
    return sums.columns(np.arange(1, t + 2)) - sums.columns(np.arange(t + 1))


def _pairs(rule, r):
    """u / sum u, K u = 1, by conjugate gradients, scaled with the diagonal of K.

    Then all but a few eigenvalues of K are near each other, whatever r: with up to 200 classes the
    error was 1e-12 after 12 steps at most.
    """
    m, c = rule.code.shape
    cell = np.full((c, c), m)
    for row, (i, j) in enumerate(map(np.flatnonzero, rule.code)):
        cell[i, j] = cell[j, i] = row
    square = r * r
    diagonal = square @ np.abs(rule.code) - r @ (2 * rule.code) + c
    others = (
        r.graph.joined([square, r.filled(0.0, 1)])
        .by("Transpose")
        .by("Gather", cell, axis=0)
        .by("Transpose", perm=[2, 0, 1])
    )
    u = 0
    rest = r.filled(1.0, c)
    step = 0
    before = 1
    for _ in range(14):
        scaled = rest / diagonal
        length = (rest * scaled).sums()
        step = scaled + step * (length / before)
        change = (others @ step.wide(2)).by("Squeeze", np.array([2])) + diagonal * step
        size = length / np.maximum((step * change).sums(), 1e-300)
        u, rest, before = u + step * size, rest - change * size, np.maximum(length, 1e-300)
    u = np.maximum(u, 0)
    return u / u.sums()


def _losses(rule, f):
    """- sum_i L(a_ij f_i)."""
    limit = FAR_EXPONENTIAL if rule.decoder == "exponential" else FAR
    loss = LOSSES[rule.decoder]
    f = np.minimum(np.maximum(f, -limit), limit)
    neutral = (rule.code == 0).sum(axis=0) * loss(np.float64(0))
    return -(loss(f) @ (rule.code > 0) + loss(-f) @ (rule.code < 0) + neutral)


def _mapped(fitted, p):
    """(1 - e) softmax(W z + b) + e / c, z = log max(p, least)."""
    z = np.log(np.maximum(p, KINDS[fitted.kind].least))
    if fitted.weights.ndim == 2:
        z = z @ fitted.weights.T
    else:
        z = z * fitted.weights
    softmax = (z + fitted.intercept).by("Softmax", axis=1)
    return softmax * (1 - fitted.floor) + fitted.floor / len(fitted.intercept)
