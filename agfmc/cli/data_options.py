"""Options of data, what they are read as, and how they are normalised."""

import argparse
import contextlib
import os
from dataclasses import replace

from ..control.tree import NO_NORMALISATION
from ..core.errors import DataError, UsageError, warn_user
from ..core.weights import BALANCED, NO_WEIGHTS, WeightSource
from ..files.atomic import check_output
from ..files.kinds import is_table
from ..training.request import PointsRequest
from .messages import report
from .option_types import (
    blanks,
    class_limit,
    CLASS_WEIGHTS,
    class_weights,
    finite_number,
    names,
    whole_number,
)

DIALECT = (
    "--delimiter",
    "--encoding",
    "--decimal",
    "--no-quotes",
    "--blanks",
    "--categorical",
    "--min-words",
    "--ordered",
    "--fold-case",
    "--classes",
)  # options of `add_dialect`
TABLES = ("--label", "--id", "--ignore", "--recipe", "--group-places")
MISSING = (
    "treatment of missing values: error, replacement by mean, median or value:X, indicator: the "
    "median, and a feature that is 1 if a value is missing (default), or keep: numbers stay "
    "missing, for learner=trees"
)
HEADER = "the first line has no column names; columns are then named by numbers from 1"
WEIGHTS = ("--weight", "--class-weight")
NORMALISATION = (
    "-n",
    "-S",
    "-a",
)  # options of `add_normalisation`
_WITH_LETTERS = {
    "agf_preprocess",
    "classify_m",
    "multi_borders",
    "nfold",
    "print_control",
}  # libAGF's
_STREAM = ", or - for standard input"


def add_table(parser, roles=True):
    """The options of tables; roles: as for `add_input_kind`."""
    group = parser.group("tables (.csv, .tsv, .parquet, .feather)")
    parser.set_defaults(table=False)  # what the first bytes tell, where the name does not
    if roles:
        default = "of the recipe, else the one named class, label or target"
        if roles == "label":
            default = "of the training table"
        group.add(
            "--label COLUMN",
            "the column of the classes, by its name, or its number from 1 "
            f"(default: the one {default})",
        )
    if roles is True:
        group.add("--id COLUMN,...", "columns that identify the rows, and are not features", names)
        group.add("--ignore COLUMN,...", "columns to leave out", names)
    return group


def add_recipe(group, **settings):
    """--recipe, of the commands that read tables."""
    group.add(
        "--recipe FILE",
        "how the table is read, as table2agf writes it: delimiter, decimal point, missing values, "
        "words and classes (default: the file beside the table, as lakes.recipe for lakes.csv)",
        **settings,
    )


def add_dialect(group):
    """The options that a recipe holds, of the commands that write one, beside -E and -H."""
    group.add(
        "--delimiter C",
        "the character between cells, or tab (default: the best of comma, "
        "semicolon, tab and | for the first lines)",
    )
    group.add(
        "--encoding NAME",
        "the encoding of the text, as latin-1 (default: UTF-8, or UTF-16 with its mark; what is "
        "neither is read as Windows-1252)",
    )
    group.add(
        "--decimal C",
        "the decimal point of numbers, . or , (default: a comma where the "
        "delimiter is a semicolon and most cells of a column have one)",
    )
    group.add(
        "--no-quotes", "treat double quotes as ordinary characters (default: cells may be quoted)"
    )
    group.add(
        "--blanks WORD,...",
        "cells that are missing values, besides empty ones (default: "
        "NA, N/A, n/a, #N/A, NaN, nan, null, NULL and ?, which stay where all given are numbers)",
        blanks,
    )
    group.add(
        "--categorical COLUMN,...",
        "columns of numbers to treat as words: each word is a feature, 1 or 0",
        names,
    )
    group.add(
        "--ordered ORDER,...",
        "columns of words that become numbers, the positions of the "
        "words in this order, as 'size=small<medium<large'",
        names,
    )
    group.add(
        "--min-words N",
        "words in fewer than N rows share one feature, 'other' (default: 5 "
        "in columns of 30 words or more)",
        whole_number(1),
    )
    group.add(
        "--fold-case",
        "words, and classes, that differ in upper and lower case or in blanks alone are one, the "
        "most frequent of them",
    )
    group.add("--classes NAME,...", "all classes in their order (default: sorted)", names)
    return group


def gives_dialect(args):
    """Return True if one of the options of `add_dialect`, -E or -H is given."""
    return hasattr(args, "delimiter") and bool(args.given(*DIALECT, "--missing", "--no-header"))


def table_parts(args, source, by_options=False):
    """The `TableFormat` and `ColumnRoles` of a table: by the options of `add_dialect`, where one is
    given or `by_options` says so, else by its recipe. The columns of `add_table` are chosen."""
    from ..tables.types import ColumnRoles, TableFormat

    if by_options or gives_dialect(args):
        blanks = args.blanks
        if blanks is not None:
            blanks = ("", *blanks)
        delimiter = {"tab": "\t", "\\t": "\t"}.get(args.delimiter, args.delimiter)
        missing = args.missing
        with contextlib.suppress(argparse.ArgumentTypeError):
            # a number alone, as with -M
            missing = missing and f"value:{finite_number(missing)!r}"
        layout = TableFormat(
            delimiter,
            not args.no_header,
            not args.no_quotes,
            blanks,
            args.decimal,
            args.encoding,
        )
        roles = ColumnRoles(
            categorical=args.categorical or (),
            classes=args.classes,
            missing=missing,
            min_words=args.min_words,
            ordered=args.ordered or (),
            fold_case=args.fold_case or None,
        )
    else:
        layout, roles = parts_of_recipe(args.recipe, source)
        if not hasattr(args, "ignore"):  # the model knows the columns
            roles = ColumnRoles()
    columns = {
        role: getattr(args, option, None)
        for option, role in {
            "label": "label",
            "id": "ids",
            "ignore": "ignored",
            "group_places": "group_places",
        }.items()
    }
    given = {role: value for role, value in columns.items() if value is not None}
    return layout, replace(roles, **given)


def parts_of_recipe(recipe, source):
    """The `TableFormat` and `ColumnRoles` that the recipe of the table `source` says."""
    from ..tables.recipe_file import read_dialect

    path, layout, roles = read_dialect(recipe, source)
    if recipe is None and path is not None:
        report(f"{source} is read as {path} says")
    return layout, roles


def add_weights(group, classes=True):
    """--weight, and with `classes` --class-weight, of the commands that read data with classes."""
    group.add(
        "--weight COLUMN|FILE",
        "weights of the samples, numbers of 0 or more: a column of the table, else a file, text "
        "with one in each line or binary (.wgt); or none: equal weights (default: the file "
        "base.wgt beside binary data; for a model, the column of its training table)",
    )
    if not classes:
        return
    group.add(
        "--class-weight WEIGHTS",
        f"factors of the weights of classes: {CLASS_WEIGHTS}. "
        f"With {BALANCED} all classes count equally. Probabilities are then those of data "
        "in which the classes have these weights",
        class_weights,
    )


def add_groups(group):
    """--group and --group-places, of the commands that split data."""
    group.add(
        "--group COLUMN|FILE",
        "groups of the samples, such as a patient or a day, whose samples are alike, and which "
        "no split divides: a column of the table, else a file, text with the name of a group in "
        "each line; or none (default: the file base.grp beside binary data)",
    )
    add_group_places(group)


def add_group_places(group):
    """--group-places, of the commands that read groups of a table."""
    group.add(
        "--group-places SIZE",
        "groups of samples that are near each other: cells of a grid, of that size, as 10km or 500m, of "
        "the columns lat and lon, easting and northing, or of pairs as 47.57, 8.91",
        excludes="--group",
    )


def weight_source(args, source=None):
    """The `WeightSource` of the options of `add_weights`, files of class weights read.

    `source` is the data. Raises `UsageError` where standard input would be read twice, `DataError`
    as `read_class_weights`, and for a word that is no such file.
    """
    file = getattr(args, "weight", None)
    classes = getattr(args, "class_weight", None)
    if file is None and classes is None:
        return WeightSource()
    if file == "":
        raise UsageError("--weight: expected the name of a column or file")
    if classes == "":
        raise UsageError("--class-weight: expected the name of a file")
    read = [source, file, classes, getattr(args, "control", None)]
    if "-" in (file, classes) and read.count("-") > 1:
        raise UsageError(
            "standard input can be one of control, the data, their weights and the "
            "weights of classes, not two of them"
        )
    if isinstance(classes, str) and classes != BALANCED:
        from ..data.weights import read_class_weights

        if classes != "-" and not os.path.exists(classes):
            raise DataError(
                f"--class-weight: expected {CLASS_WEIGHTS}; there is no file '{classes}'"
            )
        return WeightSource(file, read_class_weights(classes), classes)
    return WeightSource(file, classes)


def weight_files(args):
    """The files that the options of `add_weights` and `add_groups` name, as far as they exist."""
    return [
        file
        for file in (getattr(args, name, None) for name in ("weight", "class_weight", "group"))
        if isinstance(file, str) and (file == "-" or os.path.exists(file))
    ]


def add_train(parser):
    """The operand train."""
    parser.add(
        "train",
        "training data: a table (.csv, .tsv, .parquet, .feather), the base name of "
        ".vec and .cls files, LIBSVM text, or LVQ text with -A",
    )
    parser.file_names = {"train": "data"}


def add_control(parser):
    """The operands control, a file or a scheme, and train."""
    parser.add(
        "control",
        "training control file (- is standard input), or the name of a scheme of print_control",
    )
    add_train(parser)
    parser.file_names["control"] = "control"


def add_input_kind(parser, what="train", roles=True, excludes="-A", stream=_STREAM, dialect=False):
    """-M and -A: LIBSVM or LVQ text in place of libAGF's binary files; and those of tables.

    With `roles` the columns of a table can be chosen, all or, "label", that of the classes: a model
    knows the others. -M excludes the options `excludes`. `stream` says that - is standard input.
    With `dialect` there are the options of `add_dialect` beside --recipe, and -E and -H are of these.
    """
    group = parser.group("input")
    parser.set_defaults(missing=None, no_header=False)
    group.add(
        "-M, --svm",
        f"{what} is LIBSVM text, `label index:value ...`{stream} (default for "
        "a file that begins so)",
        excludes=excludes,
    )
    group.add(
        "-A, --lvq",
        f"{what} is LVQ text: a line with the number of features, then a line "
        "of features and label for each sample (default for a file that begins so)",
    )
    if parser.prog in _WITH_LETTERS:
        group.add("-E, --missing VALUE", "with -M: the value of omitted features (default 0)")
        group.add("-H, --no-header", "with -A: the first line has no number of features")
    columns = add_table(parser, roles)
    if dialect:
        columns.add("-E, --missing POLICY", MISSING)
        columns.add("-H, --no-header", HEADER)
        add_dialect(columns)
        add_recipe(columns, excludes=(*DIALECT, "-E", "-H"))
    else:
        add_recipe(columns)
    return group


def add_training_kind(parser, what="train", stream=_STREAM, dialect=False):
    """The options of training data: those of `add_input_kind`, the weights and groups, and
    --min-class."""
    group = add_input_kind(parser, what, stream=stream, dialect=dialect)
    add_weights(group)
    add_groups(group)
    group.add(
        "--min-class N",
        "leave out classes with fewer than N samples, from the data and "
        "from a control file that names them; they are never an answer. Where there are groups, "
        "those in one group, too, or, with two numbers N,G, those in fewer than G groups",
        class_limit,
    )
    return group


def add_points_kind(parser):
    """The options of --data, points with labels for a model that knows their features."""
    group = add_input_kind(parser, "--data", "label")
    add_weights(group)
    add_groups(group)
    parser.need("--data", "-M", "-A", *WEIGHTS, "--group", "--group-places")
    return group


def input_format(args, source, lvq=None, labels=True, ordinates=False, table=False):
    """The `InputFormat` of the options of `add_input_kind`; `UsageError` where they disagree.

    `source` is the operand that names the data; `lvq` decides between LVQ and LIBSVM text where -A
    alone does not, `table` where nothing else says what the data are.
    """
    from ..data.types import InputFormat

    if lvq is None:
        lvq = args.lvq
    of_tables = (*TABLES, *DIALECT)
    of_text = ("--missing", "--no-header")
    if hasattr(args, "delimiter"):
        of_tables += of_text
        of_text = ()
    details = {
        "labels": labels,
        "ordinates": ordinates,
        "groups": getattr(args, "group", NO_WEIGHTS),
    }
    if args.table or not (args.svm or lvq) and (table or source is not None and is_table(source)):
        args.refuse(
            of_text, "is for LIBSVM or LVQ text: a table has a recipe, which table2agf writes"
        )
        layout, roles = table_parts(args, source)
        weights = weight_source(args, source)
        return InputFormat("table", layout=layout, roles=roles, weights=weights, **details)
    args.refuse(
        of_tables,
        "is for tables" + (f", and {source!r} is none" if source is not None else ""),
    )
    weights = weight_source(args, source)
    missing = None
    if args.missing is not None:
        if not args.svm:
            raise UsageError("-E needs -M")
        try:
            missing = finite_number(args.missing)
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"argument -E/--missing: {error}") from None
    if args.no_header and not lvq:
        raise UsageError("-H needs -A")
    if args.svm:
        kind = "svm"
    elif lvq:
        kind = "lvq"
    else:
        kind = "binary"
    return InputFormat(kind, missing, not args.no_header, weights=weights, **details)


# Of commands that read models: options of training that are no options there.
NORMALISED_BY_MODEL = dict.fromkeys(
    ("-n", "--normalise", "--normalize", "-S", "--svd"),
    "the model knows its normalisation, and it is applied: leave the option out",
)


def add_normalisation(parser, unnormalised=None, trains=True):
    """-n, -a and -S: normalise the features. `unnormalised` is the help of -u, None without it.
    With `trains` -n is the default for tables, and -a none turns it off."""
    group = parser.group("normalisation")
    group.add(
        "-n, --normalise",
        "subtract the mean of each feature and divide by its standard "
        "deviation; constant features are left out"
        + " (default for tables, unless -a gives a normalisation)"
        * trains,
    )
    none = "; or none: features are not normalised, nor is it said that they are unequal"
    group.add(
        "-a, --norm-file FILE",
        "file of the normalisation (.std): read, or, with -n or -S, written" + none * trains,
    )
    group.add(
        "-S, --svd N", "project the features on the first N singular vectors", whole_number(1)
    )
    if unnormalised is not None:
        group.add("-u, --unnormalised", unnormalised)
    return group


def norm_file_of(args):
    """The file of -a, None where there is none."""
    if args.norm_file == NO_NORMALISATION:
        return None
    return args.norm_file


def check_normalised(configuration, form, source):
    """`UsageError` where a table would go to the model of a `ModelSource` without the normalisation
    of its points; of other points a warning, without -a."""
    if not configuration.lacks_normalisation:
        return
    if form.kind == "table":
        raise UsageError(
            f"{source.path} was trained on normalised points, and tables are not: -a FILE "
            "gives the normalisation that multi_borders wrote"
        )
    if source.named:
        warn_user(
            f"{source.path}: trained on normalised points, and no normalisation is given (-a): "
            "the points are assumed to be normalised"
        )


def fits_normalisation(args):
    """Return True if the options ask for a normalisation of the data."""
    return getattr(args, "normalise", False) or getattr(args, "svd", None) is not None


def points_request(args, source, form, **more):
    """The `PointsRequest` of the data `source`, by --options, --seed, --min-class and the options of
    `add_normalisation`. `more` are further `TrainingSettings`."""
    from ..training.fit import TrainingSettings

    norm_file = norm_file_of(args)
    unnormalised = args.norm_file != norm_file
    if unnormalised and args.normalise:
        raise UsageError("-n and -a none exclude each other")
    of_table = form.kind == "table"
    scale = args.normalise
    if of_table and not unnormalised:
        scale = scale or norm_file is None or args.svd is not None
    settings = TrainingSettings(
        getattr(args, "options", None),
        1 if args.seed is None else args.seed,
        scale,
        args.svd,
        **more,
    )
    # a warning of unequal scales is due where no option is about the normalisation
    scales = not of_table and not settings.fits_normalisation and args.norm_file is None
    return PointsRequest(source, form, settings, norm_file, args.min_class, scales)


def load_normalised(points):
    """The `Dataset` of a `PointsRequest`. A normalisation is written to the file of -a."""
    from ..data.libagf import write_std

    path = points.norm_file
    settings = points.settings
    written = path is not None and settings.fits_normalisation
    if written:
        check_output(path)
    data, normalisation, _ = points.load()
    if written:
        write_std(path, normalisation)
    return data
