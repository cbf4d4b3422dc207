"""The chain of commands on small data: every way round the same bytes, in any surroundings."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


def classes(place, base):
    return np.frombuffer((place / f"{base}.cls").read_bytes(), "<i4")


def confidence(place, base):
    return np.frombuffer((place / f"{base}.con").read_bytes(), "<f4")


def table(text):
    return np.array([line.split() for line in text.decode().splitlines()], dtype=float)


def test_from_text_to_scores(place):
    """The answers are there when the table in the pipe ends, and not before."""
    place.ok("svm2agf", "trn.svm", "a")
    place.ok("agf_preprocess", "-f", "0.25", "--stratified", "a", "b", "c")
    out = place.shell(
        "print_control -Q 0 b | multi_borders -n b n nctl; mbh2mbm -a n.std nctl n.mbm;"
        "classify_m --header n.mbm c.vec out | eval_uc -b -H c.cls out -"
    )
    truth, answers = classes(place, "c"), classes(place, "out")
    accuracy, uncertainty = map(float, out.split())
    assert accuracy == round(np.mean(truth == answers), 4)
    assert accuracy > 0.7 and 0 < uncertainty <= 1
    assert sorted(set(classes(place, "b"))) == sorted(set(truth)) == [2, 5, 9]


@pytest.mark.parametrize(
    "words, stdin",
    [
        (["-M", "plan", "trn.svm"], None),
        (["-M", "plan", "-"], "trn.svm"),
        (["-A", "plan", "trn.lvq"], None),
        (["trn"], "plan"),
        (["-", "trn"], "plan"),
    ],
    ids=["-M", "-M -", "-A", "control from a pipe", "control -"],
)
def test_every_kind_of_input_gives_the_same_models(place, words, stdin):
    place.ok(
        "multi_borders", *words, "t", "tctl", stdin=(place / stdin).read_bytes() if stdin else b""
    )
    for row in ("00", "01", "02"):
        assert (place / f"t-{row}").read_bytes() == (place / f"m-{row}").read_bytes()


@pytest.mark.parametrize(
    "words, stdin",
    [
        (["all.mbm", "-"], "tst.vec"),
        (["-M", "all.mbm", "tst.svm"], None),
        (["-M", "all.mbm", "-"], "tst.svm"),
        (["-A", "all.mbm", "tst.lvq"], None),
        (["-A", "all.mbm", "-"], "tst.lvq"),
        (["--calibration", "ctl.cal", "-", "tst.vec"], "ctl"),
        (["-", "tst.vec"], "all.mbm"),
    ],
    ids=["pipe", "-M", "-M pipe", "-A", "-A pipe", "control pipe", "model pipe"],
)
def test_every_kind_of_points_gives_the_same_answers(place, words, stdin):
    wanted = place.ok("classify_m", "all.mbm", "tst.vec", "one")
    out = place.ok(
        "classify_m", *words, "two", stdin=(place / stdin).read_bytes() if stdin else b""
    )
    assert out == wanted
    assert (place / "one.con").read_bytes() == (place / "two.con").read_bytes()


def test_words_as_labels_keep_their_names(place):
    place.ok("svm2agf", "trn-words.svm", "w")
    place.ok("svm2agf", "--names", "w.names", "tst-words.svm", "v")
    (place / "wplan").write_bytes(place.ok("print_control", "w"))
    place.ok("multi_borders", "wplan", "w", "wm", "wctl")
    place.ok("mbh2mbm", "wctl", "w.mbm")
    assert (place / "w.names").read_text() == "birch\nmoss\npine\n"
    assert b"# class 1: moss\n" in (place / "wplan").read_bytes()
    assert b"# class 1: moss\n" in (place / "wctl").read_bytes()
    assert b"3: 0 birch, 1 moss, 2 pine\n" in place.ok("mbm_info", "w.mbm")
    described = json.loads(place.ok("mbm_info", "--json", "w.mbm"))
    assert described["classes"][2] == {"label": 2, "name": "pine"}
    place.ok("classify_m", "w.mbm", "v.vec", "out")
    # the same points as those with numbers for labels, where pine was 2, birch 5, moss 9
    place.ok("classify_m", "all.mbm", "tst.vec", "numbers")
    assert np.mean(np.array([5, 9, 2])[classes(place, "out")] == classes(place, "numbers")) > 0.9
    assert "multi_borders" not in json.dumps(described)


def test_options_of_each_partition(place):
    (place / "own").write_text('# nested\n"-c 1 -g 0.5" {"-c 2 -t 0" {2 5} 9}\n')
    place.ok("multi_borders", "own", "trn", "o", "octl")
    assert (place / "octl").read_text().split() == "o { o.00 { 2 5 } 9 }".split()
    models = json.loads(place.ok("mbm_info", "--json", "octl"))["binary_models"]
    assert "-t 2 -g 0.5 -c 1.0" in models[0]["made_by"]["options"]
    assert "-t 0 -c 2.0" in models[1]["made_by"]["options"]
    assert (models[0]["left"], models[0]["right"]) == ([2, 5], [9])
    (place / "default").write_text('"" {"-c 2 -t 0" {2 5} 9}\n')
    place.ok("multi_borders", "-+", "-c 1 -g 0.5", "default", "trn", "d", "dctl")
    assert (place / "d").read_bytes() == (place / "o").read_bytes()


def test_a_trained_tree_becomes_a_code_over_the_same_models(place):
    place.ok("multi_borders", "trn", "t", "tctl", stdin=place.ok("print_control", "-Q2", "trn"))
    (place / "code").write_bytes(place.ok("print_control", "-Q", "9", "tctl"))
    assert (place / "code").read_bytes() == place.ok(
        "print_control", "-Q", "9", "-", stdin=(place / "tctl").read_bytes()
    )
    assert b"t 0 / 1 2;" in (place / "code").read_bytes()
    assert place.ok("classify_m", "-0", "code", "tst.vec", "a") == place.ok(
        "classify_m", "-0", "tctl", "tst.vec", "b"
    )
    assert table(place.ok("classify_m", "code", "tst.vec", "a")).shape == (60, 4)


def test_the_seed_moves_the_probabilities_only(place):
    place.ok("multi_borders", "--seed", "2", "plan", "trn", "s", "sctl")
    place.ok("multi_borders", "--seed", "1", "plan", "trn", "t", "tctl")
    assert (place / "t-00").read_bytes() == (place / "m-00").read_bytes()
    assert (place / "s-00").read_bytes() != (place / "m-00").read_bytes()
    f, g = (place.ok("classify_m", "-0", name, "tst.vec", "out") for name in ("sctl", "ctl"))
    assert f == g


NAMES = [
    ("trn", "m", "ctl"),
    ("da ta", "mo 'd", 'c"tl'),
    ("$(touch pwned);x", "a;b$HOME`x`", "#c"),
    ("-t", "-m {} \\", "-o"),
    ("ü\t*", "{}", "~"),
]


@pytest.mark.long
@pytest.mark.parametrize(
    "train, model, control, order",
    [(*names, order) for names, order in [(NAMES[0], "cat"), *((names, "tac") for names in NAMES)]],
    ids=["in order", "plain", "blanks", "shell", "minus", "odd"],
)
def test_commands_give_the_files_of_a_run(place, train, model, control, order):
    folders = []
    for name in ("whole", "parts"):
        folder = place / name
        folder.mkdir()
        for kind in (".vec", ".cls"):
            shutil.copy(place / f"trn{kind}", folder / f"{train}{kind}")
        folders.append(place.at(folder))
    whole, parts = folders
    operands = [
        "../plan",
        *(f"./{name}" if name.startswith("-") else name for name in (train, model, control)),
    ]
    words = ("-n", "-+", "-c 5 -g 0.1", "--seed", "4", *operands)
    whole.ok("multi_borders", *words)
    lines = parts.ok("multi_borders", "-0", *words)
    assert lines.count(b"\n") == 3
    assert control in parts.files()  # at once: the commands read it
    (place / "lines").write_bytes(lines)
    parts.shell(
        order + " ../lines | xargs -d '\\n' -P2 -I{} sh -c '{}'"
        if "{}" not in model
        else f"{order} ../lines | sh -e"
    )
    calibration = f"{control}.cal"
    path = f"./{control}" if control.startswith("-") else control
    for line in (
        ("mbh2mbm", "-a", f"{model}.std", path, "x.mbm"),
        ("classify_m", "-a", f"{model}.std", path, f"{train}.vec", "x"),
    ):
        line = [f"./{word}" if word.startswith("-") and word != "-a" else word for word in line]
        assert f"{control}: not calibrated, there is no " in parts.call(*line).err
        assert "not calibrated" not in parts.call(line[0], "--uncalibrated", *line[1:]).err
    for made in ("x.mbm", "x.cls", "x.con"):
        (place / "parts" / made).unlink()
    assert parts.files() == {
        name: raw for name, raw in whole.files().items() if name != calibration
    }
    assert "kept from an earlier run: 3 of 3" in parts.call("multi_borders", *words).err
    assert parts.files() == whole.files()  # the same command without -0 adds the calibration
    # data, models, control, normalisation, calibration
    assert len(whole.files()) == 2 + 3 + 1 + 1 + 1


def test_options_of_partitions_stand_in_the_commands(place):
    (place / "own").write_text('"-c 1 -g 0.5" {"-c 2 -t 0" {2 5} 9}\n')
    place.ok("multi_borders", "own", "trn", "o", "octl")
    place.each(place.ok("multi_borders", "-0", "own", "trn", "p", "pctl"))
    assert (place / "o").read_bytes() == (place / "p").read_bytes()
    assert (place / "o.00").read_bytes() == (place / "p.00").read_bytes()


def test_only_one_from_either_kind_of_control_file(place):
    place.ok("multi_borders", "--only", "x-01", "plan", "trn", "x", "xctl")
    assert (place / "x-01").read_bytes() == (place / "m-01").read_bytes()
    assert not (place / "x-00").exists() and not (place / "xctl").exists()
    wanted = (place / "m-02").read_bytes()
    (place / "m-02").unlink()
    place.ok("multi_borders", "--only=m-02", "-+", "", "ctl", "trn", "m", "unused")
    assert (place / "m-02").read_bytes() == wanted


TRAIN = ("multi_borders", "--retrain", "-M", "plan", "trn.svm", "n", "nctl")
DRAWN = (
    ("print_control", "-Q", "7", "6", "12"),
    ("simulate_decoders", "--rounds", "200", "--class-count", "5"),
)


def chain(place, call):
    """{name: bytes} of everything that a chain of commands leaves."""
    call(*TRAIN)
    call("mbh2mbm", "nctl", "n.mbm")
    call("mbh2mbm", "--ascii", "nctl", "n.mbaio")
    out = call("classify_m", "--header", "n.mbm", "tst.vec", "res")
    scores = call("eval_uc", "--json", "tst.cls", "res")
    made = {
        name: text
        for name, text in place.files().items()
        if name.startswith(("n-", "nctl", "n.mb", "res"))
    }
    return made | {"stdout": out, "scores": scores}


SURROUNDINGS = {
    "hash 1": dict(PYTHONHASHSEED="1"),
    "hash 4711": dict(PYTHONHASHSEED="4711"),
    "POSIX": dict(LC_ALL="POSIX", LANG="POSIX", PYTHONUTF8="0"),
    "German": dict(LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8", LC_NUMERIC="de_DE.UTF-8"),
    "threads": dict(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2", MKL_NUM_THREADS="2"),
    "zone": dict(TZ="Pacific/Auckland", COLUMNS="20", TERM="dumb"),
    "optimised": dict(PYTHONOPTIMIZE="2"),
}


SURROUNDINGS["all at once"] = {
    name: word for each in reversed(SURROUNDINGS.values()) for name, word in each.items()
}


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        name if name == "all at once" else pytest.param(name, marks=pytest.mark.long)
        for name in SURROUNDINGS
    ],
)
def test_the_same_bytes_in_other_surroundings(place, name):
    before = chain(place, place.ok)
    assert len(before) >= 9 and all(before.values())
    place.env.update(SURROUNDINGS[name])
    assert chain(place, place.process) == before


def test_draws_repeat_and_differ(place):
    for words in DRAWN:
        one, two = place.process(*words), place.ok(*words)
        assert one == two == place.ok(*words, "--seed", "1")
        assert place.ok(*words, "--seed", "2") != one


def test_a_command_called_as_a_function_puts_back_what_it_changed(tmp_path, root):
    """The environment, the filters of warnings and how they are shown."""
    code = (
        "import os, sys, warnings\n"
        "os.environ['OPENBLAS_NUM_THREADS'] = '7'\n"
        "os.environ.pop('OMP_NUM_THREADS', None)\n"
        "before = dict(os.environ), list(warnings.filters), warnings.showwarning\n"
        "from agfmc.cli import main_of\n"
        "main = main_of('print_control')\n"
        "assert main(['-Q', '7', '8', '6']) == 0 and main(['-Q', 'nothing', '3']) == 2\n"
        "assert (dict(os.environ), list(warnings.filters), warnings.showwarning) == before\n"
        "import agfmc.learners.svm as svm, agfmc.training.in_memory\n"
        "svm.library()\n"
        "assert dict(os.environ) == before[0]\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"warning: 6 rows" in done.stderr


COMMANDS = sorted(path.name for path in (Path(__file__).resolve().parents[2] / "bin").iterdir())
HEAVY = {"numpy", "scipy", "ctypes", "libsvm"}


# Runs each line in this process; heavy modules that are loaded then are named.
LIGHT = """
import sys
from agfmc.cli import main_of
for line in sys.argv[2:]:
    command, *words = line.split()
    assert main_of(command)(words) == 0, line
    assert not set(sys.modules) & set(sys.argv[1].split()), (line, set(sys.modules))
"""


def loaded(place, *words):
    """Top-level modules that a command loads, by the interpreter's own account."""
    done = place.run(*words, python=["-X", "importtime"])
    assert done.returncode == 0
    return {
        line.rsplit("|", 1)[1].strip().split(".")[0]
        for line in done.stderr.decode().splitlines()
        if line.startswith("import time:")
    }


def test_help_and_codes_with_a_pattern_are_light(place):
    lines = [f"print_control -Q {scheme} 26" for scheme in (0, 1, 2, 5, 6)]
    lines += [f"{command} --help" for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, " ".join(HEAVY), *lines],
        env=place.env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0 and len(COMMANDS) > 15, done.stderr.decode()
    modules = loaded(place, "multi_borders", "--help")
    assert "argparse" in modules and not modules & HEAVY
    assert "numpy" in loaded(place, "print_control", "trn")
    assert "scipy" not in loaded(place, "classify_m", "all.mbm", "tst.vec", "out")
    assert "scipy" not in loaded(
        place, "multi_borders", "--platt=cv", "--only", "t-00", "plan", "trn", "t", "tctl"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_version_go_to_standard_output(run, command):
    out, err = run(command, "--help")[1:]
    assert out.startswith(f"usage: {command} ") and err == ""
    out, err = run(command, "--version")[1:]
    assert re.fullmatch(rf"{command} \(agfmc\) \d+\.\d+\S*\n", out) and err == ""
