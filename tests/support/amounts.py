"""How much tests try, and what: some examples in `make test`, all of them in `make test-all`; the same ones in every run.

`DRAWS=fresh make test` and `DRAWS=fresh make test-all` draw other examples of all properties but the laws; what fails is
printed with a line that repeats it.
"""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

ALL = os.environ.get("TRUNDLE_TESTS") == "all"
FRESH = os.environ.get("DRAWS") == "fresh"

settings.register_profile(
    "trundle",
    max_examples=100 if ALL else 15,
    deadline=None,
    derandomize=not FRESH,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # The machine may be busy.
)
settings.load_profile("trundle")

if not FRESH:
    # Hypothesis also draws constants of all modules that a process has loaded, so that examples would depend on the tests
    # that ran before.
    providers._get_local_constants = lambda loaded=providers._local_constants: loaded


def amount(number: int) -> int:
    """How many of so many examples to try."""
    return number if ALL else max(3, number // 10)


def full(*values: object) -> object:
    """A case that `make test-all` runs and `make test` does not; a lighter case of its test stays."""
    return pytest.param(*values, marks=pytest.mark.full)
