"""Parsers that take libAGF's habits, and the groups of options that commands share.

A letter has one meaning wherever it can; most are libAGF's.
"""

import argparse
import contextlib
import itertools
import os
import re
import sys
import time
import warnings
from collections import deque
from typing import NamedTuple

from ..control.tree import NO_NORMALISATION
from ..core.errors import AgfmcWarning, UsageError
from ..core.version import __version__
from ..core.weights import BALANCED
from ..files.atomic import check_distinct, check_output
from ..files.kinds import is_table
from .data_options import (add_groups, add_table, add_weights, groups_source, table_format, TABLES,
                           weight_source)
from .file_names import file_named, holds_svm
from .hints import hint_for, refuse_unquoted, reword
from .messages import counted, ERROR, INFO, messages_from, report
from .option_types import (finite_number, is_given, or_auto, output_base, output_file, refuse_given,
                           time_span, whole_number)

# Marks words after `--`, which argparse forgets on its second round over mixed operands;
# no word of a command line can contain it.
_OPERAND = "\0"
_GENERAL = ("--quiet", "--log", "--debug")  # options that say nothing of the work
# Values of options that are names of files, and those that may be base names; the endings of the
# files that a base name of data stands for, and one of answers besides.
_BASES = frozenset("DATA BASE POINTS ANSWERS TRUTH".split())
FILES = _BASES | {"FILE", "TABLE", "OUT", "CONTROL"}
_OF_DATA = ("", ".vec", ".cls", ".dat", ".con", ".names", ".wgt", ".recipe", ".ids")
_OF_ANSWERS = (*_OF_DATA, ".truth", ".txt", ".raw.txt", ".raw.con")
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
        action.needs = (needs,) if isinstance(needs, str) else needs
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
    is the option that `--` stands for, where it does not mean that no options follow. With
    `needs_words` operands may be left out, but only where there are options.
    """

    dashes = None
    needs_words = False
    file_names = {}  # {operand or option: what file it names, a key of `file_named`}
    _bare = False  # is there no operand?

    def __init__(self, prog, description, operands=None):
        super().__init__(prog=prog, description=description, allow_abbrev=False,
                         add_help=False, formatter_class=_Formatter)
        self._operands = operands

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
        usage = self._usage()
        group = self.group("general options")
        group.add("--quiet", "errors only: no warnings, no progress, no reports")
        group.add("--log FORM", "what standard error has: text (default), or json, for programs: "
                  "an event in each line, a JSON object (man agfmc)", choices=("text", "json"),
                  default="text")
        group.add("--debug", "show where in the program an error arose")
        group.add("--version", "print the version and stop", action="version",
                  version=f"%(prog)s (agfmc) {__version__}")
        group.add("--help", "print this text and stop", action="help")
        self.usage = usage
        return self

    def _usage(self):
        """The usage: options stand in the brackets of the one that they need, and beside those
        that they exclude."""
        options = [action for action in self._actions if action.option_strings]
        inner = [action for action in options if len(action.needs) == 1
                 and action.needs[0] in self._option_string_actions]
        words, free = ["%(prog)s"], [action for action in options if action not in inner]
        while free:
            beside = [free.pop(0)]
            for other in list(free):
                if all(_exclude(one, other) for one in beside):
                    beside.append(other)
                    free.remove(other)
            words.append("[" + " | ".join(_of_usage(one, inner) for one in beside) + "]")
        words += [self._operands] if self._operands else [
            {"?": "[{}]", "*": "[{} ...]", "+": "{} ..."}.get(action.nargs, "{}").format(
                action.metavar or action.dest.replace("_", "-"))
            for action in self._actions if not action.option_strings]
        return " ".join(words)

    def _check_given(self, args):
        actions = {**{action.dest: action for action in self._actions},
                   **self._option_string_actions}
        for action in self._actions:
            if not is_given(action, args):
                continue
            name, *others = ("-- COMMAND" if name == self.dashes else name for name in (
                (action.option_strings or [action.dest])[0], *action.needs))
            if others and not any(is_given(actions[other], args) for other in action.needs):
                raise UsageError(f"{name} needs {' or '.join(others)}")
            for other, why in action.excludes.items():
                if is_given(actions[other], args):
                    raise UsageError(f"{name} and {other} exclude each other{why and f': {why}'}")

    def parse_args(self, args=None, namespace=None):
        """Options that run on are joined with their values first, as libAGF takes them."""
        if args is None:
            args = sys.argv[1:]
        joined = self._joined(args)
        self._bare = not any(word == "-" or not word.startswith("-") for word in joined)
        if self.needs_words and not any(word.partition("=")[0] not in _GENERAL for word in joined):
            self.error("the following arguments are required: ")
        parsed = self.parse_intermixed_args(joined, namespace)
        parsed.given_words, parsed.parser = tuple(args), self
        self._check_given(parsed)
        self._complete(parsed)
        parsed.files = self.files_of(parsed)
        check_files(parsed.files)
        return parsed

    def _complete(self, args):
        notes = []
        for name, what in self.file_names.items():
            given = getattr(args, name)
            if given is None or getattr(args, "from_stdin", False):
                continue
            path = file_named(given, what)
            if path != given:
                setattr(args, name, path)
                notes.append(f"'{given}' is taken for {path}")
            if not any(getattr(args, kind, True) for kind in ("svm", "lvq", "table")) and \
                    holds_svm(path, what):
                args.svm = True
                notes.append(f"{path} is LIBSVM text, and read as with -M")
        with messages_from(ERROR if args.quiet else INFO):
            for note in notes:
                report(note)

    def files_of(self, args):
        """[(operand or option, path, True for an output)] of the files that the arguments name. An
        operand or option of the type `output_file` is an output, as is the normalisation that is
        fitted; one of the type `output_base` is left to the command."""
        files = []
        for action in self._actions:
            value, is_output = getattr(args, action.dest, None), action.type is output_file
            is_file = action.metavar in FILES or action.dest == "class_weight" and value != BALANCED
            if action.type is output_base or action.option_strings and not (is_output or is_file):
                continue
            name = (action.option_strings or [action.dest.replace("_", "-")])[-1]
            if action.dest == "norm_file" and value is not None and fits_normalisation(args):
                from ..data.metric_file import metric_path

                files += [(name, value, True)] + [
                    (name, metric_path(value), True)] * (args.learn_metric is not None)
                continue
            paths = [path for path in (value if isinstance(value, list) else [value])
                     if isinstance(path, str)]
            files += [(name, path, is_output) for path in paths]
            if not is_output and action.metavar not in FILES - _BASES:
                ends = _OF_ANSWERS if action.option_strings else _OF_DATA
                files += [(name, path.removesuffix(".vec").removesuffix(".cls") + end, False)
                          for path in paths for end in ends]
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
                return [*result, *(_OPERAND + word for word in words)]
            if word in counts:  # the next word is its value if it is a number, or the default
                follows = words and (words[0].isdigit() or words[0] == counts[word])
                value = words.popleft() if follows else counts[word]
                result.append(f"{word}={value}")
            elif word in takes:
                if not words:
                    self.error(f"option {word}: expected a value after it")
                value = words.popleft()
                if takes[word] in ("--options", self.dashes):
                    refuse_unquoted("--" if takes[word] == self.dashes else word, value, words,
                                    flags)
                # argparse would drop --
                result.append(f"{takes[word]}={_OPERAND * (value == '--')}{value}")
            elif word[:2] in takes and len(word) > 2 and word[1] != "-" and word not in flags:
                result.append(f"{takes[word[:2]]}={word[2:]}")
            elif word not in flags and _NEGATIVE.match(word):
                result.append(_OPERAND + word)  # argparse knows -1 and -.5, but not -1e-1
            elif word == "-h" or self._has_unknown_letter(word, takes):
                hint = "did you mean --help?" if word == "-h" else hint_for(word, flags)
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
        message = reword(message.replace(_OPERAND, ""), self._option_string_actions,
                         self._get_positional_actions())
        wrong = UsageError(f"{message} (try {self.prog} --help)")
        if missing:
            wrong.usage = self.format_usage()
        raise wrong

    def _print_message(self, message, file=None):
        # argparse would hide that the help cannot be written
        if message:
            (file or sys.stderr).write(message)


def _exclude(one, other):
    return bool(set(one.excludes) & set(other.option_strings) or
                set(other.excludes) & set(one.option_strings))


def _of_usage(action, inner):
    """An option of the usage with its value, and the options `inner` that need it."""
    value = action.metavar or action.dest.upper()
    word = action.option_strings[0] + (
        "" if action.nargs == 0 else f" [{value}]" if action.nargs == "?" else f" {value}")
    return " ".join([word, *(f"[{_of_usage(other, inner)}]" for other in inner
                             if other.needs[0] in action.option_strings)])


class _Formatter(argparse.HelpFormatter):
    """Help in which a line break of the text is a line break on the screen, and options of the
    usage stay on one line with their values."""

    def __init__(self, prog, **settings):
        # argparse would load shutil for the width
        super().__init__(prog, **{"width": _columns() - 2, **settings})

    def _split_lines(self, text, width):
        return [line for part in text.split("\n")
                for line in super(_Formatter, self)._split_lines(part, width)]

    def _format_usage(self, usage, *rest):
        import textwrap

        # argparse wraps only what it made itself
        text = " ".join(super()._format_usage(usage, *rest).split())
        text = re.sub(r"([ \[]-\S+) (?=[^[|-])", rf"\1{_OPERAND}", text)  # an option with its value
        lines = textwrap.wrap(text.replace(" ", _OPERAND, 1), self._width, break_on_hyphens=False,
                              break_long_words=False, subsequent_indent=" " * 8)
        return "\n".join(lines).replace(_OPERAND, " ") + "\n\n"


def _columns():
    with contextlib.suppress(KeyError, ValueError):
        columns = int(os.environ["COLUMNS"])
        if columns > 0:
            return columns
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80
    return 80


def data_files(base, kind="binary", ends=(".vec", ".cls", ".dat", ".names", ".wgt")):
    """The files of the data with this base name, or `[base]` for text, `-` and None."""
    return [base] if kind != "binary" or base in (None, "-") else [base + end for end in ends]


def refuse_name(output, what, text=False):
    """`UsageError` where an output that is `what` has the name of a table, or, unless it is text,
    of compressed text."""
    if output is not None and is_table(output):
        raise UsageError(f"expected a name for {what}, found '{output}', the name of a table: is "
                         "the order of the operands right?")
    if output is not None and not text and output.lower().endswith(".gz"):
        raise UsageError(f"expected a name for {what}, found '{output}': only text is compressed "
                         "by its name")


def refuse_ending(base, written=(".vec", ".cls")):
    """`UsageError` where a base name has the ending of a file; written: those of the outputs."""
    for ending in (*written, ".vec", ".cls", ".con", ".dat"):
        stem = base.removesuffix(ending)
        if stem != base and os.path.basename(stem):
            files = ", ".join(stem + end for end in written)
            raise UsageError(f"expected a base name for the output files, found '{base}': give "
                             f"'{stem}' for {files}")
    if is_table(base) or not os.path.basename(base):
        raise UsageError(f"expected a base name for the output files, found '{base}'"
                         + ": no table is written" * is_table(base))


def check_files(files, outputs=None, inputs=None):
    """`UsageError` where an output of a command is one of its inputs or another output.

    `files` are those of the parsed arguments. `outputs` and `inputs` are {operand or option: its
    files} where its value is not the name of a file, or stands for other files than
    `Parser.files_of` knows.
    """
    outputs, inputs = outputs or {}, inputs or {}
    check_distinct([*(file for file in files if file[0] not in {**outputs, **inputs}),
                    *((name, path, False) for name, paths in inputs.items() for path in paths),
                    *((name, path, True) for name, paths in outputs.items() for path in paths)])


def check_plot(args):
    """Raise, before the work, `UsageError` or `DataError` where --plot cannot write a picture."""
    if args.plot is not None:
        from ..report.chart_canvas import check_picture
        check_picture(args.plot)


def add_train(parser):
    """The operand train."""
    parser.add("train", "training data: a table (.csv, .tsv, .parquet, .feather), the base name of "
               ".vec and .cls files, LIBSVM text, or LVQ text with -A")
    parser.file_names = {"train": "data"}


def label_names(args, source, base, ends):
    """The names of --names, after the outputs of a conversion of text are checked, or None. ends:
    those of the outputs, base names with these."""
    from ..data.class_names import read_names

    refuse_ending(base or "-", ends[:2])
    # the names given are written again as they are, unless -U makes others
    again = args.names == f"{base}.names" and not getattr(args, "relabel", False)
    check_files(args.files, {"base": data_files(base, ends=ends)},
                {"infile": [source], "--names": [None if again else args.names]})
    return None if args.names is None else read_names(args.names)


def add_control(parser):
    """The operands control, a file or a scheme, and train."""
    parser.add("control", "training control file (- is standard input), or the name of a scheme of "
               "print_control")
    add_train(parser)
    parser.file_names["control"] = "control"


def add_bins(group):
    """The option --bins."""
    group.add("-q, --bins BINS", "bins of the calibration table (default 10)",
              whole_number(1, 100_000), default=10)


def add_plot(group, what, **settings):
    """The option --plot for a picture of `what`."""
    group.add("--plot FILE", f"a picture {what}: .png, .svg or .pdf (needs matplotlib)",
              output_file, **settings)


def add_label_options(group):
    """-L and --names of the commands that convert text."""
    group.add("-L, --ordinates", "the labels are numbers, whole or not: write base.dat in place "
              "of base.cls", excludes="--names")
    group.add("--names FILE", "class names, line i for label i, for labels that are words, "
              "negative or not whole: test data get the numbers of the training data")


def add_input_kind(parser, what="train", roles=True, excludes=("-A", "--table")):
    """-M and -A: LIBSVM or LVQ text in place of libAGF's binary files; and those of tables.

    With `roles` the columns of a table can be chosen, all or, "label", that of the classes: a model
    knows the others. -M excludes the options `excludes`.
    """
    group = parser.group("input")
    group.add("-M, --svm", f"{what} is LIBSVM text, `label index:value ...`, or - for standard "
              "input (default for a file that begins so)", excludes=excludes)
    group.add("-E, --missing VALUE",
              "with -M: the value of omitted features (default 0)"
              + (". With a table: treatment of missing values: error, "
                 "replacement by mean, median or value:X, indicator: the median, and a feature "
                 "that is 1 if a value is missing (default where fewer than half of the values of "
                 "each column are), or keep: numbers stay missing, for learner=trees"
                 if roles is True else ""))
    group.add("-A, --lvq", f"{what} is LVQ text: a line with the number of features, then a line "
              "of features and label for each sample", excludes="--table")
    group.add("-H, --no-header", "with -A: the first line has no number of features. With a "
              "table: the first line has no column names; columns are then named by numbers from "
              "1")
    add_table(parser, what, roles)
    return group


def add_model_files(group, normalised=None):
    """-y, --calibration and --uncalibrated, of the commands that read a trained configuration.
    `normalised` says what -a does with a normalisation, where there is that option."""
    if normalised is not None:
        group.add("-a, --norm-file FILE", f"normalisation (.std) to be {normalised}, in place of "
                  "the one that a control file names, or none: the points are already "
                  "normalised; an error for a model file with a normalisation")
    group.add("-y, --path FOLDER", "folder of the models that a control file names")
    group.add("--calibration FILE", "calibration of the probabilities, in place of the file "
              "control.cal beside a control file, or of the one in a .mbm")
    group.add("--uncalibrated", "no calibration: use the probabilities of the decoder",
              excludes="--calibration")


def add_training_kind(parser, what="train", groups=False):
    """The options of training data: those of `add_input_kind`, the weights and groups, and
    --min-class."""
    group = add_input_kind(parser, what)
    add_weights(group)
    if groups:
        add_groups(group)
    group.add("--min-class N", "leave out classes with fewer than N samples, from the data and "
              "from a control file that names them; they are never an answer", whole_number(1))
    return group


def input_format(args, source, lvq=None, labels=True, ordinates=False):
    """The `InputFormat` of the options of `add_input_kind`; `UsageError` where they disagree.

    `source` is the operand that names the data; `lvq` decides between LVQ and LIBSVM text where -A
    alone does not.
    """
    from ..data.types import InputFormat

    lvq = args.lvq if lvq is None else lvq
    if args.table or not (args.svm or lvq) and source is not None and is_table(source):
        if args.missing is not None and not hasattr(args, "categorical"):
            raise UsageError("-E with a table is for training: the model knows how missing values "
                             "are filled")
        return table_format(args, labels, ordinates, source)
    refuse_given(args, TABLES, "is for tables: a file that ends in .csv, .tsv, .parquet or "
                 ".feather, or --table" + (f"; found {source!r}" if source is not None else ""))
    weights, missing = weight_source(args, source), None
    if args.missing is not None:
        if not args.svm:
            raise UsageError("-E needs -M, or a table")
        try:
            missing = finite_number(args.missing)
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"argument -E/--missing: {error}") from None
    if args.no_header and not lvq:
        raise UsageError("-H needs -A, or a table")
    return InputFormat("svm" if args.svm else "lvq" if lvq else "binary", missing,
                       not args.no_header, labels, ordinates, weights=weights,
                       groups=groups_source(args))


def add_normalisation(parser, unnormalised=None, trains=True):
    """-n, -a and -S: normalise the features. `unnormalised` is the help of -u, None without it.
    With `trains` -n is the default for tables, and --no-normalise turns it off."""
    group = parser.group("normalisation")
    group.add("-n, --normalise",
              "subtract the mean of each feature and divide by its standard "
              "deviation; constant features are left out"
              + " (default for tables, unless -a gives a normalisation)" * trains,
              default=None if trains else False)
    if trains:
        group.add("--no-normalise", "do not normalise features, also of tables, and do not warn "
                  "of unequal standard deviations", dest="normalise", action="store_false",
                  default=None, excludes="-n")
    group.add("-a, --norm-file FILE", "file of the normalisation (.std): read, or, with -n or "
              "-S, written")
    group.add("-S, --svd N", "project the features on the first N singular vectors",
              whole_number(1))
    group.add("--weighted-norm", "with -n or -S: weighted means and deviations (default: all "
              "samples count equally)")
    group.add("--learn-metric [ROUNDS]", "with -n or -S: learn a linear map of the features from "
              "the classes, in ROUNDS rounds, or auto (default): 0 to 3, as many as reduce the "
              "error on holdout data. It is a part of the normalisation",
              or_auto(whole_number(0, 20)), const="auto")
    group.add("--diagonal", "with --learn-metric: only a weight for each feature, without "
              "mixtures; for thousands of features", needs="--learn-metric")
    group.add("--components D", "with --learn-metric: project on the D most important "
              "directions, or, below 1, on as many as have this share of the metric", finite_number,
              needs="--learn-metric")
    group.add("--metric-options OPTIONS", 'with --learn-metric: its machine, "-m LANDMARKS -g '
              'GAMMA -l LAMBDA" (default "-m 1000 -g auto -l auto"), and -t KERNEL (default rbf)',
              needs="--learn-metric")
    if unnormalised is not None:
        group.add("-u, --unnormalised", unnormalised)
    return group


NORMALISATION = ("-n", "-S", "-a", "--learn-metric", "--diagonal", "--components",
                 "--metric-options")  # options of `add_normalisation`


def checks_scales(args, form):
    """Return True if a warning of unequal scales is due: no option is about the normalisation."""
    return form.kind != "table" and (args.normalise, args.norm_file, args.svd) == (None,) * 3


def model_source(args, path, **settings):
    """The `ModelSource` of a model by the options of `add_model_files`, and -a where it is one.
    `settings` are further fields."""
    from ..data.libagf import read_std
    from ..models.files import ModelSource

    norm_file = getattr(args, "norm_file", None)
    normalisation = None if norm_file in (None, NO_NORMALISATION) else read_std(norm_file)
    return ModelSource(path, **{
        "models_in": args.path, "calibration": args.calibration, "normalisation": normalisation,
        "uncalibrated": args.uncalibrated, "named": norm_file is None, **settings})


def learned_metric(args, scale):
    """The `MetricOptions` of the options of `add_normalisation`, or None; `UsageError` for wrong
    ones. `scale` says that features are normalised as by -n."""
    if args.weighted_norm and not scale and args.svd is None:
        raise UsageError("--weighted-norm is for a normalisation that is fitted: -n, or -S")
    if args.learn_metric is None:
        return None
    if not scale and args.svd is None:
        raise UsageError("--learn-metric needs normalised features: -n, or -S")
    from ..training.metric import machine_options, MetricOptions

    rounds = None if args.learn_metric == "auto" else args.learn_metric
    return MetricOptions(rounds, args.diagonal, args.components,
                         machine_options(args.metric_options or ""))


def is_trained(tree):
    """Return True if the control tree names the models of its classifiers."""
    return all(row.is_name for row in tree.rows) and all(
        node.name is not None for node in tree.directs.values())


def check_normalised(configuration, form, model, norm_file):
    """`UsageError` where a table would go to a model without the normalisation of its points; of
    other points a warning, without -a."""
    if not configuration.lacks_normalisation:
        return
    if form.kind == "table":
        raise UsageError(f"{model} was trained on normalised points, and tables are not: -a FILE "
                         "gives the normalisation that multi_borders wrote")
    if norm_file is None:
        warnings.warn(f"{model}: trained on normalised points, and no normalisation is given (-a): "
                      "the points are assumed to be normalised", AgfmcWarning, stacklevel=3)


def fits_normalisation(args):
    """Return True if the options ask for a normalisation of the data."""
    return getattr(args, "normalise", False) or getattr(args, "svd", None) is not None


def training_settings(args, form, **more):
    """The `TrainingSettings` of --options, --seed and those of `add_normalisation`.

    They are those that the command has, for data of an `InputFormat`; `more` are further ones.
    """
    from ..training.fit import TrainingSettings

    scale = args.normalise
    if scale is None:
        scale = form.kind == "table" and (args.norm_file is None or args.svd is not None)
    return TrainingSettings(
        getattr(args, "options", None), 1 if args.seed is None else args.seed, scale, args.svd,
        metric=learned_metric(args, scale), weighted_norm=args.weighted_norm, **more)


class PointsRequest(NamedTuple):
    """Training data, and the `TrainingSettings` by which they are normalised.

    `norm_file` is as for `load_training`, or to be written; `scales` is as there.
    """

    source: str
    form: object
    settings: object
    norm_file: str | None
    min_class: int | None
    scales: bool = False

    def load(self):
        """The `Dataset`, its points as they are, or as -n, -S and -a make them, and the
        normalisation that was fitted, or None."""
        from ..data.training import load_training

        fit = self.settings.fit_normalisation if self.settings.fits_normalisation else None
        data, normalisation, _ = load_training(
            self.source, self.form, fit=fit, norm_file=self.norm_file, min_class=self.min_class,
            scales=self.scales)
        return data, None if fit is None else normalisation


def points_request(args, source, form):
    """The `PointsRequest` of the options."""
    return PointsRequest(source, form, training_settings(args, form), args.norm_file,
                         args.min_class, checks_scales(args, form))


def load_normalised(points):
    """The `Dataset` of a `PointsRequest`. A normalisation is written to the file of -a."""
    from ..data.metric_file import check_metric_output
    from ..data.libagf import write_std

    path, settings = points.norm_file, points.settings
    written = path is not None and settings.fits_normalisation
    if written:  # before the learning
        if settings.metric is not None:
            check_metric_output(path)
        check_output(path)
    data, normalisation = points.load()
    if written:
        write_std(path, normalisation)
        if settings.metric is not None:
            report_metric(settings.metric, settings.nsv, normalisation, path)
    return data


def report_metric(metric, nsv, normalisation, path):
    """A line about the metric that was learned with a normalisation, by `MetricOptions`.

    `nsv` are the singular vectors of -S, or None; `path` is that of the `.std` file.
    """
    from ..data.metric_file import metric_path
    from ..training.metric import FEWEST, MOST_ROUNDS

    learned, beside = normalisation.metric, metric_path(path)
    rounds, losses = learned.rounds, [loss for loss, _ in learned.losses]
    text = f"metric: {counted(rounds, 'round')}"
    if losses and rounds:
        most = ", the most that auto tries" if rounds == MOST_ROUNDS else ""
        text += f"{most}, with which the log loss of pairs of classes falls from " \
                f"{losses[0]:.4g} to {losses[rounds]:.4g} for held-out points"
    elif losses:
        text += ", as with more the log loss of pairs of classes for held-out points, " \
                f"{losses[0]:.4g}, does not fall by a standard error"
    elif metric.rounds is None:
        text += ", as there are too few points to choose rounds"
    elif rounds and learned.points < FEWEST:
        text += f", learned from {learned.points} points, which are too few to trust it"
    if metric.components is not None:
        matrix = normalisation.matrix
        before = nsv or len(matrix) - len(normalisation.dropped)
        text += f"; {matrix.shape[1]} of {before} directions"
    report(text + (f"; weights of features in {beside}" if beside and rounds else ""))


def add_kernel_memory(group):
    """The option --kernel-memory."""
    group.add("--kernel-memory MB", "megabytes for tables of kernel values, used if they save "
              "time (default 512; 0: none), and for the sums of learner=nystrom, which need at "
              "least 16 P^2 bytes with P landmarks. Results do not depend on it",
              whole_number(0, 10**9), default=512)


def add_time_limit(group, what, **settings):
    """The option --time-limit of commands that go on where they stopped; what: they then do."""
    group.add("--time-limit TIME", f"stop after TIME, in seconds, M:SS or H:MM:SS, and {what}; the "
              "exit status is then 3, and the same command continues from there", time_span,
              **settings)


def deadline_of(args):
    """The end of --time-limit on `time.monotonic`, or None."""
    return None if args.time_limit is None else time.monotonic() + args.time_limit


def add_seed(group, splits=1):
    """The option --seed, None where it is not given and the `splits` have another one than 1."""
    default_words = "1" if splits == 1 else f"{splits} for the splits, else 1"
    group.add("--seed N", f"seed of all random choices (default {default_words})", whole_number(0),
              default=1 if splits == 1 else None)


def add_workers(group):
    """The option -j."""
    group.add("-j, --jobs N", "threads; 0 means all cores of this process (default 1). Results do "
              "not depend on it", whole_number(0, 1024), default=1)


def add_executor(group):
    """Add --executor to a group that has -j."""
    group.add("--executor WHERE", "workers, in place of -j: dask:HOST:PORT or dask:FILE, a "
              "running dask.distributed cluster by its scheduler's address or scheduler file; "
              "processes:N, N processes on this machine (processes: one for each core); or "
              "threads:N, as -j. Results do not depend on it", excludes="-j")


def workers(args):
    """The workers of -j or --executor, for a `with` block: a number of threads, or an executor.
    `UsageError` at once, before the block, for text that names none."""
    if args.executor is None:
        from ..executors.threads import available_cores

        return contextlib.nullcontext(args.jobs or available_cores())
    from ..executors.remote import executor_kind, open_executor

    executor_kind(args.executor)
    return open_executor(args.executor)
