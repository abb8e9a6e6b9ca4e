"""Help for people: flags and arguments stand without the types that Python gives them."""

from collections.abc import Callable, Iterable
from typing import Any


def in_plain_words(command: Any) -> Any:
    """Return a command whose help, and that of the commands below it, shows no types of Python.

    Parameters
    ----------
    command : TyperCommand or TyperGroup
        What typer has made of a function or of a program.
    """
    command.get_params = _without_types(command.get_params)
    for below in getattr(command, "commands", {}).values():
        in_plain_words(below)
    return command


def _without_types(get_params: Callable[[Any], Iterable[Any]]) -> Callable[[Any], list[Any]]:
    def wrapped(ctx: Any) -> list[Any]:
        parameters = list(get_params(ctx))
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""  # a flag takes no value
            elif parameter.param_type_name == "argument" and hasattr(parameter, "display_type_rich"):
                parameter.display_type_rich = lambda ctx: None  # its name says what it is
        return parameters

    return wrapped
