"""How fields are called at a version, and how they are kept."""

from typing import Protocol

from trundle.api.apply._fields import EMPTY, FieldSet


class Words(Protocol):
    """How the fields that `managedFields` keeps are called at the version of a request."""

    @property
    def by(self) -> str:
        """In whose words fields are kept; kept fields are marked with it. Empty where all words are the same."""

    def moved(self, fields: FieldSet, by: str) -> FieldSet | None:
        """Fields that were kept in other words, as they are kept now; None where those words are not known."""

    def shown(self, fields: FieldSet) -> tuple[FieldSet, FieldSet]:
        """What of kept fields the version can show, in its own words; and the rest."""

    def kept(self, fields: FieldSet, hidden: FieldSet) -> FieldSet:
        """Fields in the version's words, and the rest, as they are kept."""


class SameWords:
    """The words of fields that are called alike at every version."""

    by = ""

    def moved(self, fields: FieldSet, by: str) -> FieldSet | None:  # noqa: ARG002 - all words are the same
        """All of the fields."""
        return fields

    def shown(self, fields: FieldSet) -> tuple[FieldSet, FieldSet]:
        """All of the fields."""
        return fields, EMPTY

    def kept(self, fields: FieldSet, hidden: FieldSet) -> FieldSet:
        """The fields as they are."""
        return fields | hidden
