"""Signals that end a command: raised, so that nothing half done is left on the way out."""

from __future__ import annotations

import signal
import sys
import time

__all__ = ["Terminated", "catch_signals", "restore_signals"]

_WAY_OUT = 2.0  # seconds in which a second signal is not heard
_AGAIN = 0.1  # seconds after which it is seen whether a signal had its effect
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGXCPU", "SIGUSR1", "SIGUSR2")


class Terminated(KeyboardInterrupt):
    """A signal's number, raised so that temporary files are removed on the way out."""


def catch_signals(undo, seen):
    """Have a signal raise `Terminated`, and others not disturb the way out.

    What Python raises in the callback of a weak reference or in `__del__` it drops, and
    what is raised in the machinery of imports may leave a lock locked that other threads
    wait for.  So a signal waits while a module is imported, and a timer raises it again as
    long as the command is not on its way out.

    undo: gets what `restore_signals` does;  seen: gets (signal, time).
    """

    def terminate(number, frame):
        now = time.monotonic()
        if not seen:
            seen.append((number, now))
            # a caller's own timer goes on last, when its handler is there again
            undo.insert(0, (signal.setitimer, signal.ITIMER_REAL,
                            *signal.getitimer(signal.ITIMER_REAL)))
            undo.append((signal.signal, signal.SIGALRM, signal.getsignal(signal.SIGALRM)))
            signal.signal(signal.SIGALRM, terminate)
            undo.append((signal.setitimer, signal.ITIMER_REAL, 0))
            signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
        elif seen[-1] is None:
            return
        elif number == signal.SIGALRM:
            if _on_the_way_out():
                return
        elif now - seen[-1][1] > _WAY_OUT:
            seen.append((number, now))
        else:
            return
        if now - seen[0][1] > _WAY_OUT or not waits(frame):
            raise Terminated(seen[-1][0])

    def waits(frame):
        while frame is not None:
            code = frame.f_code
            if code is unraisable.__code__ or code.co_filename == "<frozen importlib._bootstrap>":
                return True
            frame = frame.f_back
        return False

    def unraisable(dropped):
        if not issubclass(dropped.exc_type, Terminated):
            earlier(dropped)

    earlier = sys.unraisablehook
    try:
        for number in (getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)):
            handler = signal.getsignal(number)
            if handler in (signal.SIG_DFL, signal.default_int_handler):  # nohup: it is ignored
                undo.append((signal.signal, number, handler))
                signal.signal(number, terminate)
    except ValueError:
        undo.clear()  # not in the main thread: the command runs inside another program
        return
    undo.append((setattr, sys, "unraisablehook", earlier))
    sys.unraisablehook = unraisable


def _on_the_way_out():
    """Is `Terminated` handled here, or what was raised meanwhile, or a generator closed?"""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, (Terminated, GeneratorExit)):
        error = error.__context__
    return error is not None


def restore_signals(undo):
    """Undo what `catch_signals` did."""
    while undo:
        function, *args = undo.pop()
        function(*args)
