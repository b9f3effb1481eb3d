"""The command-line interface."""

from recollect.cli.app import main

__all__ = ["main"]
