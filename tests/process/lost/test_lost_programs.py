"""Programs of the user's that lie, or do more than they were asked for."""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import pytest

HEAD = """import os, subprocess, sys, time
data, model = sys.argv[-2:]
good = open("m-00").read()
bare = good.split("#")[0]  # without its checksum
"""
# what it does, and what is said of it
TRAINERS = {
    "another name": ("open(model + '.svm', 'w').write(good)",
                     "wrote no model, but 'm-01.svm': a model has the name that is given"),
    "a fifo": ("os.mkfifo(model)", "wrote something in place of a file: 'm-01'"),
    "a link": ("os.symlink(os.path.abspath('m-00'), model)",
               "wrote a symbolic link in place of a file: 'm-01'"),
    "a link beside it": ("open(model, 'w').write(good); os.symlink('/etc', model + '.x')",
                         "wrote a symbolic link in place of a file: 'm-01.x'"),
    "its folder removed": ("import shutil; shutil.rmtree(os.path.dirname(model))",
                           "wrote no model that can be read"),
    "other labels": ("open(model, 'w').write(bare.replace('label 0 1', 'label 2 5'))",
                     "wrote a wrong model: expected the labels 0 and 1"),
    "other features": ("open(model, 'w').write(bare.replace(' 4:', ' 9:'))",
                       "wrote a wrong model: it is of 9 features, and the points have 4"),
    "nan": ("lines = bare.split('\\n'); lines[-2] = 'nan ' + lines[-2].split(' ', 1)[1]; "
            "open(model, 'w').write('\\n'.join(lines))", "wrote a wrong model: "),
    "half": ("open(model, 'w').write(good[:len(good) // 2])", "wrote a wrong model: "),
    "empty": ("open(model, 'w')", "wrote an empty model"),
    "writes and fails": ("open(model, 'w').write(good); sys.exit(7)", "failed with status 7"),
    "much noise": ("sys.stdout.write('x' * 5_000_000 + '\\nend\\n'); sys.exit(1)",
                   "failed with status 1: x")}


@pytest.fixture
def script(place):
    def write(code, name="program.py"):
        (place / name).write_text(code)
        return shlex.join([sys.executable, str(place / name)])

    return write


def told(done, status, words):
    assert done.status == status and len(done.line(words)) < 3000, done


def left(place):
    return [name for name in os.listdir(place.folder) if name.startswith((".agfmc", "agfmc"))]


@pytest.mark.parametrize("how", TRAINERS)
def test_a_trainer_that_writes_a_wrong_model(place, script, how):
    code, words = TRAINERS[how]
    command = script(f"{HEAD}if 'm-01' in model:\n    {code}\n"
                     "else:\n    open(model, 'w').write(good)\n")
    before = place.files()
    done = place.call("multi_borders", "-M", "--", command, "plan", "trn.svm", "m", "ctl")
    told(done, 3, words)
    assert place.files() == before and left(place) == []


def test_a_trainer_that_changes_its_input(place, script):
    """The data were read before: each program has the same."""
    command = script(f"{HEAD}open('trn.svm', 'w'); open('plan', 'w')\n"
                     "open(model, 'w').write(open(data).read())\n")
    place.ok("multi_borders", "-M", "--", "cp", "plan", "trn.svm", "c", "cctl")
    place.ok("multi_borders", "-M", "--", command, "plan", "trn.svm", "d", "dctl")
    for i in range(3):
        assert (place / f"d-0{i}").read_bytes() == (place / f"c-0{i}").read_bytes()
    assert left(place) == []


def test_a_trainer_that_prints_megabytes(place, script):
    command = script(f"{HEAD}sys.stdout.write('x' * 5_000_000)\nsys.stderr.write('y' * 5_000_000)\n"
                     "open(model, 'w').write(good)\n")
    done = place.run("multi_borders", "-M", "--", command, "plan", "trn.svm", "d", "dctl")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_trainer_that_leaves_something_running(place, script):
    """Which is not waited for."""
    command = script(f"{HEAD}child = subprocess.Popen(['sleep', '100'])\n"
                     "open('children', 'a').write(f'{child.pid}\\n')\n"
                     "open(model, 'w').write(good)\n")
    begin = time.monotonic()
    place.ok("multi_borders", "-M", "--", command, "plan", "trn.svm", "d", "dctl")
    assert time.monotonic() - begin < 60 and left(place) == []
    for pid in (place / "children").read_text().split():
        os.kill(int(pid), signal.SIGKILL)


PREDICTORS = {
    "outside": ("'labels 0 1\\n' + '0 1.5 -0.5\\n' * n", "expected a probability from 0 to 1"),
    "no sum": ("'labels 0 1\\n' + '0 0.5 0.5\\n' * 5 + '0 0.9 0.9\\n' * (n - 5)",
               "wrote probabilities that sum to 1.8, not to 1 (line 7)"),
    "infinite": ("'labels 0 1\\n' + '0 inf 0\\n' * n", "line 2"),
    "too few": ("'labels 0 1\\n' + '0 1 0\\n' * (n - 1)", "wrote 59 answers for 60 points"),
    "columns": ("'labels 0 1\\n' + '0 0.5 0.3 0.2\\n' * n", "line 2: expected 3 numbers"),
    "the same label": ("'labels 0 0\\n' + '0 0.5 0.5\\n' * n", "expected different labels"),
    "a large class": ("'99999999999999\\n' * n", "a whole number of 32 bits"),
    "no text": ("'\\0\\1' * 999", "is not text"),
    "a fifo": (None, "cannot be read: it is not a file"),
    "a link": (None, "cannot be read: it is not a file"),
    "a folder": (None, "cannot be read: it is not a file")}
MAKES = {"a fifo": "os.mkfifo(output)", "a link": "os.symlink('/dev/zero', output)",
         "a folder": "os.mkdir(output)"}


@pytest.mark.parametrize("how", PREDICTORS)
def test_a_predictor_that_writes_wrong_answers(place, script, how, monkeypatch):
    text, words = PREDICTORS[how]
    makes = MAKES.get(how) or f"open(output, 'w').write({text})"
    command = script("import os, sys\npoints, model, output = sys.argv[-3:]\n"
                     f"n = len(open(points).readlines())\n{makes}\n")
    (place / "answer").write_bytes(b"older")
    (place / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place / "tmp"))
    before = place.files()
    done = place.call("classify_m", "-M", "-O", command, "ctl", "tst.svm", "answer")
    told(done, 1, words)
    assert place.files() == before and os.listdir(place / "tmp") == []


CLOSED = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
RUNS = {
    "agf_preprocess": ["-n", "trn", "c"], "svm2agf": ["trn-words.svm", "c"],
    "multi_borders": ["-j", "2", "plan", "trn", "c", "cctl"], "mbh2mbm": ["ctl", "c.mbm"],
    "classify_m": ["all.mbm", "tst.vec", "c"], "print_control": ["5"],
    "float_to_class": ["trn.dat", "c.cls"], "agf2ascii": ["-M", "trn", "c.txt"],
    "compare_control": ["--trials", "2", "--state", "st", "trn", "tree"]}


@pytest.mark.parametrize("command", [
    pytest.param(name, marks=() if name in ("multi_borders", "classify_m") else pytest.mark.long)
    for name in RUNS])
def test_streams_that_are_closed(place, command):
    """No file takes the number of one; what is to be printed and cannot is an error."""
    (place / "trn.dat").write_bytes(b"\0\0\0\0\0\0\x80\x3f" * 30)
    before = place.files()
    place.ok(command, *RUNS[command])
    whole = place.files()
    new = {name: whole[name] for name in whole if name not in before and name != "st"}
    prints = command in ("classify_m", "print_control", "compare_control", "float_to_class")
    for streams in CLOSED:
        for name in [*new, "st"]:
            (place / name).unlink(missing_ok=True)

        def close(streams=streams):
            for number in streams:
                os.close(number)

        done = place.run(command, *RUNS[command], stdout=None if 1 in streams else subprocess.PIPE,
                         stderr=None if 2 in streams else subprocess.PIPE, preexec_fn=close)
        after = {name: content for name, content in place.files().items() if name != "st"}
        if prints and 1 in streams and done.returncode:
            assert done.returncode == 1, streams
            assert after == {name: content for name, content in before.items() if name != "st"}
        else:
            assert done.returncode == 0, (streams, done.stderr)
            assert {name: after[name] for name in new} == new, streams
        assert left(place) == []
