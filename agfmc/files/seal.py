"""The seal of a model file: a digest of what it was made from, and a checksum.

The last line of a sealed file, a comment, ends in `; made from DIGEST; sum DIGEST`, of
sixteen hexadecimal digits each.  The sum is that of all bytes before it.  Readers leave
the seal out of what a model tells of its making: it belongs to the file.
"""

import re
from hashlib import blake2b

from ..core.errors import ModelError, one_line

_SEAL = re.compile(r"; made from ([0-9a-f]{16}); sum ([0-9a-f]{16})")
_LENGTH = len("; made from ; sum ") + 32


def sealed(text, digest):
    """`text`, whose last line is a comment, with a seal at its end; digest: of its origin."""
    head = f"{text.removesuffix(chr(10))}; made from {digest}; sum "
    return f"{head}{_sum(head.encode())}\n"


def seal_of(raw):
    """The digest of its origin in the bytes of a file; None where a byte was changed."""
    if not raw.endswith(b"\n"):
        return None
    match = _SEAL.fullmatch(raw[-_LENGTH - 1:-1].decode("latin-1"))
    if match is None or _sum(memoryview(raw)[:-17]) != match[2]:
        return None
    return match[1]


def check_seal(raw, path):
    """Raise `ModelError` where the bytes of a file are not those that were sealed.

    A file without a seal, or with one that was removed, is as good as any; line ends of
    another system change nothing.
    """
    end = raw.rstrip()
    match = _SEAL.search(end[-_LENGTH:].decode("latin-1"))
    if match is not None and seal_of(raw) is None and seal_of(
            raw.replace(b"\r\n", b"\n")) is None:
        raise ModelError("changed or damaged since it was written: its checksum disagrees (if "
                         "it was changed on purpose, remove the last line)", file=path,
                         line=end.count(b"\n") + 1)


def unsealed(settings):
    """The text of a last line without the seal, if there is one; what cannot be shown, escaped."""
    return one_line(settings[:-_LENGTH] if _SEAL.fullmatch(settings[-_LENGTH:]) else settings)


def _sum(data):
    return blake2b(data, digest_size=8).hexdigest()
