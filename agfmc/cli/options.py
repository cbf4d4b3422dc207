"""Parsers that take libAGF's habits, and the groups of options that commands share.

A letter has one meaning wherever it can; most are libAGF's.
"""

import argparse
import contextlib
import itertools
import os
import re
import shutil
import sys
import time
from collections import deque

from ..control.tree import NO_NORMALISATION
from ..core.errors import UsageError
from ..core.version import __version__
from ..core.weights import BALANCED
from ..files.atomic import check_distinct
from ..files.kinds import is_table
from .data_options import fits_normalisation, norm_file_of
from .file_names import file_named, kind_by_content
from .hints import hint_for, refuse_unquoted, reword
from .messages import report
from .option_types import (
    Arguments,
    output_base,
    output_file,
    time_span,
    whole_number,
    workers_of_option,
)
from .renamed import option_of_today

# Marks words after `--`, which argparse forgets on its second round over mixed operands;
# no word of a command line can contain it.
_OPERAND = "\0"
_GENERAL = ("--quiet", "--log", "--debug")  # options that say nothing of the work
# Values of options that are names of files, and those that may be base names; the endings of the
# files that a base name of data stands for, and one of answers besides.
_BASES = frozenset("DATA BASE POINTS ANSWERS TRUTH".split())
FILES = _BASES | {"FILE", "TABLE", "OUT", "CONTROL", "COLUMN|FILE"}
_OF_DATA = ("", ".vec", ".cls", ".dat", ".con", ".names", ".wgt", ".grp", ".recipe", ".ids")
_OF_ANSWERS = (*_OF_DATA, ".truth", ".txt", ".raw.txt", ".raw.con")
_AS_WITH = {
    "svm": "LIBSVM text, and read as with -M",
    "lvq": "LVQ text, and read as with -A",
}
_NEGATIVE = re.compile(r"-(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")


class _Options:
    """Adds options in the words of their help, with what they need and exclude."""

    def add(self, names, help, type=None, *, needs=(), excludes=(), **settings):
        """Add an operand, or an option as "-q, --bins BINS"; one without a value is a flag.

        One of `needs`, options or operands, has to be given with it, and none of `excludes`; in a
        dictionary each has its reason. `settings` are further ones of argparse.
        """
        *short, name = names.split(", ")
        name, _, value = name.partition(" ")
        if value.startswith("["):
            settings |= {"nargs": "?", "metavar": value[1:-1]}
        elif value:
            settings["metavar"] = value
        elif name.startswith("-") and not settings.keys() & {"choices", "action"}:
            settings["action"] = "store_true"
        if type is not None:
            settings["type"] = type
        action = self.add_argument(*short, name, help=help, **settings)
        if isinstance(needs, str):
            action.needs = (needs,)
        else:
            action.needs = needs
        if not isinstance(excludes, dict):
            excludes = dict.fromkeys((excludes,) if isinstance(excludes, str) else excludes, "")
        action.excludes = excludes
        return action


class _Group(_Options, argparse._ArgumentGroup):
    pass


class Parser(_Options, argparse.ArgumentParser):
    """An argument parser for commands whose options may be digits and signs.

    `-Q -1` and `-Q-1`, `-0` and `-+ "-c 50"` mean what libAGF's users expect: an option with a
    value takes the next word, even if it begins with a minus sign. Operands and options may be
    mixed. `operands` are those of the usage, where they are not just one after the other. `dashes`
    is the option that `--` stands for, where it does not mean that no options follow; a program
    behind it is refused with `without_programs`. With
    `needs_words` operands may be left out, but only where there are options.
    """

    dashes = None
    without_programs = False
    needs_words = False
    hints = {}  # {option that the command has not: what to do}
    file_names = {}  # {operand or option: what file it names, a key of `file_named`}
    _bare = False  # is there no operand?

    def __init__(self, prog, description, operands=None):
        super().__init__(
            prog=prog,
            description=description,
            allow_abbrev=False,
            add_help=False,
            formatter_class=_Formatter,
        )
        self._operands = operands
        self._notes = []  # for standard error, once it is known whether these are wanted

    def group(self, title):
        """A group of options under a title."""
        group = _Group(self, title)
        self._action_groups.append(group)
        return group

    def need(self, other, *options):
        """Declare that these options need another one."""
        for option in options:
            self._option_string_actions[option].needs = (other,)

    def finish(self):
        """Add the options of every command; -> the parser, complete."""
        for action in self._actions:
            action.help = _with_relations(action)
        operands = self._operands or " ".join(
            {"?": "[{}]", "*": "[{} ...]", "+": "{} ..."}.get(action.nargs, "{}").format(
                action.metavar or action.dest.replace("_", "-")
            )
            for action in self._actions
            if not action.option_strings
        )
        self.usage = f"%(prog)s [options] {operands}".rstrip()
        group = self.group("general options")
        group.add("--quiet", "errors only: no warnings, no progress, no reports")
        group.add(
            "--log FORM",
            "format of standard error: text (default), or json, for programs: "
            "a JSON object in each line (man agfmc_messages)",
            choices=("text", "json"),
            default="text",
        )
        group.add("--debug", "show where in the program an error arose")
        group.add(
            "--version",
            "print the version and stop",
            action="version",
            version=f"%(prog)s (agfmc) {__version__}",
        )
        self.is_long = len(self._actions) > 20
        if self.is_long:
            what = "print the most important options, and examples, and stop"
            group.add("-h, --help", what, action="help")
            group.add("--help-all", "print all options and stop", action=_HelpAll)
        else:
            group.add(
                "-h, --help, --help-all", "print this text and stop", action="help", dest="help"
            )
        return self

    def short_help(self):
        """The names of the options that `--help` shows of a long command, and (what it does,
        command line) of examples."""
        path = os.path.join(os.path.dirname(__file__), "short_help.txt")
        with open(path, encoding="ascii") as file:
            part = file.read().split(f"\n{self.prog}: ")[1].split("\n\n")[0]
        names, *lines = part.splitlines()
        return names.split(), list(zip(lines[::2], map(str.strip, lines[1::2])))

    def format_help(self):
        """The usage and what all options do, or, of a long command, those that most people need."""
        if not self.is_long:
            return super().format_help()
        names, examples = self.short_help()
        formatter = _ShortFormatter(self.prog)
        formatter.add_usage(self.usage, (), ())
        formatter.add_text(self.description.split(". ")[0].rstrip(".") + ".")
        formatter.start_section("common options")
        formatter.add_arguments([self._option_string_actions[name] for name in names])
        formatter.end_section()
        lines = "".join(f"  {what}\n    {command}\n" for what, command in examples)
        return (
            f"{formatter.format_help()}\nexamples:\n{lines}\n"
            f"All options and operands: {self.prog} --help-all\n"
        )

    def _check_given(self, args):
        for action in self._actions:
            first = (action.option_strings or [action.dest])[0]
            if not args.given(first):
                continue
            name, *others = (
                "-- COMMAND" if name == self.dashes else name for name in (first, *action.needs)
            )
            if others and not args.given(*action.needs):
                raise UsageError(f"{name} needs {' or '.join(others)}")
            for other, why in action.excludes.items():
                if args.given(other):
                    raise UsageError(f"{name} and {other} exclude each other{why and f': {why}'}")

    def parse_args(self, args=None, namespace=None):
        """Options that run on are joined with their values first, as libAGF takes them."""
        if args is None:
            args = sys.argv[1:]
        self._notes = []
        joined = self._joined(args)
        self._bare = not any(word == "-" or not word.startswith("-") for word in joined)
        if self.needs_words and not any(word.partition("=")[0] not in _GENERAL for word in joined):
            self.error("the following arguments are required: ")
        parsed = self.parse_intermixed_args(joined, namespace or Arguments())
        parsed.given_words = tuple(args)
        parsed.parser = self
        self._check_given(parsed)
        self._complete(parsed)
        parsed.files = self.files_of(parsed)
        check_files(parsed.files)
        return parsed

    def _complete(self, args):
        notes = self._notes
        for name, what in self.file_names.items():
            if getattr(args, "from_stdin", False):
                given = "-"
            else:
                given = getattr(args, name)
            if given is None:
                continue
            path = file_named(given, what)
            if path != given:
                setattr(args, name, path)
                if os.path.exists(given) or not given.startswith(path):
                    notes.append(f"'{given}' is taken for {path}")
            chosen = [getattr(args, kind, True) for kind in ("svm", "lvq", "table")]
            if any(chosen) or getattr(args, "stream", False):
                continue
            kind = kind_by_content(path, what)
            if kind:
                setattr(args, kind, True)
            if kind in _AS_WITH:
                if path == "-":
                    where = "standard input"
                else:
                    where = path
                notes.append(f"{where} is {_AS_WITH[kind]}")
        if not args.quiet:
            for note in notes:
                report(note)

    def files_of(self, args):
        """[(operand or option, path, True for an output)] of the files that the arguments name. An
        operand or option of the type `output_file` is an output, as is the normalisation that is
        fitted; one of the type `output_base` is left to the command."""
        files = []
        for action in self._actions:
            value = getattr(args, action.dest, None)
            is_output = action.type is output_file
            is_file = action.metavar in FILES or action.dest == "class_weight" and value != BALANCED
            if action.type is output_base or action.option_strings and not (is_output or is_file):
                continue
            name = (action.option_strings or [action.dest.replace("_", "-")])[-1]
            if action.dest == "norm_file" and norm_file_of(args) and fits_normalisation(args):
                files.append((name, value, True))
                continue
            paths = [
                path
                for path in (value if isinstance(value, list) else [value])
                if isinstance(path, str)
            ]
            files += [(name, path, is_output) for path in paths]
            if not is_output and action.metavar not in FILES - _BASES:
                if action.option_strings:
                    ends = _OF_ANSWERS
                else:
                    ends = _OF_DATA
                files += [
                    (name, path.removesuffix(".vec").removesuffix(".cls") + end, False)
                    for path in paths
                    for end in ends
                ]
        return files

    def _joined(self, args):
        """`args` with each option and its value as one word, `--long=value`, and no `--`."""
        takes, counts = {}, {}  # options with a value, with the long name; those with a default
        for action in self._actions:
            longs = [name for name in action.option_strings if name.startswith("--")]
            if longs and action.nargs is None:
                takes.update(dict.fromkeys(action.option_strings, longs[0]))
            elif action.nargs == "?":
                counts.update(dict.fromkeys(action.option_strings, action.const))
        flags = self._option_string_actions
        result = []
        words = deque(args)
        while words:
            word = words.popleft()
            word = self.dashes if self.dashes and word == "--" else word
            if word == "--":
                if self.without_programs and words and _is_program(words[0]):
                    self.error(
                        "`--` before a program is for multi_borders, which trains with it: here "
                        "the learners of the package are compared"
                    )
                return [*result, *(_OPERAND + word for word in words)]
            today = option_of_today(self.prog, word, words)
            if today is not None:
                words.extendleft(reversed(today[0]))
                self._notes.append(today[1])
                continue
            if word in counts:  # the next word is its value if it is a number, or the default
                follows = words and (words[0].isdigit() or words[0] == counts[word])
                value = words.popleft() if follows else counts[word]
                result.append(f"{word}={value}")
            elif word in takes:
                if not words:
                    self.error(f"option {word}: expected a value after it")
                value = words.popleft()
                if takes[word] in ("--options", self.dashes):
                    refuse_unquoted(
                        "--" if takes[word] == self.dashes else word, value, words, flags
                    )
                # argparse would drop --
                result.append(f"{takes[word]}={_OPERAND * (value == '--')}{value}")
            elif word[:2] in takes and len(word) > 2 and word[1] != "-" and word not in flags:
                result.append(f"{takes[word[:2]]}={word[2:]}")
            elif word not in flags and (_NEGATIVE.match(word) or word.startswith("-.")):
                result.append(_OPERAND + word)  # argparse knows -1 and -.5, but not -1e-1 and -.csv
            elif self._has_unknown_letter(word, takes) or (
                word == "-h" and words and _NEGATIVE.match(f"-{words[0]}")  # of libAGF, and LIBSVM
            ):
                hint = hint_for(word, flags, self.hints)
                self.error(f"there is no option {word}" + f"; {hint}" * bool(hint))
            else:
                result.append(word)
        return result

    def _has_unknown_letter(self, word, takes):
        """Return True if a word such as -ab begins with a flag and has a letter that is none. The
        messages of argparse for this case differ between versions of Python."""
        flags = self._option_string_actions
        if len(word) < 3 or word[0] != "-" or word in flags or word[:2] not in flags:
            return False
        letters = itertools.takewhile(lambda letter: f"-{letter}" not in takes, word[1:])
        return any(f"-{letter}" not in flags for letter in letters)

    def _get_value(self, action, arg_string):
        return super()._get_value(action, arg_string.removeprefix(_OPERAND))

    def error(self, message):
        """End with `UsageError`, in words that name the way out; with the usage, if there is no
        operand but should be."""
        missing = self._bare and message.startswith("the following arguments are required: ")
        message = reword(
            message.replace(_OPERAND, ""),
            self._option_string_actions,
            self._get_positional_actions(),
            self.hints,
        )
        wrong = UsageError(f"{message} (try {self.prog} --help)")
        if missing:
            wrong.usage = self.format_usage()
        raise wrong

    def _print_message(self, message, file=None):
        # argparse would hide that the help cannot be written
        if message:
            (file or sys.stderr).write(message)


def _with_relations(action):
    """The help of an option, with the options that it needs and excludes."""
    first, *rest = action.help.split("\n")
    if any(name in first for name in action.needs):
        needs = ()
    else:
        needs = action.needs
    notes = ["needs " + " or ".join(needs)] * bool(needs) + [
        "not with " + ", ".join(action.excludes)
    ] * bool(action.excludes)
    return "\n".join([first + f" ({'; '.join(notes)})" * bool(notes), *rest])


class Joined(argparse.Action):
    """The values of an option that is given several times, as one text."""

    def __call__(self, parser, namespace, value, option_string=None):
        """Add a value."""
        earlier = getattr(namespace, self.dest)
        setattr(namespace, self.dest, value if earlier is None else f"{earlier} {value}")


class _HelpAll(argparse._HelpAction):
    def __call__(self, parser, *rest):
        parser._print_message(argparse.ArgumentParser.format_help(parser), sys.stdout)
        parser.exit()


class _Formatter(argparse.HelpFormatter):
    """Help in which a line break of the text is a line break on the screen."""

    def _split_lines(self, text, width):
        return [
            line
            for part in text.split("\n")
            for line in super(_Formatter, self)._split_lines(part, width)
        ]


class _ShortFormatter(_Formatter):
    """Help with only the first sentence of each option."""

    def _split_lines(self, text, width):
        return super()._split_lines(
            re.split(r":?\n|\. (?=[A-Z])|; (?![^(]*\))| \((?:needs|not with) -", text)[0], width
        )


def data_files(base, kind="binary", ends=(".vec", ".cls", ".dat", ".names", ".wgt", ".grp")):
    """The files of the data with this base name, or `[base]` for text, `-` and None."""
    if kind != "binary" or base in (None, "-"):
        return [base]
    return [base + end for end in ends]


def refuse_name(output, what, text=False):
    """`UsageError` where an output that is `what` has the name of a table, or, unless it is text,
    of compressed text."""
    if output is not None and is_table(output):
        raise UsageError(
            f"expected a name for {what}, found '{output}', the name of a table: is "
            "the order of the operands right?"
        )
    if output is not None and not text and output.lower().endswith(".gz"):
        raise UsageError(
            f"expected a name for {what}, found '{output}': only text is compressed by its name"
        )


def _is_program(word):
    """Return True if a word of the command line is a program, and no name of data."""
    return word.endswith((".py", ".sh", ".R", ".pl")) or shutil.which(word) is not None


def refuse_ending(base, written=(".vec", ".cls")):
    """`UsageError` where a base name has the ending of a file; written: those of the outputs."""
    for ending in (*written, ".vec", ".cls", ".con", ".dat"):
        stem = base.removesuffix(ending)
        if stem != base and os.path.basename(stem):
            files = ", ".join(stem + end for end in written)
            raise UsageError(
                f"expected a base name for the output files, found '{base}': give "
                f"'{stem}' for {files}"
            )
    if is_table(base) or not os.path.basename(base):
        raise UsageError(
            f"expected a base name for the output files, found '{base}'"
            + ": no table is written" * is_table(base)
        )


def check_files(files, outputs=None, inputs=None):
    """`UsageError` where an output of a command is one of its inputs or another output.

    `files` are those of the parsed arguments. `outputs` and `inputs` are {operand or option: its
    files} where its value is not the name of a file, or stands for other files than
    `Parser.files_of` knows.
    """
    outputs, inputs = outputs or {}, inputs or {}
    check_distinct(
        [
            *(file for file in files if file[0] not in {**outputs, **inputs}),
            *((name, path, False) for name, paths in inputs.items() for path in paths),
            *((name, path, True) for name, paths in outputs.items() for path in paths),
        ]
    )


def add_bins(group):
    """The option --bins."""
    group.add(
        "-q, --bins BINS",
        "bins of the calibration table (default 10)",
        whole_number(1, 100_000),
        default=10,
    )


def add_model_files(group, normalised=None):
    """-y, --calibration and --uncalibrated, of the commands that read a trained configuration.
    `normalised` says what -a does with a normalisation, where there is that option."""
    if normalised is not None:
        group.add(
            "-a, --norm-file FILE",
            f"normalisation (.std) to be {normalised}, in place of "
            "the one that a control file names, or none: the points are already "
            "normalised; an error for a model file with a normalisation",
        )
    group.add("-y, --path FOLDER", "folder of the models that a control file names")
    group.add(
        "--calibration FILE",
        "calibration of the probabilities, in place of the file "
        "control.cal beside a control file, or of the one in a .mbm",
    )
    group.add(
        "--uncalibrated",
        "no calibration: use the probabilities of the decoder",
        excludes="--calibration",
    )


def model_source(args, path, **settings):
    """The `ModelSource` of a model by the options of `add_model_files`, and -a where it is one.
    `settings` are further fields."""
    from ..data.libagf import read_std
    from ..models.files import ModelSource

    norm_file = getattr(args, "norm_file", None)
    if norm_file in (None, NO_NORMALISATION):
        normalisation = None
    else:
        normalisation = read_std(norm_file)
    return ModelSource(
        path,
        **{
            "models_in": args.path,
            "calibration": args.calibration,
            "normalisation": normalisation,
            "uncalibrated": args.uncalibrated,
            "named": norm_file is None,
            **settings,
        },
    )


def is_trained(tree):
    """Return True if the control tree names the models of its classifiers."""
    return all(row.is_name for row in tree.rows) and all(
        node.name is not None for node in tree.directs.values()
    )


def add_platt(group):
    """The option --platt."""
    group.add(
        "--platt WAY",
        "decision values that probabilities are fitted to: loo, of samples left out by a formula "
        "for C-SVC, cv, from five folds, or auto, loo where it applies, else cv (default). Does "
        "not apply to learner=nystrom",
        choices=("auto", "loo", "cv"),
        default="auto",
    )


def add_time_limit(group, what, **settings):
    """The option --time-limit of commands that go on where they stopped; what: they then do."""
    group.add(
        "--time-limit TIME",
        f"stop after TIME, in seconds, M:SS or H:MM:SS, and {what}; the "
        "exit status is then 3, and the same command continues from there",
        time_span,
        **settings,
    )


def deadline_of(time_limit):
    """The end of --time-limit on `time.monotonic`, or None."""
    if time_limit is None:
        return None
    return time.monotonic() + time_limit


def add_seed(group, splits=1):
    """The option --seed, None where it is not given and the `splits` have another one than 1."""
    if splits == 1:
        default_words = "1"
    else:
        default_words = f"{splits} for the splits, else 1"
    group.add(
        "--seed N",
        f"seed of all random choices (default {default_words})",
        whole_number(0),
        default=1 if splits == 1 else None,
    )


def add_workers(group, default=1):
    """The option -j."""
    if default:
        text = "default 1"
    else:
        text = "default"
    group.add(
        "-j, --jobs WORKERS",
        f"where tasks run: a number of threads, 0 for all cores of this process ({text}), "
        "processes:N, N processes on this machine (processes: one for each core), or dask:HOST:PORT "
        "or dask:FILE, a running dask.distributed cluster by its scheduler's address or scheduler "
        "file. Results do not depend on it",
        workers_of_option,
        default=default,
    )


def workers(jobs):
    """The workers of -j, for a `with` block: a number of threads, or an executor."""
    if isinstance(jobs, str):
        from ..executors.remote import open_executor

        return open_executor(jobs)
    from ..executors.threads import available_cores

    return contextlib.nullcontext(jobs or available_cores())
