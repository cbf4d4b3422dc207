"""Multi-class nodes through training, files and classification: the same answers everywhere."""

import hashlib
import json
import struct
import sys
from dataclasses import replace
from shlex import join
from pathlib import Path

import numpy as np
import pytest

from agfmc.core.provenance import Provenance
from agfmc.core.version import __version__
from agfmc.data.normalisation import Normalisation
from agfmc.data.types import InputFormat
from agfmc.prediction.decoding import Decoding
from agfmc.models.description import class_sums
from agfmc.control.parse import parse
from agfmc.learners.logistic import fit_logistic, logistic_probabilities, read_logistic_model
from agfmc.learners.protocol import for_weights, NodeProblem, plan_jobs, samples
from agfmc.core.splits import rows_by_class
from agfmc.learners.neighbours import Neighbours
from agfmc.core.errors import ControlError, DataError, JobsFailed, ModelError, UsageError
from agfmc.learners.programs import Command
from agfmc.models.files import export, load, save
from agfmc.training.fit import TrainingSettings
from agfmc.training.plan import Output, plan
from agfmc.training.request import PointsRequest
from agfmc.prediction.classifier import Classifier
from agfmc.training.run import train, write_node
from agfmc.models.control_files import write_control
from agfmc.models.mbm import read_store, write_store
from agfmc.data.libagf import read_cls, read_std, read_vec
from agfmc.core.weights import Weights
from data_files import write_cls, write_vec

LABELS = np.array([3, 1, 8, 5, 40, 11])
NESTED = (
    '"" 0 / 1; "-c 2" 1 / 2; "" 0 / 2; {\n  "-k 5" K {3 1}\n  8\n  "" L { 5 "-k 3" K {40 11} } }'
)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """trn.vec, trn.cls of six classes in a folder of its own; -> (x, y)."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    y = LABELS[np.r_[0:6, rng.integers(0, 6, 144)]]
    x = rng.normal(size=(150, 4)) + 1.5 * np.random.default_rng(1).normal(size=(41, 4))[y]
    write_vec("trn.vec", x)
    write_cls("trn.cls", y)
    return read_vec("trn.vec"), y


def planned(text, **settings):
    points = PointsRequest("trn", InputFormat(), TrainingSettings(**settings))
    return plan(parse(text, "plan"), points, Output("m"))


def trained(text, **settings):
    """The whole way of multi_borders: control text `text` to the control file `ctl`."""
    work = planned(text, **settings)
    assert train(work).errors == ()
    write_control("ctl", work.tree)
    return work


def answers(path, x, mode="full", normalisation=None, **more):
    configuration = load(path, normalisation, **more)
    return Classifier(configuration, Decoding(tree=mode))(x)


def same(one, other):
    for part in ("classes", "confidence", "columns"):
        a, b = getattr(one, part), getattr(other, part)
        assert (a is None and b is None) or a.tobytes() == b.tobytes()


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "text",
    [
        '"-k 7" K {3 1 8 5 40 11}',
        '"" L {3 1 8 5 40 11}',
        NESTED,
        '"" L { "" K {1 3} "" {8 "" {5 "-r 2" L {40 11}}} }',
    ],
)
@pytest.mark.parametrize("scale", [False, True])
def test_the_same_from_every_file(data, text, scale):
    x, _ = data
    trained(text, scale=scale)
    normalisation = read_std("m.std") if scale else None
    configuration = load("ctl", normalisation)
    save("all.mbm", configuration)
    for mode in ("full", "path", "recursive"):
        one = answers("ctl", x, mode, normalisation)
        same(one, Classifier(configuration, Decoding(tree=mode))(x))
        same(one, answers("all.mbm", x, mode))
        assert set(one.classes.tolist()) <= set(LABELS.tolist())
    again = load("all.mbm")
    save("again.mbm", again)
    assert Path("again.mbm").read_bytes() == Path("all.mbm").read_bytes()
    full = answers("all.mbm", x)
    np.testing.assert_allclose(full.columns.sum(axis=1), 1, atol=1e-12)


def test_k_nearest_neighbours_by_hand(data):
    x, y = data
    trained('"-k 7" K {3 1 8 5 40 11}')
    branch = {label: i for i, label in enumerate(LABELS.tolist())}
    y = np.array([branch[label] for label in y.tolist()])
    assert read_cls("m.cls").tolist() == y.tolist() and read_vec("m.vec").tobytes() == x.tobytes()
    square = np.square(x[:20, None].astype(float) - x[None].astype(float)).sum(axis=2)
    near = y[np.argsort(square, axis=1, kind="stable")[:, :7]]
    p = np.stack([(near == i).mean(axis=1) for i in range(6)], axis=1)
    found = answers("ctl", x[:20])
    np.testing.assert_allclose(found.columns, p[:, np.argsort(LABELS)], atol=1e-15)
    best = found.columns.argmax(axis=1)
    assert (found.columns.max(axis=1) == found.columns[np.arange(20), best]).all()
    assert found.classes.tolist() == [LABELS[row.argmax()] for row in p]


def test_products_along_a_nested_configuration(data):
    x, y = data
    work = trained(NESTED)
    assert [job.name for job in work.binary] == ["m-00", "m-01", "m-02"]
    assert {number: (job.name, job.files) for number, job in zip((1, 2, 3), work.nodes)} == {
        1: ("m.00", ["m.00.vec", "m.00.cls"]),
        2: ("m.02", ["m.02"]),
        3: ("m.02.01", ["m.02.01.vec", "m.02.01.cls"]),
    }
    outer_text = "m-00 0 / 1; m-01 1 / 2; m-02 0 / 2; {0 1 2}"
    with open("outer", "w") as file:
        file.write(outer_text)
    outer = answers("outer", x).columns

    def neighbours(labels, k):
        rows = np.isin(y, labels)
        return Neighbours(x[rows], (y[rows] == labels[1]).astype(int), 2, k).probabilities(x)

    rows = np.isin(y, [5, 40, 11])
    logistic = logistic_probabilities(fit_logistic(x[rows], (y[rows] != 5).astype(int), 2, 1.0), x)
    first, last = neighbours([3, 1], 5), neighbours([40, 11], 3)
    expected = {
        3: outer[:, 0] * first[:, 0],
        1: outer[:, 0] * first[:, 1],
        8: outer[:, 1],
        5: outer[:, 2] * logistic[:, 0],
        40: outer[:, 2] * logistic[:, 1] * last[:, 0],
        11: outer[:, 2] * logistic[:, 1] * last[:, 1],
    }
    full = answers("ctl", x)
    np.testing.assert_allclose(
        full.columns, np.stack([expected[k] for k in sorted(expected)], 1), rtol=0, atol=1e-14
    )
    path = answers("ctl", x, "path")
    branch = outer.argmax(axis=1)
    at_first = branch == 0
    assert (
        path.classes[at_first].tolist()
        == np.where(first[:, 0] >= first[:, 1], 3, 1)[at_first].tolist()
    )
    np.testing.assert_allclose(
        path.columns[:, 0],
        full.columns[np.arange(len(x)), np.searchsorted(np.sort(LABELS), path.classes)],
        atol=1e-14,
    )
    assert np.mean(full.classes == y) > 0.7


def test_points_one_by_one_are_points_together(data):
    x, _ = data
    trained(NESTED)
    classifier = Classifier(load("ctl"), Decoding(tree="full"))
    together = classifier(x)
    alone = [classifier(x[i : i + 1]) for i in range(0, 150, 10)]
    assert (
        np.concatenate([part.columns for part in alone]).tobytes()
        == np.ascontiguousarray(together.columns[::10]).tobytes()
    )


def test_logistic_file_tells_what_made_it(data):
    trained('"-r 0.25" L {3 1 8 5 40 11}')
    made = Provenance(
        __version__,
        options="-r 0.25",
        samples=(19, 33, 20, 29, 22, 27),
        classes="3/1/8/5/40/11",
    )
    assert read_logistic_model("m").provenance == made
    trained('"-r 0.25" L {3 1 8 5 40 11}', scale=True)
    digest = read_std("m.std").digest()
    assert read_logistic_model("m").provenance == replace(made, normalised=digest)
    other = Normalisation(read_std("m.std").matrix, read_std("m.std").mean + 1)
    with pytest.raises(ModelError, match="another normalisation"):
        load("ctl", other)
    configuration = load("ctl", read_std("m.std"))
    assert configuration.machines.sv.shape == (0, 4)
    with pytest.raises(ModelError, match="`unnormalised` is for support vectors"):
        load("ctl", read_std("m.std"), unnormalised=True)
    narrow = Normalisation(other.matrix[:, :3], other.mean)
    with pytest.raises(ModelError):
        load("ctl", narrow)


@pytest.mark.parametrize(
    "text, kind, place, words",
    [
        ('"" { "-k 0" K {3 1 8} "" L {5 40 11}}', ControlError, (1, 6), "-k: 0 is out of range"),
        ('"" { "" K {3 1 8}\n"-c 5" L {5 40 11}}', ControlError, (2, 1), "unknown training option"),
        ('"" L {3 1 8 "-r 1 -k 2" K {5 40 11}}', ControlError, (1, 13), "'-r'"),
        ('"" L {3 1 8 "" G {5 40 11}}', ControlError, (1, 13), "expected a command in the quotes"),
    ],
)
def test_options_are_checked_before_anything(data, tmp_path, text, kind, place, words):
    before = sorted(tmp_path.iterdir())
    with pytest.raises(kind) as caught:
        planned(text)
    assert words in str(caught.value) and caught.value.status == 1
    assert (caught.value.file, caught.value.line, caught.value.column) == ("plan", *place)
    assert sorted(tmp_path.iterdir()) == before


def test_more_neighbours_than_points(data, tmp_path):
    work = planned('"-k 151" K {3 1 8 5 40 11}')
    with pytest.raises(
        JobsFailed,
        match=r"^plan:1:1: 'm': 151 nearest neighbours need as many "
        "samples, there are 150",
    ):
        train(work)
    assert not list(tmp_path.glob("m*")) and not list(tmp_path.glob(".agfmc*"))
    trained('"-k 150" K {3 1 8 5 40 11}')
    with open("ctl") as file:
        text = file.read()
    with open("ctl", "w") as file:
        file.write(text.replace("150", "151"))
    with pytest.raises(ModelError, match=r"^m\.vec: has 150 points, fewer than 151"):
        load("ctl")


def test_files_that_do_not_fit(data):
    x, y = data
    trained(NESTED)
    labels = read_cls("m.00.cls")

    def refused(kind, words):
        with pytest.raises(kind) as caught:
            load("ctl")
        assert words in str(caught.value), str(caught.value)

    for wrong, kind, words in (
        (
            np.where(labels == 1, 2, 0),
            ModelError,
            "m.00.cls: holds class 2, and the classifier has 2 branches",
        ),
        (labels - 1, DataError, "m.00.cls: row"),
        (labels[:-1], DataError, "m.00.cls: has"),
    ):
        wrong.astype("<i4").tofile("m.00.cls")
        refused(kind, words)
    write_cls("m.00.cls", labels)
    points = read_vec("m.00.vec")
    write_vec("m.00.vec", points[:, :3])
    refused(ModelError, "was trained on")
    bad = points.copy()
    bad[0, 0] = np.nan
    with open("m.00.vec", "wb") as file:
        file.write(np.int32(4).tobytes() + bad.tobytes())
    refused(DataError, "m.00.vec: feature 0 (from 0) of row 1")
    write_vec("m.00.vec", points)
    load("ctl")
    text = Path("m.02").read_text()
    for wrong, words in (
        (text.replace("classes 2", "classes 3"), "m.02:"),
        (Path("m-00").read_text(), "m.02:1: expected 'agfmc logistic 1'"),
        (text[:-40], "m.02:"),
    ):
        with open("m.02", "w") as file:
            file.write(wrong)
        refused(ModelError, words)


@pytest.mark.parametrize(
    "trained_as, control, words",
    [
        (
            '"" L {3 1 8 5 40 11}',
            'm L "" {3 1 8}',
            "m: is a model of 6 classes, and the classifier has 3",
        ),
        (
            '"-k 3" K {3 1 8 5 40 11}',
            '\n m K "-k x" {3 1 8 5 40 11}',
            "ctl:2:2: option -k: expected a whole number",
        ),
    ],
)
def test_control_files_of_other_models(data, trained_as, control, words):
    trained(trained_as)
    with open("ctl", "w") as file:
        file.write(control)
    with pytest.raises(ModelError, match=f"^{words}"):
        load("ctl")


def test_raw_values_need_binary_classifiers(data):
    x, _ = data
    trained('"" K {3 1 8 5 40 11}')
    for more in ({"raw": True}, {"method": "-1"}):
        with pytest.raises(UsageError, match="this configuration has none"):
            Classifier(load("ctl"), Decoding(**more))
    trained(NESTED)
    raw = Classifier(load("ctl"), Decoding(raw=True))(x)
    assert raw.columns.shape == (150, 3)
    assert raw.classes.tolist() == answers("ctl", x, "path").classes.tolist()


def test_another_width_is_refused(data):
    x, _ = data
    for text in ('"" K {3 1 8 5 40 11}', '"" L {3 1 8 5 40 11}', NESTED):
        trained(text)
        for wrong in (x[:, :3], np.hstack([x, x])):
            with pytest.raises(DataError):
                answers("ctl", wrong)


def test_no_place_in_other_formats(data):
    trained(NESTED)
    for form in ("ascii", "svm"):
        with pytest.raises(ModelError, match="a classifier of code K has no place"):
            export("out", load("ctl"), form)


# -- code G -------------------------------------------------------------------------------------


def test_training_of_a_command_is_writing_its_points(data):
    x, y = data
    trained('"svm-predict -b 1" G {3 1 8 5 40 11}')
    with open("m") as file:
        lines = [line.split() for line in file]
    assert [LABELS[int(words[0])] for words in lines] == y.tolist()
    assert [float(word.split(":")[1]) for word in lines[0][1:]] == x[0].astype(float).tolist()
    (job,) = plan_jobs(parse('"c" G {3 1 8 5 40 11}'), "n", "", 1)
    write_node(
        job,
        NodeProblem(x, samples(job, rows_by_class(y)), text="lvq"),
        ["n"],
        convert=Command("sed s/^/x/"),
    )
    with open("n") as file:
        assert file.readline() == "x4\n"
        assert file.readline().split()[-1] == str(LABELS.tolist().index(y[0]))


def test_a_command_is_not_run_unless_allowed(data):
    trained('"touch pwned" G {3 1 8 5 40 11}')
    with pytest.raises(
        ModelError,
        match=r"^ctl:1:1: the command 'touch pwned' would be run here: "
        "allow it with `allow_commands`",
    ):
        Classifier(load("ctl"))


def test_a_command_is_never_stored(data, unchecked, tmp_path):
    trained('"" { "touch pwned" G {3 1 8} "" L {5 40 11} }')
    configuration = load("ctl")
    for write in (lambda: save("x.mbm", configuration), lambda: export("x", configuration, "svm")):
        with pytest.raises(ModelError, match="code G has no place"):
            write()
    assert not list(tmp_path.glob("x*")) and not (tmp_path / "pwned").exists()
    # nor read, where somebody wrote it
    kept = {
        number: one for number, one in configuration.node_classifiers.items() if one.code != "G"
    }
    write_store("evil.mbm", replace(configuration, node_classifiers=kept), {})
    with pytest.raises(ModelError, match="not those of the control text"):
        load("evil.mbm")


@pytest.mark.parametrize("text", ['"PY" G {3 1 8 5 40 11}', '"" { "PY" G {3 1 8} "" L {5 40 11} }'])
def test_answers_of_a_command(data, tmp_path, text):
    x, _ = data
    (tmp_path / "say.py").write_text("""
import sys
n = len(open(sys.argv[1]).readlines())
k = len({line.split()[0] for line in open(sys.argv[2])})
with open(sys.argv[3], "w") as out:
    print("labels", *reversed(range(k)), file=out)
    for i in range(n):
        p = [0.25 / (k - 1)] * k
        p[k - 1 - i % k] = 0.75
        print(i % k, *p, file=out)
""")
    trained(text.replace("PY", join([sys.executable, "say.py"])))
    configuration = load("ctl")
    found = Classifier(configuration, Decoding(tree="full", allow_commands=True))(x)
    np.testing.assert_allclose(found.columns.sum(axis=1), 1, atol=1e-12)
    if "L" not in text:
        assert found.classes.tolist() == LABELS[np.arange(150) % 6].tolist()
        np.testing.assert_allclose(found.confidence, (6 * 0.75 - 1) / 5, atol=1e-6)
        with pytest.raises(ModelError, match="code G"):
            save("x.mbm", configuration)
    path = Classifier(configuration, Decoding(tree="path", allow_commands=True))(x)
    assert path.classes.shape == (150,)


# -- damage -------------------------------------------------------------------------------------

START = struct.Struct("<8sIIQQ32s")


def changed(raw, change):
    """The bytes of a .mbm with a header that `change` altered, and a checksum that agrees."""
    _, _, _, length, _, _ = START.unpack_from(raw)
    header = json.loads(raw[64 : 64 + length])
    change(header)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    rest = raw[64 + length :]
    start = START.pack(raw[:8], 1, 2, len(text), 64 + len(text) + len(rest), bytes(32))[:32]
    return start + hashlib.sha256(start + text + rest).digest() + text + rest


def entry(number, field, value):
    return lambda h: h["node_classifiers"][number].__setitem__(field, value)


def shape(number, part, *value):
    return lambda h: h["node_classifiers"][number][part].update(shape=list(value))


def nodes(change):
    return lambda h: change(h["node_classifiers"])


LIES = {
    "no list": lambda h: h.update(node_classifiers=None),
    "a word": lambda h: h.update(node_classifiers="K"),
    "an object": lambda h: h.update(node_classifiers={}),
    "missing": lambda h: h.pop("node_classifiers"),
    "empty": lambda h: h.update(node_classifiers=[]),
    "one less": nodes(lambda some: some.pop()),
    "one more": nodes(lambda some: some.append(some[0])),
    "swapped": nodes(lambda some: some.insert(0, some.pop(1))),
    "entry null": nodes(lambda some: some.__setitem__(0, None)),
    "entry short": nodes(lambda some: some[0].pop("branches")),
    "entry long": nodes(lambda some: some[0].update(more=1)),
    "code G": entry(0, "code", "G"),
    "code L": entry(0, "code", "L"),
    "code a list": entry(0, "code", ["K"]),
    "name a number": entry(0, "name", 5),
    "branches a word": entry(0, "branches", "2"),
    "branches 1": entry(0, "branches", 1),
    "branches 0": entry(0, "branches", 0),
    "branches huge": entry(0, "branches", 2**70),
    "branches true": entry(0, "branches", True),
    "branches 3": entry(0, "branches", 3),
    "branches of L": entry(1, "branches", 3),
    "k 0": entry(0, "k", 0),
    "k negative": entry(0, "k", -1),
    "k huge": entry(0, "k", 10**9),
    "k a fraction": entry(0, "k", 1.5),
    "settings null": entry(0, "provenance", None),
    "points gone": nodes(lambda some: some[0].update(points=None)),
    "points narrow": shape(0, "points", 10, 3),
    "points empty": shape(0, "points", 0, 4),
    "no labels": shape(0, "y", 0),
    "few labels": shape(0, "y", 1),
    "weights flat": shape(1, "weights", 0, 0),
    "weights few": shape(1, "weights", 1, 5),
    "weights narrow": shape(1, "weights", 2, 4),
    "weights huge": shape(1, "weights", 2**40, 5),
    "labels are weights": nodes(
        lambda some: some[0]["y"].update(offset=some[1]["weights"]["offset"])
    ),
    "other control text": lambda h: h.update(control='m K "" {3 1}'),
    "control with a command": lambda h: h.update(
        control=h["control"].replace(' K "-k 5"', ' G "touch pwned"')
    ),
    "control with more branches": lambda h: h.update(
        control=h["control"].replace("    3\n", "    3\n    77\n")
    ),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("stored")
        patch.chdir(folder)
        rng = np.random.default_rng(3)
        y = LABELS[np.r_[0:6, rng.integers(0, 6, 144)]]
        write_vec("trn.vec", rng.normal(size=(150, 4)) + y[:, None])
        write_cls("trn.cls", y)
        trained(NESTED)
        save("all.mbm", load("ctl"))
        return (folder / "all.mbm").read_bytes()


@pytest.mark.parametrize("lie", LIES)
def test_damaged_entries(stored, tmp_path, monkeypatch, lie):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.mbm").write_bytes(changed(stored, lambda h: None))
    load("a.mbm")
    (tmp_path / "a.mbm").write_bytes(changed(stored, LIES[lie]))
    with pytest.raises(ModelError, match=r"^a\.mbm: "):
        load("a.mbm")
    assert not (tmp_path / "pwned").exists()


def test_numbers_that_are_not_finite(stored, unchecked, tmp_path):
    given = read_store("x", stored)
    for number, part in ((0, "points"), (1, "weights")):
        for value in (np.nan, np.inf):
            array = np.array(getattr(list(given.node_classifiers.values())[number], part))
            array[-1, -1] = value
            lying = dict(given.node_classifiers)
            node = list(lying)[number]
            lying[node] = replace(lying[node], **{part: array})
            write_store(str(tmp_path / "b.mbm"), replace(given, node_classifiers=lying), {})
            with pytest.raises(ModelError, match="not finite"):
                read_store(str(tmp_path / "b.mbm"))


def weighted(text, w, factors=()):
    """The whole way of multi_borders with weights w (n,), class weights {label: factor} in them."""
    work = planned(text)
    work = replace(
        work,
        jobs=for_weights(work.jobs),
        data=replace(work.data, weights=Weights(w, dict(factors))),
    )
    assert train(work).errors == ()
    write_control("ctl", work.tree)


def test_weights_of_neighbours_and_what_they_leave_behind(data, tmp_path):
    x, y = data
    w = np.random.default_rng(5).integers(1, 4, len(y)).astype(float)
    text = '"learner=logistic" 0 / 1; {\n  "-k 5" K {3 1 8}\n  "-r 2" L { 5 40 11 } }'
    weighted(text, w)
    save("w.mbm", load("ctl"))
    raw = (tmp_path / "w.mbm").read_bytes()
    assert START.unpack_from(raw)[1:3] == (1, 3)
    same(answers("ctl", x), answers("w.mbm", x))
    sums = {int(label): w[y == label].sum() for label in sorted(LABELS)}
    assert class_sums(load("w.mbm")) == pytest.approx(sums)
    for lie in (
        shape(0, "w", 5),
        shape(0, "w", 2, 2),
        nodes(lambda some: some[1].update(w=some[0]["w"])),
    ):
        (tmp_path / "lie.mbm").write_bytes(changed(raw, lie))
        with pytest.raises(ModelError, match=r"^lie\.mbm: "):
            load("lie.mbm")
    weighted(text, np.where(y == 1, 2.0 * w, w), {1: 2.0})
    assert class_sums(load("ctl"))[1] == pytest.approx(2 * sums[1])
    with pytest.raises(ModelError, match="do not record the number"):
        class_sums(load("ctl"), seen=True)
    trained(text)  # without weights
    assert not list(tmp_path.glob("*.wgt"))
    save("plain.mbm", load("ctl"))
    assert class_sums(load("ctl"))[1] == np.count_nonzero(y == 1)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, 1e-30])
def test_wrong_weights_in_a_store(stored, unchecked, tmp_path, value):
    given = read_store("x", stored)
    directs = dict(given.node_classifiers)
    node = next(iter(directs))
    w = np.full(len(directs[node].points), value if value == 1e-30 else 1.0, dtype=np.float32)
    w[-1] = value
    directs[node] = replace(directs[node], w=w)
    write_store(str(tmp_path / "b.mbm"), replace(given, node_classifiers=directs), {})
    with pytest.raises(ModelError, match="the weights of the neighbours of a multi-class node"):
        read_store(str(tmp_path / "b.mbm"))
