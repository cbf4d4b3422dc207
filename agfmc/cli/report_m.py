"""report_m: one page of a model, its answers, a comparison and a search."""

import argparse
import os
import sys

from ..core.errors import DataError, UsageError
from ..files.kinds import ANSWERS_IN_HELP, is_answer_table
from .data_options import add_table, weight_files
from .file_names import file_named
from .option_types import names, output_file, whole_number
from .options import add_calibration, Parser
from .pages import add_page_words, Page, page_name
from .scoring import add_classes, add_scores, check_kind, read_results


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "report_m",
        "Write one page, a file of HTML that needs no other: of a model, of its answers with their "
        "scores, of a comparison, of a search, or of all of them.")
    parser.add("model", "a model file, a control file whose models are read, or a training control "
               "file", nargs="?")
    group = parser.group("input")
    group.add("--answers ANSWERS", "the answers: the base name of the files of nfold (held for "
              "held.cls, held.truth, held.txt) or of classify_m (answer.cls), or a table of "
              f"answers ({ANSWERS_IN_HELP}; with --table any file)")
    group.add("--probabilities FILE", "what classify_m printed (default, without --truth: "
              "ANSWERS.txt, if it is there)")
    group.add("--comparison FILE", "what compare_control --json printed")
    group.add("--search FILE", "what tune_m --json FILE wrote")
    group.add("-y, --path FOLDER", "folder of the models that a control file names")
    add_calibration(group)
    add_scores(parser)
    group = add_table(parser, "the answers", roles=False)
    group.add("--truth TRUTH", "the true classes: a file of labels (.cls, or LIBSVM text; default "
              "ANSWERS.truth), or, for a table, the column in the table of the answers or of "
              "--data (default: as in training, or as for eval_uc)")
    group.add("--data TABLE", "the table of the true classes, if it is not that of the answers")
    group.add("--id COLUMN,...", "columns that name the points, by which, with --data, the rows of "
              "both tables are joined (default: those before the answers, or that both tables "
              "have)", names)
    group.add("--predicted COLUMN", "the column of the answers (default class)")
    group.add("--weight COLUMN", "the column of the weights of the rows, in the table that has the "
              "true classes")
    add_classes(parser)
    group = parser.group("output")
    group.add("-o, --output FILE", "the page (.html; default -: standard output)", output_file,
              default="-")
    group.add("-q, --bins BINS", "bins of the calibration table (default 10)",
              whole_number(1, 100_000), default=10)
    add_page_words(group)
    parser.need("--answers", "--probabilities", "--truth", "--data", "--id", "--predicted",
                "--weight", "--before", "--sets", "--costs", "--names", "--labels", "--priors",
                "--weights", "--class-weight", "--top", "--ordered", "--by-class", "--intervals",
                "--table", "--delimiter", "--no-quotes", "--blanks", "-k")
    parser.need("model", "-y", "--calibration", "--uncalibrated")
    parser.needs_words = True
    parser.file_names = {"model": "model", "answers": "answers", "control": "model",
                         "probabilities": "printed", "before": "printed", "sets": "sets"}
    return parser.finish()


def execute(args):
    """Read everything, then write the page."""
    from ..report.content import ReportContent

    _check(args)
    table = args.answers is not None and (args.table or is_answer_table(args.answers))
    found = None if args.answers is None else _operands(args, table)
    page = Page(args, _inputs(args, found), args.output)
    model = None if args.model is None else _model(args)
    comparison, search = _json_results(args)
    answers, called = (None, {}) if found is None else _answers(args, found, table, model)
    title = page.title(_title(args))
    tree = None if model is None else model.tree
    content = ReportContent(
        title, called if tree is None else {**tree.names, **called},
        None if model is None or model.info is None else _data(model), model, answers, comparison,
        search, page.card, page.provenance(info=None if model is None else model.info),
        [page.step("writes this page")])
    page.write(content)


def _check(args):
    parts = (args.model, args.answers, args.comparison, args.search)
    if all(part is None for part in parts):
        raise UsageError("there is nothing to show: expected a model, --answers, --comparison or "
                         "--search (try report_m --help)")
    if args.multiqc is not None and all(part is None for part in parts[1:]):
        raise UsageError("--multiqc shows scores: expected --answers, --search or --comparison")
    if args.model == "-":
        raise UsageError("the model is read twice: expected the name of a file")
    if args.output == "-" and sys.stdout.isatty():
        raise UsageError("the page is a file for a browser, and standard output is a terminal: -o "
                         "FILE.html names the file")


def _operands(args, table):
    """The options as those of eval_uc, with the operands of its files."""
    found = argparse.Namespace(**vars(args))
    found.column = found.result = None
    check_kind(args, table, [("--probabilities", args.probabilities)])
    if table:
        found.truth, found.column = args.answers, args.truth
        found.id = args.id if args.data is not None else None
        return found
    base = args.answers
    found.result, found.truth = base, args.truth and file_named(args.truth, "truth")
    if args.truth is None:
        found.truth = f"{base}.truth"
        if not os.path.exists(found.truth):
            there = "" if os.path.exists(f"{base}.cls") else f"; nor is {base}.cls, the answers"
            raise UsageError("--truth is missing: the file of the true classes; nfold writes "
                             f"{found.truth}, which is not there{there}")
        found.probabilities = args.probabilities or _if_there(f"{base}.txt")
        found.before = args.before or found.probabilities and _if_there(f"{base}.raw.txt")
    return found


def _if_there(path):
    return path if os.path.exists(path) else None


def _inputs(args, found):
    """The files that are read."""
    files = [args.model, args.comparison, args.search, args.calibration]
    if found is not None:
        files += [found.truth, found.probabilities, found.before, found.data, args.costs,
                  args.sets, args.control, *weight_files(args)]
        if found.result is not None:
            files += [f"{found.result}.cls", f"{found.result}.con"]
            files += [os.path.splitext(found.truth)[0] + end for end in (".names", ".wgt")]
        if args.names is not None:
            files.append(args.names)
    return files


def _model(args):
    """The `ModelPart` of the operand."""
    from ..models.files import load, read_tree
    from ..models.description import describe
    from ..report.content import ModelPart

    tree = read_tree(args.model)
    trained = all(row.is_name for row in tree.rows) and \
        all(direct.name is not None for direct in tree.directs.values())
    name = os.path.basename(args.model)
    if not trained:
        for option, given in (("-y", args.path), ("--calibration", args.calibration),
                              ("--uncalibrated", args.uncalibrated)):
            if given:
                raise UsageError(f"{option} is for a trained model: {args.model} is a training "
                                 "control file")
        return ModelPart(tree, name)
    configuration = load(args.model, models_in=args.path, calibration=args.calibration,
                         uncalibrated=args.uncalibrated)
    return ModelPart(configuration.tree, name, describe(configuration))


def _data(model):
    from .gather import data_of_model

    return data_of_model(model.info)


def _json_results(args):
    from ..report.result_json import read_comparison, read_search
    from ..score.rows import COST, SCORES

    return (None if args.comparison is None else
            read_comparison(args.comparison, SCORES, [COST.name]),
            None if args.search is None else read_search(args.search, SCORES, [COST.name]))


def _answers(args, found, table, model):
    """(`AnswersPart`, {label: name})."""
    from ..score.evaluation import ScoreRequest, warn_of_other_numbers
    from .gather import answers_part, report_score_request, relabelled

    tree = None if model is None else model.tree
    arrange = None if tree is None or not table else \
        lambda results, called: relabelled(results, [called[at] for at in sorted(called)], tree)
    if tree is not None and sorted(tree.names) == list(range(len(tree.names))):
        found.class_names = tuple(tree.names[label] for label in sorted(tree.names)) or None
    if tree is not None and model.info and model.info["recipe"]:
        found.label = model.info["recipe"]["label"]
    results, names_of = read_results(found, table, arrange)
    if tree is not None:
        strange = sorted(set(map(int, results.labels)) - set(tree.classes))
        if len(strange) == len(results.labels):
            raise DataError("has none of the classes of the answers: it is another model than "
                            "theirs", file=args.model)
        given = sorted(set(strange) & set(results.result.tolist()))
        if given:
            raise DataError(f"does not have the class {names_of().get(given[0], given[0])}, which "
                            "is among the answers: it is another model than theirs",
                            file=args.model)
    asked = report_score_request(results, ScoreRequest(args.top, args.ordered, True, 0, args.seed),
                     args.intervals or None)
    part = answers_part(results, _origin(args), asked=asked, bins=args.bins, tree=tree,
                        ids=_ids(args) if table else None)
    warn_of_other_numbers(part.scores)
    return part, names_of()


def _origin(args):
    truth = "" if args.truth is None else f", true classes in {args.truth}" if args.data is None \
        else f", true classes in column {args.truth} of {args.data}"
    return f"{args.answers}{truth}"


def _ids(args):
    """A function that gives ids of rows of the table of answers, or None."""
    from ..answers.columns import answer_ids
    from ..files.opening import is_stream
    from .data_options import table_layout

    if is_stream(args.answers):
        return None
    return lambda rows: answer_ids(args.answers, table_layout(args), args.predicted or "class",
                                   rows, args.id or ())


def _title(args):
    for path in (args.model, args.answers, args.comparison, args.search):
        if path is not None:
            return "standard input" if path == "-" else page_name(path)
