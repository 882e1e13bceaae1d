"""What the operator follows: `Installation`, a project of Trundle itself, whose generated package is `installations`."""

from pathlib import Path

from trundle.api import ServedKind, converted_kinds, served_kinds
from trundle.kubernetes._own.installations import scheme
from trundle.project import load_project

__all__ = ["converted_installations", "installation_kinds", "scheme"]

_PROJECT = Path(__file__).parent / "trundle.yaml"


def installation_kinds() -> tuple[ServedKind, ...]:
    """The resource types of the operator."""
    return served_kinds([load_project(_PROJECT)], scheme)


def converted_installations() -> tuple[ServedKind, ...]:
    """The same, with all versions that objects may have."""
    return converted_kinds([load_project(_PROJECT)], scheme)
