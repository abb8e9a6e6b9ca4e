"""The program: its commands, each loaded when it is called or its help is asked for."""

import sys
from importlib import import_module
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from kernelbraid._version import __version__
from kernelbraid.cli.failure import BAD_USAGE, Failure, SentenceGroup, clean_up_when_terminated
from kernelbraid.cli.help import in_plain_words

EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted, 143 terminated."


class Command(NamedTuple):
    """Where a command is, and its line in the list of commands."""

    module: str
    attribute: str  # a function, or a program of its own with commands below it
    line: str  # the first sentence of its help


#: The commands in the order of the help; names instead of imports, so that the list alone costs no scikit-learn.
COMMANDS = {
    "cluster": Command("kernelbraid.cli.arguments", "cluster", "Cluster the samples in one or several files."),
    "predict": Command("kernelbraid.cli.arguments", "predict", "Label new samples with a model that was saved."),
    "methods": Command("kernelbraid.cli.arguments", "methods", "List the methods that can be fitted."),
    "score": Command("kernelbraid.cli.arguments", "score", "Score labels against the truth with eight measures."),
    "demo": Command(
        "kernelbraid.cli.arguments",
        "demo",
        "Cluster a bundled data set, compare with scikit-learn, and draw pictures.",
    ),
    "datasets": Command(
        "kernelbraid.cli.commands.datasets",
        "app",
        "List, fetch, import, verify and show the data sets of the paper.",
    ),
}


def load_command(name: str) -> TyperCommand | TyperGroup:
    """Return a command of `COMMANDS`, ready to be called."""
    found = getattr(import_module(COMMANDS[name].module), COMMANDS[name].attribute)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(rich_markup_mode="rich", add_completion=False)
        alone.command()(found)
        found = alone
    command = cast(TyperCommand | TyperGroup, get_command(found))
    command.name, command.epilog = name, EXIT_CODES
    return cast(TyperCommand | TyperGroup, in_plain_words(command))


class LazyGroup(SentenceGroup):
    """A group that knows its commands by name and line, and loads the one that is called."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        in_plain_words(self)
        for name, source in COMMANDS.items():
            self.add_command(TyperCommand(name, help=source.line))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that is called, loaded, and its arguments."""
        if args[0] == "bench":
            raise Failure("bench is no command any more; experiments run from a checkout: python -m lab.", BAD_USAGE)
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load_command(name), rest


app = typer.Typer(
    name="kernelbraid",
    cls=LazyGroup,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    """Print the version and end."""
    if asked:
        typer.echo(f"kernelbraid {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog=EXIT_CODES)
def start(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Cluster data with several kernels or several views at once.

    LKG learns a graph of the samples over several kernels, and clusters that graph; it can learn the kernel, too.

    Thirteen more methods are here, too: nine that its paper compares it with, and four that came after it.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(BAD_USAGE)


def main() -> None:
    """Run the program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no failure
    clean_up_when_terminated()
    app(prog_name="kernelbraid")
