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
from agfmc.cli import agf_train
from agfmc.cli.hints import classify_command
from agfmc.cli.options import Parser
from agfmc.cli.work import training_page
from agfmc.experiments import best_search, families
from agfmc.experiments.best_search import BestSearch
from agfmc.experiments.search import Axis, SearchSpace
from agfmc.files import result_store
from agfmc.report.trials import estimate_words

ONE_GAMMA = Axis(-1.0, -1.0, 2.0)


@pytest.fixture
def table(folder, monkeypatch):
    """A table with words, blanks and an id; a cache folder of its own; and few options that are
    tried."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setattr(best_search, "SearchSpace", partial(SearchSpace, log2g=ONE_GAMMA))
    monkeypatch.setattr(best_search, "_GAIN", 9)  # two rounds of tuning
    monkeypatch.setattr(
        families,
        "FAMILIES",
        tuple(family._replace(others=family.others[:1]) for family in families.FAMILIES),
    )
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
def test_the_script_makes_the_same_model(run, table, shell):
    out, err = shell(f"agf_train {shlex.join(WORDS)} 'a model.mbm' --seed 2 --script s.sh")
    assert out == "" and err.endswith("classify_m 'a model.mbm' NEW.csv answers.csv\n")
    text = Path("s.sh").read_text()
    comments, script = text.split("mkdir -p ")
    comments = comments.splitlines()
    assert comments[0].startswith("# estimate for new data: log loss ")
    assert comments[1].startswith("# without features, from the shares of the classes: log loss 0.")
    assert comments[2].startswith("# configuration: ") and len(comments) == 3
    assert script.startswith("'a model.steps'\ncat > 'a model.steps/train.recipe' <<'END'\n{")
    assert "END\ncat > 'a model.steps/chosen.mbt' <<'END'\n" in script
    assert "\nEND\nmulti_borders -n " in script and script.endswith(" 'a model.mbm'\n")
    assert sorted(path.name for path in table.iterdir()) == [
        "a model.mbm",
        "a model.recipe",
        "cache",
        "my trees.csv",
        "s.sh",
    ]
    assert is_repeated(shell, text, "a model.mbm")
    run("classify_m", "a model.mbm", "my trees.csv", "answer.csv")
    assert Path("answer.csv").read_text().startswith("no,class,")


@pytest.mark.long
def test_without_time_the_cheapest_family_is_trained(table, shell):
    out, err = shell(f"agf_train {shlex.join(WORDS)} m.mbm --time-limit 0 --quiet --script -")
    assert out.startswith("# estimate for new data: log loss ") and err == ""
    assert is_repeated(shell, out, "m.mbm")


def test_six_lines_tell_what_was_done(run, table):
    done = run("agf_train", *WORDS, "m.mbm", "--learners", "logistic,nystrom", "--no-state")
    assert done.out == ""
    lines = done.err.splitlines()
    assert all(line.startswith("agf_train: ") for line in lines)
    first, chosen, estimate, gain, wrote, then = (
        line.removeprefix("agf_train: ") for line in lines
    )
    assert re.fullmatch(
        r"50 rows, 2 classes, columns: number 2, words 1: tried \d+ configurations of 3 families",
        first,
    ), first
    assert chosen.startswith("chosen: ")
    assert re.match(
        r"estimate for new data: log loss 0\.\d{4}, standard error 0\.\d{4} \(50 ", estimate
    )
    assert re.fullmatch(
        r"without features, from the shares of the classes: log loss 0\.6931, worse by 0\.\d{4}",
        gain,
    )
    assert re.fullmatch(r"wrote m.mbm after \d.*", wrote)
    assert then == "classify new data with: classify_m m.mbm NEW.csv answers.csv"


def test_a_script_that_cannot_be_written_is_told_before_the_work(run, table):
    run("agf_train", *WORDS, "m.mbm", "--script", "none/s.sh", status=1).refused("none/s.sh: ")
    assert not Path("m.mbm").exists()


def test_verbose_adds_all_that_was_tried(run, table):
    words = ("agf_train", *WORDS, "m.mbm", "--learners", "logistic")
    plain = run(*words, "--no-state").err
    done = run(*words, "--no-state", "-v")
    assert done.out == "" and done.err.endswith("\n".join(plain.splitlines()[-1:]) + "\n")
    lines = done.err.splitlines()
    for options in ("-r 0.1 ", "-r 0.01 "):
        assert any(re.match(f"logistic regression +{options}", line) for line in lines), lines
    assert any(re.fullmatch("colour +words +2 .*", line) for line in lines), lines
    assert run("agf_train", *WORDS, "m.mbm", "--time-limit", "0", "--verbose", "--quiet").err == ""


def test_results_for_another_run_lie_in_one_file_that_is_named(run, table):
    words = ("agf_train", *WORDS, "m.mbm", "--learners", "nystrom", "--kernels", "rbf")

    def line_of(done):
        return done.err.splitlines()[-2]

    first = line_of(run(*words))
    model = Path("m.mbm").read_bytes()
    [file] = (table / "cache" / "agfmc").iterdir()
    assert first.endswith(f"; results for another run are in {file}")
    second = line_of(run(*words))
    assert re.search(
        rf"; results for another run are in {re.escape(str(file))}, which had \d+ results of these "
        "before$",
        second,
    )
    assert Path("m.mbm").read_bytes() == model


def test_an_average_of_learners_is_one_control_file_and_the_script_repeats_it(
    run, table, monkeypatch
):
    pytest.importorskip("lightgbm")
    chosen = ("one-vs-one laplacian", "boosted trees of all classes")
    monkeypatch.setattr(
        families,
        "FAMILIES",
        tuple(family for family in families.FAMILIES if family.name in chosen),
    )
    words = ("--combine", "always", "--class-weight", "balanced", "--script", "-")
    monkeypatch.setattr(
        BestSearch, "select", lambda self, entries, rows=slice(None): given(self, entries)
    )

    def given(search, entries):
        """The best of each family, one of them twice."""
        counts = [0] * len(entries)
        for number, name in enumerate(chosen):
            place = next(i for i, entry in enumerate(entries) if entry.family.name == name)
            counts[place] = 1 + number
        return counts, 0.5

    done = run("agf_train", *WORDS, "m.mbm", *words)
    assert done.out.startswith("# estimate for new data: log loss ")
    assert "agf_train: chosen: the average of 0." in done.err
    assert "\n# configuration: the average of 0." in done.out
    assert "--class-weight=balanced" in done.out
    first = Path("m.mbm").read_bytes()
    commands = with_files(done.out)
    text = Path("m.steps/chosen.mbt").read_text()
    weights = re.search("# weights: (.*)\n", text)[1].split()
    assert sorted(map(float, weights)) == pytest.approx([1 / 3, 2 / 3])
    assert '"-t laplacian' in text and " T {" in text
    assert Path("m.steps/train.recipe").read_bytes() == Path("m.recipe").read_bytes()
    for line in commands:
        run(*shlex.split(line))
    assert Path("m.mbm").read_bytes() == first
    done = run("agf_train", *WORDS, "s.mbm", "--combine", "never", "--script", "-")
    assert "average of" not in done.out + done.err


@pytest.mark.parametrize(
    "ensemble, learners, words",
    [
        (None, ["logistic"], ("--kernels", "rbf")),
        pytest.param(True, ["svm", "nystrom"], ("--combine", "always"), marks=pytest.mark.long),
    ],
)
def test_a_function_and_the_script_make_the_same_model(run, table, ensemble, learners, words):
    words = ("m.mbm", "--seed=2", "--learners", ",".join(learners), *words, "--script", "s.sh")
    done = run("agf_train", *WORDS, *words)
    data = agfmc.read_table("my trees.csv", label="tree", ids="no", missing="median")
    made, result = agfmc.train_best(
        data, seed=2, learners=learners, ensemble=ensemble, kernels=None if ensemble else ["rbf"]
    )
    agfmc.save("f.mbm", made)
    model = Path("m.mbm").read_bytes()
    assert model == Path("f.mbm").read_bytes()
    script = Path("s.sh").read_text()
    for line in with_files(script):
        run(*shlex.split(line))
    assert model == Path("m.mbm").read_bytes()
    estimate = f"estimate for new data: {estimate_words(result['estimate'], 'log_loss')}\n"
    assert script.startswith(f"# {estimate}") and f"agf_train: {estimate}" in done.err
    assert result["control"] in script and done.out == ""
    assert result["choice"]["members"][0]["configuration"] in done.err


def test_mistakes_in_python():
    with pytest.raises(agfmc.DataError, match="class 1, .* `min_class=2` leaves out"):
        agfmc.train_best(np.eye(7), [0, 0, 0, 0, 1, 2, 2])
    with pytest.raises(agfmc.UsageError, match="by: expected one of accuracy, .* found 'speed'"):
        agfmc.train_best(np.eye(6), [0, 1] * 3, by="speed")
    model, result = agfmc.train_best(np.eye(20) + 1, [0, 1] * 10, time_limit=0)
    assert len(result["entries"]) == 1 and set(result["left_out"].values()) == {
        "not tried (about 1 s)"
    }
    assert len(model.tree.classes) == 2


def test_where_nothing_could_be_scored_the_status_is_3(run, table, monkeypatch):
    slow = families.FAMILIES[0]._replace(learner="L", name="slow", seconds=lambda *sizes: 99.0)
    monkeypatch.setattr(families, "FAMILIES", (slow,))
    run("agf_train", *WORDS, "m.mbm", "--time-limit", "1", status=3).refused(
        "the limits are too narrow for any configuration of these data: slow: not tried (about 99 s)"
    )
    assert not Path("m.mbm").exists()


def test_the_time_of_answers_is_limited(run, table):
    words = ("agf_train", *WORDS, "m.mbm", "--learners", "nystrom", "--kernels", "rbf")
    run(*words, "--answer-time", "soon", status=2).refused("--answer-time")
    run(*words, "--answer-time", "100000")
    Path("m.mbm").unlink()
    result = run(*words, "--answer-time", "1", status=3)
    result.refused("the answer to a row takes ")
    assert not Path("m.mbm").exists()


def test_learners_are_named(run, table):
    run("agf_train", *WORDS, "m.mbm", "--learners", "svm,woods", status=2).refused(
        "--learners: expected some of svm, nystrom, trees, logistic, neighbours, found 'woods'"
    )
    run("agf_train", "none.csv", "m.mbm", "--learners", "woods", status=2).refused(
        "--learners: expected some of"
    )  # before the data are read
    words = ("--learners", "nystrom", "--time-limit", "0", "--script=-")
    assert '"learner=nystrom -t rbf"' in run("agf_train", *WORDS, "m.mbm", *words).out


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
    words = ("--learners", "nystrom", "--kernels", "laplacian", "--report", "p.html", "-v")
    done = run("agf_train", *WORDS, "m.mbm", *words, "--script", "s.sh")
    assert len(parsed) == 1, "no other command's parser reads words of this one"
    assert "-t laplacian" in Path("s.sh").read_text() and "rbf" not in done.err
    trained, measured = (
        {*map(bytes, seen[name])} for name in ("train_configuration", "importance")
    )
    assert (len(trained), len(measured)) == (40, 10) and not trained & measured
    page = Path("p.html").read_text()
    assert all(f"Effect of {name}" in page for name in ("width", "height", "colour"))
    scores = re.findall(r"(?m)^one-vs-rest landmarks laplacian .*? (0\.\d{4}) ", done.err)
    assert scores and all(score in page for score in scores), (scores, done.err)


@pytest.mark.long
def test_a_page_may_exceed_the_limit_by_seconds_and_says_what_adds_the_rest(
    run, table, monkeypatch
):
    words = (*WORDS, "m.mbm", "--time-limit", "0", "--report", "p.html", "--script", "-")
    monkeypatch.setattr(training_page, "_OVERRUN", (1e6, 0.0))
    run("agf_train", *words)
    page = Path("p.html").read_text()
    assert "Effect of width" in page and "not tried (about 1 s)" in page
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
    assert "agf_train: estimate for new data: mean cost " in done.err
    assert "classify_m --costs costs m.mbm" in done.err


def test_trees_alone_take_missing_values_that_are_kept(run, table):
    pytest.importorskip("lightgbm")
    words = (*WORDS[:-1], "keep", "m.mbm")
    run("agf_train", *words, "--learners", "svm", status=2).refused(
        "points with missing values are for trees"
    )
    done = run("agf_train", *words, "--script", "-")
    assert ("learner=trees" in done.out or " T {" in done.out) and "svm" not in done.out
    assert "agf_train: estimate for new data: log loss " in done.err
    run("classify_m", "m.mbm", "my trees.csv", "answer.csv")


class _Killed(BaseException):
    """The end of a process, as far as a test can have one."""


@pytest.mark.parametrize(
    "where, name, count",
    [
        (best_search, "run_trial", 2),
        pytest.param(BestSearch, "_race", 1, marks=pytest.mark.long),
        (functions, "train_configuration", 1),
        pytest.param(result_store.ResultCache, "put", 3, marks=pytest.mark.long),
    ],
)
def test_a_run_that_is_killed_at_any_step_goes_on_to_the_same_model(
    run, table, where, name, count, monkeypatch
):
    words = ("m.mbm", "--learners", "svm", "--time-limit", "9999", "--script", "-")
    words = (*WORDS, *words)
    first = run("agf_train", *words, "--no-state").out
    model = Path("m.mbm").read_bytes()
    calls, whole = [], getattr(where, name)

    def killed(*args, **more):
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
    assert re.search(r"which had \d+ results? of these before", done.err)


def test_classes_that_are_too_small_are_named_with_the_way_out(run, table):
    text = Path("my trees.csv").read_text()
    for row, word in ((3, "elm"), (4, "fir"), (7, "fir")):
        text = re.sub(rf"(?m)^({row},.*,)\w+$", rf"\1{word}", text)
    Path("my trees.csv").write_text(text)
    run("agf_train", *WORDS, "m.mbm", status=1).refused(
        "my trees.csv: class elm", "; --min-class 2 leaves out the classes with fewer than 2"
    )
    # the page has a cross-validation of five parts
    run("agf_train", *WORDS, "m.mbm", "--report", "p.html", status=1).refused(
        "my trees.csv: class elm", "; --min-class 3 leaves out the classes with fewer than 3"
    )
    assert not Path("m.mbm").exists()
    words = ("m.mbm", "--min-class", "3", "--time-limit", "0", "--script", "-")
    out = run("agf_train", *WORDS, *words).out
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
        (("my trees.csv", "m.mbm", "--script", "./m.mbm"), "would overwrite"),
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
    assert (
        "agf_train: my trees.csv: columns: number 2, words 1, left out 1; left out: 'same'" in err
    )
    assert not re.search("^(print_control|tune_m|multi_borders|mbh2mbm): ", err, re.M), err
