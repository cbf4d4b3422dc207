"""multi_borders -0: shell commands that give, in any order, the files of an ordinary run."""

import shutil

import pytest

NAMES = [("trn", "m", "ctl"), ("da ta", "mo 'd", 'c"tl'), ("$(touch pwned);x", "a;b$HOME`x`", "#c"),
         ("-t", "-m {} \\", "-o"), ("ü\t*", "{}", "~")]


@pytest.mark.parametrize("train, model, control, order", [
    (*names, order) for names, order in [(NAMES[0], "cat"), *((names, "tac") for names in NAMES)]],
    ids=["in order", "plain", "blanks", "shell", "minus", "odd"])
def test_commands_give_the_files_of_a_run(place, train, model, control, order):
    folders = []
    for name in ("whole", "parts"):
        folder = place / name
        folder.mkdir()
        for kind in (".vec", ".cls"):
            shutil.copy(place / f"trn{kind}", folder / f"{train}{kind}")
        folders.append(place.at(folder))
    whole, parts = folders
    operands = ["../plan", *(f"./{name}" if name.startswith("-") else name
                             for name in (train, model, control))]
    whole.ok("multi_borders", "-n", "-+", "-c 5 -g 0.1", "--seed", "4", *operands)
    lines = parts.ok("multi_borders", "-0", "-n", "-+", "-c 5 -g 0.1", "--seed", "4", *operands)
    assert lines.count(b"\n") == 3
    assert control in parts.files()  # at once: the commands read it
    (place / "lines").write_bytes(lines)
    parts.shell(order + " ../lines | xargs -d '\\n' -P2 -I{} sh -c '{}'"
                if "{}" not in model else f"{order} ../lines | sh -e")
    assert parts.files() == whole.files()
    assert len(whole.files()) == 2 + 3 + 1 + 1  # data, models, control, normalisation


def test_control_from_a_pipe_and_text_data(place):
    lines = place.shell("print_control -Q 2 trn | multi_borders -0 -M -E 0.5 trn.svm t tctl")
    place.shell(lines.decode())
    place.shell("print_control -Q 2 trn | multi_borders -M -E 0.5 trn.svm u uctl")
    assert (place / "t").read_bytes() == (place / "u").read_bytes()
    assert (place / "t.01").read_bytes() == (place / "u.01").read_bytes()
    assert b"t.01" in (place / "tctl").read_bytes()


def test_options_of_partitions_stand_in_the_commands(place):
    (place / "own").write_text('"-c 1 -g 0.5" {"-c 2 -t 0" {2 5} 9}\n')
    place.ok("multi_borders", "own", "trn", "o", "octl")
    place.shell(place.ok("multi_borders", "-0", "own", "trn", "p", "pctl").decode())
    assert (place / "o").read_bytes() == (place / "p").read_bytes()
    assert (place / "o.00").read_bytes() == (place / "p.00").read_bytes()


def test_it_trains_nothing(place):
    before = set(place.files())
    place.ok("multi_borders", "-0", "plan", "trn", "new", "newctl")
    assert set(place.files()) - before == {"newctl"}


def test_only_one_from_either_kind_of_control_file(place):
    place.ok("multi_borders", "--only", "x-01", "plan", "trn", "x", "xctl")
    assert (place / "x-01").read_bytes() == (place / "m-01").read_bytes()
    assert not (place / "x-00").exists() and not (place / "xctl").exists()
    wanted = (place / "m-02").read_bytes()
    (place / "m-02").unlink()
    place.ok("multi_borders", "--only=m-02", "-+", "", "ctl", "trn", "m", "unused")
    assert (place / "m-02").read_bytes() == wanted
