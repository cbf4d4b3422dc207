"""The commands that convert files of data: a row for each in `CONVERTERS`."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..core.errors import UsageError, warn_user
from ..core.text import first_words
from ..files.atomic import check_output, replacing_with
from ..files.kinds import is_answer_table, TEXT_ENDINGS
from ..files.opening import is_stream
from .data_options import add_dialect, add_group_places, add_table, HEADER, MISSING, table_parts
from .messages import counted, report, write_bytes
from .option_types import finite_number, output_base, output_file, whole_number
from .options import check_files, data_files, Parser, refuse_ending

_BASE = ("base", "base name of the files to write", output_base)
_SHOWN = 5  # features, and classes, of a report of table2agf


@dataclass(frozen=True)
class Converter:
    """A command: its options are added to a parser, and it is executed with the parsed arguments.

    `operands` are those of the usage, as for `Parser`; `file_names` say what files they name.
    """

    name: str
    description: str
    add_options: Callable
    execute: Callable
    file_names: dict
    operands: str | None = None

    def get_parser(self):
        """The command's argument parser; loads nothing heavy."""
        parser = Parser(self.name, self.description, self.operands)
        parser.file_names = self.file_names
        self.add_options(parser)
        return parser.finish()


def _add_svm_options(parser):
    parser.add("infile", "LIBSVM text (- or left out: standard input)", nargs="?")
    parser.add(*_BASE)
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
    _add_label_options(group)
    parser.set_defaults(kind="svm", no_header=False, no_labels=False, omit_labels=False)


def _add_lvq_options(parser):
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
    _add_label_options(group)
    parser.set_defaults(kind="lvq", missing=None, relabel=False)
    parser.needs_words = True


def _add_label_options(group):
    group.add(
        "-L, --ordinates",
        "the labels are numbers, whole or not: write base.dat in place of base.cls",
        excludes="--names",
    )
    group.add(
        "--names FILE",
        "class names, line i for label i, for labels that are words, "
        "negative or not whole: test data get the numbers of the training data",
    )


def _convert_text(args):
    from ..data.class_names import read_names
    from ..data.convert import convert_text
    from ..data.types import InputFormat

    source = args.infile
    base = args.base
    if base is None:
        source, base = None, source
    if source is None and base is not None and os.path.isfile(base):
        raise UsageError(
            f"expected the base name of the files to be written after '{base}' "
            "(or - before it, to read standard input)"
        )
    if args.no_labels or args.omit_labels:
        ends = (".vec",)
    elif base is None:
        raise UsageError(
            "expected the base name of the files to be written (only with -C or -o "
            "can standard output hold them)"
        )
    else:
        ends = (".vec", ".dat" if args.ordinates else ".cls", ".names")
    refuse_ending(base or "-", ends[:2])
    # the names given are written again as they are, unless -U makes others
    again = args.names == f"{base}.names" and not args.relabel
    check_files(
        args.files,
        {"base": data_files(base, ends=ends)},
        {"infile": [source], "--names": [None if again else args.names]},
    )
    old = convert_text(
        source or "-",
        InputFormat(
            args.kind,
            args.missing,
            header=not args.no_header,
            labels=not args.no_labels,
            ordinates=args.ordinates,
        ),
        base or "-",
        names=None if args.names is None else read_names(args.names),
        compact=args.relabel,
        omit=args.omit_labels,
        stdout=sys.stdout.buffer,
    )
    if old is not None and list(old) != list(range(len(old))):
        report("labels " + ", ".join(f"{label} -> {i}" for i, label in enumerate(old)))


def _add_svm_output_options(parser):
    parser.add("in", "output of svm-predict (- is standard input)")
    parser.add(*_BASE)
    parser.add(
        "--names FILE",
        "class names of the training data, line i for label i: labels are "
        "looked up there, if they are names, and k is their number",
    )


def _convert_svm_output(args):
    from ..answers.libagf_reports import convert_svm_output
    from ..data.class_names import read_names

    source = vars(args)["in"]
    refuse_ending(args.base, (".cls", ".con"))
    check_files(args.files, {"base": [f"{args.base}.cls", f"{args.base}.con"]}, {"in": [source]})
    if args.names is None:
        names = None
    else:
        names = read_names(args.names)
    convert_svm_output(source, args.base, sys.stdout, names)


def _add_print_options(parser):
    parser.add(
        "base",
        "base name of the .vec and .cls files; with -C also the name of the .vec "
        "file as it is, which then comes first",
    )
    parser.add(
        "out",
        "file to write (- or left out: standard output); a name that ends in .csv or .tsv (also with "
        ".gz), or -.csv for standard output, is that of a table: with base.recipe it has the columns "
        "and words of the original table, with base.ids its ids",
        output_file,
        nargs="?",
        default="-",
    )
    group = parser.group("output")
    group.add(
        "-M, --svm", "LIBSVM text, `label index:value ...`, without zeros", excludes=("-H", "-C")
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


def _print_data(args):
    from ..data.as_text import print_table
    from ..data.convert import print_data
    from ..data.types import InputFormat

    labels = not args.no_labels
    if not is_answer_table(args.out):
        if args.svm:
            kind = "svm"
        else:
            kind = "lvq"
        form = InputFormat(kind, header=not args.no_header, labels=labels, ordinates=args.ordinates)
        stdout = sys.stdout.buffer
        print_data(args.base, args.out, form, stdout, words=args.words, scale=args.normalise)
        return
    args.refuse(
        ("-M", "-H", "-L", "-n", "--words"),
        f"is for text of points, and {args.out} is a table by its name",
    )
    if not args.out.lower().endswith(TEXT_ENDINGS):
        raise UsageError(
            "tables are written as text: expected .csv or .tsv, with .gz or without, "
            f"or -.csv, found '{args.out}'"
        )
    if labels:
        base = args.base
    else:
        base = args.base.removesuffix(".vec")
    print_table(base, "-" if args.out == "-.csv" else args.out, write_bytes, labels)


def _add_class_options(parser):
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
        "-q, --class-count N",
        "number of classes, of equal width between min and max (default 2)",
        whole_number(2, 10_000_000),
    )
    group.add("-g, --geometric", "thresholds in geometric progression, for values above 0")
    group.add(
        "-o, --open",
        "one threshold more than classes: values below the first or above the last have class -1",
    )
    group.add(
        "-T, --missing-above LIMIT",
        "values above LIMIT are missing, and ignored for min and max",
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


def _convert_floats(args):
    from ..data.binning import break_down, classes_from_floats, present_values
    from ..data.class_names import names_bytes
    from ..data.libagf import cls_bytes

    if args.out is None:
        if args.class_count or args.geometric or args.open or args.break_down:
            raise UsageError(
                "-q, -g, -o and -Q need the file of classes to be written, after the file of values"
            )
        values = present_values(args.file, args.missing_above if args.range else None).tolist()
        sys.stdout.writelines(map(_line, [min(values), max(values)] if args.range else values))
        return
    if args.out.endswith(".cls"):
        beside = f"{args.out[:-4]}.names"
    else:
        beside = None
    check_files(args.files, {"out": [args.out, beside]})
    binning = classes_from_floats(
        args.file,
        args.class_count,
        args.geometric,
        tuple(args.numbers),
        args.missing_above,
        args.open,
    )
    if args.range:
        lines = [_line(value) for value in binning.range]
    else:
        lines = []
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
    if args.open:
        count = len(binning.edges) - 1
    else:
        count = len(binning.edges) + 1
    text = f"{args.out}: {len(binning.classes)} values in {count} classes"
    if beside in contents:
        text += f", their limits in {beside}"
    report(text)


def _line(value):
    text = "%g" % value
    return f"{text if float(text) == value else repr(value)}\n"


def _add_table_options(parser):
    parser.add("source", "the table, whatever its name, or - for standard input", metavar="table")
    parser.add(
        "base",
        "base name of the files to write; left out: only the recipe is written, beside the table, "
        "as lakes.recipe for lakes.csv, and every command then reads lakes.csv so",
        output_base,
        nargs="?",
    )
    group = parser.group("conversion")
    group.add("-E, --missing POLICY", MISSING)
    group.add(
        "--recipe FILE",
        "recipe of the training table: test data get its features, "
        "columns identified by name, and its class numbers",
        needs="base",
        excludes=(
            "-E",
            "--ignore",
            "--categorical",
            "--min-words",
            "--ordered",
            "--fold-case",
            "--classes",
        ),
    )
    group.add(
        "-C, --no-labels",
        "with --recipe: the table has no column of the classes; only "
        "base.vec is written, and base.ids if there are ids",
        needs="--recipe",
        excludes="--label",
    )
    group.add("-H, --no-header", HEADER)
    group = add_table(parser)
    add_dialect(group)
    group.add("--weight COLUMN", "the column of the weights of the rows, numbers of 0 or more")
    group.add(
        "--group COLUMN",
        "the column of the groups of the rows, such as a patient or a day: rows of one group are "
        "alike, and no split divides a group",
    )
    add_group_places(group)


def _convert_table(args):
    from ..data.from_table import convert_table, CONVERTED
    from ..data.types import InputFormat
    from ..tables.recipe_file import read_recipe

    layout, roles = table_parts(args, args.source, by_options=True)
    roles = replace(roles, weight=args.weight, group=args.group)
    form = InputFormat("table", labels=not args.no_labels, layout=layout, roles=roles)
    if args.base is None:
        _write_recipe(args, form)
        return
    refuse_ending(args.base, (*CONVERTED[:2], ".recipe", ".names"))
    # a recipe that is given is written again as it is
    again = args.recipe == f"{args.base}.recipe"
    check_files(
        args.files,
        {"base": data_files(args.base, ends=CONVERTED)},
        {"source": [args.source], "--recipe": [None if again else args.recipe]},
    )
    if args.recipe is None:
        recipe = None
    else:
        recipe = read_recipe(args.recipe)
    recipe, rows, counts = convert_table(args.source, form, args.base, recipe)
    _report_table(
        f"{os.path.basename(args.base)}.vec",
        recipe,
        rows,
        None if counts is None else counts.tolist(),
    )


def _write_recipe(args, form):
    from ..data.from_table import read_table
    from ..tables.recipe_file import format_recipe, recipe_of_table

    if is_stream(args.source):
        raise UsageError("expected the base name of the files to be written after the table")
    path = recipe_of_table(args.source)
    check_output(path)
    check_files(args.files, {"base": [path]}, {"source": [args.source]})
    data = read_table(args.source, form, lazy=True)
    with replacing_with({path: format_recipe(data.recipe, path)}):
        pass
    _report_table(path, data.recipe, len(data.y), data.counts.values())


def _report_table(name, recipe, rows, counts):
    text = (
        f"{name}: {counted(rows, 'row')}, "
        f"{counted(len(recipe.features), 'feature')} ({first_words(recipe.features, _SHOWN)})"
    )
    if counts is not None:
        classes = [f"{name} {count}" for name, count in zip(recipe.classes, counts)]
        text += f", classes: {first_words(classes, _SHOWN)}"
    report(text)


CONVERTERS = {
    row.name: row
    for row in (
        Converter(
            "svm2agf",
            "Convert LIBSVM text, `label index:value ...`, to libAGF's binary "
            "files base.vec and base.cls. Labels that are words are numbered in sorted "
            "order, and labels that include negative numbers or fractions by value; "
            "base.names has the names.",
            _add_svm_options,
            _convert_text,
            {"infile": "svm"},
        ),
        Converter(
            "lvq2agf",
            "Convert LVQ text, a line with the number of features and then a "
            "line of features and label for each sample, to libAGF's binary files "
            "base.vec and base.cls. Labels are converted as by svm2agf.",
            _add_lvq_options,
            _convert_text,
            {"infile": "lvq"},
            operands="[[infile] base]",
        ),
        Converter(
            "svmout2agf",
            "Convert the output of LIBSVM's svm-predict to classes and "
            "confidence ratings, base.cls and base.con. If some labels are negative, "
            "they are numbered by value, as by svm2agf.",
            _add_svm_output_options,
            _convert_svm_output,
            {},
        ),
        Converter(
            "agf2ascii",
            "Print libAGF's binary files base.vec and base.cls as text: LVQ "
            "text, LIBSVM text with -M, or a table. Values have full precision.",
            _add_print_options,
            _print_data,
            {"base": "base"},
        ),
        Converter(
            "float_to_class",
            "Convert a continuous quantity to ordered classes: class 0 "
            "below the first threshold, and so on. Print the thresholds, one per line; "
            "without out, print the values. For out NAME.cls, class names with their "
            "limits are written to NAME.names.",
            _add_class_options,
            _convert_floats,
            {},
            operands="file [out [min max | threshold ...]]",
        ),
        Converter(
            "table2agf",
            "Convert a table (CSV, TSV, Parquet, Feather) to libAGF's "
            "binary files base.vec and base.cls, with the class names in base.names, and "
            "the conversion of its cells in base.recipe.",
            _add_table_options,
            _convert_table,
            {"source": "table"},
        ),
    )
}
