"""How often a generated test tries."""

from hypothesis import HealthCheck, settings


def some_examples(count: int) -> settings:
    """Settings for a test with so many examples, the same ones in every run.

    Objects with many properties are slow to draw; that is no reason to fail.
    """
    return settings(
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
