"""How many versions convert straight to each other; `trundle.yaml` is read with it where no code is generated."""

STRAIGHT = 4
"""How many of the newest served versions convert straight to each other, by default."""
