"""Hints for messages about wrong command lines."""

import os
import re
import shlex

from ..core.errors import UsageError
from ..files.kinds import ENDINGS
from .file_names import names_scheme

_LETTER = re.compile(r"-(?:[a-zA-Z]|w[01])\Z")
_NUMBER = re.compile(r"[-+]?[0-9.][0-9.eE+-]*\Z")
_TRAINING = re.compile("-[stdgrcnmehw]")  # letters of LIBSVM's training options


def classify_command(model, kind, source=""):
    """The command that classifies new data with a model, for a message.

    `kind` is that of an `InputFormat`, `source` the file of the training data.
    """
    ending = next((end for end in ENDINGS if source.lower().endswith(end)), "")
    option, new, answers = {
        "table": ([], f"NEW{ending}", f"answers{ending or '.csv'}"),
        "svm": (["-M"], "NEW", "answers"),
        "lvq": (["-A"], "NEW", "answers"),
    }.get(kind, ([], "NEW.vec", "answers"))
    return shlex.join(["classify_m", *option, operand(model), new, answers])


def operand(name):
    """A name that cannot be taken for an option."""
    if name.startswith("-"):
        return os.path.join(os.curdir, name)
    return name


def refuse_unquoted(option, value, following, options):
    """`UsageError` where options without quotes follow `option`.

    Examples are `-+ -c 10` and `-- svm-train -b 1`. `value` is the word after the option,
    `following` are the words after that, `options` those of the command. The name of a file, or of
    data, is no value of a training option.
    """
    words = [] if value.startswith("-") else [value]
    rest = [value, *following]
    rest = rest[len(words) :]
    while (
        len(rest) > 1
        and _LETTER.match(rest[0])
        and _NUMBER.match(rest[1])
        and not (words and rest[0] in options)
        and not any(os.path.exists(rest[1] + end) for end in ("", ".vec"))
    ):
        words += rest[:2]
        rest = rest[2:]
    if len(words) > 1:
        raise UsageError(
            f"option {option}: the words after it are one word, in quotes: "
            f'{option} "{" ".join(words)}"'
        )


# What other programs call an option: ours.
_ELSEWHERE = dict.fromkeys(
    ("--threads", "--n-jobs", "--n-threads", "--nthread", "--workers", "--cores", "--cpus"),
    ("--jobs", "did you mean --jobs (-j)?"),
)


def hint_for(word, options, hints):
    """A hint about a word that is no option of a command with these options, or "".

    `hints` are {word: hint} of this command.
    """
    import difflib

    given = word.partition("=")[0]
    if given in hints:
        return hints[given]
    name = f"--{given.lstrip('-')}"
    ours, hint = _ELSEWHERE.get(name, ("", ""))
    if ours in options:
        return hint
    if len(name) > 3:
        near = difflib.get_close_matches(
            name, [option for option in options if option.startswith("--")], 3, 0.65
        )
    else:
        near = []
    near.sort(key=lambda option: sorted(option) != sorted(name))  # letters exchanged
    if near:
        return f"did you mean {near[0]}?"
    return 'training options are given in -+, as -+ "-c 10"' * bool(
        "-+" in options and _TRAINING.match(word)
    )


def reword(message, options, operands, hints):
    """A message of argparse about missing operands, unknown options or --by, with what is
    expected, or a hint; any other as it is."""
    start = "the following arguments are required: "
    if message.startswith(start):
        form = {"?": "[{}]", "*": "[{} ...]"}
        expected = " ".join(
            form.get(action.nargs, "{}").format(action.metavar or action.dest)
            for action in operands
        )
        missing = message.removeprefix(start)
        required = [action.metavar or action.dest for action in operands if action.required]
        if missing in ("", ", ".join(required)):
            return f"operands are missing: expected {expected}"
        if ", " in missing:
            which = f"operands {missing} are"
        else:
            which = f"operand {missing} is"
        return f"the {which} missing: expected {expected}"
    start = "unrecognized arguments: "
    if message.startswith(start):
        words = message.removeprefix(start).split()
        # the words behind an option that is not known may be its value
        words = [word for word in words if word[:1] == "-" and len(word) > 1] or words
        hint = next(
            filter(
                None, (hint_for(word, options, hints) for word in words if word.startswith("-"))
            ),
            "",
        )
        return start + " ".join(words) + f"; {hint}" * bool(hint)
    if message.startswith("argument --by: invalid choice: 'cost:") and "--costs" in options:
        return "argument --by: the file of costs is given separately: --by cost --costs FILE"
    return message


def refuse_scheme(control, then):
    """`UsageError` for the name of a scheme where a control file is required. `then` is the rest of
    the command line after `print_control -Q SCHEME`, for the message."""
    if names_scheme(control):
        raise UsageError(
            f"there is no file '{control}'; for the scheme of that name: "
            f"print_control -Q {shlex.quote(control)} {then}"
        )
