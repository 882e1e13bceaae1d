"""Chooses how much all tests try, before any of them is read."""

import amounts  # noqa: F401 - loads the profile of hypothesis
