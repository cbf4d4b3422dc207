"""The sections about experiments: a comparison of configurations, and a search of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from ..core.text import runs_text
from ..score.intervals import clopper_pearson
from ..score.rows import ALL_SCORES, COLUMNS, columns_of, COST_PER_POINT, UNCALIBRATED
from .answers import shares_alone
from .blocks import Block, heading, note, pictures, Section, table, text, without_empty
from .chart_importance import curve_table
from .content import Column, DataTable, ReportContent, TableRow
from .experiment_charts import comparison, comparison_cost, search_surface
from .words import count, cut, interval, number, percent, plural, signed

_MAIN_SCORES = ("accuracy", "log_loss", "cost")  # scores in a table that is not folded
_TRIED, _BEST = 60, 8  # options in a table, and in one that is not folded
_MOST = 100  # configurations that are shown


def trial_sections(content: ReportContent) -> list[Section]:
    """The sections of a comparison and of a search, of those that are there."""
    makers = (
        (content.comparison, "comparison", "Comparison", comparison_blocks),
        (
            content.search,
            "search",
            "Search of options",
            lambda search: [*_other_model(content), *search_blocks(search)],
        ),
    )
    return [
        Section(anchor, title, tuple(blocks(result)))
        for result, anchor, title, blocks in makers
        if result is not None
    ]


def trial_verdict(content: ReportContent) -> list[str]:
    """Sentences on the best of a comparison, where there are no answers, and on the estimate for
    new data, each beside what the shares of the classes alone would give."""
    if content.data is None:
        alone = {}
    else:
        alone = shares_alone(content.data.counts or ())
    result = content.comparison
    words = []
    best = None
    if content.answers is None and result is not None and "entries" not in result:
        best = best_row(result)
    if best is not None:
        by = result["by"]
        mean, bounds, _ = _difference(best, result)
        compared = ""
        if bounds:
            against = _called(result["against"])
            compared = f"; the difference from {against} is {mean} (95\u00a0% interval {bounds})"
        words.append(
            f"Of {plural(len(result['rows']), 'configuration')} with their decoders, "
            f"{_called(best)} is best by {ALL_SCORES[by].title}: "
            f"{number(best[by]['pooled'])} on held-out samples{compared}."
        )
        right = (best.get("accuracy") or {}).get("pooled")
        if right is not None and alone:
            words.append(
                f"It answers {percent(right)} correctly; always answering the most "
                f"frequent class would give {percent(alone['accuracy'])}."
            )
    search = _estimated(content)
    if search is None:
        return words
    estimate = search["estimate"]
    if estimate is None:
        return [*words, "There is no estimate for new data."]
    by = search["by"]
    base = ""
    if by in alone:
        base = f"; the shares of the classes alone would give {number(alone[by])}"
    words.append(
        f"The {ALL_SCORES[by].title} on new data is estimated as "
        f"{number(estimate['score'])}, standard error {number(estimate['error'])}{base}."
    )
    return words


def _estimated(content):
    """The search of options, or else of the best configuration: what has an estimate."""
    if content.search is None and "estimate" in (content.comparison or ()):
        return content.comparison
    return content.search


def estimate_tiles(content: ReportContent) -> list[tuple[str, str, str]]:
    """The estimate of a search for new data, where there is one."""
    search = _estimated(content)
    if search is None or search["estimate"] is None:
        return []
    title = ALL_SCORES[search["by"]].title
    estimate = search["estimate"]
    return [
        (
            f"{title[0].upper()}{title[1:]}, estimate for new data",
            number(estimate["score"]),
            f"standard error {number(estimate['error'])}",
        )
    ]


def estimate_words(estimate: Mapping, by: str) -> str:
    """The estimate for new data, as `agfmc.tune` returns it, of a score."""
    points = plural(estimate["points"], "point")
    sure = f"standard error {number(estimate['error'])}"
    if by == "accuracy" and estimate["score"] == 1 and not estimate["error"]:
        low = clopper_pearson(*2 * [estimate.get("effective", estimate["points"])]).low
        sure = f"all {points} right: 95 % interval from {number(low)}"
    return (
        f"{ALL_SCORES[by].title} {number(estimate['score'])}, {sure} ({points}, {estimate['how']})"
    )


def best_row(result: Mapping) -> Mapping | None:
    """The row of a comparison that is best by its score, or None."""
    rows = [
        row for row in result["rows"] if (row.get(result["by"]) or {}).get("pooled") is not None
    ]
    sign = ALL_SCORES[result["by"]].sign
    return max(rows, key=lambda row: sign * row[result["by"]]["pooled"], default=None)


def best_point(result: Mapping) -> Mapping | None:
    """The options that a search chose, with their score, or None."""
    if result.get("best") is None:
        return None
    return result["points"][result["best"]]


# -- comparisons -----------------------------------------------------------------------------------


def comparison_blocks(result: Mapping) -> list[Block]:
    """Blocks of a comparison, as its JSON, or of a search."""
    if "entries" in result:
        return best_blocks(result)
    every, result = len(result["rows"]), _fewer(result)
    by = result["by"]
    against = result["against"]
    left_out = result["left_out"]
    summary = (
        f"{plural(result['points'], 'point')}, {plural(result['classes'], 'class', 'es')}; "
        f"{result['plan']}"
    )
    if left_out is not None:
        summary += f" of {left_out} points"
    if result.get("options"):
        summary += f"; options {result['options']}"
    blocks = [
        text(
            f"{summary}{'' if True in result['calibrated'] else '; not calibrated'}. "
            + (
                "Scores are those of all held-out points together"
                if left_out is None
                else "Scores are leave-one-out scores, landmarks held fixed"
            )
            + ", with the deviation over the splits" * (result["splits"] > 1)
            + "."
        ),
        *data_blocks(result),
    ]
    if against is not None:
        if not result["mcnemar"]:
            test = "the corrected resampled t test"
        elif "weights" not in result:
            test = "McNemar's exact test of the accuracies"
        else:
            test = "McNemar's test of the accuracies, of the effective number of points"
        blocks.append(
            text(
                f"Differences in {ALL_SCORES[by].title} are from {_called(against)}"
                + ", means over the splits" * (result["splits"] > 1)
                + f"; p is that of {test}, not corrected for the number of rows: chance alone gives "
                "p below 0.05 in one comparison of twenty."
            )
        )
    if every > len(result["rows"]):
        blocks.append(note(f"These are the best {len(result['rows'])} of {count(every)} rows"))
    blocks += map(note, comparison_notes(result))
    result = _merged(result)
    blocks += map(table, comparison_tables(result))
    blocks += pictures(comparison(result), comparison_cost(result))
    blocks += [
        note(f"{_called(row)} could not be computed: {cut(row['error'], 200)}")
        for row in result["rows"]
        if "error" in row
    ]
    return blocks


def comparison_notes(result: Mapping) -> list[str]:
    """Sentences on rows of a comparison: p = 0 for true classes, those that are not calibrated,
    those without the score."""
    rows = [row for row in result["rows"] if "error" not in row]
    notes = [
        f"{_zero_words(row['zero_probability'])}: {_called(row)}"
        for row in rows
        if row.get("zero_probability")
    ]
    plain = [
        _called(row)
        for row in rows
        if True in result["calibrated"]
        and not row.get("calibrated", True)
        and row.get("log_loss") is not None
        and not row["decoder"].endswith(UNCALIBRATED)
    ]
    without = [_called(row) for row in rows if row.get(result["by"]) is None]
    if plain:
        notes.append(f"Cannot be calibrated: {', '.join(plain)}")
    if without:
        notes.append(
            f"No {ALL_SCORES[result['by']].title}, so they cannot be chosen by it: "
            f"{', '.join(without)}"
        )
    return notes


def data_blocks(result: Mapping) -> list[Block]:
    """What weights and groups the data of an experiment have, where they have some."""
    return [
        text(f"{name.capitalize()}: {result[name]}.")
        for name in ("weights", "groups")
        if name in result
    ]


def _zero_words(points):
    return f"p = 0 for the true class of {plural(points, 'held-out point')}"


def _called(row):
    return f"{cut(row['configuration'], 80)} ({cut(row['decoder'])})"


def _fewer(result):
    by = result["by"]
    against = result["against"]
    rows = result["rows"]
    if len(rows) <= _MOST:
        return result

    def rank(at):
        row = rows[at]
        value = (row.get(by) or {}).get("pooled")
        is_reference = against is not None and all(row[name] == against[name] for name in against)
        return not is_reference, value is None, -ALL_SCORES[by].sign * (value or 0.0)

    order = sorted(range(len(rows)), key=rank)
    return {**result, "rows": [rows[at] for at in sorted(order[:_MOST])]}


def _merged(result):
    groups: dict[tuple, list[Mapping]] = {}
    for index, row in enumerate(result["rows"]):
        key = [
            str((row.get(name) or {}).get("pooled"))[:12] for name in (*ALL_SCORES, *COST_PER_POINT)
        ]
        groups.setdefault(
            (row["configuration"], *(key if "error" not in row else [index])), []
        ).append(row)
    return {
        **result,
        "rows": [  # the reference has no difference
            {
                **min(rows, key=lambda row: bool(row.get("difference"))),
                "decoder": ", ".join(row["decoder"] for row in rows),
            }
            for rows in groups.values()
        ],
    }


def comparison_tables(result: Mapping) -> list[DataTable]:
    """The table of the configurations with the scores that most readers ask for, and one of the
    other scores, times and costs."""
    result = _merged(result)
    by = result["by"]
    best = best_row(result)
    first = next((row for row in result["rows"] if "error" not in row), {})
    every = sorted((name for name in ALL_SCORES if name in first), key=lambda name: name != by)
    few = [name for name in every if name in (by, *_MAIN_SCORES)]
    others = [name for name in every if name not in few]
    times = [
        name
        for name in COLUMNS
        if name.endswith("_s")
        and (
            name != "design_s" or any((row.get(name) or {}).get("pooled") for row in result["rows"])
        )
    ]

    def made(caption, folded, columns, cells_of):
        return without_empty(
            DataTable(
                caption,
                (Column("configuration", "name"), *columns),
                tuple(
                    TableRow((_called(row), *cells_of(row)), strong=row is best)
                    for row in result["rows"]
                ),
                folded=folded,
            )
        )

    return [
        made(
            f"Configurations with their decoders, the best by {ALL_SCORES[by].title} marked. "
            "Decoders with the same scores share a row.",
            False,
            (
                *map(_score_column, few),
                Column("difference", "number", f"in {ALL_SCORES[by].title}"),
                Column("95 % interval", "number"),
                Column("p", "number"),
                Column("classifiers", "number", "binary ones"),
            ),
            lambda row: (
                *(_spread(row.get(name)) for name in few),
                *_difference(row, result),
                row.get("classifiers"),
            ),
        ),
        made(
            "Other scores, seconds on one core, and mean work for each point",
            True,
            (
                *map(_score_column, others),
                *(Column(COLUMNS[name][0], "number") for name in times),
                *(Column(head, "number", digits=1) for head, _ in COST_PER_POINT.values()),
            ),
            lambda row: (
                *(_spread(row.get(name)) for name in others),
                *((row.get(name) or {}).get("pooled") for name in (*times, *COST_PER_POINT)),
            ),
        ),
    ]


def best_blocks(result: Mapping) -> list[Block]:
    """Blocks of a search for the best configuration, the result of `api.train_best`."""
    title = ALL_SCORES[result["by"]].title
    columns = (
        Column("configuration", "name"),
        Column("options"),
        Column(title, "number"),
        Column("training (s)", "number", "of one core", 2),
        Column("weight in the model", "number", digits=2),
    )
    weights = {
        (member["configuration"], member["options"]): member["weight"]
        for member in result["choice"]["members"]
    }
    rows = [
        TableRow(
            (
                entry["configuration"],
                entry["options"],
                entry["score"],
                round(entry["train_s"], 2),
                weights.get((entry["configuration"], entry["options"])),
            )
        )
        for entry in result["entries"]
    ]
    return [
        text(f"Chosen: {choice_words(result['choice'])}."),
        text(f"Estimate for new data: {estimate_words(result['estimate'], result['by'])}."),
        text(gain_words(result) + "."),
        *data_blocks(result),
        table(
            DataTable(
                f"All that was tried, by the {title} on {plural(result['points'], 'point')}, each "
                "answered as if it had not been there.",
                columns,
                tuple(rows),
            )
        ),
        *(note(f"{name}: {why}") for name, why in result["left_out"].items()),
    ]


def choice_words(choice: Mapping) -> str:
    """The configuration that was chosen, with the members and weights of an average."""
    members = choice["members"]
    words = [f"{member['configuration']} {member['options']}".rstrip() for member in members]
    if len(members) == 1:
        return words[0]
    parts = [f"{member['weight']:.2g} {text}" for member, text in zip(members, words)]
    return f"the average of {', '.join(parts)}"


def gain_words(result: Mapping) -> str:
    """How much better the estimate is than answers from the shares of the classes alone."""
    by = result["by"]
    alone = result["alone"].get(by)
    text = "without features, from the shares of the classes: "
    if alone is None:
        return f"{text}log loss {number(result['alone']['log_loss'])}"
    gain = ALL_SCORES[by].sign * (result["estimate"]["score"] - alone)
    if gain > 0:
        words = f"worse by {number(gain)}"
    else:
        words = "no worse: the features tell nothing here"
    return f"{text}{ALL_SCORES[by].title} {number(alone)}, {words}"


def _score_column(name):
    return Column(
        ALL_SCORES[name].title,
        "number",
        "" if ALL_SCORES[name].larger_is_better else "smaller is better",
    )


def _spread(summary):
    if summary is None:
        return None
    deviation = summary.get("sd")
    return number(summary["pooled"]) + (
        "" if deviation is None else f" \u00b1\u00a0{number(deviation)}"
    )


def _difference(row, result):
    if not row.get("difference"):
        return "failed" if "error" in row else "reference", None, None
    test = row["difference"].get(result["by"]) or {}
    if result["mcnemar"]:
        tested = row["difference"].get("accuracy", {})
    else:
        tested = test
    return signed(test.get("mean")), interval(test.get("interval")), tested.get("p_value")


# -- cross-validation -----------------------------------------------------------------


def validation_blocks(
    head: Mapping, columns: Sequence[tuple], curve: Mapping | None = None
) -> list[Block]:
    """Blocks of a cross-validation.

    `head` is what nfold writes as JSON of it, `columns` are (caption, {name of `COLUMNS`: summary},
    points of probability 0 or None).
    """
    blocks = [
        text(
            f"{head['configuration']}, {head['decoder']}: {head['classifiers']} binary classifiers; "
            f"{head['plan']}"
        ),
        *data_blocks(head),
    ]
    for caption, summaries, zeros in columns:
        blocks.append(table(_summary_table(caption, summaries)))
        if zeros:
            blocks.append(text(_zero_words(zeros)))
    if "standard_errors" in head:
        errors = [
            f"{ALL_SCORES[name].title} {error:.4f}"
            for name, error in head["standard_errors"].items()
        ]
        blocks.append(text(f"standard errors over groups: {', '.join(errors)}"))
    if curve is not None:
        blocks += [text(""), table(curve_table(curve)), text(curve["words"])]
    return blocks


def _summary_table(caption, summaries):
    """All held-out points together, mean and deviation over the splits, times at the end."""
    rows = []
    for name in sorted(columns_of(summaries), key=lambda name: name not in ALL_SCORES):
        numbers = summaries[name] or {}
        if name != "design_s" or numbers.get("pooled"):  # unless the scheme needs none
            whole = numbers.get("pooled") if name in ALL_SCORES else None
            cells = (COLUMNS[name][1], whole, numbers.get("mean"), numbers.get("sd"))
            rows.append(TableRow(cells))
    heads = ("all points", "mean", "deviation")
    columns = (Column(""), *(Column(head, "number", digits=6) for head in heads))
    return DataTable(caption, columns, tuple(rows))


# -- searches --------------------------------------------------------------------------------------


def _other_model(content):
    best = best_point(content.search)
    info = content.model and content.model.info
    if best is None or not info:
        return []
    searched = _numbers(best["options"])
    for one in info["binary_models"]:
        options = one["made_by"].get("options", "")
        trained = _numbers(options.replace("1/d", f"{1 / info['features']!r}"))  # the default
        if any(
            abs(trained[name] - value) > 1e-4 * abs(value)
            for name, value in searched.items()
            if name in trained
        ):
            return [
                note(
                    "The model of this page was trained with other options than those that "
                    "this search chose"
                )
            ]
    return []


def _numbers(options):
    words = options.split()
    numbers = {}
    for name, value in zip(words, words[1:]):
        if name in ("-c", "-g"):
            with suppress(ValueError):
                numbers[name] = float(value)
    return numbers


def search_blocks(result: Mapping) -> list[Block]:
    """Blocks of a search, as `agfmc.tune` returns it."""
    by = result["by"]
    tried = result["tried"]
    left_out = result.get("left_out")
    title = ALL_SCORES[by].title
    if left_out is None:
        how = result["plan"]
    else:
        how = f"leave-one-out values of {left_out} points"
    blocks = [
        text(
            f"{plural(tried, 'set')} of options of {cut(result['control'], 80)} "
            f"(decoder {result['decoder']}) {'was' if tried == 1 else 'were'} tried, "
            f"{result['search']} search, {how}, by {title}."
        ),
        *data_blocks(result),
    ]
    if not result["complete"]:
        blocks.append(
            note(
                "The search ended at its time limit: it is not finished, and what it "
                "chose is the best so far"
            )
        )
    best = best_point(result)
    if best is not None and best.get("score") is not None:
        if tried > 1:
            among = f"It is the best of {tried} on these points, so this score is too good for new data."
        else:
            among = "Nothing else was tried."
        blocks.append(
            text(
                f"Chosen: {best['options']}, with the {title} {number(best['score'])} "
                f"in the search. {among}"
            )
        )
    estimate = result["estimate"]
    blocks.append(
        text(
            "There is no estimate for new data."
            if estimate is None
            else f"Estimate for new data: {estimate_words(estimate, by)}."
        )
    )
    if result.get("border"):
        blocks.append(
            note(
                "The best lies on a limit of the search ("
                f"{', '.join(result['border'])}): a wider one may find better"
            )
        )
    blocks += pictures(*search_surface(result))
    return [*blocks, heading("Options that were tried"), *_tried(result, by), *_whole(result)]


def _tried(search, by):
    points = search["points"]
    sign = ALL_SCORES[by].sign
    order = sorted(
        range(len(points)),
        key=lambda i: (
            i != search["best"],
            points[i]["score"] is None,
            -(points[i].get("rows") or 10**12),
            -len(points[i].get("parts") or ()),
            -sign * (points[i]["score"] or 0.0),
        ),
    )
    columns = (
        Column("options", "code"),
        Column(ALL_SCORES[by].title, "number"),
        Column("deviation", "number"),
        Column("training points", note="of each training part"),
        Column("scored on splits"),
        Column("remark"),
    )

    def shown(most, words, folded=False):
        chosen = order[:most] + [i for i in order[most:] if i == search["given"]]
        mixed = len({tuple(points[i].get("parts") or ()) for i in chosen}) > 1
        return table(
            DataTable(
                words + " Those scored on different splits cannot be compared." * mixed,
                columns,
                tuple(_tried_row(search, i) for i in chosen),
                folded=folded,
            )
        )

    if len(points) <= _TRIED:
        every = f"All options that were tried, {len(points)}."
    else:
        every = (
            f"{_TRIED} of {count(len(points))} options that were tried: "
            "the report of tune_m as CSV has all."
        )
    if len(points) <= 2 * _BEST:
        return [shown(_TRIED, every)]
    return [shown(_BEST, f"The {_BEST} best."), shown(_TRIED, every, folded=True)]


def _tried_row(search, index):
    point = search["points"][index]
    marks = [word for word, key in (("chosen", "best"), ("given", "given")) if index == search[key]]
    if point.get("zero_probability"):
        marks.append(f"p = 0 for {plural(point['zero_probability'], 'true class', 'es')}")
    return TableRow(
        (
            point["options"],
            point["score"],
            point["sd"],
            "all" if point.get("rows") is None else count(point["rows"]),
            runs_text(point.get("parts") or []),
            point.get("error") or ", ".join(marks),
        ),
        strong=index == search["best"],
    )


def _whole(result):
    """The scores of the configuration on the splits, where leave-one-out values chose."""
    whole = result.get("whole")
    if not whole:
        return []
    titles = {"given": "given", "tuned": "chosen"}
    names = list(next(iter(whole.values())))
    rows = [
        TableRow((titles[key], *(_spread(scores[name]) for name in names)))
        for key, scores in whole.items()
    ]
    shown = DataTable(
        f"Scores of the whole configuration, {result['plan']}.",
        (Column("options"), *(Column(ALL_SCORES[name].title, "number") for name in names)),
        tuple(rows),
    )
    return [table(without_empty(shown))]
