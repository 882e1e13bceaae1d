"""How a hook of a package that never returns is ended, in the words of its error."""

LIMIT_REACHED = r"more than (200000 steps|2 seconds)"
"""Which of the two limits comes first depends on how fast the machine is."""
