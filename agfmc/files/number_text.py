"""Text of numbers, read in blocks of whole lines, split and converted with numpy.

The text formats share this: blank lines and comments from `#` to the end of the line are
allowed everywhere, and so are CRLF and a last line without newline.  `is_text`, `foreign_line` and
`foreign_start` recognise what comes where another format is expected.
"""

import itertools
import math
import re
import warnings
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError
from .opening import MARK, peek, read_all

# What was expected where there is text, {} being its name.

POINTS = 'points (.vec); LIBSVM text is read with `kind="svm"`, LVQ text with `kind="lvq"`'
SCALE = (
    "a normalisation (.std), as `normalise` writes it; a file of svm-scale is for "
    "`svm-scale -r {} data`"
)
LABELS = (
    "binary labels (.cls): `svmout2agf {} base` makes base.cls of one label in each line, "
    "svm2agf of LIBSVM text, lvq2agf of LVQ text"
)
VALUES = (
    "binary numbers, float32 (.con, .dat): svm2agf -L and lvq2agf -L make base.dat of text "
    "with numbers in the place of labels"
)
_SURE = 16  # numbers that are text, though no newline ends it
TABLE_MARKS = {b";": "semicolons", b"|": "bars", b"\t": "tabs", b",": "commas"}
_ENTRY = re.compile(rb"\d+:[-+.\w]*,?\Z")
_SPACED = re.compile(rb"(?<!\d),|,(?!\d)")  # no comma of a decimal fraction
_STARTS = {
    b"\x1f\x8b\x08": "it is compressed: `gunzip` it, or if it is a table, ",
    b"PAR1": "it is a Parquet table: ",
    b"ARRO": "it is an Arrow table (.feather): ",
    b"FEA1": "it is an Arrow table (.feather): ",
}
_UTF_16 = b"\xff\xfe", b"\xfe\xff"
SPREADSHEET = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # new ones, and those before 2007
_PARTITION = re.compile(rb"""\s*(?:"[^"]*"\s*|[^\s"]+\s+)(?:\d+\s+)+/\s*\d+(?:\s+\d+)*\s*;""")
_LINE = 1 << 12  # bytes of a line that tell what it is
_HEAD = 1 << 16  # of a file


def is_text(data, floats=False):
    """True if the bytes, read in place of labels or float32 numbers, are text.

    All of them must be text in UTF-8, and they end in a newline, or are no whole numbers of four
    bytes, or are sixteen labels, or sixteen different float32 numbers.  Real ones are not like
    that: a label of four bytes of text is above 150 million, a float32 whose last byte is a
    newline is below 1e-30, and other bytes are in every whole float32 below 2^16.
    """
    if not data or CONTROL.search(data):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if data.endswith((b"\n", b"\r")) or len(data) % 4:
        return True
    words = np.frombuffer(data, np.uint32)
    return len(np.unique(words) if floats else words) >= _SURE


def _tells_kind(head):
    """Return True if first bytes tell what follows: two lines, or bytes that no text has."""
    return head.count(b"\n") >= 2 or CONTROL.search(head) is not None


def kind_of_file(path):
    """The kind of data in a file or stream by its first bytes: "svm", "lvq", "table", or ""."""
    head = peek(path, _HEAD, _tells_kind)
    if head.startswith((*_STARTS, *SPREADSHEET, *_UTF_16)):
        return "table"
    if CONTROL.search(head[:_LINE]):
        return ""
    if _begins_svm(head):
        return "svm"
    line, following = _first_lines(head)
    words = line.split()
    next_words = following.split()
    if len(words) == 1 and words[0].isdigit() and len(next_words) - int(words[0]) in (0, 1):
        return "lvq"
    # a control file and JSON have braces; a table may begin with # in its first name
    is_other = b"{" in line or _PARTITION.match(line)
    first = head.removeprefix(MARK).lstrip().split(b"\n", 1)[0]
    if _table_mark(first) and not is_other:
        return "table"
    return ""


def _first_lines(head):
    lines = (line.partition(b"#")[0].strip() for line in head.removeprefix(MARK).split(b"\n"))
    return [*itertools.islice(filter(None, lines), 2), b"", b""][:2]


def is_svm(path):
    """Return True if a file begins like LIBSVM text."""
    return _begins_svm(peek(path, _HEAD, _tells_kind))


def _begins_svm(head):
    """Return True for LIBSVM text, by the first line with more than a label."""
    lines = head.split(b"\n")[:-1] or [head.rpartition(b" ")[0]]
    entries = next(filter(None, (line.split(b"#")[0].split()[1:] for line in lines)), ())
    return bool(entries) and all(map(_ENTRY.match, entries))


def foreign_line(line, name):
    """A hint for a line in another format: its likely kind and what reads the file, or ""."""
    line = line[:_LINE].split(b"#")[0]
    if any(_ENTRY.match(word) for word in line.split()[1:]):
        return 'it looks like LIBSVM text (`kind="svm"`, svm2agf)'
    if _PARTITION.match(line):
        return "it looks like a control file, not like data"
    return table_line(line, name)


def table_line(line, name):
    """A hint for a line of a table, of the file with the name, or ""."""
    mark = _table_mark(line)
    if mark:
        return f"it looks like a table with {TABLE_MARKS[mark]}: {table_way(name)}"
    return ""


def _table_mark(line):
    """The mark between the cells of a line of a table, or None."""
    line = line[:_LINE]
    words = line.split()
    if any(_ENTRY.match(word) for word in words[1:]):
        return None
    mark = max(TABLE_MARKS, key=line.count)
    cells = line.split(mark)
    is_table_line = len(cells) > 1
    if mark == b"\t":  # LVQ text may have them too, with one word at most
        is_table_line = sum(not NUMBER.fullmatch(cell.strip()) for cell in cells) > 1
    elif mark == b",":
        is_table_line &= (
            len(words) == 1 or len(cells) > len(words) + 1 or _SPACED.search(line) is not None
        )
    if is_table_line:
        return mark
    return None


def foreign_start(data, name):
    """A hint for the first bytes of a file that is no text: a table of another kind, or ""."""
    if data.startswith(SPREADSHEET):
        return "it is a spreadsheet or an archive: save the table as CSV"
    return "".join(
        kind + table_way(name) for start, kind in _STARTS.items() if data.startswith(start)
    )


def table_way(name):
    """The words that say what reads the table of a name."""
    return (
        'training and classification read it without `kind="svm"` and `kind="lvq"`, and '
        f"`table2agf {name} base` makes it binary"
    )


BLOCK = 1 << 22  # bytes; large enough for numpy, small beside the result
LONGEST_LINE = 1 << 27  # bytes; a block takes some twenty times its size

NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_COMMENT = re.compile(rb"#[^\n]*")
_PIECE = 1 << 18


def blocks(file, size=BLOCK):
    """Yield (text of whole lines without comments, number of its first line from 1).

    `file` comes from `files.open_input`.  Raises DataError for what is not text.
    """
    first_line, first = 1, True
    pieces = []
    held = 0
    while True:
        piece = file.read(size)
        if first:
            piece = read_all(file, len(MARK), piece)
            if other := foreign_start(piece, file.name):
                raise DataError(f"is not text; {other}", file=file.name)
        if b"\0" in piece:
            line = (
                first_line
                + b"".join(pieces).count(b"\n")
                + piece.count(b"\n", 0, piece.find(b"\0"))
            )
            raise DataError("is not text: there is a NUL in the line", file=file.name, line=line)
        if first:
            first, piece = False, piece.removeprefix(MARK) or file.read(size)
        cut = piece.rfind(b"\n") + 1
        if piece and not cut:
            pieces.append(piece)
            held += len(piece)
            if held > LONGEST_LINE:
                raise DataError("the line is too long", file=file.name, line=first_line)
            continue
        text = b"".join(pieces) + piece[:cut]
        pieces = [piece[cut:]]
        held = len(piece) - cut
        if not piece and text:
            text += b"\n"
        if text:
            yield _without_comments(text) if b"#" in text else text, first_line
            first_line += text.count(b"\n")
        if not piece:
            return


def _without_comments(text):
    """The text without comments, in pieces of whole lines, to hold few of them at a time."""
    pieces = []
    at = 0
    while at < len(text):
        end = text.find(b"\n", min(at + _PIECE, len(text) - 1)) + 1 or len(text)
        pieces.append(_COMMENT.sub(b"", text[at:end]))
        at = end
    return b"".join(pieces)


class Tokens(NamedTuple):
    """The words of a block of text, separated by blanks.

    Attributes
    ----------
    text : bytes of the block, a writable uint8 array
    start, end : positions (t,) of each token
    first : first token (n,) of each line that has any
    count : number (n,) of tokens of the line
    line : number (n,) of the line in the file
    """

    text: np.ndarray
    start: np.ndarray
    end: np.ndarray
    first: np.ndarray
    count: np.ndarray
    line: np.ndarray

    def words(self, i: int) -> list[bytes]:
        """The tokens of the i-th line that has any."""
        tokens = range(int(self.first[i]), int(self.first[i] + self.count[i]))
        return [self.text[self.start[j] : self.end[j]].tobytes() for j in tokens]

    def without_first_line(self) -> "Tokens":
        """The other lines, the first blanked out in the text."""
        count = int(self.count[0])
        self.text[: self.end[count - 1]] = 32
        return self._replace(
            start=self.start[count:],
            end=self.end[count:],
            first=self.first[1:] - count,
            count=self.count[1:],
            line=self.line[1:],
        )


def tokenise(data, first_line):
    """The Tokens of a block that ends with a newline."""
    text = np.frombuffer(bytearray(b"\n" + data), np.uint8)
    blank = (text - np.uint8(9) < 5) | (text == 32)  # the white space of bytes.split
    edge = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    start = edge[0::2]
    end = edge[1::2]
    begin = np.flatnonzero(text == 10)[:-1]
    first = np.append(np.searchsorted(start, begin), len(start))
    count = np.diff(first)
    used = np.flatnonzero(count)
    return Tokens(text, start, end, first[used], count[used], first_line + used)


def parsed_blocks(file, parse, check_line, size=BLOCK):
    """Yield parse(tokens) of each block of a text that has words, as of `blocks`.

    Where that is None, or DataError is raised, check_line(line, number) is called for each line of
    the block, so that the error is that of the first line that is wrong.
    """
    for data, first_line in blocks(file, size):
        tokens = tokenise(data, first_line)
        if not len(tokens.first):
            continue
        error = DataError("cannot be read", file=file.name, line=first_line)
        try:
            part = parse(tokens)
        except DataError as caught:
            part, error = None, caught
        if part is None:
            for number, line in enumerate(data.split(b"\n"), first_line):
                check_line(line, number)
            raise error
        yield part


def blank_out(text, start, end):
    """Put blanks in the place of the tokens text[start:end], which do not touch each other."""
    edge = np.zeros(len(text) + 1, np.int8)
    edge[start], edge[end] = 1, -1
    text[np.cumsum(edge[:-1], dtype=np.int8) > 0] = 32


def numbers(text, count):
    """The `count` numbers that `text` (uint8) consists of, float64; None if it does not.

    None too for NaN, infinity and numbers beyond the range.
    """
    if count == 0:
        if text.tobytes().strip():
            return None
        return np.empty(0)
    with warnings.catch_warnings():
        # what cannot be read is a warning in some versions of numpy, an error in others
        warnings.simplefilter("error", DeprecationWarning)
        try:
            values = np.fromstring(text.tobytes(), sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    # a token of two numbers, as 1-2, makes one too many
    if len(values) != count or not np.isfinite(values).all():
        return None
    return values


def number_of(token):
    """The finite number that a word of text, or its bytes, is; NaN if it is none."""
    if isinstance(token, str):
        token = token.encode("utf-8", "surrogateescape")
    if NUMBER.fullmatch(token):
        value = float(token)
    else:
        value = math.nan
    if math.isfinite(value):
        return value
    return math.nan


def wrong_number(words):
    """The beginning of the first of the words that is no finite number; "" where all are some."""
    return next((word[:20] for word in words if math.isnan(number_of(word))), "")


def line_numbers(line, count, what, fail):
    """The `count` numbers, float64, that a line of text is; what: these are.

    fail(message): makes the error of another line.
    """
    words = line.split()
    if len(words) != count:
        raise fail(f"expected {count} {what}, found {len(words)}")
    values = numbers(np.frombuffer(line.encode("utf-8", "surrogateescape"), np.uint8), count)
    if values is None:
        raise fail(f"expected a finite number, found '{wrong_number(words)}'")
    return values


def ascii_text(content, what, fail):
    """The text of bytes that hold `what`; fail(message, line) makes the error of other bytes."""
    try:
        return content.decode("ascii")
    except UnicodeDecodeError as error:
        raise fail(
            f"expected {what}, found other bytes", content[: error.start].count(b"\n") + 1
        ) from None
