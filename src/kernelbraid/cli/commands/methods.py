"""``kernelbraid methods``: the methods that ``kernelbraid cluster`` knows."""

from collections.abc import Mapping
from typing import Any

import typer

from kernelbraid.cli.output import print_json, print_table
from kernelbraid.methods import METHODS

POLICY_WORDS = {"each": "one at a time", "all": "all at once", "features": "none, features"}
HEADER = ["name", "method", "estimator", "kernels", "to tune"]


def run(*, as_json: bool) -> None:
    """List the methods."""
    methods = describe()
    if as_json:
        print_json({"methods": methods})
        return
    rows = [
        [method["name"], method["title"], method["estimator"], POLICY_WORDS[method["policy"]], shorten(method["grid"])]
        for method in methods
    ]
    print_table(rows, header=HEADER, unbroken=(0, 2))
    typer.echo("\nUse one with kernelbraid cluster DATA --clusters K --method NAME.")


def describe() -> list[dict[str, Any]]:
    """Return the registry as plain data."""
    return [
        {
            "name": name,
            "title": method.title,
            "estimator": method.estimator.__name__,
            "policy": method.policy,
            "settings": dict(method.settings),
            "grid": {parameter: list(values) for parameter, values in method.grid.items()},
        }
        for name, method in METHODS.items()
    ]


def shorten(grid: Mapping[str, list[Any]]) -> str:
    """Return the ends of the values of every parameter."""
    return ", ".join(f"{name} {min(values):g} to {max(values):g}" for name, values in grid.items()) or "nothing"
