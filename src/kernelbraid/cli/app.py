"""The program: its commands, whose work is loaded when they run."""

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from kernelbraid._version import __version__
from kernelbraid.cli import commands as do
from kernelbraid.cli.ending import BAD_USAGE, SentenceGroup, run_to_its_end

EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted, 143 terminated."
COMMANDS = (do.cluster, do.predict, do.methods, do.score, do.demo)
DATASETS = (do.list_, do.fetch, do.import_, do.show)


class PlainHelp:
    """Help for people: flags and arguments stand without the types that Python gives them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in parameters:
            if one.param_type_name == "argument" or one.is_flag:
                one.display_type_rich = lambda ctx: None  # its name says what it is
        return parameters


class PlainCommand(PlainHelp, TyperCommand):
    """A command."""


class PlainGroup(PlainHelp, SentenceGroup):
    """Several commands below one name."""


def start(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False
) -> None:
    """Cluster data with several kernels or several views at once.

    LKG learns a graph of the samples over several kernels, and clusters that graph; it can learn the kernel, too.

    Thirteen more methods are here, too: nine that its paper compares it with, and four that came after it.
    """
    if version:
        typer.echo(f"kernelbraid {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(BAD_USAGE)


def start_datasets(ctx: typer.Context) -> None:
    """List, fetch, import and show the data sets of the paper.

    Files are kept in the folder named by KERNELBRAID_DATA, without it in the cache of the user.

    [bold]Examples[/bold]

      kernelbraid datasets fetch yale jaffe

      kernelbraid datasets import cora Cora.mat

      kernelbraid datasets show yale --out yale.png
    """
    start(ctx)


app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="rich")
for group, begin, commands in ((app, start, COMMANDS), (below := typer.Typer(), start_datasets, DATASETS)):
    names = {"help_option_names": ["-h", "--help"]}
    group.callback(cls=PlainGroup, invoke_without_command=True, epilog=EXIT_CODES, context_settings=names)(begin)
    for command in commands:
        group.command(command.__name__.strip("_"), cls=PlainCommand, epilog=EXIT_CODES)(command)
app.add_typer(below, name="datasets")


def main() -> None:
    """Run the program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no failure
    run_to_its_end(lambda: app(prog_name="kernelbraid"))
