"""A trained configuration as one file of C99, without dependencies but the mathematical library.

`model.c` holds the functions that do not depend on a model, in parts that begin with a line
`//@ NAME`, and then the names of other parts that they call.  Those that a model needs stand
before its tables, in which numbers have all their digits, and those of `_LAST` behind them.
"""

from __future__ import annotations

import math
import pkgutil
import re

import numpy as np

from ..calibration.maps import KINDS
from ..core.errors import ModelError
from .steps import (dense_blocks, LeastSquaresRule, LinearRule, LossRule, Node, OrderedRule,
                    PairRule, ProductRule, Steps)

LARGEST = 64_000_000  # bytes of text
MOST_MEMORY = 4_000_000  # bytes on the stack of a call
TESTS = 10
_LAST = ("member", "average", "calibrate", "largest")
_MOST_VALUES = 2048  # kernel values at once
_TAKES = {"r": "OF_R", "signs": "OF_SIGNS", "g": "OF_F", "log-odds": "OF_LOG_ODDS",
          "points": "OF_POINT"}
_THEN = {"": "AS_IT_IS", "project": "PROJECTED", "softmax": "SOFTMAX"}
_LOSSES = {"hamming": "HAMMING", "linear": "LINEAR_LOSS", "hinge": "HINGE",
           "exponential": "EXPONENTIAL_LOSS", "logit": "LOGIT", "quadratic": "QUADRATIC"}
_RULES = {ProductRule: "product_rule", LossRule: "loss_rule", PairRule: "pair_rule",
          LeastSquaresRule: "least_squares_rule"}
_SAFE = frozenset(range(32, 127)) - frozenset(b'"\\?')  # ? may begin a trigraph


def c_program(steps: Steps) -> str:
    """The C file of a model.

    Parameters
    ----------
    steps : Steps
        What the model computes.

    Returns
    -------
    str
        The text of the file, in ASCII.

    Raises
    ------
    ModelError
        If it would have more than 64 MB, or a call would need more than 4 MB of memory.
    """
    program = _Program(steps)
    body = [*_normalisation(program), *_decision_values(program), *_answer(program)]
    _write_inputs(program)
    _write_tests(program)
    return program.text(body)


class _Program:
    """The tables of a model and the parts that they need, as they are collected."""

    def __init__(self, steps: Steps):
        self.steps = steps
        self._tables: dict[str, list[str]] = {"": [], "main": []}
        self._names: dict[tuple[str, str], str] = {}
        self._bytes = 0
        self._parts = {"values", "member", "largest"}
        k, m, solved = len(steps.labels), max(1, len(steps.rho)), (PairRule, LeastSquaresRule)
        branches = max(len(node.branches) for node in steps.nodes)
        coded = max([len(node.branches) for node in steps.nodes if isinstance(node.rule, solved)],
                    default=1)
        features = sum(1 + one.indicator for one in steps.inputs)
        self.width = sum(one.matrix.shape[1] for one in steps.normalisations) or features
        rows = max([node.rule.matrix.shape[1] for node in steps.nodes
                    if isinstance(node.rule, LinearRule)], default=1)
        vectors = min(_MOST_VALUES, max([len(one.sv) for one in steps.kernel_sums], default=1))
        self._sizes = {"MODEL_FEATURES": features, "MODEL_CLASSES": k, "NORMALISED": self.width,
                       "CLASSIFIERS": m, "NODES": len(steps.nodes), "BRANCHES": branches,
                       "CODED": coded, "ROWS": rows, "SUPPORT_VECTORS": vectors,
                       "INPUTS": len(steps.inputs), "BLANKS": len(steps.blanks), "TESTS": TESTS}
        cells = 13 if any(isinstance(node.rule, LeastSquaresRule) for node in steps.nodes) else 3
        self.memory = 8 * (self.width + features + 4 * m + rows + vectors + 3 * k
                           + len(steps.nodes) + 4 * branches + cells * coded ** 2)
        if self.memory > MOST_MEMORY:
            raise ModelError(f"a C program would need {self.memory / 1e6:.0f} MB of memory for a "
                             f"point, more than {MOST_MEMORY / 1e6:.0f}: the model has too many "
                             "classes or classifiers")

    def need(self, part: str) -> str:
        """The name of a part, which is needed."""
        self._parts.add(part)
        return part

    def table(self, kind: str, name: str, values, part: str = "", shared: bool = False) -> str:
        """Write a table of numbers (an array) or of words of C; its name.

        With `shared` that of an equal table that is there.
        """
        self._bytes += 4 * np.size(values)
        if self._bytes <= LARGEST:
            cells = [_number(value) for value in values.ravel().tolist()] \
                if isinstance(values, np.ndarray) else list(values)
            text = f"[{max(1, len(cells))}] = {{\n{_wrapped(cells or ['0'])}\n}};\n"
            self._bytes += len(text)
        if self._bytes > LARGEST:
            raise ModelError(f"the C program would have more than {LARGEST / 1e6:.0f} MB: train "
                             "with fewer support vectors (learner=nystrom) or smaller trees")
        known = self._names.setdefault((kind, text), name) if shared else name
        if known == name:
            self._tables[part].append(f"{kind} {name}{text}")
        return known

    def kernel(self, kernel, name: str, sv, coef) -> str:
        """The row of a kernel of support vectors sv (s, d) and coefficients (s, m)."""
        self.need("kernel")
        blocks = [_row(
            first, stop - first, len(columns),
            self.table("static const int", f"classifiers_{name}_{first}", columns, shared=True),
            self.table("static const double", f"coef_{name}_{first}",
                       coef[first:stop][:, columns].toarray(), shared=True))
            for first, stop, columns in dense_blocks(coef)]
        return _row(kernel.kind.upper(), _number(kernel.gamma), _number(kernel.coef0),
                    kernel.degree, (kernel.columns or (0,))[0], sv.shape[1], len(sv),
                    self.table("static const double", f"sv_{name}", sv.T), len(blocks),
                    self.table("static const struct coefficients", f"blocks_{name}", blocks))

    def text(self, body: list[str]) -> str:
        """The whole file; `body` are the lines of `model_classify`."""
        parts = _parts()
        needed = [name for name in parts if name in self._parts or any(
            name in needs for other, (needs, _) in parts.items() if other in self._parts)]
        head = parts["head"][1].replace("@DECODER@", self.steps.classifier.decoding.name).replace(
            "@GIVES@", self.steps.gives).replace("@MEMORY@", str(-(-self.memory // 1000)))
        return "\n".join([
            head, "enum {\n" + _wrapped([f"{name} = {value}" for name, value
                                         in self._sizes.items()]) + "\n};\n",
            *(parts[name][1] for name in needed if name not in _LAST), *self._tables[""],
            *(parts[name][1] for name in needed if name in _LAST),
            "int model_classify(const double *x, double *p)\n{",
            *(f"    {line}" for line in body), "}\n",
            "#ifdef MODEL_MAIN\n", parts["input"][1], *self._tables["main"],
            parts["main"][1] + "\n#endif\n"])


def _parts():
    """{name: (names of the parts it needs, text)} of `model.c`, in its order."""
    text = pkgutil.get_data(__package__, "model.c")
    assert text is not None  # the package is installed with it
    pieces = re.split(r"^//@ (.*)\n", text.decode("ascii"), flags=re.MULTILINE)
    named = ((line.split(), piece.rstrip() + "\n") for line, piece in
             zip(pieces[1::2], pieces[2::2]))
    return {name: (needs, piece) for (name, *needs), piece in named}


def _number(value):
    if isinstance(value, int):
        return str(value)
    return "NAN" if math.isnan(value) else repr(float(value))


def _wrapped(cells):
    lines, used = [[]], 0
    for cell in cells:
        if used + len(cell) > 94 and lines[-1]:
            lines.append([])
            used = 0
        lines[-1].append(cell)
        used += len(cell) + 2
    return ",\n".join("    " + ", ".join(line) for line in lines)


def _string(text: str) -> str:
    """A string of C, whatever the text: all but plain ASCII as octal numbers."""
    return '"' + "".join(chr(byte) if byte in _SAFE else f"\\{byte:03o}"
                         for byte in text.encode("utf-8", "surrogateescape")) + '"'


def _row(*fields):
    return "{" + ", ".join(map(str, fields)) + "}"


def _normalisation(program):
    """Lines that set the normalised features v.z."""
    yield "struct values v;"
    start, parts = 0, program.steps.normalisations
    for number, one in enumerate(parts):
        matrix, width = one.matrix.astype(np.float64), one.matrix.shape[1]
        mean = program.table("static const double", f"mean_{number}", one.mean.astype(np.float64))
        if one.keeps_features_apart:
            column = np.argmax(matrix != 0, axis=0)
            tables = (program.table("static const int", f"column_{number}", column),
                      program.table("static const double", f"factor_{number}",
                                    matrix[column, np.arange(width)]))
            yield f"{program.need('scale_features')}(x, {mean}, {', '.join(tables)}, {width}, " \
                f"v.z + {start});"
        else:
            table = program.table("static const double", f"matrix_{number}", matrix)
            yield f"{program.need('mix_features')}(x, {mean}, {table}, {width}, v.z + {start});"
        start += width
    if not parts:
        yield "memcpy(v.z, x, sizeof v.z);"
    yield "for (int i = 0; i < NORMALISED; i++)"
    yield "    if (" + ("isinf" if program.steps.takes_missing else "!isfinite") + "(v.z[i]))"
    yield "        return -1;"


def _decision_values(program):
    """Lines that set the decision values v.f and the differences of probabilities v.r."""
    steps, double, integer = program.steps, "static const double", "static const int"
    kernels = [program.kernel(sums.kernel, f"{number}_{start}", *(
        one[start:start + _MOST_VALUES] for one in (sums.sv, sums.coef)))
        for number, sums in enumerate(steps.kernel_sums)
        for start in range(0, len(sums.sv), _MOST_VALUES)]
    yield "for (int i = 0; i < CLASSIFIERS; i++)"
    yield "    v.f[i] = -rho[i];"
    if kernels:
        program.table("static const struct kernel", "kernels", kernels)
        yield f"for (int i = 0; i < {len(kernels)}; i++)"
        yield "    add_kernel_sums(&kernels[i], &v);"
    if (forest := steps.forest) is not None and len(forest.roots):
        program.need("forest")
        program.table("static const struct tree_node", "tree_nodes", [
            _row(*map(_number, fields)) for fields in zip(
                forest.value.tolist(), forest.feature.tolist(), forest.left.tolist(),
                forest.right.tolist(), forest.missing_left.astype(int).tolist())])
        program.table(integer, "tree_roots", forest.roots)
        program.table(integer, "tree_start", forest.starts)
        yield "for (int i = 0; i < CLASSIFIERS; i++)"
        yield "    for (int tree = tree_start[i]; tree < tree_start[i + 1]; tree++)"
        yield "        v.f[i] += leaf_value(tree_nodes, tree_roots[tree], v.z);"
    for name, values in (("rho", steps.rho), ("slope", steps.a), ("shift", steps.b)):
        program.table(double, name, values)
    yield "for (int i = 0; i < CLASSIFIERS; i++) {"
    yield "    if (!isfinite(v.f[i]))"
    yield "        return -1;"
    yield "    v.t[i] = slope[i] * v.f[i] + shift[i];"
    yield "    v.r[i] = -2.0 * fabs(v.t[i]);"
    yield "}"
    yield "exponentials(v.r, CLASSIFIERS);     /* tanh */"
    yield "for (int i = 0; i < CLASSIFIERS; i++)"
    yield "    v.r[i] = copysign((1.0 - v.r[i]) / (1.0 + v.r[i]), v.t[i]);"


def _answer(program):
    """Lines that set p and return the class."""
    steps = program.steps
    rows = [_node(program, number, node) for number, node in enumerate(steps.nodes)]
    program.table("static const struct node", "nodes", rows)
    program.table("static const int", "tie_order", steps.tie_order)
    roots = [root for root, _ in steps.members] + [len(steps.nodes)]
    if len(steps.members) == 1:
        yield "member(&v, 0, NODES, p);"
    else:
        program.table("static const int", "members", np.array(roots))
        program.table("static const double", "weights", np.array(
            [weight for _, weight in steps.members]))
        yield f"{program.need('average')}(&v, {len(steps.members)}, {int(steps.geometric)}, p);"
    yield "int answer = largest(p);"
    if steps.map is not None:
        yield _calibration(program, steps.map)
        if not steps.class_before_map:
            yield "answer = largest(p);"
    yield "return isnan(p[answer]) ? -1 : answer;"


def _node(program, number, node: Node):
    """The row of a node."""
    rule, steps, count = node.rule, program.steps, len(node.branches)
    turned = steps.orientation[node.first:].astype(np.float64)

    def table(kind, name, values):
        return program.table(f"static const {kind}", f"{name}_of_{number}", values, shared=True)

    code = matrix = offset = "NULL"
    takes = then = loss = "0"
    targets = np.array([target + len(steps.labels) * (kind == "node")
                        for kind, target in node.branches])
    if isinstance(rule, LinearRule):
        then = _THEN[rule.then]
    elif isinstance(rule, OrderedRule):
        weights = np.zeros((count, count - 1))
        weights[np.arange(count - 1), rule.rows] = -rule.signs / 2
        sums = np.append(np.full(count - 1, 0.5), 1.0)  # the last one is of all classes
        targets, rule, then = targets[rule.classes], LinearRule(weights, sums), "ORDERED"
    if isinstance(rule, LinearRule):
        rows, name, takes = rule.matrix.shape[1], "linear_rule", _TAKES[rule.takes]
        matrix = table("double", "matrix", rule.matrix.T * (
            turned[:rows, None] if rule.takes == "g" else 1.0))
        offset = table("double", "offset", rule.offset)
    else:
        rows, name, code = len(rule.code), _RULES[type(rule)], rule.code
        if isinstance(rule, LossRule):
            code, loss = code * turned[:rows, None], _LOSSES[rule.loss]
        elif isinstance(rule, PairRule):
            code = np.argsort(code, axis=1)[:, [0, -1]]
        code = table("short", "code", code.astype(np.int16))
    return _row(program.need(name), 0 if takes == "OF_POINT" else node.first, rows, count,
                table("int", "branches", targets), code, matrix, offset, takes, then, loss)


def _calibration(program, fitted):
    """The line that applies the calibration map to p."""
    diagonal = np.ndim(fitted.weights) < 2
    program.table("static const double", "map_weights", fitted.weights.T if not diagonal else
                  np.broadcast_to(fitted.weights, len(fitted.intercept)))
    program.table("static const double", "map_offset", fitted.intercept)
    least = KINDS[fitted.kind].least
    return f"{program.need('calibrate')}(p, {int(diagonal)}, {least!r}, " \
        f"{_number(fitted.floor)});"


def _write_inputs(program):
    """Tables of names, and of the columns of a table."""
    steps, at, rows, features = program.steps, 0, [], []
    for one in steps.inputs:
        rows.append(_row(_string(one.name), at, int(one.fill is not None),
                         _number(float(one.fill or 0.0)), int(one.indicator)))
        at += 1 + one.indicator
        features += [one.name] + [f"{one.name} is missing"] * one.indicator
    program.table("const char *const", "model_feature_names", [*map(_string, features)])
    program.table("const char *const", "model_class_names", [*map(_string, steps.names)])
    program.table("const int", "model_labels", np.array(steps.labels))
    program.table("static const struct input", "inputs", rows, "main")
    program.table("static const char *const", "blanks", [*map(_string, steps.blanks)], "main")


def _write_tests(program):
    """Tables of points with the suite's own probabilities, of many points the least certain ones.

    Where another last digit of a point makes another answer, rounding decides: these are left out.
    """
    x, classifier = _points(program.steps), program.steps.classifier
    p, near = (np.asarray(classifier.classify(one).columns) for one in (x, x * (1 + 1e-13)))
    unsure = np.abs(near - p).max(axis=1) > 1e-10
    some = np.lexsort((p.max(axis=1), unsure))[:TESTS]
    program.table("static const double", "test_points", x[some], "main")
    program.table("static const double", "test_p", p[some], "main")


def _points(steps):
    """Random points (n, d) where the model has its support vectors or thresholds."""
    rng, d = np.random.default_rng(1), sum(1 + one.indicator for one in steps.inputs)
    x = rng.normal(size=(100, d))
    if steps.normalisations:
        one = steps.normalisations[0]
        x = one.mean + x / np.maximum(np.sqrt(np.square(one.matrix).sum(axis=1)), 1e-30)
    elif steps.kernel_sums and steps.kernel_sums[0].kernel.kind != "linear":
        sv = steps.kernel_sums[0].sv
        x = sv.mean(axis=0) + x * sv.std(axis=0)
    elif steps.forest is not None and len(steps.forest.feature):
        inner = steps.forest.feature >= 0
        for j in set(steps.forest.feature[inner].tolist()):
            x[:, j] = rng.choice(steps.forest.value[steps.forest.feature == j], len(x)) + \
                rng.choice((-1e-3, 1e-3), len(x))
    if steps.takes_missing and not steps.kernel_sums:
        x[rng.random(x.shape) < 0.1] = np.nan
    return x.astype(np.float32).astype(np.float64)
