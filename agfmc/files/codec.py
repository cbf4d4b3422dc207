"""JSON from files that anybody may have written, and frozen dataclasses as JSON.

`encode` makes plain values of a dataclass, and `decode` a dataclass of plain values, which the
annotations of its fields check.  `Annotated[kind, rule]` narrows a kind down: a `range` of whole
numbers, the (least, largest) of others, a regular expression that matches the whole text, a
function that leaves the text as it is; `Annotated[np.ndarray, dtype, 1, 2]` are arrays of one or
two dimensions.  A class with `from_line` is a line of text.  Fields whose metadata say
`stored=False` are left out; those that say `optional=True` are left out where they are None.

A sidecar is such a dataclass in a separate file:

    {
     "format": "agfmc calibration",
     "version": 1,
     "made_by": "agfmc 0.3.0",      these two lines where the file is sealed:
     "sum": "1b0c7fa2d9e86435",     the digest of all lines below, which may be deleted
     ...
    }

The last line of a model file that is sealed, a comment with the record of its making, ends in
`"run": DIGEST, "sum": DIGEST}`, of sixteen hexadecimal digits each: of all that decides the file, and
of all bytes before the sum.  Version 0.3.0 wrote `; made from DIGEST; sum DIGEST`.
"""

import dataclasses
import functools
import json
import math
import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from itertools import chain
from types import NoneType, UnionType
from typing import Annotated, get_args, get_origin, get_type_hints, Literal, Union

import numpy as np

from ..core.errors import ModelError, one_line, UsageError
from ..core.version import __version__
from .atomic import checked
from .opening import open_input

_PLAIN = {
    str: ((str,), "text"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
}
_VERSION = 1
_SUM = re.compile(rb'\n "sum": "[^"\n]*",(?=\n)')
_SEAL = re.compile(
    r'(?:, "run": "|; made from )([0-9a-f]{16})(?:", "sum": "|; sum )([0-9a-f]{16})("})?\Z'
)
_LENGTH = 70  # more characters than a seal has


def strict_json(raw: bytes):
    """The value of JSON in UTF-8; `ValueError` or `RecursionError` where it is none.

    Refused too: a key that stands twice, NaN and infinity, and whole numbers of more than 20
    digits, as those of hundreds of thousands take minutes.
    """
    return json.loads(
        raw.decode("utf-8"),
        object_pairs_hook=_object,
        parse_constant=_refused,
        parse_int=lambda text: int(text) if len(text) <= 20 else _refused(text),
    )


def json_object(line: bytes) -> dict:
    """The JSON object in a line, with names and words that UTF-8 can hold; `ValueError` for others."""
    try:
        members = strict_json(line)
        if b"\\u" in line:  # half a character
            json.dumps(members, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        raise ValueError("expected a JSON object")
    return members


def _object(pairs):
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key stands twice")
    return value


def _refused(text):
    raise ValueError(f"{text[:20]} is no number")


@functools.cache
def _fields(kind):
    hints = get_type_hints(kind, localns={"np": np}, include_extras=True)
    return {
        field.name: hints[field.name]
        for field in dataclasses.fields(kind)
        if field.metadata.get("stored", True)
    }


@functools.cache
def _optional(kind):
    return {field.name for field in dataclasses.fields(kind) if field.metadata.get("optional")}


def encode(value, array=np.ndarray.tolist):
    """A dataclass as plain values; array(a): the replacement of an array."""
    if hasattr(value, "to_line"):
        return value.to_line()
    if dataclasses.is_dataclass(value):
        parts = {
            name: (getattr(value, name), kind)
            for name, kind in _fields(type(value)).items()
            if name not in _optional(type(value)) or getattr(value, name) is not None
        }
        return {
            name: array(np.asarray(part, get_args(kind)[1]))
            if isinstance(part, np.ndarray)
            else encode(part, array)
            for name, (part, kind) in parts.items()
        }
    if isinstance(value, Mapping):
        return {key: encode(part, array) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(part, array) for part in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def decode(kind, value, fail, array=None):
    """The dataclass `kind` of plain values; fail(message) makes the error, with the key's path.

    array(value, dtype, dimensions): the array of what takes its place, or `ValueError`; by
    default of lists of finite numbers.
    """
    return _Decoder(fail, array or _array).value(kind, value, "")


def _without_rules(kind):
    if get_origin(kind) is Annotated:
        return kind.__origin__, kind.__metadata__
    return kind, ()


class _Decoder:
    def __init__(self, fail, array):
        self._fail, self._array = fail, array

    def _at(self, where, message):
        return self._fail(f"{where[1:]}: {message}" if where else message)

    def _expected(self, what, value, where):
        shown = {list: "a list", dict: "an object"}.get(type(value)) or json.dumps(value)[:40]
        return self._at(where, f"expected {what}, found {shown}")

    def value(self, kind, value, where):
        kind, rules = _without_rules(kind)
        if get_origin(kind) in (Union, UnionType):
            if value is None:
                return None
            kinds = [part for part in get_args(kind) if part is not NoneType]
            kind = next(
                (
                    part
                    for part in kinds
                    if type(value) in _PLAIN.get(_without_rules(part)[0], ((),))[0]
                ),
                kinds[0],
            )
            kind, rules = (kind, rules) if rules else _without_rules(kind)
        if kind in _PLAIN:
            return self._plain(kind, value, rules, where)
        if kind is np.ndarray:
            try:
                return self._array(value, np.dtype(rules[0]), rules[1:])
            except ValueError as error:
                raise self._at(where, error) from None
        if get_origin(kind) is Literal:
            if value not in get_args(kind):
                raise self._expected(f"one of {', '.join(get_args(kind))}", value, where)
            return value
        if get_origin(kind) is tuple:
            return self._tuple(get_args(kind), value, where)
        if hasattr(kind, "from_line"):
            return kind.from_line(self._plain(str, value, [one_line], where))
        return self._object(kind, value, where)

    def _plain(self, kind, value, rules, where):
        types, what = _PLAIN[kind]
        if type(value) not in types or kind is float and not abs(value) < math.inf:
            raise self._expected(what, value, where)
        for rule in rules:
            if isinstance(rule, range):
                good, what = value in rule, f"{what} from {rule.start} to {rule.stop - 1}"
            elif isinstance(rule, tuple):
                good, what = rule[0] <= value <= rule[1], f"{what} from {rule[0]} to {rule[1]}"
            else:
                if callable(rule):
                    good = rule(value) == value
                else:
                    good = re.fullmatch(rule, value)
                if rule is one_line:
                    what = "a line of text"
                else:
                    what = "text of another kind"
            if not good:
                raise self._expected(what, value, where)
        return kind(value)

    def _tuple(self, kinds, value, where):
        if type(value) is not list or kinds[-1] is not ... and len(value) != len(kinds):
            raise self._expected(
                "a list" if kinds[-1] is ... else f"a list of {len(kinds)}", value, where
            )
        plain, rules = _without_rules(kinds[0])
        if kinds[-1] is ... and plain in _PLAIN:  # there may be many
            return tuple(
                [self._plain(plain, part, rules, f"{where}[{i}]") for i, part in enumerate(value)]
            )
        if kinds[-1] is ...:
            each = kinds[:1] * len(value)
        else:
            each = kinds
        return tuple(
            self.value(kind, part, f"{where}[{i}]")
            for i, (kind, part) in enumerate(zip(each, value))
        )

    def _object(self, kind, value, where):
        if type(value) is not dict:
            raise self._expected("an object", value, where)
        if get_origin(kind) is Mapping:
            key_kind, part_kind = get_args(kind)
            return {
                self.value(key_kind, key, where): self.value(part_kind, part, f"{where}.{key}")
                for key, part in value.items()
            }
        expected = _fields(kind)
        for key in [*expected, *value]:
            if key not in value and key not in _optional(kind) or key not in expected:
                raise self._at(
                    f"{where}.{key[:40]}",
                    "this key is missing" if key in expected else "there is no such key",
                )
        parts = {
            key: self.value(part, value[key], f"{where}.{key}")
            for key, part in expected.items()
            if key in value
        }
        try:
            return kind(**parts)
        except UsageError as error:  # of a value that no option could have given
            raise self._at(where, error) from None


def _array(value, dtype, dimensions):
    shape = []
    parts = [value]
    while parts and type(parts[0]) is list:
        lengths = {len(part) if type(part) is list else -1 for part in parts}
        if len(lengths) > 1:
            raise ValueError("expected lists of equal lengths")
        shape.append(lengths.pop())
        parts = list(chain.from_iterable(parts))
    if len(shape) not in dimensions:
        raise ValueError(f"expected numbers in {dimensions[0]} dimensions, found {len(shape)}")
    types = {"b": {bool}, "i": {int}, "f": {int, float}}[dtype.kind]
    if not set(map(type, parts)) <= types:
        raise ValueError(f"expected {'true or false' if dtype.kind == 'b' else 'numbers'} alone")
    try:
        array = np.array(parts, dtype)
    except OverflowError:
        raise ValueError("a number is too large") from None
    if not np.isfinite(array).all():
        raise ValueError("a number is not finite")
    return array.reshape(shape)


@dataclasses.dataclass(frozen=True)
class Sidecar:
    """A kind of sidecar.

    Attributes
    ----------
    title : name of the format
    kind : dataclass of the contents
    check : function of (content, fail) that raises fail(message) for contradictory fields
    error : class of the errors
    expected : first words of their messages
    most : number of bytes that are read at most, or None
    """

    title: str
    kind: type
    check: Callable
    error: type = ModelError
    expected: str = ""
    sealed: bool = True
    most: int | None = None

    def begins(self, path):
        """Return True if the file begins as such a sidecar."""
        with open_input(path) as file:
            head = file.read(500)
        start = f'{{"format":"{self.title}"'.replace(" ", "").encode()
        return b"".join(head.split()).startswith(start)

    def format(self, content, path=None):
        """The text of a dataclass, which is `checked`."""
        plain = checked(encode(content), lambda plain: self._decoded(plain, path), path)
        lines = (
            ",\n".join(
                f" {json.dumps(key)}: {_text(value, chr(10) + ' ')}" for key, value in plain.items()
            )
            + "\n}\n"
        )
        seal = f' "made_by": "agfmc {__version__}",\n "sum": "{_digest(lines.encode())}",\n'
        text = (
            f'{{\n "format": "{self.title}",\n "version": {_VERSION},\n{seal * self.sealed}{lines}'
        )
        if self.most is not None and len(text.encode()) > self.most:
            raise ModelError(
                "cannot write this file, because no command could read it: larger "
                f"than {self.most >> 20} MiB",
                file=path,
            )
        return text

    def read(self, raw, path):
        """The dataclass in the bytes of a file; raises `error` for any others."""
        return self._decoded(_plain(self.title, raw, path, self.error), path)

    def _decoded(self, plain, path):
        def fail(message):
            return self.error(f"{self.expected}{message}", file=path)

        content = decode(self.kind, plain, fail)
        self.check(content, fail)
        return content


def _text(value, line):
    """JSON, each entry of an object and each object of a list on a separate line."""
    inner = f"{line} "
    if isinstance(value, dict) and value:
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {_text(part, inner)}"
            for key, part in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return f"[{inner}{f',{inner}'.join(_text(part, inner) for part in value)}{line}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _digest(data):
    return blake2b(data, digest_size=8).hexdigest()


def _plain(title, raw, path, error):
    try:
        plain = strict_json(raw)
    except (ValueError, RecursionError) as reason:
        if isinstance(reason, json.JSONDecodeError):
            why = reason.msg.removesuffix(" at")
        else:
            why = reason
        if not raw.strip():
            content = "an empty file"
        elif isinstance(reason, UnicodeDecodeError):
            content = "other bytes"
        else:
            content = f"no JSON ({why})"
        raise error(
            f"expected '{title}', found {content}", file=path, line=getattr(reason, "lineno", None)
        ) from None
    if type(plain) is not dict or plain.pop("format", None) != title:
        raise error(f"expected '{title}', found another format", file=path)
    version = plain.pop("version", None)
    if type(version) is not int or version != _VERSION:
        raise error(
            f"has version {json.dumps(version)[:20]} of this format, this program reads "
            f"{_VERSION}: use a newer version of the suite",
            file=path,
        )
    plain.pop("made_by", None)
    if "sum" in plain:
        text = raw.replace(b"\r\n", b"\n")
        seal = _SUM.search(text)
        if seal is None or _digest(text[seal.end() + 1 :]) != plain.pop("sum"):
            raise error(
                "changed or damaged since it was written: its checksum disagrees (if it "
                'was changed on purpose, remove the line "sum")',
                file=path,
            )
    return plain


def sealed(text, digest):
    """`text`, whose last line has a record, with a seal in that; digest: of its origin."""
    head = text.removesuffix("}\n")
    head = f'{head}, "run": "{digest}", "sum": "'
    return f'{head}{_digest(head.encode())}"}}\n'


def seal_of(raw):
    """The digest of its origin in the bytes of a file; None where a byte was changed."""
    if not raw.endswith(b"\n"):
        return None
    tail = raw[-_LENGTH - 1 : -1].decode("latin-1")
    match = _SEAL.search(tail)
    if match is None:
        return None
    behind = len(tail) - match.start(2) + 1
    if _digest(memoryview(raw)[:-behind]) == match[2]:
        return match[1]
    return None


def check_seal(raw, path):
    """Raise `ModelError` where the bytes of a file are not those that were sealed.

    A file without a seal, or with one that was removed, is as good as any; line ends of
    another system change nothing.
    """
    end = raw.rstrip()
    match = _SEAL.search(end[-_LENGTH:].decode("latin-1"))
    if match is not None and seal_of(raw) is None and seal_of(raw.replace(b"\r\n", b"\n")) is None:
        raise ModelError(
            "changed or damaged since it was written: its checksum disagrees (if "
            "it was changed on purpose, remove the last line)",
            file=path,
            line=end.count(b"\n") + 1,
        )
