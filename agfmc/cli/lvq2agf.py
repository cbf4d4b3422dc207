"""lvq2agf: LVQ text to libAGF's binary files."""

import os
import sys

from ..core.errors import UsageError
from .option_types import output_base
from .options import add_label_options, label_names, Parser


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "lvq2agf",
        "Convert LVQ text, a line with the number of features and then a "
        "line of features and label for each sample, to libAGF's binary files "
        "base.vec and base.cls. Labels are converted as by svm2agf.",
        operands="[[infile] base]",
    )
    parser.add(
        "infile", "LVQ text (- or left out: standard input; one operand alone is base)", nargs="?"
    )
    parser.add(
        "base",
        "base name of the files to write (- or left out, with -C or -o: the "
        "contents of a .vec file to standard output)",
        output_base,
        nargs="?",
    )
    group = parser.group("conversion")
    group.add("-H, --no-header", "there is no first line with the number of features")
    group.add(
        "-C, --no-labels",
        "the lines have no labels: only base.vec is written",
        excludes=("-o", "-L", "--names"),
    )
    group.add(
        "-o, --omit-labels",
        "the lines have labels, but only base.vec is written",
        excludes=("-L", "--names"),
    )
    add_label_options(group)
    parser.needs_words = True
    parser.file_names = {"infile": "lvq"}
    return parser.finish()


def execute(args):
    """Convert."""
    from ..data.convert import convert_text
    from ..data.types import InputFormat

    infile, base = args.infile, args.base
    if base is None:
        infile, base = "-", infile
        if base is not None and os.path.isfile(base):
            raise UsageError(
                f"expected the base name of the files to be written after '{base}' "
                "(or - before it, to read standard input)"
            )
    if base is None and not (args.no_labels or args.omit_labels):
        raise UsageError(
            "expected the base name of the files to be written (only with -C or -o "
            "can standard output hold them)"
        )
    ends = (
        (".vec",)
        if args.no_labels or args.omit_labels
        else (".vec", ".dat" if args.ordinates else ".cls", ".names")
    )
    names = label_names(args, infile, base, ends)
    form = InputFormat(
        "lvq", header=not args.no_header, labels=not args.no_labels, ordinates=args.ordinates
    )
    convert_text(
        infile,
        form,
        "-" if base is None else base,
        omit=args.omit_labels,
        stdout=sys.stdout.buffer,
        names=names,
    )
