"""How a command ends early: with one sentence and an exit code, never with a traceback or half a file."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup

FAILED, BAD_USAGE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
INTERRUPTED_SENTENCE = "interrupted before the work was done."
PATIENCE = 1.0  # seconds in which Python may notice Ctrl-C by itself
SHOW_CURSOR = "\x1b[?25h"  # which a bar has hidden


class Failure(Exception):  # noqa: N818 (it is an outcome of a command, not a defect of the program)
    """A command could not do its work; the message is one sentence for the user."""

    def __init__(self, sentence: str, exit_code: int = FAILED) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


class Terminated(KeyboardInterrupt):
    """The program was asked to end by SIGTERM; whoever cleans up after Ctrl-C does so after this, too."""


class SentenceGroup(TyperGroup):
    """A group of commands that reports every error as one line, ``Error: ...``, on stderr."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except Terminated:
            sentence = "ended by SIGTERM before the work was done; nothing half-written is left."
            raise Failure(sentence, TERMINATED) from None
        except KeyboardInterrupt:
            raise Failure(INTERRUPTED_SENTENCE, INTERRUPTED) from None

    def main(self, *args: Any, standalone_mode: bool = True, **more: Any) -> Any:
        """Run the program, and end it with the right exit code unless a program called it."""
        main: Any = super().main
        run = partial(main, *args, standalone_mode=False, **more)
        if not standalone_mode:
            return run()
        try:
            code = run()
        except BrokenPipeError:  # whoever reads, such as head, has had enough
            sys.stdout = None  # or its last words would fail as well
            sys.exit(FAILED)
        except Exception as error:
            sentence = sentence_of(error)
            if sentence is None:
                raise
            typer.echo(f"Error: {sentence}", err=True)
            sys.exit(getattr(error, "exit_code", FAILED))
        sys.exit(code if isinstance(code, int) else 0)


def sentence_of(error: Exception) -> str | None:
    """Return what to tell of an error of the user or of the library; None for a defect of the program."""
    if hasattr(error, "format_message"):  # usage errors of typer have no public base class
        sentence, context = one_line(error.format_message()), getattr(error, "ctx", None)
        if type(error) is typer.BadParameter or context is None:
            return sentence
        return f"{sentence.rstrip('.')} (see {context.command_path} --help)."
    if isinstance(error, MemoryError) and not str(error):  # of Python itself
        return "the work does not fit into memory; give fewer samples or columns."
    return one_line(error) if isinstance(error, Failure | ValueError | MemoryError | ImportError) else None


def one_line(message: object) -> str:
    """Return a message without line breaks."""
    return " ".join(str(message).split())


def clean_up_when_terminated() -> None:
    """Let SIGTERM end this program as Ctrl-C does, so that nothing half-written is left."""
    program = os.getpid()

    def end(number: int, frame: object) -> None:
        if os.getpid() != program:  # a child that was forked: it has nothing to clean up
            os._exit(TERMINATED)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one is enough, and cleaning up takes a moment
        raise Terminated

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, end)


@contextmanager
def interruptible(patience: float = PATIENCE) -> Iterator[None]:
    """End the program soon after Ctrl-C, though a library of linear algebra looks at no signal before it is done.

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

    def notice(number: int, frame: object) -> None:
        noticed.set()
        signal.default_int_handler(number, None)

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
