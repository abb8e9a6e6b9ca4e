"""``kernelbraid methods``: the methods that ``kernelbraid cluster`` knows."""

from typing import Any

import typer

from kernelbraid.cli.output import print_json, print_table
from kernelbraid.methods import METHODS, TITLES, kernels_taken, settings_of

KERNELS = {"one": "one at a time", "several": "all at once", "none": "none, features"}


def run(*, as_json: bool) -> None:
    """List the methods."""
    methods = describe()
    if as_json:
        print_json({"methods": methods})
        return
    rows = [[one["name"], one["title"], one["estimator"], KERNELS[one["kernels"]]] for one in methods]
    print_table(rows, header=["name", "method", "estimator", "kernels"], unbroken=(0, 2))
    typer.echo("\nUse one with kernelbraid cluster DATA --clusters K --method NAME.")


def describe() -> list[dict[str, Any]]:
    """Return the methods as plain data."""
    return [
        {
            "name": name,
            "title": TITLES[name],
            "estimator": type(model).__name__,
            "kernels": kernels_taken(model),
            "settings": settings_of(model),
        }
        for name, model in METHODS.items()
    ]
