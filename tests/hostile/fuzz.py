"""Fuzz the readers: each in a process of its own, led by coverage where atheris is installed.

    python tests/hostile/fuzz.py [--seconds N] [--seed S] [--hypothesis] [READER ...]

Every input ends in a result that is sane or in an error of one clear line; see
hostile_checks.py.  Without atheris, hypothesis makes the bytes, and knows of no coverage.  An
input that ends otherwise is stored in a folder named after its reader, and the status is 1:
moved to tests/hostile/found/READER, it is checked by every later run of the tests.
"""

import argparse
import importlib.util
import mmap
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support"), str(HERE.parents[1])]

MEMORY = 2048  # MiB
LONGEST = 8192  # bytes of an input


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("readers", nargs="*", metavar="READER", help="default: all, one by one")
    parser.add_argument("--seconds", type=int, default=90, help="for each reader (default 90)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hypothesis", action="store_true", help="even where atheris is installed")
    parser.add_argument(
        "--failures",
        default="fuzz-failures",
        metavar="FOLDER",
        help="where inputs that fail are stored (default fuzz-failures)",
    )
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return _one(args)
    from hostile_readers import readers

    unknown = set(args.readers) - set(readers())
    if unknown:
        parser.error(
            f"there is no reader {', '.join(sorted(unknown))}: expected some of "
            + ", ".join(readers())
        )
    leader = "hypothesis" if args.hypothesis or not _has_atheris() else "atheris"
    print(
        f"led by {'coverage (atheris)' if leader == 'atheris' else 'chance (hypothesis)'}, "
        f"{args.seconds} s each, seed {args.seed}"
    )
    print(f"{'reader':30s} {'inputs':>10s} {'results':>10s} {'refused':>10s}  status", flush=True)
    failed, total = False, 0
    for name in args.readers or readers():
        tried, good, status = _apart(name, args)
        total += tried
        print(f"{name:30s} {tried:10d} {good:10d} {tried - good:10d}  {status}", flush=True)
        failed |= status != "good"
    print(f"{'together':30s} {total:10d}")
    return 1 if failed else 0


def _has_atheris():
    return importlib.util.find_spec("atheris") is not None


def _apart(name, args):
    """Fuzz one reader in a process; -> (inputs, results among them, status)."""
    folder = Path(args.failures) / name.replace(" ", "_")
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as place:
        words = [
            sys.executable,
            __file__,
            "--one",
            "--seconds",
            str(args.seconds),
            "--seed",
            str(args.seed),
            "--failures",
            str(folder.resolve()),
            name,
        ]
        words += ["--hypothesis"] if args.hypothesis else []
        log = Path(place) / "log"
        with open(log, "wb") as out:
            try:
                status = subprocess.run(
                    words, cwd=place, stdout=out, stderr=out, timeout=args.seconds + 120
                ).returncode
            except subprocess.TimeoutExpired:
                status = "it hangs"
        counts = Path(place) / "counts"
        tried, good = struct.unpack("<QQ", counts.read_bytes()) if counts.exists() else (0, 0)
        if status == 0 and tried:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
            return tried, good, "good"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "log.txt").write_bytes(log.read_bytes()[-20000:])
        return tried, good, f"BAD ({status}): see {folder}"


class Counts:
    """How many inputs were tried, in a file, as libFuzzer ends the process in its own way."""

    def __init__(self):
        Path("counts").write_bytes(bytes(16))
        with open("counts", "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 16)
        self.tried = self.good = 0

    def add(self, good):
        self.tried += 1
        self.good += good
        struct.pack_into("<QQ", self._map, 0, self.tried, self.good)


def _one(args):
    leader = "hypothesis" if args.hypothesis or not _has_atheris() else "atheris"
    if leader == "atheris":
        import atheris

        with atheris.instrument_imports(include=["agfmc"]):
            import hostile_readers
    else:
        import hostile_readers
    import hostile_checks

    reader = hostile_readers.readers()[args.readers[0]]
    folder = Path(args.failures)
    counts = Counts()
    path = str(Path(tempfile.mkdtemp(dir=".")).resolve() / "input")

    def take(data):
        Path(path).write_bytes(data)
        try:
            counts.add(hostile_checks.outcome(reader, path, data) == "result")
        except AssertionError:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / sha256(data).hexdigest()[:16]).write_bytes(data)
            raise

    # libFuzzer has an alarm of its own
    with hostile_checks.guarded(bells=leader != "atheris"):
        if leader == "atheris":
            _with_atheris(reader, take, args, folder)
        else:
            _with_hypothesis(reader, take, args.seconds, args.seed)
    return 0


def _with_atheris(reader, take, args, folder):
    """Does not come back: libFuzzer ends the process."""
    import atheris
    from hostile_mutations import INSERTED, NUMBERS

    corpus = Path("corpus")
    corpus.mkdir()
    for number, seed in enumerate((*reader.seeds, *reader.found)):
        if len(seed) <= LONGEST:
            (corpus / str(number)).write_bytes(seed)
    words = {word for seed in reader.seeds for word in seed.split() if 1 < len(word) < 30}
    words.update(word for word in (*NUMBERS, *INSERTED) if len(word) < 30)
    with open("words", "w", encoding="ascii") as file:
        for word in sorted(words):
            file.write('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n')
    folder.mkdir(parents=True, exist_ok=True)
    atheris.Setup(
        [
            "fuzz",
            f"-max_total_time={args.seconds}",
            f"-seed={args.seed}",
            f"-max_len={LONGEST}",
            "-timeout=20",
            f"-rss_limit_mb={MEMORY}",
            "-dict=words",
            "-verbosity=0",
            f"-artifact_prefix={folder}/",
            str(corpus),
        ],
        take,
    )
    atheris.Fuzz()


def _with_hypothesis(reader, take, seconds, seed):
    from hostile_mutations import INSERTED, NUMBERS
    from hypothesis import HealthCheck, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    end = time.monotonic() + seconds
    piece = st.binary(max_size=20) | st.sampled_from(NUMBERS + INSERTED)
    edits = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 20), piece), max_size=6)
    files = st.tuples(st.sampled_from((*reader.seeds, *reader.found)), edits).map(_edited)
    while time.monotonic() < end:

        @seeded(seed)
        @settings(
            max_examples=300, database=None, deadline=None, suppress_health_check=list(HealthCheck)
        )
        @given(files | st.binary(max_size=300))
        def some(data):
            if time.monotonic() < end:
                signal.alarm(20)
                take(data)
                signal.alarm(0)

        some()
        seed += 1


def _edited(parts):
    data, edits = bytearray(parts[0]), parts[1]
    for place, length, piece in edits:
        at = round(place * len(data))
        data[at : at + length] = piece
    return bytes(data[:LONGEST])


if __name__ == "__main__":
    sys.exit(main())
