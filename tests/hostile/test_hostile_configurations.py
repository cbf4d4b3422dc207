"""Control files and models that name, nest or hold too much, and files once not refused."""

import io
import json
import os
import signal
import sys
import tracemalloc
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hostile_readers import ASCII, LINEAR, MULTICLASS, readers

from agfmc.cli import main_of
from agfmc.learners.neighbours import NeighbourOptions
from agfmc.models.merge import collate
from agfmc.control.build import code_rows, rename, resolve_options, to_code
from agfmc.control.graphviz import format_dot
from agfmc.control.parse import closing_quote, MAX_DEPTH, parse
from agfmc.control.tree import model_names
from agfmc.control.write import format_tree
from agfmc.core.errors import AgfmcError, ControlError, DataError, ModelError
from agfmc.files import number_text, opening
from agfmc.data import libagf, libsvm
from agfmc.data.class_names import read_names
from agfmc.data.confusions import read_confusions
from agfmc.models.libagf import read_ascii_model
from agfmc.data.libsvm import iter_svm, read_svm
from agfmc.models.libsvm import read_svm_model, read_svm_multiclass
from agfmc.data.lvq import iter_lvq, read_lvq
from agfmc.data.libagf import read_vec
from agfmc.data.normalisation import Normalisation
from agfmc.models import files as configuration
from agfmc.prediction.classifier import Classifier
from agfmc.models.files import load
from data_files import write_cls, write_vec

MODEL = LINEAR.replace("1 1:1\n-1 1:-1", "1 1:1 {}:{}\n-1 1:2")
WIDE = 1000
LOADS = 2 * (3 * 2 * WIDE * 8)  # a limit of which three models of that width take half


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_models(widths, k=3):
    """One-vs-one: models m0, m1... of these widths, and the control file c."""
    with open("c", "w", encoding="ascii") as file:
        for i, ((a, b), width) in enumerate(zip(combinations(range(k), 2), widths)):
            file.write(f"m{i} {a} / {b};\n")
            with open(f"m{i}", "w", encoding="ascii") as model:
                model.write(MODEL.format(width, i + 1))
        file.write("{" + " ".join(map(str, range(k))) + "}\n")


def limited(monkeypatch, limit):
    for module in ("core.memory", "data.libagf"):
        monkeypatch.setattr(f"agfmc.{module}.memory_limit", lambda: limit)


def test_support_vectors_of_all_models_fit_in_memory(here, monkeypatch):
    write_models([WIDE] * 3)
    limited(monkeypatch, LOADS)
    assert load("c").machines.sv.shape == (4, WIDE)  # one of them stands in all three
    limited(monkeypatch, LOADS - 16)
    for number in range(3):
        read_svm_model(f"m{number}")
    monkeypatch.setattr("agfmc.models.merge.collate", None)
    with pytest.raises(DataError, match="c: the support vectors of all its models are more than"):
        load("c")


def test_support_vectors_that_are_widened_fit_in_memory(here, monkeypatch):
    write_models([2, 2, WIDE])
    limited(monkeypatch, LOADS)
    assert load("c").machines.sv.shape == (4, WIDE)
    limited(monkeypatch, LOADS - 16)
    monkeypatch.setattr("agfmc.models.merge.collate", None)
    with pytest.raises(DataError, match="c: 6 support vectors of 1000 features are more than"):
        load("c")


def test_support_vectors_that_a_normalisation_widens_fit_in_memory(here, monkeypatch):
    write_models([2, 2, 2])
    wide = Normalisation(np.eye(3, WIDE), np.zeros(3))
    for more in ({}, {"unnormalised": True}):
        limited(monkeypatch, 4 * WIDE * 8 * 2)
        assert load("c", wide, **more).machines.sv.shape == (4, WIDE)
        limited(monkeypatch, 4 * WIDE * 8 * 2 - 16)
        with pytest.raises(DataError, match="c: 4 support vectors of 1000 features are more than"):
            load("c", wide, **more)


def write_direct():
    """Two multi-class nodes of ten points with four features each."""
    for name in "ab":
        write_vec(f"{name}.vec", np.ones((10, 4)))
        write_cls(f"{name}.cls", [0, 1] * 5)
    Path("c").write_text('a K "-k 3" { 0 b K "-k 3" { 1 2 } }')


def test_points_of_all_direct_classifiers_fit_in_memory(here, monkeypatch):
    write_direct()
    limited(monkeypatch, 2 * 2 * 10 * 4 * 8)
    assert len(load("c").node_classifiers) == 2
    limited(monkeypatch, 2 * 2 * 10 * 4 * 8 - 2)
    with pytest.raises(DataError, match="c: the points of all its multi-class nodes are more"):
        load("c")


def test_a_direct_classifier_for_which_there_is_no_memory_is_named(here, monkeypatch):
    write_direct()

    def classifier_of(model):
        raise MemoryError

    monkeypatch.setattr(NeighbourOptions, "classifier", staticmethod(classifier_of))
    with pytest.raises(ModelError, match="^a: there is not enough memory for its points"):
        Classifier(load("c"))


def test_collation_holds_three_tables_at_most(here, monkeypatch):
    """That of the models, of all of them together, and one more of these."""
    monkeypatch.setattr("agfmc.core.points._BLOCK", 1 << 18)
    write_models([20_000] * 15, 6)
    tree = configuration.read_control("c")
    models = [read_svm_model(row.text) for row in tree.rows]
    size = sum(model.sv.nbytes for model in models)
    tracemalloc.start()
    try:
        collate(models, tree.sides(), tree.classes)
        assert tracemalloc.get_traced_memory()[1] < 2.3 * size
    finally:
        tracemalloc.stop()


@pytest.fixture
def bell():
    """What waits for a pipe fails after ten seconds."""

    def ring(number, frame):
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def to_pipe(path):
    os.mkfifo(path)


def to_device(path):
    os.symlink("/dev/zero", path)


def to_nothing(path):
    with open(path, "wb"):
        pass


SWAPS = [
    (to_pipe, "expected a regular file"),
    (to_device, "expected a regular file"),
    (to_nothing, "found an empty file"),
]


@pytest.mark.parametrize("swap, told", SWAPS)
@pytest.mark.parametrize(
    "text, name",
    [
        ("m0 0 / 1; {0 1}", "m0"),
        ('a K "-k 3" {0 1}', "a.vec"),
        ('a K "-k 3" {0 1}', "a.cls"),
        ('a L "" {0 1}', "a"),
    ],
)
def test_a_name_that_changes_hands_is_looked_at_when_it_is_open(
    here, bell, monkeypatch, swap, told, text, name
):
    """The file is exchanged between the first look at it and the opening."""
    write_models([2])
    write_direct()
    Path("a").write_text("agfmc")
    Path("c").write_text(text)
    real = os.stat

    def stat(path, *more, **options):
        status = real(path, *more, **options)
        if path == name:
            os.unlink(name)
            swap(name)
        return status

    monkeypatch.setattr(opening.os, "stat", stat)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with pytest.raises(AgfmcError, match=told):
        load("c")
    if before:
        assert len(os.listdir("/proc/self/fd")) == before
    assert opening._only_regular.get() is False


def test_what_is_read_has_waiting_handles(here):
    """O_NONBLOCK is for the opening alone."""
    write_models([2])
    with opening.regular_files(), opening.open_input("m0", raw=True) as file:
        assert os.get_blocking(file.fileno())
        with pytest.raises(DataError, match="it is a folder"), opening.open_input("."):
            pass
        with pytest.raises(DataError, match="No such file"), opening.open_input("none"):
            pass


def left(depth, head='""'):
    """The deep branch is the first of each node."""
    return f"{head} {{\n" * depth + "0 " + "\n".join(f"{i} }}" for i in range(1, depth + 1))


def right(depth, head='""'):
    """The deep branch is the last of each node."""
    return "".join(f"{head} {{ {i}\n" for i in range(depth)) + f"{depth} " + "}" * depth


def matrices(depth, head='""'):
    """Coding matrices all the way down."""
    rows = f"{head} 0 / 1; {head} 1 / 0;\n"
    return "".join(f"{rows} {{ {i} " for i in range(depth)) + f"{depth} " + "}" * depth


def direct(depth, head='""'):
    return "".join(f"{head} K {{ {i} " for i in range(depth)) + f"{depth} " + "}" * depth


@pytest.mark.long
@pytest.mark.parametrize(
    "make, depth",
    [
        (left, MAX_DEPTH),
        pytest.param(right, MAX_DEPTH, marks=pytest.mark.long),
        pytest.param(direct, MAX_DEPTH, marks=pytest.mark.long),
        (matrices, MAX_DEPTH // 2),
    ],
)
def test_the_deepest_file_there_may_be(make, depth):
    tree = parse(make(depth))
    assert 1 + max(node.depth for node in tree.nodes) == depth
    text = format_tree(tree)
    assert len(text) < 3_000_000
    assert format_tree(parse(text)) == text
    assert format_dot(tree).count("->") >= depth - 1
    assert len(resolve_options(tree)) == len(tree.rows)
    names = model_names(tree, "m")
    assert len(rename(tree, names).rows) == len(names)
    with pytest.raises(ControlError, match=f"nested deeper than {MAX_DEPTH} levels"):
        parse(make(MAX_DEPTH + 1))


@pytest.mark.few(1)
@pytest.mark.parametrize("make", [left, right, matrices])
def test_a_deep_file_as_a_code(make):
    depth = 2 * sys.getrecursionlimit()
    tree = parse(make(depth, "m"))
    code = to_code(tree)
    assert len(code.rows) == len(code_rows(tree)) == len(tree.rows)
    assert len(tree.sides()[0][0]) + len(tree.sides()[0][1]) == depth + 1


def commands(depth, shapes, folder, run):
    (folder / "m").write_text(LINEAR)
    (folder / "t.svm").write_text("0 1:1\n1 1:-1\n")
    (folder / "plan").write_text(left(depth))
    for make in shapes:
        (folder / "ctl").write_text(make(depth, "m"))
        for line in (
            "print_control -Q 9 plan",
            "print_control -Q 9 --report=-.dot plan",
            "print_control -Q 9 ctl",
            "mbh2mbm ctl all.mbm",
            "mbm_info all.mbm",
            "mbm_info --print-control ctl",
            "classify_m -M ctl t.svm o",
            "classify_m -M all.mbm t.svm o",
            "classify_m --tree full -M all.mbm t.svm o",
            "classify_m --tree path -M all.mbm t.svm o",
            "classify_m -0 -M ctl t.svm o",
            "classify_m -Q 2 -M all.mbm t.svm o",
        ):
            command, *words = line.split()
            assert run(command, "--quiet", *words).err == "", line


def test_a_description_is_written_as_it_is_made(tmp_path, monkeypatch):
    """The sides of a chain grow with the square of its length, and so does their text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").write_text(LINEAR)
    (tmp_path / "ctl").write_text(left(400, "m"))
    pieces = []
    monkeypatch.setattr(
        sys,
        "stdout",
        SimpleNamespace(write=pieces.append, flush=lambda: None, isatty=lambda: False),
    )
    assert main_of("mbm_info")(["--json", "ctl"]) == 0
    assert len(json.loads("".join(pieces))["binary_models"]) == 400
    assert sum(map(len, pieces)) > 5 * max(map(len, pieces))


@pytest.mark.long
def test_a_chain_from_data_is_trained(tmp_path, monkeypatch, run):
    """Classes at growing distances are joined one by one; names by branches had no room."""
    monkeypatch.chdir(tmp_path)
    k = 300
    places = [c + c * c / 200 for c in range(k)]
    (tmp_path / "t.svm").write_text(
        "".join(f"{c} 1:{x + d:.6f}\n" for c, x in enumerate(places) for d in (0, 0.25))
    )
    (tmp_path / "plan").write_text(run("print_control", "-Q", "3", "-M", "t.svm").out)
    options = ["-M", "--quiet", "-+", "learner=logistic"]
    operands = ["plan", "t.svm", "m", "ctl"]
    run("multi_borders", *options, *operands)
    control = (tmp_path / "ctl").read_text()
    tree = parse(control)
    assert 1 + max(node.depth for node in tree.nodes) == k - 1
    assert [row.text for row in tree.rows] == ["m", *(f"m.n{i:04d}" for i in range(1, k - 1))]
    (tmp_path / "m.n0298").rename(tmp_path / "earlier")
    lines = run("multi_borders", *options, "-0", *operands).out.splitlines()
    assert len(lines) == k - 1 and "--only=m.n0298 " in lines[298]
    run("multi_borders", *options, "--only", "m.n0298", *operands)
    assert (tmp_path / "m.n0298").read_bytes() == (tmp_path / "earlier").read_bytes()
    assert (tmp_path / "ctl").read_text() == control
    run("mbh2mbm", "--quiet", "ctl", "all.mbm")
    for model in ("ctl", "all.mbm"):
        assert run("classify_m", "--quiet", "-M", model, "t.svm", model).err == ""
    assert (tmp_path / "ctl.cls").read_bytes() == (tmp_path / "all.mbm.cls").read_bytes()


@pytest.mark.long
def test_commands_on_the_deepest_file(folder, run):
    commands(MAX_DEPTH, [left, right], folder, run)


AGAIN_MODEL = readers()["svm model"].seeds[0]
BOM = b"\xef\xbb\xbf"


@pytest.fixture
def save(tmp_path):
    def save(data):
        path = tmp_path / "input"
        path.write_bytes(data)
        return str(path)

    return save


def refused(read, path):
    with pytest.raises(AgfmcError) as caught:
        read(path)
    return caught.value


def test_a_message_is_one_line_of_bounded_length():
    error = DataError("a\nb\x1b[2J\u2028\u202e\x85\ud800", file="x\ty", line=3)
    assert str(error) == r"x\ty:3: a\nb\x1b[2J\u2028\u202e\x85\ud800"
    assert error.message.startswith("a\nb")
    long = str(DataError("a" * 10**6 + "end", file="x"))
    assert len(long) <= 2000 and long.startswith("x: aaa") and long.endswith("aend")


@pytest.mark.parametrize("number", ["1_000", "0x10", "1e", "1d5", "1-2"])
def test_numbers_of_models_are_plain(save, number):
    for old, line in (("1:0.5", 12), ("gamma 0.5", 3)):
        data = AGAIN_MODEL.replace(old.encode(), old.replace("0.5", number).encode(), 1)
        assert data != AGAIN_MODEL
        error = refused(read_svm_model, save(data))
        assert "number" in error.message and error.line == line


def test_whole_numbers_of_models_are_plain(save):
    for number in (b"1_0", b"1.0", b"0x1", b"1e0", b"9" * 5000):
        error = refused(
            read_svm_model, save(AGAIN_MODEL.replace(b"label 0 1", b"label 0 " + number))
        )
        assert "number" in error.message and error.line == 7


def test_support_vectors_larger_than_memory(save, monkeypatch):
    wide = (
        b"svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 0 1\n"
        b"nr_sv 1 1\nSV\n1 1:1 \n-1 16777216:1 \n"
    )
    monkeypatch.setattr("agfmc.core.memory.memory_limit", lambda: 1 << 20)
    assert "are more than" in refused(read_svm_model, save(wide)).message
    assert read_svm_model(save(AGAIN_MODEL)).sv.shape == (4, 3)


def test_copies_of_support_vectors_larger_than_memory(save, monkeypatch):
    monkeypatch.setattr("agfmc.core.memory.memory_limit", lambda: 4 * 3 * 8 * 2)
    error = refused(read_svm_multiclass, save(MULTICLASS))
    assert "7 support vectors of 3 features" in error.message


@pytest.mark.parametrize(
    "kernel",
    [
        (b"gamma 0.5", b"gamma 1e308", MULTICLASS),
        (b" 0.5\n3 2", b" 1e308\n3 2", ASCII),
        (b"-0.25 1e-3", b"1e308 1e308", MULTICLASS),
        (b"probA -1 -2", b"probA 1e308 1e308", MULTICLASS),
    ],
)
@pytest.mark.usefixtures("no_warnings")
def test_a_kernel_that_overflows_gives_no_warning_of_numpy(save, kernel):
    from agfmc.models.files import load
    from agfmc.prediction.decision_values import MachineValues

    old, new, data = kernel
    assert old in data
    configuration = load(save(data.replace(old, new)))
    model, values = configuration.machines, MachineValues(configuration, True)
    try:
        f, r = values(range(len(model.rho)), values.prepared(np.ones((2, model.sv.shape[1]))))
        assert np.isfinite(f).all() and np.isfinite(r).all()
    except DataError as error:
        assert "too large for the kernel" in error.message


def test_a_mark_of_order_of_bytes_is_no_part_of_a_label(save):
    data = read_svm(save(BOM + b"ant 1:1\nbee 1:2\nant 1:3\n"))
    assert data.names == ("ant", "bee") and data.y.tolist() == [0, 1, 0]
    assert read_lvq(save(BOM + b"1\n1 2\n")).y.tolist() == [2]
    assert read_names(save(BOM + b"ant\nbee\n")) == ("ant", "bee")
    assert [len(x) for x in iter_svm(save(BOM + b"1 1:1\n"), block=1)] == [1]
    assert "label" in refused(read_svm, save(BOM[:2] + b"1 1:1\n2 1:1\n")).message


def test_the_line_of_a_nul_is_in_the_error(save):
    for size in (1, 4, 1 << 20):
        error = refused(lambda path: read_svm(path, block=size), save(b"1 1:1\n\n2 1:\0001\n"))
        assert (error.line, "NUL" in error.message) == (3, True)


def test_one_long_label_costs_no_more_than_its_length(save, monkeypatch):
    """n labels as wide as the longest would be 40 GB."""
    n = 20_000
    for label in (b"a" * 2_000_000, b"0" * 2_000_000 + b"1"):
        data = save(label + b" 1:1\n" + b"1 1:1\n" * n)
        assert sum(map(len, iter_svm(data))) == n + 1
    assert len(read_svm(data).y) == n + 1
    path = save(b"1\n1 " + b"a" * 2_000_000 + b"\n" + b"1 b\n" * n)
    assert sum(map(len, iter_lvq(path))) == n + 1


def test_blank_out_is_the_same_for_short_and_long_tokens():
    data = b"\nab  cde f\n" + b"x" * 40 + b"  y zz\n"
    for step in (1, 2, 3):
        tokens = number_text.tokenise(data, 1)
        which = np.arange(0, len(tokens.start), step)
        start, end = tokens.start[which], tokens.end[which]
        plain = bytearray(tokens.text.tobytes())
        for i, j in zip(start, end):
            plain[i:j] = b" " * (j - i)
        number_text.blank_out(tokens.text, start, end)
        assert tokens.text.tobytes() == plain
    number_text.blank_out(tokens.text, start[:0], end[:0])


def test_many_words_are_numbered_one_by_one(save):
    """In pieces the words have the same numbers, and the first that cannot be its line."""
    lines = [b"w%d 1:1\n" % (i * 7919 % 3001) for i in range(3001)]
    whole = read_svm(save(b"".join(lines)))
    part = read_svm(save(b"".join(lines)), block=100)
    assert part.names == whole.names and np.array_equal(part.y, whole.y)
    lines[2000] = lines[2500] = b"12 1:1\n"
    assert refused(read_svm, save(b"".join(lines))).line == 2001


def test_blanks_quotes_and_comments_of_any_number():
    for count in (0, 1, 999, 1000, 1001, 5000):
        tree = parse("#\n" * count + "a" + " \n# x\n" * count + "{0 1}" + "# y" * count)
        assert tree.labels == (0, 1)
        assert parse('"' + '\\"' * count + 'a" {0 1}').rows[0].text == '"' * count + "a"
        assert parse('"' + "\\a" * count + 'a" {0 1}').rows[0].text == "\\a" * count + "a"
        text = '"' + 'a\\"' * count
        assert closing_quote(text + '"', 0) == len(text)
        assert closing_quote(text, 0) == closing_quote(text + "\\", 0) == -1
        assert closing_quote(text + '\n"', 0) == closing_quote(text + '\\\n"', 0) == -1
    with pytest.raises(ControlError, match="no closing quote"):
        parse('"a\\" {0 1}')


def test_the_braces_of_an_ascii_model(save):
    """Braces in quotes and comments do not count; a # inside a name begins no comment."""

    def model(control, name):
        classifier = f"\n{name}\n2\n-1.5 0.25\n 0.5 -0.5 0.125\n 0 1\n"
        return ASCII.replace(b"a 0 / 1;\nb 0 / 2;\nc 1 / 2;\n{ 2 5 9}", control.encode()).replace(
            ASCII[ASCII.index(b"\na\n2") :], classifier.encode()
        )

    for control, name in (
        ('"x{" {0 1}', "x{"),
        ("a # } {\n#}\n{0 1}", "a"),
        ("a#b {0 1}", "a#b"),
        ('"x\\"}" {0 # }\n 1}', 'x"}'),
    ):
        assert len(read_ascii_model(save(model(control, name))).tree.rows) == 1
    error = refused(read_ascii_model, save(model('a {0 "x} 1', "a")))
    assert "no closing quote" in error.message and error.line == 2


def test_json_of_a_number_of_many_digits(save):
    data = b'{"labels": [0, 1], "contingency": [[1, 1], [1, ' + b"7" * 10**6 + b"]]}"
    error = refused(read_confusions, save(data))
    assert error.message == f"expected JSON: {'7' * 20} is no number"


class Endless:
    """A stream that never ends."""

    def __init__(self, piece, first=b""):
        self.piece, self.first, self.taken = piece, first, 0

    def read(self, size):
        assert size > 0, "all of an endless stream is asked for"
        data = self.first + self.piece * (size // len(self.piece) + 1)
        self.first = data[size:]
        self.taken += size
        assert self.taken < 1 << 29, "it does not stop reading"
        return data[:size]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "read, stream",
    [
        (opening.read_bytes, Endless(b"\0")),
        (read_names, Endless(b"a\n")),
        (read_vec, Endless(bytes(1 << 16), (4).to_bytes(4, "little"))),
        (read_vec, Endless(bytes(1 << 16), (1 << 22).to_bytes(4, "little"))),
        (read_svm, Endless(b"1\n")),
        (read_svm, Endless(b"1 1:1\n")),
        (read_svm, Endless(b"a" * 1024)),
        (read_svm, Endless(b"1 1:1 " * 1024)),
        (read_lvq, Endless(b"1" * 1024)),
        (read_lvq, Endless(b"1 2\n", b"1\n")),
    ],
)
def test_a_stream_that_never_ends(read, stream, monkeypatch):
    for module in (opening, opening, libsvm):
        monkeypatch.setattr(module, "memory_limit", lambda: 1 << 24)
    monkeypatch.setattr(number_text, "LONGEST_LINE", 1 << 22)
    with pytest.raises(DataError, match="larger than|more than|above the limit|too long"):
        read("-", stdin=stream)


def test_a_row_from_a_pipe_is_no_larger_than_a_row_can_be():
    with pytest.raises(DataError, match="2147483647 features"):
        read_vec("-", stdin=io.BytesIO(b"\xff\xff\xff\x7f" + bytes(100)))


def test_rows_of_many_features_come_a_few_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(libagf, "_CHUNK", 1 << 22)
    path = tmp_path / "wide.vec"
    d = 1 << 16
    with open(path, "wb") as file:
        file.write(d.to_bytes(4, "little"))
        file.truncate(4 + 4 * d * 20)
    with libagf.VecReader(path, 4096) as reader:
        assert len(next(iter(reader))) == 16


def test_names_too_long_for_files_are_found_before_the_training(run, tmp_path):
    from data_files import write_cls, write_vec

    k = 100
    y = np.repeat(np.arange(k), 2)
    write_vec(str(tmp_path / "t.vec"), np.arange(2.0 * k)[:, None])
    write_cls(str(tmp_path / "t.cls"), y)
    (tmp_path / "plan").write_text(
        '"" {\n' * (k - 1) + "0 " + "".join(f"{i}}}\n" for i in range(1, k))
    )
    before = sorted(Path(tmp_path).iterdir())
    files = (tmp_path / name for name in ("plan", "t", "m" * 252, "out"))
    run("multi_borders", "--quiet", *files, status=1).refused("the name is too long")
    assert sorted(Path(tmp_path).iterdir()) == before
