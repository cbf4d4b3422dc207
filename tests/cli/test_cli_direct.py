"""Options of multi_borders, classify_m and print_control that go with models of all kinds."""

import math
from pathlib import Path

import numpy as np
import pytest

from agfmc.formats.controlfile import read_control
from agfmc.formats.libsvm_model import read_svm_model
from agfmc.formats.vectors import read_std, write_cls, write_vec


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
        assert err == "" if warning is None else warning in err
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

@pytest.mark.parametrize("way", [["-n"], ["-S", "2"], ["-n", "-S", "2"]], ids=str)
def test_vectors_as_they_were(ok, refused, way):
    ok("multi_borders", *way, "plan", "trn", "n", "nctl")
    ok("multi_borders", *way, "-u", "plan", "trn", "u", "uctl")
    assert Path("u.std").read_bytes() == Path("n.std").read_bytes()
    x = np.fromfile("trn.vec", "<f4", offset=4).reshape(-1, 3)
    for i in range(3):
        raw, normal = (read_svm_model(f"{name}-0{i}") for name in "un")
        assert raw.rho == normal.rho and raw.coef.tolist() == normal.coef.tolist()
        known = {row.tobytes() for row in x.astype(float)}
        assert all(row.tobytes() in known for row in raw.sv)
        assert raw.provenance.raw_vectors and raw.features == 3
    wanted = ok("classify_m", "-a", "n.std", "nctl", "trn.vec", "n")
    for more in ([], ["-u"]):  # the models say so themselves
        assert ok("classify_m", *more, "-a", "u.std", "uctl", "trn.vec", "u") == wanted
        assert Path("u.con").read_bytes() == Path("n.con").read_bytes()
    ok("mbh2mbm", "--quiet", "-a", "u.std", "uctl", "u.mbm")
    assert ok("classify_m", "u.mbm", "trn.vec", "u") == wanted
    assert "not normalised, and the points were" in refused(1, "classify_m", "uctl", "trn.vec", "x")
    assert "holds its own" in refused(1, "classify_m", "-u", "-a", "u.std", "u.mbm", "trn.vec", "x")
    assert ok("classify_m", "-u", "-a", "n.std", "nctl", "trn.vec", "x") != wanted \
        if way == ["-n"] else "takes 3" in refused(1, "classify_m", "-u", "-a", "n.std", "nctl",
                                                   "trn.vec", "x")


def test_other_features_are_refused(ok, refused):
    ok("multi_borders", "-S", "2", "-u", "plan", "trn", "u", "uctl")
    norm = read_std("u.std")
    assert norm.matrix.shape == (3, 2)
    write_vec("narrow.vec", np.zeros((2, 2)))
    assert "narrow.vec: has 2 features, the model needs 3" in refused(
        1, "classify_m", "-u", "-a", "u.std", "uctl", "narrow.vec", "x")


# -- -c, -Z -------------------------------------------------------------------------------------

G = {0: np.tanh, 1: np.vectorize(math.erf), 2: lambda v: 2 / (1 + np.exp(-v)) - 1,
     3: lambda v: np.arctan(math.pi / 2 * v) * 2 / math.pi}


@pytest.mark.parametrize("code", G)
def test_functions_of_the_decision_value(ok, code):
    ok("multi_borders", "plan", "trn", "m", "ctl")
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


@pytest.mark.parametrize("labels", ["label 0 1", "label 1 0"])
def test_models_without_probabilities(run, ok, refused, here, labels):
    ok("multi_borders", "plan", "trn", "m", "ctl")
    with_p = [Path(f"m-0{i}").read_text() for i in range(3)]
    for i, text in enumerate(with_p):  # the other orientation tells the same of the other side
        text = "\n".join(line for line in text.split("\n") if not line.startswith(("prob", "#")))
        swap = "label 1 0" if "label 0 1" in text else "label 0 1"
        (here / f"m-0{i}").write_text(text if labels in text else text.replace(
            "label 0 1" if swap == "label 1 0" else "label 1 0", swap))
    warning = "holds no probabilities"
    f = numbers(ok("classify_m", "-0", "ctl", "trn.vec", "x", warning=warning), 3)
    sign = np.array([read_svm_model(f"m-0{i}").orientation for i in range(3)])
    assert set(sign.tolist()) == {1 if labels == "label 1 0" else -1}
    run("classify_m", "ctl", "trn.vec", "x", status=1)
    for code, g in G.items():
        r = numbers(ok("classify_m", "-c", code, "-Q", "-1", "ctl", "trn.vec", "x",
                       warning=warning), 3)
        np.testing.assert_allclose(r, g(sign * f), rtol=0, atol=2e-6)
        p = numbers(ok("classify_m", "-c", code, "ctl", "trn.vec", "x", warning=warning), 4)
        np.testing.assert_allclose(p[:, :3].sum(axis=1), 1, atol=3e-6)
        assert p[:, 3].tolist() == np.fromfile("x.cls", "<i4").tolist()


# -- multi-class nodes from the command line ---------------------------------------------------

def test_direct_classifiers(ok, refused, here):
    (here / "plan").write_text('"-k 5" K { 9 "" L { 2 5 } }')
    ok("multi_borders", "-n", "plan", "trn", "d", "dctl")
    assert Path("dctl").read_text() == \
        'd K "-k 5"\n{\n  9\n  d.01 L ""\n  {\n    2\n    5\n  }\n}\n'
    assert {path.name for path in here.glob("d*")} == {"d.vec", "d.cls", "d.01", "d.std", "dctl"}
    full = ok("classify_m", "--tree", "full", "-a", "d.std", "dctl", "trn.vec", "x")
    assert np.mean(np.fromfile("x.cls", "<i4") == np.fromfile("trn.cls", "<i4")) > 0.7
    ok("mbh2mbm", "--quiet", "-a", "d.std", "dctl", "d.mbm")
    assert ok("classify_m", "--tree", "full", "d.mbm", "trn.vec", "y") == full
    assert ok("classify_m", "-j2", "--header", "--tree", "full", "d.mbm", "trn.vec", "y") == \
        "labels 2 5 9\n" + full
    assert ok("classify_m", "d.mbm", "trn.vec", "y") == ""
    assert Path("x.cls").read_bytes() == Path("y.cls").read_bytes()
    assert "a column for each binary classifier, and this configuration has none" in refused(
        2, "classify_m", "-0", "d.mbm", "trn.vec", "z")
    for form in ("-Z", "--libsvm"):
        assert "dctl:1:1: a classifier of code K has no place" in refused(
            1, "mbh2mbm", form, "dctl", "z")
    assert "code K is not binary" in refused(1, "print_control", "-Q", "9", "dctl")


def test_direct_classifiers_as_separate_commands(ok, here):
    (here / "plan").write_text('"" 0 / 1; { "-k 5" K { 9 2 } 5 }')
    ok("multi_borders", "-n", "plan", "trn", "a", "actl")
    lines = ok("multi_borders", "-0", "-n", "plan", "trn", "b", "bctl").splitlines()
    assert len(lines) == 2 and not (here / "b.00.vec").exists()
    import shlex
    for line in reversed(lines):
        words = shlex.split(line)
        ok("multi_borders", *words[words.index("multi_borders" if "multi_borders" in words else
                                               words[0]) + 1:])
    for end in ("-00", ".00.vec", ".00.cls", ".std", "ctl"):
        one, other = (Path(f"{name}{end}").read_bytes() for name in "ab")
        assert one.replace(b"a-0", b"b-0").replace(b"a.0", b"b.0") == other, end


def test_names_below_a_folder(ok, refused, here):
    (here / "models").mkdir()
    ok("multi_borders", "-y", "models", "plan", "trn", "m", "ctl")
    assert {path.name for path in (here / "models").iterdir()} == {"m-00", "m-01", "m-02"}
    text = ok("print_control", "-Q", "9", "-y", "models", "ctl")
    (here / "placed").write_text(text)
    assert [row.text for row in read_control("placed").rows] == [f"models/m-0{i}" for i in range(3)]
    wanted = ok("classify_m", "-y", "models", "ctl", "trn.vec", "x")
    assert ok("classify_m", "placed", "trn.vec", "x") == wanted
    assert "ctl:1:1: model 'm-00'" in refused(1, "classify_m", "ctl", "trn.vec", "y")
    (here / "plan").write_text('"-k 5" K { 9 "" { 2 5 } }')
    ok("multi_borders", "-y", "models", "plan", "trn", "k", "kctl")
    assert (here / "models" / "k.vec").exists() and "models" not in Path("kctl").read_text()
    ok("classify_m", "-y", "models", "kctl", "trn.vec", "y")
