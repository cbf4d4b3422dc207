"""What bad luck and bad will make of a file that is right."""

import itertools
import random
import re
import struct

__all__ = ["damaged", "stacked"]

NUMBERS = (
    b"1e999",
    b"-1e999",
    b"nan",
    b"-nan",
    b"NaN",
    b"inf",
    b"-inf",
    b"-0",
    b"0x10",
    b"1_000",
    "\u0661\u0662".encode(),
    b"1" * 400,
    b"0" * 400 + b"1",
    b"." + b"3" * 400,
    b"-1",
    b"0",
    b"2147483647",
    b"2147483648",
    b"4294967296",
    b"-2147483649",
    b"999999999",
    b"9" * 20,
    b"1e5",
    b"1e308",
    b"1e-400",
    b".",
    b"-",
    b"+",
    b"1-2",
    b"1+2",
    b"1e",
    b"0.5.5",
    b"1,5",
    b"\xc2\xa02",
    b"1:1",
    b"1000000000000",
    b"16777217",
    b"a",
    b"%s",
    b"\x1b[2J",
    b"\xff",
)
BYTES = (
    0,
    1,
    9,
    10,
    11,
    13,
    26,
    27,
    32,
    34,
    35,
    45,
    47,
    48,
    57,
    58,
    59,
    92,
    95,
    97,
    123,
    125,
    127,
    128,
    194,
    255,
)
WORDS = (
    0,
    1,
    -1,
    2,
    3,
    2**31 - 1,
    -(2**31),
    2**24,
    2**16,
    0x7F800000,
    -0x800000,
    0x7FC00000,
    0x7F7FFFFF,
    1 << 30,
    1 << 26,
)
INSERTED = (
    b" ",
    b"\n",
    b"\r",
    b"\r\n",
    b"\t",
    b"\x0b",
    b"\x0c",
    b"\x1c",
    b"\0",
    b"#",
    b'"',
    b"\\",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\x1b]0;x\x07",
    b"\xff\xfe",
    b"{",
    b"}",
    b"/",
    b";",
    b":",
)


def damaged(seed, text, others=()):
    """Yield (what was done, bytes): everything that is done once to the file `seed`."""
    for size in range(len(seed)):
        yield f"ends after {size}", seed[:size]
    yield from whole(seed)
    if text:
        yield from _lines(seed)
        yield from _tokens(seed)
    else:
        for at in range(0, len(seed) - 3, 4):
            for value in WORDS:
                changed = struct.pack("<i", value)
                yield f"number {value} at {at}", seed[:at] + changed + seed[at + 4 :]
    for at in range(len(seed)):
        for value in (*BYTES, seed[at] ^ 1, seed[at] ^ 128):
            if value != seed[at]:
                yield f"byte {value} at {at}", seed[:at] + bytes([value]) + seed[at + 1 :]
        yield f"without byte {at}", seed[:at] + seed[at + 1 :]
        for piece in INSERTED if text else (b"\0", b"\n", b"\xff\xff\xff\x7f"):
            yield f"{piece!r} before {at}", seed[:at] + piece + seed[at:]
    for number, other in enumerate(others):
        yield f"another format, {number}", other
        yield f"another format behind it, {number}", seed + other
        yield f"behind another format, {number}", other + seed


def whole(seed):
    """Changes of the file as a whole."""
    yield "empty", b""
    yield "two of it", seed + seed
    yield "CRLF", seed.replace(b"\n", b"\r\n")
    yield "CR", seed.replace(b"\n", b"\r")
    yield "one line", seed.replace(b"\n", b" ")
    yield "BOM", b"\xef\xbb\xbf" + seed
    yield "half a BOM", b"\xef\xbb" + seed
    yield "latin-1", seed.decode("utf-8", "replace").encode("latin-1", "replace")
    for code in ("utf-16-le", "utf-16-be", "utf-16", "utf-32", "utf-7", "cp500"):
        yield code, seed.decode("latin-1").encode(code, "replace")
    yield "no last newline", seed.rstrip(b"\n")
    yield "CR at the end", seed.rstrip(b"\n") + b"\r"
    yield "newlines", b"\n" * 3000
    yield "newlines before", b"\n" * 3000 + seed
    yield "blanks", b" " * 5000
    yield "wide", seed.replace(b" ", b" " * 1000)
    yield "tabs", seed.replace(b" ", b"\t")
    yield "backwards", seed[::-1]
    yield "lines backwards", b"".join(seed.splitlines(True)[::-1])
    yield "upper", seed.upper()
    yield "one word", b"a" * 20000
    yield "one number", b"1" * 20000 + b"\n"
    yield "one long line", b"1 " * 10000
    yield "quotes", b'"' * 10000
    yield "escaped quotes", b'"' + b'\\"' * 5000
    yield "comments", b"#\n" * 5000 + seed
    yield "a long comment", b"#" + b" " * 20000 + b"\n" + seed
    yield "colons", b":" * 5000
    for brace in (b"{", b"[", b"(", b"a{", b"a {1 ", b'{"a":', b"}"):
        yield f"many {brace!r}", brace * 11000
    yield "nested", b"a{1 " * 300 + b"2" + b"}" * 300
    yield "text in binary", b"1 1:1\n" + seed[6:]
    yield "binary in text", seed[: len(seed) // 2] + bytes(range(256)) + seed[len(seed) // 2 :]
    yield "random", random.Random(len(seed)).randbytes(300)
    yield "zeros", bytes(300)
    yield "ones", b"\xff" * 300


def _lines(seed):
    lines = seed.splitlines(True)
    for i, line in enumerate(lines):
        yield f"without line {i}", b"".join(lines[:i] + lines[i + 1 :])
        yield f"line {i} twice", b"".join(lines[: i + 1] + lines[i:])
        yield f"line {i} a hundred times", b"".join(lines[:i] + [line] * 100 + lines[i:])
        yield f"line {i} at the end", b"".join(lines[:i] + lines[i + 1 :] + [line])
        yield f"line {i} empty", b"".join(lines[:i] + [b"\n"] + lines[i + 1 :])
        yield (
            f"words of line {i} backwards",
            b"".join(lines[:i] + [b" ".join(line.split()[::-1]) + b"\n"] + lines[i + 1 :]),
        )
    for i, j in itertools.combinations(range(min(len(lines), 12)), 2):
        yield f"without lines {i} to {j}", b"".join(lines[:i] + lines[j:])


def _tokens(seed):
    for match in re.finditer(rb"[+-]?[0-9][0-9.eE+-]*|[A-Za-z_]+", seed):
        for number in NUMBERS:
            yield (
                f"{number[:20]!r} at {match.start()}",
                seed[: match.start()] + number + seed[match.end() :],
            )


def stacked(seeds, rng, count):
    """Yield `count` times (what, bytes): several changes at once, pieces of all `seeds`."""
    for _ in range(count):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 6)):
            _once(data, seeds, rng)
        yield "several changes", bytes(data[: 1 << 16])


def _once(data, seeds, rng):
    at = rng.randint(0, len(data))
    end = min(len(data), at + rng.choice((1, 1, 2, 4, 8, 30)))
    kind = rng.randrange(7)
    if kind == 0:
        data[at:end] = rng.choice(NUMBERS)
    elif kind == 1:
        data[at:at] = rng.choice(INSERTED)
    elif kind == 2:
        del data[at:end]
    elif kind == 3:
        other = rng.choice(seeds)
        start = rng.randint(0, len(other))
        data[at:end] = other[start : start + rng.randint(1, 60)]
    elif kind == 4:
        data[at:at] = data[at:end] * rng.choice((1, 2, 20))
    elif kind == 5:
        data[at : at + 4] = struct.pack("<i", rng.choice(WORDS))
    elif at < len(data):
        data[at] ^= 1 << rng.randrange(8)
