"""A trained configuration as one file of C99, without dependencies but the mathematical library.

It is `model.c`, the same for all models, with their sizes and tables, in which numbers have all
their digits; parts of it stand there once for numbers of each of several types.
"""

from __future__ import annotations

import math
import pkgutil
import re
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, diags

from ..calibration.maps import KINDS
from ..core.errors import ModelError
from ..decode.class_scores import LOSSES
from ..files.csv import csv_line
from ..tables.dates import expected, PERIODS
from ..tables.types import TableFormat
from .steps import CodeRule, dense_blocks, features_if_missing, LinearRule, Node, Steps

LARGEST = 64_000_000  # bytes of text
MOST_MEMORY = 4_000_000  # bytes on the stack of a call
TESTS = 10
_MOST_VALUES = 2048  # kernel values at once
_SAFE = frozenset(range(32, 127)) - frozenset(b'"\\?')  # ? may begin a trigraph
_LONGEST = 48  # letters of a member, of which C99 tells 63 apart
_RESERVED = frozenset(
    "alignas alignof asm auto bool break case catch char class complex const constexpr continue "
    "default delete do double else enum errno explicit export extern false float for friend goto "
    "i386 if inline int linux long mutable namespace new nullptr operator private protected public "
    "register restrict return short signed sizeof static stderr stdin stdout struct switch template "
    "this throw true try typedef typename typeof union unix unsigned using virtual void volatile "
    "while".split()
)


def c_program(steps: Steps, single: bool = False) -> str:
    """The C file of a model.

    Parameters
    ----------
    steps : Steps
        What the model computes.
    single : bool, default=False
        Kernel values and their sums are in single precision.

    Returns
    -------
    str
        The text of the file, in ASCII.

    Raises
    ------
    ModelError
        If it would have more than 64 MB, or a call would need more than 4 MB of memory.
    """
    sizes, memory = _sizes(steps)
    tables = _Tables("float" if single else "double")
    texts = []
    for written in (_tables, _main_tables):
        for kind, name, values in written(tables, steps):
            tables.add(kind, name, values)
        texts.append("\n".join(tables.texts))
        tables.texts.clear()
    text = pkgutil.get_data(__package__, "model.c")
    assert text is not None  # the package is installed with it
    program = text.decode("ascii")
    for word, value in (
        ("NUMBERS", " ".join(dict.fromkeys(("double", tables.real)))),
        ("REAL", tables.real),
    ):
        program = program.replace(f"@{word}@", value)
    program = re.sub(
        "^//@ (.*)\n((?:.*\n)*?)//@\n",
        lambda part: "".join(part[2].replace("NUMBER", number) for number in part[1].split()),
        program,
        flags=re.MULTILINE,
    )
    if steps.rows:
        rows = f"It holds {steps.rows} rows of the training data."
    else:
        rows = "It holds no row of the training data."
    for word, value in (
        ("ROWS", rows),
        ("TOLERANCE", 1e-4 if single else 1e-9),
        ("MEMBERS", "\n".join(_members(steps.recipe.columns))),
        ("DECODER", steps.classifier.decoding.name),
        ("GIVES", steps.gives),
        ("MEMORY", -(-memory // 1000)),
        ("TABLES", texts[0]),
        ("MAIN_TABLES", texts[1]),
        ("SIZES", _wrapped([f"{name} = {value}" for name, value in sizes.items()], 4)),
    ):
        program = program.replace(f"@{word}@", str(value))
    return program


def _sizes(steps):
    """{name: value} of the constants of the program, and the bytes of memory that a call needs."""
    solved = [
        node.rule
        for node in steps.nodes
        if isinstance(node.rule, CodeRule) and node.rule.decoder in ("pairs", "least-squares")
    ]
    k = len(steps.labels)
    m = len(steps.rho)
    branches = max(len(node.branches) for node in steps.nodes)
    width = sum(one.features_after for one in steps.normalisations) or len(steps.features)
    layout = steps.recipe.layout or TableFormat()
    sizes = {
        "MODEL_FEATURES": len(steps.features),
        "MODEL_CLASSES": k,
        "NORMALISED": width,
        "CLASSIFIERS": max(1, m),
        "NODES": len(steps.nodes),
        "BRANCHES": branches,
        "CODED": max([rule.code.shape[1] for rule in solved], default=1),
        "PARTS": 5 if any(rule.decoder == "least-squares" for rule in solved) else 1,
        "SUPPORT_VECTORS": max([len(one.sv) for one in _kernels(steps)], default=1),
        "WIDEST": max(width, m, branches, k),
        "NORMALISATIONS": len(steps.normalisations),
        "KERNELS": len(_kernels(steps)),
        "MEMBERS": len(steps.members),
        "MAPS": int(steps.map is not None),
        "GEOMETRIC": int(steps.geometric),
        "TAKES_MISSING": int(steps.takes_missing),
        "CLASS_BEFORE_MAP": int(steps.map is not None and KINDS[steps.map.kind].keeps_order),
        "COLUMNS": len(steps.recipe.columns),
        "BLANKS": len(steps.recipe.blanks),
        "HEADER": int(layout.header),
        "QUOTES": int(layout.quotes),
        "DELIMITER": ord(layout.delimiter or "\0"),
        "DECIMAL": ord(layout.decimal or "\0"),
        "TESTS": TESTS,
    }
    memory = 8 * (
        2 * width
        + 2 * len(steps.features)
        + 5 * m
        + sizes["SUPPORT_VECTORS"]
        + 3 * k
        + len(steps.nodes)
        + 4 * branches
        + sizes["WIDEST"]
        + (3 + 2 * sizes["PARTS"]) * sizes["CODED"] ** 2
    )
    if memory > MOST_MEMORY:
        raise ModelError(
            f"a C program would need {memory / 1e6:.0f} MB of memory for a "
            f"point, more than {MOST_MEMORY / 1e6:.0f}: the model has too many "
            "classes or classifiers"
        )
    return sizes, memory


class _Tables:
    """The tables of a program, as texts of C; `real` is the type of kernel values."""

    def __init__(self, real):
        self.real = real
        self.texts = []
        self._names = {}
        self._bytes = 0

    def add(self, kind: str, name: str, values) -> str:
        """Write a table of numbers (an array) or of words of C; its name.

        One that ends with _ gets a number, and equal tables are written once.
        """
        self._bytes += 4 * np.size(values)
        if self._bytes <= LARGEST:
            cells, columns = (
                ([_number(value, kind) for value in values.ravel().tolist()], 4)
                if isinstance(values, np.ndarray)
                else (values, 1)
            )
            text = f"[{max(1, len(cells))}] = {{\n{_wrapped(cells or ['0'], columns)}\n}};\n"
            self._bytes += len(text)
        if self._bytes > LARGEST:
            raise ModelError(
                f"the C program would have more than {LARGEST / 1e6:.0f} MB: train "
                "with fewer support vectors (learner=nystrom) or smaller trees"
            )
        if name.endswith("_"):
            if (kind, text) in self._names:
                return self._names[kind, text]
            name = self._names[kind, text] = f"{name}{len(self._names)}"
        if name.startswith("model_"):
            shared = ""
        else:
            shared = "static "
        self.texts.append(f"{shared}const {kind} {name}{text}")
        return name

    def matrix(self, name: str, matrix, real: str = "double") -> str:
        """The fields of `struct NUMBER_matrix`."""
        shapes = []
        parts = []
        values = []
        matrix = csr_array(matrix, dtype=np.float64)
        for first, stop, columns in dense_blocks(matrix):
            shapes.append((stop - first, len(columns)))
            parts.append(columns)
            values.append(matrix[first:stop][:, columns].toarray().ravel())
        return _row(
            len(shapes),
            *(
                self.add(kind, f"{part}_of_{name}_", np.concatenate(one))
                for kind, part, one in (
                    ("int", "shapes", shapes),
                    ("int", "columns", parts),
                    (real, "values", values),
                )
            ),
        )


def _number(value, kind="double"):
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY"
    if kind == "float":
        return str(np.float32(value))
    return repr(float(value))


def _wrapped(cells, columns=1):
    return ",\n".join(
        "    " + ", ".join(cells[start : start + columns])
        for start in range(0, len(cells), columns)
    )


def _string(text: str | bytes) -> str:
    """A string of C, whatever the text: all but plain ASCII as octal numbers."""
    if isinstance(text, bytes):
        data = text
    else:
        data = text.encode("utf-8", "surrogateescape")
    return '"' + "".join(chr(byte) if byte in _SAFE else f"\\{byte:03o}" for byte in data) + '"'


def _word(kind: str, name: str) -> str:
    """The enumerator of a kernel, of the rule of a decoder, of what it takes and what follows."""
    return re.sub("[- ]", "_", f"{kind}_{name}".upper())


def _row(*fields):
    return "{" + ", ".join(map(str, fields)) + "}"


def _kernels(steps):
    """`KernelSums` of at most `_MOST_VALUES` kernel values."""
    return [
        replace(
            one,
            sv=one.sv[start : start + _MOST_VALUES],
            coef=one.coef[start : start + _MOST_VALUES],
        )
        for one in steps.kernel_sums
        for start in range(0, len(one.sv), _MOST_VALUES)
    ]


def _tables(tables, steps):
    """Yield (kind, name, values) of the tables of a model."""
    forest = steps.forest
    fitted = steps.map
    ends = np.cumsum([0] + [one.features_after for one in steps.normalisations])
    normalisations = [
        _row(
            tables.add("double", "mean_", one.mean.astype(np.float64)),
            tables.matrix("normalisation", np.pad(one.matrix, ((0, 0), (start, ends[-1] - end)))),
        )
        for one, start, end in zip(steps.normalisations, ends, ends[1:])
    ]
    kernels = [
        _row(
            _word("kernel", one.kernel.kind),
            *map(_number, (one.kernel.gamma, one.kernel.coef0)),
            one.kernel.degree,
            (one.kernel.columns or (0,))[0],
            one.sv.shape[1],
            len(one.sv),
            tables.add(tables.real, "sv_", one.sv.T),
            tables.matrix("coef", one.coef, tables.real),
        )
        for one in _kernels(steps)
    ]
    if fitted is None:
        maps = []
    else:
        maps = [
            _row(
                tables.matrix(
                    "map",
                    fitted.weights.T
                    if np.ndim(fitted.weights) == 2
                    else diags(np.broadcast_to(fitted.weights, len(fitted.intercept))),
                ),
                tables.add("double", "offset_", fitted.intercept),
                KINDS[fitted.kind].least,
                float(fitted.floor),
            )
        ]
    yield from (
        ("struct normalisation", "normalisations", normalisations),
        ("struct kernel", "kernels", kernels),
        (
            "struct tree_node",
            "tree_nodes",
            [
                _row(*map(_number, fields))
                for fields in zip(
                    forest.value.tolist(),
                    forest.feature.tolist(),
                    forest.left.tolist(),
                    forest.right.tolist(),
                    forest.missing_left.astype(int).tolist(),
                )
            ],
        ),
        ("int", "tree_roots", forest.roots),
        ("int", "tree_start", np.pad(forest.starts, (0, 1))),
        ("double", "rho", steps.rho),
        ("double", "slope", steps.a),
        ("double", "shift", steps.b),
        ("struct node", "nodes", [_node(tables, node) for node in steps.nodes]),
        (
            "int",
            "members",
            np.array([part.start for part, _ in steps.members] + [len(steps.nodes)]),
        ),
        ("double", "weights", np.array([float(weight) for _, weight in steps.members])),
        ("struct map", "maps", maps),
        ("struct column", "columns", _columns(tables, steps.recipe)),
        (
            "double",
            "if_missing",
            np.concatenate(
                [features_if_missing(steps.recipe, one) for one in steps.recipe.columns]
            ),
        ),
        ("char *const", "blanks", [_string(blank.strip(" \t")) for blank in steps.recipe.blanks]),
        ("int", "tie_order", steps.tie_order),
        ("char *const", "model_feature_names", [*map(_string, steps.features)]),
        ("char *const", "model_class_names", [*map(_string, steps.names)]),
        ("int", "model_labels", np.array(steps.labels)),
    )


def _member_names(columns):
    """Different names of the members of a struct, like those of the columns."""
    names = []
    taken = set()
    for number, column in enumerate(columns, 1):
        name = re.sub("[^0-9A-Za-z_]", "_", column.name)[:_LONGEST]
        if name in _RESERVED or name in taken or not re.match("[A-Za-z]", name) or name.isupper():
            name = f"column_{number}_{name}"  # others in capitals may be macros
        taken.add(name)
        names.append(name)
    return names


def _members(columns):
    """Yield the lines of the members of a row of a table."""
    for name, column in zip(_member_names(columns), columns):
        if column.date is not None:
            member = f"const char *{name};"
            kind = expected(column.date.order)
        elif column.is_number and column.numbers is not None and column.numbers.limits:
            member = f"double {name}[{1 + len(column.numbers.limits)}];"
            kind = f"a number, and 1 where it is a limit, {' and '.join(column.numbers.limits)}"
        elif column.is_number:
            member = f"double {name};"
            kind = "" if column.numbers is None else f"without its unit {column.numbers.unit}"
        else:
            member = f"const char *{name};"
            kind = "a word"
        if column.name[:_LONGEST] != name:
            kind = f"{column.name[:_LONGEST]}{kind and ': '}{kind}"
        kind = re.sub(r"[^ -.0->@-\[\]-~]", "_", kind)  # ends no comment, nor a line
        yield f"    {member:35} {kind and f'/* {kind} */'}".rstrip()


def _columns(tables, recipe):
    """The rows of the columns of a recipe."""
    rows = []
    for name, column, first in zip(_member_names(recipe.columns), recipe.columns, recipe.starts):
        other = -1
        date = [_word("order", "year first"), 0, _row(0, 0, 0)]
        form = "NULL"
        numbers = 1
        if column.numbers is not None:
            form = f"&{tables.add('struct form', 'form_', [_form(tables, column.numbers)])}[0]"
            numbers += len(column.numbers.limits)
        words = column.order or column.categories or ()
        if column.date is not None:
            kind = "date"
            cycles = _row(*(int(cycle in column.date.cycles) for cycle in PERIODS))
            date = [_word("order", column.date.order), column.date.first, cycles]
        elif column.order is not None:
            kind = "order"
        elif column.categories is not None:
            kind = "words"
            other = column.feature_of.get(column.other, -1)
        else:
            kind = "number"
        places = sorted((word.encode(), place) for place, word in enumerate(words))
        rows.append(
            _row(
                _string(column.source),
                f"offsetof(struct model_row, {name})",
                _word("kind", kind),
                numbers,
                form,
                0 if column.pair is None else 1 + column.pair.number,
                first,
                len(column.features),
                tables.add("struct word", "words_", [_row(_string(word), n) for word, n in places]),
                len(words),
                other,
                *date,
            )
        )
    return rows


def _form(tables, form):
    """The row of a form of numbers."""
    limits = {limit: place for place, limit in enumerate(form.limits, 1)}
    return _row(
        _string(form.unit),
        int(form.before),
        ord(form.thousands or "\0"),
        ord(form.decimal),
        limits.get("<", 0),
        limits.get(">", 0),
        int(form.serial),
        len(form.blanks),
        tables.add("char *const", "blanks_", [*map(_string, form.blanks)] or ["NULL"]),
    )


def _node(tables, node: Node):
    """The row of a node."""
    rule = node.rule
    code = "NULL"
    matrix = _row(0, "NULL", "NULL", "NULL")
    if isinstance(rule, LinearRule):
        name = "matrix"
        takes = rule.takes
        then = rule.then
        offset = rule.offset
        matrix = tables.matrix("rule", rule.matrix.T)
    else:
        name = rule.decoder
        takes = "r"
        then = "nothing"
        offset = np.full(rule.code.shape[1], float(name == "products"))
        if name in LOSSES:
            offset -= (rule.code == 0).sum(axis=0) * LOSSES[name](np.float64(0))
        code = tables.add(
            "int",
            "code_",
            np.concatenate(
                [
                    [np.count_nonzero(row), *(row * np.arange(1, len(row) + 1))[row != 0]]
                    for row in rule.code
                ]
            ),
        )
    return _row(
        _word("rule", name),
        node.classifiers.start,
        len(node.classifiers),
        len(node.branches),
        tables.add("int", "branches_", np.array(node.branches)),
        code,
        tables.add("double", "offset_", offset),
        matrix,
        _word("takes", takes),
        _word("then", then),
    )


def _main_tables(_, steps):
    """Yield the tables of columns, and of points with the suite's own probabilities.

    Of many points they are the least certain ones.  Where another last digit of a point makes
    another answer, rounding decides: these are left out.
    """
    x = _points(steps)
    classifier = steps.classifier
    p, near = (np.asarray(classifier.classify(one).columns) for one in (x, x * (1 + 1e-13)))
    some = np.lexsort((p.max(axis=1), np.abs(near - p).max(axis=1) > 1e-10))[:TESTS]
    yield from (
        (
            "char *const",
            "heading",
            [_string(csv_line(["class", *(f"p:{name}" for name in steps.names)]))],
        ),
        ("char *const", "class_cells", [_string(csv_line([name])[:-1]) for name in steps.names]),
        ("double", "test_points", x[some]),
        ("double", "test_p", p[some]),
    )


def _points(steps):
    """Random points (n, d) where the model has its support vectors or thresholds."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(100, len(steps.features)))
    if steps.normalisations:
        one = steps.normalisations[0]
        x = one.mean + x / np.maximum(np.sqrt(np.square(one.matrix).sum(axis=1)), 1e-30)
    elif steps.kernel_sums and steps.kernel_sums[0].kernel.kind != "linear":
        sv = steps.kernel_sums[0].sv
        x = sv.mean(axis=0) + x * sv.std(axis=0)
    else:
        for j in set(steps.forest.feature.tolist()) - {-1}:
            x[:, j] = rng.choice(steps.forest.value[steps.forest.feature == j], len(x))
    if steps.takes_missing:
        x[rng.random(x.shape) < 0.1] = np.nan
    return x.astype(np.float32).astype(np.float64)
