"""libAGF's answers on one data set, number by number, asked of the commands.

libAGF computes in single precision: it is a right answer up to the bounds below.
`.mbaio` is its ASCII model with six digits, `.mbc` the control file beside the
models with 17 digits, which libAGF's answers were not made from.
"""

import functools
import re

import numpy as np
import pytest

from agfmc.control.matrix import rows_to_matrix
from agfmc.control.build import code_rows
from agfmc.control.tree import Leaf
from agfmc.control.write import format_tree
from agfmc.decode.front import CodeDecoder
from agfmc.models.files import load
from agfmc.prediction.decision_values import MachineValues
from agfmc.models.control_files import read_control
from agfmc.data.libagf import read_vec

CODES = ("m_1v1", "m_1vR", "m_adj", "m_ortho", "m_hier_lsq", "m_emp_lsq")
TREES = ("m_hier", "m_emp")
SOURCES = ("mbaio", "mbc")
K, N = 7, 693
R, F, CON = 2.1e-3, 2.4e-3, 9.2e-4
DIGITS = 2.7e-4  # what six digits of the .mbaio change in r
# Free signs: 1.02e-3 in -Q 1 and 5 of the adjacent code.  Away from one-vs-one libAGF's
# -Q 7 has not come to its fixed point when it stops.
P = {q: 1.05e-3 if q in (1, 5) else 1.0e-3 for q in range(7)} | {2: 3.1e-3, 3: 1e-9}
STOPPED = 4e-3
WITHOUT = bytes.maketrans(b"0123456789-", b"9999999999 ")
GOLDEN_P = [(m, q) for m in CODES for q in ("0fixed", *range(1, 8))]


def cases(pairs):
    """A test for every golden file and source; the default run takes one source of each file."""
    return [
        pytest.param(
            m, q, source, id=f"{m}_Q{q}-{source}", marks=pytest.mark.long if (i + j) % 2 else ()
        )
        for i, (m, q) in enumerate(pairs)
        for j, source in enumerate(SOURCES)
    ]


@pytest.fixture(scope="module")
def golden(segment):
    """The folder of golden files."""
    return segment


@pytest.fixture(scope="module")
def called(run, tmp_path_factory):
    """A function that runs a command and gives its standard output, bytes."""

    def call(*words):
        done = run(*words)
        expected = ("did not converge", "is for strict codes")
        assert "warning" not in done.err or any(text in done.err for text in expected)
        return done.raw

    call.folder = tmp_path_factory.mktemp("golden")
    return call


@pytest.fixture(scope="module")
def answer(golden, called):
    """Function (model, source, options) -> stdout, classes, confidence ratings; asked once."""

    @functools.cache
    def ask(model, source, *options):
        out = called.folder / "out"
        words = ["-y", golden / "models"] if source == "mbc" else []
        text = called(
            "classify_m",
            "-Z",
            *options,
            *words,
            golden / "models" / f"{model}.{source}",
            golden / "tst.vec",
            out,
        )
        return text, *(
            np.fromfile(out.with_suffix(end), kind)
            for end, kind in ((".cls", "<i4"), (".con", "<f4"))
        )

    return ask


@functools.cache
def table(text):
    """Printed numbers as an array."""
    return np.array(text.split(), dtype=float).reshape(text.count(b"\n"), -1)


@functools.cache
def told(path):
    """What a golden file holds."""
    kind = {".cls": "<i4", ".con": "<f4"}.get(path.suffix)
    return table(path.read_bytes()) if kind is None else np.fromfile(path, kind)


def form(text):
    """The layout of printed numbers: without digits, and without signs, which zeros may have."""
    return text.translate(WITHOUT)


def bound(q, source):
    """For probabilities of method q."""
    return P.get(0 if q == "0fixed" else q, STOPPED) + (DIGITS if source == "mbc" else 0)


def con_bound(q, source):
    if q in (0, 1, 4, 5, 6, "0fixed"):
        return CON + (DIGITS if source == "mbc" else 0)
    return bound(q, source) * K / (K - 1)


def method(q):
    return "-Q", str(q).removesuffix("fixed")


@pytest.mark.few(16)
@pytest.mark.parametrize("model, q, source", cases(GOLDEN_P))
def test_probabilities_classes_and_confidence(golden, answer, model, q, source):
    """No class differs at any point, ties of votes and -Q 7 included."""
    path = golden / f"{model}_Q{q}.txt"
    text, classes, confidence = answer(model, source, *method(q))
    ours, theirs = table(text), told(path)
    assert ours.shape == theirs.shape == (N, K + 1)
    assert form(text) == form(path.read_bytes())
    assert re.fullmatch(rb"(?:(?: [ -]\d\.\d{6}){7}   \d\n)+", text)
    difference = np.abs(ours - theirs)[:, :K]
    close = 1.7e-3 if (model, q) == ("m_1v1", 7) else bound(q, source)
    assert difference.max() < close
    assert np.median(difference) < {2: 1e-5, 7: 2.1e-4}.get(q, 1.01e-6)
    np.testing.assert_array_equal(ours[:, K], theirs[:, K])
    np.testing.assert_array_equal(ours[:, K], classes)
    np.testing.assert_array_equal(classes, told(path.with_suffix(".cls")))
    assert np.abs(confidence - told(path.with_suffix(".con"))).max() < con_bound(q, source)
    winner = ours[:, :K].max(axis=1)
    np.testing.assert_allclose(confidence, (K * winner - 1) / (K - 1), rtol=0, atol=1.2e-6)


def repeats(golden, model):
    """Rows of the stock -Q 0 that are not the right answer."""
    difference = np.abs(told(golden / f"{model}_Q0.txt") - told(golden / f"{model}_Q0fixed.txt"))
    return np.flatnonzero(difference.max(axis=1) > 2e-6)  # more than the last digits of floats


@pytest.mark.parametrize("model", CODES)
def test_stock_least_squares_repeat_the_row_before(golden, answer, model):
    """Why `_Q0.txt` is not compared as it is: libAGF's default solver leaves rows unsolved."""
    stock, right = told(golden / f"{model}_Q0.txt"), told(golden / f"{model}_Q0fixed.txt")
    wrong = repeats(golden, model)
    np.testing.assert_array_equal(stock[wrong], stock[wrong - 1])
    assert not (right[wrong] == right[wrong - 1]).all(axis=1).any()
    assert len(wrong) == {"m_1vR": 59, "m_adj": 48, "m_ortho": 48}.get(model, 0)
    assert np.abs(stock - right).max() > (0.9 if len(wrong) else -1)
    ours = np.delete(table(answer(model, "mbaio")[0]) - stock, wrong, axis=0)
    assert np.abs(ours).max() < P[0]


@pytest.mark.parametrize("end", ["cls", "con"])
@pytest.mark.parametrize("model", CODES)
def test_stock_least_squares_files(golden, answer, model, end):
    stock, right = told(golden / f"{model}_Q0.{end}"), told(golden / f"{model}_Q0fixed.{end}")
    wrong = repeats(golden, model)
    np.testing.assert_array_equal(stock[wrong], stock[wrong - 1])
    np.testing.assert_allclose(np.delete(stock, wrong), np.delete(right, wrong), rtol=0, atol=2e-6)
    ours = answer(model, "mbaio")[1 if end == "cls" else 2]
    assert np.abs(np.delete(ours - stock, wrong)).max() < CON


@pytest.mark.parametrize("model, q, source", cases([(m, -1) for m in CODES]))
def test_decision_values(golden, answer, model, q, source):
    text, classes, confidence = answer(model, source, "-Q", q)
    path = golden / f"{model}_Q-1.txt"
    assert form(text) == form(path.read_bytes())
    assert np.abs(table(text) - told(path)).max() < R + (DIGITS if source == "mbc" else 0)
    # libAGF decodes nothing here: all points are of the first class.  Ours are of -Q 0.
    first = read_control(str(golden / "models" / f"{model}.mbc")).labels[0]
    assert (told(path.with_suffix(".cls")) == first).all()
    assert (told(path.with_suffix(".con")) == 0).all()
    np.testing.assert_array_equal(classes, answer(model, source)[1])
    np.testing.assert_array_equal(confidence, answer(model, source)[2])


@pytest.mark.parametrize("model", CODES)
def test_six_digits_of_the_ascii_model(answer, model):
    r = [table(answer(model, source, "-Q", "-1")[0]) for source in SOURCES]
    assert 1e-6 < np.abs(r[0] - r[1]).max() < DIGITS


@pytest.mark.parametrize("model, q, source", cases([(m, "raw") for m in CODES]))
def test_raw_values(golden, answer, model, q, source):
    text, classes, confidence = answer(model, source, "-0")
    path = golden / f"{model}_raw.txt"
    assert form(text) == form(path.read_bytes())
    assert np.abs(table(text) - told(path)).max() < F
    # The classes are those of the stock -Q 0, with its faults, of another run.
    same = np.abs(confidence - told(path.with_suffix(".con"))) < con_bound(0, source)
    assert N - same.sum() <= (0.1 * N if model in ("m_1vR", "m_adj", "m_ortho") else 0)
    np.testing.assert_array_equal(classes[same], told(path.with_suffix(".cls"))[same])


def columns_and_visits(tree, r):
    """Nodes of a binary tree in order, and where (n, m) a descent by r (n, m) asks them."""
    order, visits = [], np.zeros(r.shape, dtype=bool)

    def walk(number, here):
        visits[:, number] = here
        left, right = tree.nodes[number].children
        if not isinstance(left, Leaf):
            walk(left, here & (r[:, number] < 0))
        order.append(number)
        if not isinstance(right, Leaf):
            walk(right, here & (r[:, number] >= 0))

    walk(0, np.ones(len(r), dtype=bool))
    return order, visits


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("model", TREES)
def test_raw_values_of_trees(golden, answer, model, source):
    """libAGF prints the nodes in order (left, node, right), and nan where it did not go."""
    text, classes, confidence = answer(model, source, "-0")
    tree = read_control(str(golden / "models" / f"{model}.mbc"))
    order, visits = columns_and_visits(tree, table(answer(model, source, "-Q", "-1")[0]))
    assert order == {"m_hier": [1, 2, 0, 4, 3, 5], "m_emp": [5, 4, 3, 2, 1, 0]}[model]
    path = golden / f"{model}_raw.txt"
    theirs = told(path)
    np.testing.assert_array_equal(np.isnan(theirs), ~visits[:, order])
    ours = np.where(np.isnan(theirs), np.nan, table(text)[:, order])
    assert np.nanmax(np.abs(ours - theirs)) < F
    lines = ["".join(f" {value:9.6f}" for value in row) for row in ours]
    assert form("".join(line + "\n" for line in lines).encode()) == form(path.read_bytes())
    assert re.fullmatch(rb"(?:(?: (?:[ -]|-?\d)\d\.\d{6}){6}\n)+", text)
    np.testing.assert_array_equal(classes, told(path.with_suffix(".cls")))
    assert np.abs(confidence - told(path.with_suffix(".con"))).max() < con_bound(0, source)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("model", TREES)
def test_recursive_trees(golden, answer, model, source):
    text, classes, confidence = answer(model, source)
    assert text == (golden / f"{model}_rec.txt").read_bytes() == b""
    np.testing.assert_array_equal(classes, told(golden / f"{model}_rec.cls"))
    theirs = told(golden / f"{model}_rec.con")
    assert np.abs(confidence - theirs).max() < con_bound(0, source)
    assert theirs.min() < 0.2  # a descent may end at a class that is hardly better than the rest


@pytest.mark.few(8)
@pytest.mark.parametrize("option, end", [("-0", "f64"), ("-Q-1", "r64")])
@pytest.mark.parametrize("model", CODES + TREES)
def test_double_precision(golden, answer, model, option, end):
    """The same model in double precision, written with nine digits."""
    path = golden / f"{model}_{end}.txt"
    theirs = np.loadtxt(path)
    last_digit = 10.0 ** (np.floor(np.log10(np.abs(theirs))) - 8)
    printed = table(answer(model, "mbaio", option)[0])
    assert (np.abs(printed - theirs) <= 5.001e-7 + 0.51 * last_digit).all()
    configuration = load(str(golden / "models" / f"{model}.mbaio"))
    assert path.read_text().splitlines()[0][1:].split() == [
        row.text for row in configuration.tree.rows
    ]
    f, r = MachineValues(configuration)(range(theirs.shape[1]), read_vec(golden / "tst.vec"))
    if end == "r64":
        np.testing.assert_allclose(r, theirs, rtol=0, atol=1e-9)
    else:
        assert (np.abs(f - theirs) <= 1e-9 + 0.51 * last_digit).all()


def zadrozny_step(a, r, p):
    """One step of the iteration from p (n, k), for r (n, m)."""
    weight = np.count_nonzero(a, axis=1)[:, None]
    plus, minus, right = (a > 0) * 1.0, (a < 0) * 1.0, (1 + r) / 2
    above, below = p @ plus.T, p @ minus.T
    mu = above / (above + below)
    plus, minus = weight * plus, weight * minus
    p = p * (right @ plus + (1 - right) @ minus) / (mu @ plus + (1 - mu) @ minus)
    return p / p.sum(axis=1, keepdims=True)


def code_and_values(golden, model):
    """Code, decision values, and libAGF's -Q 7, whose columns stand in the code's order."""
    tree = read_control(str(golden / "models" / f"{model}.mbc"))
    # Where r is 1 or -1 altogether a branch vanishes, and what is in it is nowhere said.
    r = np.clip(np.loadtxt(golden / f"{model}_r64.txt"), -1 + 1e-9, 1 - 1e-9)
    return (
        np.array(rows_to_matrix(code_rows(tree), K)),
        r,
        told(golden / f"{model}_Q7.txt")[:, list(tree.labels)],
    )


@pytest.mark.few(2)
@pytest.mark.parametrize("model", CODES)
def test_zadrozny_fixed_point(golden, model):
    """Why -Q 7 has bounds of its own: the iteration creeps, and libAGF stops on the way.

    One step leaves our answer where it is; and pushed a little away from it, to
    where no class has vanished, the iteration does not leave for another place.
    """
    a, r, theirs = code_and_values(golden, model)
    p = CodeDecoder(a, 7)(r)[0]
    assert np.abs(zadrozny_step(a, r, p) - p).max() < 1e-9
    away = np.abs(theirs - p).max(axis=1)
    assert away.max() > 1e-4  # further than from any solution in closed form
    assert model == "m_1v1" or (away > 1e-4).sum() > 100
    pushed = (p + 1e-10) / (1 + K * 1e-10)
    growth = (zadrozny_step(a, r, pushed) / pushed).max(axis=1)
    rows = np.argsort(growth)[-20:]
    p, pushed, r = p[rows], pushed[rows], r[rows]
    for _ in range(1000):
        pushed = zadrozny_step(a, r, pushed)
    assert np.abs(pushed - p).max() < 2e-5


@pytest.mark.parametrize("model", ["m_hier_lsq", "m_emp_lsq"])
def test_libagf_stops_before_zadroznys_fixed_point(golden, model):
    """For a tree the fixed point is known: products of branch probabilities, no rest at all."""
    a, r, theirs = code_and_values(golden, model)
    products = CodeDecoder(a)(r)[0]
    assert np.abs(zadrozny_step(a, r, products) - products).max() < 1e-12
    assert 1.5e-3 < np.abs(theirs - products).max() < 2e-3


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "model, method",
    [
        ("m_hier_lsq", "zadrozny"),
        ("m_hier_lsq", "zadrozny-kl"),
        ("m_emp_lsq", "zadrozny"),
        ("m_emp_lsq", "zadrozny-kl"),
    ],
)
def test_zadroznys_methods_on_trees(golden, model, method):
    a, r, _ = code_and_values(golden, model)
    np.testing.assert_allclose(
        CodeDecoder(a, method)(r)[0], CodeDecoder(a)(r)[0], rtol=0, atol=1e-6
    )


@pytest.mark.few(3)
@pytest.mark.parametrize("model", CODES + TREES)
def test_written_as_ascii_model_and_read_again(golden, called, answer, model):
    """17 digits are all digits: the same text comes out."""
    path = called.folder / f"{model}.mbaio"
    called(
        "mbh2mbm",
        "--quiet",
        "-Z",
        "-y",
        golden / "models",
        golden / "models" / f"{model}.mbc",
        path,
    )
    for options in (("-0",), ("-Q", "-1"), (), ("-Q", "3")):
        again = called("classify_m", *options, path, golden / "tst.vec", called.folder / "again")
        text, classes, _ = answer(model, "mbc", *options)
        assert again == text
        np.testing.assert_array_equal(np.fromfile(called.folder / "again.cls", "<i4"), classes)


PLANS = [
    f"{m}.{end}"
    for m in CODES + TREES
    for end in ("mbt", "mbc")
    if end == "mbc" or not m.endswith("_lsq")
]


@pytest.mark.parametrize("name", PLANS)
def test_control_files(golden, name):
    """Read, and written as libAGF wrote them, token by token."""
    text = (golden / "models" / name).read_text()
    tree = read_control(str(golden / "models" / name))
    token = re.compile(r'[{};]|"[^"]*"|[^\s{};]+')
    assert token.findall(format_tree(tree)) == token.findall(text)
    assert sorted(tree.labels) == list(range(K))
    assert all(row.quoted == name.endswith("mbt") for row in tree.rows)


@pytest.mark.parametrize("model", CODES + TREES)
def test_control_files_say_the_same(golden, model):
    """The plan and what was trained from it; the tree and its code."""
    other = f"{model[:-4]}.mbc" if model.endswith("_lsq") else f"{model}.mbt"
    trees = [read_control(str(golden / "models" / name)) for name in (f"{model}.mbc", other)]
    assert trees[0].sides() == trees[1].sides() and trees[0].labels == trees[1].labels


def test_no_golden_file_is_left_out(golden):
    tested = {
        f"{m}_Q{q}.{end}"
        for m in CODES
        for q in (-1, 0, "0fixed", *range(1, 8))
        for end in ("txt", "cls", "con")
    }
    tested |= {f"{m}_raw.{end}" for m in CODES + TREES for end in ("txt", "cls", "con")}
    tested |= {f"{m}_rec.{end}" for m in TREES for end in ("txt", "cls", "con")}
    tested |= {f"{m}_{end}64.txt" for m in CODES + TREES for end in "fr"}
    assert {path.name for path in golden.glob("m_*")} == tested
    found = [path.name for end in ("mbt", "mbc") for path in (golden / "models").glob(f"*.{end}")]
    assert sorted(found) == sorted(PLANS)
