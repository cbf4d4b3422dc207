"""multi_borders: models of all kinds, Platt's scaling, and classes that are too small."""

import math
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from agfmc.models.control_files import read_control
from agfmc.models.libsvm import read_svm_model
from agfmc.data.libagf import read_cls, read_std
from data_files import write_cls, write_svm, write_vec


@pytest.fixture
def here(folder):
    """A folder with trn.vec, trn.cls of classes 2, 5, 9, features of different units."""
    rng = np.random.default_rng(2)
    y = np.repeat([9, 2, 5], 25)
    x = rng.normal(size=(75, 3)) + np.where(y == 5, -1, 1.5 * (y == 9))[:, None]
    write_vec("trn.vec", x * [1, 100, 0.01] + [0, 7, 3])
    write_cls("trn.cls", y)
    (folder / "plan").write_text('"" 0 / 1; "-t 0" 0 / 2; "" 1 / 2; {2 5 9}')
    return folder


@pytest.fixture
def ok(here, run):
    """Function that runs a command; -> what it printed."""

    def call(command, *words, warning=None):
        _, out, err = run(command, *words)
        told = [
            line
            for line in err.splitlines()
            if ".cal: calibrated with " not in line
            and ": not calibrated, there is no " not in line
            and "the standard deviation of feature" not in line
        ]
        assert told == [] if warning is None else warning in err
        return out

    return call


@pytest.fixture
def refused(here, run):
    def call(status, *words):
        before = {path: path.stat().st_mtime_ns for path in here.iterdir()}
        err = run(*words, status=status).refused()
        assert {path: path.stat().st_mtime_ns for path in here.iterdir()} == before
        return err

    return call


def numbers(text, columns):
    return np.array([line.split()[:columns] for line in text.splitlines()], dtype=float)


# -- -u -----------------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("way", [["-n"], ["-S", "2"], ["-n", "-S", "2"]], ids=str)
def test_vectors_as_they_were(ok, refused, way):
    ok("multi_borders", "--uncalibrated", *way, "plan", "trn", "n", "nctl")
    ok("multi_borders", "--uncalibrated", *way, "-u", "plan", "trn", "u", "uctl")
    assert Path("u.std").read_bytes() == Path("n.std").read_bytes()
    x = np.fromfile("trn.vec", "<f4", offset=4).reshape(-1, 3)
    for i in range(3):
        raw, normal = (read_svm_model(f"{name}-0{i}") for name in "un")
        assert raw.rho == normal.rho and raw.coef.tolist() == normal.coef.tolist()
        known = {row.tobytes() for row in x.astype(float)}
        assert all(row.tobytes() in known for row in raw.sv)
        assert raw.provenance.vectors == "raw" and raw.features == 3
    wanted = ok("classify_m", "-a", "n.std", "nctl", "trn.vec", "n")
    for more in ([], ["-u"]):  # the models say so themselves
        assert ok("classify_m", *more, "-a", "u.std", "uctl", "trn.vec", "u") == wanted
        assert Path("u.con").read_bytes() == Path("n.con").read_bytes()
    ok("mbh2mbm", "--quiet", "-a", "u.std", "uctl", "u.mbm")
    assert ok("classify_m", "u.mbm", "trn.vec", "u") == wanted
    assert ok("classify_m", "uctl", "trn.vec", "u") == wanted  # it names the normalisation
    assert "not normalised, and the points were" in refused(
        1, "classify_m", "-a", "none", "uctl", "trn.vec", "x"
    )
    assert "holds its own" in refused(1, "classify_m", "-u", "-a", "u.std", "u.mbm", "trn.vec", "x")
    assert (
        ok("classify_m", "-u", "-a", "n.std", "nctl", "trn.vec", "x") != wanted
        if way == ["-n"]
        else "takes 3" in refused(1, "classify_m", "-u", "-a", "n.std", "nctl", "trn.vec", "x")
    )


def test_other_features_are_refused(ok, refused):
    ok("multi_borders", "--uncalibrated", "-S", "2", "-u", "plan", "trn", "u", "uctl")
    norm = read_std("u.std")
    assert norm.matrix.shape == (3, 2)
    write_vec("narrow.vec", np.zeros((2, 2)))
    assert "narrow.vec: has 2 features, the model needs 3" in refused(
        1, "classify_m", "-u", "-a", "u.std", "uctl", "narrow.vec", "x"
    )


# -- -c, -Z -------------------------------------------------------------------------------------

G = {
    0: np.tanh,
    1: np.vectorize(math.erf),
    2: lambda v: 2 / (1 + np.exp(-v)) - 1,
    3: lambda v: np.arctan(math.pi / 2 * v) * 2 / math.pi,
}


@pytest.mark.few(1)
@pytest.mark.parametrize("code", G)
def test_functions_of_the_decision_value(ok, code):
    ok("multi_borders", "--uncalibrated", "plan", "trn", "m", "ctl")
    ok("mbh2mbm", "--quiet", "ctl", "m.mbm")
    f = numbers(ok("classify_m", "-0", "ctl", "trn.vec", "x"), 3)
    models = [read_svm_model(f"m-0{i}") for i in range(3)]
    a, b = np.array([model.scale for model in models]).T
    for name in ("ctl", "m.mbm"):
        r = numbers(ok("classify_m", "-c", code, "-Q", "-1", name, "trn.vec", "x"), 3)
        np.testing.assert_allclose(r, G[code](a * f + b), rtol=0, atol=1e-5)
    plain = ok("classify_m", "ctl", "trn.vec", "x")
    assert (ok("classify_m", "-c", code, "ctl", "trn.vec", "x") == plain) is (code == 0)
    assert ok("classify_m", "-Z", "ctl", "trn.vec", "x") == plain
    assert ok("classify_m", "--libsvm", "-c", "0", "ctl", "trn.vec", "x") == plain


@pytest.mark.few(1)
@pytest.mark.parametrize("labels", ["label 0 1", "label 1 0"])
def test_models_without_probabilities(run, ok, refused, here, labels):
    ok("multi_borders", "--uncalibrated", "plan", "trn", "m", "ctl")
    with_p = [Path(f"m-0{i}").read_text() for i in range(3)]
    for i, text in enumerate(with_p):  # the other orientation tells the same of the other side
        text = "\n".join(line for line in text.split("\n") if not line.startswith(("prob", "#")))
        swap = "label 1 0" if "label 0 1" in text else "label 0 1"
        (here / f"m-0{i}").write_text(
            text
            if labels in text
            else text.replace("label 0 1" if swap == "label 1 0" else "label 1 0", swap)
        )
    warning = "holds no probabilities"
    f = numbers(ok("classify_m", "-0", "ctl", "trn.vec", "x", warning=warning), 3)
    sign = np.array([read_svm_model(f"m-0{i}").orientation for i in range(3)])
    assert set(sign.tolist()) == {1 if labels == "label 1 0" else -1}
    run("classify_m", "ctl", "trn.vec", "x", status=1)
    for code, g in G.items():
        r = numbers(
            ok("classify_m", "-c", code, "-Q", "-1", "ctl", "trn.vec", "x", warning=warning), 3
        )
        np.testing.assert_allclose(r, g(sign * f), rtol=0, atol=2e-6)
        p = numbers(ok("classify_m", "-c", code, "ctl", "trn.vec", "x", warning=warning), 4)
        np.testing.assert_allclose(p[:, :3].sum(axis=1), 1, atol=3e-6)
        assert p[:, 3].tolist() == np.fromfile("x.cls", "<i4").tolist()


# -- direct classifiers from the command line ---------------------------------------------------


def test_direct_classifiers(ok, refused, here):
    (here / "plan").write_text('"-k 5" K { 9 "" L { 2 5 } }')
    ok("multi_borders", "-n", "plan", "trn", "d", "dctl")
    assert (
        Path("dctl").read_text() == "# normalisation: d.std\n"
        'd K "-k 5"\n{\n  9\n  d.01 L ""\n  {\n    2\n    5\n  }\n}\n'
    )
    assert {path.name for path in here.glob("d*")} == {
        "d.vec",
        "d.cls",
        "d.01",
        "d.std",
        "dctl",
        "dctl.cal",
    }
    full = ok("classify_m", "--tree", "full", "-a", "d.std", "dctl", "trn.vec", "x")
    assert np.mean(np.fromfile("x.cls", "<i4") == np.fromfile("trn.cls", "<i4")) > 0.7
    ok("mbh2mbm", "--quiet", "-a", "d.std", "dctl", "d.mbm")
    assert ok("classify_m", "--tree", "full", "d.mbm", "trn.vec", "y") == full
    assert (
        ok("classify_m", "-j2", "--header", "--tree", "full", "d.mbm", "trn.vec", "y")
        == "labels 2 5 9\n" + full
    )
    assert ok("classify_m", "d.mbm", "trn.vec", "y") == ""
    assert Path("x.cls").read_bytes() == Path("y.cls").read_bytes()
    assert "a column for each binary classifier, and this configuration has none" in refused(
        2, "classify_m", "-0", "d.mbm", "trn.vec", "z"
    )
    for form in ("-Z", "--libsvm"):
        assert "dctl:2:1: a classifier of code K has no place" in refused(
            1, "mbh2mbm", form, "dctl", "z"
        )
    assert "code K is not binary" in refused(1, "print_control", "-Q", "9", "dctl")


def test_direct_classifiers_as_separate_commands(ok, here):
    (here / "plan").write_text('"" 0 / 1; { "-k 5" K { 9 2 } 5 }')
    ok("multi_borders", "-n", "plan", "trn", "a", "actl")
    lines = ok("multi_borders", "-0", "-n", "plan", "trn", "b", "bctl").splitlines()
    assert len(lines) == 2 and not (here / "b.00.vec").exists()
    import shlex

    for line in reversed(lines):
        words = shlex.split(line)
        ok(
            "multi_borders",
            *words[words.index("multi_borders" if "multi_borders" in words else words[0]) + 1 :],
        )
    for end in ("-00", ".00.vec", ".00.cls", ".std", "ctl"):
        one, other = (Path(f"{name}{end}").read_bytes() for name in "ab")
        assert one.replace(b"a-0", b"b-0").replace(b"a.", b"b.") == other, end


def test_names_below_a_folder(ok, refused, here):
    (here / "models").mkdir()
    ok("multi_borders", "-y", "models", "plan", "trn", "m", "ctl")
    assert {path.name for path in (here / "models").iterdir()} == {"m-00", "m-01", "m-02"}
    text = ok("print_control", "-Q", "9", "-y", "models", "ctl")
    (here / "placed").write_text(text)
    assert [row.text for row in read_control("placed").rows] == [f"models/m-0{i}" for i in range(3)]
    wanted = ok("classify_m", "-y", "models", "ctl", "trn.vec", "x")
    assert ok("classify_m", "--calibration", "ctl.cal", "placed", "trn.vec", "x") == wanted
    assert "ctl:1:1: model 'm-00'" in refused(1, "classify_m", "ctl", "trn.vec", "y")
    (here / "plan").write_text('"-k 5" K { 9 "" { 2 5 } }')
    ok("multi_borders", "-y", "models", "plan", "trn", "k", "kctl")
    assert (here / "models" / "k.vec").exists() and "models" not in Path("kctl").read_text()
    ok("classify_m", "-y", "models", "kctl", "trn.vec", "y")


@pytest.fixture
def trio(folder):
    y = np.repeat([0, 1, 2], 40)
    write_vec("trn.vec", np.random.default_rng(1).normal(size=(120, 3)) + y[:, None])
    write_cls("trn.cls", y)
    (folder / "plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}', encoding="ascii")
    return folder


def models(trio, name):
    return [(trio / f"{name}-{i:02d}").read_bytes() for i in range(3)]


def test_one_fit(run, trio):
    run("multi_borders", "--uncalibrated", "--platt", "loo", "plan", "trn", "one", "one.mbc")
    run("multi_borders", "--uncalibrated", "--platt", "cv", "plan", "trn", "six", "six.mbc")
    run("multi_borders", "--uncalibrated", "plan", "trn", "default", "default.mbc")
    assert all(b'"platt loo", "seed": 1' in model for model in models(trio, "one"))
    assert models(trio, "one") == models(trio, "default")
    assert all(b'"folds 5", "seed": 1' in model for model in models(trio, "six"))


def test_the_commands_carry_the_options(trio, run):
    words = "--platt=loo", "--log=json"
    done = run("multi_borders", *words, "-0", "plan", "trn", "m", "m.mbc")
    for line in done.out.splitlines():
        name, *printed = shlex.split(line)
        assert name == "multi_borders"  # pytest is the program that runs: it is not named
        assert set(words) <= set(printed)
        run("multi_borders", *printed)
    run("multi_borders", "--platt=loo", "plan", "trn", "w", "w.mbc")
    assert models(trio, "m") == models(trio, "w")


@pytest.mark.parametrize("size", ["0", "32"])
def test_memory_changes_nothing(run, trio, monkeypatch, size):
    words = ("multi_borders", "--uncalibrated", "--platt", "cv", "-j", 2, "plan", "trn")
    run(*words, "free", "free.mbc")
    monkeypatch.setenv("AGFMC_KERNEL_MEMORY", size)
    run(*words, "set", "set.mbc")
    assert models(trio, "free") == models(trio, "set")


def test_memory_that_is_no_number(run, trio, monkeypatch):
    monkeypatch.setenv("AGFMC_KERNEL_MEMORY", "2G")
    run("multi_borders", "plan", "trn", "m", "m.mbc", status=2).refused(
        "AGFMC_KERNEL_MEMORY: expected a whole number of MiB, found '2G'"
    )


@pytest.mark.parametrize(
    "words, told",
    [
        (("--platt", "other"), "--platt"),
        (("--kernel-memory", "9"), "there is no option --kernel-memory any more: free memory"),
        (("--platt", "loo", "-+", "-s 1"), "platt loo is for C-SVC only"),
        (("--platt", "loo", "--command", "svm-train"), "-- COMMAND and --platt exclude each other"),
    ],
)
def test_what_does_not_go(words, told, run, trio):
    run("multi_borders", *words, "plan", "trn", "m", "m.mbc", status=2).refused(told)


@pytest.fixture
def rare(folder):
    """Data of six classes as `rare`, and as `clean` without class 2, of 1 row, and 9, of 3."""
    rng = np.random.default_rng(5)
    y = np.concatenate([rng.permutation(np.repeat([0, 1, 3, 4], 12)), [9, 2, 9, 9]])
    y = y[rng.permutation(len(y))].astype(np.int32)
    x = (rng.normal(size=(len(y), 3)) + np.stack([y, y % 3, y % 2], 1)).astype(np.float32)
    x[np.isin(y, (2, 9))] += 50  # which a normalisation would show
    large = ~np.isin(y, (2, 9))
    for name, rows in (("rare", slice(None)), ("clean", large)):
        write_vec(f"{name}.vec", x[rows])
        write_cls(f"{name}.cls", y[rows])
        write_svm(f"{name}.svm", x[rows], y[rows])
    return folder


def files(*left_out):
    return {
        name: Path(name).read_bytes()
        for name in os.listdir(".")
        if name.startswith("m") and name not in left_out
    }


@pytest.fixture
def trained_rare(run, rare):
    """Function: the files of a training run, which go."""

    def trained_rare(*words):
        run("multi_borders", *words, "m", "m.mbc")
        found = files()
        for name in found:
            os.remove(name)
        return found

    return trained_rare


@pytest.mark.parametrize(
    "scheme",
    [
        "one-vs-one",
        "one-vs-rest",
        "adjacent",
        "exhaustive",
        "tree",
        "orthogonal",
        "random",
        "empirical",
        "adjacent-ordered",
    ],
)
def test_designs_are_those_of_data_without_them(scheme, run, rare):
    got = run("print_control", "-Q", scheme, "--min-class", 4, "rare").out
    assert got == run("print_control", "-Q", scheme, "clean").out
    assert got == run("print_control", "-Q", scheme, "--min-class", 4, "-M", "rare.svm").out


def test_one_warning_names_the_classes_left_out(run, rare):
    done = run("print_control", "--min-class", 4, "rare")
    assert done.err == (
        "print_control: warning: 2 of 6 classes have fewer than 4 samples and are left out: "
        "2 (1), 9 (3); 4 of 52 samples\n"
    )
    run("print_control", "--min-class", 4, "clean")
    assert run("print_control", "--min-class", 4, "--quiet", "rare").err == ""


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest", "adjacent"])
@pytest.mark.parametrize("options", [["-n"], ["-S", "2"], ["-M"], ["--platt", "loo", "-j", "2"]])
def test_training_is_that_of_data_without_them(scheme, options, run, trained_rare, rare):
    end = ".svm" if "-M" in options else ""
    for name in ("rare", "clean"):
        Path(f"{name}.mbt").write_text(run("print_control", "-Q", scheme, name).out)
    wanted = trained_rare(*options, "clean.mbt", f"clean{end}")
    assert trained_rare(*options, "--min-class", 4, "clean.mbt", f"rare{end}") == wanted
    assert trained_rare(*options, "--min-class", 4, "rare.mbt", f"rare{end}") == wanted
    told = run("multi_borders", *options, "--min-class", 4, "rare.mbt", f"rare{end}", "m", "c").err
    size, left = {"one-vs-one": (15, 6), "one-vs-rest": (6, 4), "adjacent": (5, 3)}[scheme]
    assert f"rare.mbt: {left} of {size} classifiers remain without classes 2, 9\n" in told


def test_of_nested_controls_what_is_left_is_trained(rare, trained_rare):
    """Rows with zeros, a node that is replaced by its branch, a multi-class node, no samples."""
    for nested, left in (
        (
            '"-c 2" 0 1 / 2; "-c 3" 0 / 1; "." 0 / 2; { "" 0 / 1; {9 0} "-t 0" { "-c 4" {1 2} '
            '"" {4 7} } 3 }',
            '"-c 2" 0 1 / 2; "-c 3" 0 / 1; "-c 3" 0 / 2; { 0 "-t 0" {1 4} 3 }',
        ),
        ('"" L { 0 2 "-k 3" K {1 9 3} 4 }', '"" L { 0 "-k 3" K {1 3} 4 }'),
        ('"" { 9 "" L { 0 "" { 2 "" {1 3} } 4 } }', '"" L { 0 "" {1 3} 4 }'),
    ):
        (rare / "nested").write_text(nested)
        (rare / "left").write_text(left)
        wanted = trained_rare("left", "clean")
        assert trained_rare("--min-class", 4, "nested", "rare") == wanted


def test_answers_never_name_them(rare, run):
    (rare / "plan").write_text(run("print_control", "rare").out)
    run("multi_borders", "--min-class", 4, "plan", "rare", "m", "m.mbc")
    (rare / "p.txt").write_text(run("classify_m", "--header", "m.mbc", "rare.vec", "ans").out)
    assert not np.isin(read_cls("ans.cls"), (2, 9)).any()
    assert run("classify_m", "--header", "m.mbc", "clean.vec", "a2").out.startswith(
        "labels 0 1 3 4\n"
    )
    right = np.mean(read_cls("ans.cls") == read_cls("rare.cls"))
    assert re.search(f"\naccuracy +{right:.4f} ", run("eval_uc", "rare.cls", "ans").out)
    done = run("eval_uc", "rare.cls", "ans", "p.txt", status=1)
    assert "without p.txt, and such points count as wrong" in done.err


def test_class_names_stay(rare, run):
    words = np.array("ash bay cat doe elk f g h i yew".split())
    x, y = np.fromfile("rare.vec", "<f4")[1:].reshape(-1, 3), read_cls("rare.cls")
    write_svm("words.svm", x, y, names=tuple(words))
    design = run("print_control", "-M", "--min-class", 4, "words.svm").out
    (rare / "plan").write_text(design)
    assert "doe" in design and "cat" not in design and "yew" not in design
    done = run("multi_borders", "-M", "--min-class", 4, "plan", "words.svm", "m", "m.mbc")
    assert "2 'cat' (1), 5 'yew' (3)" in done.err


def test_printed_commands_and_resume(rare, run, trained_rare):
    (rare / "plan").write_text(run("print_control", "rare").out)
    wanted = trained_rare("-n", "plan", "--min-class", 4, "rare")
    lines = run(
        "multi_borders", "-0", "-n", "--min-class", 4, "plan", "rare", "m", "m.mbc"
    ).out.splitlines()
    assert len(lines) == 6
    for line in lines:
        words = shlex.split(line)
        at = next(i for i, word in enumerate(words) if word.startswith("--only="))
        assert "--min-class=4" in words
        run("multi_borders", *words[at:])
    assert files() == {name: raw for name, raw in wanted.items() if name != "m.mbc.cal"}
    os.remove("m-03")
    done = run("multi_borders", "-n", "--min-class", 4, "plan", "rare", "m", "m.mbc")
    assert "kept from an earlier run: 5 of 6" in done.err
    assert files() == wanted
    run("multi_borders", "--min-class", 4, "--only", "m-06", "plan", "rare", "m", "m.mbc", status=2)


def test_orders_are_those_of_data_without_them(rare, run):
    for name in ("rare", "clean"):
        (rare / name).write_text(run("print_control", "-Q", "adjacent", name).out)
        (rare / f"{name}1").write_text(run("print_control", name).out)
    assert (
        run("order_classes", "--adjacent", "mean-deviation", "--min-class", 4, "rare", "rare").out
        == run("order_classes", "--adjacent", "mean-deviation", "clean", "clean").out
    )
    assert (
        run("order_classes", "--min-class", 4, "rare1", "rare").out
        == run("order_classes", "clean1", "clean").out
    )


@pytest.mark.parametrize(
    "words, told",
    [
        (
            ["compare_control", "rare", "one-vs-one"],
            "class 2, of 1 sample, has 1 in the training part of trial 1: expected at least 2; "
            "--min-class 2 leaves out the classes with fewer than 2 samples",
        ),
        (["nfold", "-d", "4", "one-vs-one", "rare"], "class 2, of 1 sample, has "),
        (
            ["nfold", "-d", "2", "one-vs-one", "--min-class", "2", "rare"],
            "class 9, of 3 samples, has 1 in the training part of trial 1, part 1: expected at least "
            "2; --min-class 4 leaves out the classes with fewer than 4 samples",
        ),
        (
            ["tune_m", "one-vs-one", "rare"],
            "class 2 has one sample in the data: expected at least 2, or --min-class 2",
        ),
        (
            ["multi_borders", "plan", "rare", "m", "m.mbc"],
            "class 2 has one sample in rare: "
            "expected at least 2, or --min-class 2, which leaves out the classes with fewer than 2",
        ),
        (
            ["multi_borders", "clean", "rare", "m", "m.mbc"],
            "which the control file does not name; "
            "--min-class 4 leaves out the classes with fewer than 4 samples",
        ),
    ],
)
def test_messages_recommend_min_class(words, told, rare, run):
    (rare / "plan").write_text(run("print_control", "rare").out)
    (rare / "clean").write_text(run("print_control", "clean").out)
    assert told in run(*words, status=1).err.splitlines()[-1]


@pytest.mark.parametrize(
    "words, status, told",
    [
        (["print_control", "--min-class", "13", "rare"], 1, "no classes of 6 would be left"),
        (
            ["multi_borders", "--min-class", "13", "plan", "rare", "m", "m.mbc"],
            1,
            "no classes of 6",
        ),
        (
            ["multi_borders", "--min-class", "4", "two", "rare", "m", "m.mbc"],
            1,
            "two: names fewer than two of the classes",
        ),
        (
            ["multi_borders", "--min-class", "4", "zeros", "rare", "m", "m.mbc"],
            1,
            "zeros:1:1: without the classes that are left out, a branch of this coding matrix is in "
            "no partition: print_control, with the same --min-class, writes one for the classes "
            "that are left",
        ),
        (["print_control", "--min-class", "4", "10"], 2, "counts"),
        (["print_control", "-Q", "convert", "--min-class", "4", "plan"], 2, "counts"),
        (["order_classes", "--min-class", "4", "plan"], 2, "--min-class needs train"),
        (["multi_borders", "--min-class", "0", "plan", "rare", "m", "m.mbc"], 2, "out of range"),
    ],
)
def test_what_is_refused(words, status, told, rare, run):
    (rare / "plan").write_text(run("print_control", "rare").out)
    (rare / "two").write_text('"" 0/1; "" 1/2; "" 0/2; {2 9 1}')
    (rare / "zeros").write_text('"" 0/1; "" 0/2; "" 0/3; "" 0/4; {2 0 1 3 4}')
    assert told in run(*words, status=status).err
