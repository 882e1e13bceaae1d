"""Runs the command line: `python -m trundle`."""

from trundle.cli import main

main()
