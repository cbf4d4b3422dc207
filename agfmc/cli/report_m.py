"""report_m: one page of a model, its answers, a comparison and a search."""

import os
import sys
from dataclasses import replace

from ..core.errors import DataError, UsageError
from ..files.kinds import ANSWERS_IN_HELP, is_answer_table, is_table, name_of_file
from ..files.opening import is_stream
from ..score.rows import COST, SCORES
from .data_options import add_table, weight_files
from .file_names import file_named
from .option_types import given, output_file
from .options import add_bins, add_model_files, is_trained, model_source, Parser
from .pages import page_of
from .scoring import (
    add_classes,
    add_scores,
    add_true_classes,
    answers_request,
    check_kind,
    read_results,
    score_request,
)


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "report_m",
        "Write a report, one HTML file: of a model, of its answers with "
        "their scores, of a comparison, of a search, or of all of them.",
    )
    parser.add(
        "model",
        "a model file, a control file whose models are read, or a training control file",
        nargs="?",
    )
    group = parser.group("input")
    group.add(
        "--answers ANSWERS",
        "base name of the files of nfold (held for held.cls, "
        "held.truth, held.txt) or of classify_m (answer.cls), or a table of answers "
        f"({ANSWERS_IN_HELP}; with --table any file)",
    )
    group.add(
        "--probabilities FILE",
        "standard output of classify_m (default, without --truth: ANSWERS.txt, if it exists)",
    )
    group.add(
        "--importance DATA",
        "holdout data with labels: a table with the columns of the "
        "training data, LIBSVM text, or the base name of .vec and .cls files. The page then "
        "shows which columns matter to the model, and their effects",
    )
    group.add("--comparison FILE", "output of compare_control --json")
    group.add("--search FILE", "file of tune_m --json")
    add_model_files(group)
    add_scores(parser)
    group = add_table(parser, "ANSWERS", roles=False)
    group.add(
        "--truth TRUTH",
        "true classes: a file of labels (.cls, or LIBSVM text; default "
        "ANSWERS.truth), or, for a table, the column in the table of the answers or of "
        "--data (default: as in training, or as for eval_uc)",
    )
    add_true_classes(group)
    add_classes(parser)
    group = parser.group("output")
    group.add(
        "-o, --output FILE",
        "the report (.html; default -: standard output)",
        output_file,
        default="-",
    )
    add_bins(group)
    parser.need(
        "--answers",
        "--probabilities",
        "--truth",
        "--data",
        "--id",
        "--predicted",
        "--weight",
        "--before",
        "--sets",
        "--costs",
        "--names",
        "--labels",
        "--priors",
        "--class-weight",
        "--top",
        "--ordered",
        "--by-class",
        "--intervals",
        "--table",
        "--delimiter",
        "--decimal",
        "--no-quotes",
        "--blanks",
        "-k",
    )
    parser.need("model", "-y", "--calibration", "--uncalibrated", "--importance")
    parser.needs_words = True
    parser.file_names = {
        "model": "model",
        "answers": "answers",
        "control": "model",
        "probabilities": "printed",
        "before": "printed",
        "sets": "sets",
    }
    return parser.finish()


def execute(args):
    """Read everything, then write the page."""
    from ..report.content import ReportContent
    from ..report.result_json import read_comparison, read_search
    from .gather import data_of_model

    _check(args)
    answers = None if args.answers is None else _answers_request(args)
    page = page_of(args, _inputs(args, answers), args.output)
    scores = score_request(args, resamples=args.intervals or None)
    trained = given(args, "-y", "--calibration", "--uncalibrated", "--importance")
    model, importance = (
        (None, None)
        if args.model is None
        else _model(model_source(args, args.model), trained, args.importance)
    )
    comparison = (
        None if args.comparison is None else read_comparison(args.comparison, SCORES, [COST.name])
    )
    search = None if args.search is None else read_search(args.search, SCORES, [COST.name])
    part, names = (
        (None, {})
        if answers is None
        else _answers(answers, scores, args.bins, _origin(args), model, args.model)
    )
    first = next(
        path
        for path in (args.model, args.answers, args.comparison, args.search)
        if path is not None
    )
    info = None if model is None else model.info
    page.write(
        ReportContent(
            "standard input" if first == "-" else name_of_file(first),
            names if model is None else {**model.tree.names, **names},
            None if info is None else data_of_model(info),
            model,
            part,
            comparison,
            search,
            page.provenance(info=info),
            [page.step("writes this page")],
            importance,
        )
    )


def _check(args):
    parts = (args.model, args.answers, args.comparison, args.search)
    if all(part is None for part in parts):
        raise UsageError(
            "there is nothing to show: expected a model, --answers, --comparison or "
            "--search (try report_m --help)"
        )
    if args.model == "-":
        raise UsageError("the model is read twice: expected the name of a file")
    if args.output == "-" and sys.stdout.isatty():
        raise UsageError(
            "the page is a file for a browser, and standard output is a terminal: -o "
            "FILE.html names the file"
        )


def _answers_request(args):
    base, table = args.answers, args.table or is_answer_table(args.answers)
    check_kind(args, table, "--probabilities")
    if table:
        request = answers_request(args, base, column=args.truth)
        ids = args.id if args.data is not None else None
        return request._replace(source=replace(request.source, ids=ids or ()))
    if args.truth is not None:
        return answers_request(args, file_named(args.truth, "truth"), base, args.probabilities)
    truth, there = f"{base}.truth", lambda path: path if os.path.exists(path) else None
    if not there(truth):
        neither = "" if there(f"{base}.cls") else f"; nor is {base}.cls, the answers"
        raise UsageError(
            "--truth is missing: the file of the true classes; nfold writes "
            f"{truth}, which is not there{neither}"
        )
    probabilities = args.probabilities or there(f"{base}.txt")
    return answers_request(
        args,
        truth,
        base,
        probabilities,
        before=(args.before or probabilities and there(f"{base}.raw.txt")),
    )


def _inputs(args, answers):
    files = [args.model, args.comparison, args.search, args.calibration, args.importance]
    if answers is not None:
        files += [
            answers.truth,
            answers.probabilities,
            answers.before,
            args.data,
            args.costs,
            args.sets,
            args.control,
            *weight_files(args),
        ]
        if answers.result is not None:
            files += [f"{answers.result}.cls", f"{answers.result}.con"]
            files += [
                os.path.splitext(answers.truth)[0] + end for end in (".names", ".wgt", ".grp")
            ]
        files.append(args.names)
    return files


def _model(source, options, holdout):
    """The `ModelPart` of a `ModelSource`, and what matters to it on the holdout data of that name,
    or None. `options` are the given ones that a trained model alone has."""
    from ..data.training import read_points
    from ..data.types import InputFormat
    from ..models.description import describe
    from ..models.files import load_configuration, read_tree
    from ..prediction.importance import EFFECTS, importance as column_importance
    from ..report.content import ModelPart

    tree, name = read_tree(source.path), os.path.basename(source.path)
    if not is_trained(tree):
        for option in options:
            raise UsageError(
                f"{option} is for a trained model: {source.path} is a training control file"
            )
        return ModelPart(tree, name), None
    configuration, importance = load_configuration(source), None
    if holdout is not None:
        form = InputFormat(
            "table" if is_table(holdout) else "svm" if os.path.isfile(holdout) else "binary"
        )
        importance = column_importance(
            configuration, read_points(holdout, form, configuration.recipe), effects=EFFECTS
        )
    return ModelPart(configuration.tree, name, describe(configuration)), importance


def _answers(answers, requested, bins, origin, model, path):
    """The `AnswersPart` of an `AnswersRequest` with the scores of a `ScoreRequest`, and {label:
    name}. `origin` says in words where they come from, `model` is the `ModelPart` of a file, or
    None."""
    from ..score.evaluation import warn_of_other_numbers
    from .gather import answers_part, relabelled, report_score_request

    tree, arrange = None if model is None else model.tree, None
    if tree is not None and answers.of_table:
        arrange = lambda results, names: relabelled(
            results, [names[at] for at in sorted(names)], tree
        )
        if model.info and model.info["recipe"]:
            answers = answers._replace(
                source=replace(answers.source, label=model.info["recipe"]["label"])
            )
    elif tree is not None and sorted(tree.names) == list(range(len(tree.names))):
        answers = answers._replace(
            class_names=tuple(tree.names[label] for label in sorted(tree.names)) or None
        )
    results, names_of = read_results(answers, requested, arrange)
    if tree is not None:
        _check_classes(path, tree, results, names_of)
    scores = report_score_request(results, requested, requested.resamples)
    part = answers_part(
        results, origin, scores=scores, bins=bins, tree=tree, ids=_ids(answers.source)
    )
    warn_of_other_numbers(part.scores)
    return part, names_of()


def _check_classes(path, tree, results, names_of):
    strange = set(map(int, results.labels)) - set(tree.classes)
    if len(strange) == len(results.labels):
        raise DataError(
            "has none of the classes of the answers: it is another model than theirs", file=path
        )
    answered = sorted(strange & set(results.result.tolist()))
    if answered:
        raise DataError(
            f"does not have the class {names_of().get(answered[0], answered[0])}, "
            "which is among the answers: it is another model than theirs",
            file=path,
        )


def _origin(args):
    truth = (
        ""
        if args.truth is None
        else f", true classes in {args.truth}"
        if args.data is None
        else f", true classes in column {args.truth} of {args.data}"
    )
    return f"{args.answers}{truth}"


def _ids(source):
    from ..answers.columns import answer_ids

    if source is None or is_stream(source.path):
        return None
    return lambda rows: answer_ids(source.path, source.layout, source.predicted, rows, source.ids)
