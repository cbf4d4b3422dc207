"""LIBSVM's model files: without loss, understood by LIBSVM, and every broken one refused."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from agfmc.core.errors import ModelError
from agfmc.models.libsvm import format_svm_model, held_out_values, read_svm_model
from agfmc.data.libsvm import row_texts
from agfmc.files.codec import check_seal, seal_of, sealed
from agfmc.core.models import BinaryModel, Kernel
from agfmc.core.provenance import Provenance

KERNELS = [
    Kernel("linear"),
    Kernel("polynomial", 0.3, 1 / 3, 3),
    Kernel("rbf", 0.1),
    Kernel("sigmoid", 1e-3, -0.7),
]


def model_of(kernel=KERNELS[2], **changes):
    generator = np.random.default_rng(5)
    sv = generator.normal(size=(6, 4)) * 10.0 ** generator.integers(-9, 9, (6, 4))
    sv[2, 1] = sv[3, 3] = 0.0
    model = BinaryModel(
        "m",
        "c_svc",
        kernel,
        sv,
        generator.normal(size=6),
        -1 / 3,
        (0, 1),
        (2, 4),
        (-1.2345678901234567, 1e-17),
        Provenance("0.1.0", features=4, seed=1),
        4,
    )
    return replace(model, **changes)


def test_text_of_points_may_come_from_outside():
    model = model_of()
    text = row_texts(model.sv)
    assert format_svm_model(model, [text(row) for row in range(6)]) == format_svm_model(model)


def test_support_vectors_of_several_files_are_read_once(tmp_path):
    paths = [tmp_path / name for name in ("one", "two", "other", "wider")]
    model = model_of()
    models = [
        model,
        model_of(coef=-model.coef),
        model_of(sv=model.sv[::-1]),
        model_of(features=5, provenance=Provenance(features=5)),
    ]
    for path, one in zip(paths, models):
        path.write_text(format_svm_model(one))
    known = {}
    read = [read_svm_model(str(path), known) for path in paths]
    for got, wanted in zip(read, models):
        np.testing.assert_array_equal(got.sv[:, :4], wanted.sv)
        np.testing.assert_array_equal(got.coef, wanted.coef)
    assert read[1].sv is read[0].sv and read[2].sv is not read[0].sv
    assert read[3].sv.shape == (6, 5)
    text = format_svm_model(model).splitlines(keepends=True)
    for wrong in ("1-2", "", "nan", "x", "1:2", None):
        lines = text.copy()
        if wrong is None:  # as many numbers as lines
            lines[-3], wrong = "1-2" + lines[-3][lines[-3].index(" ") :], ""
        lines[-4] = wrong + lines[-4][lines[-4].index(" ") :]
        paths[0].write_text("".join(lines))
        with pytest.raises(ModelError) as caught:
            read_svm_model(str(paths[0]), known)
        assert caught.value.line == len(lines) - 3


def test_width_without_a_stated_one_is_the_largest_index(tmp_path):
    path = tmp_path / "m"
    model = model_of(provenance=Provenance(), features=0)
    model.sv[:, 3] = 0.0
    path.write_text(format_svm_model(model))
    assert read_svm_model(str(path)).sv.shape == (6, 3)


@pytest.mark.parametrize("labels, orientation", [((0, 1), -1), ((1, 0), 1)])
def test_orientation_is_settled_once(labels, orientation):
    model = model_of(labels=labels, platt=(-2.0, 0.5))
    assert model.orientation == orientation
    a, b = model.scale
    f = 0.7
    p_first = 1 / (1 + np.exp(-2.0 * f + 0.5))
    p_right = p_first if labels[0] == 1 else 1 - p_first
    assert np.tanh(a * f + b) == pytest.approx(2 * p_right - 1, abs=1e-14)
    assert np.isnan(model_of(platt=None).scale).all()


def test_labels_minus_one_and_plus_one(tmp_path):
    path = tmp_path / "m"
    path.write_text(format_svm_model(model_of()).replace("label 0 1", "label 1 -1"))
    assert read_svm_model(str(path)).labels == (1, 0)
    path.write_text(format_svm_model(model_of()).replace("label 0 1", "label -1 1"))
    assert read_svm_model(str(path)).labels == (0, 1)


GOOD = format_svm_model(model_of(KERNELS[1]))
LINES = GOOD.splitlines(keepends=True)


def broken(old, new):
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


CASES = {
    "empty": ("", "found an empty file"),
    "binary": ("\x00\x01svm", "expected a key word"),
    "text": ("label 1:0.5 2:1\nhello\n", "found 'hello'"),
    "blank first": ("\n" + GOOD, ":1: expected a key word of a LIBSVM model, found a blank line"),
    "unknown key": (broken("rho ", "rha "), ":8: expected a key word"),
    "key twice": (broken("rho ", "coef0 1\nrho "), ":8: 'coef0' occurs a second time"),
    "no rho": (broken(LINES[7], ""), "'rho' is missing"),
    "no label": (broken(LINES[8], ""), "'label' is missing"),
    "no svm_type": (broken(LINES[0], ""), "'svm_type' is missing"),
    "no kernel": (broken(LINES[1], ""), "'kernel_type' is missing"),
    "no gamma": (broken(LINES[3], ""), "'gamma' is missing"),
    "no degree": (broken(LINES[2], ""), "'degree' is missing"),
    "no nr_sv": (broken(LINES[11], ""), "'nr_sv' is missing"),
    "no line end": (GOOD.rstrip("\n"), ":20: truncated: the last line is not complete"),
    "settings cut": (GOOD[:-12], ":20: truncated"),
    "regression": (broken("c_svc", "epsilon_svr"), ":1: 'svm_type epsilon_svr' is not supported"),
    "one class": (broken("c_svc", "one_class"), "expected c_svc or nu_svc"),
    "precomputed": (
        broken("polynomial\n", "precomputed\n"),
        ":2: 'kernel_type precomputed' is not supported: expected linear or",
    ),
    "three classes": (
        broken("nr_class 2", "nr_class 3"),
        ":6: expected a model of 2 classes, found 3",
    ),
    "other labels": (broken("label 0 1", "label 3 7"), ":9: expected the labels 0 and 1"),
    "equal labels": (broken("label 0 1", "label 1 1"), "expected the labels 0 and 1"),
    "three labels": (broken("label 0 1", "label 0 1 2"), "'label': expected 2 values, found 3"),
    "one label": (broken("label 0 1", "label 0"), "'label': expected 2 values, found 1"),
    "label is a word": (broken("label 0 1", "label a b"), "expected a number, found 'a b'"),
    "label is a fraction": (broken("label 0 1", "label 0.5 1"), "expected a number"),
    "only probA": (broken(LINES[10], ""), "probA and probB must both be given"),
    "only probB": (broken(LINES[9], ""), "probA and probB must both be given"),
    "rho is NaN": (broken(LINES[7], "rho nan\n"), ":8: 'rho': expected a finite number"),
    "probA infinite": (
        broken("probA -1.2345678901234567", "probA inf"),
        "expected a finite number",
    ),
    "gamma huge": (broken("gamma 0.3", "gamma 1e999"), "expected a finite number"),
    "gamma negative": (
        broken("gamma 0.3", "gamma -0.3"),
        ":4: a parameter of the kernel is out of range",
    ),
    "degree negative": (
        broken("degree 3", "degree -3"),
        ":3: a parameter of the kernel is out of range",
    ),
    "degree fraction": (broken("degree 3", "degree 3.5"), "expected a number"),
    "degree enormous": (broken("degree 3", "degree " + "9" * 400), "expected a smaller number"),
    "total too large": (
        broken("total_sv 6", "total_sv 7"),
        "nr_sv adds up to 6, and total_sv is 7",
    ),
    "total enormous": (
        broken("total_sv 6", "total_sv " + "9" * 400),
        ":7: 'total_sv': expected a smaller",
    ),
    "total beyond int": (broken("total_sv 6", "total_sv " + "9" * 5000), "total_sv"),
    "both counts too large": (
        broken("total_sv 6", "total_sv 99").replace("nr_sv 2 4", "nr_sv 2 97"),
        "expected 99 support vectors, found 7",
    ),
    "counts too small": (
        broken("total_sv 6", "total_sv 5").replace("nr_sv 2 4", "nr_sv 2 3"),
        ":19: expected the end of the file after 5 support vectors",
    ),
    "negative count": (broken("nr_sv 2 4", "nr_sv -1 7"), "nr_sv adds up to 6, and total_sv is 6"),
    "more after the end": (GOOD + "1 1:2\n", ":21: expected the end of the file"),
    "coefficient is a word": (
        GOOD.replace(LINES[13], "x 1:2 2:3\n"),
        ":14: expected a finite number, found 'x'",
    ),
    "value is NaN": (GOOD.replace(LINES[14], "1 1:2 2:nan\n"), ":15: expected a finite number"),
    "value infinite": (GOOD.replace(LINES[14], "1 1:2 2:1e999\n"), ":15: expected a finite number"),
    "no value": (
        GOOD.replace(LINES[15], "1 1:2 2:\n"),
        ":16: expected a coefficient and index:value",
    ),
    "no colon": (GOOD.replace(LINES[15], "1 1:2 2 3\n"), ":16: expected a coefficient"),
    "colon moved": (GOOD.replace(LINES[15], "1 1:2:3 4\n"), ":16: expected a coefficient"),
    "blank row": (GOOD.replace(LINES[15], "\n"), ":16: expected a coefficient"),
    "index 0": (GOOD.replace(LINES[15], "1 0:2\n"), ":16: expected whole, ascending feature"),
    "index negative": (GOOD.replace(LINES[15], "1 -1:2\n"), ":16: expected whole"),
    "index fraction": (GOOD.replace(LINES[15], "1 1.5:2\n"), ":16: expected whole"),
    "index twice": (GOOD.replace(LINES[15], "1 2:2 2:3\n"), ":16: expected whole"),
    "index descends": (GOOD.replace(LINES[15], "1 3:2 2:3\n"), ":16: expected whole"),
    "index enormous": (GOOD.replace(LINES[15], "1 999999999999:2\n"), ":16: expected whole"),
}


@pytest.mark.parametrize("case", CASES)
def test_broken_files(tmp_path, case):
    text, words = CASES[case]
    path = tmp_path / "m"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        read_svm_model(str(path))
    message = str(caught.value)
    assert words in message and message.startswith(f"{path}:")
    assert "\n" not in message and len(message) < len(str(path)) + 200


def test_truncated_at_every_line_and_in_every_line(tmp_path):
    path = tmp_path / "m"
    for count in range(len(LINES) - 1):  # the last line, a comment, may be absent
        path.write_text("".join(LINES[:count]))
        with pytest.raises(ModelError):
            read_svm_model(str(path))
        path.write_text("".join(LINES[:count]) + LINES[count][:2])
        with pytest.raises(ModelError):
            read_svm_model(str(path))


def test_bytes_that_are_not_text(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(GOOD.encode()[:300] + b"\xff\xfe" + GOOD.encode()[300:])
    with pytest.raises(ModelError, match="found other bytes") as caught:
        read_svm_model(str(path))
    assert caught.value.line == GOOD[:300].count("\n") + 1


@pytest.fixture(scope="module")
def libsvm():
    programs = [shutil.which(name) for name in ("svm-train", "svm-predict")]
    if None in programs:
        pytest.skip("svm-train and svm-predict are not installed")
    return programs


def svm_text(x, y):
    return "".join(
        f"{label} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1)) + "\n"
        for row, label in zip(x.tolist(), y.tolist())
    )


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("first", [0, 1])
def test_real_libsvm_writes_and_reads_them(tmp_path, libsvm, kind, first):
    train, predict = libsvm
    generator = np.random.default_rng(kind)
    x = generator.normal(size=(60, 3)).round(6)
    y = (x[:, 0] + 0.5 * generator.normal(size=60) > 0).astype(int)
    order = np.argsort(y != first, kind="stable")  # the first label in the file comes first
    (tmp_path / "data").write_text(svm_text(x[order], y[order]))
    subprocess.run(
        [
            train,
            "-q",
            "-b",
            "1",
            "-t",
            str(kind),
            "-g",
            "0.3",
            "-r",
            "0.1",
            str(tmp_path / "data"),
            str(tmp_path / "theirs"),
        ],
        check=True,
    )
    model = read_svm_model(str(tmp_path / "theirs"))
    assert model.labels == (first, 1 - first)
    assert model.kernel.kind == ("linear", "polynomial", "rbf", "sigmoid")[kind]
    assert len(model.sv) == len(model.coef) == sum(model.n_sv)
    (tmp_path / "ours").write_text(
        format_svm_model(replace(model, provenance=Provenance("0.1", seed=1)))
    )
    told = []
    for name in ("theirs", "ours"):
        subprocess.run(
            [
                predict,
                "-b",
                "1",
                str(tmp_path / "data"),
                str(tmp_path / name),
                str(tmp_path / "out"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        header, *rows = (tmp_path / "out").read_text().splitlines()
        assert header == f"labels {first} {1 - first}"
        told.append(np.array([row.split() for row in rows], dtype=float))
    np.testing.assert_allclose(told[1], told[0], rtol=0, atol=1e-6)


HELD_OUT = np.array([1 / 3, -2.5, 0.0, 3.4e38, 1e-45], dtype=np.float32)


@pytest.mark.parametrize("values", [HELD_OUT, HELD_OUT[:0], HELD_OUT.astype(">f8")])
def test_held_out_values_are_kept(tmp_path, values):
    one = model_of()
    text = sealed(format_svm_model(one, held_out=values), "0123456789abcdef")
    found = held_out_values(text.encode())
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, values.astype(np.float32))
    np.testing.assert_array_equal(held_out_values(text.replace("\n", "\r\n").encode()), found)
    assert seal_of(text.encode()) == "0123456789abcdef"
    (tmp_path / "m").write_text(text)
    again = read_svm_model(str(tmp_path / "m"))
    assert again.provenance == one.provenance
    assert sealed(format_svm_model(again), "0123456789abcdef") == sealed(
        format_svm_model(one), "0123456789abcdef"
    )


def test_held_out_values_are_under_the_seal():
    text = sealed(format_svm_model(model_of(), held_out=HELD_OUT), "0123456789abcdef")
    place = text.index("held out 5 ") + 12
    changed = text[:place] + ("B" if text[place] == "A" else "A") + text[place + 1 :]
    with pytest.raises(ModelError, match="checksum"):
        check_seal(changed.encode(), "m")


def test_models_without_held_out_values():
    assert held_out_values(format_svm_model(model_of()).encode()) is None
    assert held_out_values(b"") is None


@pytest.mark.parametrize(
    "words",
    [
        "5",
        "",
        "2 AACAPwAAAEA= x",
        "3 AACAPwAAAEA=",
        "2 AACAPwAAAE*A=",
        "2 AACAPwAAAEA",
        "+2 AACAPwAAAEA=",
        "1 AACAfw==",
        "1 AADAfw==",
        "999999999999999999999 AACAPw==",
    ],
)
def test_held_out_values_that_are_damaged(words):
    text = format_svm_model(model_of(), held_out=HELD_OUT).split("\n")
    (line,) = [i for i, one in enumerate(text) if one.startswith("# agfmc held out 5 ")]
    text[line] = f"# agfmc held out {words}"
    with pytest.raises(ModelError, match="m:.*held-out decision values are damaged") as caught:
        held_out_values("\n".join(text).encode(), "m")
    assert caught.value.line == line + 1


@pytest.mark.skipif(not shutil.which("svm-predict"), reason="LIBSVM is not installed")
def test_svm_predict_reads_models_with_held_out_values(tmp_path):
    (tmp_path / "points").write_text("0 1:0.5 2:1\n1 1:-1\n0 2:4\n")
    answers = []
    for values in (None, np.linspace(-1, 1, 3000)):
        text = format_svm_model(model_of(), held_out=values)
        (tmp_path / "m").write_text(sealed(text, "0" * 16))
        subprocess.run(
            ["svm-predict", "-q", "-b", "1", "points", "m", "out"], cwd=tmp_path, check=True
        )
        answers.append((tmp_path / "out").read_text())
    assert answers[0] == answers[1] and answers[0].startswith("labels 0 1")
