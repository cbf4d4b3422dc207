"""Small PNG images of a palette, for pictures of more cells than a page should hold."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

Colour = tuple[int, int, int, int]


def png(rows: Sequence[bytes], palette: Sequence[Colour]) -> bytes:
    """A PNG image of rows of numbers in a palette of (red, green, blue, opacity), from 0 to 255.

    All rows have the same length.
    """
    if len(palette) > 256:
        raise ValueError("a palette has 256 colours at most")
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join((
        _chunk(b"IHDR", head),
        _chunk(b"PLTE", bytes(part for colour in palette for part in colour[:3])),
        _chunk(b"tRNS", bytes(colour[3] for colour in palette)),
        _chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 9)),
        _chunk(b"IEND", b"")))


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_address(rows: Sequence[bytes], palette: Sequence[Colour]) -> str:
    """The image of `png` as a `data:` address."""
    return "data:image/png;base64," + base64.b64encode(png(rows, palette)).decode("ascii")
