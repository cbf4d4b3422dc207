"""Small PNG images of a palette, for pictures of more cells than a page should hold."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence


def png(rows: Sequence[bytes], palette: Sequence[tuple[int, int, int, int]]) -> bytes:
    """A PNG image of rows of numbers, of equal lengths, in a palette of at most 256 (red, green,
    blue, opacity) from 0 to 255."""
    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    return b"\x89PNG\r\n\x1a\n" + b"".join((
        chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)),
        chunk(b"PLTE", bytes(part for colour in palette for part in colour[:3])),
        chunk(b"tRNS", bytes(colour[3] for colour in palette)),
        chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 9)),
        chunk(b"IEND", b"")))


def png_address(rows: Sequence[bytes], palette: Sequence[tuple[int, int, int, int]]) -> str:
    """The image of `png` as a `data:` address."""
    return "data:image/png;base64," + base64.b64encode(png(rows, palette)).decode("ascii")
