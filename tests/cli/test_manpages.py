"""The manual pages: what the parsers say, nothing stale, nothing that cannot be typed."""

import functools
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Annotated, get_args, get_origin

import pytest

from agfmc.cli import main_of, parser_of
from agfmc.control.matrix import format_matrix
from agfmc.designs.schemes import SCHEMES
from agfmc.control.build import to_code
from agfmc.control.parse import MAX_DEPTH, MAX_MEMBERS, parse
from agfmc.control.write import format_tree
from agfmc.decode.methods import METHODS
from agfmc.core.errors import AgfmcError, EXIT_STATUSES
from agfmc.designs.design import design, matrix_of
from agfmc.models import mbm
from agfmc.files.codec import _fields
from agfmc.learners.protocol import named, parse_options, plan_jobs
from agfmc.calibration.maps import KINDS
from agfmc.calibration.types import Calibration, CalibrationPoints, ProbabilityMap
from agfmc.control.learners import LEARNERS, NODE_LEARNERS
from agfmc.core.kernels import KERNEL_NAMES, KERNELS
from agfmc.files.kinds import ANSWER_FORMATS
from agfmc.score.rows import PAGE
from agfmc.core.models import MergedModel, NodeModel, Kernel
from man import generate as manpages
from man.roff import to_roff

ROOT = Path(__file__).resolve().parents[2]
MAN = ROOT / "man"
COMMANDS = sorted(path.name for path in (ROOT / "bin").iterdir() if path.is_file())
PAGES = sorted(MAN.glob("*.[157]"))
SECTIONS = [
    "NAME",
    "SYNOPSIS",
    "DESCRIPTION",
    "OPTIONS",
    "EXIT STATUS",
    "FILES",
    "EXAMPLES",
    "SEE ALSO",
]


def text_of(command):
    return (MAN / f"{command}.1").read_text(encoding="utf-8")


def section(text, name):
    return re.search(rf"^\.SH {name}\n(.*?)(?=^\.SH |\Z)", text, re.M | re.S).group(1)


def plain(roff):
    """The text that a reader sees, without fonts and escapes."""
    roff = re.sub(r"\\f[BIR]|\\&", "", roff)
    for escape, character in (
        (r"\-", "-"),
        (r"\(aq", "'"),
        (r"\(dq", '"'),
        (r"\(ga", "`"),
        (r"\(ha", "^"),
        (r"\(ti", "~"),
        (r"\~", " "),
        (r"\e", "\\"),
    ):
        roff = roff.replace(escape, character)
    return roff


parser_of = functools.cache(parser_of)


def example_lines(path):
    """Shell lines of all examples in a page, continued lines joined."""
    text = path.read_text(encoding="utf-8")
    for block in re.findall(r"^\.EX\n(.*?)^\.EE", text, re.M | re.S):
        for line in plain(block).replace("\\\n", "").splitlines():
            if not line.startswith(("#", " ")):
                yield line


def invocations(line):
    """(command, arguments) of each command of the suite in a shell line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>;&")
    lexer.whitespace_split = True
    words = list(lexer)
    for piece, group in itertools.groupby(words, lambda word: word in ("|", ";", "&&")):
        group = list(group)
        if piece or group[0] not in COMMANDS:
            continue
        arguments = []
        rest = iter(group[1:])
        for word in rest:
            if word in ("<", ">", ">>"):
                next(rest)
            else:
                arguments.append(word)
        yield group[0], arguments


EXAMPLES = sorted(
    {
        (path.name, command, tuple(arguments))
        for path in PAGES
        for line in example_lines(path)
        for command, arguments in invocations(line)
    }
)


def test_pages_and_commands_match_one_to_one():
    assert COMMANDS and COMMANDS == manpages.commands()
    assert sorted(path.stem for path in MAN.glob("*.1")) == COMMANDS
    assert sorted(path.stem for path in (MAN / "commands").iterdir()) == COMMANDS


def test_pages_are_what_is_generated(tmp_path, monkeypatch):
    pytest.importorskip("argparse_manpage")
    monkeypatch.setenv("COLUMNS", "33")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    shutil.copytree(MAN, tmp_path / "man", ignore=shutil.ignore_patterns("*.[157]"))
    assert manpages.main([str(tmp_path / "man")]) == 0
    made = {path.name: path.read_bytes() for path in (tmp_path / "man").glob("*.[157]")}
    assert made == {path.name: path.read_bytes() for path in PAGES}, "run python -m man.generate"
    assert {"agfmc.7", "agfmc_tables.7", "agfmc_control.5"} <= set(made)


def test_check_finds_a_page_that_is_out_of_date(tmp_path, capsys):
    pytest.importorskip("argparse_manpage")
    shutil.copytree(MAN, tmp_path / "man")
    assert manpages.main(["--check", str(tmp_path / "man")]) == 0
    stale = tmp_path / "man" / "mbm_info.1"
    stale.write_text(stale.read_text() + '.\\" x\n')
    (tmp_path / "man" / "gone.1").write_text("")
    assert manpages.main(["--check", str(tmp_path / "man")]) == 1
    assert "out of date: mbm_info.1 gone.1;" in capsys.readouterr().err


def test_one_line_without_argparse_manpage(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "argparse_manpage.manpage", None)
    assert manpages.main([str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "argparse-manpage is not installed" in error and error.count("\n") == 1


@pytest.mark.parametrize(
    "lines",
    [
        "a summary\nno section\n## Files\nx",
        "a summary\n## Files\nx\n## Files\ny",
        "a summary\n## Bugs\nx",
        "a summary\n## Description\nx\n## Files\n\n## Examples\nx",
    ],
)
def test_hand_written_parts_are_checked(tmp_path, lines):
    (tmp_path / "mbm_info.md").write_text(lines)
    with pytest.raises(AgfmcError, match="expected the sections"):
        manpages.command_page("mbm_info", tmp_path / "mbm_info.md")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_and_operand_is_in_the_page(command):
    text = text_of(command)
    options, operands = section(text, "OPTIONS"), plain(section(text, "DESCRIPTION"))
    synopsis = plain(section(text, "SYNOPSIS")).replace("\n", " ")
    bold = set(re.findall(r"\\fB(.*?)\\fR", options))
    for action in parser_of(command)._actions:
        for name in action.option_strings:
            assert name.replace("-", r"\-").replace("^", r"\(ha") in bold
        if not action.option_strings:
            assert (action.metavar or action.dest).strip("{}") in operands
    usage = parser_of(command).usage.replace("%(prog)s", command)
    assert " ".join(synopsis.split()).endswith(usage)


@pytest.mark.parametrize("command", COMMANDS)
def test_sections(command):
    text = text_of(command)
    found = re.findall(r"^\.SH (.*)$", text, re.M)
    assert [name for name in found if name != "COMPATIBILITY"] == SECTIONS
    assert "COMPATIBILITY" not in found or found[-2] == "COMPATIBILITY"
    assert all(section(text, name).strip() for name in SECTIONS)
    name = plain(section(text, "NAME")).strip()
    assert re.fullmatch(rf"{command} - [a-z].{{10,70}}", name)


@pytest.mark.parametrize("command", COMMANDS)
def test_exit_status_is_the_table_of_errors(command):
    found = re.findall(
        r"^\.TP\n(\d+)\n(.*?)(?=\n\.TP|\Z)",
        plain(section(text_of(command), "EXIT STATUS")).strip(),
        re.M | re.S,
    )
    assert [(int(status), " ".join(meaning.split())) for status, meaning in found] == [
        (status, " ".join(meaning.split())) for status, meaning in EXIT_STATUSES
    ]


def test_exit_statuses_are_all_in_the_overview():
    text = plain(section((MAN / "agfmc.7").read_text(encoding="utf-8"), "EXIT STATUS"))
    assert re.findall(r"^\.TP\n(\d+)$", text, re.M) == [str(s) for s, _ in EXIT_STATUSES]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_references_lead_somewhere(path):
    text = plain(path.read_text(encoding="utf-8"))
    found = set(
        re.findall(r"\b((?:agf|mb|svm|lvq|eval|float|classify|print|multi)\w*)\((\d)\)", text)
    )
    assert found
    assert {f"{name}.{number}" for name, number in found} <= {page.name for page in PAGES}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_text_is_plain_and_lines_are_not_blank(path):
    text = path.read_text(encoding="utf-8")
    assert text.isascii()
    outside = re.sub(r"^\.EX\n.*?^\.EE", "", text, flags=re.M | re.S)
    assert not re.search(r"^[ \t]+\S|[ \t]+$", outside, re.M)
    # what is typed has characters that can be copied
    assert not re.search(r"(?<!\\)[-^~]", re.sub(r"\\~", "", text.split("\n.SH NAME\n")[1]))


@pytest.mark.few(6)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_escape_is_shown_as_it_is_written(path):
    escape = r"\\(?:\(|\[|-|&|~|f[BIRP])"
    assert not re.search(r"\\" + escape, path.read_text(encoding="utf-8"))
    if shutil.which("groff") is not None:
        shown = subprocess.run(
            ["groff", "-man", "-Tutf8", "-P-c", str(path)], capture_output=True, check=True
        ).stdout.decode()
        assert not re.search(escape, shown)


@pytest.mark.few(6)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_groff_has_no_warnings(path):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-z", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_bin_files_start_their_module(command):
    path = ROOT / "bin" / command
    assert os.access(path, os.X_OK)
    assert path.read_text() == (ROOT / "bin" / COMMANDS[0]).read_text()
    assert path.read_text().endswith("\nlaunch(__file__)\n")
    assert callable(main_of(command))
    assert parser_of(command).prog == command


def test_every_command_has_an_example_in_its_page_and_the_overview_shows_the_chain():
    assert {command for page, command, _ in EXAMPLES if page == f"{command}.1"} == set(COMMANDS)
    assert {
        "svm2agf",
        "agf_preprocess",
        "print_control",
        "multi_borders",
        "mbh2mbm",
        "classify_m",
        "eval_uc",
    } <= {c for page, c, _ in EXAMPLES if page == "agfmc.7"}


@pytest.mark.parametrize("page", sorted({page for page, *_ in EXAMPLES}))
def test_examples_can_be_typed(page, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)  # whose first bytes would be looked at
    for _, command, arguments in filter(lambda example: example[0] == page, EXAMPLES):
        parser_of(command).parse_args(list(arguments))


CONTROL = (MAN / "agfmc_control.5").read_text(encoding="utf-8")


def blocks(text):
    return [plain(block) for block in re.findall(r"^\.EX\n(.*?)^\.EE", text, re.M | re.S)]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_matrices_of_the_control_page(scheme):
    tag = re.escape(rf"\fB{scheme.heading}\fR".replace("-", r"\-"))
    found = re.search(rf"^\.TP\n{tag}\n(.*?)(?=^\.TP|^\.SH)", CONTROL, re.M | re.S)
    assert found, f"man/agfmc_control.5 has no entry for the scheme {scheme.heading}"
    entry = found[1]
    if "classes" not in scheme.made_of:
        assert ".EX" not in entry
        return
    k = 6 if scheme.name == "orthogonal-special" else 4
    members = " members=2" * (scheme.name == "ensemble")
    rows, labels = matrix_of(design(scheme.name + members, range(k)))
    [shown] = blocks(entry)
    assert shown.splitlines() == list(format_matrix(rows, len(labels)))


def test_control_files_of_the_control_page():
    files = [
        textwrap.dedent(block) for block in blocks(CONTROL) if "{" in block and ":=" not in block
    ]
    assert len(files) == 10
    trees = [parse(block) for block in files]
    at = next(i for i, block in enumerate(files) if "branches 0 and 1" in block)
    assert format_tree(to_code(trees[at])).split() == files[at + 1].split()
    ensemble, trained = [i for i, block in enumerate(files) if "# weights: " in block]
    assert (
        trained == ensemble + 1
        and format_tree(named(trees[ensemble], plan_jobs(trees[ensemble], "base", "", 1))).split()
        == files[trained].split()
    )
    rows, labels = matrix_of(trees[at])
    matrix = "".join(f"    {line}\n" for line in format_matrix(rows, len(labels)))
    assert matrix in blocks(CONTROL)


SITE_PAGES = [ROOT / "README.md", *sorted((MAN / "site" / "docs").rglob("*.md"))]


def test_commands_and_control_files_of_the_site_are_right():
    calls = []
    for path in SITE_PAGES:
        for block in re.findall(r"^```sh\n(.*?)^```", path.read_text("utf-8"), re.M | re.S):
            for line in block.replace("\\\n", "").splitlines():
                calls += invocations(line.partition("#")[0])
    assert len(calls) > 50
    for command, arguments in calls:
        parser_of(command).parse_args(arguments)
    page = (MAN / "site" / "docs" / "guide" / "control.md").read_text(encoding="utf-8")
    trees = [parse(block) for block in re.findall(r"^```\n([\"#].*?)^```", page, re.M | re.S)]
    assert len(trees) == 7


def test_limits_and_keys_of_the_formats_are_those_of_the_code():
    assert f"more than {MAX_MEMBERS} configurations" in CONTROL
    assert f"deeper than {MAX_DEPTH} levels" in CONTROL
    model = plain((MAN / "agfmc_model.5").read_text(encoding="utf-8"))
    for kind in (mbm._Stored, MergedModel):
        for name in _fields(kind):
            assert re.search(rf"^{name}(,|$)|, {name}$", model, re.M), name
    for kind in (
        MergedModel,
        NodeModel,
        mbm._StoredMap,
        Kernel,
        Calibration,
        ProbabilityMap,
        CalibrationPoints,
    ):
        for name in _fields(kind):
            assert re.search(rf"\b{name}\b", model), name
    assert " ".join(f"{byte:02X}" for byte in mbm.MAGIC) in model
    for annotation in _fields(MergedModel).values():
        if get_origin(annotation) is Annotated:
            _, (_, kind, size), *_ = get_args(annotation)
            assert {"f": "float", "i": "int"}[kind] + str(8 * int(size)) in model


def test_training_options_are_all_in_the_page():
    text = section(text_of("multi_borders"), "DESCRIPTION")
    text = plain(text[text.index("They are the options of LIBSVM") : text.index(".SS Calibration")])
    tags = re.findall(r"^\.TP\n(.*)$", text, re.M)
    listed = set(re.findall(r"-[a-z][01]?", " ".join(tags)))
    for option in listed:
        parse_options(f"{option} 1" if option != "-q" else "-q")
    with pytest.raises(AgfmcError) as caught:
        parse_options("-x 1")
    assert set(re.findall(r"-[a-z][01]?\b", str(caught.value).split("expected")[1])) <= listed


def test_the_overview_and_readme_list_every_command_once_by_task():
    text = (MAN / "agfmc.7").read_text(encoding="utf-8")
    part = text[text.index(".SH COMMANDS, BY TASK") : text.index("From a table to scores")]
    words = re.findall(r"^(?:\.SS (.+)|\\fB(\w+)\\fR\(1\))$", part, re.M)
    listed = [(task.lower(), command) for task, command in words]
    assert sorted(command for _, command in listed if command) == COMMANDS
    assert [task for task, _ in listed if task] == [
        "prepare data",
        "design",
        "train",
        "classify",
        "evaluate",
        "report",
        "convert",
    ]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme[readme.index("| task | command | does |") :].split("\n\n")[0]
    rows = re.findall(r"^\| ([a-z ]*?)\s*\| `(\w+)` \|", table, re.M)
    assert [word for row in rows for word in row if word] == [
        word for row in listed for word in row if word
    ]


def test_the_overview_names_every_topic():
    assert set(re.findall(r"^\\fB(agfmc_\w+)\\fR\(7\)$", (MAN / "agfmc.7").read_text(), re.M)) == {
        path.stem for path in PAGES if path.name.startswith("agfmc_") and path.suffix == ".7"
    }


def test_every_decoder_is_explained_in_the_overview():
    part = plain((MAN / "agfmc_decoders.7").read_text(encoding="utf-8"))
    tags = " ".join(re.findall(r"^\.TP\n(.*)$", part, re.M)).replace(",", "").split()
    assert tags == [
        str(m.number) if m.number is not None else m.name for m in METHODS if m.number != -1
    ], "guide/decoders.md: an entry for each row of the table"


def words_of(page, tags=False):
    """The words of a page, or those of its terms."""
    text = (MAN / page).read_text(encoding="utf-8")
    if tags:
        text = "\n".join(re.findall(r"^(.*)\n:   ", text, re.M))
    return re.findall(r"[\w-]+", text)


GUIDE, REFERENCE = "site/docs/guide", "site/docs/reference"


@pytest.mark.parametrize(
    "name, pages",
    [
        *(
            (
                name,
                {
                    f"{GUIDE}/learners.md": True,
                    f"{REFERENCE}/control.md": False,
                    "commands/multi_borders.md": False,
                }
                | ({"commands/tune_m.md": True} if row.searched else {}),
            )
            for name, row in LEARNERS.items()
            if not row.is_program
        ),
        *(
            (
                name,
                {
                    f"{GUIDE}/kernels.md": True,
                    f"{REFERENCE}/model.md": False,
                    "commands/multi_borders.md": False,
                },
            )
            for name in KERNELS
        ),
        *(
            (name, dict.fromkeys([f"{REFERENCE}/model.md", "commands/calibrate_m.md"]))
            for name in KINDS
        ),
        *((row.ending[1:], {"commands/classify_m.md": False}) for row in ANSWER_FORMATS),
    ],
)
def test_every_row_of_a_table_is_explained(name, pages):
    for page, tags in pages.items():
        assert name in words_of(page, tags), f"man/{page} has no entry for {name}"


def test_every_score_is_explained():
    text = " ".join(words_of("commands/eval_uc.md")).lower()
    for row in PAGE.values():
        words = re.findall(r"[\w-]+", row.title.split(",")[0].format("k").lower())
        assert " ".join(words) in text, f"man/commands/eval_uc.md does not explain: {row.title}"


def test_the_estimator_names_every_learner_and_kernel():
    pytest.importorskip("sklearn")
    from agfmc.estimators import MultiClassFromBinary as Estimator

    lists = re.findall(r"^    (?:learner|kernel) : \{(.*)\}", Estimator.__doc__, re.M)
    listed = {KERNEL_NAMES.get(word, word) for text in lists for word in re.findall(r"\w+", text)}
    assert {*KERNELS, *LEARNERS} - {*NODE_LEARNERS} <= listed


@pytest.mark.long
def test_the_session_of_the_overview_runs(tmp_path):
    if not (ROOT / "sample_data" / "digits.svm").is_file():
        pytest.skip("there are no sample data")
    if shutil.which("sh") is None or shutil.which("xargs") is None:
        pytest.skip("there is no shell")
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    lines = [line for line in example_lines(MAN / "agfmc.7") if line.strip()]
    # the chain from text to a decoded tree; what follows takes as long again
    lines = lines[: next(i for i, line in enumerate(lines) if "-Q orthogonal" in line)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": os.pathsep.join(
            [str(ROOT / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
    }
    script = "\n".join(["set -e", *lines, ""])
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-2]) > 0.95
    probabilities = (tmp_path / "prob.txt").read_text().splitlines()
    assert len(probabilities) == 539 and len(probabilities[0].split()) == 11


LONG = [name for name in COMMANDS if parser_of(name).is_long]


@pytest.mark.parametrize("name", LONG)
def test_help_of_a_long_command_is_short(name, capsys):
    parser = parser_of(name)
    names, examples = parser.short_help()
    assert len(set(names)) == 10 and set(names) <= set(parser._option_string_actions)
    assert [command for _, line in examples for command, _ in invocations(line)].count(name) == 3
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    short = capsys.readouterr().out
    assert len(re.findall(r"^  -", short, re.M)) == 10
    assert all(line in short for example in examples for line in example)
    assert [block.strip() for block in blocks(section(text_of(name), "EXAMPLES"))[:3]] == [
        line for _, line in examples
    ]
    with pytest.raises(SystemExit):
        parser.parse_args(["--help-all"])
    shown = set(re.findall(r"(?<!\S)--[a-z0-9-]+(?=[\s,])", capsys.readouterr().out))
    assert {option for option in parser._option_string_actions if option[:2] == "--"} <= shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_same_options_of_help(name, run):
    assert run(name, "-h").out == run(name, "--help").out
    assert run(name, "--help-all").out.startswith("usage: ")


def test_help_says_what_an_option_needs_and_excludes():
    actions = parser_of("mbh2mbm")._option_string_actions
    assert actions["-Q"].help.endswith(" (needs --c or --onnx)")
    assert actions["--libsvm"].help.endswith(" (not with -a, --names, --calibration, -Z)")
    assert "needs" not in parser_of("classify_m")._option_string_actions["--confidence"].help


@pytest.mark.long
def test_examples_of_the_help_run(tmp_path):
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": os.pathsep.join(
            [str(ROOT / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
    }
    first = [
        "agf_preprocess",
        "agf_train",
        "print_control",
        "multi_borders",
        "nfold",
        "mbh2mbm",
        "classify_m",
    ]  # make the files of the others
    for name in first + sorted({*LONG} - {*first}):
        for _, line in parser_of(name).short_help()[1]:
            done = subprocess.run(
                ["sh", "-c", line],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, (line, done.stderr)


def test_markdown_as_roff():
    text = (
        "# A\n\nSee [`tune_m`](../commands/tune_m.md), [tables](tables.md) `--by`, p\\*.\n\n"
        "`-Q` *X*\n:   text\n\n    `inner`\n    :   x\n\n-   a\n\n## Two\n\n"
        "```\n    a_b - c\n```\n"
    )
    assert to_roff(text, "guide") == [
        ".SH DESCRIPTION",
        r"See \fBtune_m\fR(1), \fBagfmc_tables\fR(7) \fB\-\-by\fR, p*.",
        ".TP",
        r"\fB\-Q\fR \fIX\fR",
        "text",
        ".RS",
        ".TP",
        r"\fBinner\fR",
        "x",
        ".RE",
        r".IP \(bu 2n",
        "a",
        ".SH TWO",
        ".EX",
        r"    a_b \- c",
        ".EE",
    ]


BANNED = re.compile(
    r"\b(is told|are told|asked of|hurry|utili[sz]e|leverag(?:ed|ing)|obviously|"
    r"foresee|whatsoever|stranger|settled|wherein|thereof)\b",
    re.I,
)


@pytest.mark.parametrize(
    "path",
    [*SITE_PAGES, MAN / "site" / "paper.md", *sorted((MAN / "commands").glob("*.md"))],
    ids=lambda path: path.stem,
)
def test_prose_is_plain(path):
    """Words that this project does not use, and sentences of more than 45 words."""
    text = re.sub(
        r"^```.*?^```$|^\|.*?$|^---.*?^---$",
        "",
        path.read_text(encoding="utf-8"),
        flags=re.M | re.S,
    )
    assert BANNED.findall(text) == []
    sentences = re.split(r"(?<=[.:!?;])\s+|\n\s*(?:\n|- )", text)
    assert [sentence for sentence in sentences if len(sentence.split()) > 45] == []


def test_readme_is_read_in_one_sitting():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 1500
