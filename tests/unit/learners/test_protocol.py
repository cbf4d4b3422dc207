"""Jobs and training options: sides, names, every letter, and errors with a place."""

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from agfmc.control.learners import LEARNERS
from agfmc.control.parse import parse
from agfmc.core.kernels import KERNELS
from agfmc.core.errors import ControlError, DataError, UsageError
from agfmc.learners.svm import SVM
from agfmc.learners.protocol import (
    check_jobs,
    learner_class,
    parse_options,
    plan_jobs,
    samples,
    with_class_names,
)
from agfmc.core.models import Kernel


TEXT = '"-c 1" 0 / 1 2;\n"" 2 / 0;\n{\n  "." {7 3}\n  5\n  " " {4 9}\n}'


def jobs_of(text=TEXT, default="-c 8", seed=3):
    return plan_jobs(parse(text, "f"), "dir/m", default, seed)


def test_plan():
    jobs = jobs_of()
    assert [job.name for job in jobs] == ["dir/m-00", "dir/m-01", "dir/m.00", "dir/m.02"]
    assert [job.sides for job in jobs] == [
        ((7, 3), (5, 4, 9)),
        ((4, 9), (7, 3)),
        ((7,), (3,)),
        ((4,), (9,)),
    ]
    assert [job.options.C for job in jobs] == [1.0, 8.0, 8.0, 1.0]
    assert [job.text for job in jobs] == ["-c 1", "-c 8", "-c 8", ""]
    assert [job.place for job in jobs] == [("f", 1, 1), ("f", 2, 1), ("f", 4, 3), ("f", 6, 3)]
    assert {job.seed for job in jobs} == {3} and pickle.loads(pickle.dumps(jobs)) == jobs


def test_wrong_options_are_found_first():
    with pytest.raises(ControlError, match="^f:4:3: option -c: expected a number, found 'x'$"):
        jobs_of(TEXT.replace('"."', '"-c x"'))
    with pytest.raises(UsageError, match="^unknown training option"):
        jobs_of(default="-y")
    with pytest.raises(ControlError, match="^f:1:1: expected training options"):
        jobs_of("m {0 1}")


def test_problem_keeps_the_order_of_the_data():
    rows_of = {
        label: np.flatnonzero(np.array([5, 7, 3, 9, 4, 7, 3]) == label) for label in (3, 4, 5, 7, 9)
    }
    part = samples(jobs_of()[0], rows_of)  # the first row of all, 0, is on the right
    assert part.rows.tolist() == [0, 3, 4, 1, 2, 5, 6]
    assert part.side.tolist() == [1, 1, 1, 0, 0, 0, 0]
    part = samples(jobs_of()[1], rows_of)  # 4 and 9 left, 7 and 3 right
    assert part.rows.tolist() == [1, 2, 5, 6, 3, 4] and part.side.tolist() == [1, 1, 1, 1, 0, 0]


def test_few_samples():
    jobs = jobs_of()
    counts = {3: 5, 4: 5, 5: 5, 7: 5, 9: 5}
    assert check_jobs(jobs, counts) == []
    few = check_jobs(jobs, {**counts, 9: 4})
    assert few == ["class 9 against class 4 has 4 samples"]
    with pytest.raises(DataError) as caught:
        check_jobs(jobs, {**counts, 9: 1})
    assert str(caught.value) == ("f:6:3: class 9 against class 4 has 1 sample: expected at least 2")
    with pytest.raises(DataError, match="has 0 samples"):
        check_jobs(jobs, {**counts, 7: 0})


def test_messages_name_the_classes_of_a_job():
    names = dict(enumerate("a b c d e f g h i j".split()))
    jobs = with_class_names(jobs_of(), names)
    few = check_jobs(jobs, {3: 5, 4: 5, 5: 5, 7: 5, 9: 4})
    assert few == ["j against e has 4 samples"]
    assert [job.title for job in (*jobs[:1], *jobs_of()[:1])] == [
        "'dir/m-00' (h, d / f, e, j)",
        "'dir/m-00'",
    ]
    job = replace(jobs[0], sides=((9,), (0, 1, 2, 3)))
    assert check_jobs([job], Counter({9: 3, 0: 9})) == ["j against 4 classes has 3 samples"]
    assert jobs == jobs_of()  # names are for messages alone


def test_defaults_are_those_of_libsvm():
    assert parse_options("") == SVM()
    assert parse_options("  ").canonical() == "-s 0 -t 2 -g 1/d -c 1.0 -e 0.001 -h 1"


@pytest.mark.parametrize(
    "text, field, value",
    [
        ("-s 1", "svm_type", "nu_svc"),
        ("-t 0", "kernel", "linear"),
        ("-t 1", "kernel", "polynomial"),
        ("-t 2", "kernel", "rbf"),
        ("-t 3", "kernel", "sigmoid"),
        ("-d 5", "degree", 5),
        ("-g 0.25", "gamma", 0.25),
        ("-g 0", "gamma", None),
        ("-r -1.5", "coef0", -1.5),
        ("-c 1e3", "C", 1000.0),
        ("-n 0.1", "nu", 0.1),
        ("-m 40", "cache_size", 40.0),
        ("-e 1e-5", "tol", 1e-5),
        ("-h 0", "shrinking", False),
        ("-h 1", "shrinking", True),
        ("-w0 2", "weights", ((0, 2.0),)),
        ("-w1 3 -w0 2", "weights", ((0, 2.0), (1, 3.0))),
        ("-c 1 -c 2", "C", 2.0),
    ],
)
def test_every_letter(text, field, value):
    assert getattr(parse_options(text), field) == value


def test_letters_that_change_nothing():
    assert parse_options("-q -b 1 -c 2 -b 0") == parse_options("-c 2")


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("-t 0 -g 3 -r 2 -d 4", "-s 0 -t 0 -c 1.0 -e 0.001 -h 1"),
        ("-t 1 -g .5", "-s 0 -t 1 -d 3 -g 0.5 -r 0.0 -c 1.0 -e 0.001 -h 1"),
        ("-c 50 -g 0.1 -m 7", "-s 0 -t 2 -g 0.1 -c 50.0 -e 0.001 -h 1"),
        ("-s 1 -t 3 -c 9", "-s 1 -t 3 -g 1/d -r 0.0 -n 0.5 -e 0.001 -h 1"),
        ("-w1 2 -h 0 -w0 1", "-s 0 -t 2 -g 1/d -c 1.0 -e 0.001 -h 0 -w0 1.0 -w1 2.0"),
        ("learner=linear", "learner=linear -s 0 -c 1.0 -e 0.0001 -B 1.0"),
        ("learner=linear -c 1", "learner=linear -s 0 -c 1.0 -e 0.0001 -B 1.0"),
        ("learner=linear -s 1 -B -7 -w1 2 -q", "learner=linear -s 1 -c 1.0 -e 0.1 -B -1.0 -w1 2.0"),
        ("learner=linear -R -s 2 -e .5", "learner=linear -s 2 -c 1.0 -e 0.5 -B 1.0 -R"),
        ("learner=linear -e 0.0001", "learner=linear -s 0 -c 1.0 -e 0.0001 -B 1.0"),
        ("learner=logistic -w0 2", "learner=logistic -c 1.0 -e 1e-06 -w0 2.0"),
    ],
)
def test_canonical_form(text, canonical):
    options = parse_options(text)
    assert options.canonical() == canonical
    again = parse_options(canonical.replace("-g 1/d ", ""))
    assert again.canonical() == canonical


def test_kernels():
    assert parse_options("-t 0 -g 9").kernel_for(4) == Kernel("linear")
    assert parse_options("").kernel_for(4) == Kernel("rbf", 0.25)
    assert parse_options("-t 1 -r 2 -g 3").kernel_for(4) == Kernel("polynomial", 3.0, 2.0, 3)
    assert parse_options("-t 3 -r 2").kernel_for(5) == Kernel("sigmoid", 0.2, 2.0)


@pytest.mark.parametrize(
    "text, words",
    [
        ("-z 1", "unknown training option '-z'"),
        ("5", "unknown training option '5'"),
        ("-c", "option -c: expected a value after it"),
        ("-c 1 -g", "option -g: expected a value"),
        ("-c x", "option -c: expected a number, found 'x'"),
        (
            "-t 1.5",
            f"option -t: expected {', '.join(KERNELS)}, or a number, one of "
            f"{' '.join(str(kind.number) for kind in KERNELS.values())}, found '1.5'",
        ),
        ("-t 4", "found '4'; precomputed kernels (4) are not read"),
        ("-s 2", "option -s: 2 is out of range: expected 0 to 1"),
        ("-c 0", "option -c: 0 is out of range: expected more than 0"),
        ("-c inf", "option -c: inf is out of range"),
        ("-c nan", "option -c: nan is out of range"),
        ("-c 1e999", "option -c: 1e999 is out of range"),
        ("-g -1", "option -g: -1 is out of range: expected 0 or more"),
        ("-r inf", "option -r: inf is out of range: expected a finite number"),
        ("-n 0", "option -n: 0 is out of range: expected more than 0 to 1"),
        ("-n 1.1", "option -n: 1.1 is out of range"),
        ("-e 0", "option -e: 0 is out of range"),
        ("-m 0", "option -m: 0 is out of range"),
        ("-h 2", "option -h: 2 is out of range"),
        ("-d -1", "option -d: -1 is out of range"),
        ("-b 2", "option -b: 2 is out of range"),
        ("-d " + "9" * 400, "out of range"),
        ("-w2 1", "weights are for the sides of the partition, -w0 (left) and -w1 (right)"),
        ("-w-1 1", "weights are for the sides"),
        ("-w 1", "weights are for the sides"),
        ("-w0 0", "option -w0: 0 is out of range"),
        ("-w1 x", "option -w1: expected a number"),
        (".", "unknown training option '.'"),
        ("-v 5", "unknown training option '-v'"),
        ("learner=tree", "there is no learner 'tree': expected one of svm linear logistic"),
        ("learner=K", "the learner K is for multi-class nodes"),
        ("learner=", "there is no learner ''"),
        ("-c 1 learner=linear", "is for the first word"),
        ("learner=svm learner=linear", "is for the first word"),
        ("learner=linear -t 0", "unknown training option '-t': expected one of -s -c -e -B -R -w0"),
        (
            "learner=linear -s 4",
            "option -s: 4 is not for two classes: expected one of 0 1 2 3 5 6 7",
        ),
        ("learner=linear -s 8", "option -s: 8 is out of range"),
        ("learner=linear -s 1 -R", "option -R needs -B 1 and -s 0 2 5 6"),
        ("learner=linear -B 2 -R", "option -R needs -B 1"),
        ("learner=linear -B inf", "out of range"),
        ("learner=linear -c 0", "out of range"),
        ("learner=linear -w2 1", "weights are for the sides"),
        ("learner=logistic -s 0", "unknown training option '-s'"),
        ("learner=logistic -e 0", "out of range"),
    ],
)
def test_errors_with_their_place(text, words):
    with pytest.raises(UsageError) as caught:
        parse_options(text, file="plan.mbt", line=3, column=7)
    assert str(caught.value).startswith("plan.mbt:3:7: ") and words in str(caught.value)


@pytest.mark.parametrize(
    "letter, text, canonical",
    [
        ("K", "", "-k 11"),
        ("K", "  ", "-k 11"),
        ("K", "-k 3", "-k 3"),
        ("K", "-m 0 -k 5", "-k 5"),
        ("K", "-k 1 -k 2", "-k 2"),
        ("L", "", "-r 1.0"),
        ("L", "-r 0.5", "-r 0.5"),
        ("L", "-r 1e-3 -r 2", "-r 2.0"),
    ],
)
def test_options_of_nodes(letter, text, canonical):
    options = learner_class(letter).parse(text)
    assert options.canonical() == canonical and learner_class(letter).parse(canonical) == options


@pytest.mark.parametrize(
    "letter, text, words",
    [
        ("K", "-z 1", "unknown training option '-z': expected one of -k -m"),
        ("K", "-q", "unknown training option '-q'"),
        ("K", "-w0 2", "unknown training option '-w0'"),
        ("K", "-k", "option -k: expected a value after it"),
        ("K", "-k x", "option -k: expected a whole number, found 'x'"),
        ("K", "-k 0", "option -k: 0 is out of range: expected 1 or more"),
        (
            "K",
            "-m 1",
            "option -m: 1 is out of range: expected 0 to 0; the one metric is 0, Cartesian",
        ),
        ("L", "-c 1", "unknown training option '-c': expected one of -r"),
        ("L", "-r", "option -r: expected a value after it"),
        ("L", "-r x", "option -r: expected a number, found 'x'"),
        ("L", "-r 0", "option -r: 0 is out of range: expected more than 0"),
        ("L", "-r nan", "option -r: nan is out of range"),
        ("L", "-r inf", "option -r: inf is out of range"),
        ("G", " ", "expected a command in the quotes of code G, found nothing"),
    ],
)
def test_wrong_options_of_nodes(letter, text, words):
    with pytest.raises(UsageError, match="^p.mbc:3:7: " + words):
        learner_class(letter).parse(text, file="p.mbc", line=3, column=7)


def test_every_learner_keeps_the_protocol():
    for name, row in LEARNERS.items():
        kind = learner_class(name)
        options = kind.parse("cat" if row.is_program else "")
        assert kind.sides == row.sides and kind.is_program == row.is_program
        assert hash(options) == hash(replace(options)) and isinstance(options.made_by(), str)
        assert options.files("m")[0].startswith("m") and options.recognised_by in (
            "seal",
            "contents",
            "",
        )
        methods = (
            ("fit", "write", "read")
            if row.sides is None
            else ("kernel_for", "pack", "solve")[: 1 if options.uses_shared_landmarks else None]
        )
        assert all(callable(getattr(options, method)) for method in methods)
        for parameter in row.searched:
            value = 2.0**parameter.low
            assert getattr(kind.parse(f"{parameter.letter} {value:.17g}"), parameter.field) == value
        assert "gamma" not in [parameter.field for parameter in row.searched[1:]]
        assert len(row.searched) <= 2
