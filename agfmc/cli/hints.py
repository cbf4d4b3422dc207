"""Hints for messages about wrong command lines."""

import os
import re
import shlex

from ..core.errors import UsageError
from ..files.kinds import ENDINGS
from .file_names import names_scheme

_LETTER = re.compile(r"-(?:[a-zA-Z]|w[01])\Z")
# Options of libAGF's commands, and of earlier versions, that are not here.

_ABSENT = {
    ("multi_borders", "-O"): "libAGF's class borders, which -O and -Z train, are not here: another "
                             'program that trains is named with -- "COMMAND"',
    ("multi_borders", "-l"): "-l is a training option of learner=nystrom: give all of them in one "
                             'pair of quotes, as -+ "learner=nystrom -l auto"',
    ("multi_borders", "-x"): "-j trains several classifiers at a time, and the shell's & in the "
                             "background",
    ("classify_m", "-n"): "-a alone applies the normalisation of that file",
    ("print_control", "--costs"): "a search takes a file of costs in --by cost:FILE",
    ("simulate_decoders", "--top"): "the number of best classes of POLL is now --finalists T",
}
_ABSENT["multi_borders", "-Z"] = _ABSENT["multi_borders", "-O"]
_ABSENT.update({(prog, option): "what the columns of a table are for is known to the model"
                for prog in ("calibrate_m", "mbh2mbm")
                for option in ("--id", "--ignore", "--categorical", "--classes")})
_NUMBER = re.compile(r"[-+]?[0-9.][0-9.eE+-]*\Z")


def classify_command(model, kind, source=""):
    """The command that classifies new data with a model, as a message shows it.

    kind: that of an `InputFormat`;  source: the file of the training data.
    """
    ending = next((end for end in ENDINGS if source.lower().endswith(end)), "")
    option, new, answers = {
        "table": (["--table"] * (not ending), f"NEW{ending}", f"answers{ending or '.csv'}"),
        "svm": (["-M"], "NEW", "answers"), "lvq": (["-A"], "NEW", "answers")}.get(
            kind, ([], "NEW.vec", "answers"))
    return shlex.join(["classify_m", *option, operand(model), new, answers])


def operand(name):
    """A name that cannot be taken for an option."""
    return os.path.join(os.curdir, name) if name.startswith("-") else name


def refuse_unquoted(option, value, following):
    """`UsageError` where training options without quotes follow `option`, as in `-+ -c 10`.

    value: the word after the option;  following: the words after that.  The name of a file, or
    of data, is no value of a training option.
    """
    words = [value, *following]
    count = 0
    while count + 1 < len(words) and _LETTER.match(words[count]) and \
            _NUMBER.match(words[count + 1]) and \
            not any(os.path.exists(words[count + 1] + end) for end in ("", ".vec")):
        count += 2
    if count:
        raise UsageError(f"option {option}: the training options after it are one word, in "
                         f'quotes: {option} "{" ".join(words[:count])}"')


def refuse_unquoted_command(command, following, options):
    """`UsageError` where options of a command follow it without quotes, as in `-- svm-train -b 1`.

    following: the words after it;  options: those of the command that would run it.
    """
    words = [command]
    for word in following:
        if not (_NUMBER.match(word) if _LETTER.match(words[-1]) else
                _LETTER.match(word) and word not in options):
            break
        words.append(word)
    if len(words) > 1:
        raise UsageError("the command after -- and its options are one word, in quotes: "
                         f'-- "{" ".join(words)}"')


def refuse_name(option, value, options):
    """`UsageError` where the name of a new file follows a flag that prints, as in `--json x.json`.

    value: the word after the flag;  options: the flags of the command.  Other commands take a
    file there; here the word would be an operand, and the error about another one.
    """
    ending = {"--json": ".json", "--csv": ".csv", "--markdown": ".md"}.get(option)
    if ending and option in options and value.lower().endswith(ending) and \
            not os.path.exists(value):
        raise UsageError(f"{option} takes no file here, and there is no {value!r} to be read: "
                         f"redirect standard output, {option} ... > {value}")


def hint_for(word, options, training=None, prog=None):
    """A hint about a word that is no option of a command, or "".

    options: those of the command;  training: the name of its option for training options, or
    None;  prog: the name of the command.
    """
    if not word.startswith("-") or word in ("-", "--"):
        return ""
    if word == "-w" and "--weight" in options:
        both = "--weight COLUMN or --weights FILE" if "--weights" in options else "--weight COLUMN"
        return f"weights of samples are given by {both}"
    letter = word[:2]
    if (prog, word.partition("=")[0]) in _ABSENT:
        return _ABSENT[prog, word.partition("=")[0]]
    if training is not None and re.match("-[a-zA-Z]", word):
        from ..learners.options import BORDERS, LIBSVM

        if letter in BORDERS:
            return (f"{letter} is an option of libAGF's class borders, not supported here: LIBSVM "
                    f'trains, with its options in {training}, as {training} "-c 10"')
        if letter in LIBSVM:
            return f'{letter} is a training option: give it in {training}, as {training} "-c 10"'
    import difflib

    word = word.lstrip("-").partition("=")[0]
    near = difflib.get_close_matches(
        f"--{word}", [name for name in options if name.startswith("--")], 3, 0.65) \
        if word[1:] else []
    near.sort(key=lambda name: sorted(name) != sorted(f"--{word}"))  # letters exchanged
    return f"did you mean {near[0]}?" if near else ""


def reword(message, options, operands, prog):
    """A message of argparse, with the operands that are expected, or a hint.

    options, operands: those of the command;  prog: its name.  Only messages about missing
    operands, unknown options and --by are changed.
    """
    if message.startswith("the following arguments are required: "):
        form = {"?": "[{}]", "*": "[{} ...]"}
        return "operands are missing: expected " + " ".join(
            form.get(action.nargs, "{}").format(action.metavar or action.dest)
            for action in operands)
    start = "unrecognized arguments: "
    if message.startswith(start):
        words = message.removeprefix(start).split()
        # the words behind an option that is not known may be its value
        words = [word for word in words if word[:1] == "-" and len(word) > 1] or words
        training = "-+" if "-+" in options else None
        hints = filter(None, (hint_for(word, options, training, prog) for word in words))
        return start + " ".join(words) + "".join(f"; {hint}" for hint in list(hints)[:1])
    if message.startswith("argument --by: invalid choice: 'cost:") and "--costs" in options:
        return "argument --by: the file of costs is given apart: --by cost --costs FILE"
    return message


def refuse_scheme(control, then):
    """`UsageError` for the name of a scheme where a control file is wanted.

    then: the rest of the command line after `print_control -Q SCHEME`, for the message.
    """
    if names_scheme(control):
        raise UsageError(f"there is no file '{control}'; for the scheme of that name: "
                         f"print_control -Q {control} {then}")


def with_scheme(message):
    """The message, which says so where a decoder that does not exist is the name of a scheme."""
    decoder = re.match("no decoder '([^']+)'", message)
    if decoder is None or not names_scheme(decoder[1]):
        return message
    return f"{decoder[0]} ({decoder[1]} is a scheme of print_control){message[decoder.end():]}"


def has_unknown_letter(word, flags, takes):
    """True where a word such as -ab begins with a flag and has a letter that is none.

    flags: the options of the command;  takes: those of them that take a value.  The messages
    of argparse for this case differ between versions of Python.
    """
    if len(word) < 3 or word[0] != "-" or word in flags or word[:2] not in flags:
        return False
    for letter in word[1:]:
        if f"-{letter}" in takes:
            return False  # the rest is its value
        if f"-{letter}" not in flags:
            return True
    return False
