"""What can be wrong with forms and with answers to them."""

from collections.abc import Iterable

from trundle.errors import Code, ExpectationError, Finding, Kind, TrundleError


class FormCode(Code):
    """What can be wrong with a form, or with what is answered to it."""

    VERSION = "form-version"
    STRUCTURE = "form-structure"
    ATTRIBUTE = "form-attribute"
    UNKNOWN = "form-unknown-key"
    CONVERSION = "form-conversion"
    LIMIT = "form-limit"
    MODEL = "form-model"
    NAME = "form-unknown-name"
    ANSWER = "wrong-answer"
    UNANSWERED = "unanswered-field"
    CHOICE = "form-choice"


class FormError(TrundleError):
    """A form that cannot be used, or answers that it does not take.

    Attributes:
        findings: everything that is wrong.
    """

    kind = Kind.REFUSED

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


class FormChoiceError(ExpectationError):
    """A package that has several forms, or none of the name that is asked for."""

    kind = Kind.USAGE
    code = FormCode.CHOICE
