"""The head of a control file: options and a decoder, through everything that changes a tree."""

import pickle

import pytest

from agfmc.control.build import (
    rename,
    reopened,
    resolve_options,
    restricted,
    to_code,
    with_heading,
    with_options,
)
from agfmc.control.parse import parse
from agfmc.control.tree import Heading
from agfmc.control.write import format_tree
from agfmc.core.errors import ControlError, UsageError
from agfmc.learners.protocol import plan_jobs, unnamed
from own_warnings import own_warnings, texts_of

CODE = '# options: -c 5\n# decoder: inverse\n"" 0 / 1; "-c 9" 0 / 2; "." 1 / 2; {7 8 9}'
TREE = '# decoder: full\n# options: -c 5\n"" {0 "-c 9" {1 2}}'


def test_a_head_is_read_and_written():
    tree = parse('\ufeff # a comment\r\n\t#decoder:  full \r\n# options: -c 5  -g 1\n"" {0 1}', "f")
    assert (tree.decoder, tree.options) == ("full", "-c 5  -g 1")
    assert tree.headings["decoder"] == Heading("full", 2, 3)
    assert tree.place(tree.headings["options"]) == ("f", 3, 3)
    assert format_tree(tree).startswith('# options: -c 5  -g 1\n# decoder: full\n"" {\n')
    assert pickle.loads(pickle.dumps(tree)) == tree
    bare = parse('# option: x\n# decoders: a b\n"#" {0 1}')
    assert (bare.decoder, bare.options, dict(bare.headings)) == (None, "", {})


@pytest.mark.parametrize(
    "line, told",
    [
        ("# option: -c 5", "did you mean '# options:'?"),
        ("# Options: -c 5", "did you mean '# options:'?"),
        ("# decoder : vote", "did you mean '# decoder:'?"),
        ("#DECODER: vote", "did you mean"),
        ("# options: as in the paper", "which begin with - or learner="),
        ("# options:", "which begin with - or learner="),
        ("# decoder:", "expected the name of a decoder after '# decoder:', one word"),
        ("# decoder: as in the paper", "one word"),
        ("# normalization: m.std", "did you mean '# normalisation:'?"),
        ("# normalisation:", "expected the name of a file after '# normalisation:'"),
    ],
)
def test_what_is_nearly_a_head_is_a_comment(line, told):
    with own_warnings() as caught:
        tree = parse(f'\n{line}\n"" {{0 1}}', "f")
    (shown,) = texts_of(caught)
    assert not tree.headings
    assert shown.startswith(f"f:2:{3 if ' ' in line[:2] else 2}: '{line}' is taken as a comment: ")
    assert told in shown


@pytest.mark.parametrize("line", ["# Options: as in the paper", "# decoders: all of them"])
def test_other_comments_are_silent(line):
    assert not parse(f'{line}\n"" {{0\n# options: as above\n# decoder: the same one\n 1}}').headings


@pytest.mark.parametrize(
    "line, message",
    [
        ("# options: -c " + 4096 * "5", "'# options:' has 4099 characters: expected 4096 at most"),
        ("# options: -c 5\x1b[0m", "characters that cannot be printed"),
        ("# decoder: " + 65 * "a", "65 characters"),
        ("# decoder: full", "'# decoder:' stands twice, first on line 1"),
    ],
)
def test_a_wrong_head_is_refused_with_its_line(line, message):
    with pytest.raises(ControlError) as caught:
        parse(f'# decoder: full\n\n{line}\n"" {{0 1}}', "f")
    assert str(caught.value).startswith("f:3:3: ") and message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ['"" {\n# options: -c 5\n0 1}', '"" {0 1}\n  # options: -c 5'])
def test_a_head_behind_the_first_classifier_is_refused(text):
    with pytest.raises(ControlError, match="f:2:.* before the first classifier"):
        parse(text, "f")


def test_options_of_the_head_are_the_default():
    tree = parse(CODE)
    assert resolve_options(tree) == ["-c 5", "-c 9", "-c 9"]
    assert resolve_options(tree, "-c 1") == ["-c 1", "-c 9", "-c 9"]
    assert [job.text for job in plan_jobs(tree, "m", "", 1)] == ["-c 5", "-c 9", "-c 9"]
    assert [job.options.C for job in plan_jobs(tree, "m", "-c 1", 1)] == [1, 9, 9]
    with pytest.raises(ControlError, match="f:2:3: unknown training option '-z'"):
        plan_jobs(parse('\n# options: -z 1\n"" {0 1}', "f"), "m", "", 1)


def test_options_go_with_the_last_classifier_that_takes_them():
    tree = parse(CODE)
    assert rename(tree, ["", "-c 2", "-c 3"], quoted=True).options == "-c 5"
    assert rename(tree, ["-c 1", ".", "-c 3"], quoted=True).options == ""
    assert with_options(tree, "-c 3").options == ""
    trained = rename(tree, ["a", "b", "c"])
    assert trained.options == "" and trained.decoder == "inverse" == unnamed(trained).decoder


def test_a_decoder_goes_where_it_has_lost_its_tree():
    tree = parse(TREE)
    code = to_code(tree)
    assert code.decoder is None and code.options == "-c 5"
    assert resolve_options(code) == resolve_options(tree)
    assert to_code(with_heading(tree, "decoder", "inverse")).decoder == "inverse"
    assert restricted(tree, [1, 2]).decoder == "full" and restricted(tree, [1, 2]).options == ""
    nested = parse('# decoder: full\n"" {0 "" 0 / 1; "" 1 / 2; {1 2 3}}')
    assert restricted(nested, [1, 2, 3]).decoder is None
    assert restricted(nested, [0, 2, 3]).decoder == "full"


def test_a_normalisation_is_named_from_the_folder_of_the_file():
    text = '# normalisation: ../a  b.std\n"" {0 1}'
    tree = parse(text, "x/y.mbc")
    assert tree.norm_file == "x/../a  b.std" and format_tree(tree).startswith(text[:29])
    assert parse(text).norm_file == parse(text, "standard input").norm_file == "../a  b.std"
    assert parse('# normalisation: none\n"" {0 1}').norm_file is None
    assert "normalisation" not in unnamed(tree).headings


def test_headings_that_could_not_be_read_are_not_made():
    tree = parse('"" {0 1}')
    assert with_heading(tree, "options", "-c 5\n -g 1 ").options == "-c 5 -g 1"
    for keyword, text in (
        ("options", "5"),
        ("decoder", "a b"),
        ("options", "-" + 4096 * "c"),
        ("normalisation", "a.std "),
        ("normalisation", "a\nb"),
    ):
        with pytest.raises(UsageError):
            with_heading(tree, keyword, text)


@pytest.mark.parametrize(
    "text, open_texts, texts",
    [
        ('"-c 3" 0/1; "." 0/2; "-c 3" 1/2; {0 1 2}', ["-c 3"], ["", "", ""]),
        (
            '"-c 3" 0/1; "learner=linear" 0/2; "." 1/2; {0 1 2}',
            ["-c 3"],
            ["", "learner=linear", "learner=linear"],
        ),
        ('# options: -c 3\n"" 0/1; "-c 3" 0/2; " " 1/2; {0 1 2}', ["-c 3"], ["", "", " "]),
        (
            '# options: -c 3\n"-c 4" 0/1; "-c 3" 0/2; " " 1/2; {0 1 2}',
            ["", "-c 3"],
            ["-c 4", "", ""],
        ),
    ],
)
def test_reopened(text, open_texts, texts):
    tree = reopened(parse(text), open_texts, "-c 5")
    assert (tree.options, [row.text for row in tree.rows]) == ("-c 5", texts)
    assert reopened(parse(text), open_texts, "").options == ""
