"""The data commands, letter by letter: text and binary data, parts, order, classes of values."""

import os
from pathlib import Path

import numpy as np
import pytest

from agfmc.data.lvq import read_lvq
from agfmc.data.libsvm import read_svm
from agfmc.data.libagf import con_bytes, read_cls, read_con, read_std, read_vec
from agfmc.data.types import InputFormat
from data_files import write_cls, write_lvq, write_svm, write_vec


@pytest.fixture(autouse=True)
def data(folder):
    """x (40, 3), labels and ordinates: `trn` binary, `trn.svm`, `trn.lvq`, `ord.lvq`, `ord.svm`."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 3)).astype(np.float32)
    x[::5, 1] = 0
    y = rng.integers(0, 4, 40) * 2 + 1
    y[:4] = 1, 3, 5, 7
    value = rng.normal(size=40).astype(np.float32)
    write_vec("trn.vec", x)
    write_cls("trn.cls", y)
    Path("trn.dat").write_bytes(con_bytes(value))
    write_svm("trn.svm", x, y)
    write_lvq("trn.lvq", x, y)
    write_lvq("ord.lvq", x, value)
    write_svm("ord.svm", x, value)
    return x, y, value


def printed(run, *words, stdin=b""):
    """The bytes that a command prints."""
    return run(*words, stdin=stdin).raw


def content(name):
    return Path(name).read_bytes()


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")


def refused(run, text, *words):
    """A command line that ends with status 2 in one line, and writes nothing."""
    before = sorted(os.listdir())
    run(*words, status=2).refused(text)
    assert sorted(os.listdir()) == before


# agf_preprocess

TEXT = {"-A": ("trn.lvq", read_lvq), "-M": ("trn.svm", read_svm)}
RECIPES = [
    ["-n"],
    ["-S", "2"],
    ["-F"],
    ["-z"],
    ["-B"],
    ["-U"],
    ["-f", "0.25"],
    ["-f", "0.25", "-R"],
    ["-f", "0.25", "--stratified"],
    ["-d", "3"],
    ["partition"],
    ["--sample", "40"],
    ["--sample", "40", "--min-per-class", "9", "-n", "-f", "0.25"],
]


@pytest.mark.few(13)
@pytest.mark.parametrize("kind", TEXT)
@pytest.mark.parametrize("recipe", RECIPES, ids=" ".join)
def test_text_becomes_what_binary_data_become(run, kind, recipe):
    source, read = TEXT[kind]
    options = [word for word in recipe if word != "partition"]
    rest = ["t"] if "-f" in recipe else []
    rest += {"-F": ["2", "0"], "partition": ["3", "5", "/", "1"]}.get(recipe[0], [])
    run("agf_preprocess", *options, "trn", "o", *rest)
    run(
        "agf_preprocess",
        kind,
        *options,
        source,
        "text",
        *["u"] * ("-f" in recipe),
        *rest["-f" in recipe :],
    )
    names = {"o": "text", "t": "u", "o-00": "text-00", "o-02": "text-02"}
    pairs = {a: b for a, b in names.items() if os.path.exists(f"{a}.vec")}
    assert pairs
    for base, file in pairs.items():
        got = read(file)
        assert got.x.astype(np.float32).tobytes() == read_vec(f"{base}.vec").tobytes()
        assert got.y.tolist() == read_cls(f"{base}.cls").tolist()
    if "-n" in recipe or "-S" in recipe:
        assert content("o.std") == content("text.std")


def test_text_is_written_without_loss(run, data):
    x = data[0].astype(float) / 3
    for kind, write_text, read in (("-A", write_lvq, read_lvq), ("-M", write_svm, read_svm)):
        write_text("a", x, data[1])
        run("agf_preprocess", kind, "a", "b")
        assert content("a") == content("b")
        assert read("b").x.tobytes() == x.tobytes()


@pytest.mark.parametrize("kind", TEXT)
def test_text_from_and_to_pipes(kind, monkeypatch, run):
    source, _ = TEXT[kind]
    run("agf_preprocess", kind, "-z", "-F", source, "want", "1", "2")
    got = printed(
        run, "agf_preprocess", kind, "-0", "-1", "-z", "-F", "1", "2", stdin=content(source)
    )
    assert got == content("want")
    run("agf_preprocess", kind, "-0", "-z", "-F", "file", "1", "2", stdin=content(source))
    assert content("file") == content("want")
    assert printed(run, "agf_preprocess", kind, "-1", "-z", "-F", source, "1", "2") == content(
        "want"
    )


def test_the_test_part_is_a_file_where_the_rest_goes_to_a_pipe(run):
    run("agf_preprocess", "-A", "-f", "0.5", "trn.lvq", "a", "b")
    got = printed(run, "agf_preprocess", "-A", "-f", "0.5", "-1", "trn.lvq", "c")
    assert got == content("a") and content("c") == content("b")


def test_points_without_labels_through_pipes(data, monkeypatch, run):
    got = printed(run, "agf_preprocess", "-C", "-0", "-1", "-F", "2", stdin=content("trn.vec"))
    assert got == np.int32(1).tobytes() + data[0][:, 2].tobytes()


def test_labels_that_are_words_stay_words_or_become_numbers(run):
    write("w", "1\n1 pine\n2 birch\n3 pine\n")
    run("agf_preprocess", "-A", "-B", "w", "o")
    assert content("o") == b"1\n2.0 birch\n1.0 pine\n3.0 pine\n"
    run("agf_preprocess", "-A", "-U", "w", "o")
    assert content("o") == b"1\n1.0 1\n2.0 0\n3.0 1\n"


def test_both_letters_mean_libsvm_text_and_labels_may_be_negative(run):
    write("a", "-1 1:1 3:2\n+1 2:5\n")
    run("agf_preprocess", "-A", "-M", "a", "o")
    assert content("o") == b"-1 1:1 3:2\n1 2:5\n"
    run("agf_preprocess", "-M", "a", "o", "--", "1", "/", "-1")
    assert content("o") == b"1 1:1 3:2\n0 2:5\n"


def test_missing_features_have_their_value_and_zeros_are_written_out(run):
    write("a", "1 1:1 3:0\n2 2:5\n")
    run("agf_preprocess", "-M", "-E", "-9", "a", "o")
    assert content("o") == b"1 1:1 2:-9 3:0\n2 1:-9 2:5 3:-9\n"
    run("agf_preprocess", "-M", "-E", "-9", "o", "p")
    assert content("p") == content("o")


def test_no_header(run):
    write("a", "1 2 0\n3 4 1\n")
    run("agf_preprocess", "-A", "-H", "-B", "a", "o")
    assert content("o") == b"1.0 2.0 0\n3.0 4.0 1\n"
    run("agf_preprocess", "-A", "-H", "-C", "a", "o")
    assert content("o") == b"1.0 2.0 0.0\n3.0 4.0 1.0\n"


def test_sorted_by_class_after_the_shuffle_and_stable(run, data):
    x, y, _ = data
    run("agf_preprocess", "-B", "trn", "o")
    order = np.argsort(y, kind="stable")
    assert read_vec("o.vec").tobytes() == x[order].tobytes()
    assert read_cls("o.cls").tolist() == y[order].tolist()
    run("agf_preprocess", "-B", "-z", "trn", "p")
    assert read_cls("p.cls").tolist() == y[order].tolist()
    assert read_vec("p.vec").tobytes() != x[order].tobytes()


def test_ordinates(run, data):
    x, _, value = data
    order = np.argsort(value)
    run("agf_preprocess", "-L", "-B", "trn", "o")
    assert read_con("o.dat").tolist() == value[order].tolist() and not os.path.exists("o.cls")
    assert read_vec("o.vec").tobytes() == x[order].tobytes()
    for kind, name, read in (("lvq", "ord.lvq", read_lvq), ("svm", "ord.svm", read_svm)):
        run("agf_preprocess", {"lvq": "-A", "svm": "-M"}[kind], "-L", "-B", name, "o")
        assert read("o", InputFormat(kind, ordinates=True)).y.tolist() == value[order].tolist()
    write("bad", "1\n1 1.5\n1 1e999\n")
    run("agf_preprocess", "-A", "-L", "bad", "p", status=1)


def test_covariance(data, run):
    x = data[0].astype(float)
    before = sorted(os.listdir())
    want = np.cov(x, rowvar=False)
    text = "".join("".join("%12.6g " % v for v in row) + "\n" for row in want).encode()
    for words in (["trn"], ["trn", "out"], ["-z", "trn", "out"]):
        assert printed(run, "agf_preprocess", "-P", *words) == text
    got = printed(run, "agf_preprocess", "-P", "-F", "trn", "out", "2", "0")
    assert np.allclose(
        np.loadtxt(got.decode().splitlines()), want[np.ix_([2, 0], [2, 0])], rtol=1e-5
    )
    got = printed(run, "agf_preprocess", "-P", "-A", "-n", "trn.lvq")
    assert np.allclose(
        np.loadtxt(got.decode().splitlines()), np.corrcoef(x, rowvar=False), rtol=1e-5
    )
    assert sorted(os.listdir()) == before


def test_independent_split_has_every_row_once_and_repeats(run, data):
    x, y, _ = data
    run("agf_preprocess", "-R", "-f", "0.3", "trn", "a", "b")
    parts = np.concatenate([read_vec("a.vec"), read_vec("b.vec")])
    assert sorted(map(tuple, parts.tolist())) == sorted(map(tuple, x.tolist()))
    assert len(read_cls("b.cls")) not in (0, 40)
    first = content("b.vec")
    run("agf_preprocess", "-R", "-f", "0.3", "trn", "a", "b")
    assert content("b.vec") == first
    run("agf_preprocess", "-R", "-f", "0.3", "--seed", "2", "trn", "a", "b")
    assert content("b.vec") != first


def test_a_partition_of_many_sides(run, data):
    x, y, _ = data
    run("agf_preprocess", "trn", "o", "7", "/", "1", "/", "5")
    kept = np.flatnonzero(y != 3)
    assert read_vec("o.vec").tobytes() == x[kept].tobytes()
    assert read_cls("o.cls").tolist() == [{7: 0, 1: 1, 5: 2}[label] for label in y[kept].tolist()]


def kept(data, base):
    """The rows of the data that are in base.vec, in the order they have there."""
    where = {row.tobytes(): i for i, row in enumerate(data[0])}
    assert len(where) == len(data[0])
    return [where[row.tobytes()] for row in read_vec(f"{base}.vec")]


def test_rows_of_every_class_in_their_order(run, data):
    run("agf_preprocess", "--sample", "30", "trn", "o")
    rows = kept(data, "o")
    assert len(rows) == 30 and rows == sorted(rows)
    assert read_cls("o.cls").tolist() == data[1][rows].tolist()
    classes, size = np.unique(data[1], return_counts=True)
    share = np.array([np.count_nonzero(data[1][rows] == c) for c in classes])
    assert np.all(np.abs(share - 30 * size / size.sum()) < 1)
    run("agf_preprocess", "--sample", "30", "trn", "again")
    assert content("again.vec") == content("o.vec")
    run("agf_preprocess", "--sample", "30", "--seed", "2", "trn", "other")
    assert kept(data, "other") != rows
    run("agf_preprocess", "--sample", "30", "-z", "trn", "shuffled")
    assert kept(data, "shuffled") != rows and sorted(kept(data, "shuffled")) == rows


def test_rows_are_drawn_before_the_parts(run, data):
    run("agf_preprocess", "--sample", "30", "trn", "o")
    run("agf_preprocess", "--sample", "30", "--stratified", "-f", "0.3", "trn", "a", "b")
    run("agf_preprocess", "--stratified", "-f", "0.3", "o", "c", "d")
    assert content("a.vec") == content("c.vec") and content("b.vec") == content("d.vec")
    run("agf_preprocess", "--sample", "12", "--min-per-class", "5", "trn", "o", "1", "/", "3")
    assert sorted(read_cls("o.cls").tolist()) in (
        [0] * zeros + [1] * (12 - zeros) for zeros in range(5, 8)
    )


def test_rows_without_classes(run, data):
    run("agf_preprocess", "-C", "--sample", "17", "trn", "o")
    assert kept(data, "o") == sorted(kept(data, "o")) and len(kept(data, "o")) == 17
    run("agf_preprocess", "-L", "--sample", "17", "trn", "p")
    assert content("p.vec") == content("o.vec")
    assert (
        np.fromfile("p.dat", "<f4").tolist()
        == np.fromfile("trn.dat", "<f4")[kept(data, "o")].tolist()
    )


def test_more_rows_than_there_are(run, data):
    told = run("agf_preprocess", "--sample", "9999", "trn", "o").err
    assert f"trn has {len(data[0])} rows, fewer than 9999: all are kept" in told
    assert content("o.vec") == content("trn.vec") and content("o.cls") == content("trn.cls")
    assert "fewer" not in run("agf_preprocess", "--sample", str(len(data[0])), "trn", "p").err
    run("agf_preprocess", "--sample", "5", "--min-per-class", "3", "trn", "q", status=1).refused(
        "trn: 5 rows cannot hold 3 of each class"
    )


def test_a_partition_leaves_rejected_points_out(run, data):
    write_cls("trn.cls", np.where(data[1] == 7, -1, data[1]))
    run("agf_preprocess", "trn", "o", "1", "/", "3", "/", "5")
    assert len(read_cls("o.cls")) == np.count_nonzero(data[1] != 7)


@pytest.mark.parametrize(
    "words, text",
    [
        ("-0 out", "cannot go through a pipe"),
        ("-1 trn", "cannot go through a pipe"),
        ("-L -1 trn", "cannot go through a pipe"),
        ("-A -1 -n trn.lvq", "need --norm-file FILE"),
        ("-A -1 -d 2 trn.lvq", "-d needs the name"),
        ("-C -B trn o", "-B needs labels"),
        ("-L -U trn o", "-U needs classes"),
        ("-L trn o 1 / 3", "a partition needs classes"),
        ("-L -f 0.5 --stratified trn o t", "--stratified needs classes"),
        ("-C -f 0.5 --stratified trn o t", "--stratified needs labels"),
        ("-C -L trn o", "exclude each other"),
        ("-M -C trn.svm o", "begin with labels"),
        ("-H trn o", "-H needs -A"),
        ("-A -E 1 trn.lvq o", "-E needs -M"),
        ("-R trn o", "-R needs -f"),
        ("-R --stratified -f 0.5 trn o t", "exclude each other"),
        ("-P -f 0.5 trn o t", "exclude each other"),
        ("-P", "input and output"),
        ("--min-per-class 3 trn o", "needs --sample"),
        ("--sample 0 trn o", "1"),
        ("--sample 9 --min-per-class 3 -L trn o", "needs classes"),
        ("--sample 9 trn trn", "overwrite"),
        ("-A -0", "input and output"),
        ("trn o 1 / 3 / 1", "class 1 is on two sides"),
        ("trn o 1 / / 3", "empty"),
        ("trn o / 3", "empty"),
        ("-A -1 -f 0.5 trn.lvq -", "output and test cannot both be standard output"),
    ],
)
def test_what_agf_preprocess_refuses(run, words, text):
    refused(run, text, "agf_preprocess", *words.split())


# agf2ascii, lvq2agf, svm2agf


def test_ordinates_there_and_back(run):
    for option, command, text in (((), "lvq2agf", "ord.lvq"), (("-M",), "svm2agf", "ord.svm")):
        got = printed(run, "agf2ascii", "-L", *option, "trn")
        assert got == content(text)
        run(command, "-L", text, command)
        assert content(f"{command}.dat") == content("trn.dat")
        assert content(f"{command}.vec") == content("trn.vec")
        assert not os.path.exists(f"{command}.cls")


def test_text_in_a_file_of_its_own(run):
    for options in ([], ["-M"], ["-H", "-C"], ["-L"], ["-n"]):
        want = printed(run, "agf2ascii", *options, "trn")
        assert printed(run, "agf2ascii", *options, "trn", "out") == b""
        assert content("out") == want


def test_normalised_text_is_that_of_the_normalisation(data, run):
    got = printed(run, "agf2ascii", "-n", "trn")
    run("agf_preprocess", "-n", "trn", "o")
    write("got", got.decode())
    assert read_lvq("got").x.tobytes() == read_std("o.std").apply(data[0]).tobytes()


def test_points_by_base_and_by_file(data, run):
    want = printed(run, "agf2ascii", "-C", "trn")
    assert printed(run, "agf2ascii", "-C", "trn.vec") == want
    os.rename("trn.vec", "points")
    assert printed(run, "agf2ascii", "-C", "points") == want
    write_vec("points.vec", data[0] + 1)  # the name as it is comes first
    assert printed(run, "agf2ascii", "-C", "points") == want
    os.remove("points")
    os.mkdir("points")
    assert printed(run, "agf2ascii", "-C", "points") != want


def test_rejected_points_can_be_printed(run):
    write_vec("a.vec", np.ones((2, 1)))
    write_cls("a.cls", np.array([-1, 3]))
    assert printed(run, "agf2ascii", "a") == b"1\n1.0 -1\n1.0 3\n"


def test_one_operand_of_lvq2agf_is_the_base(run, monkeypatch):
    run("lvq2agf", "copy", stdin=content("trn.lvq"))
    run("lvq2agf", "-H", "-", "other", stdin=content("trn.lvq").split(b"\n", 1)[1])
    for name in ("copy", "other"):
        assert content(f"{name}.vec") == content("trn.vec")
        assert content(f"{name}.cls") == content("trn.cls")


def test_lvq2agf_without_operands(monkeypatch, run):
    assert printed(run, "lvq2agf", "-o", stdin=content("trn.lvq")) == content("trn.vec")
    run("agf2ascii", "-C", "trn", "points")
    assert printed(run, "lvq2agf", "-C", stdin=content("points")) == content("trn.vec")
    assert printed(run, "lvq2agf", "-C", "points", "-") == content("trn.vec")


def test_labels_omitted(run):
    run("lvq2agf", "-o", "trn.lvq", "o")
    assert content("o.vec") == content("trn.vec") and not os.path.exists("o.cls")
    write("w", "1\n1 -3\n")  # whatever the label is
    run("lvq2agf", "-o", "w", "o")
    write("w", "1\n1\n")
    run("lvq2agf", "-o", "w", "p", status=1)
    assert not os.path.exists("p.vec")


@pytest.mark.parametrize(
    "words, text",
    [
        ("lvq2agf -H", "expected the base name"),
        ("lvq2agf trn.lvq", "after 'trn.lvq'"),
        ("lvq2agf trn.lvq -", "cannot go through a pipe"),
        ("lvq2agf -C -o a b", "exclude"),
        ("lvq2agf -L -C a b", "exclude"),
        ("svm2agf -L -U a b", "-U and -L exclude"),
        ("svm2agf -L --names n a b", "-L and --names excl"),
        ("agf2ascii -L -C trn", "exclude"),
        ("agf2ascii -L --words trn", "exclude"),
        ("agf2ascii -M -C trn", "-M and -C exclude"),
    ],
)
def test_what_the_converters_refuse(run, words, text):
    refused(run, text, *words.split())


# float_to_class


@pytest.fixture
def values():
    Path("v").write_bytes(con_bytes(np.array([0.5, 1, 2, 3.25, 4, 99], np.float32)))


def test_values_and_range(values, run):
    assert printed(run, "float_to_class", "v") == b"0.5\n1\n2\n3.25\n4\n99\n"
    assert printed(run, "float_to_class", "-M", "v") == b"0.5\n99\n"
    assert printed(run, "float_to_class", "-M", "-T", "50", "v") == b"0.5\n4\n"
    Path("v").write_bytes(con_bytes(np.array([0.1], np.float32)))
    assert printed(run, "float_to_class", "v") == b"0.10000000149011612\n"


def test_thresholds_are_printed_and_can_be_given_again(values, run):
    got = printed(run, "float_to_class", "-q", "3", "v", "c", "0.5", "4")
    edges = got.decode().split()
    assert list(map(float, edges)) == np.linspace(0.5, 4, 4)[1:-1].tolist()
    assert read_cls("c").tolist() == [0, 0, 1, 2, 2, 2]
    assert printed(run, "float_to_class", "v", "d", *edges) == got
    assert content("d") == content("c")
    assert printed(run, "float_to_class", "-M", "v", "c", "2") == b"0.5\n99\n2\n"


def test_missing_values_do_not_stretch_the_range(values, run):
    got = printed(run, "float_to_class", "-T", "98", "-q", "2", "v", "c")
    assert got == b"2.25\n" and read_cls("c").tolist() == [0, 0, 0, 1, 1, 1]


def test_open_classes(values, run):
    got = printed(run, "float_to_class", "-o", "-q", "2", "v", "c", "1", "4")
    assert got == b"1\n2.5\n4\n"
    assert read_cls("c", negative=True).tolist() == [-1, 0, 0, 1, 1, -1]
    assert printed(run, "float_to_class", "-o", "v", "d", "1", "2.5", "4") == got
    assert content("c") == content("d")
    assert printed(run, "float_to_class", "-o", "-q", "2", "-T", "50", "v", "c")
    assert read_cls("c", negative=True).tolist() == [0, 0, 0, 1, 1, -1]
    printed(run, "float_to_class", "-o", "-q", "7", "-g", "v", "c")
    assert read_cls("c").min() == 0  # all inside: the ends are the values themselves


def test_break_down(values, run):
    assert printed(run, "float_to_class", "-Q", "v", "c", "1", "3.5", "3.75") == (
        b"Class break-down:\n 0 (< 1):  1\n 1 (1 - 3.5):  3\n 2 (3.5 - 3.75):  0\n 3 (> 3.75):  2\n"
    )
    assert printed(run, "float_to_class", "-Q", "-o", "v", "c", "1", "2.5", "3") == (
        b"Class break-down:\n-1 (< 1 3 <):  4\n 0 (1 - 2.5):  2\n 1 (2.5 - 3):  0\n"
    )
    assert printed(run, "float_to_class", "-Q", "v", "c", "1") == (
        b"Class break-down:\n 0 (< 1):  1\n 1 (> 1):  5\n"
    )


def test_names_of_classes_tell_their_limits(values, run):
    def names(*words):
        done = run("float_to_class", *words, "v", "c.cls")
        assert done.err.endswith(", their limits in c.names\n")
        return content("c.names").decode().split("\n")[:-1]

    assert names("-q", "3", "-T", "50") == [
        "0.5..1.6666667~0.75",
        "1.6666667..2.8333333~2",
        "2.8333333..4~3.625",
    ]
    Path("c.names").unlink()
    run("float_to_class", "v", "c.cls", "0", "1.5", "200")
    assert content("c.names") == b"..0\n0..1.5~0.75\n1.5..200~27.06\n200..\n"
    run("float_to_class", "-q", "2", "v", "c.cls", "0", "10")
    assert content("c.names") == b"0..5~2.15\n5..99~99\n"
    run("float_to_class", "-o", "v", "c.cls", "0", "50", "100")
    assert content("c.names") == b"0..50~2.15\n50..100~99\n"
    done = run("float_to_class", "-o", "v", "c.cls", "0", "50")  # a value is outside
    assert "c.names existed before" in done.err and done.err.endswith("in 1 classes\n")
    assert "limits" not in run("float_to_class", "v", "c", "2").err


@pytest.mark.parametrize(
    "words, text",
    [
        ("-q 3 v", "need the file of classes"),
        ("-Q v", "need the file of classes"),
        ("-o v c 1", "two thresholds or more"),
        ("-T nan v", "expected a number"),
        ("-q 2 v c 1", "expected min and max"),
    ],
)
def test_what_float_to_class_refuses(run, values, words, text):
    refused(run, text, "float_to_class", *words.split())


def test_every_value_missing(run, values):
    assert "v: every value is above 0" in run("float_to_class", "-M", "-T", "0", "v", status=1).err


def test_a_class_in_one_part_only_gives_a_warning(run):
    assert run("agf_preprocess", "--quiet", "-B", "trn", "sorted").err == ""
    told = run("agf_preprocess", "-f", "0.2", "sorted", "a", "b").err
    assert "part alone, class 7 is in the test part alone: --stratified takes the fraction" in told
    assert "alone" not in run("agf_preprocess", "--stratified", "-f", "0.2", "sorted", "a", "b").err
