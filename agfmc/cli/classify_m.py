"""classify_m: classes and probabilities of points."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress

from ..errors import AgfmcWarning, DataError, UsageError, and_more
from .classify_m_options import PROG, get_parser
from .executing import check_executor, executor
from .hints import refuse_scheme
from .messages import report
from .options import data_files, input_kind, refuse_ending, refuse_inputs
from .run import run_command

__all__ = ["get_parser", "main"]


def execute(args):
    """Load the model, then stream points in and answers out."""
    from ..flow.answers import write_answers, write_predictions
    from ..workers.executors import available_cores
    from ..flow.opening import open_classifier
    from ..formats.controlfile import model_files
    from ..formats.dataset import iter_points
    from ..formats.vectors import read_std
    from ..kernel.machine import KernelCounter

    if args.predictor is not None and not args.svm and not args.test.endswith(".vec"):
        args.lvq = True  # libAGF's
    kind = input_kind(args)
    _check_names(args, kind)
    workers = args.jobs or available_cores()
    classifier = open_classifier(
        args.model, kind, method=args.method, tree=args.tree, raw=args.decision_values,
        reject=args.reject, unnormalised=args.unnormalised, models_in=args.path,
        normalisation=None if args.norm_file is None else read_std(args.norm_file),
        sigmoid=args.sigmoid, predictor=args.predictor, keep=args.keep, workers=workers,
        allow_commands=args.allow_commands, counting=args.count, pair_errors=args.pair_errors,
        opponents=args.opponents, seed=args.seed, top=args.top or 0, priors=args.priors,
        trained_priors=args.trained_priors)
    outputs = [args.output] if args.predictor is not None else [f"{args.output}.cls",
                                                                f"{args.output}.con"]
    base = args.test[:-4] if kind == "binary" and args.test.endswith(".vec") else None
    refuse_inputs(outputs, [
        args.model, args.norm_file, args.pair_errors, args.test, *data_files(base),
        *(given for given in (args.priors, args.trained_priors) if isinstance(given, str)),
        *model_files(classifier.tree, args.path, outputs)])
    if base is not None:
        _compare_names(args.model, classifier.tree, f"{base}.names")
    if kind == "svm" and args.missing != 0 and classifier.features is None:
        raise UsageError("-E needs a model that tells its number of features, and the files of "
                         f"{args.model} do not: what a line leaves out can only be 0")
    chunks = iter_points(args.test, kind, classifier.rows, d=classifier.features,
                         missing=args.missing, header=not args.no_header,
                         labels=not args.no_labels,
                         sparse=getattr(classifier.values, "takes_sparse", False))
    if args.predictor is not None:
        done = write_predictions(classifier, chunks, args.output, _show)
    else:
        with executor(args) as pool:
            done = write_answers(classifier, chunks, workers, args.output, _show, args.header,
                                 KernelCounter(classifier.values.model) if args.count else None,
                                 pool)
    if done.stops.warning():
        warnings.warn(done.stops.warning(), AgfmcWarning, stacklevel=2)
    _report(args, classifier, done)


def _compare_names(model, tree, path):
    """A warning where the names beside the points say that their labels mean other classes."""
    if not tree.names or not os.path.isfile(path):
        return
    from ..formats.names import read_names

    there = {}
    with suppress(DataError):  # the points are classified without it
        there = dict(enumerate(read_names(path)))
    other = [label for label, name in sorted(tree.names.items())
             if there.get(label, name) != name]
    if other:
        label = other[0]
        warnings.warn(f"{path}: class {label} is '{there[label]}', in {model} "
                      f"'{tree.names[label]}'{and_more(other)}: the labels of these points mean "
                      "other classes than the answers do (--names of svm2agf and lvq2agf numbers "
                      "words as in training)",
                      AgfmcWarning, stacklevel=3)


def _report(args, classifier, done):
    """What was asked for on standard error."""
    from ..kernel.machine import KernelCounter, squared_norms

    if args.reject is not None or classifier.method.name == "and":
        report(args, PROG, f"{done.rejected} of {done.points} points rejected")
    if args.count and done.points:
        model = classifier.values.model
        report(args, PROG, f"{done.asked / done.points:.2f} of {len(model.rho)} binary classifiers "
               f"and {done.kernels / done.points:.2f} of {KernelCounter(model).total} kernel "
               "evaluations per point")
    if args.margins:
        norms = squared_norms(classifier.values.model)
        report(args, PROG, f"sum of 1/margin^2 over {len(norms)} binary classifiers: "
                           f"{norms.sum():.6g}")


def _show(text):
    """Write to standard output; a reader that left ends the run here, before files appear."""
    sys.stdout.buffer.write(text)
    if not text:
        sys.stdout.flush()


def _check_names(args, kind):
    """Refuse, before anything is read, operands and options that cannot go together."""
    check_executor(args)
    refuse_scheme(args.model, "DATA | multi_borders ... - DATA MODEL CONTROL makes one that is "
                              "trained")
    if not os.path.basename(args.output) or args.output == "-" and args.predictor is None:
        raise UsageError(f"expected a base name for the output files, found '{args.output}'")
    if args.predictor is None:
        if args.output.endswith(".vec") and os.path.isfile(args.output) \
                and args.test != "-" and not os.path.exists(args.test):
            raise UsageError(f"there is no {args.test}, and {args.output} is there: expected the "
                             "points to classify, and after them the base name of the outputs")
        refuse_ending(args.output, (".cls", ".con"))
    for source in (f"{args.output}.vec", args.output):
        if args.test != "-" and os.path.realpath(source) == os.path.realpath(args.test):
            raise UsageError(f"output would take the place of {args.output}.cls, the labels of "
                             f"{args.test}: choose another name")
    if args.trained_priors is not None and args.priors is None:
        raise UsageError("--trained-priors goes with --priors")
    if args.no_labels and kind != "lvq":
        raise UsageError("-C goes with -A")
    if args.model == "-" and args.test == "-":
        raise UsageError("control and test cannot both be standard input")
    if args.unnormalised and args.norm_file is None:
        raise UsageError("-u goes with -a")
    for given, option, method in ((args.top is not None, "--top", "poll"),
                                  (args.pair_errors is not None, "--pair-errors", "radag")):
        if given and args.method != method:
            raise UsageError(f"{option} goes with -Q {method}")
    if args.predictor is not None and (args.count or args.margins):
        raise UsageError("--count and --margins are for support vector machines: they do not go "
                         "with -O")
    if args.executor is not None and (args.predictor is not None or args.allow_commands):
        raise UsageError("--executor does not go with other programs: -O, --allow-commands")
    if args.keep and args.predictor is None and not args.allow_commands:
        raise UsageError("-K goes with -O or --allow-commands")


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)
