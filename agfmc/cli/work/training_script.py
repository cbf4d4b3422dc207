"""The shell script that trains the model of agf_train again, with comments on what was chosen."""

import os
import shlex

from ...core.errors import one_line
from ...core.text import spread
from ...report.trials import choice_words, estimate_words, gain_words
from ...score.rows import SCORES
from ...tables.recipe_file import format_recipe
from ..hints import operand


def training_script(request, model, result):
    """The script that trains a model again, of its request and the result of `train_best`."""
    remarks = [*_choice_remarks(result), *result["notes"]]
    if "validation" in result:
        found = result["validation"]
        remarks.append(
            f"held-out answers on the page: decoder {found['decoder']}\n  on the page: "
            f"{_scores_text(found['scores'])} ({found['plan'].description}; {found['warning']})"
        )
    lines = [f"# {one_line(line)}" for text in remarks for line in text.splitlines()]
    return "".join(f"{line}\n" for line in (*lines, *script_steps(request, model, result)))


def script_steps(request, model, result):
    """The steps of the script, each a command, or one with its text."""
    folder = _folder(request)
    control = f"{folder}/chosen.mbt"
    learned = f"{folder}/m.mbc"
    steps = [shlex.join(["mkdir", "-p", folder])]
    if request.recipe_out is not None:
        steps.append(_written(_recipe(request), format_recipe(model.recipe)))
    steps.append(_written(control, result["control"]))
    words = ["multi_borders", *_common(request, request.settings.seed)]
    words += [
        "-a",
        f"{folder}/m.std",
        "-y",
        folder,
        control,
        operand(request.source),
        "m",
        learned,
    ]
    steps += [
        shlex.join(words),
        shlex.join(["mbh2mbm", "-y", folder, learned, operand(request.model)]),
    ]
    if "validation" in result:
        steps += validation_steps(request, result["validation"]["plan"])[:1]
    return steps


def validation_steps(request, plan):
    """The commands that make the held-out answers of the page, and a page of these."""
    folder = _folder(request)
    answers = f"{folder}/held"
    answer = [
        "nfold",
        f"-d{plan.parts}",
        *request.trying_words,
        *_common(request, plan.seed),
        f"{folder}/chosen.mbt",
        operand(request.source),
        answers,
    ]
    score = ["eval_uc", "--report=FILE.html", f"--model={operand(request.model)}"]
    score += [f"{answers}.truth", answers, f"{answers}.txt"]
    return [shlex.join(answer), shlex.join(score)]


def _folder(request):
    return f"{os.path.splitext(operand(request.model))[0]}.steps"


def _recipe(request):
    if request.recipe_out is not None:
        return f"{_folder(request)}/train.recipe"
    return request.recipe


def _common(request, seed):
    words = [
        "-n",
        f"-j{request.jobs}",
        f"--seed={seed}",
        *request.data_words,
    ]
    recipe = _recipe(request)
    if recipe is not None:
        words += ["--recipe", recipe]
    return words


def _written(path, text):
    return f"cat > {shlex.quote(path)} <<'END'\n{text}END"


def _choice_remarks(result):
    """Remarks on the configuration that was chosen."""
    return [
        f"estimate for new data: {estimate_words(result['estimate'], result['by'])}",
        gain_words(result),
        f"configuration: {choice_words(result['choice'])}",
    ]


def _scores_text(columns):
    """Log loss and accuracy of {score: summary or None}, as far as there are any."""
    return ", ".join(
        f"{SCORES[name].title} {spread(columns[name])}"
        for name in ("log_loss", "accuracy")
        if columns[name] is not None
    )
