"""mbh2mbm: merge a trained configuration into one model file."""

from __future__ import annotations

from .messages import report
from .options import Parser
from .run import run_command

__all__ = ["get_parser", "main"]

PROG = "mbh2mbm"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Merge a control file and its binary models into one binary file that holds everything "
        "needed to classify, each support vector once.",
        usage="%(prog)s [-a FILE] [--names FILE] control out")
    parser.add_argument("control", help="control file for classification, as multi_borders "
                                        "writes it (- is standard input)")
    parser.add_argument("out", help="the model file to be written (.mbm)")
    group = parser.add_argument_group("contents")
    group.add_argument("-a", "--norm-file", metavar="FILE",
                       help="normalisation (.std) to be stored: the model then takes raw data")
    group.add_argument("--names", metavar="FILE",
                       help="class names, line i for label i, in place of those in control")
    return parser.finish()


def execute(args):
    """Read, merge, write, and say how many support vectors remain."""
    from ..flow.configuration import merge, save
    from ..formats.controlfile import read_control
    from ..formats.names import read_names_of
    from ..formats.vectors import read_std

    tree = read_control(args.control)
    normalisation = None if args.norm_file is None else read_std(args.norm_file)
    names = None if args.names is None else read_names_of(args.names, tree.classes)
    configuration, before = merge(tree, normalisation, names)
    save(args.out, configuration)
    after = len(configuration.model.sv)
    share = f" ({100 * after / before:.1f} %)" if before else ""
    report(args, PROG, f"{len(tree.rows)} binary models, {before} support vectors, "
                       f"{after} after merging{share}")


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)
