"""Programs of the user's: their words, their ends, and nothing left behind."""

import json
import os
import sys
import threading
import time
from shlex import join, quote
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import CommandFailed, shortened, UsageError
from agfmc.learners.programs import Command, killing_commands

ODD = [
    "a b",
    "it's",
    'say "x"',
    "a;b",
    "$(touch pwned)",
    "`touch pwned`",
    "$HOME",
    "two\nlines",
    "*",
    "~",
    "#c",
    "a\\b",
    "",
    "ü\t",
    "&",
    "|",
    ">x",
]


@pytest.fixture
def echo(tmp_path, monkeypatch):
    """A program that writes its words as JSON to the file `said`; -> the words that start it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "echo.py").write_text(
        "import json, sys\njson.dump(sys.argv[1:], open('said', 'w'))"
    )
    return join([sys.executable, str(tmp_path / "echo.py")])


def said():
    with open("said", encoding="utf-8") as file:
        words = json.load(file)
    os.unlink("said")
    return words


def python(code, *words):
    return Command(join([sys.executable, "-c", code, *words]))


def shells(command):
    return command._words[0] == "/bin/sh"


def test_names_reach_the_program_unchanged(echo, tmp_path):
    for own, text in (
        ([], echo),
        (["-b", "1", "x y", "p q"], f"{echo} -b 1 'x y' \"p q\""),
        ([], f"X=1 {echo}"),
        ([], f"{echo}\n"),
        ([], f"{echo} > out"),
        (["b#"], f"cat < echo.py > /dev/null; {echo} b#"),
    ):
        Command(text).run(*ODD)
        assert said() == own + ODD
    assert sorted(path.name for path in tmp_path.iterdir()) == ["echo.py", "out"]


def test_the_last_program_of_a_pipe_gets_the_names(echo):
    with open("echo.py", "rb") as file, open("seen", "wb") as out:
        Command(f"cat | tee copy | {echo}").run("a b", "-x", stdin=file, stdout=out)
    assert said() == ["a b", "./-x"] and Path("copy").read_text() == Path("echo.py").read_text()


def test_a_name_that_begins_like_an_option_is_a_file_of_this_folder(echo):
    Command(echo).run("-x", "--", "x-", options="-c 50 'a b' -x")
    assert said() == ["-c", "50", "a b", "-x", "./-x", "./--", "x-"]


@pytest.mark.parametrize(
    "text, shell",
    [
        ("PY", False),
        ("PY 'a|b' \"c>d\" e\\;f", False),
        ("PY '$HOME' '*'", False),
        ("PY 'it' \"'\" '\"'", False),
        ('PY "a\\"b;c"', False),
        ('PY "a\\"b" "c"', False),
        ('PY "it\'s"', False),
        ("PY -t=1 x=2", False),
        ("PY $HOME", True),
        ('PY "$HOME"', True),
        ('PY "`echo x`"', True),
        ("PY 'a' | cat", True),
        ("PY > x", True),
        ("PY 2>&1", True),
        ("X=1 PY", True),
        ("PY *.py", True),
        ('PY "a\\"b" ; PY "c"', True),
        ("PY a\nPY", True),
        ('PY "\\$x"', True),
    ],
)
def test_a_shell_only_where_the_text_needs_one(echo, text, shell):
    assert shells(Command(text.replace("PY", echo))) is shell


@pytest.mark.parametrize(
    "words", ["'a|b' \"c>d\" e\\;f", '"a\\"b;c" "d" \\"', "\"it's\" '$x'", "''"]
)
def test_words_without_a_shell_are_those_of_a_shell(echo, words):
    Command(f"{echo} {words}").run("z")
    plain = said()
    os.system(f"{echo} {words} z")
    assert plain == said()


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6), max_size=4)
)
def test_quoted_words_need_no_shell(words):
    command = Command(join([sys.executable, *words]))
    assert not shells(command) and command._words == [sys.executable, *words]


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "expected a command, found nothing"),
        ("  \n", "expected a command, found nothing"),
        ("cat # x", "file names can be appended"),
        ("nothing-of-that-name -b 1", "'nothing-of-that-name' does not exist or may"),
        ("./gone", "'./gone' does not exist or may"),
        ("svm-train 'x", "cannot be read: No closing"),
        ("svm-train x\\", "cannot be read"),
        ("''", "the command '' does not exist or may"),
        ("a\0b", "NUL"),
        ("cat |", "must end where file names can"),
        ("cat;", "file names"),
        ("cat & ", "file names"),
    ],
)
def test_refused_before_anything_runs(tmp_path, monkeypatch, text, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        Command(text)
    assert words in str(caught.value) and caught.value.status == 2


def test_a_file_that_may_not_be_run(tmp_path):
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match="does not exist or may not be executed"):
        Command(quote(str(tmp_path / "tool")))
    (tmp_path / "tool").write_bytes(b"\0\1")
    (tmp_path / "tool").chmod(0o755)
    with pytest.raises(CommandFailed, match="could not be started: Exec format error"):
        Command(quote(str(tmp_path / "tool"))).run()


def test_open_quote_in_options(echo):
    with pytest.raises(UsageError, match="the options '-c \"1' cannot be read"):
        Command(echo).run("a", options='-c "1')
    assert not os.path.exists("said")


@pytest.mark.parametrize(
    "code, message",
    [
        (
            "import sys; print('no'); sys.exit('one\\n\\n two \\nthree\\nfour')",
            "failed with status 1: two | three | four",
        ),
        ("import sys; print('only here'); sys.exit(7)", "failed with status 7: only here"),
        ("import sys; sys.exit(3)", "failed with status 3"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
        ("import os; os.kill(os.getpid(), 40)", "was ended by signal 40"),
        (
            "import sys; sys.stderr.buffer.write(b'\\xff' + b'x' * 10**6); sys.exit(1)",
            "failed with status 1: " + "x" * 300,
        ),
    ],
    ids=range(6),
)
def test_how_a_program_fails(code, message):
    command = python(code)
    with pytest.raises(CommandFailed) as caught:
        command.run("a")
    assert str(caught.value) == shortened(f"the command '{command.text}' {message}")
    assert caught.value.status == 1


def test_a_shell_that_finds_nothing():
    with pytest.raises(CommandFailed, match="failed with status 127: .*not found"):
        Command("nothing-of-that-name | nothing-either").run()


def test_streams(tmp_path):
    (tmp_path / "in").write_bytes(b"a\xff\n")
    with open(tmp_path / "in", "rb") as source, open(tmp_path / "out", "wb") as target:
        Command("cat").run(stdin=source, stdout=target)
    assert (tmp_path / "out").read_bytes() == b"a\xff\n"
    Command("cat").run()  # nothing on its standard input, not ours


def test_much_that_nobody_reads_does_not_stall():
    python(
        "import sys\nfor i in range(3000): print('x' * 100); print('y' * 100, file=sys.stderr)"
    ).run()


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def pid_of(path):
    end = time.monotonic() + 20
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < end
        time.sleep(0.01)
    return int(path.read_text())


SLEEP = "import os, sys, time; print(os.getpid(), file=open(sys.argv[1], 'w')); time.sleep(60)"


def test_nothing_is_left_where_a_block_ends_early(tmp_path):
    ends, cleaned = [], []

    def work(name):
        try:
            python(SLEEP).run(str(tmp_path / name))
        except CommandFailed as error:
            ends.append(str(error))
            time.sleep(0.1)
            cleaned.append(name)
            raise

    threads = []
    with pytest.raises(ZeroDivisionError), killing_commands() as task_of:
        piece = task_of(lambda name: pytest.raises(CommandFailed, work, name))
        threads = [threading.Thread(target=piece, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        pids = [pid_of(tmp_path / name) for name in "ab"]
        assert all(map(alive, pids))
        raise ZeroDivisionError
    assert not any(map(alive, pids))
    assert sorted(cleaned) == ["a", "b"]  # what the threads do after it, the block waits for
    assert len(ends) == 2 and all(end.endswith("was ended by SIGKILL") for end in ends)
    for thread in threads:
        thread.join(10)
    with pytest.raises(CommandFailed, match="the run has ended"):
        task_of(work)("late")
    assert not (tmp_path / "late").exists()


def test_between_two_commands_a_block_ends_too(tmp_path):
    go, ready, errors = threading.Event(), threading.Event(), []

    def work():
        ready.set()
        go.wait(20)
        try:
            python(SLEEP).run(str(tmp_path / "pid"))
        except CommandFailed as error:
            errors.append(str(error))

    with killing_commands() as task_of:
        threading.Thread(target=task_of(work), daemon=True).start()
        ready.wait(20)
        threading.Timer(0.2, go.set).start()
    assert len(errors) == 1 and errors[0].endswith("was not started: the run has ended")
    assert not (tmp_path / "pid").exists()
    with killing_commands():
        Command("true").run()  # the next run is none of it
    Command("true").run()


def test_an_exception_while_waiting_ends_the_command(tmp_path, monkeypatch):
    import subprocess

    plain = subprocess.Popen.wait

    def interrupted(self, timeout=None):
        if not interrupted.done:
            interrupted.done = True
            interrupted.pid = pid_of(tmp_path / "pid")
            raise KeyboardInterrupt
        return plain(self, timeout)

    interrupted.done = False
    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        python(SLEEP).run(str(tmp_path / "pid"))
    assert not alive(interrupted.pid)
