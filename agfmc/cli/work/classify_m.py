"""The work of classify_m."""

import functools
import os
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import replace

from ...answers.quantity import quantity_of
from ...answers.tables import answer_table, numbered, write_answer_table
from ...answers.writing import Layout, write_answers, write_predictions
from ...control.intervals import differing
from ...core.errors import and_more, DataError, ModelError, UsageError, warn_user
from ...core.text import member_text
from ...data.class_names import read_names
from ...data.from_table import rows_of_lines, rows_to_classify
from ...data.libsvm import warn_of_ignored
from ...data.reading import iter_points
from ...files.atomic import check_output
from ...files.opening import arriving_lines, open_input
from ...kernels.machine import KernelCounter
from ...models.control_files import model_files
from ...models.description import describe_members, has_class_weights
from ...models.files import load_configuration
from ...prediction.classifier import Classifier, classify
from ...prediction.contributions import Explainer
from ...prediction.margins import ddag_bound, margins_of
from ...prediction.stream import LineAnswers
from ...tables.types import ROW
from ..data_options import check_normalised
from ..messages import in_options, report, write_bytes, write_message
from ..options import check_files
from ..signals import signals_held


def run(request):
    """Load the model, stream points in and answers out, report."""
    model = request.model.path
    configuration = load_configuration(request.model)
    if request.form.kind == "table" and configuration.recipe is None:
        raise ModelError(
            "was not trained from a table, and does not know its columns: train it "
            "from a table, or convert the rows as the training data were converted",
            file=model,
        )
    if not request.by_program:
        check_normalised(configuration, request.form, request.model)
    classifier = Classifier(configuration, _decoding(request, configuration))
    decoding = classifier.decoding
    if decoding.decoder.name == "poll" and decoding.polls_all(len(classifier.classes)):
        report(
            f"poll draws all pairs of the {len(classifier.classes)} classes, and saves nothing: "
            "use -Q max-win, or fewer --opponents"
        )
    quantity = None
    if request.quantiles is not None:
        quantity = quantity_of(classifier, request.quantiles)
    _check_files(request, classifier)
    if request.form.fill != 0 and classifier.features is None:
        raise UsageError(
            "-E needs a model that records its number of features; the files of "
            f"{model} do not: missing features can only be 0"
        )
    explainer = None
    if request.explain:
        explainer = Explainer(configuration, classifier)
    monitor = None
    if request.monitor is not None:
        check_output(request.monitor)
        monitor = classifier.monitor(request.monitor, seed=decoding.seed)
    with request.workers as executor, _kept(monitor, request):
        if request.stream:
            done, error = _streamed(
                request, configuration.recipe, classifier, quantity, explainer, monitor
            )
        else:
            done, error = _classified(
                request, configuration.recipe, classifier, quantity, executor, explainer, monitor
            )
    if done.stops.warning():
        warn_user(done.stops.warning())
    _report(configuration, classifier, done)
    if explainer is not None and not explainer.exact:
        report(
            "contributions are what the margin loses when a column has its mean (occlusion), "
            "which do not sum to it: exact ones need Gaussian, Laplacian or linear kernels"
        )
    if request.margins:
        _report_margins(configuration)
    if error is not None:
        raise error


def _decoding(request, configuration):
    """The `Decoding` for a configuration, its costs read, as workers have other files."""
    decoding, model = request.decoding, request.model.path
    if request.tree in ("recursive", "path") and configuration.tree.is_ensemble:
        raise UsageError(
            f"--tree {request.tree} descends one tree, and {model} is an ensemble: "
            "leave it out, or choose average or geometric"
        )
    if request.named:
        decoding = decoding.as_named(configuration.tree)
    decoding = replace(decoding, costs=decoding.costs_of(configuration.tree))
    if decoding.costs is not None and decoding.priors is None and has_class_weights(configuration):
        warn_user(
            f"{model} was trained with class weights, and costs come on top: with "
            "--priors training they are those of the data as it was"
        )
    return decoding


@contextmanager
def _kept(monitor, request):
    """Write the state of a monitor behind the answers; of a stream also where it is interrupted."""
    try:
        yield
    except BaseException:
        if monitor is not None and request.stream:
            monitor.save(request.monitor)
        raise
    if monitor is not None:
        monitor.save(request.monitor)
        state = monitor.state
        report(
            f"monitor {monitor.value:.3g} after {state.rows} rows in all, at most "
            f"{monitor.largest:.3g} at row {state.largest_row}"
        )


def _watched(answers, monitor, request):
    """The answers, which a monitor sees where there is one."""
    if monitor is None:
        return answers
    # answers to files appear all or none, and a run that fails is repeated: its rows must not
    # be in the state yet
    if request.stream:
        path = request.monitor
    else:
        path = None
    return monitor.watch(answers, request.points, path)


def _classified(request, recipe, classifier, quantity, executor, explainer, monitor):
    """Answer points; -> (`Summary`, the error of rows without an answer or None)."""
    form = request.form
    output = request.output
    if classifier.counting:
        counter = KernelCounter(classifier.values.model)
    else:
        counter = None
    if explainer is None:
        step = classifier.rows
    else:
        step = explainer.rows

    def to_table(heads, rows, flagged=False):
        table = _table(request, classifier, heads, quantity, explainer, flagged=flagged)
        waiting = deque()

        def points():
            for x, columns in rows:
                waiting.append(columns)  # which stay here, and are taken in the same order
                yield x

        answers = classify(classifier, points(), executor, table.formatted, explainer, some=True)
        return write_answer_table(
            _watched(answers, monitor, request),
            iter(waiting.popleft, None),
            table,
            output,
            write_bytes,
            counter,
        )

    if form.kind == "table":
        with rows_to_classify(
            request.points, form, recipe, request.all_columns, request.strict, request.flag
        ) as rows:
            done = to_table(rows.heads, rows.chunks(step), request.flag)
            rows.warn()
            return done, rows.encoder.error
    chunks = iter_points(
        request.points,
        form,
        step,
        d=classifier.features,
        sparse=classifier.values.takes_sparse and explainer is None,
        missing=recipe is not None and recipe.keeps_missing,
    )
    if request.by_program:
        done = write_predictions(
            classify(classifier, chunks, some=True),
            output,
            write_bytes,
            classifier.classes if classifier.all_classes else None,
        )
    elif request.to_table:
        done = to_table((ROW,), numbered(chunks))
    else:
        done = _to_files(request, classifier, chunks, quantity, executor, counter, monitor)
    if done.unanswered:
        warn_user(
            f"{request.points}: {done.unanswered} of {done.points + done.unanswered} points have "
            "no data: they have no answer, class -1"
        )
    return done, None


def _to_files(request, classifier, chunks, quantity, executor, counter, monitor):
    """Answer points in libAGF's files; -> `Summary`."""
    decoding = classifier.decoding
    layout = Layout(
        classifier.classes,
        classifier.all_classes,
        not decoding.prints_values,
        _with_sets(decoding),
        request.header,
        quantity,
        request.decisions,
    )
    answers = classify(classifier, chunks, executor, layout.formatted, some=True)
    return write_answers(
        _watched(answers, monitor, request),
        request.output,
        write_bytes,
        layout,
        counter,
    )


def _table(request, classifier, heads, quantity, explainer, form="csv", flagged=False):
    """The `AnswerTable`; `form`: the format where nothing else says one."""
    decoding = classifier.decoding
    if (
        request.tree is None
        and decoding.descends(classifier.tree)
        and decoding.top is None
        and decoding.stop is None
    ):
        report(
            "a descent of the tree gives the probability of its class alone: --tree full "
            "gives those of all classes"
        )
    if request.output == "-":
        path = f".{request.format or form}"
    else:
        path = request.output
    return answer_table(
        classifier,
        classifier.names,
        heads,
        path,
        quantity,
        ((), 0) if explainer is None else (explainer.names, request.explain),
        flagged,
    )


def _streamed(request, recipe, classifier, quantity, explainer, monitor):
    """Answer lines as they come; -> (`Summary`, the error of wrong lines or None)."""
    rows = request.form
    heads = (ROW,)
    form = "csv"
    flagged = False
    with open_input(request.points, raw=True) as file:
        lines = arriving_lines(file)
        if rows.kind == "table":
            flagged = request.flag
            rows, lines = rows_of_lines(
                lines, rows, recipe, file.name, request.all_columns, flagged
            )
            heads = rows.heads
            form = rows.table.answered_in
        table = _table(request, classifier, heads, quantity, explainer, form, flagged)
        answers = LineAnswers(
            classifier,
            rows,
            table,
            file.name,
            _told,
            explainer,
            KernelCounter(classifier.values.model) if classifier.counting else None,
        )
        answers.watched = functools.partial(_watched, monitor=monitor, request=request)
        with table.text.opened("-", table.id_columns, write_bytes) as add:
            write_bytes(b"")
            for data, number in lines:
                with signals_held():
                    for part in answers(data, number):
                        add(*part)
                    write_bytes(b"")
    if request.form.kind == "table":
        rows.warn()
    warn_of_ignored(answers.ignored, file.name, classifier.features)
    failed = answers.failed
    if not failed:
        return answers.summary, None
    return answers.summary, DataError(
        f"{failed} of {answers.summary.points + failed} lines were wrong, and have the answer error",
        file=request.points,
    )


def _told(error):
    """The words of an error of a line, which is reported."""
    write_message(error, file=error.file, line=error.line)
    return in_options(error.message)


def _with_sets(decoding):
    return decoding.coverage is not None or decoding.stop is not None


def _check_files(request, classifier):
    """Refuse outputs that are inputs; warn of names of classes that are not those of the tree."""
    tree, model, decoding = classifier.tree, request.model, request.decoding
    if request.by_program or request.to_table:
        outputs = [request.output]
    else:
        outputs = [
            request.output + end for end in (".cls", ".con", ".sets")[: 2 + _with_sets(decoding)]
        ]
    points = [request.points]
    base = request.points.removesuffix(".vec")
    if not os.path.exists(f"{base}.con"):  # beside which the classes are earlier answers
        points.append(f"{base}.cls")
    shares = {"--priors": decoding.priors, "--trained-priors": decoding.trained_priors}
    check_files(
        request.files,
        {"output": outputs},
        {
            "test": points,
            "model": [model.path, *model_files(tree, model.models_in, outputs)],
            **{option: [value] * isinstance(value, str) for option, value in shares.items()},
        },
    )
    if request.form.kind == "binary" and request.points.endswith(".vec"):
        _warn_of_other_names(model.path, tree, f"{request.points[:-4]}.names")


def _warn_of_other_names(model, tree, path):
    """Warn where the names in `path` say that the labels of the points mean other classes."""
    if not tree.names or not os.path.isfile(path):
        return

    there = {}
    with suppress(DataError):  # the points are classified without it
        there = dict(enumerate(read_names(path)))
    other = differing(tree.names, there)
    if other:
        label = other[0]
        warn_user(
            f"{path}: class {label} is '{there[label]}', in {model} "
            f"'{tree.names[label]}'{and_more(other)}: the labels of these points mean "
            "other classes than the answers do (--names of svm2agf and lvq2agf numbers "
            "words as in training)"
        )


def _report_margins(configuration):
    squared, by_class, radius, samples = margins_of(configuration)
    report(f"sum of 1/margin^2 over {len(squared)} binary classifiers: {squared.sum():.6g}")
    if not by_class:
        return
    sums = ", ".join(f"{name} {value:.6g}" for name, value in by_class.items())
    report(f"sum of 1/margin^2 over the classifiers of a class: {sums}")
    if samples is not None:
        whole = ddag_bound(squared.sum(), radius, samples, len(squared))
        bounds = ", ".join(
            f"{name} {ddag_bound(value, radius, samples, len(by_class) - 1):.3g}"
            for name, value in by_class.items()
        )
        report(
            f"with probability .95 the error of ddag is below {whole:.3g}, that of a class below "
            f"{bounds}, if every classifier separates its samples with its margin "
            f"(R^2 {radius:.3g}, {samples} samples; above 1 the bounds say nothing)"
        )


def _report(configuration, classifier, done):
    decoding = classifier.decoding
    if classifier.threshold is not None or decoding.decoder.name == "and":
        if decoding.max_error is None or classifier.threshold > 1:
            below = ""
        else:
            below = f", below probability {classifier.threshold:g}"
        report(f"{done.rejected} of {done.points} points rejected{below}")
    if decoding.costs is not None and done.points:
        if done.rejected:
            none = f", {done.rejected} of them none"
        else:
            none = ""
        report(
            f"expected cost {done.cost / done.points:.6g} of a point on average, {done.changed} "
            f"of {done.points} answers other than the most probable class{none}"
        )
    if decoding.stop is not None and done.points:
        report(
            f"{done.members / done.points:.2f} classes in an answer on average, "
            f"{done.points - done.rejected} of {done.points} answers one class"
        )
    elif decoding.coverage is not None and done.points:
        report(
            f"{done.members / done.points:.2f} classes in a set on average, {done.empty} of "
            f"{done.points} sets empty"
        )
    if classifier.counting and done.points:
        model = classifier.values.model
        report(
            f"{done.queried / done.points:.2f} of {len(model.rho)} binary classifiers and "
            f"{done.kernels / done.points:.2f} of {KernelCounter(model).total} kernel "
            "evaluations per point"
        )
        for number, member in enumerate(
            describe_members(configuration) if configuration.tree.is_ensemble else (), 1
        ):
            report(f"member {number}: {member_text(member)}")
