"""One error tree and one finding, for all rooms.

This room is below all others and needs the standard library alone.
"""

from trundle.errors._finding import Code, Finding, Place, Severity, errors_among
from trundle.errors._tree import ExpectationError, Kind, TrundleError
from trundle.errors._wording import (
    did_you_mean,
    duration_text,
    expectation,
    listed,
    meant,
    shortened,
    shown,
    similar,
)

__all__ = [
    "Code",
    "ExpectationError",
    "Finding",
    "Kind",
    "Place",
    "Severity",
    "TrundleError",
    "did_you_mean",
    "duration_text",
    "errors_among",
    "expectation",
    "listed",
    "meant",
    "shortened",
    "shown",
    "similar",
]
