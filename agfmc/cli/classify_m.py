"""classify_m: classes and probabilities of points."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from ..control.tree import TREE_DECODERS
from ..core.errors import UsageError
from ..decode.methods import DEFAULT, METHODS
from ..files.kinds import ANSWER_FORMATS, ANSWERS_IN_HELP, is_answer_table, is_table
from .data_options import add_input_kind, input_format, NORMALISED_BY_MODEL
from .hints import refuse_scheme
from .option_types import (
    finite_number,
    list_of,
    names,
    output_base,
    output_file,
    probability,
    PROPORTIONS,
    proportions,
    whole_number,
)
from .options import (
    add_model_files,
    add_seed,
    add_workers,
    model_source,
    Parser,
    refuse_ending,
    workers,
)

_MODES = (
    "recursive",
    "path",
    "full",
    *(name for name, what in TREE_DECODERS.items() if what == "ensembles"),
)
_SCORES = ("lac", "aps")


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "classify_m",
        "Classify points with a trained configuration. Write "
        "classes (output.cls) and confidence ratings (output.con), and print class "
        "probabilities; or write a table of ids, classes and probabilities.",
    )
    parser.add(
        "model",
        "control file for classification, whose binary models are read, or one "
        "model file: .mbm, libAGF's ASCII model, or LIBSVM's",
        metavar="{control | model}",
    )
    parser.add(
        "test",
        "points to classify: a table (.csv, .tsv, .parquet, .feather, or text with a line of names), "
        "a .vec file, LIBSVM text, LVQ with -A (- is standard input, to its end)",
    )
    parser.add(
        "output",
        "a table of answers ("
        + "; ".join(f"{one.ending}: {one.help}" for one in ANSWER_FORMATS)
        + "; text with .gz too; - or left out: CSV on standard output); else "
        "the base name of output.cls (int32 classes) and output.con (float32 "
        "confidence ratings (k p - 1)/(k - 1)); with -O the text file that "
        "is written in their place",
        output_base,
        metavar="table | output",
        nargs="?",
        default="-",
    )
    _add_decoding(parser.group("decoding"))
    _add_guarantees(parser.group("answers with a guarantee"))
    _add_monitor(parser.group("new rows over time"))
    _add_queries(parser.group("decoders that evaluate some of the classifiers"))
    kinds = add_input_kind(parser, "test", roles=False)
    kinds.add("-C, --no-labels", "with -A: the lines have no labels")
    kinds.add(
        "--no-data VALUE",
        "value of a .vec file whose points have no data, as of pixels outside an image: their class "
        "is -1, as is that of points with NaN",
        finite_number,
    )
    group = parser.group("tables of answers")
    group.add(
        "--id COLUMN,...",
        "columns that identify the rows, by names or numbers from 1; the "
        "answers repeat them (default: those of training, else row numbers from 1)",
        names,
    )
    group.add(
        "--explain N",
        "the N columns of the data that contribute most to the answer over "
        "the next class, and their contributions, in columns behind each answer",
        whole_number(1),
        excludes="-O",
    )
    group.add(
        "--all-columns",
        "repeat all columns of the table in the answers; without --id, ids need not be unique",
    )
    group.add(
        "--flag",
        "say in a last column, flags, what in a row is unlike training, as mass: above; island: "
        "unknown",
    )
    group.add(
        "--strict",
        "refuse a table with a row that cannot be answered (default: the answer is empty, and the "
        "exit status is 1)",
        excludes="--stream",
    )
    group.add(
        "--format FORMAT",
        "format of answers on standard output (default: csv; of --stream for lines of JSON jsonl)",
        excludes="-O",
        choices=[one.ending[1:] for one in ANSWER_FORMATS if one.is_text],
    )
    group = parser.group("streams")
    group.add(
        "--stream",
        "answer each line of test as it comes: a table of text, whose heading "
        "comes first, JSON objects with the names of its columns, or LIBSVM text with -M. A "
        "wrong line has the answer error, and the exit status is 1 at the end",
        excludes=("-A", "-O", "-j", "--margins"),
    )
    group = parser.group("other programs")
    group.add(
        "-O, --predictor COMMAND",
        "program that reads the binary models, called `COMMAND "
        "points model output` like svm-predict -b 1; test is then LVQ text, unless -M or its "
        "name ends in .vec, and output a text file as svm-predict's",
        excludes=("--stop", "--top", "--count", "--margins", "--quantity"),
    )
    group.add(
        "-K, --keep",
        "keep the temporary files of other programs, in folders agfmc.*.tmp",
        needs="-O",
    )
    group.add(
        "--allow-commands",
        "run the commands that control names for classifiers of code G",
    )
    parser.hints = NORMALISED_BY_MODEL
    parser.file_names = {"model": "model", "test": "points"}
    return parser.finish()


def _add_decoding(group):
    group.add(
        "-Q, --method, --decoder DECODER",
        "the decoder of coding matrices, by number or name (default: the one "
        "that control or the model names, else 0):\n"
        + "\n".join(
            (f"{m.number} " if m.number is not None else "") + f"{m.name}: {m.summary}"
            for m in METHODS
        ),
    )
    group.add(
        "-0, --decision-values",
        "print the raw decision values of the binary models, in the "
        "order and with the signs of LIBSVM, instead of probabilities",
    )
    group.add(
        "--tree MODE",
        "trees and nested configurations: recursive (default, unless control "
        "or the model names a decoder) descends to one class; path prints its probability; "
        "full prints all probabilities. Ensembles: average (default), or geometric",
        choices=_MODES,
    )
    group.add(
        "--stop P",
        "for trees: descend while the most probable branch has probability P or "
        "more, and answer with the classes below the node, in output.sets. auto: descend so "
        "far that the sets have the --coverage",
        _stop,
    )
    group.add(
        "--top K",
        "print the K most probable classes of each point and their probabilities; "
        "those of a tree are not calibrated, unless --tree full is given",
        whole_number(1),
    )
    group.add(
        "--reject P", "reject points (class -1) whose winner has a probability below P", probability
    )
    group.add(
        "--priors P",
        "adjust the probabilities to these class proportions: "
        f"{PROPORTIONS}; or training, for those of the training data, if class weights "
        "changed them; for decoders that give all probabilities",
        _priors,
    )
    group.add(
        "--costs FILE",
        "answer with the class of the least expected cost; FILE has a row "
        "for each true class and a column for each answer, and optionally a last one, -, for "
        "rejection; for decoders that give all probabilities",
    )
    group.add(
        "--decisions",
        "with --costs: print the answer, its expected cost, and the most "
        "probable class, in place of the probabilities",
        needs="--costs",
        excludes=("-O", "--quantity", "--top", "--coverage", "--p-values"),
    )
    group.add(
        "--trained-priors P",
        "with --priors: the proportions in training, if the models do not record them",
        proportions,
        needs="--priors",
    )
    group.add(
        "-u, --unnormalised",
        "with -a: normalise the support vectors too, as they are read",
        needs="-a",
    )
    add_model_files(group, "applied to the points")
    group.add(
        "-c, --sigmoid CODE",
        "function g of r = g(a f + b) for a decision value f: 0 tanh, "
        "for which a and b are fitted, 1 error function, 2 logistic function, 3 arctangent; "
        "models without probabilities have a = 1, b = 0",
        whole_number(0, 3),
    )
    group.add("-Z, --libsvm", "the models are LIBSVM's (always the case)")
    add_workers(group)
    group.add("--header", "print a first line `labels 0 1 ...`, the labels of the columns")
    group.add(
        "--quantity",
        "print the expected value of a quantity whose intervals are the "
        "classes (float_to_class), in place of the probabilities",
        excludes=("--coverage", "--p-values", "--stop", "--top"),
    )
    group.add(
        "--quantiles Q,Q,...",
        "with --quantity: also print these quantiles, from 0 to 1",
        list_of(probability),
        needs="--quantity",
    )


def _stop(text):
    if text == "auto":
        return text
    return probability(text)


def _priors(text):
    if text == "training":
        return text
    return proportions(text)


def _add_guarantees(group):
    group.add(
        "--max-error E",
        "reject points (class -1) so that the share of wrong answers, "
        "among those that are given, is at most E",
        probability,
    )
    group.add(
        "--confidence C",
        "with --max-error: the probability that this holds (default 0.95)",
        probability,
        needs="--max-error",
    )
    group.add(
        "--coverage C",
        "print a prediction set for each point in place of the probabilities, and "
        "write the sets to output.sets; about a share C of the sets contain the true class, and "
        "at least that for rows like those of a calibration by calibrate_m",
        probability,
    )
    group.add(
        "--allow-empty",
        "with --coverage: sets may be empty, -, where no class is probable enough (default: the "
        "most probable class is in each set)",
        needs="--coverage",
    )
    group.add(
        "--p-values",
        "print conformal p values in place of the probabilities; the "
        "prediction set of coverage C has the classes with p values above 1 - C",
    )
    group.add(
        "--by-class",
        "with --coverage or --p-values: valid for each class, not only for "
        "all classes together; with --coverage rare classes share a limit, and p values of "
        "rare classes are never small",
    )
    group.add(
        "--set-score SCORE",
        "score of the classes: lac, one minus the probability, for the "
        "smallest sets (default), or aps, the sum of the probabilities down to that of the "
        "class, for sets that adapt to the difficulty of a point",
        choices=_SCORES,
    )


def _add_monitor(group):
    group.add(
        "--monitor FILE",
        "watch whether rows are still as the calibration points were: warn, once, where the "
        "monitor reaches 100, as it does by chance in one stream of a hundred at most; its state "
        "is read from FILE, if that exists, and written to it",
        output_file,
        excludes=("-O", "--priors", "--costs"),
    )


def _add_queries(group):
    group.add(
        "--opponents L",
        "with -Q poll: random opponents of each class, a number, or a "
        "multiple of log2 of the number of classes such as 3log (default)",
        default="3log",
    )
    group.add(
        "--finalists T",
        "with -Q poll: evaluate all classifiers of the T best classes",
        whole_number(1),
    )
    add_seed(group)
    group.add(
        "--pair-errors FILE",
        "with -Q radag: errors of the pairs, as multi_borders --cv-errors writes them",
    )
    group.add(
        "--count",
        "report the mean number of binary classifiers and kernel "
        "evaluations per point, and the weights and costs of the members of an ensemble",
    )
    group.add("--margins", "report the sum of 1/margin^2 over the binary classifiers")


@dataclass(frozen=True)
class _Request:
    """Points to be classified by a model, and how the answers to them are written.

    Attributes
    ----------
    model : its `ModelSource`
    form : `InputFormat` of the points
    named : the decoder that the model names takes the place of that of the `Decoding`
    tree : the requested way through trees, or None
    to_table : answers are a table, with `all_columns` beside all columns of the points, with `flag`
        beside what is unlike training
    strict : a row that cannot be answered is an error
    monitor : file with the state of a monitor of the answers, or None
    stream : each line of the points is answered as it comes
    format : that of a table on standard output, or None
    header, decisions, margins : these are printed
    explain : number of columns that explain an answer, or None
    quantiles : those of the quantity that is printed in place of probabilities, or None
    files : files of the parsed arguments, for `check_files`
    workers : result of `options.workers`
    """

    model: object
    points: str
    form: object
    decoding: object
    named: bool
    tree: str | None
    output: str
    to_table: bool
    all_columns: bool
    flag: bool
    strict: bool
    monitor: str | None
    stream: bool
    format: str | None
    header: bool
    decisions: bool
    margins: bool
    explain: int | None
    quantiles: list | None
    files: list
    workers: object

    @property
    def by_program(self):
        """True if another program classifies."""
        return self.decoding.predictor is not None


def execute(args):
    """Make a request of the options, and classify by it."""
    from ..executors.threads import available_cores
    from ..prediction.decoding import Decoding

    external = args.predictor is not None
    # libAGF's: another program gets LVQ text, unless the points are something else
    lvq = (
        external
        and not args.svm
        and not args.table
        and not args.test.endswith(".vec")
        and not is_table(args.test)
    )
    pool = workers(args.jobs)
    form = input_format(args, args.test, lvq or args.lvq, not args.no_labels, table=args.stream)
    form = replace(form, no_data=args.no_data)
    to_table = form.kind == "table" or (
        not external and (args.output == "-" or is_answer_table(args.output))
    )
    _check_together(args, form.kind, to_table)
    # the text that -O writes has room for the one probability
    mode = args.tree or _MODES[0]
    decoding = args.request(
        Decoding,
        method=args.method or DEFAULT.name,
        tree="path" if external and mode == "recursive" else mode,
        raw=args.decision_values,
        calibrated=not args.uncalibrated,
        without_floor=args.quantity,
        points=form.kind,
        workers=args.jobs or available_cores(),
        counting=args.count,
    )
    if external and decoding.prints_values:
        raise UsageError("-O writes classes and probabilities: it excludes -0 and -Q -1")
    named = (
        args.method is None and args.tree is None and not args.decision_values and args.stop is None
    )
    request = args.request(
        _Request,
        model=model_source(
            args,
            args.model,
            unnormalised=args.unnormalised,
            foreign=external,
            # a calibration may hold a learned decoder, that may do without its map
            uncalibrated=args.uncalibrated and decoding.decoder.takes != "learned",
            named_decoder=named,
        ),
        points=args.test,
        form=form,
        decoding=decoding,
        named=named,
        to_table=to_table,
        quantiles=(args.quantiles or ()) if args.quantity else None,
        workers=pool,
    )
    from .work.classify_m import run

    run(request)


def _check_together(args, kind, to_table):
    """`UsageError`, before anything is read, for operands and options that do not go together."""
    refuse_scheme(
        args.model, "DATA | multi_borders ... - DATA MODEL CONTROL makes one that is trained"
    )
    external = args.predictor is not None
    table = kind == "table"
    for wrong, message in (
        (table and external, "-O: other programs read points, not tables"),
        (
            table and args.output != "-" and not is_answer_table(args.output),
            f"the answers to a table are a table: expected a name that ends in {ANSWERS_IN_HELP}, "
            f"or - for standard output, found '{args.output}'",
        ),
        (args.all_columns and not table, "--all-columns is for tables"),
        (args.flag and not table, "--flag is for tables"),
        (args.strict and not table, "--strict is for tables"),
        (
            args.no_data is not None and kind != "binary",
            "--no-data is for .vec files: in tables --blanks of training says what is missing",
        ),
        (
            args.explain and not to_table,
            "--explain writes columns of a table of answers: "
            f"expected a name that ends in {ANSWERS_IN_HELP}, or - for standard output",
        ),
        (args.header and to_table, "--header: a table of answers has one"),
        (
            (args.stream or args.format) and args.output != "-",
            f"{'--stream' if args.stream else '--format'}: the answers go to standard output, not "
            f"to '{args.output}'",
        ),
        (args.stream and kind not in ("table", "svm"), "--stream: expected a table or -M"),
        (
            not os.path.basename(args.output),
            f"expected a base name for the output files, found '{args.output}'",
        ),
        (
            not external
            and args.output.endswith(".vec")
            and os.path.isfile(args.output)
            and args.test != "-"
            and not os.path.exists(args.test),
            f"there is no file {args.test}, but {args.output} exists: expected the points to "
            "classify, then the base name of the outputs",
        ),
        (args.no_labels and kind != "lvq", "-C needs -A"),
        (
            args.decisions and to_table,
            "--decisions: a table of answers has these columns with --costs",
        ),
    ):
        if wrong:
            raise UsageError(message)
    if not (to_table or external):
        refuse_ending(args.output, (".cls", ".con"))
