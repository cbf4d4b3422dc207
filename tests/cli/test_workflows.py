"""Workflows, image and package of sample_data/: their command lines, and what they say of us."""

import ast
import configparser
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agfmc import __version__
from agfmc.cli import parser_of

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_data"
COMMANDS = sorted(path.name for path in (ROOT / "bin").iterdir())
CHAIN = [
    "agf_preprocess",
    "print_control",
    "multi_borders",
    "mbh2mbm",
    "classify_m",
    "eval_uc",
    "eval_uc",
]


def text_of(name):
    return (SAMPLES / name).read_text(encoding="utf-8")


def setup():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def snakemake_lines():
    """The shell lines of the Snakefile, with values in the place of its names."""
    text = text_of("Snakefile")
    columns = re.search(r'"columns", "(.*)"', text)[1]
    for block in re.findall(r"^    shell:\n((?: {8}.*\n)+)", text, re.M):
        line = ast.literal_eval(f"({block})").replace("{params.columns}", columns)
        line = line.replace("{threads}", "2").replace("{wildcards.scheme}", "one-vs-one")
        yield from re.sub(r"\{([\w.]+)(:q)?\}", r"\1.x", line).splitlines()


def nextflow_lines(**values):
    """The lines of the scripts of main.nf, with the values of its names."""
    text = text_of("main.nf")
    params = dict(re.findall(r"^params\.(\w+) = '(.*)'$", text, re.M))
    values = {"task.cpus": "2", "scheme": "one-vs-one", **params, **values}
    for block in re.findall(r'"""\n(.*?)"""', text, re.S):
        for line in block.splitlines():
            if line.strip():
                yield re.sub(r"\$\{([\w.]+)\}", lambda m: values.get(m[1], "x.csv"), line.strip())


def docker_lines():
    """The command lines of the Dockerfile: in its comment, and the last instruction."""
    text = text_of("Dockerfile").replace(" \\\n#", "")
    yield from re.findall(r"^#   docker run .* agfmc\s+(\w+ .*)$", text, re.M)
    yield shlex.join(ast.literal_eval(re.search(r"^CMD (\[.*\])$", text, re.M)[1]))


def taken_apart(line):
    """(words, file of standard output or None) of a shell line; standard error is left out."""
    words, output = [], None
    rest = iter(shlex.split(line))
    for word in rest:
        if word in (">", "2>", "2>>"):
            name = next(rest)
            output = name if word == ">" else output
        else:
            words.append(word)
    return words, output


@pytest.mark.parametrize(
    "lines, wanted",
    [(snakemake_lines, CHAIN), (nextflow_lines, CHAIN), (docker_lines, ["agf_train"] * 2)],
    ids=["Snakefile", "main.nf", "Dockerfile"],
)
def test_command_lines_have_the_options_of_the_commands(lines, wanted):
    found = [taken_apart(line)[0] for line in lines()]
    assert [words[0] for words in found] == wanted
    for command, *arguments in found:
        parser = parser_of(command)
        if arguments != ["--help"]:
            parser.parse_args(arguments)


@pytest.mark.long
def test_the_scripts_of_nextflow_run_in_their_order(run, folder):
    pytest.importorskip("jinja2")
    names = {
        "table": str(SAMPLES / "penguins.csv"),
        "train": "train.csv",
        "test": "test.csv",
        "model": "model.mbm",
        "answers": "answers.csv",
    }
    for line in nextflow_lines(**names):
        words, output = taken_apart(line)
        done = run(*words)
        events = [json.loads(line)["event"] for line in done.err.splitlines()]
        assert events[0] == "start" and events[-1] == "done"
        if output is not None:
            (folder / output).write_text(done.out)
    outputs = set(re.findall(r"path\(?\s*'([\w.]+)'", text_of("main.nf")))
    assert {"model.mbm", "answers.csv", "scores.json", "train.log"} <= outputs
    assert all((folder / name).is_file() for name in outputs if not name.endswith(".log"))
    assert json.loads((folder / "scores.json").read_text())["accuracy"] > 0.95


def test_outputs_that_the_workflow_of_nextflow_passes_on_are_emitted():
    text = text_of("main.nf")
    emitted = {
        name: set(re.findall(r"emit: (\w+)", body))
        for name, body in re.findall(r"^process (\w+) \{\n(.*?)^\}", text, re.M | re.S)
    }
    workflow = text[text.index("\nworkflow {") :]
    made = dict(re.findall(r"^    (\w+) = ([A-Z]+)\(", workflow, re.M))
    passed = [
        (made[name], output)
        for name, output in re.findall(r"\b(\w+)\.(\w+)", workflow)
        if name in made
    ]
    assert len(passed) >= 4 and all(output in emitted[process] for process, output in passed)
    assert set(emitted) == set(re.findall(r"\b([A-Z]{2,})\(", workflow))


def test_snakemake_runs_the_chain(tmp_path):
    if importlib.util.find_spec("snakemake") is None:
        pytest.skip("snakemake is not installed")
    path = os.pathsep.join(
        [str(ROOT / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            "2",
            "--snakefile",
            str(SAMPLES / "Snakefile"),
            "--directory",
            str(tmp_path),
            "--config",
            "schemes=one-vs-rest",
        ],
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = tmp_path / "one-vs-rest"
    assert json.loads((results / "scores.json").read_text())["accuracy"] > 0.95
    assert "<!DOCTYPE html>" in (results / "report.html").read_text()


def test_files_that_are_named_are_there():
    for name in ("Snakefile", "main.nf", "Dockerfile", "recipe.yaml"):
        named = re.findall(r"sample_data/([\w.-]+)", text_of(name))
        assert named and all((SAMPLES / other).is_file() for other in named), name
    for name in ("Snakefile", "main.nf"):
        assert "penguins.csv" in text_of(name)
    readme = text_of("README.md")
    assert [path.name for path in SAMPLES.iterdir() if f"`{path.name}`" not in readme] == [
        "README.md"
    ]


def test_the_image_is_that_of_no_root_and_its_extras_exist():
    text = text_of("Dockerfile")
    stages = text.split("\nFROM ")[1:]
    assert len(stages) == 2 and all(stage.startswith("python:3.") for stage in stages)
    assert re.search(r"^USER [1-9]\d*$", stages[1], re.M) and "ENTRYPOINT" not in text
    extras = re.findall(r"[.c]\[([\w,]+)\]'", text)
    assert len(extras) == 2 and extras[0] == extras[1]
    assert set(extras[0].split(",")) <= set(setup()["options.extras_require"])


def test_the_conda_recipe_asks_for_what_setuptools_asks_for():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load(text_of("recipe.yaml"))
    assert recipe["context"]["version"] == __version__
    options = setup()["options"]
    assert f">={recipe['context']['python_min']}" == options["python_requires"]
    plain = [need.replace(" ", "") for need in recipe["requirements"]["run"]]
    assert plain[1:] == options["install_requires"].replace("-official", "").split()
    built = re.search(r"^requires = (\[.*\])$", (ROOT / "pyproject.toml").read_text(), re.M)[1]
    host = [need.replace(" ", "") for need in recipe["requirements"]["host"]]
    assert host[2:] == ast.literal_eval(built)
    extras = {
        need for name, needs in setup()["options.extras_require"].items() for need in needs.split()
    }
    constraints = recipe["requirements"]["run_constraints"]
    assert {need.replace(" ", "") for need in constraints} <= extras
    assert recipe["about"]["license"] == setup()["metadata"]["license"]


# The tables of the paper


def run_paper(folder, *words, **variables):
    path = os.pathsep.join(
        [str(ROOT / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **variables}
    command = ["sh", str(SAMPLES / "paper.sh"), *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    "words, trials, status, told",
    [
        (["segment"], "1", 1, f"put segment.svm, LIBSVM text, into this folder or into {SAMPLES}"),
        (["sat", "none.svm"], "1", 1, "there is no file of the data set sat"),
        (["segment"], "0", 2, "TRIALS: expected a whole number from 1, found '0'"),
        ([], "1", 2, "expected a data set"),
    ],
)
def test_paper_says_what_it_needs(tmp_path, words, trials, status, told):
    done = run_paper(tmp_path, *words, TRIALS=trials)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith("paper.sh: ") and told in done.stderr
    assert done.stderr.count("\n") == 1


def test_figures_of_the_paper_are_whole():
    source, head, *lines = text_of("paper.csv").splitlines()
    assert source.startswith("# P. Mills") and head.startswith("dataset,configuration,decoder,")
    rows = [line.split(",") for line in lines]
    assert all(float(row[4]) > 0 < float(row[5]) for row in rows)
    for dataset in ("segment", "pendigits", "sat", "letter"):
        # eight rows with all five measures, but for the Brier score of descended trees
        assert sum(row[0] == dataset for row in rows) == 8 * 5 - 2
    assert ["segment", "one-vs-one", "inverse", "uncertainty_coefficient", "0.922", "0.010"] in rows


@pytest.mark.long  # eight configurations, each with five processes
def test_paper_of_a_small_data_set(tmp_path):
    lines = text_of("digits.svm").splitlines(keepends=True)
    (tmp_path / "small.svm").write_text("".join(lines[:300]))
    done = run_paper(tmp_path, "segment", "small.svm", TRIALS="2")
    assert (done.returncode, done.stderr) == (0, "")
    title, _, head, *rows = done.stdout.splitlines()
    assert title.startswith("segment: 10 classes, 2 splits") and head.startswith("scheme ")
    found = {tuple(row.split()[:2]): row for row in rows}
    assert len(found) == len(rows) == 8
    assert "[0.922 0.010]" in found["one-vs-one", "inverse"]
    number = r"[\d.]+ [\d.]+ \[\S+ \S+\] +"
    assert re.fullmatch(
        rf"tree +recursive +({number}){{3}}- +{number}", found["tree", "recursive"] + " "
    )
