"""How a command ends early: with one sentence and an exit code, never with a traceback."""

import os
import signal
import sys
import threading
from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup

from kernelbraid._system import install
from kernelbraid.files.errors import DataError

#: Optional packages, and the extra that brings each.
EXTRAS = {"matplotlib": "plot", "pandas": "io", "polars": "io", "pyarrow": "io"}
EXTRAS |= {"dask": "dask", "distributed": "dask", "torch": "gpu", "anndata": "scverse", "mudata": "scverse"}

FAILED, BAD_USAGE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
INTERRUPTED_SENTENCE = "interrupted before the work was done."


class Failure(Exception):  # noqa: N818 (it is an outcome of a command, not a defect of the program)
    """A command could not do its work; the message is one sentence for the user."""

    def __init__(self, sentence: str, exit_code: int = FAILED) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


class Terminated(KeyboardInterrupt):
    """The program was asked to end by SIGTERM; whoever cleans up after Ctrl-C does so after this, too."""


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


def one_line(message: object) -> str:
    """Return a message without line breaks."""
    return " ".join(str(message).split())


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

    def main(
        self, args: Any = None, prog_name: Any = None, *rest: Any, standalone_mode: bool = True, **more: Any
    ) -> Any:
        """Run the program, and end it with the right exit code unless a program called it."""
        run = partial(super().main, args, prog_name, *rest, **more)
        if not standalone_mode:
            return run(standalone_mode=False)
        try:
            code = run(standalone_mode=False)
        except (Failure, DataError) as error:
            _end(one_line(error), getattr(error, "exit_code", FAILED))
        except BrokenPipeError:  # whoever reads, such as head, has had enough
            sys.stdout = None  # or its last words would fail as well
            sys.exit(FAILED)
        except ImportError as error:
            sentence = missing_extra(error)
            if sentence is None:
                raise
            _end(sentence, FAILED)
        except MemoryError:
            _end("the work does not fit into memory; give fewer samples or columns.", FAILED)
        except Exception as error:
            # Usage errors of typer and click share no public base class in all their versions.
            if not hasattr(error, "format_message"):
                raise
            _end(_usage(error), getattr(error, "exit_code", BAD_USAGE))
        sys.exit(code if isinstance(code, int) else 0)


def missing_extra(error: ImportError) -> str | None:
    """Return what to install for an optional package that is not there; None if something else is missing.

    Parameters
    ----------
    error : ImportError
        Of Python itself, which names the module, or one that says what to do already.
    """
    if error.name is None:
        return one_line(error)
    package = error.name.partition(".")[0]
    if package not in EXTRAS:
        return None
    return f"this needs {package}, which is not installed; {install(EXTRAS[package])}."


def _usage(error: Any) -> str:
    """Return a usage error as one sentence; those raised here already say what to do."""
    sentence, context = one_line(error.format_message()), getattr(error, "ctx", None)
    if type(error) is typer.BadParameter or context is None:
        return sentence
    return f"{sentence.rstrip('.')} (see {context.command_path} --help)."


def _end(sentence: str, exit_code: int) -> None:
    """Report one sentence and end the program."""
    typer.echo(f"Error: {sentence}", err=True)
    sys.exit(exit_code)
