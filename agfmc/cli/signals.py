"""Signals that end a command: raised as exceptions, so that nothing half done is left."""

import _thread  # `threading` may be in the middle of something when a signal comes
import signal
import sys
from contextlib import contextmanager, suppress
from importlib.machinery import ExtensionFileLoader

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGXCPU", "SIGUSR1", "SIGUSR2")
_AGAIN = 0.1  # seconds after which a signal that Python has dropped is sent again
_TIMES = 50  # so many times _AGAIN the way out may take


_held = None  # the signals that came in a block of `signals_held`


@contextmanager
def signals_held():
    """Within the block a signal waits, for five seconds at most: it is raised at the end."""
    global _held
    _held = []
    try:
        yield
    finally:
        came, _held = _held, None
    for number in came[:1]:
        signal.raise_signal(number)


class Terminated(KeyboardInterrupt):
    """A signal's number, raised so that temporary files are removed before the command ends."""


@contextmanager
def _default_while_loading(defaults, came):
    """Within the block signals have `defaults`, pairs (number, handler), while a library is loaded,
    as long as none came."""
    load = ExtensionFileLoader.create_module
    main = _thread.get_ident()

    def load_interruptibly(loader, spec):
        handlers = []
        if _thread.get_ident() == main and not came:
            handlers = [(number, signal.signal(number, handler)) for number, handler in defaults]
        try:
            return load(loader, spec)
        finally:
            for number, handler in handlers:
                signal.signal(number, handler)

    ExtensionFileLoader.create_module = load_interruptibly
    try:
        yield
    finally:
        ExtensionFileLoader.create_module = load


@contextmanager
def raised_signals(leave):
    """Within the block a signal raises `Terminated` once; -> a list with its number then.

    What is raised in the callback of a weak reference or in `__del__` Python drops: the
    signal is sent again.  Whatever else stops the way out, a library that catches all or a
    lock that was left locked: after five seconds `leave(128 + number)` ends the process.
    While a library is loaded a signal has its default effect: one that lacks memory may never
    come back to Python, which alone could raise anything.
    Does nothing outside the main thread: the command runs inside another program.
    """
    came = []
    undo = []
    raised = False
    going_on = _thread.allocate_lock()
    going_on.acquire()
    unraisable = sys.unraisablehook
    main = _thread.get_ident()

    def terminate(number, frame):
        nonlocal raised
        if not raised:
            if not came:
                came.append(number)
                _thread.start_new_thread(insist, ())
            if _held is not None:
                _held.append(number)
                return
            raised = True
            raise Terminated(came[0])

    def insist():
        for _ in range(_TIMES):
            if going_on.acquire(timeout=_AGAIN):
                return
            if not raised:
                signal.pthread_kill(main, came[0])
        leave(128 + came[0])

    def dropped(what):
        nonlocal raised
        if issubclass(what.exc_type, Terminated):
            raised = False
        else:
            unraisable(what)

    try:
        with suppress(ValueError):  # not the main thread
            for number in (getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)):
                handler = signal.getsignal(number)
                if handler in (signal.SIG_DFL, signal.default_int_handler):  # nohup ignores it
                    undo.append((number, handler))
                    signal.signal(number, terminate)
            sys.unraisablehook = dropped
        with _default_while_loading(undo, came):
            yield came
        if came:  # it was caught by somebody else
            raise Terminated(came[0])
    finally:
        raised = True  # a signal from here on changes nothing
        going_on.release()
        sys.unraisablehook = unraisable
        with suppress(ValueError):
            for number, handler in undo:
                signal.signal(number, handler)
