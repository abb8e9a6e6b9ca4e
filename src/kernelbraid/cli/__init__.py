"""The command line: ``kernelbraid cluster``, ``kernelbraid score``, ``kernelbraid demo``."""

from kernelbraid.cli.app import app, main

__all__ = ["app", "main"]
