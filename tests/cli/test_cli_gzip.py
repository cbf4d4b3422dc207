"""Text in gzip where text is read and written: the same answers as without."""

import gzip
import sys
from pathlib import Path
from shlex import join

import numpy as np
import pytest

from data_files import write_cls, write_vec

WORDS = np.array(["ant", "bee", "cat"])


@pytest.fixture
def made(folder, run):
    """Points of three classes as binary files, names, weights and costs."""
    rng = np.random.default_rng(1)
    y = np.arange(90, dtype=np.int32) % 3
    x = rng.normal(size=(90, 2)) + np.column_stack([y == 1, y == 2]) * 2.0
    write_vec("b.vec", x.astype(np.float32))
    write_cls("b.cls", y)
    Path("b.names").write_text("".join(f"{word}\n" for word in WORDS))
    Path("w").write_text("".join(f"{1 + i % 2}\n" for i in range(90)))
    Path("costs").write_text("0 1 2\n0 1 5\n1 0 1\n1 1 0\n")
    Path("plan").write_bytes(run("print_control", "-Q", "one-vs-one", 3).raw)
    return folder


def same(name):
    """The text of a file, which is the same in the one with .gz; that is compressed."""
    data = Path(f"{name}.gz").read_bytes()
    assert data[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    assert gzip.decompress(data) == Path(name).read_bytes(), name
    return gzip.decompress(data)


def compress(*names):
    for name in names:
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes()))


# A program as svm-predict: the class of a point is that of the side of its first feature.
PREDICT = """
import sys
points, _, output = sys.argv[-3:]
with open(points) as file, open(output, "w") as out:
    for line in file:
        first = dict(word.split(":") for word in line.split()[1:]).get("1", 0)
        out.write(f"{int(float(first) > 0)}\\n")
"""


def test_a_chain_of_compressed_text(made, run):
    """Each step is done with text as it is, and with all of its text compressed."""
    compress("w", "costs", "b.names", "plan")
    Path("predict.py").write_text(PREDICT)
    for end in "", ".gz":
        run("agf2ascii", "-M", "b", f"t.svm{end}")
        run("agf2ascii", "b", f"t.lvq{end}")
        assert "ant" in run("print_control", "-Q", "one-vs-one", 3, f"--names=b.names{end}").out
        run(
            "multi_borders",
            "-M",
            "--quiet",
            "--weight",
            f"w{end}",
            f"plan{end}",
            f"t.svm{end}",
            "m",
            f"m.mbc{end}",
        )
        run(
            "multi_borders",
            "-A",
            "--quiet",
            "--cv-errors",
            f"pairs{end}",
            f"plan{end}",
            f"t.lvq{end}",
            "n",
            "n.mbc",
        )
        run(
            "classify_m",
            "-M",
            "--quiet",
            "-O",
            join([sys.executable, "predict.py"]),
            f"m.mbc{end}",
            f"t.svm{end}",
            f"out{end}",
        )
        run(
            "calibrate_m",
            "-M",
            "--map=temperature",
            "--data",
            f"t.svm{end}",
            f"m.mbc{end}",
            "-o",
            f"m.cal{end}",
        )
        run("mbh2mbm", "-Z", "n.mbc", f"n.txt{end}")
    for name in ("t.svm", "t.lvq", "m.mbc", "pairs", "out", "n.txt"):
        assert same(name)
    answers = []
    for end in "", ".gz":
        answers.append(
            [
                run(
                    "classify_m",
                    "-M",
                    "--quiet",
                    "--costs",
                    f"costs{end}",
                    f"m.mbc{end}",
                    f"t.svm{end}",
                    "c",
                    "--calibration",
                    f"m.cal{end}",
                ).out,
                run("eval_uc", "b.cls", "c", "--costs", f"costs{end}").out,
                run("classify_m", "--quiet", f"n.txt{end}", "b.vec", "c").out,
                run("print_control", "-Q", "confusions", f"pairs{end}", status=None).err,
                run("svm2agf", f"t.svm{end}", "d").err,
                Path("d.vec").read_bytes(),
                run("lvq2agf", f"t.lvq{end}", "d").err,
                Path("d.vec").read_bytes(),
                run("mbm_info", "--print-control", f"m.mbc{end}").out.replace(".gz", ""),
            ]
        )
    assert answers[0] == answers[1]


def test_standard_input_and_a_model_in_gzip(made, run):
    run("agf2ascii", "-M", "b", "t.svm")
    text = Path("t.svm").read_bytes()
    for data in text, gzip.compress(text):
        run("svm2agf", "-", "d", stdin=data)
        assert Path("d.vec").read_bytes() == Path("b.vec").read_bytes()
    run("multi_borders", "--quiet", "plan", "b", "m", "m.mbc")
    run("mbh2mbm", "--quiet", "m.mbc", "m.mbm")
    compress("m.mbm")
    assert run("mbm_info", "m.mbm.gz").out.replace(".gz", "") == run("mbm_info", "m.mbm").out


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "words",
    [
        ("mbh2mbm", "m.mbc", "m.mbm.gz"),
        ("calibrate_m", "--data", "b", "m.mbc", "-o", "m.mbm.gz"),
        ("agf_train", "b", "m.mbm.gz"),
    ],
)
def test_what_is_no_text_is_not_compressed(made, run, words):
    run("multi_borders", "--quiet", "plan", "b", "m", "m.mbc")
    run(*words, status=2).refused("only text is compressed by its name")


def test_a_damaged_file_is_told_and_nothing_is_written(made, run):
    run("agf2ascii", "-M", "b", "t.svm.gz")
    data = Path("t.svm.gz").read_bytes()
    Path("t.svm.gz").write_bytes(data[:-20])
    before = set(made.iterdir())
    run("svm2agf", "t.svm.gz", "d", status=1).refused("t.svm.gz: is damaged, or not complete: ")
    run("multi_borders", "-M", "plan", "t.svm.gz", "m", "m.mbc", status=1).refused(
        "t.svm.gz: is damaged, or not complete: "
    )
    assert set(made.iterdir()) == before
    lines = gzip.decompress(data).splitlines(keepends=True)
    Path("t.svm.gz").write_bytes(gzip.compress(b"".join([*lines[:7], b"1 1:x\n"])))
    run("svm2agf", "t.svm.gz", "d", status=1).refused("t.svm.gz:8: ")
