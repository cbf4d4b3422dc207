"""What every input must come to: a result that is sane, or one clear line."""

import resource
import signal
import time
import unicodedata
import warnings
from contextlib import contextmanager
from pathlib import Path

from hostile_readers import LIMIT

from agfmc.core.errors import AgfmcError, AgfmcWarning
from agfmc.core import memory
from agfmc.files import opening
from agfmc.data import libsvm
from agfmc.models import libsvm as libsvm_model
from own_warnings import no_own_warnings

LONGEST = 2200  # characters of a message, with the name of the file
PATIENCE = 20  # seconds: a guard against hanging, no measurement
# What is said of a file as a whole has no line.
WITHOUT_LINE = (
    "has no ",
    "there is no column",
    "has words as labels",
    "holds no ",
    "expected JSON",
    "in `labels`",
    "contingency",
    "labels: ",
    "labels[",
    "`labels` lists",
    "there is no class",
    "larger than",
    "support vectors of",
    "expected similar",
    "the first similarity",
    "similarities must",
    "holds a confus",
    "' is missing",
    "is missing or",
    "expected two classes",
    "whole number",
    "expected a contingency",
    "has label",
    "classes, more than",
    "a number is not finite",
    "features, the model needs",
    "has no name",
    "an empty file",
    "look like a continuous quantity",
    "expected a table",
    "is damaged, or",
    "a spreadsheet",
    "of Feather",
    "group of rows",
    "expected a recipe",
    "of the recipes",
    "is not text; it is",
    "compressed in another way",
    "is compressed by gzip",
    "expected what ",
    "which the model needs",
    "differ from it in case",
)


class Hang(BaseException):
    """It takes too long."""


class Peculiar(AssertionError):
    """Neither a result that is sane nor one clear line."""


def outcome(reader, path, data):
    """Read the file `path` of these bytes: "result" or "refused", else `Peculiar`."""
    try:
        with no_own_warnings():
            warnings.simplefilter("ignore", AgfmcWarning)
            result = reader.read(path)
            reader.accepts(result, data)
        return "result"
    except AgfmcError as error:
        check_message(error, reader, path)
        return "refused"
    except Hang:
        raise Peculiar(f"takes more than {PATIENCE} s") from None
    except MemoryError as error:
        raise Peculiar(f"asks for too much memory: {error}") from error
    except AssertionError:
        raise
    except BaseException as error:
        raise Peculiar(f"{type(error).__name__}: {error}") from error


SIDECARS = {"calibration", "recipe"}  # they tell the path of the key
SURVEYS = {"survey of a table"}  # they tell a row in the text, and problems of several columns


def check_message(error, reader, path):
    """One line of bounded length, with the file and, for text, the line; surveys have several."""
    texts = [str(error)]
    if reader.name in SURVEYS:
        texts = texts[0].split("\n")
    for text in texts:
        _check_line(text)
    told = error.file or ""
    others = reader.name.endswith(" used")  # it may be a control file by chance, and name others
    if not (
        told == path
        or told == "-"
        or told.startswith(path.rpartition("/")[0] + "/beside")
        or others
        and told
    ):
        raise Peculiar(f"the file is not told: {texts[0]}")
    is_told = error.line is not None or error.message.startswith(
        ("row ", "column", "the first row")
    )
    if (
        reader.text
        and not is_told
        and reader.name not in SIDECARS
        and not any(part in texts[0] for part in WITHOUT_LINE)
    ):
        raise Peculiar(f"the line is not told: {texts[0]}")
    if error.line is not None and error.line < 1:
        raise Peculiar(f"line {error.line}")


def _check_line(text):
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in text):
        raise Peculiar(f"what cannot be printed is in the message {text!r}")
    if len(text) > LONGEST:
        raise Peculiar(f"a message of {len(text)} characters")


@contextmanager
def guarded(limit=LIMIT, bells=True):
    """An alarm ends what hangs, if `bells`, and tables may have `limit` bytes."""

    def bell(number, frame):
        raise Hang

    modules = [
        module
        for module in (memory, opening, libsvm, libsvm_model)
        if hasattr(module, "memory_limit")
    ]
    kept = [module.memory_limit for module in modules]
    before = signal.signal(signal.SIGALRM, bell) if bells else None
    try:
        for module in modules:
            module.memory_limit = lambda: 2 * limit
        yield
    finally:
        for module, function in zip(modules, kept):
            module.memory_limit = function
        if bells:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def tried(reader, inputs, folder):
    """Read all `inputs` (what, bytes); -> (how many ended in {result, refused}, problems).

    problems: [(what, bytes, message)], the first of each kind.
    """
    path = str(folder / "input")
    counts, problems, seen = {"result": 0, "refused": 0}, [], set()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with guarded():
        for what, data in inputs:
            Path(path).write_bytes(data)
            start = time.process_time()
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            try:
                counts[outcome(reader, path, data)] += 1
                if time.process_time() - start > PATIENCE / 4:
                    raise Peculiar("slow for so small a file")
            except (AssertionError, Hang) as error:
                kind = str(error)[:25]
                if kind not in seen:
                    seen.add(kind)
                    problems.append((what, data, f"{type(error).__name__}: {error}"))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) >> 10
    if grown > 3 * LIMIT >> 20:
        problems.append(("all", b"", f"memory grew by {grown} MiB"))
    return counts, problems
