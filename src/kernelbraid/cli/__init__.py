"""The command line: ``kernelbraid cluster``, ``predict``, ``score``, ``demo``, ``methods`` and ``datasets``."""

from kernelbraid.cli.app import app, main

__all__ = ["app", "main"]
