"""The form of a package as fields of a page, from the JSON Schema of its answers."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from trundle.dashboard._fields import Choice, Control, Field, Group
from trundle.errors import Finding, Place
from trundle.forms import FormCode, FormError, form_files, json_schema, packaged_form
from trundle.packages import Package

_LONGEST_LIMIT = 60
"""How long a limit is that people read; a longer pattern is no help to them."""
_CONTROLS: Mapping[str, Control] = {
    "integer": "number",
    "password": "secret",
    "text": "lines",
    "network": "yaml",
}


def schema_of(archive: bytes) -> dict[str, Any] | None:
    """The JSON Schema of the answers to the form of a package; None where it has no form, or several.

    Raises:
        FormError: the form cannot be read, or a method of the package has to run for it.
        PackageError: the archive cannot be read.
    """
    package = Package.from_archive(archive)
    files = form_files(package)
    if len(files) != 1:
        return None
    form = packaged_form(package, files[0]).form
    if form.parameters_source:
        found = f"parameters from the method {form.parameters_source}"
        place = Place(form.file, object="ParametersSource")
        raise FormError([Finding(FormCode.MODEL, place, "", found, "run it")])
    return json_schema(form)


def answer_form(schema: Mapping[str, Any]) -> Group:
    """The fields of a form: a group for each step.

    Args:
        schema: the JSON Schema of the answers.
    """
    steps = tuple(_step(name, each) for name, each in schema.get("properties", {}).items())
    return Group((), "Form", tuple(each for each in steps if each.members))


def _step(name: str, schema: Mapping[str, Any]) -> Group:
    required = schema.get("required", ())
    fields = tuple(
        _field((name, field), each, is_required=field in required)
        for field, each in schema.get("properties", {}).items()
        if not each.get("x-trundle-hidden")
    )
    return Group((name,), str(schema.get("title", name)), fields)


def _field(path: tuple[str, str], schema: Mapping[str, Any], *, is_required: bool) -> Field:
    kind = str(schema.get("x-trundle-type", "string"))
    default = schema.get("default", msgspec.UNSET)
    choices = tuple(_choices(schema))
    control: Control = "choice" if choices else _CONTROLS.get(kind, "text")
    if kind == "choice" and not choices:  # They follow from other answers, and may be numbers
        control = "yaml"
    said = "" if default is msgspec.UNSET else _label(default)
    if choices:
        unset = f"not set ({said})" if said else "not set"
        choices = (Choice("", unset), *choices)
    return Field(
        path,
        str(schema.get("title") or path[-1]),
        control,
        required=is_required,
        doc=str(schema.get("description", "")),
        note=", ".join(_limits(schema)),
        choices=choices,
        placeholder=said,
        is_repeated=bool(schema.get("x-trundle-confirm")),
    )


def _choices(schema: Mapping[str, Any]) -> Iterator[Choice]:
    for each in _parts(schema):
        for one in each.get("oneOf", ()):
            if "const" in one:
                yield Choice(_json(one["const"]), str(one.get("title", one["const"])))
        if each.get("type") == "boolean":
            yield from (Choice("true", "yes"), Choice("false", "no"))


def _limits(schema: Mapping[str, Any]) -> Iterator[str]:
    for each in _parts(schema):
        for name in ("minimum", "maximum", "minLength", "maxLength", "pattern"):
            text = str(each.get(name, ""))
            if text and (name, text) != ("minLength", "1") and len(text) <= _LONGEST_LIMIT:
                yield f"{name} {text}"


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema, and what it is where it may be left empty."""
    yield schema
    yield from schema.get("anyOf", ())[:1]


def _label(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
