"""Options of the version before, which the parser still knows, and no help, page or completion.

A text that begins with a dash is the option of today: it stands in place of the old one, with the
value of that in place of {}, and a line on standard error names it.  Any other text says what to
use instead of an option that is gone, which is refused.
"""

import shlex

from ..core.errors import UsageError

_WEIGHTS = {"--weights": "--weight={}"}
_DATA = {**_WEIGHTS, "--groups": "--group={}"}
_WEIGHTED = {"--weighted-norm": "weights weigh the normalisation whenever there are weights"}
_TRAINING = {**_DATA, **_WEIGHTED, "--no-normalise": "--norm-file=none"}

# {command: {option: the option of today, or what to use instead}}
EARLIER: dict[str, dict[str, str]] = {
    "agf_preprocess": {**_DATA, **_WEIGHTED},
    "agf_train": _DATA,
    "calibrate_m": _DATA,
    "cls_comp_stats": _WEIGHTS,
    "compare_control": _TRAINING,
    "eval_uc": _WEIGHTS,
    "mbh2mbm": _DATA,
    "multi_borders": _TRAINING,
    "nfold": _TRAINING,
    "order_classes": _TRAINING,
    "print_control": _TRAINING,
    "report_m": _WEIGHTS,
    "tune_m": _TRAINING,
}


def option_of_today(command, word, words):
    """The words of today, and a note, for an option of an earlier version; None for another word.

    The value is a part of `word`, or is taken from the `words` that follow, a deque.  Raises
    `UsageError` for an option that is gone, or lacks its value.
    """
    name, _, value = word.partition("=")
    if not name.startswith("--"):
        name, value = word[:2], word[2:]
    text = EARLIER.get(command, {}).get(name)
    if text is None:
        return None
    if not text.startswith("-"):
        raise UsageError(f"there is no option {name} any more: {text}")
    if "{}" in text and not value:
        if not words:
            raise UsageError(f"option {name}: expected a value after it")
        value = words.popleft()
    return (
        [part.replace("{}", value) for part in shlex.split(text)],
        f"{name} has another name: {text.replace('{}', value)}",
    )
