"""Weights of samples and classes on command lines: files, tables, splits, and mistakes."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest

from agfmc.data.training import load_training
from agfmc.data.reading import read_training
from agfmc.data.libagf import read_cls, read_vec
from agfmc.data.weights import read_weights
from agfmc.data.types import InputFormat
from agfmc.core.weights import WeightSource
from data_files import write_cls, write_vec

N = 60


@pytest.fixture(autouse=True)
def data(folder):
    """60 points of 3 classes, a weight for each: t.vec, t.cls, w.txt, u.* with u.wgt, t.csv."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, N)
    x = (rng.normal(size=(N, 2)) + y[:, None]).astype(np.float32)
    w = rng.integers(0, 5, N) / 4
    for base in ("t", "u"):
        write_vec(f"{base}.vec", x)
        write_cls(f"{base}.cls", y)
    Path("w.txt").write_text("".join(f"{one!r}  # kg\n" for one in w.tolist()))
    Path("u.wgt").write_bytes(w.astype("<f4").tobytes())
    lines = [
        f"{a!r},{b!r},{one!r},k{label}\n"
        for (a, b), one, label in zip(x.tolist(), w.tolist(), y.tolist())
    ]
    Path("t.csv").write_text("a,b,w,class\n" + "".join(lines))
    return x, y, w


def weighted(base):
    """{the bytes of a point: its weight} of binary data."""
    x = read_vec(f"{base}.vec")
    return dict(zip([row.tobytes() for row in x], read_weights(f"{base}.wgt", len(x)).tolist()))


def test_weights_go_with_their_rows(run, data):
    whole = weighted("u")
    for options, names, rows in (
        (["-z"], ["a"], N),
        (["-B"], ["a"], N),
        (["--sample", "30"], ["a"], 30),
        (["-z", "-f", ".3"], ["a", "b"], N),
        (["--stratified", "-f", ".3"], ["a", "b"], N),
        (["-d", "3"], ["a-00", "a-01", "a-02"], N),
    ):
        for old in Path().glob("[ab]*.*"):
            old.unlink()
        run("agf_preprocess", *options, "u", "a", *["b"] * (len(names) == 2))
        parts = [weighted(name) for name in names]
        assert sum(map(len, parts)) == rows
        assert all(whole[point] == one for part in parts for point, one in part.items())
    x, y, w = data
    run("agf_preprocess", "u", "p", "2", "/", "0")
    assert (read_weights("p.wgt") == w[y != 1]).all()
    assert (read_cls("p.cls") == (y[y != 1] == 0)).all()
    done = run("agf_preprocess", "-F", "-U", "u", "q", "1")
    assert "the samples of u have the weights in u.wgt" in done.err
    assert (read_weights("q.wgt") == w).all()
    run("agf_preprocess", "--weight", "none", "u", "r")
    run("agf_preprocess", "t", "s")
    assert not Path("r.wgt").exists() and not Path("s.wgt").exists()


def test_weights_of_text_lie_beside_it(run, data):
    x, y, w = data
    Path("t.svm").write_text(
        "".join(f"{label} 1:{a!r} 2:{b!r}\n" for label, (a, b) in zip(y.tolist(), x.tolist()))
    )
    Path("third.txt").write_text("".join(f"{one!r}\n" for one in (w / 3).tolist()))
    run("agf_preprocess", "-M", "--weight", "third.txt", "-f", ".5", "t.svm", "a.svm", "b.svm")
    assert (np.concatenate([read_weights(f"{name}.svm.weights") for name in "ab"]) == w / 3).all()
    form = InputFormat("svm", weights=WeightSource("b.svm.weights"))
    assert (read_training("b.svm", form).weights.w == w[30:] / 3).all()
    done = run("agf_preprocess", "-M", "--weight", "w.txt", "-1", "t.svm", status=2)
    done.refused("points go to standard output, and their weights would have no file")
    done = run("agf2ascii", "-M", "u", "u.svm")
    done.line("the weights in u.wgt are not in the text", "--weight u.wgt")


def test_old_weights_of_other_points_are_removed(run):
    Path("a.wgt").write_bytes(b"\0" * 8)
    assert "a.wgt existed before, and is removed" in run("agf_preprocess", "t", "a").err
    assert not Path("a.wgt").exists()
    Path("a.wgt").write_bytes(b"\0" * 8)
    assert "a.wgt existed before, and is removed" in run("table2agf", "t.csv", "a").err
    assert not Path("a.wgt").exists()
    run("table2agf", "t.csv", "a", "--weight", "w")
    assert weighted("a") == weighted("u")


def test_all_formats_have_the_same_weights(run, data):
    x, y, w = data
    Path("t.tsv").write_text(Path("t.csv").read_text().replace(",", "\t"))
    Path("w").write_text("1\n" * N)  # the column goes before a file of the same name
    run("agf_preprocess", "t.csv", "c", "--weight", "w")
    Path("w").unlink()
    run("agf_preprocess", "t.tsv", "v", "--weight", "3")
    assert weighted("c") == weighted("v") == weighted("u")
    assert not Path("c.recipe").read_text() == ""
    run("agf_preprocess", "t.csv", "f", "--ignore", "w", "--weight", "w.txt")
    assert weighted("f") == weighted("u")
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    parquet.write_table(csv.read_csv("t.csv"), "t.parquet")
    assert pyarrow
    run("agf_preprocess", "t.parquet", "q", "--weight", "w")
    assert weighted("q") == weighted("u")
    assert Path("q.vec").read_bytes() == Path("c.vec").read_bytes()


def test_a_table_and_its_files_give_the_same_models(run):
    """Weights of a column are held in single precision, as the file of them is."""
    Path("t.csv").write_text(Path("t.csv").read_text().replace("0.5,k", "0.69,k"))
    run("table2agf", "--weight", "w", "t.csv", "b")
    Path("code").write_text('"-c 2" 0 / 1; "-c 2" 0 / 2; "-c 2" 1 / 2; {0 1 2}')
    run("multi_borders", "-a", "none", "--weight", "w", "code", "t.csv", "m", "m.mbc")
    models = [Path(f"m-0{i}").read_bytes() for i in range(3)]
    run("multi_borders", "--retrain", "code", "b", "m", "m.mbc")
    assert models == [Path(f"m-0{i}").read_bytes() for i in range(3)]
    Path("t.csv").write_text(Path("t.csv").read_text().replace("0.69,k", "1e60,k"))
    run("multi_borders", "--weight", "w", "code", "t.csv", "m", "m.mbc", status=1).refused(
        '"1e60" is no weight: expected a number'
    )


def test_rows_of_tables_keep_the_column(run):
    run("agf_preprocess", "-f", ".5", "t.csv", "a.csv", "b.csv")
    lines = [line for name in "ab" for line in Path(f"{name}.csv").read_text().splitlines()[1:]]
    assert lines == Path("t.csv").read_text().splitlines()[1:]


def loaded(base, **source):
    data, _, _ = load_training(base, InputFormat(weights=WeightSource(**source)))
    return data


def test_what_training_is_given(data):
    x, y, w = data
    with pytest.warns(match="the samples of u have the weights in u.wgt"):
        found = loaded("u")
    assert (found.weights.w == w[w > 0]).all() and (found.x == x[w > 0]).all()
    with pytest.warns(match=f"{(w == 0).sum()} of 60 samples have weight 0 and are left out"):
        assert (loaded("t", file="w.txt").weights.w == w[w > 0]).all()
    assert loaded("u", file="none").weights is None
    ones = Path("ones")
    ones.write_text("1\n" * N)
    assert loaded("t", file="ones").weights is None
    found = loaded("t", file="ones", classes={1: 2.5})
    assert (found.weights.w == np.where(y == 1, 2.5, 1)).all()
    assert found.weights.factors == {0: 1, 1: 2.5, 2: 1}
    assert (found.weights.seen(found.y) == 1).all()
    found = loaded("u", classes="balanced")
    sums = [found.weights.w[found.y == label].sum() for label in range(3)]
    assert np.allclose(sums, w.sum() / 3, rtol=1e-12)


def test_min_class_counts_samples_that_are_left(data):
    x, y, w = data
    w = np.where(y == 2, 0.0, 1.0)
    w[np.flatnonzero(y == 1)[2:]] = 0
    Path("few").write_text("".join(f"{one}\n" for one in w))
    form = InputFormat(weights=WeightSource("few"))
    with pytest.warns(match="1 of 3 classes has fewer than 2 samples and is left out: 2 .0."):
        found, _, _ = load_training("t", form, min_class=2)
    assert set(found.y.tolist()) == {0, 1} and found.weights is None
    with pytest.raises(Exception, match="would be left by `min_class=3`"):
        load_training("t", form, min_class=3)


NFOLD = ["nfold", "-f", ".3", "--trials", "1", "--no-state", "one-vs-one"]
CSV = ["agf_preprocess", "t.csv", "new"]


def change(path, old, new, count=1):
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new, count))


def first_line(text):
    """Put this in the place of the first weight."""
    return lambda: Path("w.txt").write_text("\n".join([text, *["1"] * (N - 1)]))


MISTAKES = [
    (NFOLD + ["t", "--weight", "absent"], None, 1, "absent: cannot read"),
    (NFOLD + ["t", "--weight", ""], None, 2, "--weight: expected the name of a column or"),
    (
        NFOLD + ["t", "--weight", "-", "--class-weight", "-"],
        None,
        2,
        "cannot both be standard input",
    ),
    (
        NFOLD + ["t", "--weight", "w.txt"],
        first_line("1\n1"),
        1,
        "w.txt: has 61 weights, but there are 60 points",
    ),
    (
        NFOLD + ["t", "--weight", "w.txt"],
        first_line(""),
        1,
        "w.txt: has 59 weights, but there are 60 points",
    ),
    (NFOLD + ["t", "--weight", "w.txt"], first_line("-1"), 1, "w.txt:1: expected one weight in"),
    (NFOLD + ["t", "--weight", "w.txt"], first_line("nan"), 1, "w.txt:1: expected one weight in"),
    (NFOLD + ["t", "--weight", "w.txt"], first_line("1 2"), 1, "found '1 2'"),
    (
        NFOLD + ["t", "--weight", "w.txt"],
        lambda: Path("w.txt").write_text("#\n"),
        1,
        "w.txt: has no weights",
    ),
    (
        NFOLD + ["t", "--weight", "w.gz"],
        lambda: Path("w.gz").write_bytes(gzip.compress(Path("w.txt").read_bytes() + b"-1\n")[:-9]),
        1,
        "w.gz: is damaged, or not complete: Compressed file ended before",
    ),
    (
        NFOLD + ["u"],
        lambda: Path("u.wgt").write_bytes(bytes(4 * N + 4)),
        1,
        "u.wgt: has 61 weights, but there are 60 points",
    ),
    (
        NFOLD + ["u"],
        lambda: Path("u.wgt").write_bytes(bytes(4 * N + 3)),
        1,
        "u.wgt: is damaged: 243 bytes are not whole weights of 4 bytes",
    ),
    (
        NFOLD + ["u"],
        lambda: Path("u.wgt").write_text("1\n" * N),
        1,
        "u.wgt: looks like text, expected binary weights",
    ),
    (
        NFOLD + ["u"],
        lambda: Path("u.wgt").write_bytes(np.array([1, np.nan] * 30, "<f4").tobytes()),
        1,
        "u.wgt: row 2 has the weight nan",
    ),
    (
        NFOLD + ["t", "--class-weight", "3=2"],
        None,
        1,
        "t: class weights: there is no class '3': expected some of 0, 1, 2",
    ),
    (NFOLD + ["t", "--class-weight", "oak=2"], None, 1, "there is no class 'oak'"),
    (NFOLD + ["t", "--class-weight", "1=2,1=3"], None, 2, "class 1 is named twice"),
    (NFOLD + ["t", "--class-weight", "1=0"], None, 2, "class 1: expected a weight above 0"),
    (NFOLD + ["t", "--class-weight", "1=x"], None, 2, "expected a number, found 'x'"),
    (NFOLD + ["t", "--class-weight", "=2"], None, 2, "expected label=w or name=w, found '=2'"),
    (NFOLD + ["t", "--class-weight", "1=2,"], None, 2, "a name is empty in '1=2,'"),
    (NFOLD + ["t", "--class-weight", ""], None, 2, "expected balanced, label=w,..."),
    (
        NFOLD + ["t", "--class-weight", "balance"],
        None,
        1,
        "--class-weight: expected balanced, label=w,... or name=w,... of some classes",
    ),
    (NFOLD + ["t", "--class-weight", "k1:2"], None, 1, "there is no file 'k1:2'"),
    (NFOLD + ["t.csv", "--class-weight", "k=2"], None, 1, "some of 'k0', 'k1', 'k2'"),
    (CSV + ["-w", "w"], None, 2, "arguments: -w"),
    (["eval_uc", "t", "-w", "w"], None, 2, "arguments: -w"),
    (
        ["eval_uc", "t.cls", "t", "--class-weight", "1=1e300"],
        None,
        1,
        "the weights of samples and classes are not all from 1e-100 to 1e+100",
    ),
    (
        NFOLD + ["t", "--class-weight", "c"],
        lambda: Path("c").write_text("0 1\noak 2\n"),
        1,
        "nfold: c:2: class weights: there is no class 'oak': expected some of 0, 1, 2",
    ),
    (
        ["eval_uc", "t.cls", "t", "--class-weight", "c"],
        lambda: Path("c").write_text("7 1\n"),
        1,
        "eval_uc: c:1: class weights: there is no class '7'",
    ),
    (NFOLD + ["t", "--weight", "w"], None, 1, "w: cannot read"),
    (NFOLD + ["t", "-n", "-a", "none"], None, 2, "-n and -a none exclude each other"),
    (
        CSV + ["--weight", "v"],
        None,
        1,
        "t.csv: --weight: there is no column 'v'; the columns are 'a', 'b', 'w', 'class'; "
        "there is no file of that name either",
    ),
    (CSV + ["--weight", "a"], None, 1, "is no weight: expected a number of 0 or more"),
    (CSV + ["--weight", "class"], None, 1, "column 'class' cannot be for the label and for --w"),
    (
        ["agf_preprocess", "t.csv", "new.csv", "-z", "--weight", "w"],
        None,
        2,
        "--weight is for points",
    ),
    (
        ["agf_preprocess", "t", "w", "--weight", "w.wgt"],
        lambda: shutil.copy("u.wgt", "w.wgt"),
        2,
        "output would overwrite --weight: ",
    ),
    (["multi_borders", "-0", "pairs", "t", "m", "c", "--weight", "-"], None, 2, "with -0"),
    (
        ["multi_borders", "pairs", "t", "m", "c", "--class-weight", "1=2", "--", "true"],
        None,
        2,
        "does not heed the weights of samples: expected the word @weights",
    ),
    (
        ["multi_borders", "-", "t", "m", "c", "--class-weight", "-"],
        None,
        2,
        "control and --class-weight cannot both be standard input",
    ),
    (["multi_borders", "t", "m", "c", "--weight", "-"], None, 2, "--weight and control cannot"),
    (["agf_train", "t", "m.mbm", "--weight", "-"], None, 2, "the weights are read several times"),
    (["calibrate_m", "--from", "x", "--weight", "w.txt", "m.c"], None, 2, "--weight needs --d"),
    (
        ["print_control", "-Q", "one-vs-one", "4", "--class-weight", "balanced"],
        None,
        2,
        "--class-weight is for the samples of training data",
    ),
    (["order_classes", "pairs", "--weight", "w.txt"], None, 2, "--weight needs train"),
]


@pytest.mark.parametrize(
    "words, before, status, message",
    MISTAKES,
    ids=[message or "folder" for *_, message in MISTAKES],
)
def test_mistakes_are_one_line_and_nothing_is_written(run, words, before, status, message):
    Path("pairs").write_text('"" 0 / 1;\n"" 0 / 2;\n"" 1 / 2;\n{0 1 2}\n')
    if before is not None:
        before()
    there = sorted(Path().iterdir())
    run(*words, status=status).refused(message)
    assert sorted(Path().iterdir()) == there


@pytest.mark.parametrize(
    "factor, told", [(1 / 60, "takes these for few"), (1.0, ""), (1500.0, "takes these for many")]
)
def test_weights_that_are_no_numbers_of_samples(run, data, factor, told):
    Path("x.txt").write_text("\n".join(repr(one * factor) for one in (data[2] + 0.5).tolist()))
    Path("code").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    err = run(
        "multi_borders", "-+", "learner=logistic", "--weight", "x.txt", "code", "t", "m", "m.mbc"
    ).err
    assert ("divide them by their mean" in err) == bool(told) and told in err
