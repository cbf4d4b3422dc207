"""Types of options: functions that make a value of the text of an option."""

import argparse
import math
import re
from contextlib import suppress

from ..core.errors import UsageError
from ..core.text import numeral
from ..core.weights import BALANCED


def whole_number(low, high=2**62):
    """A type for options: a whole number from `low` to `high`."""

    def convert(text):
        try:
            value = numeral(text, whole=True)
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected a whole number, found '{text}'") from None
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"{value} is out of range: expected "
                + (f"{low} or more" if high == 2**62 else f"{low} to {high}")
            )
        return value

    return convert


def workers_of_option(text):
    """The value of -j: a number of threads, or the text that names an executor."""
    if text[:1].isdigit() or text[:1] == "-":
        return whole_number(0, 1024)(text)
    from ..executors.remote import executor_kind

    try:
        executor_kind(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(error.message) from None
    return text


def class_limit(text):
    """A type for options: the least number of samples of a class, and, after a comma, of groups."""
    samples, comma, groups = text.partition(",")
    least = whole_number(1)(samples)
    if comma:
        return (least, whole_number(2)(groups))
    return least


class Arguments(argparse.Namespace):
    """Parsed arguments, of which only `execute` of a command knows: it makes a request of them.

    `parser` is that of the command, `given_words` are the words of the command line, and `files` as
    of `Parser.files_of`.
    """

    def given(self, *names):
        """The operands and options of these names that have another value than their default."""
        actions = {action.dest: action for action in self.parser._actions}
        actions |= self.parser._option_string_actions
        return [name for name in names if name in actions and self._differs(actions[name])]

    def _differs(self, action):
        value = getattr(self, action.dest, action.default)
        if action.nargs == 0:
            return value == action.const
        return value != action.default

    def request(self, kind, **values):
        """A `kind`, a dataclass, of these values of its fields, and of the options that have the
        names of others."""
        options = vars(self)
        fields = kind.__dataclass_fields__
        return kind(**{**{name: options[name] for name in fields if name in options}, **values})

    def refuse(self, names, message):
        """`UsageError` where one of the operands and options with these names is given."""
        for name in self.given(*names):
            raise UsageError(f"{name} {message}")

    def values(self, *names):
        """{option: its value} of those with these names that are given."""
        options = self.parser._option_string_actions
        return {name: getattr(self, options[name].dest) for name in self.given(*names)}

    def option_words(self, *names):
        """The options of these names that are given, as words of a command line."""
        return [option_word(name, value) for name, value in self.values(*names).items()]


def option_word(name, value):
    """An option with its value as a word of a command line; True is that of a flag."""
    if value is True:
        return name
    if isinstance(value, dict):
        value = [f"{key}={item!r}" for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        value = joined(value)
    return f"{name}={value}"


def output_file(text):
    """A type for the name of a file that the command writes."""
    if not text:
        raise argparse.ArgumentTypeError("expected the name of a file, found ''")
    return text


def output_base(text):
    """A type for a name that outputs begin with, or that may be an input, too: the command itself
    gives `check_files` what it writes."""
    return text


def list_of(convert):
    """A type for options: values with commas between them."""
    return lambda text: [convert(word) for word in text.split(",")]


def finite_number(text):
    """A type for options: a finite number."""
    try:
        value = numeral(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a number, found '{text}'")
    return value


def _number(expected, fits):
    """A type for options: a number that fits; expected: which do, in words."""

    def convert(text):
        with suppress(ValueError):
            if fits(value := numeral(text)):
                return value
        raise argparse.ArgumentTypeError(f"expected {expected}, found '{text}'")

    return convert


probability = _number("a number from 0 to 1", lambda value: 0 <= value <= 1)
fraction = _number("a number between 0 and 1", lambda value: 0 < value < 1)


def time_span(text):
    """A type for options: seconds, or M:SS, or H:MM:SS."""
    parts = text.split(":")
    clock = re.fullmatch(r"(?:[0-9]{1,6}:)?[0-9]{1,6}:[0-5][0-9]", text)
    plain = re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+", text)
    if not clock and not plain or len(parts) == 3 and int(parts[1]) > 59:
        raise argparse.ArgumentTypeError(f"expected seconds, M:SS or H:MM:SS, found '{text}'")
    return math.fsum(float(part) * 60**i for i, part in enumerate(reversed(parts)))


def names(text):
    """A type for options: names with commas between them; quotes hold a comma in one."""
    import csv

    try:
        (row,) = csv.reader([text], strict=True, skipinitialspace=False)
    except (csv.Error, ValueError):
        raise argparse.ArgumentTypeError(f"expected names with commas, found '{text}'") from None
    if not row or "" in row:
        raise argparse.ArgumentTypeError(f"a name is empty in '{text}'")
    return tuple(row)


def blanks(text):
    """A type for options: names with commas, or none."""
    if text:
        return names(text)
    return ()


PROPORTIONS = (
    "numbers p,p,... in ascending order of the labels, label=p,... or name=p,... for "
    "all of them, or the .cls file of a sample"
)


def proportions(text):
    """A type for options: the name of a .cls file, a list of numbers, or {label: number}."""
    if text.endswith(".cls"):
        return text
    words = text.split(",")
    if "=" not in text:
        try:
            return [finite_number(word) for word in words]
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(
                f"expected p,p,... or label=p,... or a .cls file: {error}"
            ) from None
    return {
        int(key) if key.isdecimal() else key: number
        for key, number in _by_class(words, "label=p").items()
    }


def _by_class(words, form):
    numbers: dict = {}
    for word in words:
        key, _, number = word.rpartition("=")
        key = key.strip()
        if not key:
            raise argparse.ArgumentTypeError(f"expected {form}, found '{word}'")
        if key in numbers:
            raise argparse.ArgumentTypeError(f"class {key} is named twice")
        numbers[key] = finite_number(number)
    return numbers


CLASS_WEIGHTS = (
    f"{BALANCED}, label=w,... or name=w,... of some classes, 1 for the others, or a "
    "file with a class and its weight in each line"
)


def class_weights(text):
    """A type for options: `BALANCED`, {label or name: factor}, or the name of a file, as text."""
    if "=" not in text:
        if not text or "," in text:
            raise argparse.ArgumentTypeError(f"expected {CLASS_WEIGHTS}, found '{text}'")
        return text
    numbers = _by_class(names(text), "label=w or name=w")
    for key, number in numbers.items():
        if number <= 0:
            raise argparse.ArgumentTypeError(
                f"class {key}: expected a weight above 0, found '{number:g}'"
            )
    return numbers


def joined(words):
    """Words as `names` takes them apart."""
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(words)
    return text.getvalue()
