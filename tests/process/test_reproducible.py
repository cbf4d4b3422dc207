"""The bytes of models and answers depend on the data and the seed alone."""

import os
import subprocess
import sys

import pytest

TRAIN = ("multi_borders", "-M", "plan", "trn.svm", "n", "nctl")
DRAWN = (("print_control", "-Q", "7", "6", "12"),
         ("simulate_decoders", "--rounds", "200", "--classes", "5"))


def chain(place, *more):
    """{name: bytes} of everything that a chain of commands leaves."""
    place.process(*TRAIN, *more)
    place.process("mbh2mbm", "nctl", "n.mbm")
    place.process("mbh2mbm", "--ascii", "nctl", "n.mbaio")
    out = place.process("classify_m", "--header", "n.mbm", "tst.vec", "res")
    scores = place.process("eval_uc", "--json", "tst.cls", "res")
    made = {name: text for name, text in place.files().items()
            if name.startswith(("n-", "nctl", "n.mb", "res"))}
    return made | {"stdout": out, "scores": scores}


SURROUNDINGS = {
    "hash 1": dict(PYTHONHASHSEED="1"), "hash 4711": dict(PYTHONHASHSEED="4711"),
    "POSIX": dict(LC_ALL="POSIX", LANG="POSIX", PYTHONUTF8="0"),
    "German": dict(LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8", LC_NUMERIC="de_DE.UTF-8"),
    "threads": dict(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2", MKL_NUM_THREADS="2"),
    "zone": dict(TZ="Pacific/Auckland", COLUMNS="20", TERM="dumb"),
    "optimised": dict(PYTHONOPTIMIZE="2")}


SURROUNDINGS["all at once"] = {name: word for each in reversed(SURROUNDINGS.values())
                              for name, word in each.items()}


@pytest.mark.parametrize("name", [name if name == "all at once" else
                                  pytest.param(name, marks=pytest.mark.long)
                                  for name in SURROUNDINGS])
def test_the_same_bytes_in_other_surroundings(place, name):
    before = chain(place)
    assert len(before) >= 9 and all(before.values())
    place.env.update(SURROUNDINGS[name])
    assert chain(place) == before


@pytest.mark.long
def test_every_way_to_run_it_gives_the_same_bytes(many):
    """Threads, processes, a file, a pipe, a named pipe, and blocks of any size."""
    text = (many / "many.vec").read_bytes()
    wanted = None
    ways = [[], ["-j", "2"], ["-j", "3"], ["--executor", "processes:1"],
            ["--executor", "processes:2"]]
    for method in ("0", "2", "7", "max-win"):
        wanted = None
        for way in ways if method == "0" else ways[1:2] + ways[4:]:
            out = many.process("classify_m", *way, "-Q", method, "all.mbm", "many.vec", "res")
            found = out, (many / "res.cls").read_bytes(), (many / "res.con").read_bytes()
            wanted = found if wanted is None else wanted
            assert found == wanted, way
        out = many.process("classify_m", "-Q", method, "all.mbm", "-", "res", stdin=text)
        assert (out, (many / "res.cls").read_bytes(), (many / "res.con").read_bytes()) == wanted
        fifo = many / "fifo"
        os.mkfifo(fifo)
        out = many.shell(f"cat many.vec > fifo & classify_m -Q {method} all.mbm fifo res")
        fifo.unlink()
        assert (out, (many / "res.cls").read_bytes(), (many / "res.con").read_bytes()) == wanted
        # Points one file at a time: no point knows of the others.
        head, rows = text[:4], text[4:]
        size = 16 * 7
        parts = b""
        for at in range(0, 16 * 35, size):
            parts += many.process("classify_m", "-Q", method, "all.mbm", "-", "res",
                             stdin=head + rows[at:at + size])
        assert parts == b"".join(wanted[0].splitlines(True)[:35])


def test_draws_repeat_and_differ(place):
    for words in DRAWN:
        one, two = place.process(*words), place.process(*words)
        assert one == two == place.process(*words, "--seed", "1")
        assert place.process(*words, "--seed", "2") != one


def test_a_command_called_as_a_function_puts_back_what_it_changed(tmp_path, root):
    """The environment, the filters of warnings and how they are shown."""
    code = (
        "import os, sys, warnings\n"
        "os.environ['OPENBLAS_NUM_THREADS'] = '7'\n"
        "os.environ.pop('OMP_NUM_THREADS', None)\n"
        "before = dict(os.environ), list(warnings.filters), warnings.showwarning\n"
        "from agfmc.cli.print_control import main\n"
        "assert main(['-Q', '7', '8', '6']) == 0 and main(['-Q', 'nothing', '3']) == 2\n"
        "assert (dict(os.environ), list(warnings.filters), warnings.showwarning) == before\n"
        "import agfmc.learners.libsvm as svm, agfmc.training.memory\n"
        "svm.library_version()\n"
        "assert dict(os.environ) == before[0]\n")
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"warning: 6 rows" in done.stderr
