"""print_control: write the control file of a scheme."""

from __future__ import annotations

import sys

from ..codes import schemes
from ..errors import UsageError
from .messages import report, say, show
from .options import input_kind
from .print_control_designs import designed, is_number, scheme_of
from .print_control_options import PROG, get_parser
from .run import run_command

__all__ = ["get_parser", "main"]

_LETTERS = ("-G", "-Y", "-n", "-S", "-a")  # libAGF's


def execute(args):
    """Design the control tree, draw it, print it."""
    if args.no_names and args.names is not None:
        raise UsageError("--names and --no-names exclude each other")
    if not args.best:
        scheme = scheme_of(args)
        _refuse_idle(args, scheme)
        kind = input_kind(args)
    if args.plot is not None:
        from ..picture.canvas import check_picture
        check_picture(args.plot)  # before the work, not after it
    if args.best:
        from .print_control_best import best
        with best(args) as tree:
            _output(args, tree, None)
    else:
        _output(args, *designed(args, scheme, kind))


def _output(args, tree, heights):
    from ..control.write import require_readable, tree_lines

    if args.options:
        from ..control.build import with_options
        tree = with_options(tree, args.options)
    if args.no_names:
        from ..control.tree import changed
        tree = changed(tree, names={})
    elif args.names is not None:
        from ..control.tree import changed
        from ..formats.names import read_names_of
        tree = changed(tree, names=read_names_of(args.names, tree.classes))
    require_readable(tree)
    if args.print_matrix:
        _print_matrix(tree)
    if args.plot is not None:
        from ..picture.control import draw_control
        draw_control(args.plot, tree, heights)
    if args.dot:
        from ..control.dot import format_dot
        sys.stdout.write(format_dot(tree))
    else:
        show(tree_lines(tree))
    sys.stdout.flush()


def _print_matrix(tree):
    """The coding matrix, and how far its rows and columns are from each other."""
    from ..codes.matrix import format_matrix, smallest_distances
    from ..control.build import to_code
    from ..flow.design import matrix_of

    rows, labels = matrix_of(to_code(tree) if tree.directs else tree)
    sys.stderr.write("".join(f"{line}\n" for line in format_matrix(rows, len(labels))))
    if len(rows) > 1:
        say(PROG, "smallest distance between rows {}, between columns {}".format(
            *smallest_distances(rows, len(labels))))


def _refuse_idle(args, scheme):
    """UsageError for an option that would change nothing.

    A letter of libAGF, which takes it with all schemes, is only reported with its schemes.
    """
    name = "a control file that is shown" if scheme is None else scheme.name
    made_of = ("control",) if scheme is None else scheme.made_of
    for option, given in (("-f", args.fraction), ("-d", args.parts), ("--trials", args.trials),
                          ("--state", args.state)):
        if given is not None:
            raise UsageError(f"{option} goes with --best")
    for given, option, wanted in (
            (args.nrow is not None, "nrow", "rows"), (args.strict, "-G", "strict"),
            (args.reduced, "-Y", "reduced"), (args.draws is not None, "--draws", "draws"),
            (args.metric is not None, "--metric", "metric"),
            (args.linkage is not None, "--linkage", "linkage"),
            (args.normalise, "-n", "data"), (args.svd is not None, "-S", "data"),
            (args.norm_file is not None, "-a", "data"), (args.path is not None, "-y", "control")):
        suited = [s for s in schemes.SCHEMES if wanted in s.options or wanted in s.made_of]
        if not given or scheme in suited:
            continue
        text = f"{option} is for -Q {' and '.join(s.name for s in suited)}"
        if option not in _LETTERS or scheme is None or scheme.number is None:
            raise UsageError(f"{text}, not for {name}")
        report(args, PROG, f"{text}, and changes nothing in {name}")
    if args.min_class is not None and (not {"classes", "data"}.intersection(made_of)
                                       or is_number(args.source)):
        raise UsageError("--min-class is for training data, whose samples it counts")
    if args.options and "control" in made_of:
        raise UsageError("--options is for a new control file; one that is "
                         f"{'shown' if scheme is None else 'converted'} keeps its own")
    if made_of == ("confusions",) and (args.svm or args.lvq):
        raise UsageError(f"-M and -A are for training data: -Q {name} takes a contingency table")


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)
