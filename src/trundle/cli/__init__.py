"""The command line: parses, calls, prints."""

from trundle.cli._app import main

__all__ = ["main"]
