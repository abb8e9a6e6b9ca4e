"""How a command ends early: with one sentence and an exit code, and never with half a file."""

import os
import signal
import sys
import tomllib
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from difflib import get_close_matches
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from kernelbraid.io.sources import DataError

FAILED, BAD_USAGE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
TABLES = tomllib.loads((Path(__file__).parent / "options.toml").read_text(encoding="utf-8"))
BY_CTRL_C = ("interrupted before the work was done.", INTERRUPTED)
BY_SIGTERM = ("ended by SIGTERM before the work was done; nothing half-written is left.", TERMINATED)
# Seconds that work has to end by itself when it is broken off, and between two looks where waiting hears no signal.
PATIENCE, GLANCE = 1.0, 0.2
at_work: list[Future[Any]] = []  # beside the thread that hears signals


class Failure(Exception):  # noqa: N818 (it is an outcome of a command, not a defect of the program)
    """A command could not do its work; the message is one sentence for the user."""

    def __init__(self, sentence: str, exit_code: int = FAILED) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


class Terminated(KeyboardInterrupt):
    """The program was asked to end by SIGTERM; whoever cleans up after Ctrl-C does so after this, too."""


class SentenceGroup(TyperGroup):
    """A group of commands that reports what is no defect of the program as one line, ``Error: ...``, on stderr."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as ended:
            raise Failure(*(BY_SIGTERM if isinstance(ended, Terminated) else BY_CTRL_C)) from None

    def main(self, *args: Any, standalone_mode: bool = True, **more: Any) -> Any:
        """Run the program, and end it with the right exit code unless a program called it."""
        run: Any = super().main
        if not standalone_mode:
            return run(*args, standalone_mode=False, **more)
        try:
            code = run(*args, standalone_mode=False, **more)
        except BrokenPipeError:  # whoever reads, such as head, has had enough
            sys.stdout = None  # or its last words would fail as well
            sys.exit(FAILED)
        except Exception as error:
            sentence = sentence_of(error)
            if sentence is None:
                raise
            typer.echo(f"Error: {one_line(sentence)}", err=True)
            sys.exit(getattr(error, "exit_code", FAILED))
        sys.exit(code if isinstance(code, int) else 0)


def sentence_of(error: Any) -> str | None:
    """Return what to tell of a mistake, of bad data or of a package that is missing; None for a defect."""
    if isinstance(error, Failure | DataError) or (isinstance(error, ImportError) and error.name is None):
        return str(error)  # Python's own error of an import names a module, that of a missing extra says what to do
    if not hasattr(error, "format_message"):  # usage errors of typer have no public base class
        return None
    sentence, context = error.format_message().replace("Value error, ", ""), getattr(error, "ctx", None)
    if type(error) is typer.BadParameter or context is None:
        return sentence
    if hasattr(error, "possibilities"):  # of an option that there is not
        renamed = TABLES["renamed"].get(context.command.name, {})
        known = [name for one in context.command.get_params(context) for name in one.opts]
        advice = renamed.get(error.option_name) or nearest(error.option_name, known)
        return f"there is no option {error.option_name}; {advice}"
    return f"{sentence.rstrip('.')} (see {context.command_path} --help)."


def nearest(word: str, known: Sequence[str]) -> str:
    """Return advice: the most similar word, or all words if none is."""
    folded = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), folded, n=1, cutoff=0.7)
    return f"the nearest is {folded[found[0]]!r}." if found else f"choose one of {', '.join(known)}."


def one_line(message: object) -> str:
    """Return a message without line breaks."""
    return " ".join(str(message).split())


def beside(work: Callable[[], Any]) -> Any:
    """Return what work returns, done in a thread: linear algebra looks at no signal, but this one hears Ctrl-C.

    What is left of the work then must not write files.
    """
    pool = ThreadPoolExecutor(1)
    done = pool.submit(copy_context().run, work)
    pool.shutdown(wait=False)
    at_work[:] = [done]
    while not wait([done], GLANCE).done:
        pass
    return done.result()


def run_to_its_end(program: Callable[[], None]) -> None:
    """Run a program that SIGTERM ends as Ctrl-C does, without waiting for what is computed in the background."""

    def end(number: int, frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one is enough, and cleaning up takes a moment
        raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        program()
    except SystemExit as ended:
        if ended.code in (INTERRUPTED, TERMINATED):
            warnings.simplefilter("ignore")  # of work whose result nobody takes
            for child in active_children():
                child.terminate()  # then what waits for it ends, too
            if wait(at_work, PATIENCE).not_done:
                os._exit(ended.code)
        raise
