"""agf2ascii: libAGF's binary files to text."""

import sys

from ..core.errors import UsageError
from ..files.kinds import is_answer_table, TEXT_ENDINGS
from .messages import write_bytes
from .option_types import output_file
from .options import Parser


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "agf2ascii",
        "Print libAGF's binary files base.vec and base.cls as text: LVQ "
        "text, LIBSVM text with -M, or a table. Values have full precision.",
    )
    parser.add(
        "base",
        "base name of the .vec and .cls files; with -C also the name of the .vec "
        "file as it is, which then comes first",
    )
    parser.add(
        "out", "file to write (- or left out: standard output)", output_file, nargs="?", default="-"
    )
    group = parser.group("output")
    group.add(
        "-M, --svm", "LIBSVM text, `label index:value ...`, without zeros", excludes=("-H", "-C")
    )
    group.add(
        "--table",
        "a table: CSV, or with tabs if out ends in .tsv. With base.recipe it "
        "has the columns and words of the original table, with base.ids its ids",
        excludes=("-M", "-H", "-L", "-n", "--words"),
    )
    group.add("-H, --no-header", "LVQ text without the first line, the number of features")
    group.add(
        "-C, --no-labels",
        "LVQ text, or a table, without labels; base.cls is not read",
        excludes=("-L", "--words"),
    )
    group.add(
        "-L, --ordinates",
        "the numbers of base.dat in place of the labels of base.cls",
        excludes="--words",
    )
    group.add(
        "-n, --normalise",
        "subtract the mean of each feature and divide by its standard "
        "deviation; constant features are left out",
    )
    group.add("--words", "the class names of base.names in place of the labels")
    parser.file_names = {"base": "base"}
    return parser.finish()


def execute(args):
    """Read and print."""
    from ..data.convert import print_data
    from ..data.types import InputFormat

    if args.table:
        _print_table(args)
        return
    form = InputFormat(
        "svm" if args.svm else "lvq",
        header=not args.no_header,
        labels=not args.no_labels,
        ordinates=args.ordinates,
    )
    print_data(args.base, args.out, form, sys.stdout.buffer, words=args.words, scale=args.normalise)


def _print_table(args):
    from ..data.as_text import print_table

    if is_answer_table(args.out) and not args.out.lower().endswith(TEXT_ENDINGS):
        raise UsageError(
            "tables are written as text: expected .csv or .tsv, with .gz or without, "
            f"or -, found '{args.out}'"
        )
    base = args.base.removesuffix(".vec") if args.no_labels else args.base
    print_table(base, args.out, write_bytes, not args.no_labels)
