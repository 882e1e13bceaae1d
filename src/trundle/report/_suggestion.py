"""A suggested change of configuration."""

from typing import Literal, TypeAlias

import msgspec

from trundle.report._similarity import case_only
from trundle.version import ApiVersion

Rule: TypeAlias = Literal[
    "convert", "keep", "move", "rename", "renameType", "unwrap", "values", "wrap"
]


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """A line of configuration that is likely to be right.

    Attributes:
        older: the version that the change is written on.
        newer: its neighbour.
        type: the type's name in the older version.
        rule: the name of the rule.
        property: the property in the older version; empty for `renameType`.
        target: what the rule says: the newer name, or the name of a conversion; empty for `values`.
        values: newer by older value, for `values`.
        score: how likely it is, from 0 to 1.
        evidence: the evidence for it, in a few words each.
        beside: what has to be configured with it, for the same property.
    """

    older: ApiVersion
    newer: ApiVersion
    type: str
    rule: Rule
    property: str = ""
    target: str = ""
    values: tuple[tuple[str, str], ...] = ()
    score: float
    evidence: tuple[str, ...]
    beside: tuple["Suggestion", ...] = ()

    def by_case_alone(self) -> bool:
        """Whether a rename changes nothing but letter case."""
        return self.rule == "rename" and case_only(self.property, self.target)
