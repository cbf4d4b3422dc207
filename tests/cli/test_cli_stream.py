"""classify_m --stream: the same answers line by line, wrong lines, one row at a time."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from agfmc.cli.signals import raised_signals, signals_held, Terminated
from agfmc.files.opening import arriving_lines, CutLine, open_input

HEADER = ["id", "size", "colour", "day", "kind"]


def rows(n=80, seed=5):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 3, n)
    return [
        [
            f"r{i}",
            "NA" if i % 9 == 4 else f"{a:.3f}",
            "" if i % 11 == 3 else ("red", "dark, blue", 'so "green"')[(c + b) % 3],
            f"2024-0{c + 1}-1{i % 10}",
            "abc"[c],
        ]
        for i, (a, b, c) in enumerate(
            zip((draw.normal(size=n) + 2 * y).tolist(), draw.integers(0, 2, n).tolist(), y.tolist())
        )
    ]


def text(table, mark=",", end="\n"):
    out = io.StringIO()
    csv.writer(out, delimiter=mark, lineterminator=end).writerows([HEADER, *table])
    return out.getvalue()


@pytest.fixture(scope="module")
def models(run, tmp_path_factory):
    """A folder with pairs.mbm, of a table of words, dates and missing values, and points.mbm."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("t.csv").write_text(text(rows()))
        Path("plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
        run("table2agf", "--quiet", "--label", "kind", "--id", "id", "--missing", "mean", "t.csv")
        run(
            "multi_borders",
            "--quiet",
            "--platt",
            "loo",
            "plan",
            "t.csv",
            "m",
            "pairs.mbc",
        )
        run("mbh2mbm", "--quiet", "pairs.mbc", "pairs.mbm")
        x, y = np.random.default_rng(1).normal(size=(60, 3)).round(2), np.arange(60) % 3
        x[:, 0] += y
        Path("t.svm").write_text(
            "".join(
                f"{c} " + " ".join(f"{j}:{v}" for j, v in enumerate(p, 1)) + "\n"
                for c, p in zip(y.tolist(), x.tolist())
            )
        )
        run("multi_borders", "--quiet", "-M", "-n", "--platt", "loo", "plan", "t.svm", "s", "s.mbc")
        run("mbh2mbm", "--quiet", "s.mbc", "points.mbm")
    return folder


@pytest.fixture(autouse=True)
def here(models, folder):
    for path in models.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "new.csv").write_text(text(rows(40, 6)))
    return folder


@pytest.fixture
def parted(monkeypatch):
    """Lines come in blocks of some, whatever there is."""
    monkeypatch.setattr("agfmc.files.opening._ARRIVING", 300)
    monkeypatch.setattr("agfmc.files.opening._GATHERING", -1)


def objects(table, names=HEADER):
    """Lines of JSON; numbers are numbers, and missing cells null."""
    return "".join(
        json.dumps(
            {
                name: None if cell in ("", "NA") else float(cell) if name == "size" else cell
                for name, cell in zip(names, row)
            }
        )
        + "\n"
        for row in table
    )


@pytest.mark.parametrize(
    "name, make",
    [
        ("a.csv", text),
        ("crlf.csv", lambda table: "\r\n" + text(table, end="\r\n")),
        ("bom.csv", lambda table: "\ufeff" + text(table)),
        ("a.tsv", lambda table: text(table, "\t")),
        ("semicolons.csv", lambda table: text(table, ";").removesuffix("\n")),
    ],
)
def test_the_same_bytes_as_without_it(run, parted, name, make):
    Path(name).write_text(make(rows(40, 6)))
    found, expected = (
        run("classify_m", "--stream", "pairs.mbm", name),
        run("classify_m", "pairs.mbm", name),
    )
    assert found.out == expected.out and found.out.count("\n") == 41


@pytest.mark.parametrize("ahead", [0, 3])
def test_lines_that_are_not_in_utf_8(run, parted, ahead):
    table = [[f"r{'ö' * (i >= ahead)}{i}", *row[1:]] for i, row in enumerate(rows(40, 6))]
    Path("w.csv").write_bytes(text(table).encode("windows-1252"))
    expected = run("classify_m", "pairs.mbm", "w.csv")
    found = run("classify_m", "--stream", "pairs.mbm", "w.csv")
    assert found.out == expected.out and found.err == expected.err
    table[30][0] = "€"
    lines = text(table).encode("windows-1252").replace(b"\x80", "ö".encode() + b"\x81")
    Path("w.csv").write_bytes(lines)
    found = run("classify_m", "--stream", "pairs.mbm", "w.csv", status=1)
    assert "w.csv:32: is not text in windows-1252" in found.err and found.out.count("error") == 1


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "words",
    [
        ("--top", "2"),
        ("--coverage", "0.8"),
        ("--explain", "2"),
        ("--reject", "0.7"),
        ("-0",),
        ("--all-columns",),
    ],
)
def test_the_same_bytes_in_every_format_of_answers(run, parted, words):
    for ending in ("csv", "tsv", "jsonl"):
        run("classify_m", *words, "pairs.mbm", "new.csv", f"out.{ending}")
        for stream in ((), ("--stream",)):
            assert (
                run("classify_m", *stream, *words, "--format", ending, "pairs.mbm", "new.csv").raw
                == Path(f"out.{ending}").read_bytes()
            )


def test_lines_of_json(run, parted):
    Path("new.json").write_text(objects(rows(40, 6)))
    expected = run("classify_m", "pairs.mbm", "new.csv").out
    assert run("classify_m", "--stream", "--format", "csv", "pairs.mbm", "new.json").out == expected
    lines = run("classify_m", "--stream", "pairs.mbm", "new.json").out
    assert lines == run("classify_m", "--format", "jsonl", "pairs.mbm", "new.csv").out
    without = [row[:4][::-1] for row in rows(40, 6)]
    Path("new.json").write_text(
        "\n" + objects([row[:-1] for row in without], ["day", "colour", "size"])
    )
    for line, row in zip(
        run("classify_m", "--stream", "pairs.mbm", "new.json").out.splitlines(),
        lines.splitlines(),
        strict=True,
    ):
        assert json.loads(line) == json.loads(row) | {"id": ""}


def test_libsvm_text(run, parted):
    Path("new.svm").write_text("# points\n\n" + Path("t.svm").read_text())
    found = run("classify_m", "--stream", "-M", "points.mbm", "new.svm").out
    assert found == run("classify_m", "-M", "points.mbm", "t.svm").out
    assert found.count("\n") == 61


def test_a_wrong_line_has_an_answer_and_the_others_their_own(run, parted):
    lines = text(rows(40, 6)).splitlines(keepends=True)
    good = run("classify_m", "pairs.mbm", "new.csv").out.splitlines()
    Path("bad.csv").write_text(
        "".join(
            [
                *lines[:5],
                "x1,word,red,2024-01-11,a\n",
                *lines[5:9],
                "too,few\n",
                'x2,1,"red\n',
                'blue",,\n',
                "\n",
                *lines[9:],
                "x3,1,red,yesterday,a",
            ]
        )
    )
    found = run("classify_m", "--stream", "pairs.mbm", "bad.csv", status=1)
    answers = found.out.splitlines()
    wrong = {5: "x1", 10: "", 11: "", 12: "", 45: "x3"}
    assert [answer for at, answer in enumerate(answers) if at not in wrong] == good
    assert {at: answers[at] for at in wrong} == {
        at: f"{name},error,,,," for at, name in wrong.items()
    }
    errors = [line.removeprefix("classify_m: bad.csv") for line in found.err.splitlines()]
    assert [
        line.partition(": ")[0] for line in errors if line.startswith(":") and line[1] != " "
    ] == [":6", ":11", ":12", ":13", ":47"]
    assert ":6: expected a number in column 'size', found 'word'" in errors
    assert errors[-1] == ": 5 of 45 lines were wrong, and have the answer error"
    for err in (found.err, run("classify_m", "pairs.mbm", "new.csv").err):  # counted once
        assert "8 missing values are filled" in err and "'size' (4)" in err


def test_wrong_lines_in_one_large_block(run):
    lines = text(rows(40, 6)).splitlines(keepends=True)
    wrong = {1, 7, 8, 39, 42}
    for at in sorted(wrong):
        lines.insert(at, f"w{at},word,,,\n")
    Path("bad.csv").write_text("".join(lines).removesuffix("\n"))
    found = run("classify_m", "--stream", "--log", "json", "pairs.mbm", "bad.csv", status=1)
    answers, good = found.out.splitlines(), run("classify_m", "pairs.mbm", "new.csv").out
    assert {at for at, answer in enumerate(answers) if answer == f"w{at},error,,,,"} == wrong
    assert [one for at, one in enumerate(answers) if at not in wrong] == good.splitlines()
    events = [
        event for event in map(json.loads, found.err.splitlines()) if event["event"] == "error"
    ]
    assert [event.get("line") for event in events] == [at + 1 for at in sorted(wrong)] + [None]


def test_wrong_lines_of_json_and_libsvm_text(run):
    good = objects(rows(3))
    Path("bad.json").write_text(
        '{"id": "a"}\n[1]\n' + good + '{"id": "b", "size": [1], "colour": '
        '"red", "day": null}\n{"id": 1, "size": "\\ud800"}\n'
    )
    found = run("classify_m", "--stream", "pairs.mbm", "bad.json", status=1)
    answers = list(map(json.loads, found.out.splitlines()))
    assert [
        (number, answer["id"], answer["error"])
        for number, answer in enumerate(answers, 1)
        if "error" in answer
    ] == [
        (1, "a", "lacks the column 'size'"),
        (2, "", "expected a JSON object"),
        (6, "b", "expected a number or a word in column 'size', found list"),
        (7, "", "expected a JSON object"),
    ]
    assert "bad.json:6: expected a number or a word" in found.err
    Path("bad.svm").write_text("0 1:1 2:1\n0 2:1 1:1\n0 4:1\n1 1:1\n0 1:1e300\n")
    found = run("classify_m", "--stream", "-M", "points.mbm", "bad.svm", status=1)
    assert [line.split(",")[:2] for line in found.out.splitlines()][2:4] == [
        ["2", "error"],
        ["3", "0"],
    ]
    assert found.err.startswith("classify_m: bad.svm:2: index 1 comes after 2")
    assert (
        "bad.svm: 1 value of features beyond the 3 of the model, up to 4, is ignored" in found.err
    )


@pytest.mark.parametrize(
    "words, message",
    [
        (("-j", "2"), "--stream and -j exclude each other"),
        (("-A",), "exclude each other"),
        (("--margins",), "exclude each other"),
        (("pairs.mbm", "new.csv", "out"), "standard output"),
        (("pairs.mbm", "new.csv", "out.csv"), "standard output, not to 'out.csv'"),
    ],
)
def test_what_needs_all_rows_is_refused(run, words, message):
    operands = () if "pairs.mbm" in words else ("pairs.mbm", "new.csv")
    run("classify_m", "--stream", *words, *operands, status=2).refused(message)


def test_lines_are_taken_as_they_come():
    read, write = os.pipe()
    with open_input(f"/dev/fd/{read}", raw=True) as file:
        os.write(write, b"\xef\xbb\xbfone\ntwo\nth")
        lines = arriving_lines(file)
        assert next(lines) == (b"one\ntwo\n", 1)
        later = threading.Timer(0.05, os.write, (write, b"ree\n"))
        later.start()
        assert next(lines) == (b"three\n", 3)
        os.write(write, b"four")
        os.close(write)
        assert list(lines) == [(b"four", 4)]
    os.close(read)


@pytest.fixture
def short_lines(monkeypatch):
    """Lines end after 1000 bytes, of which 100 are kept."""
    monkeypatch.setattr("agfmc.files.opening._LONGEST_LINE", 1000)
    monkeypatch.setattr("agfmc.files.opening._ARRIVING", 100)


def test_of_a_line_without_end_the_beginning_comes_and_the_next_lines(folder, short_lines):
    Path("long").write_bytes(b"a\n" + b"b" * 999 + b"\n" + b"c" * 1000 + b"\nd\n" + b"e" * 5000)
    with open_input("long", raw=True) as file:
        lines = list(arriving_lines(file))
    assert [(line, number) for line, number in lines if isinstance(line, CutLine)] == [
        (b"c" * 100, 3),
        (b"e" * 100, 5),
    ]
    assert b"".join(line for line, _ in lines if not isinstance(line, CutLine)) == (
        b"a\n" + b"b" * 999 + b"\nd\n"
    )


@pytest.mark.parametrize("cell", ["w" * 3000, '"' + "w, w" * 1000 + '"'])
def test_a_line_that_is_too_long_is_a_wrong_line_with_its_id(run, short_lines, cell):
    lines = text(rows(40, 6)).splitlines(keepends=True)
    lines[6:6] = [f"long,{cell},red,2024-01-11,a\n"]
    Path("long.csv").write_text("".join(lines))
    found = run("classify_m", "--stream", "pairs.mbm", "long.csv", status=1)
    good = run("classify_m", "pairs.mbm", "new.csv").out.splitlines()
    good[6:6] = ["long,error,,,,"]
    assert found.out.splitlines() == good
    assert "classify_m: long.csv:7: a line is longer than 16 MiB\n" in found.err
    Path("wide.csv").write_text("id," + cell + "\n")
    run("classify_m", "--stream", "pairs.mbm", "wide.csv", status=1).refused(
        "wide.csv:1: a line is longer than 16 MiB"
    )


def test_long_lines_of_json_and_libsvm_text(run, short_lines):
    good = objects(rows(3)).splitlines(keepends=True)
    Path("long.json").write_text('{"id": "' + "x" * 2000 + '"}\n' + "".join(good))
    found = run("classify_m", "--stream", "pairs.mbm", "long.json", status=1)
    answers = list(map(json.loads, found.out.splitlines()))
    assert answers[0]["error"] == "a line is longer than 16 MiB" and len(answers) == 4
    Path("long.svm").write_text("0 1:1\n" + "0 " * 2000 + "\n1 2:1\n")
    found = run("classify_m", "--stream", "-M", "points.mbm", "long.svm", status=1)
    assert [line.split(",")[:2] for line in found.out.splitlines()][2] == ["2", "error"]
    assert found.out.count("\n") == 4


@pytest.mark.parametrize("before", [True, False])
def test_a_line_with_a_cell_that_is_too_long_has_its_id(run, models, before):
    order = [1, 2, 3, 4, 0]
    if before:
        order = [0, 1, 2, 3, 4]
    lines = [HEADER, *rows(2), ["x1", "1", "w" * (1 << 18), "2024-01-11", "a"], *rows(2, 7)]
    with open("long.csv", "w", newline="") as file:
        csv.writer(file).writerows([line[at] for at in order] for line in lines)
    found = run("classify_m", "--stream", "pairs.mbm", "long.csv", status=1)
    assert found.out.splitlines()[3] == "x1,error,,,," and found.out.count("\n") == 6
    assert (
        "long.csv:4: cannot split the line into cells: field larger than field limit (131072)"
        in found.err
    )


def test_a_signal_waits_for_the_block(folder):
    done = []
    with pytest.raises(Terminated) as caught, raised_signals(pytest.fail):
        with signals_held():
            os.kill(os.getpid(), signal.SIGTERM)
            done += [len(str(n)) for n in range(1000)]
        pytest.fail("the signal was lost")
    assert caught.value.args == (signal.SIGTERM,) and len(done) == 1000


@pytest.mark.few(1)
@pytest.mark.parametrize("end, status", [("signal", 143), ("reader", 141)])
def test_one_row_at_a_time_until_a_signal_or_until_nobody_reads(root, here, end, status):
    """Each answer comes before the next row is sent; then SIGTERM, or a reader that leaves."""
    lines = text(rows(40, 6)).splitlines(keepends=True)
    with subprocess.Popen(
        [sys.executable, root / "bin" / "classify_m", "--stream", "--quiet", "pairs.mbm", "-"],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        for line in lines[:6]:
            process.stdin.write(line.encode())
            process.stdin.flush()
            answer = process.stdout.readline().decode()
            assert answer.startswith(next(csv.reader([line]))[0] + ",")
        if end == "signal":
            process.send_signal(signal.SIGTERM)
        else:
            process.stdout.close()
            process.stdin.write(lines[6].encode())
            process.stdin.flush()
        assert process.wait(timeout=60) == status
        assert process.stderr.read() == b""
