"""nfold: cross-validation of one control file."""

from __future__ import annotations

import sys

from ..errors import one_line, UsageError
from .experiments import add_exploration, for_data, ledger_of, load_data, plan_of, settings_of
from .messages import json_text, Progress, report
from .messages import library_words
from .options import data_files, Parser, refuse_ending, refuse_inputs, whole_number
from .run import run_command

__all__ = ["get_parser", "main"]

PROG = "nfold"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Cross-validate one configuration: train it on a part of the data, classify the rest, and "
        "so on until each point was held out. Prints the scores, and writes the answers for the "
        "held-out points.",
        usage="%(prog)s [-d PARTS | -f FRACTION] [--trials N] [--seed N] [-+ OPTIONS] "
              "[-Q DECODER] [-b] [--json] [--plot FILE] [-q BINS] [-j N] [--platt WAY] "
              "[--kernel-memory MB] [--state FILE | --no-state] [-M | -A] [--min-class N] [-n] "
              "[-S N] [-a FILE] control train [outbase]")
    parser.add_argument("control", help="training control file (- is standard input), or the name "
                                        "of a scheme of print_control")
    parser.add_argument("train", help="training data: base name of .vec and .cls files, or a "
                                      "text file with -M or -A")
    parser.add_argument("outbase", nargs="?",
                        help="base name of the answers: outbase.cls, .con, .truth and, where there "
                             "are probabilities, .txt, for eval_uc")
    group = parser.add_argument_group("output")
    group.add_argument("-Q", "--decoder", metavar="DECODER",
                       help="a decoder of classify_m, or for trees recursive or full; any other "
                            "takes a tree as the coding matrix it stands for (default: what "
                            "suits the control)")
    group.add_argument("-b", "--brief", action="store_true",
                       help="the scores of the splits alone, without the page of eval_uc for all "
                            "held-out points together")
    group.add_argument("--json", action="store_true",
                       help="everything as JSON: the keys of eval_uc --json for all held-out "
                            "points together, and over_splits, with the values of each split")
    group.add_argument("--plot", metavar="FILE",
                       help="a picture too, calibration and contingency table: .png, .svg or .pdf")
    group.add_argument("-q", "--bins", type=whole_number(1, 100_000), default=10, metavar="BINS",
                       help="bins of the calibration table (default 10)")
    add_exploration(parser, "1; -d 5 if neither -d nor -f is given")
    return parser.finish()


def execute(args):
    """Read, cross-validate, print, write."""
    from ..experiments.candidates import read_candidate
    from ..experiments.result_cache import key_of
    from ..experiments.cross_validation import cross_validate, write_held_out
    from ..formats.atomic import check_output

    if args.plot is not None:
        from ..picture.canvas import check_picture
        check_picture(args.plot)
    if args.train == "-" == args.control:
        raise UsageError("control and train cannot both be standard input")
    if args.outbase == "-":
        raise UsageError("outbase is a base name of several files, not standard output")
    if args.outbase is not None:
        ends = (".cls", ".con", ".truth", ".txt")
        refuse_ending(args.outbase, ends)
        outputs = [args.outbase + end for end in ends]
        refuse_inputs(outputs, [args.control, args.norm_file, args.train,
                                *data_files(args.train)])
        for path in outputs:
            check_output(path)
    plan = plan_of(args, 1, 5)
    candidate = read_candidate(args.control, None if args.decoder is None else (args.decoder,),
                               seed=args.seed)
    if candidate.wanted is not None and len(candidate.wanted) > 1:
        raise UsageError("nfold takes one decoder: compare_control takes several")
    data, normalisation = load_data(args)
    candidate = for_data(candidate, data, args)
    settings = settings_of(args, normalisation)
    with library_words(), ledger_of(
            args, PROG, key_of("data", data.x, data.y), plan, repr(candidate), args.options,
            args.normalise, args.svd, args.platt,
            "" if normalisation is None else normalisation.digest()) as ledger:
        with Progress(args, "cross-validating") as progress:
            result = cross_validate(data, candidate, plan, settings, ledger, progress=progress)
        if ledger.found:
            report(args, PROG, f"{ledger.found} results of an earlier run were taken over")
        if args.outbase is not None:
            write_held_out(args.outbase, result)
        _print(args, plan, candidate, result, data.names)  # before what is finished goes


def _print(args, plan, candidate, result, names):
    names = dict(enumerate(names or ()))
    scores = result.pooled(args.bins)
    if names:
        scores["names"] = [names.get(label, "") for label in result.labels]
    if args.plot is not None:
        from ..picture.scores import draw_scores
        draw_scores(args.plot, scores, names)
    sys.stdout.write(_text(args, plan, candidate, result, scores))
    sys.stdout.flush()


def _text(args, plan, candidate, result, scores):
    head = {"configuration": candidate.name, "decoder": result.decoder,
            "classifiers": result.classifiers, "plan": plan.words}
    if args.json:
        return json_text({**head, **scores, "over_splits": result.columns})
    from ..experiments.comparison_table import score_lines
    from ..prediction.evaluation import format_scores

    text = f"{one_line(head['configuration'])}, {head['decoder']}: {head['classifiers']} binary " \
           f"classifiers; {head['plan']}\n{score_lines(result.columns)}"
    return text if args.brief else f"{text}\nall held-out points together\n" \
                                   f"{format_scores(scores)}"


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)
