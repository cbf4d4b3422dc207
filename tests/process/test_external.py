"""Programs of the user's train and classify: LIBSVM's own, filters, scripts, and bad ones."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from shlex import join

import numpy as np
import pytest

from agfmc.core.errors import UsageError
from agfmc.training.external import TrainerOptions

svm = pytest.mark.skipif(
    not (shutil.which("svm-train") and shutil.which("svm-predict")),
    reason="LIBSVM's svm-train and svm-predict are not installed",
)
LABELS = [2, 5, 9]

# A program as svm-train: copies its data to the model; as svm-predict: a class for each point.
TRAINER = """import json, os, sys, time
with open("calls", "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
data, model = sys.argv[-2:]
assert open(data).readline()
"""


@pytest.fixture
def script(place):
    """Function (name, code) -> text of a command that runs the code."""

    def write(name, code):
        (place / name).write_text(code)
        return join([sys.executable, str(place / name)])

    return write


def svm_train(place, model="e", control="ectl", *more, options="-c 50", data="trn.svm"):
    return place.ok(
        "multi_borders",
        "-M",
        "--",
        "svm-train -b 1",
        "-+",
        options,
        *more,
        "plan",
        data,
        model,
        control,
    )


def table(path):
    """Labels of the columns, classes, probabilities of what svm-predict and classify_m -O write."""
    lines = path.read_text().splitlines()
    labels = (
        [int(word) for word in lines.pop(0).split()[1:]] if lines[0].startswith("labels") else None
    )
    rows = np.array([line.split() for line in lines], dtype=float)
    return labels, rows[:, 0].astype(int), rows[:, 1:]


def error(done, status, *parts):
    assert done.status == status, done
    done.line(*parts)


def left_behind(place):
    return [
        path.name
        for path in place.folder.iterdir()
        if path.name.startswith((".agfmc", "agfmc")) or path.name.endswith(".tmp")
    ]


# -- LIBSVM's programs --------------------------------------------------------------------------


@svm
def test_as_in_libagfs_manual(place):
    before = place.files()
    svm_train(place)
    assert set(place.files()) - set(before) == {"ectl", "e-00", "e-01", "e-02"}
    assert (place / "ectl").read_bytes() == (place / "ctl").read_bytes().replace(b"m-0", b"e-0")
    assert left_behind(place) == []
    # by hand: svm-train on the same partition
    rows = [line.split(" ", 1) for line in (place / "trn.svm").read_text().splitlines()]
    (place / "hand.svm").write_text(
        "".join(f"{[2, 5].index(int(label))} {rest}\n" for label, rest in rows if label != "9")
    )
    subprocess.run(
        ["svm-train", "-q", "-b", "1", "-c", "50", "hand.svm", "hand"], check=True, cwd=place.folder
    )
    (place / "p.svm").write_bytes((place / "tst.svm").read_bytes())
    answers = []
    for model in ("hand", "e-00"):
        subprocess.run(
            ["svm-predict", "-q", "-b", "1", "p.svm", model, "answer"],
            check=True,
            cwd=place.folder,
            stdout=subprocess.DEVNULL,
        )
        answers.append(table(place / "answer"))
    assert answers[0][0] == answers[1][0]
    np.testing.assert_allclose(answers[0][2], answers[1][2], atol=1e-5)
    place.ok("classify_m", "-M", "ectl", "tst.svm", "out")
    truth = np.fromfile(place / "tst.cls", "<i4")
    assert np.mean(np.fromfile(place / "out.cls", "<i4") == truth) > 0.7


@svm
def test_every_kind_of_data_and_number_of_workers(place):
    svm_train(place)
    wanted = [(place / f"e-0{i}").read_bytes() for i in range(3)]
    for more in (
        ["-M", "-j", "2"],
        ["-M", "-K"],
        ["-M", "-^", "cat"],
        ["-M", "-^", "awk '{ print $0 }' | sed 's/$/ /'"],
    ):
        place.ok(
            "multi_borders",
            *more,
            "--",
            "svm-train -b 1",
            "-+",
            "-c 50",
            "plan",
            "trn.svm",
            "f",
            "fctl",
        )
        assert [(place / f"f-0{i}").read_bytes() for i in range(3)] == wanted
    place.ok("multi_borders", "--", "svm-train -b 1", "-+", "-c 50", "plan", "trn", "f", "fctl")
    assert [(place / f"f-0{i}").read_bytes() for i in range(3)] == wanted
    # LVQ text to LIBSVM's, where the name stands for LVQ text as in libAGF
    lvq = (
        'awk \'NR > 1 { printf "%s", $NF; for (i = 1; i < NF; i++) if ($i != 0) '
        'printf " %d:%s", i, $i; print "" }\''
    )
    for data in (["trn.lvq"], ["-A", "trn.lvq"]):
        place.ok(
            "multi_borders",
            "-^",
            lvq,
            "--",
            "svm-train -b 1",
            "-+",
            "-c 50",
            "plan",
            *data,
            "g",
            "gctl",
        )
        assert [(place / f"g-0{i}").read_bytes() for i in range(3)] == wanted
    kept = left_behind(place)
    assert len(kept) == 3 and all(name.startswith("f-0") and name.endswith(".tmp") for name in kept)
    assert sorted(os.listdir(place / kept[0])) == ["model", "partition.txt"]


@svm
def test_probabilities_of_svm_predict_are_ours(place):
    svm_train(place)
    ours = place.ok("classify_m", "-M", "ectl", "tst.svm", "out").decode()
    ours = np.array([line.split() for line in ours.splitlines()], dtype=float)
    for more in ([], ["-j", "2"]):
        assert (
            place.ok(
                "classify_m", "-M", *more, "-O", "svm-predict -b 1", "ectl", "tst.svm", "answer"
            )
            == b""
        )
        labels, classes, p = table(place / "answer")
        assert labels == LABELS
        np.testing.assert_allclose(p, ours[:, :3], rtol=0, atol=1e-5)
        assert classes.tolist() == np.fromfile(place / "out.cls", "<i4").tolist()
    assert (
        place.ok("classify_m", "-M", "-O", "svm-predict -b 1", "ectl", "tst.svm", "-")
        == (place / "answer").read_bytes()
    )
    assert left_behind(place) == []
    place.ok("svmout2agf", "answer", "back")
    assert (place / "back.cls").read_bytes() == (place / "out.cls").read_bytes()
    # binary points, and another decoder
    place.ok("classify_m", "-Q", "3", "-O", "svm-predict -b 1", "ectl", "tst.vec", "votes")
    assert np.mean(table(place / "votes")[1] == classes) > 0.9


@svm
def test_votes_of_svm_predict_are_svm_vote(place):
    """svm-predict without -b 1 counts signs of decision values, which -Q vote calibrates first."""
    rng = np.random.default_rng(8)
    labels = np.repeat(LABELS, (60, 30, 12))
    points = rng.normal(labels[:, None] / 8, 1, (len(labels), 3))
    (place / "mixed.svm").write_text(
        "".join(
            f"{label} " + " ".join(f"{j}:{x:.4f}" for j, x in enumerate(point, 1)) + "\n"
            for label, point in zip(labels, points, strict=True)
        )
    )
    for words in (["svm-train", "-q", "-b", "1", "-g", "2"], ["svm-predict", "-q"]):
        subprocess.run(
            [*words, "mixed.svm", "m.svm", *["theirs"] * (words[0] == "svm-predict")],
            check=True,
            cwd=place.folder,
        )
    theirs = np.loadtxt(place / "theirs", dtype=int)
    for name, differ in (("svm-vote", False), ("vote", True)):
        place.ok("classify_m", "-M", "-Q", name, "m.svm", "mixed.svm", name)
        assert (np.fromfile(place / f"{name}.cls", "<i4") != theirs).any() == differ


@svm
def test_classes_without_probabilities(place):
    done = place.call(
        "multi_borders", "--uncalibrated", "-M", "--", "svm-train", "plan", "trn.svm", "v", "vctl"
    )
    assert done.status == 0
    assert done.line().endswith('fits them with -b 1, as in -- "svm-train -b 1"\n')
    refused = place.call("classify_m", "-M", "vctl", "tst.svm", "out")
    assert refused.status == 1 and 'or with -- "svm-train -b 1")' in refused.err
    place.ok("classify_m", "-M", "-O", "svm-predict", "vctl", "tst.svm", "answer")
    ours = place.call("classify_m", "-M", "-Q", "3", "vctl", "tst.svm", "out")
    assert ours.status == 0 and "only votes can be used" in ours.err
    votes = np.array([line.split() for line in ours.out.splitlines()], dtype=float)
    labels, classes, p = table(place / "answer")
    sure = np.sort(votes[:, :3], axis=1)[:, -1] > np.sort(votes[:, :3], axis=1)[:, -2]
    assert sure.sum() > 30
    assert (classes == np.fromfile(place / "out.cls", "<i4"))[sure].all()


@svm
@pytest.mark.parametrize(
    "plan", ['"" { "-t 0" { 9 2 } 5 }', '"" 0 / 1; { "" { 9 2 } 5 }', '"" { "-k 5" K { 9 2 } 5 }']
)
def test_trees(place, plan):
    (place / "plan").write_text(plan)
    svm_train(place, "e", "ectl", "-j", "2")
    for mode in ("full", "path") if "-t 0" in plan else ("full",):
        ours = place.ok("classify_m", "-M", "--tree", mode, "ectl", "tst.svm", "out").decode()
        ours = np.array(
            [line.split()[: 3 if mode == "full" else 1] for line in ours.splitlines()], dtype=float
        )
        place.ok(
            "classify_m",
            "-M",
            "--tree",
            mode,
            "-O",
            "svm-predict -b 1",
            "ectl",
            "tst.svm",
            "answer",
        )
        labels, classes, p = table(place / "answer")
        assert labels == (LABELS if mode == "full" else None)
        np.testing.assert_allclose(p, ours, rtol=0, atol=1e-5)
        assert classes.tolist() == np.fromfile(place / "out.cls", "<i4").tolist()
    if mode == "path":
        recursive = place.ok("classify_m", "-M", "-O", "svm-predict -b 1", "ectl", "tst.svm", "-")
        assert recursive == (place / "answer").read_bytes()


@svm
def test_normalised_and_in_another_folder(place):
    (place / "models").mkdir()
    svm_train(place, "e", "ectl", "-n", "-y", "models")
    assert {path.name for path in (place / "models").iterdir()} == {"e-00", "e-01", "e-02"}
    assert b"models" not in (place / "ectl").read_bytes() and (place / "e.std").exists()
    ours = place.ok("classify_m", "-M", "-a", "e.std", "-y", "models", "ectl", "tst.svm", "out")
    place.ok(
        "classify_m",
        "-M",
        "-a",
        "e.std",
        "-y",
        "models",
        "-O",
        "svm-predict -b 1",
        "ectl",
        "tst.svm",
        "answer",
    )
    ours = np.array([line.split()[:3] for line in ours.decode().splitlines()], dtype=float)
    np.testing.assert_allclose(table(place / "answer")[2], ours, rtol=0, atol=1e-5)
    error(
        place.call("classify_m", "-M", "-O", "svm-predict -b 1", "ectl", "tst.svm", "no"),
        1,
        "ectl:2:1: model 'e-00': there is no such file",
    )


@svm
def test_odd_names(place):
    folder = place / "a 'b\" $(touch pwned);c"
    folder.mkdir()
    here = place.at(folder)
    shutil.copy(place / "trn.svm", folder / "da ta;.svm")
    shutil.copy(place / "plan", folder / "-p")
    for shell in ("svm-train -b 1", "true | svm-train -b 1"):
        here.ok(
            "multi_borders",
            "-M",
            "--",
            shell,
            "-+",
            "-c 50",
            "./-p",
            "da ta;.svm",
            "mo 'd",
            'c"t l',
        )
        here.ok(
            "classify_m",
            "-M",
            "-j2",
            "-O",
            "svm-predict -b 1",
            'c"t l',
            "da ta;.svm",
            "an 'swer $x",
        )
        assert table(folder / "an 'swer $x")[0] == LABELS
    svm_train(place)
    assert (folder / "mo 'd-01").read_bytes() == (place / "e-01").read_bytes()
    assert sorted(here.files()) == sorted(
        ["-p", "an 'swer $x", 'c"t l', "da ta;.svm", "mo 'd-00", "mo 'd-01", "mo 'd-02"]
    )


@svm
def test_commands_of_a_dry_run(place):
    (place / "mod els").mkdir()
    more = [
        "-M",
        "-n",
        "-y",
        "mod els",
        "--",
        "svm-train -b 1 -q",
        "-+",
        "-c 5",
        "-^",
        "sed 's/ 1:[^ ]*//'",
    ]
    place.ok("multi_borders", *more, "plan", "trn.svm", "a", "ctl1")
    lines = place.ok("multi_borders", "-0", *more, "plan", "trn.svm", "b", "ctl2")
    assert lines.count(b"\n") == 3 and not list((place / "mod els").glob("b*"))
    place.each(lines)
    for i in range(3):
        assert (place / "mod els" / f"a-0{i}").read_bytes() == (
            place / "mod els" / f"b-0{i}"
        ).read_bytes()
    assert (place / "ctl2").read_bytes() == (place / "ctl1").read_bytes().replace(
        b"a-0", b"b-0"
    ).replace(b"a.std", b"b.std")
    (place / "mod els" / "b-01").unlink()
    place.ok(
        "multi_borders",
        *more[:1],
        "-a",
        "b.std",
        *more[2:],
        "--only",
        "b-01",
        "ctl2",
        "trn.svm",
        "b",
        "unused",
    )
    assert (place / "mod els" / "b-01").read_bytes() == (place / "mod els" / "a-01").read_bytes()
    assert not (place / "unused").exists()


# -- programs that fail -------------------------------------------------------------------------

HEAD = """import os, subprocess, sys, time
data, model = sys.argv[-2:]
good = open("m-00").read()
bare = good.split("#")[0]  # without its checksum
"""
# What it does, and what is said of it.  `good` is a right model, `bare` one without its checksum.
BAD = {
    "fails": ("sys.exit('no memory left')", "failed with status 1: no memory left"),
    "fails late": ("open(model, 'w').write(good); sys.exit(7)", "failed with status 7"),
    "killed": ("os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
    "writes nothing": ("", "wrote no model"),
    "another name": (
        "open(model + '.svm', 'w').write(good)",
        "wrote no model, but 'm-01.svm': a model has the name that is given",
    ),
    "an empty file": ("open(model, 'w')", "wrote an empty model"),
    "a cut model": ("open(model, 'w').write(good[:400])", "wrote a wrong model: "),
    "a fifo": ("os.mkfifo(model)", "wrote something in place of a file: 'm-01'"),
    "a link": (
        "os.symlink(os.path.abspath('m-00'), model)",
        "wrote a symbolic link in place of a file: 'm-01'",
    ),
    "a link beside it": (
        "open(model, 'w').write(good); os.symlink('/etc', model + '.x')",
        "wrote a symbolic link in place of a file: 'm-01.x'",
    ),
    "its folder removed": (
        "import shutil; shutil.rmtree(os.path.dirname(model))",
        "wrote no model that can be read",
    ),
    "other labels": (
        "open(model, 'w').write(bare.replace('label 0 1', 'label 2 5'))",
        "wrote a wrong model: expected the labels 0 and 1",
    ),
    "other features": (
        "open(model, 'w').write(bare.replace(' 4:', ' 9:'))",
        "wrote a wrong model: it is of 9 features, and the points have 4",
    ),
    "nan": (
        "lines = bare.split('\\n'); lines[-2] = 'nan ' + lines[-2].split(' ', 1)[1]; "
        "open(model, 'w').write('\\n'.join(lines))",
        "wrote a wrong model: ",
    ),
    "much noise": (
        "sys.stdout.write('x' * 5_000_000 + '\\nend\\n'); sys.exit(1)",
        "failed with status 1: x",
    ),
}


@pytest.mark.few(7)
@pytest.mark.parametrize("how", BAD)
def test_a_trainer_that_fails(place, script, how):
    """On the second model only: the first is kept, the files of an earlier run as well."""
    code, words = BAD[how]
    workers = "2" if "a" in how else "1"
    command = script(
        "bad.py",
        f"{HEAD}if 'm-01' in model:\n    {code or 'pass'}\n"
        "elif 'm-02' in model:\n    time.sleep(60)\n"
        "else:\n    open(model, 'w').write(good)\n",
    )
    before = place.files()
    started = time.monotonic()
    done = place.call(
        "multi_borders", "-M", "-j", workers, "--", command, "plan", "trn.svm", "m", "ctl"
    )
    assert time.monotonic() - started < 50
    error(done, 3, "multi_borders: plan:2:1: 'm-01': the command '", words)
    assert len(done.err) < 3000
    assert place.files() == before and left_behind(place) == []  # m-00 is the same as it was


def test_a_control_file_of_replaced_models_goes(place, script):
    command = script(
        "copy.py", TRAINER + "if 'm-01' in model: sys.exit(1)\nopen(model, 'w').write('new')\n"
    )
    words = "multi_borders", "-M", "--", command, "plan", "trn.svm", "m", "ctl"
    error(place.call(*words), 3, "m-01")
    assert (place / "m-00").read_text() == "new"
    assert not (place / "ctl").exists()


def folders(script, more=""):
    """A program whose models are folders, of the contents of a file `run`."""
    return script(
        "folders.py",
        TRAINER
        + "os.mkdir(model)\n"
        + more
        + "open(model + '/a', 'w').write(open('run').read())\n",
    )


def test_a_control_file_of_replaced_folders_goes(place, script):
    words = ["multi_borders", "-M", "-j", "1", "--"]
    (place / "run").write_text("one")
    assert place.call(*words, folders(script), "plan", "trn.svm", "x", "xctl").status == 0
    (place / "run").write_text("two")
    command = folders(script, "if 'x-01' in model: sys.exit(1)\n")
    error(place.call(*words, command, "plan", "trn.svm", "x", "xctl"), 3, "x-01")
    assert [(place / name / "a").read_text() for name in ("x-00", "x-01")] == ["two", "one"]
    assert not (place / "xctl").exists() and left_behind(place) == []


def test_models_are_files_as_all_others(place, script):
    """On the disk before they have their names, links followed, permissions handed on."""
    command = script("copy.py", TRAINER + "open(model, 'w').write('new')\n")
    (place / "away").write_text("old")
    (place / "m-00").unlink()
    (place / "m-00").symlink_to("away")
    (place / "m-01").chmod(0o600)
    done = place.call("multi_borders", "-M", "--", command, "plan", "trn.svm", "m", "ctl")
    assert done.status == 0 and done.line("the probabilities are not calibrated")
    assert os.readlink(place / "m-00") == "away" and (place / "away").read_text() == "new"
    assert (place / "m-01").stat().st_mode & 0o777 == 0o600
    assert left_behind(place) == []


def test_a_control_file_of_another_normalisation_goes(place, script, monkeypatch):
    """Though the models are the same, and what follows them fails."""
    command = script("same.py", TRAINER + "open(model, 'w').write('same')\n")
    (place / "mixed").write_text('"" { 2 "-k 5" K { 5 9 } }')
    words = ["multi_borders", "-M", "-n", "--", command, "mixed"]
    assert place.call(*words, "trn.svm", "x", "xctl").status == 0
    monkeypatch.setattr("agfmc.training.run.write_node", lambda *words: 1 / 0)
    assert place.call(*words, "tst.svm", "x", "xctl").status != 0
    assert not (place / "xctl").exists()


def test_a_converter_that_fails(place):
    before = place.files()
    done = place.call(
        "multi_borders", "-M", "--", "cp", "-^", "sed nonsense", "plan", "trn.svm", "x", "xctl"
    )
    error(done, 3, "plan:1:1: 'x-00': the command 'sed nonsense' failed with status 1: sed: ")
    assert place.files() == before and left_behind(place) == []


def test_models_of_several_files_and_folders(place, script):
    command = script(
        "many.py",
        TRAINER + "os.mkdir(model)\nopen(model + '/a', 'w').write('1')\n"
        "open(model + '.vec', 'w').write(os.path.basename(model))\n",
    )
    for _ in range(2):
        done = place.call(
            "multi_borders", "--quiet", "-M", "--", command, "plan", "trn.svm", "x", "xctl"
        )
        assert (done.status, done.err) == (0, "")
        assert (place / "x-01" / "a").read_text() == "1"
        assert (place / "x-02.vec").read_text() == "x-02"
    assert left_behind(place) == []


PREDICTOR = """import os, sys, time
points, model, output = sys.argv[-3:]
n = len(open(points).readlines())
with open(output, "w") as file:
"""
WRONG = {
    "fails": ("sys.exit('cannot')", "failed with status 1: cannot"),
    "too few": ("file.write('0\\n' * (n - 1))", "wrote 59 answers for 60 points"),
    "too many": ("file.write('0\\n' * (n + 1))", "wrote 61 answers for 60 points"),
    "nothing": ("pass", "cannot be read: holds no results"),
    "no output": ("os.unlink(output)", "cannot be read: cannot read: No such file"),
    "words": ("file.write('0\\n' * 7 + 'zero\\n' * (n - 7))", "line 8"),
    "other classes": ("file.write('5\\n' * n)", "expected the classes 0 (left) and 1 (right)"),
    "three classes": ("file.write('labels 0 1 2\\n' + '0 1 0 0\\n' * n)", "expected the classes 0"),
    "nan": ("file.write('labels 0 1\\n' + '0 nan nan\\n' * n)", "line 2"),
    "one label": ("file.write('labels 1\\n' + '1 1\\n' * n)", "probabilities of 2 classes"),
    "outside": (
        "file.write('labels 0 1\\n' + '0 1.5 -0.5\\n' * n)",
        "expected a probability from 0 to 1",
    ),
    "no sum": (
        "file.write('labels 0 1\\n' + '0 0.5 0.5\\n' * 5 + '0 0.9 0.9\\n' * (n - 5))",
        "wrote probabilities that sum to 1.8, not to 1 (line 7)",
    ),
    "infinite": ("file.write('labels 0 1\\n' + '0 inf 0\\n' * n)", "line 2"),
    "too few rows": (
        "file.write('labels 0 1\\n' + '0 1 0\\n' * (n - 1))",
        "wrote 59 answers for 60 points",
    ),
    "columns": (
        "file.write('labels 0 1\\n' + '0 0.5 0.3 0.2\\n' * n)",
        "line 2: expected 3 numbers",
    ),
    "the same label": (
        "file.write('labels 0 0\\n' + '0 0.5 0.5\\n' * n)",
        "expected different labels",
    ),
    "a large class": ("file.write('99999999999999\\n' * n)", "a whole number of 32 bits"),
    "no text": ("file.write('\\0\\1' * 999)", "is not text"),
    **{
        kind: (f"os.unlink(output); {code}", "cannot be read: it is not a file")
        for kind, code in (
            ("a fifo", "os.mkfifo(output)"),
            ("a link", "os.symlink('/dev/zero', output)"),
            ("a folder", "os.mkdir(output)"),
        )
    },
}


@pytest.mark.few(12)
@pytest.mark.parametrize("how", WRONG)
def test_a_predictor_that_fails(place, script, how, monkeypatch):
    code, words = WRONG[how]
    workers = "2" if "o" in how else "1"
    command = script(
        "bad.py",
        PREDICTOR + f"    if model == 'm-00':\n        {code}\n    else:\n        time.sleep(60)\n",
    )
    (place / "answer").write_bytes(b"older")
    before = place.files()
    (place / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place / "tmp"))
    done = place.call("classify_m", "-M", "-j", workers, "-O", command, "ctl", "tst.svm", "answer")
    error(done, 1, "classify_m: model 'm-00': ", words)
    assert place.files() == before
    assert list((place / "tmp").iterdir()) == []


def test_temporary_files_of_a_predictor_can_be_kept(place, script):
    command = script("zero.py", PREDICTOR + "    file.write('0\\n' * (n - 1))\n")
    place.ok("classify_m", "-A", "-K", "-O", command, "ctl", "tst.lvq", "answer")
    (kept,) = left_behind(place)
    assert sorted(os.listdir(place / kept)) == [
        "answers-0.txt",
        "answers-1.txt",
        "answers-2.txt",
        "points.txt",
    ]
    assert (place / kept / "points.txt").read_text().startswith("4\n")


# -- signals ------------------------------------------------------------------------------------

SLOW = """import os, sys, time
with open(f"pid-{os.getpid()}", "w"):
    pass
time.sleep(60)
"""


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        ["multi_borders", "-M", "-j", "1", "--", "SLOW", "plan", "trn.svm", "m", "ctl"],
        ["multi_borders", "-M", "-j", "2", "--", "SLOW", "plan", "trn.svm", "m", "ctl"],
        ["multi_borders", "-M", "--", "cat", "-^", "SLOW", "plan", "trn.svm", "m", "ctl"],
        ["classify_m", "-M", "-j", "1", "-O", "SLOW", "ctl", "tst.svm", "answer"],
        ["classify_m", "-M", "-j", "2", "-O", "SLOW", "ctl", "tst.svm", "answer"],
        ["classify_m", "-j", "2", "--allow-commands", "gctl", "tst.vec", "answer"],
        ["classify_m", "-j", "1", "--allow-commands", "gctl", "tst.vec", "answer"],
        [
            "multi_borders",
            "-M",
            "-j",
            "1",
            "--",
            "cat /dev/null | SLOW",
            "plan",
            "trn.svm",
            "m",
            "ctl",
        ],
        ["classify_m", "-M", "-j", "2", "-O", "sh -c 'SLOW; true' 2", "ctl", "tst.svm", "answer"],
    ],
    ids=[
        "train",
        "train 2",
        "convert",
        "predict",
        "predict 2",
        "code G 2",
        "code G",
        "pipe",
        "a shell's child",
    ],
)
def test_a_signal_leaves_nothing(place, script, words, wait, gone):
    number = signal.SIGINT if words[-1] == "m" else signal.SIGTERM
    slow = script("slow.py", SLOW)
    (place / "gctl").write_text(f'plan G "{slow}" {{ 2 5 9 }}\n')
    (place / "tmp").mkdir()
    place.env["TMPDIR"] = str(place / "tmp")
    before = place.files()
    words = [word.replace("SLOW", slow) for word in words]

    def defaults():
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with place.start(*words, stdin=subprocess.DEVNULL, preexec_fn=defaults) as process:
        wanted = 2 if "2" in words and "gctl" not in words else 1
        wait(lambda: len(list(place.folder.glob("pid-*"))) >= wanted, process)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (128 + number, b"", b"")
    pids = [int(path.name[4:]) for path in place.folder.glob("pid-*")]
    wait(lambda: all(map(gone, pids)))  # the init process may take its time
    after = place.files()
    for pid in pids:
        del after[f"pid-{pid}"]
    assert after == before
    assert left_behind(place) == [] and list((place / "tmp").iterdir()) == []


# -- other learners -----------------------------------------------------------------------------

LEARNER = """import json, sys
import numpy as np
data, model = sys.argv[-2:]
kind = sys.argv[1]
lines = [line.split() for line in open(data)]
y = np.array([int(words[0]) for words in lines])
x = np.zeros((len(y), 4))
for row, words in zip(x, lines):
    for word in words[1:]:
        row[int(word.split(":")[0]) - 1] = float(word.split(":")[1])
if kind == "centre":
    json.dump({"means": [x[y == side].mean(axis=0).tolist() for side in (0, 1)]}, open(model, "w"))
else:
    w, z = np.zeros(x.shape[1] + 1), np.c_[x, np.ones(len(x))]
    for _ in range(50):
        for row, side in zip(z, 2 * y - 1):
            if side * (row @ w) <= 0:
                w += side * row
    json.dump({"weights": w.tolist()}, open(model, "w"))
"""
ASKED = """import json, sys
import numpy as np
points, model, output = sys.argv[-3:]
lines = [line.split() for line in open(points)]
x = np.zeros((len(lines), 4))
for row, words in zip(x, lines):
    for word in words[1:]:
        row[int(word.split(":")[0]) - 1] = float(word.split(":")[1])
raw = open(model, "rb").read()
with open(output, "w") as out:
    if b"weights" in raw:
        for value in np.c_[x, np.ones(len(x))] @ json.loads(raw)["weights"]:
            print(-1 if value < 0 else 1, file=out)
    else:
        means = np.array(json.loads(raw)["means"])
        near = ((x[:, None] - means) ** 2).sum(axis=2)
        right = 1 / (1 + np.exp(near[:, 1] - near[:, 0]))
        print("labels 1 0", file=out)
        for p in right:
            print(int(p >= 0.5), repr(float(p)), repr(float(1 - p)), file=out)
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["centre", "perceptron"])
def test_learners_in_scripts(place, script, kind):
    learn, ask = script("learn.py", LEARNER), script("ask.py", ASKED)
    place.ok("multi_borders", "-j", "2", "--", f"{learn} {kind}", "plan", "trn", "l", "lctl")
    place.ok(
        "classify_m", "-M", "-j", "2", "--tree", "full", "-O", ask, "lctl", "tst.svm", "answer"
    )
    labels, classes, p = table(place / "answer")
    truth = np.fromfile(place / "tst.cls", "<i4")
    assert labels == LABELS and np.mean(classes == truth) > 0.7
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=2e-6)
    if kind == "centre":  # r of each pair, and the decoder, by hand
        order = {name: i for i, name in enumerate(LABELS)}
        x, y = (
            np.fromfile(place / "trn.vec", "<f4", offset=4).reshape(-1, 4),
            np.fromfile(place / "trn.cls", "<i4"),
        )
        means = np.stack([x[y == label].astype(float).mean(axis=0) for label in order])
        points = np.fromfile(place / "tst.vec", "<f4", offset=4).reshape(-1, 4).astype(float)
        near = ((points[:, None] - means) ** 2).sum(axis=2)
        sure = np.sort(p, axis=1)[:, -1] - np.sort(p, axis=1)[:, -2] > 0.3
        assert sure.sum() > 20
        assert (np.array(LABELS)[near.argmin(axis=1)] == classes)[sure].all()


@svm
def test_a_command_inside_a_configuration(place):
    """Code G: its points are written by training, and svm-predict answers from a model of them."""
    (place / "plan").write_text('"-c 5" { "svm-predict -b 1" G { 9 2 } 5 }')
    place.ok("multi_borders", "-M", "plan", "trn.svm", "g", "gctl")
    points = (place / "g.00").read_text().splitlines()
    truth = np.fromfile(place / "trn.cls", "<i4").tolist()
    assert [line.split()[0] for line in points] == [
        "0" if label == 9 else "1" for label in truth if label != 5
    ]
    subprocess.run(["svm-train", "-q", "-b", "1", "g.00", "g.00"], cwd=place.folder, check=True)
    error(place.call("classify_m", "-M", "gctl", "tst.svm", "out"), 1, "--allow-commands")
    for workers in ("1", "2"):
        place.ok(
            "classify_m",
            "-M",
            "-j",
            workers,
            "--tree",
            "full",
            "--allow-commands",
            "gctl",
            "tst.svm",
            f"out{workers}",
        )
    assert (place / "out1.cls").read_bytes() == (place / "out2.cls").read_bytes()
    right = np.fromfile(place / "out1.cls", "<i4") == np.fromfile(place / "tst.cls", "<i4")
    assert right.mean() > 0.7
    assert left_behind(place) == []


def test_arguments_of_a_trainer(place, script):
    command = script("t.py", TRAINER + "open(model, 'w').write('x')\n")
    (place / "own").write_text('"-c 1 \'a b\'" 0 / 1; "" 0 / 2; "-x" 1 / 2; { 2 5 9 }')
    place.ok(
        "multi_borders",
        "-M",
        "--",
        f"{command} -b 1",
        "--allow-commands",
        "-+",
        "-c 50",
        "own",
        "trn.svm",
        "x",
        "xctl",
    )
    calls = [json.loads(line) for line in (place / "calls").read_text().splitlines()]
    assert [words[:-2] for words in calls] == [
        ["-b", "1", "-c", "1", "a b"],
        ["-b", "1", "-c", "50"],
        ["-b", "1", "-x"],
    ]
    assert [os.path.basename(words[-1]) for words in calls] == ["x-00", "x-01", "x-02"]
    assert all(os.path.basename(words[-2]) == "partition.txt" for words in calls)


@svm
@pytest.mark.parametrize("more", [[], ["-0"], ["--only", "x-01"]])
def test_a_control_file_names_no_file_to_a_trainer(place, more):
    """svm-train would take `trn.svm` for its data and write its model over `victim`."""
    (place / "victim").write_text("precious")
    (place / "own").write_text('"" 0 / 1;\n"-q trn.svm victim" 0 / 2; "" 1 / 2; { 2 5 9 }')
    train = ("multi_borders", "-M", *more, "--", "svm-train -b 1")
    error(
        place.call(*train, "own", "trn.svm", "x", "xctl"),
        1,
        "own:2:1: the word 'trn.svm'",
        "--allow-commands",
    )
    assert (place / "victim").read_text() == "precious"
    assert not (place / "xctl").exists()


def test_options_that_a_control_file_may_have(place, script):
    command = script("t.py", TRAINER + "open(model, 'w').write('x')\n")
    own = "-c 50 -g 0.01 -q -w0 2 -r -1 -e1e-3 --rate=.5 --depth 3 --fast"
    (place / "own").write_text(f'"{own}" 0 / 1; "" 0 / 2; "." 1 / 2; {{ 2 5 9 }}')
    train = ("multi_borders", "-M", "--", command, "-+", "-o any/where here")
    assert place.call(*train, "own", "trn.svm", "x", "xctl").status == 0
    calls = [json.loads(line)[:-2] for line in (place / "calls").read_text().splitlines()]
    assert calls == [own.split(), *2 * [["-o", "any/where", "here"]]]


@pytest.mark.parametrize(
    "options, word",
    [
        ("victim", "victim"),
        ("-o victim", "victim"),
        ("-ovictim", "-ovictim"),
        ("5", "5"),
        ("--model=victim", "--model=victim"),
        ("-q 5", "5"),
        ("-c 5 6", "6"),
        ("-c ./5", "./5"),
        ("-- -c", "--"),
        ("-c - 5", "-"),
        ("-c nan", "nan"),
        ("-c 1_0", "1_0"),
        ("@victim", "@victim"),
        ("-c ''", ""),
        ("learner=linear -c 5", "learner=linear"),
        ("-c \u0665", "\u0665"),
        ("-c '5\n'", "5\\n"),
    ],
)
def test_options_that_it_may_not_have(options, word):
    with pytest.raises(UsageError) as caught:
        TrainerOptions.parse(options, trusted="-c 1", file="own", line=3, column=4)
    assert str(caught.value).startswith(f"own:3:4: the word '{word}' of the options")
    assert (
        TrainerOptions.parse(options, allowed=True)
        == TrainerOptions.parse(options, trusted=options)
        == TrainerOptions(options)
    )


def test_allowing_commands_needs_one(place):
    error(
        place.call("multi_borders", "-M", "--allow-commands", "plan", "trn.svm", "x", "xctl"),
        2,
        "--allow-commands needs --",
    )


def test_a_trainer_that_changes_its_input(place, script):
    """The data were read before: each program has the same."""
    command = script(
        "program.py",
        f"{HEAD}open('trn.svm', 'w'); open('plan', 'w')\n"
        "open(model, 'w').write(open(data).read())\n",
    )
    place.ok("multi_borders", "-M", "--", "cp", "plan", "trn.svm", "c", "cctl")
    place.ok("multi_borders", "-M", "--", command, "plan", "trn.svm", "d", "dctl")
    for i in range(3):
        assert (place / f"d-0{i}").read_bytes() == (place / f"c-0{i}").read_bytes()
    assert left_behind(place) == []


def test_a_trainer_that_prints_megabytes(place, script):
    command = script(
        "program.py",
        f"{HEAD}for file in sys.stdout, sys.stderr:\n"
        "    file.write('x' * 5_000_000)\nopen(model, 'w').write(good)\n",
    )
    done = place.run(
        "multi_borders", "--quiet", "-M", "--", command, "plan", "trn.svm", "d", "dctl"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_trainer_that_leaves_something_running(place, script):
    """Which is not waited for."""
    command = script(
        "program.py",
        f"{HEAD}child = subprocess.Popen(['sleep', '100'])\n"
        "open('children', 'a').write(f'{child.pid}\\n')\n"
        "open(model, 'w').write(good)\n",
    )
    begin = time.monotonic()
    place.ok("multi_borders", "-M", "--", command, "plan", "trn.svm", "d", "dctl")
    assert time.monotonic() - begin < 60 and left_behind(place) == []
    for pid in (place / "children").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
