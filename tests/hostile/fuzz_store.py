"""Forge model files and use them, until the time is over: see hostile_store.py.

    python tests/hostile/fuzz_store.py --seconds 60 --seed 1 [--random]

Where atheris is installed, coverage decides which forged files are changed further; without
it, or with --random, each is a change of an honest one.  A file that does harm is left in the
folder for temporary files, and used again with --file.
"""

import argparse
import hashlib
import importlib.util
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support"), str(HERE.parents[1])]


class Forger:
    """Uses forged files and counts how they end.  `hostile_store` is loaded here."""

    def __init__(self, seed):
        import hostile_store

        from agfmc.core.errors import AgfmcWarning

        warnings.simplefilter("error", RuntimeWarning)  # numpy's would stand on the terminal
        warnings.simplefilter("ignore", AgfmcWarning)
        self.forge = hostile_store
        self.rng = random.Random(seed)
        self.seeds = [hostile_store.bytes_of(model) for model in hostile_store.models().values()]
        self.ends, self.more = Counter(), Counter()
        self._folder = tempfile.TemporaryDirectory()

    def use(self, raw):
        """Use the file `raw`; what does harm is left for later, and raised."""
        try:
            end = self.forge.use(raw, str(Path(self._folder.name) / "out"), self.more, self.rng)
        except BaseException:
            bad = Path(tempfile.gettempdir()) / f"forged-{hashlib.sha256(raw).hexdigest()[:12]}"
            bad.write_bytes(raw)
            print(f"left in {bad}", flush=True)
            raise
        self.ends[end] += 1

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._folder.cleanup()

    def next(self):
        return self.forge.mutated(self.rng.choice(self.seeds), self.rng)

    def told(self):
        return (
            f"{self.ends.total()} forged files: {dict(self.ends)}, {self.more['answers']} answers"
        )


def at_random(seconds, seed, count=None):
    """The `Forger` that used so many files, or as many as there was time for."""
    stop = time.monotonic() + seconds
    with Forger(seed) as forger:
        while time.monotonic() < stop and (count is None or forger.ends.total() < count):
            forger.use(forger.next())
    return forger


def by_coverage(seconds, seed):
    """The same, led by atheris; does not come back."""
    import atheris

    with atheris.instrument_imports(include=["agfmc"]):
        forger = Forger(seed)
    told = time.monotonic()

    def take(data):
        nonlocal told
        forger.use(data)
        if time.monotonic() - told > 5:  # libFuzzer ends the process in its own way
            told = time.monotonic()
            print(forger.told(), flush=True)

    def change(data, size, seed):
        rng = random.Random(seed)
        try:
            return forger.forge.mutated(data, rng)[:size]
        except (
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            IndexError,
            OverflowError,
            RuntimeWarning,
            forger.forge.struct.error,
        ):  # forged too much to be taken apart
            return rng.choice(forger.seeds)

    with tempfile.TemporaryDirectory() as corpus:
        for number, raw in enumerate(forger.seeds):
            (Path(corpus) / str(number)).write_bytes(raw)
        atheris.Setup(
            [
                "fuzz",
                f"-max_total_time={int(seconds)}",
                f"-seed={seed}",
                "-max_len=65536",
                "-timeout=30",
                "-rss_limit_mb=2048",
                "-verbosity=0",
                f"-artifact_prefix={tempfile.gettempdir()}/",
                corpus,
            ],
            take,
            custom_mutator=change,
        )
        atheris.Fuzz()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random", action="store_true", help="even where atheris is installed")
    parser.add_argument("--file", help="use this file only")
    args = parser.parse_args()
    if args.file:
        with Forger(args.seed) as forger:
            forger.use(Path(args.file).read_bytes())
            print(forger.told())
    elif args.random or importlib.util.find_spec("atheris") is None:
        print(f"at random, {args.seconds:g} s, seed {args.seed}", flush=True)
        print(at_random(args.seconds, args.seed).told())
    else:
        print(f"led by coverage (atheris), {args.seconds:g} s, seed {args.seed}", flush=True)
        by_coverage(args.seconds, args.seed)


if __name__ == "__main__":
    main()
