"""Ctrl-C that is heard soon: a library of linear algebra looks at no signal before it is done."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from kernelbraid.cli.failure import INTERRUPTED, INTERRUPTED_SENTENCE

PATIENCE = 1.0  # seconds in which Python may notice Ctrl-C by itself
SHOW_CURSOR = "\x1b[?25h"  # which a bar has hidden


@contextmanager
def interruptible(patience: float = PATIENCE) -> Iterator[None]:
    """End the program soon after Ctrl-C, even in the middle of a long computation.

    Nothing is cleaned up then: what is done meanwhile must not write files. In another thread than the
    first, on Windows, and where somebody else handles Ctrl-C, nothing is changed.

    Parameters
    ----------
    patience : float, default=1.0
        Seconds in which Python may notice it by itself.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if sys.platform == "win32" or not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    noticed = threading.Event()

    def notice(number: int, frame: FrameType | None) -> None:
        noticed.set()
        signal.default_int_handler(number, frame)

    out, into = os.pipe()
    os.set_blocking(into, False)
    signal.signal(signal.SIGINT, notice)
    before = signal.set_wakeup_fd(into, warn_on_full_buffer=False)
    threading.Thread(target=_wait_for_signals, args=(out, noticed, patience), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.close(into)  # which ends the thread


def _wait_for_signals(pipe: int, noticed: threading.Event, patience: float) -> None:
    """End the program if Ctrl-C came and is not noticed; signals come through the pipe at once, as numbers."""
    try:
        while came := os.read(pipe, 1):
            if came[0] == signal.SIGINT and not noticed.wait(patience):
                cursor = f"{SHOW_CURSOR}\n" if sys.stderr.isatty() else ""
                os.write(2, f"{cursor}Error: {INTERRUPTED_SENTENCE}\n".encode())
                os._exit(INTERRUPTED)
    finally:
        os.close(pipe)
