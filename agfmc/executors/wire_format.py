"""Plain messages between a process and its workers: JSON and the bytes of arrays, no code.

A message is a text of JSON, in which arrays stand as numbers, and the arrays behind
it.  Of objects it holds the fields, or what they tell by `__reduce__` that they were made
of, and the name of a class or function of this package, by which they are made
again: what has no such name cannot be sent, and reading a message can call nothing else.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import selectors
import struct
import types
from collections.abc import Mapping

import numpy as np

__all__ = ["Channel", "ready"]

_PACKAGE = __name__.partition(".")[0]
_LENGTH = struct.Struct("<Q")
_FAULTS = {"MemoryError": MemoryError, "RuntimeError": RuntimeError}


class Channel:
    """Messages over a socket that is connected."""

    def __init__(self, socket):
        self._socket = socket

    def fileno(self):
        return self._socket.fileno()

    def close(self):
        self._socket.close()

    def send(self, value):
        """Hand over what `_Writer` can write; TypeError for anything else, and nothing is sent."""
        writer = _Writer()
        tree = writer.plain(value)
        text = json.dumps([[(a.dtype.str, a.shape) for a in writer.arrays], tree]).encode()
        self._socket.sendall(_LENGTH.pack(len(text)) + text)
        for array in writer.arrays:
            if array.size:
                self._socket.sendall(array.reshape(-1).view(np.uint8).data)

    def receive(self):
        """The next message; EOFError where the other end was closed, OSError where it broke."""
        length, = _LENGTH.unpack(self._exactly(_LENGTH.size))
        listing, tree = json.loads(self._exactly(length))
        arrays = []
        for dtype, shape in listing:
            arrays.append(np.empty(shape, dtype=dtype))
            if arrays[-1].size:
                self._fill(arrays[-1].reshape(-1).view(np.uint8).data)
        return _Reader(arrays).value(tree)

    def _exactly(self, size):
        data = bytearray(size)
        self._fill(memoryview(data))
        return bytes(data)

    def _fill(self, view):
        while len(view):
            count = self._socket.recv_into(view)
            if count == 0:
                raise EOFError
            view = view[count:]


def ready(channels):
    """Those of the open channels that have something to read, or have ended; waits for one."""
    with selectors.DefaultSelector() as selector:
        try:
            for channel in channels:
                selector.register(channel, selectors.EVENT_READ)
            return [key.fileobj for key, _ in selector.select()]
        except (OSError, ValueError):  # closed by another thread
            return []


class _Writer:
    """Objects to JSON; arrays are put aside.  What is met twice is written once."""

    def __init__(self):
        self.arrays = []
        self._known = {}  # identity: (number, the object, so that its identity stays its own)

    def plain(self, value):
        """What `json` can write, with a list ["word", ...] for all that JSON has no form for."""
        if value is None or isinstance(value, int) or type(value) in (float, str):
            return value
        if type(value) in (list, tuple):
            return [type(value).__name__, *map(self.plain, value)]
        if isinstance(value, (types.FunctionType, type)):
            return ["name", *_name(value)]
        if isinstance(value, np.generic):
            return ["scalar", self._array(np.asarray(value))]
        if isinstance(value, bytes):
            return ["bytes", self._array(np.frombuffer(value, dtype=np.uint8))]
        if isinstance(value, Mapping):
            return ["dict", *([self.plain(key), self.plain(one)] for key, one in value.items())]
        if id(value) in self._known:
            return ["again", self._known[id(value)][0]]
        written = self._object(value)
        self._known[id(value)] = len(self._known), value
        return ["new", written]

    def _object(self, value):
        kind = type(value)
        if kind is np.ndarray:
            turned = value.flags.f_contiguous and not value.flags.c_contiguous
            return ["array", turned, self._array(value.T if turned else value)]
        if kind is functools.partial:
            return ["partial", *map(self.plain, (value.func, value.args, value.keywords))]
        if kind.__name__ in _FAULTS and kind is _FAULTS[kind.__name__]:
            return ["fault", kind.__name__, str(value)]
        if _is_ours(kind.__module__) and kind.__reduce__ is not object.__reduce__:
            made, args = value.__reduce__()
            return ["made", *_name(made), *map(self.plain, args)]
        if hasattr(kind, "_fields"):
            return ["fields", *_name(kind), *map(self.plain, value)]
        if dataclasses.is_dataclass(kind):
            return ["made", *_name(kind), *(self.plain(getattr(value, field.name))
                                            for field in dataclasses.fields(kind))]
        raise TypeError(f"{kind.__name__} cannot be sent")

    def _array(self, array):
        if array.dtype.hasobject:
            raise TypeError("an array of objects cannot be sent")
        self.arrays.append(array if array.flags.c_contiguous else np.ascontiguousarray(array))
        return len(self.arrays) - 1


class _Reader:
    """The way back."""

    def __init__(self, arrays):
        self._arrays = arrays
        self._known = []

    def value(self, plain):
        if not isinstance(plain, list):
            return plain
        word, *rest = plain
        if word == "again":
            return self._known[rest[0]]
        if word == "new":
            self._known.append(self._object(*rest[0]))
            return self._known[-1]
        if word in ("list", "tuple"):
            return (list if word == "list" else tuple)(map(self.value, rest))
        if word == "dict":
            return {self.value(key): self.value(one) for key, one in rest}
        if word == "name":
            return _named(*rest)
        array = self._arrays[rest[0]]
        return array[()] if word == "scalar" else array.tobytes()

    def _object(self, word, *rest):
        if word == "array":
            turned, number = rest
            return self._arrays[number].T if turned else self._arrays[number]
        if word == "partial":
            function, args, more = map(self.value, rest)
            return functools.partial(function, *args, **more)
        if word == "fault":
            return _FAULTS[rest[0]](rest[1])
        kind, args = _named(*rest[:2]), map(self.value, rest[2:])
        return kind._make(args) if word == "fields" else kind(*args)


def _name(thing):
    """(module, name) of a class or function of this package."""
    module, name = thing.__module__, thing.__qualname__
    if not _is_ours(module) or _named(module, name) is not thing:
        raise TypeError(f"{module}.{name} cannot be sent")
    return module, name


def _named(module, name):
    found = getattr(importlib.import_module(module), name, None) if _is_ours(module) else None
    if not isinstance(found, (types.FunctionType, type)) or not _is_ours(found.__module__):
        raise TypeError(f"{module}.{name} is no class or function of this package")
    return found


def _is_ours(module):
    return module.partition(".")[0] == _PACKAGE
