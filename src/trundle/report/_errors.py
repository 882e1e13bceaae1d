"""What can be wrong with a question to a report."""

from collections.abc import Iterable

from trundle.errors import Code, Finding, Kind, Place, TrundleError, listed, meant, similar


class ReportCode(Code):
    """What can be wrong with a question to a report."""

    UNKNOWN_NAME = "unknown-name"


class ReportError(TrundleError):
    """A question that names something the schemas do not have.

    Attributes:
        noun: what was asked for: `version`, `type`, `property`, `resource` or `project`.
        name: the name that nothing has.
        suggestions: names that are there and look like it, the likeliest first.
    """

    kind = Kind.NOT_FOUND

    def __init__(self, noun: str, name: str, known: Iterable[str], place: str = "") -> None:
        self.noun = noun
        self.name = name
        names = sorted(set(known))
        self.suggestions = alike(name, names)
        hint = meant(self.suggestions) or (f"write one of {listed(names)}" if names else "")
        expected = f"a {noun} of {place or 'the schemas'}"
        finding = Finding(ReportCode.UNKNOWN_NAME, Place(), expected, repr(name), hint)
        self.findings = (finding,)
        super().__init__(str(finding))


def alike(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """At most three of some names that look like another; letter case does not count."""
    names, wanted = set(known), name.casefold()
    holding = sorted(each for each in names if wanted and wanted in each.casefold())
    return similar(name, names, 3) or tuple(holding[:3])
