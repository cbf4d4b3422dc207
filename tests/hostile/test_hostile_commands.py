"""Broken files and random command lines through every command."""

import json
import os
import random
import re
import shutil
import signal
import sys
from pathlib import Path

import hostile_readers as right
import numpy as np
import pytest
from agfmc.cli import parser_of
from agfmc.cli.messages import wants_events
from hostile_checks import guarded, outcome
from hostile_mutations import damaged

READERS = right.readers()
VARIANTS = 3  # broken files for each line below

PLAN = b'"" 0 / 1;\n"" 0 / 2;\n"" 1 / 2;\n{ 0 1 2}\n'
TRAINED = b"a 0 / 1;\nb 0 / 2;\nc 1 / 2;\n{\n0\n1\n2\n}\n"
SVM_MODEL = right.readers()["svm model"].seeds[0]
DATA = np.repeat(np.arange(3), 8)
POINTS = np.round(np.random.default_rng(4).normal(size=(24, 3)) + DATA[:, None], 3)
LOGISTIC = b"agfmc logistic 1\nclasses 2\nfeatures 3\nridge 1.0\npoints 9\n1 2 3 4\n-1 0 .5 1\n"
# kind of file, its name, a reader of it, commands that read it
LINES = [
    (
        "plan",
        "control",
        [
            "print_control -Q 9 BAD",
            "multi_borders BAD trn out/m out/c",
            "nfold BAD trn out/n",
            "tune_m BAD trn",
            "order_classes BAD",
            "compare_control trn BAD",
        ],
    ),
    (
        "trained",
        "control",
        [
            "classify_m BAD tst.vec out/o",
            "mbh2mbm BAD out/o",
            "mbm_info BAD",
            "print_control --report=-.dot -Q 9 BAD",
        ],
    ),
    (
        "a",
        "svm model",
        [
            "classify_m trained tst.vec out/o",
            "mbh2mbm trained out/o",
            "mbm_info trained",
            "classify_m -M trained tst.svm out/o",
        ],
    ),
    (
        "multiclass",
        "svm multiclass",
        [
            "classify_m BAD tst.vec out/o",
            "mbh2mbm BAD out/o",
            "mbm_info --json BAD",
            "mbh2mbm -Z BAD out/o",
        ],
    ),
    (
        "ascii",
        "ascii model",
        [
            "classify_m BAD tst.vec out/o",
            "mbh2mbm BAD out/o",
            "mbm_info BAD",
            "mbh2mbm --libsvm BAD out/o",
        ],
    ),
    (
        "l",
        "logistic model",
        ["classify_m logistic tst.vec out/o", "mbh2mbm logistic out/o", "mbm_info logistic"],
    ),
    (
        "trn.vec",
        "vec",
        [
            "multi_borders plan trn out/m out/c",
            "agf2ascii trn out/o",
            "agf_preprocess -n trn out/o",
            "nfold plan trn out/n",
            "print_control -Q 3 trn",
            "order_classes --adjacent mean-deviation plan trn",
            "tune_m plan trn",
            "compare_control trn",
        ],
    ),
    ("trn.cls", "cls negative", ["agf2ascii trn out/o"]),
    (
        "trn.cls",
        "cls",
        [
            "multi_borders plan trn out/m out/c",
            "agf_preprocess trn out/o",
            "print_control -Q 0 trn",
            "eval_uc trn.cls result",
            "cls_comp_stats trn.cls result",
        ],
    ),
    (
        "tst.vec",
        "vec to classify",
        ["classify_m trained tst.vec out/o", "classify_m -Q 0 ascii tst.vec out/o"],
    ),
    (
        "result.cls",
        "cls negative",
        [
            "eval_uc trn.cls result",
            "cls_comp_stats trn.cls result",
            "validate_probabilities -b trn.cls result",
        ],
    ),
    (
        "result.con",
        "dat",
        ["eval_uc -k 3 trn.cls result", "validate_probabilities -b trn.cls result"],
    ),
    ("values.dat", "dat", ["float_to_class BAD out/o", "float_to_class -M BAD"]),
    (
        "trn.std",
        "std",
        [
            "multi_borders -a BAD plan trn out/m out/c",
            "classify_m -a BAD trained tst.vec out/o",
            "mbh2mbm -a BAD trained out/o",
            "agf_preprocess -a BAD trn out/o",
        ],
    ),
    (
        "trn.svm",
        "svm text",
        [
            "multi_borders -M plan BAD out/m out/c",
            "svm2agf BAD out/o",
            "print_control -M -Q 3 BAD",
            "nfold -M plan BAD out/n",
            "agf_preprocess -M -n BAD out/o",
            "svm2agf -U BAD out/o",
        ],
    ),
    ("tst.svm", "svm text to classify", ["classify_m -M trained BAD out/o"]),
    (
        "trn.lvq",
        "lvq",
        [
            "multi_borders -A plan BAD out/m out/c",
            "lvq2agf BAD out/o",
            "print_control -A -Q 3 BAD",
            "nfold -A plan BAD out/n",
        ],
    ),
    ("tst.lvq", "lvq in chunks", ["classify_m -A trained BAD out/o"]),
    (
        "trn.names",
        "names",
        [
            "multi_borders plan trn out/m out/c",
            "print_control -Q 0 trn",
            "print_control --names BAD 3",
            "agf2ascii --words trn out/o",
        ],
    ),
    ("printed", "probabilities", ["eval_uc trn.cls result BAD"]),
    ("earlier", "probabilities", ["eval_uc --before BAD trn.cls result printed"]),
    ("result.sets", "sets", ["eval_uc --sets BAD trn.cls result"]),
    (
        "pairs",
        "pair errors",
        [
            "order_classes --errors BAD plan",
            "classify_m -Q radag --pair-errors BAD trained tst.vec out/o",
        ],
    ),
    (
        "table",
        "confusions",
        ["print_control -Q contingency BAD", "print_control -Q adjacent-ordered BAD"],
    ),
    ("predicted", "svm-predict", ["svmout2agf BAD out/o"]),
    (
        "points.csv",
        "table",
        [
            "table2agf BAD out/o",
            "multi_borders plan BAD out/m out/c",
            "eval_uc BAD --truth class --predicted y",
            "eval_uc answers.jsonl --truth class --data BAD",
        ],
    ),
    ("answers.jsonl", "answers", ["eval_uc BAD --truth class --data points.csv"]),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder in which all these commands end well; and "out", an empty one."""
    folder = tmp_path_factory.mktemp("right")
    from agfmc.data.libagf import con_bytes
    from data_files import write_cls, write_lvq, write_svm, write_vec

    (folder / "out").mkdir()
    base = str(folder)
    for name in ("trn", "tst"):
        write_vec(f"{base}/{name}.vec", POINTS)
        write_svm(f"{base}/{name}.svm", POINTS, DATA)
        write_lvq(f"{base}/{name}.lvq", POINTS, DATA)
    write_cls(f"{base}/trn.cls", DATA)
    write_cls(f"{base}/result.cls", DATA)
    Path(f"{base}/result.con").write_bytes(con_bytes(np.linspace(0, 1, 24)))
    rows = np.full((24, 3), 0.25)
    rows[np.arange(24), DATA] = 0.5
    made = {
        "plan": PLAN,
        "trained": TRAINED,
        "a": SVM_MODEL,
        "b": SVM_MODEL,
        "c": SVM_MODEL,
        "multiclass": right.MULTICLASS,
        "l": LOGISTIC,
        "logistic": b'l L "" {0 1}',
        "values.dat": right.CON,
        "trn.std": np.int32(4).tobytes() + np.eye(3, 4, dtype="<f4").tobytes(),
        "trn.names": "ant\nb\u00e4r\ncat\n".encode(),
        "pairs": right.PAIRS,
        "table": right.JSON,
        "predicted": READERS["svm-predict"].seeds[0],
        "ascii": right.ASCII.replace(b"3 2\n-1 0\n0 1\n2 2.5", b"3 3\n-1 0 0\n0 1 0\n2 2.5 0"),
        "printed": b"labels 0 1 2\n" + right.libagf_text.format_points(rows, DATA),
        "points.csv": b"x,y,class\n"
        + b"".join(b"%d.5,%d,%d\n" % (i, label, label) for i, label in enumerate(DATA)),
        "answers.jsonl": b"".join(b'{"class": "%d", "p": 0.5}\n' % label for label in DATA),
        "result.sets": "".join(f"{label} 1\n" if label != 1 else "-\n" for label in DATA).encode(),
    }
    made["earlier"] = made["printed"]
    for name, data in made.items():
        (folder / name).write_bytes(data)
    return folder


CASES = [(name, reader, line) for name, reader, lines in LINES for line in lines]


@pytest.mark.few(11)
@pytest.mark.parametrize(
    "name, reader, line", CASES, ids=[f"{name}, {line}" for name, _, line in CASES]
)
@pytest.mark.parametrize("count", [VARIANTS, pytest.param(100, marks=pytest.mark.long)])
def test_a_broken_file(name, reader, line, count, files, monkeypatch, run):
    monkeypatch.chdir(files)
    monkeypatch.setattr(sys, "argv", ["test"])
    command, *words = line.replace("BAD", name).split()
    good = Path(name).read_bytes()
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    broken = variants(READERS[reader], name, good, count)
    assert len(broken) >= min(count, 2)
    try:
        for what, data in broken:
            Path(name).write_bytes(data)
            done = run(command, "--quiet", *words, status=None)
            told = what, data[:200], done
            assert done.status == 1 and name.rpartition(".")[0] in done.line(), told
            assert "Traceback" not in done.err and "internal error" not in done.err, told
            assert done.err[:-1].isprintable() and len(done.err) < 2300, told
            Path(name).write_bytes(good)
            after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
            assert after == before, (what, sorted(set(after) ^ set(before)))
    finally:
        Path(name).write_bytes(good)
        for path in Path("out").iterdir():
            os.unlink(path)


def variants(reader, name, good, count):
    """Some broken files which the reader refuses, spread over all that are made."""
    chosen, path = [], f"bad{os.path.splitext(name)[1]}"
    everything = list(damaged(good[:4000], reader.text))
    step = max(1, len(everything) // (count + 2) - 1)
    with guarded():
        for start in range(step):
            for what, data in everything[start::step]:
                Path(path).write_bytes(data)
                if outcome(reader, path, data) == "refused":
                    chosen.append((what, data))
                if len(chosen) == count:
                    os.unlink(path)
                    return chosen
            if start == 20:
                break
    os.unlink(path)
    return chosen


@pytest.mark.few(4)
@pytest.mark.parametrize("line", sorted({line for *_, line in CASES}))
def test_these_commands_end_well_with_good_files(line, files, monkeypatch, run):
    monkeypatch.chdir(files)
    name = next(name for name, _, other in CASES if other == line)
    command, *words = line.replace("BAD", name).split()
    try:
        run(command, "--quiet", *words)
    finally:
        for path in Path("out").iterdir():
            os.unlink(path)


COMMANDS = sorted(path.name for path in (Path(__file__).resolve().parents[2] / "bin").iterdir())
STATUSES = {0, 1, 2, 3}
PATIENCE = 120
LINES_LINES, FEW = 12, 3  # of each command in the quick test; of one that trains again and again
MANY = 1500
AGAIN = {"trials", "rounds", "draws", "refine"}  # what is done so often may take so long
LEFT_OUT = {"executor", "command", "predictor", "debug", "time_limit"}
WORDS = {
    "method": (
        "0",
        "1",
        "-1",
        "inverse",
        "vote",
        "4",
        "ddag",
        "adag",
        "radag",
        "poll",
        "and",
        "argmax",
        "loss:hinge",
        "zadrozny",
        "wu-lin-weng",
    ),
    "decoder": ("0", "1", "vote", "inverse,vote", "ddag", "recursive", "full", ",", "-1"),
    "type": (
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
        "8",
        "9",
        "10",
        "16",
        "empirical",
        "contingency",
        "adjacent-ordered",
        "exhaustive",
        "convert",
        "empirical linkage=average metric=mean-deviation",
        "random draws=3 strict=yes",
        "ensemble members=2 of=random",
        "tree rows",
    ),
    "options": (
        "",
        "-c 10",
        "-t 0",
        "-t 4",
        "-s 3",
        "-c -1",
        "-g 1e300",
        "-t 1 -d 3 -r 1",
        "learner=logistic",
        "learner=linear -s 0",
        "learner=none",
        "-w-1 2",
        '"',
        "-h 2",
        "-s 1 -n .2",
        "-e 1e-30",
        "-c 1e-300",
        "-m 1",
    ),
    "only": ("m-00", "m-1", "z", "/"),
    "labels": ("2,5,9", "9,5,2", "2,2", "1", "a"),
    "priors": (".2,.3,.5", "1,1,1", "trn", "0,0,0", "2:.1,5:.4,9:.5", "1e-300,1,1", "-1,1,1"),
    "trained_priors": (".2,.3,.5", "1,1,1", "trn", "0,1,2"),
    "kernels": ("rbf", "linear,rbf", "polynomial", "sigmoid", "none", ""),
    "space": (
        "C=-1:1 gamma=-1:1 kernel=rbf",
        "C=0 gamma=-2000:-1999",
        "C=1e9:1e9 gamma=1:2:3:4",
        "k=0:2",
        "ridge=-60:60:40",
        "kernel=polynomial degree=2:3 coef0=0,1e300",
        "kernel=sigmoid",
        "",
    ),
    "similarity": ("0", ".5", "2", "x"),
    "label": ("class", "f1", "5", "0", "Class"),
    "id": ("f1", "f1,f2", "9", "class"),
    "ignore": ("f1", "f1,f2,f3,f4", "class", "f1,f1"),
    "categorical": ("f1", "f1,f4", "class"),
    "weight": ("f1", "f2", "class", "6"),
    "delimiter": (",", ";", "tab", ",,", '"'),
    "blanks": ("0", "-1,2", "5", ""),
    "missing": ("median", "value:2", "0", "none", "indicator"),
    "column": ("class", "f1", "7"),
    "predicted": ("f1", "f2", "none"),
    "names": ("words", "words.names", "plan", "none"),
    "numbers": ("0", ".5", "-1", "1e300", "nan"),
}
NUMBERS = ("0", "1", "2", "3", "5", ".5", ".25")
ODD = (
    "",
    "-1",
    "1e999",
    "nan",
    "abc",
    "99999999999999999999",
    "1000000000000",
    "-0",
    "0x10",
    "1_0",
    "\u0663",
    "2:3",
    "a\nb",
    "plan",
    "trn",
    "1,2,3",
    "-",
    "--",
)
FILES = (
    "plan",
    "trn",
    "trn.vec",
    "trn.cls",
    "trn.svm",
    "trn.lvq",
    "m",
    "ctl",
    "all.mbm",
    "m-00",
    "trn.txt",
    "out",
    "out.mbm",
    "2",
    "3",
    "5",
    "tree",
    "m.std",
    "folder",
    "nothing",
    "-",
    "knn",
    "kctl",
    "answer",
    "answer.cls",
    "answer.txt",
    "one.dat",
    "words",
    "empty",
    "odd",
)
TAKES = {  # operands that make sense, for most of the lines
    "agf_train": [("trn", "trn.csv"), ("out.mbm",)],
    "agf2ascii": [("trn", "odd"), ("out.txt",)],
    "agf_preprocess": [("trn",), ("out", "new")],
    "calibrate_m": [("all.mbm", "ctl", "tree", "kctl", "m-00"), ("--data",), ("trn",)],
    "classify_m": [
        ("all.mbm", "ctl", "tree", "kctl", "m-00"),
        ("trn.vec", "trn.svm", "-"),
        ("out",),
    ],
    "cls_comp_stats": [("trn.cls",), ("answer",)],
    "compare_control": [("trn",), ("one-vs-one", "plan", "tree")],
    "eval_uc": [
        ("trn.cls", "trn.cls", "trn.vec", "trn.csv"),
        ("answer", "trn"),
        ("answer.txt", "trn.txt"),
    ],
    "float_to_class": [("one.dat",), ("out.cls",), (".5", "1")],
    "lvq2agf": [("trn.lvq",), ("out",)],
    "mbh2mbm": [("ctl", "kctl", "m-00", "all.mbm"), ("out.mbm",)],
    "mbm_info": [("all.mbm", "ctl", "trn.vec")],
    "multi_borders": [("plan", "tree", "knn"), ("trn", "trn.svm"), ("m", "new"), ("out",)],
    "nfold": [("plan", "tree", "one-vs-one"), ("trn",), ("out",)],
    "order_classes": [("ctl", "plan"), ("trn",)],
    "print_control": [("3", "5", "trn", "ctl", "plan", "answer.txt"), ("3", "4", "9")],
    "simulate_decoders": [],
    "svm2agf": [("trn.svm",), ("out",)],
    "svmout2agf": [("predicted", "predicted", "answer.txt"), ("out",)],
    "table2agf": [("trn.csv",), ("out",)],
    "tune_m": [("plan", "one-vs-one", "node"), ("trn",)],
    "validate_probabilities": [("zero.cls",), ("agf.txt", "agf.txt", "answer.txt"), ("out",)],
}


@pytest.fixture(scope="module")
def call(run):
    """Function that runs a command, which may take `PATIENCE`."""

    def hang(number, frame):
        raise TimeoutError

    def call(command, *words):
        before = signal.signal(signal.SIGALRM, hang)
        signal.alarm(PATIENCE)
        try:
            return run(command, *words, stdin="2 1:0.5 2:1\n5 1:1\n", status=None)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    return call


@pytest.fixture(scope="module")
def made(call, tmp_path_factory):
    """A folder with files of every kind."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        rng = np.random.default_rng(5)
        labels = np.repeat([2, 5, 9], 12).astype("<i4")
        x = (np.round(8 * (rng.normal(size=(36, 4)) + labels[:, None])) / 8).astype("<f4")
        Path("trn.vec").write_bytes(np.int32(4).tobytes() + x.tobytes())
        labels.tofile("trn.cls")
        (labels // 4).tofile("zero.cls")
        (labels / 9).astype("<f4").tofile("one.dat")
        for kind in ("-M", "-A"):
            status, out, _ = call("agf2ascii", *(["-M"] if kind == "-M" else []), "trn")
            assert status == 0
            Path("trn.svm" if kind == "-M" else "trn.lvq").write_text(out)
        assert call("agf2ascii", "trn", "trn.csv")[0] == 0
        Path("plan").write_text('"" 0 / 1;\n"" 0 / 2;\n"" 1 / 2;\n{ 2 5 9}\n')
        Path("tree").write_text("t0 { 2 t1 { 5 9 } }\n")
        Path("knn").write_text('"-k 3" K { 2 5 9 }\n')
        Path("node").write_text('"" K { 2 5 9 }\n')
        Path("words").write_text("2 pine\n5 b\u00e4r\n9 moss\n")
        Path("empty").write_text("")
        Path("odd").write_bytes(bytes(range(256)))
        Path("folder").mkdir()
        assert call("multi_borders", "-n", "plan", "trn", "m", "ctl")[0] == 0
        assert call("multi_borders", "knn", "trn", "k", "kctl")[0] == 0
        assert call("mbh2mbm", "-a", "m.std", "ctl", "all.mbm")[0] == 0
        status, out, _ = call("classify_m", "--header", "all.mbm", "trn.vec", "answer")
        assert status == 0
        Path("answer.txt").write_text(out)
        rows = [line.split() for line in out.splitlines()[1:]]
        Path("agf.txt").write_text("3\n" + "\n".join(map(" ".join, rows)) + "\n")
        Path("predicted").write_text(
            "labels 2 5 9\n" + "".join(" ".join([label, *p]) + "\n" for *p, label in rows)
        )
    return folder


SLOW = {"agf_train", "compare_control", "nfold", "simulate_decoders", "tune_m"}


def random_line(command, rng):
    """The words of one command line."""
    parser = parser_of(command)
    words = {"simulate_decoders": ["--rounds", "50"], "agf_train": ["--time-limit", "2"]}.get(
        command, []
    )
    options = [
        action
        for action in parser._actions
        if action.option_strings and action.dest not in LEFT_OUT | {"help", "version"}
    ]
    for action in rng.sample(options, min(len(options), rng.choice((0, 0, 1, 1, 1, 2, 3, 5)))):
        words.append(rng.choice(action.option_strings))
        if action.nargs is None:
            words.append(_value(action, rng))
    if rng.random() < 0.85:
        places = TAKES[command]
        words += [
            rng.choice(place if rng.random() < 0.9 else FILES)
            for place in places
            if rng.random() < (0.97 if len(places) > 2 else 0.7)
        ]
    else:
        words += rng.choices(FILES + ODD, k=rng.randrange(6))
    return words


def _value(action, rng):
    if rng.random() < 0.2:
        word = rng.choice(ODD)
        return "3" if word == "1000000000000" and action.dest in AGAIN else word
    if action.choices:
        return rng.choice(list(action.choices))
    if action.dest in WORDS:
        return rng.choice(WORDS[action.dest])
    if action.type is None or rng.random() < 0.1:
        return rng.choice(FILES)
    return rng.choice(NUMBERS)


# of what a name is taken for: no errors
NOTES = re.compile(".* is taken for .*|.* is LIBSVM text, and read as with -M")


def check(call, command, seed, made, folder):
    """One line, run in a copy of the folder `made`; -> its status."""
    words = random_line(command, random.Random(f"{command} {seed}"))
    told = f"{seed}: {command} {words!r}"
    shutil.copytree(made, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        status, _, err = call(command, *words)
    assert status in STATUSES, told
    assert "internal error" not in err and "Traceback" not in err, f"{told}\n{err}"
    lines = err.splitlines()
    if wants_events(words):
        events = list(map(json.loads, lines))
        assert (events[0]["event"], events[-1]["event"]) == ("start", "done"), told
        assert events[-1]["status"] == status, told
        lines = [f"{command}: {one['text']}" for one in events if one["event"] == "error"]
    if status in (1, 2):
        errors = [
            line
            for line in lines
            if not line.startswith(f"{command}: warning: ") and not NOTES.fullmatch(line)
        ]
        if errors[0].startswith(f"usage: {command}"):  # above the error where there is no operand
            assert "operands are missing" in errors[-1], f"{told}\n{err}"
            errors = errors[-1:]
        assert len(errors) == 1 and len(errors[0]) < 1500, f"{told}\n{err}"
        assert status == 1 or "Error" not in errors[0], f"{told}\n{err}"
    assert not list(folder.rglob(".agfmc-*")), told
    if status == 2:
        for path in made.iterdir():
            if path.is_file():
                assert (folder / path.name).read_bytes() == path.read_bytes(), told
    shutil.rmtree(folder)
    return status


@pytest.mark.few(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_some_lines(call, command, made, tmp_path):
    for seed in range(FEW if command in SLOW else LINES_LINES):
        check(call, command, seed, made, tmp_path / "here")


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_many_lines(call, command, made, tmp_path):
    counts = dict.fromkeys(sorted(STATUSES), 0)
    many = MANY // 10 if command in SLOW else MANY
    for seed in range(many):
        counts[check(call, command, seed, made, tmp_path / "here")] += 1
    print(command, counts)
    assert counts[0] > many / 50 and counts[2] > many / 50


def test_every_command_has_operands():
    assert set(TAKES) == set(COMMANDS)


@pytest.mark.parametrize(
    "words, status, told",
    [
        (["agf_preprocess", "--svd", "--", "trn", "new"], 2, "expected a whole number, found '--'"),
        (["mbh2mbm", "-a", "--", "ctl", "out.mbm"], 1, "--: cannot read"),
        (["float_to_class", "-T", "--", "one.dat", "out.cls"], 2, "expected a number, found '--'"),
    ],
)
def test_two_dashes_as_a_value(call, words, status, told, made, monkeypatch):
    monkeypatch.chdir(made)
    found, _, err = call(*words)
    assert found == status and told in err
