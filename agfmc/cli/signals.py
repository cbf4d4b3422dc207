"""Signals that end a command: raised, so that nothing half done is left on the way out."""

from __future__ import annotations

import signal
import time

__all__ = ["Terminated", "catch_signals", "restore_signals"]

_WAY_OUT = 2.0  # seconds in which a second signal is not heard
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGXCPU", "SIGUSR1", "SIGUSR2")


class Terminated(KeyboardInterrupt):
    """A signal's number, raised so that temporary files are removed on the way out."""


def catch_signals(before, seen):
    """Have a signal raise `Terminated`, and others not disturb the way out.

    before: gets the handlers that were there;  seen: gets (signal, time).
    """

    def terminate(number, frame):
        now = time.monotonic()
        if not seen or seen[-1] is not None and now - seen[-1][1] > _WAY_OUT:
            seen.append((number, now))
            raise Terminated(number)

    try:
        for number in (getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)):
            handler = signal.getsignal(number)
            if handler in (signal.SIG_DFL, signal.default_int_handler):  # nohup: it is ignored
                before[number] = handler
                signal.signal(number, terminate)
    except ValueError:
        before.clear()  # not in the main thread: the command runs inside another program


def restore_signals(before):
    """Put the handlers of `catch_signals` back."""
    for number, handler in before.items():
        signal.signal(number, handler)
