"""Reads forms, with everything that is wrong with them at once."""

from typing import Final, NamedTuple

from trundle.documents import UnreadableError
from trundle.engine import EngineError
from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar, line_of, read_code
from trundle.errors import Finding, Place, errors_among
from trundle.forms._errors import FormCode, FormError
from trundle.forms._findings import Findings, kind_of, text_of
from trundle.forms._model import (
    NEWEST,
    Form,
    FormVersion,
    Step,
)
from trundle.forms._step_reading import StepReader, name_step
from trundle.forms._versions import read_version

LARGEST: Final = 1024 * 1024
"""How many characters a form may have."""
_KEYS = (
    "Version",
    "Format",
    "Forms",
    "Application",
    "Templates",
    "Parameters",
    "ParametersSource",
)
_SINCE_2_4 = ("Parameters", "ParametersSource")


class Reading(NamedTuple):
    """What came of reading a form.

    Attributes:
        form: the form; None where it cannot be used.
        findings: everything that is wrong or to be known.
    """

    form: Form | None
    findings: tuple[Finding, ...]


def read_form(text: str, file: str, package: str = "") -> Reading:
    """Reads a form.

    Args:
        text: the YAML of the form.
        file: what messages call it.
        package: the name of its package, from which the default for the application's name comes.
    """
    if len(text) > LARGEST:
        found = f"{len(text)} characters"
        place = Place(file)
        limit = Finding(FormCode.LIMIT, place, f"at most {LARGEST} characters", found, "split it")
        return Reading(None, (limit,))
    try:
        documents = read_code(text, file, plain=":")
    except UnreadableError as error:
        return Reading(None, error.findings)
    reader = _Reader(file, package)
    form = reader.form(documents)
    findings = tuple(dict.fromkeys(reader.findings))
    return Reading(None if errors_among(findings) else form, findings)


def form_of(text: str, file: str, package: str = "") -> Form:
    """Reads a form that is to be used.

    Raises:
        FormError: it cannot be; the error has all findings.
    """
    reading = read_form(text, file, package)
    if reading.form is None:
        raise FormError(errors_among(reading.findings))
    return reading.form


class _Reader(Findings):
    def __init__(self, file: str, package: str) -> None:
        super().__init__(file)
        self._package = package

    def form(self, documents: list[Code]) -> Form | None:
        if len(documents) != 1 or not isinstance(documents[0], Mapped):
            found = kind_of(documents[0]) if len(documents) == 1 else f"{len(documents)} documents"
            self.wrong(
                FormCode.STRUCTURE, 1, "a form as one map", found, "write `Application` and `Forms`"
            )
            return None
        whole = documents[0]
        version = self._version(whole)
        if version is None:
            return None
        self.unknown(whole, _KEYS, "")
        for name in _SINCE_2_4:
            if version < NEWEST and (found_at := whole.get(name)) is not None:
                self.since(NEWEST, line_of(found_at), name, version)
        self._check_expressions(whole)
        return Form(
            version,
            self._steps(whole, version),
            self._application(whole),
            self._named(whole, "Templates"),
            self._named(whole, "Parameters"),
            self._source(whole),
            self.file,
        )

    def _version(self, whole: Mapped) -> FormVersion | None:
        version, findings = read_version(whole, self.file)
        self.findings += findings
        return version

    def _application(self, whole: Mapped) -> Code:
        found = whole.get("Application")
        if not isinstance(found, Mapped | Expression):
            what = "none" if found is None else kind_of(found)
            advice = "describe the object under `Application`, with its class under `?` and `type`"
            line = whole.line if found is None else found.line
            self.wrong(
                FormCode.STRUCTURE, line, "an object model under `Application`", what, advice
            )
            return Mapped(())
        if isinstance(found, Mapped):
            header = found.get("?")
            if not (isinstance(header, Mapped) and header.get("type") is not None):
                advice = "write `'?': {type: CLASS}`, with the quotes inside of braces"
                self.wrong(FormCode.STRUCTURE, found.line, "the class under `?`", "none", advice)
        return found

    def _named(self, whole: Mapped, key: str) -> dict[str, Code]:
        found = whole.get(key)
        if found is None or found == Scalar(None):
            return {}
        if not isinstance(found, Mapped):
            self.wrong(
                FormCode.STRUCTURE,
                line_of(found),
                f"a map under `{key}`",
                kind_of(found),
                "correct it",
            )
            return {}
        named = {}
        for name, value in found.entries:
            text = text_of(name)
            if text is None or not text[:1].isalpha():
                advice = "begin it with a letter"
                self.wrong(
                    FormCode.STRUCTURE, line_of(name), f"a name in `{key}`", kind_of(name), advice
                )
            else:
                named[text] = value
        return named

    def _source(self, whole: Mapped) -> str:
        found = whole.get("ParametersSource")
        if found is None or found == Scalar(None):
            return ""
        text = text_of(found)
        if not text or not all(part.isidentifier() for part in text.split(".")):
            advice = "write `Class.method`"
            self.wrong(
                FormCode.STRUCTURE,
                line_of(found),
                "the name of a static method",
                kind_of(found),
                advice,
            )
            return ""
        return text

    def _steps(self, whole: Mapped, version: FormVersion) -> tuple[Step, ...]:
        reader = StepReader(self.file, version)
        steps = reader.steps(whole)
        self.findings += reader.findings
        return (*steps, name_step(self._package, self.file)) if version >= (2, 2) else steps

    def _check_expressions(self, code: Code) -> None:
        """Finds expressions that cannot be read."""
        match code:
            case Expression():
                try:
                    _ = code.tree
                except EngineError as error:
                    self.findings += error.findings
            case Listing(items=items):
                for each in items:
                    self._check_expressions(each)
            case Mapped(entries=entries):
                for key, value in entries:
                    self._check_expressions(key)
                    self._check_expressions(value)
