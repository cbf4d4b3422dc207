"""print_control -Q best-tree: real commands, from wrong input to the answers of the tree."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from agfmc.control.parse import parse
from data_files import write_cls, write_vec

MACHINE = ("--search-options", "-m 30 -g 0.2 -l 0.1")
CENTRE = np.random.default_rng(5).normal(size=(9, 3)) * 2
NAMES = "ant bee cat dog emu".split()
SPACED = ["red ant", "bee", "big cat", "a, b", "c / d"]


def save(base, labels, names=(), seed=1):
    labels = np.asarray(labels)
    x = CENTRE[labels % 9] + np.random.default_rng(seed).normal(size=(len(labels), 3))
    write_vec(f"{base}.vec", x.astype(np.float32))
    write_cls(f"{base}.cls", labels)
    if names:
        Path(f"{base}.names").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


@pytest.fixture(autouse=True)
def data(folder):
    save("five", np.arange(100) % 5, NAMES)
    save("spaced", np.arange(100) % 5, SPACED)
    save("plain", np.arange(60) % 4)
    save("one", np.zeros(9, dtype=int))
    save("lonely", [*np.arange(60) % 4, 4])
    return folder


@pytest.fixture
def best(run):
    """The command with a machine that is settled and small; -> `Done`."""

    def best(*words, status=0):
        return run("print_control", "-Q", "best-tree", *MACHINE, *words, status=status)

    return best


def notes(done):
    return [
        line[2:]
        for line in done.out.splitlines()
        if line.startswith("# ") and not line.startswith("# class ")
    ]


@pytest.mark.parametrize(
    "words, status, told",
    [
        (("one",), 1, "one: holds one class"),
        (("lonely",), 1, "lonely: class 4 has one point: a leave-one-out value needs two or more"),
        (("--min-class", "50", "five"), 1, "no classes of 5 would be left by --min-class 50"),
        (("missing",), 1, "missing.vec: cannot read"),
        (("7",), 2, "expected training data, found the number 7"),
        (("five", "7"), 2, "nrow is for"),
        (("-G", "five"), 2, "-G is for"),
        (("--metric", "hausdorff", "five"), 2, "--metric is for"),
        (("--trials", "3", "five"), 2, "--trials needs --best"),
        (("--uncalibrated", "five"), 2, "--uncalibrated needs --best"),
        (("--names", "five.names", "--no-names", "five"), 2, "exclude each other"),
        (("--splits", "3", "five"), 2, "a search for a tree of 5 classes needs --splits"),
        (("--splits", "0", "five"), 2, "argument --splits: 0 is out of range"),
        # what is minimised, and the machine
        (("--by", "brier", "five"), 2, "--by brier: expected log-loss, error or cost:FILE"),
        (
            ("--balance", "-1", "five"),
            2,
            "--balance: expected auto, or a value: expected a number, 0",
        ),
        (
            ("--balance", "foo", "five"),
            2,
            "--balance: expected auto, or a value: expected a number, 0",
        ),
        (("--search-options", "-c 5", "five"), 2, "unknown training option '-c'"),
        (
            ("--search-options", "learner=svm -c 5", "five"),
            2,
            "--search-options: expected options of learner=nystrom, whose name is left out",
        ),
        (("--search-options", "-m 0", "five"), 2, "option -m: 0 is out of range"),
        (("--best", "five"), 2, "--search-options is for a search alone, not for --best"),
        (
            ("-Q", "ensemble", "five"),
            2,
            "and -Q ensemble --of best-tree or with --draws, not for an ensemble of random-tree",
        ),
        (("--report", "x.bmp", "five"), 2, "--report x.bmp: expected a name that ends in"),
        (("--report", "none/x.png", "five"), 1, "none/x.png: cannot write"),
    ],
)
def test_wrong_input_is_one_line(best, words, status, told):
    best(*words, status=status).refused("print_control: ", told)
    assert not list(Path().glob("x.*"))


@pytest.mark.parametrize(
    "option",
    [("--splits", "100"), ("--balance", "auto"), ("--search-options", "-m 9"), ("--by", "error")],
)
@pytest.mark.parametrize("words", [("-Q", "tree", "5"), ("-Q", "3", "five"), ("five",)])
def test_options_of_searches_are_for_searches(run, option, words):
    run("print_control", *option, *words, status=2).refused(f"{option[0]} is for -Q ", "best-tree")


def test_a_class_with_one_point_can_be_left_out(best):
    done = best("--min-class", "2", "lonely")
    done.line("1 of 5 classes has fewer than 2 samples and is left out: 4 (1)")
    assert parse(done.out).classes == (0, 1, 2, 3)


def test_notes_are_comments_of_a_control_file(best, run):
    done = best("spaced")
    found = notes(done)
    number = r"\d+\.\d{4}"
    assert re.fullmatch(
        rf"best-tree: leave-one-out log loss {number} \+- {number} a point; on "
        rf"points that did not choose it {number} \+- {number}",
        found[0],
    )
    assert found[1] == "exact: the least of all 105 trees, from 90 splits"
    assert found[2].startswith("4 classifiers, of which 2.")
    assert found[3].startswith("evaluated by learner=nystrom -t 2 -g 0.2 -m 30 -l 0.1")
    rows = [line for line in found if re.match(rf" +{number} ", line)]
    table = np.array([line.split()[:3] for line in rows], dtype=float)
    assert len(table) == 4 and table[0, 2] == 1.0
    assert table[:, 0].sum() == pytest.approx(float(found[0].split()[4]), abs=2.5e-4)
    # names with blanks have commas between them, and a name with a comma or a slash is a label
    assert {
        word.strip()
        for line in rows
        for side in line[29:].split(" / ")
        for word in side.split(", ")
    } == {"red ant", "bee", "big cat", "3", "4"}
    tree = parse(done.out)
    assert tree.names == dict(enumerate(SPACED)) and len(tree.nodes) == 4
    Path("plan").write_text(done.out, encoding="utf-8")
    assert run("print_control", "--dot", "plan").err == ""
    run("multi_borders", "--no-calibration", "-+", "-c 5", "plan", "spaced", "m", "c")


def test_without_names_and_with_other_ones(best):
    named = best("five").out
    bare = best("--no-names", "five").out
    assert "#" not in bare and parse(bare).branch_labels() == parse(named).branch_labels()
    assert "ant" in named and "red ant" in best("--names", "spaced.names", "five").out


def test_bytes_do_not_depend_on_workers(best):
    words = ("--splits", "60", "--seed", "4", "five")
    assert best("-j", "1", *words) == best("-j", "2", *words)


@pytest.mark.long
def test_seed_and_settings(best):
    first = best("five").out
    assert best("--seed", "1", "five").out == first != best("--seed", "2", "five").out
    found = notes(best("--by", "error", "--balance", "0.25", "five"))
    assert found[0].startswith("best-tree: leave-one-out errors at nodes 0.")
    assert "balance: 0.25 for each classifier that a point needs" in found
    limited = notes(best("--splits", "40", "five"))[1]
    assert re.match(
        r"not exact: \d+ of 90 splits were tried, by a local search among 105 trees", limited
    )


def test_the_search_sees_the_features_as_they_are_normalised(best, folder):
    raw = best("five").out
    normalised = best("-n", "-a", "own.std", "five").out
    assert normalised != raw
    assert best("-n", "five").out == normalised == best("-a", "own.std", "five").out
    assert best("-S", "2", "five").out != normalised


@pytest.mark.parametrize(
    "options, machine",
    [
        ("-c 5 -g 0.125", "-t 2 -g 0.125"),
        ("learner=nystrom -m 20 -g 0.5", "-t 2 -g 0.5 -m 20"),
        ("-t 0 -c 2", "-t 0"),
    ],
)
def test_training_options_give_the_kernel(run, options, machine):
    done = run("print_control", "-Q", "best-tree", "--options", options, "plain")
    assert f"evaluated by learner=nystrom {machine}" in done.out
    assert {row.text for row in parse(done.out).rows} == {options}


def test_from_data_to_scores(best, run):
    save("test", np.arange(80) % 5, NAMES, seed=2)
    Path("plan").write_text(best("-n", "five").out, encoding="utf-8")
    run("multi_borders", "-n", "-+", "-c 5", "plan", "five", "m", "c")
    probabilities = run("classify_m", "-a", "m.std", "--tree", "full", "c", "test.vec", "out")
    Path("p").write_text(probabilities.out, encoding="utf-8")
    scores = run("eval_uc", "test.cls", "out", "p").out
    accuracy = float(re.search(r"accuracy\D*([0-9.]+)", scores, re.I)[1])
    assert accuracy > 0.6


def test_points_from_standard_input(best, run):
    text = run("agf2ascii", "-M", "five").out
    words = ("print_control", "-Q", "best-tree", *MACHINE, "-M", "-")
    assert run(*words, stdin=text).out.splitlines()[0] == best("five").out.splitlines()[0]


def test_text_for_graphviz_has_the_losses(best):
    done = best("--dot", "five")
    nodes = [line for line in notes(best("five")) if re.match(r" +\d\.\d{4} ", line)]
    for loss, error, share in (line.split()[:3] for line in nodes):
        assert f'label="{loss} +- {error}\\n{100 * float(share):.1f} % of points"' in done.out


@pytest.mark.long
def test_the_example_of_the_manual(run, root, folder):
    page = (
        (root / "man" / "print_control.1")
        .read_text(encoding="ascii")
        .replace("\\-", "-")
        .replace("\\(dq", '"')
    )
    [shown] = re.findall(r"^\.EX\n(# best-tree: .*?)^\.EE", page, re.M | re.S)
    command = page[: page.index(shown)].rsplit(".EX\n", 1)[0].rsplit(".EX\n", 1)[1].splitlines()[0]
    (folder / "sample_data").symlink_to(root / "sample_data")
    done = run(*shlex.split(command))
    number = r"[-+]?\d+\.\d+"
    found = "\n".join(line for line in done.out.splitlines() if line.startswith("#")) + "\n"
    assert re.sub(number, "_", found) == re.sub(number, "_", shown)
    np.testing.assert_allclose(
        *(np.array(re.findall(number, text), dtype=float) for text in (found, shown)), atol=2e-4
    )
