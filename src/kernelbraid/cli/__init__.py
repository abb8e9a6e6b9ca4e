"""The command line: ``kernelbraid cluster``, ``predict``, ``methods``, ``score`` and ``demo``."""

from kernelbraid.cli.app import app, main

__all__ = ["app", "main"]
