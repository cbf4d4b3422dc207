"""Arrays beside a head of plain values in a file of NumPy's kind `npz`, read without pickle.

The member `head.json` is the head.  Members are stored as they are, and their lengths must agree
with the directory of the file and with their headers before memory is allocated: what is read
is never more than its file.
"""

from __future__ import annotations

import json
import math
import os
import struct
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np

_PIECE = 1 << 20


def write_npz(file: BinaryIO, head, arrays: Iterable[tuple[str, np.ndarray]]) -> None:
    """Write a head, of values that JSON has, and (name, array), which may be made one by one."""
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("head.json"), json.dumps(head))
        for name, array in arrays:
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


class NpzReader:
    """A reader of files of `write_npz`, which can seek; arrays are read when needed.

    Anything else raises `ValueError`. `head` has the values of the file, `names` the names of its
    arrays.
    """

    def __init__(self, file: BinaryIO):
        with _damage():
            size = file.seek(0, os.SEEK_END)
            self._archive = zipfile.ZipFile(file)
            members = self._archive.infolist()
            if sum(member.file_size for member in members) > size or any(
                member.compress_type != zipfile.ZIP_STORED for member in members
            ):
                raise ValueError("its members are larger than the file")
            self.names = [
                member.filename.removesuffix(".npy")
                for member in members
                if member.filename != "head.json"
            ]
            self.head = json.loads(self._archive.read("head.json"))

    def __getitem__(self, name: str) -> np.ndarray:
        with _damage():
            info = self._archive.getinfo(f"{name}.npy")
            with self._archive.open(info) as member:
                if np.lib.format.read_magic(member) != (1, 0):
                    raise ValueError("another version of the format")
                shape, by_columns, dtype = np.lib.format.read_array_header_1_0(member)
                if (
                    dtype.hasobject
                    or min(shape, default=0) < 0
                    or member.tell() + math.prod(shape) * dtype.itemsize != info.file_size
                ):
                    raise ValueError("an array is not as long as its header says")
                data = bytearray(math.prod(shape) * dtype.itemsize)
                end = 0
                while piece := member.read(_PIECE):  # to its end, where its checksum is compared
                    data[end : end + len(piece)] = piece
                    end += len(piece)
            return np.frombuffer(data, dtype).reshape(shape, order="F" if by_columns else "C")


@contextmanager
def _damage() -> Iterator[None]:
    try:
        yield
    except (
        zipfile.BadZipFile,
        struct.error,
        KeyError,
        TypeError,
        OSError,
        EOFError,
        RuntimeError,
        OverflowError,
    ) as error:
        raise ValueError(f"not what was written: {error}") from error
