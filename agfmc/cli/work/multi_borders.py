"""The work of multi_borders."""

import os
import shlex
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise

from ...calibration.file import format_calibration
from ...control.build import without_names
from ...control.write import tree_lines
from ...core.errors import AgfmcError, JobsFailed, UsageError
from ...data.training import class_totals
from ...data.types import Dataset
from ...experiments.candidates import read_candidate
from ...files.atomic import replacing_with
from ...models.control_files import control_text
from ...models.files import merged, ModelSource
from ...prediction.decoding import answering_decodings, named_decoding, requested_decodings
from ...prediction.member_weights import check_weights, with_learned_weights
from ...tables.recipe_file import format_recipe, recipe_beside
from ...training.fit import check_landmarks
from ...training.pair_errors import PairTally
from ...training.plan import plan
from ...training.run import finished, held_out_of, replaced, save_normalisation, train
from ..file_names import names_scheme
from ..hints import operand
from ..messages import counted, Progress, report, write_message, write_stdout
from ..option_types import option_word


def run(request):
    """Plan the jobs, train or print them, and write the control file."""
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


def _control(control, points):
    """The control file, or the tree of the scheme in its place, for the data of `points`."""
    if not names_scheme(control):
        return control

    candidate = read_candidate(control, None, points.settings.seed)
    if not candidate.made_of_data:
        counts, names = class_totals(points.source, points.form, points.min_class)
        return candidate.tree_for(Dataset(None, list(counts)), names)
    data, _, _ = replace(points, scales=False).load()
    return candidate.tree_for(data, data.name_of)


def _calibration(output, work, trained, decodings, member_weights):
    """The tree, the `Calibration` of the models, or None, and lines on it. trained:
    those that are in memory; decodings: calibrated beside those that answer.  The tree has the
    requested weights of its members."""
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
    from ...prediction.calibrate import fit_calibration

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
    words += [option_word(name, value) for name, value in options.items() if value is not None]
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
