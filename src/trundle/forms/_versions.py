"""The versions of the format of forms."""

import re

from trundle.engine.expressions import Code, Mapped, Scalar, line_of
from trundle.errors import Finding, Place
from trundle.forms._errors import FormCode
from trundle.forms._findings import kind_of
from trundle.forms._model import NEWEST, FormVersion

OLDEST = FormVersion(2, 0)


def read_version(whole: Mapped, file: str) -> tuple[FormVersion | None, list[Finding]]:
    """The version of the format that a form states; the newest where it states none.

    Args:
        whole: the form.
        file: what messages call its file.

    Returns:
        The version, or None where it cannot be read, and what is wrong.
    """
    stated = [(name, whole.get(name)) for name in ("Version", "Format")]
    given = [(name, code) for name, code in stated if code is not None and code != Scalar(None)]
    if not given:
        return NEWEST, []
    findings = []
    found = [_parsed(code) for _, code in given]
    expected = f"a version from {OLDEST} to {NEWEST}"
    for (name, code), version in zip(given, found, strict=True):
        if version is None or not OLDEST <= version <= NEWEST:
            advice = _advice(version)
            place = Place(file, line_of(code) or None, name)
            findings.append(Finding(FormCode.VERSION, place, expected, kind_of(code), advice))
    if not findings and len(set(found)) > 1:
        place = Place(file, line_of(given[1][1]) or None, given[1][0])
        what = f"{found[0]} under Version and {found[1]} under Format"
        findings.append(Finding(FormCode.VERSION, place, "one version", what, "remove one of them"))
    return (None if findings else found[0]), findings


def _advice(version: FormVersion | None) -> str:
    if version is None:
        return f"write `Version: {NEWEST}`"
    if version < OLDEST:
        return "describe the object under `Application`, and write its values as expressions"
    return "upgrade Trundle, or write the form for an earlier version"


def _parsed(code: Code) -> FormVersion | None:
    if not isinstance(code, Scalar) or isinstance(code.value, bool):
        return None
    text = re.fullmatch(r"([0-9]{1,4})(?:\.([0-9]{1,4})(?:\.0)?)?", str(code.value))
    return FormVersion(int(text[1]), int(text[2] or 0)) if text else None
