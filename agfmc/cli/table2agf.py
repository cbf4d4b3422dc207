"""table2agf: a table of rows and named columns to libAGF's binary files."""

import os

from ..core.text import first_words
from .data_options import add_groups, add_table, table_format
from .messages import counted, report
from .option_types import output_base
from .options import check_files, data_files, Parser, refuse_ending

_SHOWN = 5  # features, and classes, of a report


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "table2agf",
        "Convert a table (CSV, TSV, Parquet, Feather) to libAGF's "
        "binary files base.vec and base.cls, with the class names in base.names, and "
        "the conversion of its cells in base.recipe.",
    )
    parser.add("source", "the table, whatever its name, or - for standard input", metavar="table")
    parser.add("base", "base name of the files to write", output_base)
    group = parser.group("conversion")
    group.add(
        "-E, --missing POLICY",
        "treatment of missing values: error, replacement by mean, "
        "median or value:X, indicator: the median, and a feature that is 1 if a value is "
        "missing (default), or keep: numbers stay missing, as NaN in base.vec, for "
        "learner=trees",
    )
    group.add(
        "--recipe FILE",
        "recipe of the training table: test data get its features, "
        "columns identified by name, and its class numbers",
        excludes=("-E", "--ignore", "--categorical", "--min-words", "--ordered", "--classes"),
    )
    group.add(
        "-C, --no-labels",
        "with --recipe: the table has no column of the classes; only "
        "base.vec is written, and base.ids if there are ids",
        needs="--recipe",
        excludes="--label",
    )
    group.add(
        "-H, --no-header",
        "the first line has no column names; columns are then named by numbers from 1",
    )
    add_groups(add_table(parser, "table"), files=False)
    parser.file_names = {"source": "table"}
    return parser.finish()


def execute(args):
    """Convert, and report what the table holds."""
    from ..data.from_table import convert_table, CONVERTED
    from ..tables.recipe_file import read_recipe

    refuse_ending(args.base, (*CONVERTED[:2], ".recipe", ".names"))
    outputs = data_files(args.base, ends=CONVERTED)
    # a recipe that is given is written again as it is
    again = args.recipe == f"{args.base}.recipe"
    check_files(
        args.files,
        {"base": outputs},
        {"source": [args.source], "--recipe": [None if again else args.recipe]},
    )
    recipe = None if args.recipe is None else read_recipe(args.recipe)
    recipe, rows, counts = convert_table(
        args.source, table_format(args, not args.no_labels), args.base, recipe
    )
    text = (
        f"{counted(rows, 'row')}, {counted(len(recipe.features), 'feature')} ("
        + first_words(recipe.features, _SHOWN)
        + ")"
    )
    if counts is not None:
        text += ", classes: " + first_words(
            [f"{name} {count}" for name, count in zip(recipe.classes, counts.tolist())], _SHOWN
        )
    report(f"{os.path.basename(args.base)}.vec: {text}")
