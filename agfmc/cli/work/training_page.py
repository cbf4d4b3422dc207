"""The page of agf_train: data, comparison, model, and answers to rows that are held out."""

import os
import time
from dataclasses import replace

from ...api.functions import train
from ...control.parse import parse
from ...core.text import time_words
from ...data.weights import chosen_rows
from ...experiments.candidates import Candidate
from ...experiments.comparison import cross_validate
from ...experiments.experiment import splits
from ...files.kinds import name_of_file
from ...models.description import describe
from ...prediction.importance import data_columns, EFFECTS, importance, POINTS, VALUES
from ...report.content import ModelPart
from ..hints import operand
from ..messages import Progress, report
from .experiments import head_of
from .gather import file_digests, provenance
from .pages import make_page, plain, TrainingRows, validation_part
from .training_script import script_steps, validation_steps

_OVERRUN = 10.0, 0.1  # by which the page may exceed the limit: seconds, or a share of it
_OTHER_SPLITS = 1000  # added to the seed: of the splits for the page
_CHOSEN = (
    "the configuration was chosen on these points, so these scores and those of the "
    "comparison are slightly too good: quote the estimate for new data, or scores of rows that "
    "took no part (classify_m, eval_uc)"
)


class TrainingPage:
    """The page of a run, whose `text` trains six more times, as far as the time limit allows.

    It adds to the result of `train_best`: `notes` on what was left out, and `validation`, of the
    answers that are held out.
    """

    def __init__(self, request, experiment, model, result, start):
        seed = request.settings.seed + _OTHER_SPLITS
        self._request, self._model, self._result = request, model, result
        self._end = start + request.time_limit
        self._end += max(_OVERRUN[0], _OVERRUN[1] * request.time_limit)
        self._tree = parse(result["control"])
        self._experiment = replace(
            experiment,
            plan=experiment.plan._replace(seed=seed),
            settings=replace(experiment.settings, seed=seed),
            calibrated=(True, False),
        )
        self._rows = TrainingRows(request.source, request.form, experiment.data)

    def text(self):
        """The text of the page."""
        request = self._request
        answers = self._answers()
        importance = None
        if answers is not None:
            importance = self._importance(answers)
        head = head_of(request, self._experiment)
        comparison = plain({"data": request.source, **self._result, **head})
        info = describe(self._model)
        first, *steps = script_steps(request, self._model, self._result)
        return make_page(
            request,
            self._experiment,
            name_of_file(request.model),
            "does all of this",
            rows=self._rows,
            steps=[(first, "the same in steps"), *((step, "") for step in steps)],
            model=ModelPart(self._model.tree, os.path.basename(request.model), info),
            answers=answers,
            comparison=comparison,
            provenance=provenance(request.page, file_digests([request.model]), info),
            importance=importance,
            notes=self._result["notes"],
        )

    def _omits(self, seconds, part, commands):
        """True, with a note, if a part of the page takes so long that the limit is clearly
        exceeded; commands: what adds it."""
        is_late = time.monotonic() + seconds > self._end
        if is_late:
            note = (
                f"{part}: that would take about {time_words(max(seconds, 1))}, more than the "
                f"time limit leaves; the commands for it: {commands}"
            )
            self._result["notes"].append(note)
            report(note)
        return is_late

    def _answers(self):
        """The `AnswersPart` of points that are held out, one more step, or None."""
        request = self._request
        experiment = self._experiment
        plan = experiment.plan
        if self._omits(
            plan.parts * self._result["train_s"],
            "the page has no held-out answers, and does not show which columns matter",
            "; ".join(validation_steps(request, plan)),
        ):
            return None
        candidate = Candidate("the chosen configuration", self._tree, None)
        with Progress("cross-validating") as progress:
            results = cross_validate(experiment, candidate, progress=progress)
        self._result["validation"] = {
            "plan": plan,
            "decoder": results[0].decoder,
            "scores": results[0].columns,
            "warning": _CHOSEN,
        }
        part = validation_part(experiment, candidate, results, self._rows)
        return replace(part, warnings=(_CHOSEN,))

    def _importance(self, answers):
        """The importance of the columns to a model of the first training part, measured on the
        points that were held out there; None where there is no time."""
        experiment = self._experiment
        data = experiment.data
        split = next(splits(data.y, experiment.plan, data.groups))
        test = chosen_rows(data, split.test)
        passes = 10 * len(data_columns(data.recipe, data.x.shape[1])) + EFFECTS * VALUES
        classify_s = answers.splits["classify_s"]["mean"] * min(1, POINTS / len(test.y))
        if self._omits(
            self._result["train_s"] + passes * classify_s,
            "the page does not show which columns matter",
            f"mbm_info --importance HOLDOUT --report FILE.html {operand(self._request.model)}",
        ):
            return None
        model = train(
            self._tree,
            chosen_rows(data, split.train),
            normalise=True,
            seed=experiment.settings.seed,
            workers=experiment.settings.workers,
        )
        result = importance(model, test, effects=EFFECTS, seed=self._request.settings.seed)
        return {**result, "trained": "; the model that is measured was trained on all others"}
