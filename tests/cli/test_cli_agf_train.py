"""agf_train: a model in one command, and the commands that make the same again."""

import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import agfmc
from agfmc.api import functions
from agfmc.cli import agf_train, training_page
from agfmc.cli.hints import classify_command
from agfmc.cli.options import Parser
from agfmc.experiments import portfolio
from agfmc.experiments.search import Axis, SearchSpace


@pytest.fixture
def table(folder, monkeypatch):
    """A table with words, blanks and an id; a cache folder of its own; and few options that are
    searched."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setattr(portfolio, "SearchSpace", partial(SearchSpace, log2g=Axis(-3.0, -1.0, 2.0)))
    monkeypatch.setattr(portfolio, "_FINER", ())
    rng = np.random.default_rng(1)
    y = np.arange(50) % 2
    x = rng.normal(size=(50, 2)) + 1.5 * y[:, None]
    rows = [
        f"{i},{a:.4f},{'' if i % 9 == 0 else f'{b:.4f}'},{'red blue'.split()[i // 2 % 2]},"
        f"{'ash oak'.split()[c]}"
        for i, ((a, b), c) in enumerate(zip(x, y))
    ]
    Path("my trees.csv").write_text("\n".join(["no,width,height,colour,tree", *rows]) + "\n")
    return folder


WORDS = ("my trees.csv", "--label", "tree", "--id=no", "-E", "median")


def with_files(script):
    """The commands of a script, whose files are written."""
    Path("m.steps").mkdir()
    parts = re.split(r"cat > (\S+) <<'END'\n(.*?)END\n", script, flags=re.DOTALL)
    for path, text in zip(parts[1::3], parts[2::3]):
        Path(path).write_text(text)
    return parts[-1].splitlines()


@pytest.fixture
def shell(root, folder):
    """Function that runs a script by sh, in processes of their own: sums of numbers depend on the
    threads of the numeric library, which a command sets to one; -> (standard output, error)."""
    names = "\n".join(
        f'{name}() {{ "{sys.executable}" "{root}/bin/{name}" "$@"; }}'
        for name in ("agf_train", "print_control", "tune_m", "multi_borders", "mbh2mbm")
    )
    environment = {
        "PYTHONPATH": str(root),
        "PATH": "/usr/bin:/bin",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }

    def run(script):
        done = subprocess.run(
            ["sh", "-e"],
            input=f"{names}\n{script}",
            text=True,
            check=False,
            env=environment,
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    return run


def is_repeated(shell, script, model):
    """True where the script makes the same bytes again."""
    Path(model).rename("first")
    shell(script)
    return Path(model).read_bytes() == Path("first").read_bytes()


@pytest.mark.long
def test_the_printed_commands_make_the_same_model(run, table, shell):
    out, err = shell(f"agf_train {shlex.join(WORDS)} 'a model.mbm' --seed 2")
    comments, script = out.split("mkdir -p ")
    comments = comments.splitlines()
    assert comments[0].startswith("# estimate for new data: log loss ")
    assert re.match("#   without features, .*: log loss [01].[0-9]{4}, accuracy 0", comments[1])
    assert re.fullmatch("# configuration: (one-vs-|average of ).*", comments[2])
    number = r"(0|1)?\.\d{4}(±\.\d{4})?"
    assert re.match(rf"#   in the comparison: log loss {number}, accuracy {number} ", comments[3])
    assert script.startswith("'a model.steps'\ncat > 'a model.steps/train.recipe' <<'END'\n{")
    assert "END\ncat > 'a model.steps/chosen.mbt' <<'END'\n" in script
    assert "\nEND\nmulti_borders -n " in script and script.endswith(" 'a model.mbm'\n")
    assert "one-vs-one rbf" in err
    assert err.endswith(
        "agf_train: wrote a model.mbm; classify new data with: "
        "classify_m 'a model.mbm' NEW.csv answers.csv\n"
    )
    assert sorted(path.name for path in table.iterdir()) == [
        "a model.mbm",
        "a model.recipe",
        "cache",
        "my trees.csv",
    ]
    assert is_repeated(shell, out, "a model.mbm")
    run("classify_m", "a model.mbm", "my trees.csv", "answer.csv")
    assert Path("answer.csv").read_text().startswith("no,class,")


@pytest.mark.long
def test_without_time_the_printed_commands_train_one_vs_one(table, shell):
    out, err = shell(f"agf_train {shlex.join(WORDS)} m.mbm --time-limit 0 --quiet")
    assert out.startswith("# no estimate for new data, because nothing was scored") and err == ""
    assert is_repeated(shell, out, "m.mbm")


def test_an_average_of_learners_is_one_control_file_and_the_commands_repeat_it(
    run, table, monkeypatch
):
    pytest.importorskip("lightgbm")
    monkeypatch.setattr(
        portfolio,
        "SearchSpace",
        partial(SearchSpace, log2c=Axis(1.0, 4.0, 3.0), log2g=Axis(-3.0, -1.0, 2.0)),
    )
    monkeypatch.setattr(
        portfolio,
        "CONTENDERS",
        (
            portfolio.Contender("svm", "one-vs-one", "-t laplacian"),
            portfolio.Contender("trees", "one-vs-one", "learner=trees -n 5"),
        ),
    )
    _, out, err = run(
        "agf_train", *WORDS, "m.mbm", "--combine", "always", "--class-weight", "balanced"
    )
    text = "the model averages 1 of the 2 configurations: the others got no weight"
    assert f"agf_train: {text}\n" in err and f"# {text}\n" in out
    assert out.startswith("# estimate for new data: log loss ")
    assert f"agf_train: {out.splitlines()[0].removeprefix('# ')}\n" in err
    assert "stage, with the best log loss of their search." in err and "\nComparison on 50 p" in err
    assert "# configuration: average of " in out and "--class-weight=balanced" in out
    first = Path("m.mbm").read_bytes()
    commands = with_files(out)
    text = Path("m.steps/chosen.mbt").read_text()
    assert '"-t laplacian -g ' in text and '"learner=trees -n 5"' in text
    assert Path("m.steps/train.recipe").read_bytes() == Path("m.recipe").read_bytes()
    for line in commands:
        run(*shlex.split(line))
    assert Path("m.mbm").read_bytes() == first
    assert "average of" not in run("agf_train", *WORDS, "s.mbm", "--combine", "never").out


@pytest.mark.parametrize(
    "ensemble, learners, words",
    [
        (None, ["nystrom"], ("--kernels", "rbf")),
        pytest.param(True, ["svm", "nystrom"], ("--combine", "always"), marks=pytest.mark.long),
    ],
)
def test_a_function_and_the_script_make_the_same_model(run, table, ensemble, learners, words):
    done = run("agf_train", *WORDS, "m.mbm", "--seed=2", "--learners", ",".join(learners), *words)
    data = agfmc.read_table("my trees.csv", label="tree", ids="no", missing="median")
    made, result = agfmc.train_best(
        data, seed=2, learners=learners, ensemble=ensemble, kernels=None if ensemble else ["rbf"]
    )
    agfmc.save("f.mbm", made)
    model = Path("m.mbm").read_bytes()
    assert model == Path("f.mbm").read_bytes()
    for line in with_files(done.out):
        run(*shlex.split(line))
    assert model == Path("m.mbm").read_bytes()
    estimate, choice = result["estimate"], result["choice"]["configuration"]
    assert done.out.startswith(f"# estimate for new data: log loss {estimate['score']:.4f}, ")
    assert ("good: quote the estimate" in done.out) == (len(result["rows"]) > 1)
    assert f"\n# configuration: {choice}" in done.out and result["contenders"][0]["rows"] == 50
    if ensemble:
        members = " and ".join(result["members"][choice])
        assert f"configuration: {choice}: {members}\n" in done.out
        assert f"\naverage of 2: {' and '.join(result['members']['average of 2'])}\n" in done.err


def test_mistakes_in_python():
    with pytest.raises(agfmc.DataError, match="class 1 .* `min_class=3` leaves out"):
        agfmc.train_best(np.eye(7), [0, 0, 0, 0, 1, 2, 2])
    with pytest.raises(agfmc.UsageError, match="by: expected one of accuracy, .* found 'speed'"):
        agfmc.train_best(np.eye(6), [0, 1] * 3, by="speed")
    with pytest.warns(agfmc.AgfmcWarning, match="^the time limit ended the search: the config"):
        model, result = agfmc.train_best(np.eye(20) + 1, [0, 1] * 10, time_limit=0)
    assert result["choice"] is result["estimate"] is None and len(model.tree.rows) == 1


def test_learners_are_named(run, table):
    run("agf_train", *WORDS, "m.mbm", "--learners", "svm,woods", status=2).refused(
        "--learners: expected some of svm, nystrom, trees, found 'woods'"
    )
    run("agf_train", "none.csv", "m.mbm", "--learners", "woods", status=2).refused(
        "--learners: expected some of"
    )  # before the data are read
    out = run("agf_train", *WORDS, "m.mbm", "--learners", "nystrom", "--time-limit", "0").out
    assert '"learner=nystrom -t rbf"' in out


def test_kernels_are_restricted(run, table):
    run("agf_train", *WORDS, "m.mbm", "--kernels", "rbf,linear", status=2).refused(
        "--kernels: expected some of rbf, laplacian, found 'linear'"
    )


def test_a_page_of_one_kernel_measures_what_matters_on_rows_that_trained_nothing(
    run, table, monkeypatch
):
    seen = {}
    for module, name in ((functions, "train_configuration"), (training_page, "importance")):

        def follow(*args, function=getattr(module, name), name=name, **options):
            seen[name] = np.asarray(args[1].x)
            return function(*args, **options)

        monkeypatch.setattr(module, name, follow)
    parsed = []

    def follow_parser(*args, function=Parser.parse_args):
        parsed.append(args)
        return function(*args)

    monkeypatch.setattr(Parser, "parse_args", follow_parser)
    monkeypatch.setattr(portfolio, "_SAMPLES", (30, 60))
    done = run(
        "agf_train",
        *WORDS,
        "m.mbm",
        "--learners",
        "nystrom",
        "--kernels",
        "laplacian",
        "--report",
        "p.html",
    )
    assert len(parsed) == 1, "no other command's parser reads words of this one"
    assert "-t laplacian" in done.out and "rbf" not in done.err
    trained, measured = (
        {*map(bytes, seen[name])} for name in ("train_configuration", "importance")
    )
    assert (len(trained), len(measured)) == (40, 10) and not trained & measured
    page = Path("p.html").read_text()
    assert all(f"Effect of {name}" in page for name in ("width", "height", "colour"))
    curve = page[page.index('id="curve"') : page.index('id="data"')]
    scores = re.findall(r"one-vs-rest nystrom laplacian +\d+ +(\.?\d\S*)", done.err)
    assert len(scores) == 2 and all(score in curve for score in scores), (scores, curve)


@pytest.mark.long
def test_a_page_may_exceed_the_limit_by_seconds_and_says_what_adds_the_rest(
    run, table, monkeypatch
):
    words = (*WORDS, "m.mbm", "--time-limit", "0", "--report", "p.html")
    monkeypatch.setattr(training_page, "_OVERRUN", (1e6, 0.0))
    run("agf_train", *words)
    page = Path("p.html").read_text()
    assert "Effect of width" in page and "The time limit ended the search" in page
    monkeypatch.setattr(training_page, "_OVERRUN", (0.0, 0.0))
    done = run("agf_train", *words)
    assert "\nnfold" not in done.out and "the page has no held-out answers" in done.err
    assert (
        "; eval_uc --report=FILE.html --model=m.mbm m.steps/held.truth m.steps/held"
        in Path("p.html").read_text()
    )
    lines = done.err.split("commands for it: ")[1].splitlines()[0].split("; ")
    with_files(done.out)
    for line in lines:
        run(*shlex.split(line))
    assert Path("FILE.html").exists()


def test_no_help_says_that_standard_input_is_accepted():
    assert "standard input" not in agf_train.get_parser().format_help()


def test_costs_decide_and_stand_in_the_last_line(run, table):
    Path("costs").write_text("ash oak\n0 1\n9 0\n")
    words = ("--learners", "nystrom", "--kernels", "rbf")
    run("agf_train", *WORDS, "m.mbm", *words, "--by", "cost", status=2).refused(
        "--by cost needs the costs of the answers: --costs FILE"
    )
    done = run("agf_train", *WORDS, "m.mbm", *words, "--by", "cost", "--costs", "costs")
    assert done.out.startswith("# estimate for new data: mean cost ")
    assert "classify_m --costs costs m.mbm" in done.err


def test_trees_alone_take_missing_values_that_are_kept(run, table):
    pytest.importorskip("lightgbm")
    words = (*WORDS[:-1], "keep", "m.mbm")
    run("agf_train", *words, "--learners", "svm", status=2).refused("--missing keep is for trees")
    done = run("agf_train", *words)
    assert "learner=trees" in done.out and "svm" not in done.out and "one-vs-one trees" in done.err
    assert done.out.startswith("# estimate for new data: log loss ")
    run("classify_m", "m.mbm", "my trees.csv", "answer.csv")


class _Killed(BaseException):
    """The end of a process, as far as a test can have one."""


@pytest.mark.parametrize("samples", [(60,), pytest.param((40, 60), marks=pytest.mark.long)])
def test_a_run_that_is_killed_at_any_step_goes_on_to_the_same_model(
    run, table, samples, monkeypatch
):
    from agfmc.experiments.racing import Tuner

    monkeypatch.setattr(portfolio, "_SAMPLES", samples)
    monkeypatch.setattr(
        portfolio,
        "SearchSpace",
        partial(SearchSpace, log2c=Axis(1.0, 4.0, 3.0), log2g=Axis(-3.0, -3.0, 2.0)),
    )
    words = (*WORDS, "m.mbm", "--learners", "svm", "--kernels", "laplacian", "--time-limit", "9999")
    first = run("agf_train", *words, "--no-state").out
    model = Path("m.mbm").read_bytes()
    places = (
        (portfolio, "run_trial", 2),
        (Tuner, "trials", 2),
        (functions, "train_configuration", 1),
    )
    for where, name, count in places[: len(samples) * 2 - 1]:
        calls, whole = [], getattr(where, name)

        def killed(*args, count=count, calls=calls, whole=whole, **more):
            calls.append(1)
            if len(calls) == count:
                raise _Killed
            return whole(*args, **more)

        with monkeypatch.context() as patch:
            patch.setattr(where, name, killed)
            with pytest.raises(_Killed):
                run("agf_train", *words)
    Path("m.mbm").unlink()
    done = run("agf_train", *words)
    assert (done.out, Path("m.mbm").read_bytes()) == (first.replace("--no-state ", ""), model)
    assert re.search(r"reused \d+ results that were there already", done.err)


def test_classes_that_are_too_small_are_named_with_the_way_out(run, table):
    text = Path("my trees.csv").read_text()
    for row, word in ((3, "elm"), (4, "fir"), (7, "fir")):
        text = re.sub(rf"(?m)^({row},.*,)\w+$", rf"\1{word}", text)
    Path("my trees.csv").write_text(text)
    run("agf_train", *WORDS, "m.mbm", status=1).refused(
        "my trees.csv: class elm", "; --min-class 3 leaves out the classes with fewer than 3"
    )
    assert not Path("m.mbm").exists()
    out = run("agf_train", *WORDS, "m.mbm", "--min-class", "3", "--time-limit", "0").out
    assert out.count("--min-class=3") == 1 and Path("m.mbm").exists()
    run("agf_train", *WORDS, "m.mbm", "--min-class", "99", status=1).refused(
        "my trees.csv: no classes of 4 would be left by --min-class 99: expected at least 2"
    )


@pytest.mark.parametrize(
    "kind, source, words",
    [
        ("binary", "trn", "m.mbm NEW.vec answers"),
        ("svm", "trn.svm", "-M m.mbm NEW answers"),
        ("lvq", "trn", "-A m.mbm NEW answers"),
        ("table", "x", "m.mbm NEW answers.csv"),
        ("table", "x.TSV.gz", "m.mbm NEW.tsv.gz answers.tsv.gz"),
    ],
)
def test_the_last_line_has_the_words_for_the_kind_of_the_data(kind, source, words):
    assert classify_command("m.mbm", kind, source) == f"classify_m {words}"
    assert classify_command("-m.mbm", kind, source).split(" NEW")[0].endswith(" ./-m.mbm")


@pytest.mark.parametrize(
    "words, message",
    [
        (("-", "m.mbm", "-M"), "the data are read several times"),
        (("my trees.csv", "-"), "expected the name of a file for the model"),
        (("my trees.csv", "m.csv"), "is the order of the operands right?"),
        (("my trees.csv", "./my trees.csv"), "model would overwrite train: "),
        (("my trees.csv", "m.mbm", "--time-limit", "soon"), "expected seconds"),
    ],
)
def test_mistakes_are_told_before_the_work(run, table, words, message):
    run("agf_train", *words, status=2).refused(message)


@pytest.mark.long
def test_all_messages_are_of_the_command_that_was_called(run, table):
    rows = Path("my trees.csv").read_text().splitlines()
    Path("my trees.csv").write_text(
        "".join(f"{word},{row}\n" for word, row in zip(["same"] + ["1"] * len(rows), rows))
    )
    err = run("agf_train", *WORDS, "m.mbm").err
    assert "agf_train: my trees.csv: left out: 'same' (constant)" in err
    assert not re.search("^(print_control|tune_m|multi_borders|mbh2mbm): ", err, re.M), err
