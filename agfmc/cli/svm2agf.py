"""svm2agf: LIBSVM text to libAGF's binary files."""

import os

from ..core.errors import UsageError
from .messages import report
from .option_types import finite_number, output_base
from .options import add_label_options, label_names, Parser


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "svm2agf",
        "Convert LIBSVM text, `label index:value ...`, to libAGF's binary "
        "files base.vec and base.cls. Labels that are words are numbered in sorted "
        "order, and labels that include negative numbers or fractions by value; "
        "base.names has the names.",
    )
    parser.add("infile", "LIBSVM text (- or left out: standard input)", nargs="?")
    parser.add("base", "base name of the files to write", output_base)
    group = parser.group("conversion")
    group.add(
        "-U, --relabel",
        "number the classes 0 to k-1, in ascending order of their labels, "
        "and report changed labels",
        excludes="-L",
    )
    group.add(
        "-E, --missing VALUE", "value of omitted features (default 0)", finite_number, default=0.0
    )
    add_label_options(group)
    parser.file_names = {"infile": "svm"}
    return parser.finish()


def execute(args):
    """Convert, and report new labels."""
    from ..data.convert import convert_text
    from ..data.types import InputFormat

    if args.infile is None and os.path.isfile(args.base):
        raise UsageError(
            f"expected the base name of the files to be written after '{args.base}' "
            "(or - before it, to read standard input)"
        )
    names = label_names(
        args, args.infile, args.base, (".vec", ".dat" if args.ordinates else ".cls", ".names")
    )
    form = InputFormat("svm", args.missing, ordinates=args.ordinates)
    old = convert_text(args.infile or "-", form, args.base, names=names, compact=args.relabel)
    if old is not None and list(old) != list(range(len(old))):
        report("labels " + ", ".join(f"{label} -> {i}" for i, label in enumerate(old)))
