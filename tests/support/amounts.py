"""How much tests try: some examples in `make test`, all of them in `make test-all`."""

import os

from hypothesis import settings

ALL = os.environ.get("TRUNDLE_TESTS") == "all"

settings.register_profile("some", max_examples=15, deadline=None)
settings.register_profile("all", max_examples=100, deadline=None)
settings.load_profile("all" if ALL else "some")


def amount(number: int) -> int:
    """How many of so many examples to try."""
    return number if ALL else max(6, number // 10)
