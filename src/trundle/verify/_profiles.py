"""How often a generated test tries."""

from hypothesis import HealthCheck, settings

from trundle.verify._seeded import SETTLED


def some_examples(count: int) -> settings:
    """Settings for a test with so many examples, the same ones in every run, whatever else the process has loaded.

    Objects with many properties are slow to draw; that is no reason to fail.
    """
    return settings(
        backend=SETTLED,
        deadline=None,
        derandomize=True,
        max_examples=count,
        suppress_health_check=(
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
            HealthCheck.large_base_example,
            HealthCheck.too_slow,
        ),
    )


examples = some_examples(25)
"""The settings of a generated test."""
