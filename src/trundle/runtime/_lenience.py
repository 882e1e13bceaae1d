"""What may be wrong with a document, what is done about it, and how it is reported.

What a person or client writes has to be what its version says. A platform reads more than that: a webhook gets
objects that an API server let pass, and a store what an earlier release wrote. Whatever is tolerated there is
reported, one thing at a time.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from trundle.errors import Finding, expectation

Unknown: TypeAlias = Literal["error", "keep", "prune"]


class Tolerated(msgspec.Struct, frozen=True):
    """One thing about a document that was tolerated.

    Attributes:
        path: JSON path of the place, starting with `$`.
        expected: what the schema says about the place.
        found: what was there.
        done: what became of it.
    """

    path: str
    expected: str
    found: str
    done: str

    @classmethod
    def of(cls, finding: Finding, done: str) -> "Tolerated":
        """A finding that was tolerated."""
        return cls(finding.place.path, finding.expected, finding.found, done)

    def __str__(self) -> str:
        return f"{self.done}: {expectation(self.expected, self.found)} - at {self.path}"


class Lenience(msgspec.Struct, frozen=True, kw_only=True):
    """What is tolerated about a document that is read; the default is nothing.

    It applies to documents of an API version, JSON or dictionaries, at any depth but within free-form data. Values
    of a wrong type are errors always. Objects of generated classes are taken as they are, and so is a base.

    Attributes:
        missing: whether required properties may be missing, as in a patch or in what one manager owns. They stay
            absent.
        nulls: whether null may stand for a property or a map's value that cannot be null. It is dropped, as an API
            server prunes it. A null element of a list stays an error: dropping it would move the others.
        defaults: whether a property that is missing, or null where that was dropped, gets the default that its
            schema declares. Defaults are filled in where the object around them exists, also inside of one that
            a default has made, as in Kubernetes' structural schemas. Over a base, what its reader is shown as missing
            stays missing.
        unknown: what happens to a property that the version does not know: `error`; `keep` carries it along, also
            through a store; `prune` drops it. Where a schema preserves unknown properties, none is unknown. What
            a reader of the base is shown may be written back, and is kept, whatever this says.
        report: called with each thing that was tolerated, once a document was read without an error.
    """

    missing: bool = False
    nulls: bool = False
    defaults: bool = False
    unknown: Unknown = "error"
    report: Callable[[Tolerated], object] | None = None

    @property
    def looks_at_all(self) -> bool:
        """Whether all of a document has to be read, for something to be dropped or reported."""
        return self.nulls or self.unknown == "prune" or self.report is not None

    def of_stored(self) -> "Lenience":
        """How stored documents are read: they may lack anything, and keep what their version does not know."""
        return Lenience(missing=True, unknown="keep", report=self.report)


STRICT = Lenience()
"""Nothing is tolerated."""

WEBHOOK = Lenience(missing=True, nulls=True, unknown="keep")
"""Whatever an API server may hand to a conversion webhook; nothing is dropped but nulls that cannot be."""
