"""Options of tables, and of the weights of samples and classes."""

import argparse
import contextlib
import os

from ..core.errors import DataError, UsageError
from ..core.weights import BALANCED, NO_WEIGHTS, WeightSource
from .option_types import (blanks, CLASS_WEIGHTS, class_weights, finite_number, names,
                           refuse_given, whole_number)

TABLES = ("--table", "--delimiter", "--decimal", "--no-quotes", "--blanks", "--label", "--id",
          "--weight", "--group", "--ignore", "--categorical", "--min-words", "--ordered",
          "--classes")
WEIGHTS = ("--weight", "--weights", "--class-weight")


def add_table(parser, what="train", roles=True):
    """The options of tables; roles: as for `add_input_kind`."""
    group = parser.group("tables (.csv, .tsv, .parquet, .feather)")
    group.add("--table", f"{what} is a table, whatever its name, or - for standard input")
    group.add("--delimiter C", "the character between cells, or tab (default: the best of comma, "
              "semicolon, tab and | for the first lines)")
    group.add("--decimal C", "the decimal point of numbers, . or , (default: a comma where the "
              "delimiter is a semicolon and most cells of a column have one)")
    group.add("--no-quotes", "treat double quotes as ordinary characters (default: cells may be "
              "quoted)")
    group.add("--blanks WORD,...", "cells that are missing values, besides empty ones (default: "
              "NA, NaN, nan, null, NULL and ?)", blanks)
    if not roles:
        return group
    trains = roles is True
    group.add("--label COLUMN", "the column of the classes, by its name, or its number from 1 "
              "(default: the one " + ("named class, label or target)" if trains else
                                      "of the training table)"))
    group.add("--weight COLUMN", "the column of the weights of the rows, numbers of 0 or more"
              + " (default: the one of the training table, if it is there)" * (not trains))
    if roles == "label":
        return group
    group.add("--id COLUMN,...", "columns that identify the rows, and are not features", names)
    group.add("--ignore COLUMN,...", "columns to leave out", names)
    group.add("--categorical COLUMN,...", "columns of numbers to treat as words: each word is a "
              "feature, 1 or 0", names)
    group.add("--ordered ORDER,...", "columns of words that become numbers, the positions of the "
              "words in this order, as 'size=small<medium<large'", names)
    group.add("--min-words N", "words in fewer than N rows share one feature, 'other' (default: 5 "
              "in columns of 30 words or more)", whole_number(1))
    group.add("--classes NAME,...", "all classes in their order (default: sorted)", names)
    return group


def table_format(args, labels=True, ordinates=False, source=None):
    """The `InputFormat` of a table, of the options of `add_table`, -E, -H and `add_weights`.
    `source` is the table."""
    from ..data.types import InputFormat

    weights = weight_source(args, source)
    if weights.file not in (None, NO_WEIGHTS):
        refuse_given(args, ["--weight"], "and --weights exclude each other: the weights stand in a "
                     "column or in a file")
        if weights.file != "-" and hasattr(args, "weight") and not os.path.exists(weights.file):
            raise DataError("cannot read: there is no such file; the column of the weights in a "
                            f"table is named with --weight {weights.file}", file=weights.file)
    return InputFormat("table", layout=table_layout(args, not args.no_header), roles=_roles(args),
                       labels=labels, ordinates=ordinates, weights=weights,
                       groups=groups_source(args))


def table_layout(args, header=True):
    """The `TableFormat` of the options of `add_table`."""
    from ..tables.types import BLANKS, TableFormat

    blanks = BLANKS if args.blanks is None else ("", *args.blanks)
    delimiter = {"tab": "\t", "\\t": "\t"}.get(args.delimiter, args.delimiter)
    return TableFormat(delimiter, header, not args.no_quotes, blanks, args.decimal)


def _roles(args):
    from ..tables.types import ColumnRoles

    missing = args.missing
    with contextlib.suppress(argparse.ArgumentTypeError):
        missing = missing and f"value:{finite_number(missing)!r}"  # a number alone, as with -M
    label, ids, weight, *others = (getattr(args, name, None) for name in (
        "label", "id", "weight", "ignore", "categorical"))
    return ColumnRoles(label, ids or (), weight, *(other or () for other in others),
                       getattr(args, "classes", None), missing, getattr(args, "min_words", None),
                       getattr(args, "ordered", None) or (), getattr(args, "group", None))


def add_weights(group, classes=True):
    """--weights, and with `classes` --class-weight, of the commands that read data with classes."""
    group.add("--weights FILE", "weights of the samples, non-negative: text with one per line, "
              "or binary (.wgt); or none: equal weights (default: the file base.wgt beside "
              "binary data, or the column --weight of a table)")
    if not classes:
        return
    group.add("--class-weight WEIGHTS", f"factors of the weights of classes: {CLASS_WEIGHTS}. "
              f"With {BALANCED} all classes count equally. Probabilities are then those of data "
              "in which the classes have these weights", class_weights)


def add_groups(group):
    """--group and --groups, of the commands that split data."""
    group.add("--group COLUMN", "the column of a table with the groups of the rows, as patients or "
              "days: rows of one group are alike, and no split divides them",
              excludes="--groups")
    group.add("--groups FILE", "groups of the samples: text with one word per line; or none "
              "(default: the file base.grp beside binary data, or the column --group of a table)")


def weight_source(args, source=None):
    """The `WeightSource` of the options of `add_weights`, files of class weights read.

    `source` is the data. Raises `UsageError` where standard input would be read twice, `DataError`
    as `read_class_weights`, and for a word that is no such file.
    """
    file, classes = getattr(args, "weights", None), getattr(args, "class_weight", None)
    if file is None and classes is None:
        return WeightSource()
    for option, given in (("--weights", file), ("--class-weight", classes)):
        if given == "":
            raise UsageError(f"{option}: expected the name of a file")
    read = [source, file, classes, getattr(args, "control", None)]
    if "-" in (file, classes) and read.count("-") > 1:
        raise UsageError("standard input can be one of control, the data, their weights and the "
                         "weights of classes, not two of them")
    if isinstance(classes, str) and classes != BALANCED:
        from ..data.weights import read_class_weights

        if classes != "-" and not os.path.exists(classes):
            raise DataError(f"--class-weight: expected {CLASS_WEIGHTS}; there is no file "
                            f"'{classes}'")
        return WeightSource(file, read_class_weights(classes), classes)
    return WeightSource(file, classes)


def groups_source(args):
    """The `InputFormat.groups` of the options of `add_groups`, where a command has them."""
    return getattr(args, "groups", NO_WEIGHTS)


def weight_files(args):
    """The files that the options of `add_weights` and `add_groups` name."""
    return [file for file in (getattr(args, name, None)
                              for name in ("weights", "class_weight", "groups"))
            if isinstance(file, str) and file not in (NO_WEIGHTS, BALANCED)]
