"""The pages of experiments, made from their data and results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ...data.types import Dataset, InputFormat
from ...experiments.candidates import Candidate
from ...experiments.comparison import CrossValidation
from ...experiments.experiment import Experiment
from ...files.opening import is_stream
from ...models.description import describe_recipe
from ...report.content import AnswersPart, DataPart, ReportContent
from ...report.page import render
from ...tables.ids import ids_beside, table_facts
from ..messages import json_text
from .experiments import head_of
from .gather import answers_part, provenance, report_score_request, step_of


def data_part(
    source: str,
    data: Dataset,
    facts: Iterable[tuple[str, str]] = (),
    missing: Mapping[str, int] | None = None,
) -> DataPart:
    """The `DataPart` of a data set; missing: {column: missing cells} of its table."""
    counts = data.counts
    rows = [*facts]
    if missing is not None:
        rows.append(
            (
                "missing cells",
                f"{sum(missing.values())} in {len(missing)} columns" if missing else "none",
            )
        )
    if data.rows is not None:
        rows.append(
            (
                "points of the file",
                f"{len(data.y)} of them are used: the others are of "
                "classes that are left out, have weight 0, or are not in the sample",
            )
        )
    return DataPart(
        source,
        len(data.y),
        int(data.x.shape[1]),
        tuple(counts),
        tuple(map(float, counts.values())),
        None if data.recipe is None else describe_recipe(data.recipe),
        tuple(rows),
        missing,
    )


class TrainingRows:
    """The rows of training data in their file, which is read again for a page.

    `source`, `form` and `data` are the file, its `InputFormat`, and what was read; `missing` is
    {column: missing cells} of a table, once it was read, or None.
    """

    def __init__(self, source: str, form: InputFormat, data: Dataset):
        self.missing: dict[str, int] | None = None
        self._source, self._form, self._data = source, form, data

    def ids(self, rows: Sequence[int] = ()) -> dict[int, str]:
        """{row: its id} of rows of the data; {} where they have none, or cannot be read again."""
        if is_stream(self._source):
            return {}
        number_of = self._data.rows
        recipe = self._data.recipe
        numbers = {int(row): int(row if number_of is None else number_of[row]) for row in rows}
        if self._form.kind == "table":
            facts = table_facts(self._source, self._form, recipe, numbers.values())
            self.missing = facts.missing
            ids = facts.ids
        elif self._form.kind == "binary":
            ids = ids_beside(self._source, numbers.values())
        else:
            ids = {}
        return {row: ids[number] if ids else str(number) for row, number in numbers.items()}


def validation_part(
    experiment: Experiment,
    candidate: Candidate,
    results: Sequence[CrossValidation],
    rows: TrainingRows,
    bins: int = 10,
) -> AnswersPart:
    """The `AnswersPart` of the results of `cross_validate`.

    `rows` are those of its data, `bins` those of the calibration.
    """
    first = results[0]
    whole = first.results
    if len(results) > 1:
        whole = replace(whole, before=results[1].results.p)
    words = (
        f"{candidate.name}, decoder {first.decoder}: {experiment.plan.description}; the answers to "
        f"{len(whole.truth)} held-out points"
    )
    # a tree that is made from data differs from split to split
    if candidate.made_of_data:
        tree = None
    else:
        tree = candidate.tree_for(experiment.data, experiment.data.name_of)
    return answers_part(
        whole,
        words,
        scores=report_score_request(whole),
        bins=bins,
        tree=tree,
        splits=first.columns,
        ids=rows.ids,
    )


def _training_part(request, experiment, rows):
    """The `DataPart` of the training data."""
    rows = rows or TrainingRows(request.source, request.form, experiment.data)
    if rows.missing is None and experiment.data.recipe is not None:
        rows.ids()  # counts the missing cells
    settings = experiment.settings
    head = head_of(request, experiment)
    if "costs" in head:
        costs = {"costs": head.pop("costs")}
    else:
        costs = {}
    if settings.fits_normalisation or settings.normalisation:
        normalised = "yes"
    else:
        normalised = "no"
    return data_part(
        request.source,
        experiment.data,
        [*costs.items(), ("normalised", normalised), *head.items()],
        rows.missing,
    )


def make_page(request, experiment, title, why, *, rows=None, steps=(), **parts):
    """The text of the page of an `Experiment` and its `ExperimentRequest`.

    `why` says what the command does; `rows` are the `TrainingRows` of the data, where the file was
    read again already, `steps` further ones than the command, and `parts` those of `ReportContent`.
    """
    names = experiment.data.name_of
    return render(
        ReportContent(
            title,
            {label: names[label] for label in experiment.data.counts if label in names},
            _training_part(request, experiment, rows),
            steps=[step_of(request.page, why), *steps],
            **{"provenance": provenance(request.page), **parts},
        )
    )


def plain(result):
    """A result as its JSON has it."""
    return json.loads(json_text(result))
