"""float_to_class: a continuous quantity to classes."""

import os
import sys

from ..core.errors import UsageError, warn_user
from ..files.atomic import replacing_with
from .messages import report
from .option_types import finite_number, output_file, whole_number
from .options import check_files, Parser


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "float_to_class",
        "Convert a continuous quantity to ordered classes: class 0 "
        "below the first threshold, and so on. Print the thresholds, one per line; "
        "without out, print the values. For out NAME.cls, class names with their "
        "limits are written to NAME.names.",
        operands="file [out [min max | threshold ...]]",
    )
    parser.add("file", "values, float32 one after the other (.dat)")
    parser.add("out", "file of classes to write (.cls)", output_file, nargs="?")
    parser.add(
        "numbers",
        "with -q, the ends of the range that is divided (default: of the "
        "values); without -q, the thresholds themselves",
        finite_number,
        nargs="*",
        default=[],
        metavar="min max | threshold",
    )
    group = parser.group("classes")
    group.add(
        "-q, --classes N",
        "number of classes, of equal width between min and max (default 2)",
        whole_number(2, 10_000_000),
    )
    group.add("-g, --geometric", "thresholds in geometric progression, for values above 0")
    group.add(
        "-o, --open",
        "one threshold more than classes: values below the first or above the last have class -1",
    )
    group.add(
        "-T, --missing MISSING",
        "values above MISSING are missing, and ignored for min and max",
        finite_number,
    )
    group = parser.group("output")
    group.add(
        "-M, --range",
        "print the least and the greatest value, one per line; without out nothing else",
    )
    group.add(
        "-Q, --break-down", "print the number of values in each class in place of the thresholds"
    )
    return parser.finish()


def execute(args):
    """Convert, and print the thresholds."""
    from ..data.binning import break_down, classes_from_floats, present_values
    from ..data.class_names import names_bytes
    from ..data.libagf import cls_bytes

    if args.out is None:
        if args.classes or args.geometric or args.open or args.break_down:
            raise UsageError(
                "-q, -g, -o and -Q need the file of classes to be written, after the file of values"
            )
        values = present_values(args.file, args.missing if args.range else None).tolist()
        sys.stdout.writelines(map(_line, [min(values), max(values)] if args.range else values))
        return
    beside = f"{args.out[:-4]}.names" if args.out.endswith(".cls") else None
    check_files(args.files, {"out": [args.out, beside]})
    binning = classes_from_floats(
        args.file, args.classes, args.geometric, tuple(args.numbers), args.missing, args.open
    )
    lines = [_line(value) for value in binning.range] if args.range else []
    lines.extend(
        break_down(binning, args.open) if args.break_down else map(_line, binning.edges.tolist())
    )
    contents = {args.out: cls_bytes(binning.classes, args.out)}
    if beside is not None and binning.names is not None:
        contents[beside] = names_bytes(binning.names, beside)
    elif beside is not None and os.path.exists(beside):
        warn_user(f"{beside} existed before: its names now apply to these classes")
    with replacing_with(contents, binary=True):
        sys.stdout.writelines(lines)
        sys.stdout.flush()  # before the file appears: a reader that left ends the run here
    count = len(binning.edges) + (-1 if args.open else 1)
    report(
        f"{args.out}: {len(binning.classes)} values in {count} classes"
        + f", their limits in {beside}" * (beside in contents)
    )


def _line(value):
    text = "%g" % value
    return f"{text if float(text) == value else repr(value)}\n"
