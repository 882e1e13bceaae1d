"""Converts forms of earlier versions to the newest: text to text, so that comments and order stay."""

import re
from dataclasses import replace
from typing import NamedTuple

from trundle.engine.expressions import Expression, Mapped
from trundle.errors import Finding, Place, errors_among
from trundle.forms._errors import FormCode, FormError
from trundle.forms._model import NAME_STEP, NEWEST, Definition, FieldType, Form
from trundle.forms._reading import read_form
from trundle.forms._settling import place_of

_DOMAIN = "io.murano.windows.ActiveDirectory"
_TODAY = {FieldType.FLOATING_IP: "boolean", FieldType.DOMAIN: _DOMAIN}
_STATED = re.compile(r"(?m)^(?P<key>[\"']?(?:Version|Format)[\"']?[ \t]*:[ \t]*)(?P<value>[^\s#]+)")
_NAMES = ("name", "title", "applicationname", "appname")
_OF_TEXT = ("label", "description", "description_title", "help_text", "initial")


class ConvertedForm(NamedTuple):
    """A form in the newest version of the format.

    Attributes:
        text: its YAML; the original one where that is of the newest version already.
        form: the form.
        version: the version that the original states.
        findings: what a person must look at, as warnings; and notes.
    """

    text: str
    form: Form
    version: str
    findings: tuple[Finding, ...]


def converted(text: str, file: str, package: str = "") -> ConvertedForm:
    """Converts a form to the newest version.

    Args:
        text: the YAML of the form.
        file: what messages call it.
        package: the name of its package.

    Raises:
        FormError: the form cannot be used, or its text cannot be changed without changing what it says.
    """
    reading = read_form(text, file, package)
    form = reading.form
    if form is None:
        raise FormError(errors_among(reading.findings))
    if form.version == NEWEST:
        return ConvertedForm(text, form, str(form.version), reading.findings)
    changed = _changed(text, form)
    again = read_form(changed, file, package)
    if again.form is None or not _is_same(form, again.form):
        advice = (
            f"write `Version: {NEWEST}` on a line of its own, and types of fields beside `type`"
        )
        expected = "a form whose version and types can be replaced"
        found = "one that would say something else"
        raise FormError([Finding(FormCode.CONVERSION, Place(file), expected, found, advice)])
    findings = (*reading.findings, *_for_people(form))
    return ConvertedForm(changed, again.form, str(form.version), findings)


def _changed(text: str, form: Form) -> str:
    """The text with the newest version, and with the types of today."""
    lines = text.splitlines(keepends=True)
    for step in form.steps:
        for field in step.fields:
            if field.type in _TODAY:
                _replace_type(lines, (field.place.line or 1) - 1, field)
    return _STATED.sub(lambda found: f"{found['key']}{NEWEST}", "".join(lines))


def _replace_type(lines: list[str], start: int, field: Definition) -> None:
    """Replaces the first type of that name at or after a line, where the field begins."""
    written = re.compile(rf"(\btype[\"']?[ \t]*:[ \t]*)([\"']?){field.type}\2(?![\w.])")
    for at in range(start, len(lines)):
        line, count = written.subn(rf"\g<1>{_TODAY[field.type]}", lines[at], count=1)
        if count:
            lines[at] = line
            return


def _is_same(before: Form, after: Form) -> bool:
    """Whether a form says what another one said, in the newest version and with the types of today."""
    steps = [each for each in after.steps if each.name != NAME_STEP]
    was = [each for each in before.steps if each.name != NAME_STEP]
    return (
        after.version == NEWEST
        and (before.application, before.templates) == (after.application, after.templates)
        and [each.name for each in was] == [each.name for each in steps]
        and [each.checks for each in was] == [each.checks for each in steps]
        and [_today(field) for each in was for field in each.fields]
        == [_without_place(field) for each in steps for field in each.fields]
    )


def _today(field: Definition) -> Definition:
    if field.type is FieldType.FLOATING_IP:
        return _without_place(replace(field, type=FieldType.BOOLEAN))
    if field.type is FieldType.DOMAIN:
        return _without_place(replace(field, type=FieldType.OBJECT, classes=(_DOMAIN,)))
    return _without_place(field)


def _without_place(field: Definition) -> Definition:
    return replace(field, place=Place())


def _for_people(form: Form) -> list[Finding]:
    """What a person must look at."""
    found: list[Finding] = []
    for step in form.steps:
        for field in step.fields:
            if (
                form.version < (2, 2)
                and field.name.lower() in _NAMES
                and _names_itself(form, field)
            ):
                advice = "remove the field if the class does without the property"
                text = f"{field.name} asks for the name, which {NAME_STEP} asks for from 2.2 on"
                found.append(_warning(field.place, text, advice))
    for field in form.steps[0].fields if form.steps else ():
        for name, code in field.attributes.items():
            if name in _OF_TEXT and isinstance(code, Expression):
                text = f"{name} is the expression {code} from 2.4 on"
                found.append(
                    _warning(place_of(field, code), text, "put quotes around it if it is text")
                )
    return found


def _names_itself(form: Form, field: Definition) -> bool:
    """Whether the object model has a property `name` that comes from a field."""
    named = form.application.get("name") if isinstance(form.application, Mapped) else None
    wanted = re.compile(rf"\.{re.escape(field.name)}\b")
    return isinstance(named, Expression) and wanted.search(named.text) is not None


def _warning(place: Place, found: str, advice: str) -> Finding:
    return Finding(FormCode.CONVERSION, place, "", found, advice, "warning")
