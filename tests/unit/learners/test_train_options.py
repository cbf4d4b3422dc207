"""Training options: every letter, one fixed spelling, and errors with a place."""

import pytest

from agfmc.errors import UsageError
from agfmc.models import Kernel
from agfmc.learners.protocol import parse_options, SvmOptions


def test_defaults_are_those_of_libsvm():
    assert parse_options("") == SvmOptions()
    assert parse_options("  ").canonical() == "-s 0 -t 2 -g 1/d -c 1.0 -e 0.001 -h 1"


@pytest.mark.parametrize("text, field, value", [
    ("-s 1", "svm_type", "nu_svc"), ("-t 0", "kernel", "linear"), ("-t 1", "kernel", "polynomial"),
    ("-t 2", "kernel", "rbf"), ("-t 3", "kernel", "sigmoid"), ("-d 5", "degree", 5),
    ("-g 0.25", "gamma", 0.25), ("-g 0", "gamma", None), ("-r -1.5", "coef0", -1.5), ("-c 1e3", "cost", 1000.0),
    ("-n 0.1", "nu", 0.1), ("-m 40", "cache", 40.0), ("-e 1e-5", "tolerance", 1e-5),
    ("-h 0", "shrinking", False), ("-h 1", "shrinking", True),
    ("-w0 2", "weights", ((0, 2.0),)), ("-w1 3 -w0 2", "weights", ((0, 2.0), (1, 3.0))),
    ("-c 1 -c 2", "cost", 2.0),
])
def test_every_letter(text, field, value):
    assert getattr(parse_options(text), field) == value


def test_letters_that_change_nothing():
    assert parse_options("-q -b 1 -c 2 -b 0") == parse_options("-c 2")


@pytest.mark.parametrize("text, canonical", [
    ("-t 0 -g 3 -r 2 -d 4", "-s 0 -t 0 -c 1.0 -e 0.001 -h 1"),
    ("-t 1 -g .5", "-s 0 -t 1 -d 3 -g 0.5 -r 0.0 -c 1.0 -e 0.001 -h 1"),
    ("-c 50 -g 0.1 -m 7", "-s 0 -t 2 -g 0.1 -c 50.0 -e 0.001 -h 1"),
    ("-s 1 -t 3 -c 9", "-s 1 -t 3 -g 1/d -r 0.0 -n 0.5 -e 0.001 -h 1"),
    ("-w1 2 -h 0 -w0 1", "-s 0 -t 2 -g 1/d -c 1.0 -e 0.001 -h 0 -w0 1.0 -w1 2.0"),
])
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


@pytest.mark.parametrize("text, words", [
    ("-z 1", "unknown training option '-z'"), ("5", "unknown training option '5'"),
    ("-c", "option -c: expected a value after it"), ("-c 1 -g", "option -g: expected a value"),
    ("-c x", "option -c: expected a number, found 'x'"),
    ("-t 1.5", "option -t: expected a whole number, found '1.5'"),
    ("-t 4", "option -t: 4 is out of range: expected 0 to 3"),
    ("-s 2", "option -s: 2 is out of range: expected 0 to 1"),
    ("-c 0", "option -c: 0 is out of range: expected more than 0"),
    ("-c inf", "option -c: inf is out of range"), ("-c nan", "option -c: nan is out of range"),
    ("-c 1e999", "option -c: 1e999 is out of range"),
    ("-g -1", "option -g: -1 is out of range: expected 0 or more"),
    ("-r inf", "option -r: inf is out of range: expected a finite number"),
    ("-n 0", "option -n: 0 is out of range: expected more than 0 to 1"),
    ("-n 1.1", "option -n: 1.1 is out of range"), ("-e 0", "option -e: 0 is out of range"),
    ("-m 0", "option -m: 0 is out of range"), ("-h 2", "option -h: 2 is out of range"),
    ("-d -1", "option -d: -1 is out of range"), ("-b 2", "option -b: 2 is out of range"),
    ("-d " + "9" * 400, "out of range"),
    ("-w2 1", "weights are for the sides of the partition, -w0 (left) and -w1 (right)"),
    ("-w-1 1", "weights are for the sides"), ("-w 1", "weights are for the sides"),
    ("-w0 0", "option -w0: 0 is out of range"), ("-w1 x", "option -w1: expected a number"),
    (".", "unknown training option '.'"), ("-v 5", "unknown training option '-v'"),
])
def test_errors_with_their_place(text, words):
    with pytest.raises(UsageError) as caught:
        parse_options(text, file="plan.mbt", line=3, column=7)
    assert str(caught.value).startswith("plan.mbt:3:7: ")
    assert words in str(caught.value)
