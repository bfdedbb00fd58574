"""Signals that end a command become exceptions, so that every ``with`` block removes what it made.

Only the main thread of a process receives signals; :func:`handled` does nothing in other threads.
"""

from __future__ import annotations

import _thread
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = 128 + signal.SIGINT
"""The exit status after Ctrl-C."""
_AGAIN = 0.1
"""Seconds after which a signal whose exception was lost is raised once more."""


class Interrupted(KeyboardInterrupt):
    """Somebody pressed Ctrl-C, or asked the process to end with SIGTERM.

    `status` is the exit status that a shell expects: 128 and the number of the signal. This is a class of its own,
    because Python ends itself with SIGINT, and not with the program's exit status, if a plain `KeyboardInterrupt` has
    left a call of ``exec`` anywhere.
    """

    def __init__(self, number: int) -> None:
        super().__init__("terminated" if number == signal.SIGTERM else "interrupted")
        self.status = 128 + number


class _State:
    """How deep the blocks of `held` are nested, and the signal that ends the process, once it has come."""

    depth = 0
    received: int | None = None


def _unwinding() -> bool:
    """Return whether `Interrupted` is on its way, and the code that runs tidies up after it."""
    fault = sys.exc_info()[1]
    while fault is not None and not isinstance(fault, Interrupted):
        fault = fault.__context__
    return fault is not None


def _raise() -> None:
    if _State.received is not None and not _State.depth and not _unwinding():
        raise Interrupted(_State.received)


def _receive(number: int, frame: FrameType | None) -> None:
    if _State.received is None:
        _State.received = number
        # A low-level thread, because this handler may have interrupted any code, such as the start of a thread.
        _thread.start_new_thread(_insist, (number,))
    _raise()


def _insist(number: int) -> None:
    """Send the signal again until its exception has arrived at `handled`.

    Python drops an exception that is raised in certain places, such as a destructor or a callback of the collector.
    """
    while _State.received == number:
        time.sleep(_AGAIN)
        if _State.received == number:
            _thread.interrupt_main(signal.Signals(number))


@contextmanager
def _quiet_destructors() -> Iterator[None]:
    """Drop what destructors raise after a signal, until the ``with`` block ends.

    A signal may end a constructor in its midst. The destructor of a package may fail on such a half-made object, and
    Python would print its traceback after our one line.
    """
    before = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if _State.received is None:
            before(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    except Interrupted as stop:
        # The frames hold half-made objects, whose destructors run now.
        fault: BaseException | None = stop
        while fault is not None:
            traceback.clear_frames(fault.__traceback__)
            fault = fault.__context__
        raise
    finally:
        sys.unraisablehook = before


@contextmanager
def handled() -> Iterator[None]:
    """Turn both signals into exceptions until the ``with`` block ends. A signal that is ignored stays ignored.

    A shell ignores SIGINT for commands that run in the background.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDING}
    _State.depth, _State.received = 0, None
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _receive)
    try:
        with _quiet_destructors():
            yield
    except Exception as fault:
        # Python wraps what is raised in certain places, such as the making of a class, in an exception of its own.
        if _State.received is None:
            raise
        raise Interrupted(_State.received) from fault
    finally:
        _State.received = None
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore() -> None:
    """Ignore both signals from now on: the command has ended, and Python needs a moment to end, too."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def held() -> Iterator[None]:
    """Hold signals back until the ``with`` block ends.

    A block that makes something, such as a process, has to return before anybody can remove what it made.
    """
    _State.depth += 1
    try:
        yield
    finally:
        _State.depth -= 1
    _raise()


@contextmanager
def private_temporary_folder() -> Iterator[None]:
    """Give this process and the programs that it starts a temporary folder until the ``with`` block ends.

    A program that is killed leaves its temporary files behind; these lie in the folder. Where no folder can be made,
    nothing changes: a command that needs one fails where it needs it.
    """
    before, variable = tempfile.tempdir, os.environ.get("TMPDIR")
    folder = ""
    try:
        with held(), suppress(OSError):
            folder = tempfile.mkdtemp(prefix="tabla-")
            tempfile.tempdir = os.environ["TMPDIR"] = folder
        yield
    finally:
        with held():
            tempfile.tempdir = before
            if variable is not None:
                os.environ["TMPDIR"] = variable
            elif folder:
                os.environ.pop("TMPDIR", None)
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
