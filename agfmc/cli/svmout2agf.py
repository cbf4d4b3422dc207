"""svmout2agf: what svm-predict wrote to libAGF's binary files."""

import sys

from .option_types import output_base
from .options import check_files, Parser, refuse_ending


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "svmout2agf",
        "Convert the output of LIBSVM's svm-predict to classes and "
        "confidence ratings, base.cls and base.con. If some labels are negative, "
        "they are numbered by value, as by svm2agf.",
    )
    parser.add("in", "output of svm-predict (- is standard input)")
    parser.add("base", "base name of the files to write", output_base)
    parser.add(
        "--names FILE",
        "class names of the training data, line i for label i: labels are "
        "looked up there, if they are names, and k is their number",
    )
    return parser.finish()


def execute(args):
    """Convert, and print the probabilities."""
    from ..answers.libagf_reports import convert_svm_output
    from ..data.class_names import read_names

    source = vars(args)["in"]
    refuse_ending(args.base, (".cls", ".con"))
    check_files(args.files, {"base": [f"{args.base}.cls", f"{args.base}.con"]}, {"in": [source]})
    names = None if args.names is None else read_names(args.names)
    convert_svm_output(source, args.base, sys.stdout, names)
