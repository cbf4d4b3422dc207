"""Broken files, systematically: every reader ends in a sane result or in one clear line."""

import gzip
import importlib
import inspect
import itertools
import json
import os
import pkgutil
import random
import subprocess
import sys
from pathlib import Path

import pytest

import agfmc
from hostile_checks import guarded, outcome, tried
from hostile_mutations import damaged, stacked, whole
from hostile_readers import anything, FOUND, LONG, Reader, readers

from agfmc.core.errors import DataError


READERS = readers()
STEP = 29  # of the systematic changes one in so many is tried in the quick test
LARGE = 100_000  # inputs: of more than these the quick test tries a fourth as many
STACKED = 5_000  # of several changes at once in the long test, for each reader
# Public functions that take a file, or what is in it, and are no readers of a format.
ELSEWHERE = {
    "files.opening.open_input": "any bytes",
    "files.opening.read_bytes": "any bytes",
    "models.mbm.read_store": "has a fuzzer of its own, and a checksum",
}
ROOMS = ("control", "files", "tables", "data", "calibration", "answers", "models")
MODULES = ("learners.forest_text", "learners.logistic", "learners.trees")
CALLERS = {  # of readers of other modules
    "answers.libagf_reports",
    "answers.results",
    "answers.tables",
    "data.as_text",
    "data.convert",
    "data.from_table",
    "data.training",
    "files.result_store",
    "models.files",
    "tables.ids",
}
WRITES = (
    "write_",
    "format_",
    "check_",
    "refuse_",
    "show",
    "names_bytes",
    "cls_bytes",
    "con_bytes",
    "std_rows",
    "replacing",
    "remove",
    "quote_",
    "sealed",
    "writing",
)
TAKES = {"path", "raw", "text", "base", "data", "lines", "settings", "file", "word"}


def public_readers():
    """Names, as data.libagf.read_vec, of what may read a file in the rooms that have formats."""
    names = [
        f"agfmc.{room}.{module.name}"
        for room in ROOMS
        for module in pkgutil.iter_modules([f"{agfmc.__path__[0]}/{room}"])
        if f"{room}.{module.name}" not in CALLERS
    ]
    for module in [*names, *(f"agfmc.{name}" for name in MODULES)]:
        loaded = importlib.import_module(module)
        for name, thing in vars(loaded).items():
            if name.startswith("_") or getattr(thing, "__module__", "") != module:
                continue
            if (
                thing.__class__ is type
                and "Reader" not in name
                or not callable(thing)
                or name.startswith(WRITES)
            ):
                continue
            if name.startswith(("read_", "iter_", "parse")) or TAKES & set(
                inspect.signature(thing).parameters
            ):
                yield f"{module.removeprefix('agfmc.')}.{name}"


NO_FILE = {  # they take text that a reader has taken apart already
    "answers.columns.answer_ids",
    "data.weights.chosen_rows",
    "data.weights.given_weights",
    "data.weights.with_final_weights",
    "data.weights.with_class_weights",
    "data.weights.without_zeros",
    "files.kinds.answer_format",
    "files.kinds.is_answer_table",
    "files.kinds.is_table",
    "files.kinds.name_of_file",
    "tables.dates.day_number",
    "tables.arrow.import_pyarrow",
    "tables.number_forms.read_number",
    "tables.reading.names_of",
    "tables.reading.warn_of_windows",
    "tables.words.column_names",
    "control.build.from_pairs",
    "control.build.from_rows",
    "control.build.with_heading",
    "control.build.with_options",
    "control.parse.heading_fault",
    "core.text.visible",
    "control.tree.looks_like_options",
    "control.tree.model_names",
    "control.tree.node_names",
    "control.tree.shares",
    "models.control_files.model_file",
    "models.control_files.model_files",
    "models.control_files.require_regular",
    "files.number_text.foreign_start",
    "files.number_text.is_text",
    "files.number_text.blank_out",
    "files.number_text.blocks",
    "files.number_text.parsed_blocks",
    "data.libagf.read_column",
    "data.class_names.name_lines",
    "files.number_text.numbers",
    "files.number_text.tokenise",
    "files.atomic.install",
    "files.opening.peek",
    "files.opening.read_all",
    "core.memory.within_memory",
    "calibration.file.calibration_of",
    "tables.recipe_file.read_dialect",
    "tables.recipe_file.recipe_beside",
    "tables.recipe_file.recipe_of_table",
    "data.reading.recipe_of_points",
    "tables.words.number_of",
    "files.opening.is_stream",
    "data.class_names.TextLabels",
    "data.class_names.numeric",
    "data.class_names.named_by_value",
    "data.class_names.number_classes",
    "data.libagf.VecWriter",
    "files.atomic.temporary_name",
    "files.atomic.checked",
    "models.control_files.control_text",
    "files.number_text.is_svm",
    "files.number_text.kind_of_file",
    "data.groups.group_counts",
    "data.groups.group_numbers_beside",
    "data.groups.group_words",
    "data.groups.groups_beside",
    "data.groups.groups_bytes",
    "data.groups.with_groups",
    "data.groups.with_groups_of",
    "data.preprocess.divided_rows",
    "data.weights.weights_beside",
    "data.weights.weights_bytes",
    "data.reading.weights_of",
}


def test_every_reader_is_in_the_table():
    covered = {name for reader in READERS.values() for name in reader.covers}
    public = set(public_readers())
    assert len(public) > 30
    assert covered <= public, "the table names what there is not"
    assert public - covered - set(ELSEWHERE) - NO_FILE == set(), "readers without broken files"


def test_regressions_belong_to_readers():
    folders = {path.name for path in FOUND.iterdir()} if FOUND.is_dir() else set()
    assert folders <= {name.replace(" ", "_") for name in READERS}
    assert LONG.keys() <= READERS.keys()


@pytest.mark.parametrize("name", READERS)
def test_what_is_right_is_read(name, tmp_path):
    reader, path = READERS[name], str(tmp_path / "input")
    assert reader.seeds
    with guarded():
        for seed in reader.seeds:
            (tmp_path / "input").write_bytes(seed)
            assert outcome(reader, path, seed) == "result"


def everything(reader):
    others = [other.seeds[0] for other in READERS.values()]
    for seed in reader.seeds:
        yield from damaged(seed, reader.text, others)


@pytest.mark.parametrize("step", [16 * STEP, pytest.param(STEP, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", READERS)
def test_broken_files(name, step, tmp_path):
    reader, number, every = READERS[name], sum(map(ord, name)), 1 if step == STEP else 3
    if step > STEP and sum(map(len, reader.seeds)) * 50 > LARGE:
        step *= 4
    inputs = itertools.chain(
        itertools.islice(everything(reader), number % step, None, step),
        itertools.islice(whole(reader.seeds[0]), number % every, None, every),
        (("found before", data) for data in reader.found),
    )
    check(reader, inputs, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", READERS)
def test_many_broken_files(name, tmp_path):
    reader = READERS[name]
    rng = random.Random(name)
    seeds = (*reader.seeds, *(data for data in reader.found if len(data) < 4096))
    check(reader, itertools.chain(everything(reader), stacked(seeds, rng, STACKED)), tmp_path)


# They take what another reader has opened, are compressed already, or warn of what is damaged.
NOT_OPENED = {
    "held-out values",
    "is ascii",
    "seal",
    "training options",
    "direct options",
    "table in gzip",
    "lines of a table",
    "lines of JSON",
}


@pytest.mark.parametrize(
    "name", [name for name, reader in READERS.items() if reader.text and name not in NOT_OPENED]
)
def test_text_in_gzip(name, tmp_path):
    """Whatever its name: it is read as it was before, and what is damaged is refused."""
    reader, path = READERS[name], str(tmp_path / "input")
    with guarded():
        for seed in reader.seeds:
            zipped = gzip.compress(seed, mtime=0)
            (tmp_path / "input").write_bytes(zipped)
            assert outcome(reader, path, seed) == "result"
            for what, data in {
                "cut": zipped[:-9],
                "head": zipped[:10],
                "sum": zipped[:-8] + bytes(8),
                "more": zipped + b"more",
                "bytes": zipped[:12] + bytes(6) + zipped[18:],
            }.items():
                (tmp_path / "input").write_bytes(data)
                assert outcome(reader, path, data) == "refused", what


def check(reader, inputs, folder):
    counts, problems = tried(reader, inputs, folder)
    told = "\n".join(f"{what}: {message}\n    {data[:300]!r}" for what, data, message in problems)
    assert not problems, told
    assert sum(counts.values()) > 0


@pytest.mark.parametrize(
    "read, problem",
    [
        (lambda path: {}["x"], "KeyError"),
        (lambda path: 1 / 0, "ZeroDivisionError"),
        (lambda path: bytearray(1 << 62), "too much memory"),
        (lambda path: (_ for _ in ()).throw(DataError("a\nb", file=path)), None),
        (lambda path: (_ for _ in ()).throw(DataError("no file", line=1)), "the file is not told"),
        (
            lambda path: (_ for _ in ()).throw(DataError("no line", file=path)),
            "the line is not told",
        ),
        (lambda path: (_ for _ in ()).throw(DataError("a" * 9999, file=path, line=1)), None),
        (lambda path: sum(1 for _ in itertools.count()), "takes more than"),
    ],
)
def test_these_checks_see_what_is_wrong(read, problem, tmp_path, monkeypatch):
    monkeypatch.setattr("hostile_checks.PATIENCE", 0.2)
    reader = Reader("wrong", read, (b"",), problem is not None, (), anything)
    counts, problems = tried(reader, [("x", b"x")], tmp_path)
    if problem is None:
        assert not problems and counts["refused"] == 1
    else:
        assert len(problems) == 1 and problem in problems[0][2]


SCRIPT = Path(__file__).with_name("hostile_sizes.py")
LIE = 64 << 20  # bytes that a small file may take
TIMES = 100  # its size, for a large one
# In fact a large table, below the limit; objects for each of 45000 classifiers.
TABLES = {"wider and wider", "classifiers"}


def cases(scale):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(scale)],
        capture_output=True,
        text=True,
        timeout=3000,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_sizes(found):
    assert len(found) > 80
    wrong = []
    for name, size, peak, ending in found:
        if not ending.startswith(("result", "refused: FILE", "refused: standard input")):
            wrong.append(f"{name}: {ending}")
        if peak > (LIE if size < 1 << 16 else LIE // 4 + TIMES * size) and name not in TABLES:
            wrong.append(f"{name}: {size} bytes, and {peak >> 20} MiB of memory")
    assert wrong == []


@pytest.mark.long
def test_files_of_several_megabytes():
    check_sizes(cases(1000))
