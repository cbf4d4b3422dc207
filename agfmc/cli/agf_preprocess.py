"""agf_preprocess: select, relabel, split and normalise training data."""

import re
from dataclasses import dataclass

from ..core.errors import UsageError
from ..files.kinds import is_table, TEXT_ENDINGS
from .data_options import (
    add_groups,
    add_input_kind,
    add_normalisation,
    add_weights,
    fits_normalisation,
    input_format,
    norm_file_of,
    NORMALISATION,
)
from .option_types import fraction, output_base, whole_number
from .options import add_seed, Parser


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "agf_preprocess",
        "Prepare data for training: partition and relabel the "
        "classes, draw rows, select features, shuffle or sort, split into training "
        "and test data, normalise, in this order. Statistics are those of the "
        "training part.",
        operands="[input output [test]] [feature ... | left ... / right ... [/ ...]]",
    )
    parser.add(
        "input",
        "base name of the .vec and .cls files, or a table, or LIBSVM text, or LVQ with -A",
        nargs="?",
    )
    parser.add(
        "output",
        "base name of the files to write; with -f, of the training part, and "
        "with -d, output-00, output-01, ... For a table also a table, .csv or .tsv, with "
        "copies of its rows",
        output_base,
        nargs="?",
    )
    parser.add(
        "rest",
        "with -f first the base name of the test part; then, with -F, the features "
        "to keep, counted from 0, or else a partition such as `0 1 / 2 / 3`: its sides "
        "become classes 0, 1, 2, and other classes are left out",
        output_base,
        nargs="*",
        default=[],
        metavar="test | feature | partition",
    )
    group = add_input_kind(parser, "input", excludes=())  # libAGF's users say -A -M
    add_weights(group, classes=False)
    add_groups(group)
    group.add("-0, --from-stdin", "read standard input: omit the operand input")
    group.add("-1, --to-stdout", "write standard output: omit the operand output")
    group.add(
        "-C, --no-labels",
        "there are no labels, neither input.cls nor a last column of LVQ text",
        excludes="-L",
    )
    group.add("-L, --ordinates", "numbers in place of labels, and .dat files in place of .cls")
    group = parser.group("selection")
    group.add("-F, --features", "select the listed features, in the listed order")
    group.add("-U, --relabel", "number the classes 0 to k-1 in ascending order of their labels")
    group.add(
        "--sample N",
        "draw a stratified random sample of N rows, or take all if there are no more",
        whole_number(1),
    )
    group.add(
        "--min-per-class M",
        "with --sample: at least M rows of each class, or all of a smaller one (default: 1)",
        whole_number(0),
        needs="--sample",
    )
    group = parser.group("order and splitting")
    group.add("-z, --shuffle", "put the rows in random order")
    group.add("-B, --sort", "sort the rows by class, with -L by ordinate; the sort is stable")
    group.add(
        "-f, --fraction FRACTION",
        "put the last FRACTION of the rows into the test part",
        fraction,
        excludes=("-d", "-P"),
    )
    group.add(
        "-R, --independent",
        "with -f: each row goes into the test part with probability FRACTION",
        needs="-f",
        excludes="--stratified",
    )
    group.add("--stratified", "with -f: a random FRACTION of every class", needs="-f")
    group.add(
        "-d, --parts PARTS",
        "divide the rows into PARTS equal parts",
        whole_number(2, 100_000),
        excludes="-P",
    )
    add_seed(group)
    group = add_normalisation(parser, trains=False)
    group.add("-P, --covariance", "print the covariance matrix of the features, and write no file")
    parser.needs_words = True
    parser.file_names = {"input": "data"}
    return parser.finish()


@dataclass(frozen=True)
class _Request:
    """Data to be prepared by a `Recipe`.

    Attributes
    ----------
    source, output, test : base names, files of text, or `-`; without a test part None
    to_table : rows of a table are copied, in place of points
    covariance : the covariance matrix is printed, and nothing is written
    files : those of the parsed arguments, for `check_files`
    """

    recipe: object
    source: str
    output: str | None
    test: str | None
    to_table: bool
    covariance: bool
    files: list


def execute(args):
    """Make a recipe of the options, and follow it."""
    from ..data.preprocess import Recipe
    from ..training.fit import TrainingSettings

    # libAGF's users may say -A -M for LIBSVM text
    form = input_format(
        args,
        None if args.from_stdin else args.input,
        args.lvq and not args.svm,
        not args.no_labels,
        args.ordinates,
    )
    source, output, test, rest = _operands(args, form.kind)
    least = args.min_per_class
    if least is None:
        least = 1
    elif args.no_labels or args.ordinates:
        raise UsageError("--min-per-class needs classes: not with -C or -L")
    to_table = form.kind == "table" and any(
        name == "-" or is_table(name or "") for name in (output, test)
    )
    features = partition = fit = None
    if to_table:
        _check_tables(args, output, test, rest)
    elif args.features:
        features = tuple(_whole(word, "a feature's number", r"\d{1,9}") for word in rest)
        if not rest:
            raise UsageError("with -F, expected the features to keep, counted from 0")
    elif rest:
        partition = _partition(rest)
    norm_file = norm_file_of(args)
    if fits_normalisation(args):
        fit = TrainingSettings(scale=args.normalise, nsv=args.svd).fit_normalisation
    recipe = args.request(
        Recipe,
        partition=partition,
        compact=args.relabel,
        rows=args.sample,
        least=least,
        features=features,
        fit=fit,
        norm_in=norm_file if fit is None else None,
        norm_out=None if fit is None else norm_file,
        form=form,
    )
    request = args.request(
        _Request, recipe=recipe, source=source, output=output, test=test, to_table=to_table
    )
    from .work.agf_preprocess import run

    run(request)


def _check_tables(args, output, test, rest):
    """`UsageError` for what is not for rows of a table that are copied."""
    what = (
        "is for points: the rows of a table are copied with all columns as they are; give "
        "base names for the outputs, and points are written"
    )
    args.refuse((*NORMALISATION, "-F", "-U", "-B", "-L", "-P"), what)
    if rest:
        raise UsageError(f"a partition {what}")
    args.refuse(("-E", "--id", "--ignore", "--weight"), what)
    if args.no_labels and (args.label or args.stratified):
        raise UsageError("-C says that there are no classes: not with --label or --stratified")
    for name in (output, test):
        if name not in (None, "-") and not name.lower().endswith(TEXT_ENDINGS):
            raise UsageError(
                "expected names of tables in text for the outputs, .csv or .tsv, with "
                f".gz or without, or base names for points, found '{name}'"
            )


def _operands(args, kind):
    """(input, output, test, the other operands); some are `-` (-0, -1) or None."""
    if args.no_labels and kind == "svm":
        raise UsageError("-C is not for LIBSVM text: its lines begin with labels")
    split = args.fraction is not None
    words = [word for word in (args.input, args.output, *args.rest) if word is not None]
    names = [
        "-" if given else words.pop(0) if words else None
        for given in (args.from_stdin, args.to_stdout)
    ]
    if names[0] is None or names[1] is None and not args.covariance:
        raise UsageError(
            "expected the operands input and output (or -0 and -1) (try agf_preprocess --help)"
        )
    if split and not words:
        raise UsageError("with -f, expected the base name of the test part after output")
    return *names, words[0] if split else None, words[split:]


def _partition(words):
    if "/" not in words:
        raise UsageError(
            "expected a partition of classes such as `0 1 / 2`, found "
            f"'{' '.join(words)[:40]}' (features are selected with -F, and a test "
            "part is made with -f)"
        )
    sides = [[]]
    side_of = {}
    for word in words:
        if word == "/":
            sides.append([])
            continue
        label = _whole(word, "a class label", r"-?\d{1,9}")
        if side_of.setdefault(label, len(sides)) != len(sides):
            raise UsageError(f"class {label} is on two sides of the partition")
        sides[-1].append(label)
    if not all(sides):
        raise UsageError("a side of the partition is empty")
    return tuple(sides)


def _whole(word, what, pattern):
    if not re.fullmatch(pattern, word, re.ASCII):
        raise UsageError(f"expected {what}, found '{word}'")
    return int(word)
