"""What the readers of forms have in common: they collect findings, and name what they found."""

from collections.abc import Collection

from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar, line_of
from trundle.errors import Finding, Place, did_you_mean, shown
from trundle.forms._errors import FormCode


class Findings:
    """Collects what is wrong with a file.

    Attributes:
        file: what messages call it.
        findings: what was found so far.
    """

    def __init__(self, file: str, subject: str = "") -> None:
        self.file = file
        self.findings: list[Finding] = []
        self.subject = subject

    def wrong(self, code: FormCode, line: int, expected: str, found: str, advice: str) -> None:
        """Notes that something is not as it should be."""
        place = Place(self.file, line or None, self.subject)
        self.findings.append(Finding(code, place, expected, found, advice))

    def since(self, version: object, line: int, what: str, found: object) -> None:
        """Notes what a later version brought; it means the same in the newest, to which forms are converted."""
        place = Place(self.file, line or None, self.subject)
        expected, advice = f"{what} from {version} on", f"write `Version: {version}` or later"
        self.findings.append(
            Finding(FormCode.VERSION, place, expected, str(found), advice, "warning")
        )

    def passed_over(self, name: str, line: int, advice: str = "") -> None:
        """Notes a key that has no effect."""
        place = Place(self.file, line or None, self.subject)
        found = f"{name} has no effect here"
        self.findings.append(Finding(FormCode.UNKNOWN, place, "", found, advice, "note"))

    def unknown(self, code: Mapped, known: Collection[str], where: str) -> None:
        """Notes the keys of a map that are not known."""
        for key, value in code.entries:
            name = text_of(key)
            if name is None or name not in known:
                shown_name = f"{name or kind_of(key)} of {where}" if where else name or kind_of(key)
                self.passed_over(shown_name, line_of(value), did_you_mean(name or "", known))


def kind_of(code: Code) -> str:
    """What a part of a form is, in words."""
    match code:
        case Expression():
            return f"the expression {code}"
        case Scalar(value=None):
            return "nothing"
        case Scalar(value=value):
            return shown(value)
        case Listing():
            return "a list"
    return "a map"


def text_of(code: Code) -> str | None:
    """The text of a scalar; None for anything else."""
    return code.value if isinstance(code, Scalar) and isinstance(code.value, str) else None
