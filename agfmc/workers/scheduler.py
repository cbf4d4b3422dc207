"""The scheduler of a dask cluster: where it is, and whether what answers there is one."""

from __future__ import annotations

import asyncio
import json
import os
import re

from ..errors import CommandFailed, DataError, UsageError

__all__ = ["address_of", "check_scheduler", "first_line"]

_ANSWER = 5  # seconds for a scheduler to say that it is one


def address_of(where):
    """The address of a scheduler, which may stand in the file that it wrote."""
    # a file of that name in the current folder may be a stranger's, and lead elsewhere
    if re.fullmatch(r"([a-z]+://)?[^/]*:[0-9]+", where):
        return where
    if not os.path.isfile(where):
        raise UsageError(f"expected HOST:PORT or a scheduler file of dask, found '{where}'")
    try:
        with open(where, encoding="utf-8") as file:
            return str(json.load(file)["address"])
    except (ValueError, TypeError, KeyError) as error:
        raise DataError("expected a scheduler file of dask: it names no address", file=where) \
            from error


def check_scheduler(address, where):
    """Raise `CommandFailed` where no scheduler answers: a client would wait for one for long."""
    from distributed.utils import LoopRunner

    try:  # in a thread, as the client does: the caller may have an event loop, as notebooks do
        found = LoopRunner().run_sync(_identity, address, callback_timeout=_ANSWER + 1)["type"]
        reason = None if found == "Scheduler" else f"a {found} answers"
    except (OSError, RuntimeError, asyncio.TimeoutError) as error:
        while isinstance(error.__cause__, Exception):
            error = error.__cause__
        late = isinstance(error, (TimeoutError, asyncio.TimeoutError))
        reason = f"no answer in {_ANSWER} seconds" if late else \
            getattr(error, "strerror", None) or first_line(error)
    except (TypeError, ValueError) as error:
        reason = f"it cannot be spoken with: {first_line(error)}"
    except Exception:  # of reading bytes that are not meant for us
        reason = "something else answers (a scheduler's own port is 8786)"
    if reason is not None:
        raise CommandFailed(f"there is no scheduler of dask at {where}: {reason}")


async def _identity(address):
    from distributed import Security
    from distributed.core import rpc

    async with rpc(address, timeout=_ANSWER, deserialize=False,
                   connection_args=Security().get_connection_args("client")) as scheduler:
        return await scheduler.identity()


def first_line(error):
    """What an error says, in one line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
