"""multi_borders: train every classifier of a control file."""

import os
import shlex
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from ..core.errors import AgfmcError, JobsFailed, UsageError
from ..files.atomic import replacing_with
from ..files.kinds import is_table
from ..files.opening import is_stream
from ..training.request import PointsRequest
from .data_options import (
    add_normalisation,
    add_train,
    add_training_kind,
    input_format,
    points_request,
    TABLES,
    weight_files,
)
from .file_names import names_scheme
from .hints import operand
from .messages import counted, Progress, report, write_message, write_stdout
from .option_types import names, option_word, output_base, output_file
from .options import (
    add_platt,
    add_seed,
    add_time_limit,
    add_workers,
    check_files,
    deadline_of,
    Parser,
    refuse_name,
    workers,
)

# options that the commands of -0 have too
_PASSED_ON = (
    *TABLES,
    "--weight",
    "--class-weight",
    "--group",
    "--min-class",
    "--norm-file",
    "-u",
    "--platt",
    "--cv-errors",
    "--cv-irrelevant",
    "--retrain",
    "--uncalibrated",
    "--member-weights",
    "--time-limit",
    "--path",
    "--command",
    "--convert",
    "--allow-commands",
    "-K",
    "--quiet",
    "--log",
)


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "multi_borders",
        "Train the binary classifiers that a control file describes, "
        "support vector machines by default. Write a LIBSVM model file for each, "
        "and the control file for classification.",
    )
    parser.dashes = "--command"
    parser.add(
        "control",
        "training control file, as print_control writes it (- or left out: "
        "standard input), or the name of a scheme",
        nargs="?",
    )
    add_train(parser)
    parser.add(
        "model",
        "base name of the model files: model-00 for rows of a coding matrix, "
        "model.00 for branches of a tree",
        output_base,
    )
    parser.add(
        "control_out",
        "control file for classification, written last (- is standard output)",
        output_base,
        metavar="control-out",
    )
    group = parser.group("training")
    group.add(
        "-+, --options OPTIONS",
        'training options for each "" of the control file, in '
        "place of those in its head: LIBSVM's -s -t -d -g -r -c -n -m -e -h, and -w0 -w1 "
        "for the left and right side (-b and -q have no effect); or learner=NAME and the "
        "options of that learner: linear, logistic, trees, or nystrom, which trains all "
        "classifiers in one pass over the data",
    )
    add_seed(group)
    add_workers(group)
    group.add(
        "-0, --dry-run",
        "train nothing: print shell commands that train the classifiers, in "
        "any order or in parallel; then the same command without -0 adds the calibration",
        excludes="--only",
    )
    group.add("--null", "with -0: end each command with a NUL character, for xargs -0", needs="-0")
    group.add(
        "--only NAME",
        "train only the model of this name, and do not write control-out; "
        "control may be the control file that -0 wrote",
    )
    group.add("--retrain", "train everything, also models that an earlier run has finished")
    add_time_limit(group, "store finished models", excludes="--cv-errors")
    add_platt(group)
    group.add(
        "--cv-errors FILE",
        "for one-vs-one: write the holdout errors of each pair of "
        "classes, for order_classes and classify_m",
        output_file,
    )
    group.add(
        "--cv-irrelevant",
        "with --cv-errors: also write how each classifier assigns the "
        "samples of all other classes, which takes longer",
        needs="--cv-errors",
    )
    group.add("-y, --path FOLDER", "folder of the model files, not named in control-out")
    group.add("--uncalibrated", "fit no calibration of the probabilities (CONTROL-OUT.cal)")
    group.add(
        "--decoder NAME,...",
        "calibrate the probabilities of these decoders too, beside those of the decoder that "
        "control names, or of the default one",
        names,
        default=(),
        excludes=("--uncalibrated", "--only", "--command"),
    )
    group.add(
        "--member-weights WAY",
        "weights of the members of an ensemble: held-out learns "
        "them from holdout samples, and leaves out members of small weights",
        choices=("held-out",),
        excludes=("--uncalibrated", "-0", "--only"),
    )
    group.add(
        "--no-names",
        "omit class names, decoder and normalisation from control-out, which libAGF cannot read",
    )
    group = parser.group("training by another program")
    group.add(
        "--command COMMAND",
        "program that trains each binary classifier, also given as "
        "`-- COMMAND`, and called `COMMAND OPTIONS data model` like svm-train; data is "
        "LIBSVM text, or LVQ text with -A, with the labels 0 and 1",
        excludes=(
            "-u",
            "--platt",
            "--time-limit",
            "--cv-errors",
            "--member-weights",
        ),
    )
    group.add(
        "-^, --convert COMMAND",
        "program that converts the data for the trainer, from its "
        "standard input to its standard output",
        needs="--command",
    )
    group.add(
        "-K, --keep",
        "keep the temporary files of the trainer, in folders MODEL.*.tmp",
        needs="--command",
    )
    group.add(
        "--allow-commands",
        "pass on all options of control, also those that could name a file to the trainer",
        needs="--command",
    )
    group = add_training_kind(parser)
    group.add(
        "--dense",
        "with -M: store the points as a full table in memory, even if they could stay sparse",
        needs="-M",
    )
    add_normalisation(
        parser,
        unnormalised="write support vectors before normalisation, "
        "which classify_m and mbh2mbm then need",
    )
    parser.file_names["control"] = "control"
    return parser.finish()


@dataclass(frozen=True)
class _Request:
    """A run of training.

    Attributes
    ----------
    control : control file, or scheme
    points : `PointsRequest` of the data
    output, trainer, dense : as for `plan`
    beside : the first part of the names of files beside the control file
    head : the control file for classification has one
    retrain : models of an earlier run do not count
    cv_irrelevant : also the samples of other classes are counted for the errors of pairs
    deadline : on `time.monotonic`, or None
    workers : result of `options.workers`
    dry_run : commands are printed in place of the training, with `null` each ended by NUL
    passed_on : {option: its value} of those that the commands have too
    """

    control: str
    points: PointsRequest
    dense: bool
    output: object
    trainer: object
    beside: str
    head: bool
    retrain: bool
    cv_irrelevant: bool
    member_weights: str | None
    deadline: float | None
    workers: object
    dry_run: bool
    null: bool
    passed_on: dict


def execute(args):
    """Make a request of the options, and train, or print the commands that do."""
    from ..calibration.file import calibration_of
    from ..training.external import Command, Trainer
    from ..training.held_out import CALIBRATION_POINTS
    from ..training.plan import Output

    pool = workers(args.jobs)
    # libAGF's: with -- LVQ text, if there are no binary files of that name
    binary = os.path.exists(f"{args.train}.vec") or not os.path.isfile(args.train)
    other = args.svm or args.table or binary or is_table(args.train)
    form = input_format(args, args.train, args.lvq or args.command is not None and not other)
    _check_together(args, form, binary)
    trainer = None
    if args.command is not None:
        trainer = Trainer(
            Command(args.command),
            args.convert and Command(args.convert),
            args.keep,
            args.allow_commands,
        )
        if isinstance(args.jobs, str):
            raise UsageError(
                "external programs run on this machine only: expected a number as -j, not "
                f"{args.jobs}"
            )
    beside = _beside(args.control_out, args.model, args.path)
    all_of_it = args.only is None
    points = points_request(
        args,
        args.train,
        form,
        platt=args.platt,
        decoders=args.decoder,
        workers=args.jobs,
        calibration=0 if args.uncalibrated else CALIBRATION_POINTS,
    )
    request = args.request(
        _Request,
        control=args.control or "-",
        points=replace(points, scales=points.scales and all_of_it and trainer is None),
        output=Output(
            args.model,
            args.path,
            args.only,
            args.unnormalised,
            args.control_out if all_of_it and args.control_out != "-" else None,
            args.cv_errors,
            calibration_of(beside) if all_of_it else None,
        ),
        trainer=trainer,
        beside=beside,
        head=not args.no_names,
        deadline=deadline_of(args.time_limit),
        workers=pool,
        passed_on=args.values(*_PASSED_ON),
    )
    _train_or_print(request)


def _train_or_print(request):
    """Plan the jobs, train or print them, and write the control file."""
    from ..prediction.decoding import named_decoding, requested_decodings
    from ..prediction.member_weights import check_weights
    from ..training.pair_errors import PairTally
    from ..training.plan import plan

    points, output = request.points, request.output
    control = _control(request.control, points)
    work = plan(control, points, output, request.trainer, request.dense)
    named_decoding(work.tree)  # refused before the training, not after it
    decodings = requested_decodings(work.tree, points.settings.decoders)
    check_weights(request.member_weights, work.tree, work.calibration_rows is not None)
    if output.errors is None:
        tally = None
    else:
        tally = PairTally(
            work.binary, work.data.x, work.data.y, request.cv_irrelevant, work.data.weights
        )
    if request.dry_run:
        _print_commands(request, work)
        return
    trained = _train(request, work, tally)
    finish = partial(_finish, output, work, tally)
    if output.only is not None:
        finish()
        return
    tree, calibration, lines = _calibration(
        output, work, trained, decodings, request.member_weights
    )
    _save(request, work, tree, calibration, finish)
    for line in lines:
        report(line)


def _beside(control_out, model, folder):
    """The first part of the names of files beside the control file, or, for a stream, beside the
    models."""
    from ..models.control_files import model_file

    if is_stream(control_out):
        return model_file(model, folder)
    return control_out


def _control(control, points):
    """The control file, or the tree of the scheme in its place, for the data of `points`."""
    if not names_scheme(control):
        return control
    from ..data.training import class_totals
    from ..data.types import Dataset
    from ..experiments.candidates import read_candidate

    candidate = read_candidate(control, None, points.settings.seed)
    if not candidate.made_of_data:
        counts, names = class_totals(points.source, points.form, points.min_class)
        return candidate.tree_for(Dataset(None, list(counts)), names)
    data, _, _ = replace(points, scales=False).load()
    return candidate.tree_for(data, data.name_of)


def _check_together(args, form, binary):
    """`UsageError`, before anything is read, for operands and options that do not go together.
    `binary` says that train can be the base name of binary files."""
    check_files(args.files, inputs={"control": [args.control or "-"]})
    refuse_name(args.control_out, "control-out", text=True)
    refuse_name(args.model, "the models", text=True)
    for wrong, message in (
        (
            is_stream(args.train) and names_scheme(args.control),
            "train is read twice where control is a scheme: expected the name of a file, found "
            f"'{args.train}'",
        ),
        (
            not os.path.basename(args.model),
            f"expected a base name for the model files, found '{args.model}'",
        ),
        (
            args.dry_run and "-" in (args.control_out, args.train, *weight_files(args)),
            "with -0, train, weights and control-out must be files: the commands read them",
        ),
        (
            args.control is None and form.kind == "binary" and not binary,
            "expected the operands control, train, model and control-out, or without the first, "
            f"which is then standard input: {args.train} is not the base name of data",
        ),
    ):
        if wrong:
            raise UsageError(message)


def _calibration(output, work, trained, decodings, member_weights):
    """The tree, the `Calibration` of the models, or None, and lines on it. trained:
    those that are in memory; decodings: calibrated beside those that answer.  The tree has the
    requested weights of its members."""
    from ..prediction.calibrate import fit_calibration
    from ..prediction.member_weights import with_learned_weights
    from ..models.files import merged, ModelSource
    from ..prediction.decoding import answering_decodings
    from ..training.run import held_out_of

    if not work.settings.calibration:
        return work.tree, None, []
    if work.calibration_rows is None:
        return (
            work.tree,
            None,
            [
                "the probabilities are not calibrated: another program gives no decision values of "
                "samples that were held out (calibrate_m calibrates with holdout data)"
            ],
        )
    source = ModelSource(
        output.control or "-", work.settings.normalisation, output.folder, output.unnormalised
    )
    tree = work.tree
    lines = []
    try:
        held_out = held_out_of(work, trained)
        losses = {}
        known = {name: fitted.model for name, fitted in trained.items()}
        configuration = merged(tree, source, known)
        if member_weights is not None:
            configuration, held_out = with_learned_weights(configuration, held_out)
            tree, dropped = configuration.tree, len(tree.roots) - len(configuration.tree.roots)
            if tree.is_ensemble:
                text = tree.headings["weights"].text
            else:
                text = "1"
            lines.append(
                f"weights of the members: {text}"
                + (f"; {dropped} of small weights left out" if dropped else "")
            )
        decodings = [*answering_decodings(tree), *decodings]
        calibration = fit_calibration(configuration, held_out, decodings, losses=losses)
    except (AgfmcError, MemoryError) as error:  # the models are there, and good without it
        return (
            tree,
            None,
            [
                *lines,
                "warning: the probabilities are not calibrated: "
                + (str(error) or "not enough memory"),
            ],
        )
    key = answering_decodings(tree)[0].calibration_key(tree)
    if key in losses:
        judged, before, after = losses[key]
        count = sum(calibration.counts)
        if judged == count:
            these = "these"
        else:
            these = f"{judged} of these"
        lines.append(
            f"{output.calibration}: calibrated with {count} held-out points, "
            f"log loss {before:.3g} -> {after:.3g} on {these} ({key}, "
            f"{calibration.decoders[key].map.kind})"
        )
    return tree, calibration, lines


def _save(request, work, tree, calibration=None, finish=lambda: None):
    """Write control-out, the calibration and a table's recipe; without one an earlier one goes.
    finish() is called when both are written but for their names: as late as can be, as it looks for
    models of another run."""
    from ..calibration.file import format_calibration
    from ..control.build import without_names
    from ..control.write import tree_lines
    from ..models.control_files import control_text
    from ..tables.recipe_file import format_recipe, recipe_beside

    output = request.output
    if not request.head:
        tree = without_names(tree)
    contents = {}
    if output.control is not None:
        contents[output.control] = control_text(tree, output.control)
    for path, content, form in (
        (output.calibration, calibration, format_calibration),
        (recipe_beside(request.beside), work.data.recipe, format_recipe),
    ):
        contents[path] = None if content is None else form(content, path)
    with replacing_with(contents):
        finish()
        if output.control is None:
            write_stdout(tree_lines(tree))


def _print_commands(request, work):
    from ..training.fit import check_landmarks
    from ..training.run import save_normalisation

    errors = request.output.errors
    shared = [job for job in work.jobs if job.together is not None]
    if shared and errors is not None:
        raise UsageError(
            "-0 and --cv-errors exclude each other where classifiers share landmarks: "
            "one run counts the errors of all pairs"
        )
    check_landmarks(shared, work.data, work.settings.kernel_megabytes)
    if shared and request.control == "-":
        raise UsageError(
            "with -0, control must be a file where classifiers share landmarks: the "
            "commands read it"
        )
    control = request.output.control  # which is written here, and which each command reads
    lines = [
        _command_line(
            request,
            work,
            control,
            [f"--only={job.name}", f"--options={job.text if job.is_binary else ''}"],
            {
                "--member-weights": None,
                "--cv-errors": errors and f"{errors}.{os.path.basename(job.name)}",
            },
        )
        for job in work.jobs
        if job.together is None
    ]
    if shared:
        settings = request.points.settings
        words = []
        if settings.options is not None:
            words.append(f"--options={settings.options}")
        if not request.head:
            words.append("--no-names")
        words.append(f"-j{settings.workers or 0}")
        lines.append(_command_line(request, work, request.control, words, {"--retrain": None}))
    save_normalisation(work)
    _save(request, work, work.tree)
    sys.stdout.write("".join(lines))


def _command_line(request, work, control, words, changes):
    """A shell command of this program with these words, and its line break or NUL.

    `control` is the control file that it reads, and `changes` are other values of options.
    """
    points, output = request.points, request.output
    form = points.form
    words = [*_ourselves(), *words, f"--seed={points.settings.seed}"]
    if form.kind == "svm":
        words += ["-M", f"--missing={form.fill!r}"]
        if work.dense:
            words.append("--dense")
    elif form.kind == "lvq":
        words.append("-A")
        if not form.header:
            words.append("-H")
    if work.norm_file:
        changes = {"--norm-file": work.norm_file, **changes}
    options = {**request.passed_on, **changes}
    words += [
        option_word(name, options[name]) for name in _PASSED_ON if options.get(name) is not None
    ]
    words += map(operand, (control, points.source, output.base, output.control))
    for word in words:
        if "\n" in word and not request.null:
            raise UsageError(
                "with -0, no name or option may hold a line break unless --null is "
                f"given too: {word!r} cannot be written on one line"
            )
    return shlex.join(words) + ("\0" if request.null else "\n")


def _ourselves():
    """The words that start this very program, also where the shell has another environment."""
    program = os.path.abspath(sys.argv[0])
    if os.path.basename(program) == "multi_borders" and os.path.isfile(program) and sys.executable:
        return [sys.executable, program]
    return ["multi_borders"]


def _train(request, work, tally):
    """Train what an earlier run did not; -> models in memory, of `ModelFolder`.

    Raises `JobsFailed` where something is missing. `tally` is a `PairTally` or None.
    """
    from ..training.run import train

    if request.retrain:
        done = frozenset()
    else:
        done = _finished_models(work, tally)
    with request.workers as executor, Progress("training") as progress:
        made = train(
            work,
            progress,
            done,
            control_out=_replaceable(request.output.control),
            deadline=request.deadline,
            held_out=tally and tally.add,
            workers=executor,
        )
    _report_chosen(work, made.settled)
    for failure in made.errors:
        write_message(str(failure))
    if made.stopped:
        raise JobsFailed(
            f"time limit reached: {made.done} of {len(work.jobs)} classifiers are "
            "trained; the same command "
            f"{'without --retrain ' * request.retrain}continues from there"
        )
    if made.errors:
        raise JobsFailed(
            f"{len(made.errors)} of {len(work.binary)} binary classifiers could not "
            "be trained; the finished ones are kept, and control-out is not written"
        )
    return made.trained


def _report_chosen(work, chosen):
    """A line for each group of classifiers with numbers that training has chosen. `chosen` is {name
    of a classifier: its options}."""
    groups = {}
    for job in work.binary:
        if job.name in chosen and None in (job.options.n_landmarks, job.options.alpha):
            groups.setdefault(job.together, []).append(job)
    for jobs in groups.values():
        options = [dict(pairwise(chosen[job.name].split())) for job in jobs]
        ridges = sorted({float(one["-l"]) for one in options})
        between = " to ".join(f"{ridge:g}" for ridge in ridges[:1] + ridges[1:][-1:])
        report(
            f"{' '.join(jobs[0].text.split())}: {counted(int(options[0]['-m']), 'landmark')}, "
            f"lambda {between} ({counted(len(jobs), 'classifier')})"
        )


def _finish(output, work, tally):
    from ..training.run import replaced

    other = replaced(work)
    if other is not None:
        raise JobsFailed(
            f"'{other}' is no longer what this run has written: another run took the "
            "same names. control-out is not written; the same command continues from "
            "there"
        )
    if tally is not None:
        tally.write(output.errors)
    if work.trainer is not None and work.trainer.keep:
        report(
            "the temporary files are kept in the folders "
            f"{os.path.join(output.folder or '', output.base)}*.tmp"
        )


def _replaceable(control_out):
    """The control file that goes when models of an earlier run are replaced, or None. What is
    standard output by another name is not of an earlier run."""
    with suppress(OSError, ValueError):  # no file yet, or no such stream
        if control_out is not None and os.path.samestat(
            os.stat(control_out), os.fstat(sys.stdout.fileno())
        ):
            return None
    return control_out


def _finished_models(work, tally):
    """Names of the models of an earlier run that need no training."""
    from ..training.run import finished

    done = finished(work)
    if done and tally is not None:
        report("--cv-errors counts samples that are held out: all are trained again")
        return frozenset()
    if done:
        report(
            f"kept from an earlier run: {len(done)} of {len(work.jobs)} classifiers (--retrain "
            "trains all)"
        )
    return done
