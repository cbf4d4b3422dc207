"""The options of scores, and the results that they are of: those of eval_uc and report_m."""

import argparse
import functools
import os
from dataclasses import replace

from ..core.errors import UsageError
from .data_options import add_weights, table_layout, weight_source
from .option_types import PROPORTIONS, proportions, whole_number
from .options import add_seed


def add_scores(parser):
    """The options of what is scored, and how."""
    group = parser.group("scores")
    group.add("--top K", "the share of the points whose true class is among the K most probable "
              "ones", whole_number(1))
    group.add("--ordered", "scores for classes that have an order, that of their labels: mean "
              "class error, share within one class, ranked probability score")
    group.add("--by-class", "calibration of the probability of each class")
    group.add("--intervals [N]", "intervals of 95 %% of all scores, from N bootstrap resamples "
              "(default 1000); shares have theirs without it", whole_number(10, 1_000_000),
              const=1000, default=0)
    add_seed(group)
    group.add("--costs FILE", "what it costs to answer one class where another is true, as for "
              "classify_m: mean cost with its interval, beside that of the best single answer to "
              "all points; rejected points cost what the column - says")
    group.add("--sets FILE", "sets of classes, as classify_m --coverage and --stop write them: "
              "coverage and sizes")
    group.add("--control FILE", "with sets: a control file, or a model, of whose tree the sets are "
              "nodes, as those of classify_m --stop: hierarchical precision and recall")
    group.add("--before FILE", "probabilities before calibration, as classify_m --uncalibrated "
              "prints them: both side by side")


def add_classes(parser):
    """The options of the classes and weights of the points."""
    group = parser.group("classes")
    group.add("-k, --classes K", "number of classes, which confidence ratings depend on; it is "
              "never inferred from the labels", whole_number(2))
    group.add("--labels L,L,...", "labels of the columns of probabilities, ascending", _labels)
    group.add("--names FILE", "names of the classes, line i for label i (default: the .names file "
              "beside truth, .cls or .truth, if there is one); of a table their order (default: "
              "that of the columns of probabilities)")
    group.add("--priors P", "proportions of the true classes where the classifier will be used, "
              f"for which all scores are then estimated: {PROPORTIONS}", proportions,
              excludes="--class-weight")
    add_weights(group)


def _labels(text):
    from ..core.text import numeral

    try:
        return [numeral(word, whole=True) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError("expected whole numbers with commas, found "
                                         f"'{text}'") from None


def check_kind(args, of_table, more=()):
    """`UsageError` for options of the other kind of answers; more: (option, value) of files."""
    files = [("-k", args.classes), ("--labels", args.labels), ("--sets", args.sets),
             ("--weights", args.weights), *more]
    tables = [("--data", args.data), ("--id", args.id), ("--predicted", args.predicted),
              ("--weight", args.weight), ("--delimiter", args.delimiter),
              ("--no-quotes", args.no_quotes), ("--blanks", args.blanks)]
    if args.control is not None and args.sets is None and not of_table:
        raise UsageError("--control needs --sets")
    for option, given in files if of_table else tables:
        if given not in (None, False):
            raise UsageError(f"{option} is for a table of answers, with --truth COLUMN"
                             if not of_table else
                             f"{option} is for files of numbers: a table of answers holds all, "
                             "--weight names the column of the weights, and --data the table of "
                             "the true classes")


def read_results(args, of_table, arrange=None):
    """The `Results` of all files, and a function that gives the {label: name}.

    args: the options above, and the operands of eval_uc;  of_table: the answers are a table, with
    class names;  arrange(results, names): both with other labels, before costs and weights.
    """
    from ..data.cost_file import read_costs
    from ..models.files import read_tree
    from ..score.evaluation import weighted, with_weights
    from ..data.weights import proportions
    from ..answers.results import with_weights_of

    tree = None if args.control is None else read_tree(args.control)
    read = [args.truth, args.probabilities, args.data, args.before, args.costs]
    source = weight_source(args, "-" if "-" in read else None)
    results, names_of = (_of_table if of_table else _of_files)(args, tree)
    if arrange is not None:
        results, found = arrange(results, names_of())
        names_of = lambda: found
    names_of = functools.cache(names_of)  # which warns
    for option, given in (("--top", args.top), ("--by-class", args.by_class)):
        if given and results.p is None:
            raise UsageError(f"{option} needs probabilities of all classes: " + (
                "columns p:CLASS" if of_table else "give the file that classify_m printed"))
    if not of_table:
        results = with_weights_of(results, args.truth, source,
                                  {} if source.classes is None else names_of())
    elif results.weights is not None or source.classes is not None:
        results = with_weights(results, results.weights, source.classes, names_of())
    if args.costs is not None:
        results = replace(results, costs=read_costs(args.costs, results.labels.tolist(),
                                                    names_of()))
    if args.priors is None:
        return results, names_of
    shares = proportions(args.priors, results.labels, names=names_of())
    return weighted(results, shares), names_of


def _of_table(args, tree):
    from ..data.class_names import read_names
    from ..answers.result_tables import AnswerSource, load_answers

    results, names_found = load_answers(AnswerSource(
        args.truth, args.column, args.data, args.id or (), args.predicted or "class", args.before,
        table_layout(args), () if args.names is None else read_names(args.names), args.weight,
        getattr(args, "label", None)), tree)
    return results, lambda: dict(enumerate(names_found))


def _of_files(args, tree):
    from ..answers.results import load_results, names_beside, with_probabilities_before, with_sets

    names = args.names or getattr(args, "class_names", None)  # of the model
    if names is None and os.path.isfile(f"{args.result}.names"):
        names = f"{args.result}.names"
    results = load_results(args.truth, args.result, args.probabilities, args.classes, args.labels,
                           names)
    if args.before is not None:
        results = with_probabilities_before(results, args.before)
    if args.sets is not None:
        results = with_sets(results, args.sets, tree)
    return results, lambda: names_beside(args.truth, results.labels, args.names)
