"""What a version's schema says about a document, patterns and ranges included; in the words of an API server."""

import copy
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import jsonschema_rs
import msgspec

from trundle.api._causes import causes_of
from trundle.api._documents import text_of
from trundle.api._formats import FORMATS
from trundle.api._kinds import ServedVersion
from trundle.api._metadata_rules import metadata_causes
from trundle.api._metadata_types import wrong_types
from trundle.api._openapi import PRESERVE, definition, reachable
from trundle.api._patterns import as_ecma
from trundle.api._places import RULES, root_of
from trundle.api._recent import Recent
from trundle.api._requests import Target
from trundle.api._status import Cause, internal, invalid
from trundle.api._status_part import subresource_of
from trundle.api.apply import STATUS, duplicates, resource_shape
from trundle.api.cel import Judged, Rules

_At: TypeAlias = Sequence[str | int]
_BLOCKING = frozenset(
    {
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    }
)
"""What keeps the rules of a schema from being asked."""
_UNCHECKED = Cause(
    "FieldValueInvalid",
    "<nil>",
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)
_MOST_COUNTED = 2**31 - 1
_MOST = 100
"""How many causes are listed."""

_SINGLE = 2.0**128 - 2.0**104
_RANGES = {
    ("integer", "int32"): (-(2**31), 2**31 - 1),
    **dict.fromkeys((("integer", ""), ("integer", "int64")), (-(2**63), 2**63 - 1)),
    ("number", "float"): (-_SINGLE, _SINGLE),
}
"""What fits into formats of numbers; clients cannot read more."""

_EMBEDDED = {
    "required": ["apiVersion", "kind"],
    "properties": {
        "apiVersion": {"type": "string", "pattern": "^([^/]+|[^/]*/[^/]*)$"},
        "kind": {
            "type": "string",
            "maxLength": 63,
            "pattern": "^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$",
        },
        "metadata": {"type": ["object", "null"]},
    },
}
"""What API servers want of a whole object of Kubernetes within another, whatever its schema says."""

_NO_NULL = frozenset(("array", "boolean", "number", "object", "string"))
"""The types of all but null."""

_REMEMBERED = 1024 * 1024
"""How many bytes of documents are remembered, with where they have nulls that may not be, about."""

_EXCLUDING = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}


class Validator:
    """Validates documents of a version.

    Unknown properties are not looked at: the scheme that reads the document does.

    Args:
        served: the version.

    Raises:
        ApiError: its schema is not valid itself, which `trundle check` notes.
    """

    def __init__(self, served: ServedVersion) -> None:
        self._patterns: dict[str, str] = {}
        self._says_nullable = served.says_nullable
        defs = {
            key: _whole(served, key, self._as_json_schema(definition(key, served, _reference)))
            for key in reachable(served, served.root)
        }
        schema = {"$ref": _reference(served.root), "$defs": defs}
        self._shape = resource_shape(served.schema, served.resource)
        self._root = root_of(served)
        scaling = served.resource.scaling
        counted = (scaling.wanted, scaling.there) if scaling else ()
        self._counts = [tuple(each.lstrip(".").split(".")) for each in counted if each]
        text = msgspec.json.encode(schema)
        self._has_defaults = b'"default":' in text
        self._nulls: Recent[Sequence[_At]] = Recent(_REMEMBERED)
        self._rules = Rules(self._root) if f'"{RULES}":'.encode() in text else None
        try:
            self._validator = jsonschema_rs.Draft202012Validator(
                schema, validate_formats=True, formats=dict(FORMATS)
            )
        except jsonschema_rs.ValidationError as error:
            place = ".".join(map(str, error.instance_path[1:]))
            found = f"the schema of {served.label} is not valid at {place}: {error.message}"
            raise internal(f"{found}; correct it and generate the package anew") from None

    def causes(self, document: Mapping[str, Any], text: bytes | None = None) -> list[Cause]:
        """What is wrong with a document, by its places.

        Args:
            document: the document.
            text: the document as JSON, where that is known.
        """
        text = text_of(document) if text is None else text
        plain = self._filled(msgspec.json.decode(text))
        found = dict.fromkeys(metadata_causes(document))
        dropped: list[_At] = []
        found |= dict.fromkeys(causes_of(self._errors(plain, dropped), self._patterns))
        if b"null" in text and not self._has_defaults:  # These would be looked at, too.
            self._nulls.keep(text, dropped, 2 * len(text))
        found |= dict.fromkeys(self._uncountable(document))
        # Finalizers and owners may stand again: clients that add one do not look.
        stated = {key: value for key, value in plain.items() if key != "metadata"}
        for place, value in duplicates(self._shape, stated):
            said = msgspec.json.encode(value).decode()
            found[Cause("FieldValueDuplicate", place, f"Duplicate value: {said}")] = None
        return list(found)[:_MOST]

    def _uncountable(self, document: Mapping[str, Any]) -> Iterator[Cause]:
        """What in a document is counted and cannot be such a number."""
        for path in self._counts:
            value: Any = document
            for name in path:
                value = value.get(name) if isinstance(value, Mapping) else None
            if isinstance(value, int) and not 0 <= value <= _MOST_COUNTED:
                wrong = (
                    "a non-negative integer"
                    if value < 0
                    else f"less than or equal to {_MOST_COUNTED}"
                )
                said = f"Invalid value: {value}: should be {wrong}"
                yield Cause("FieldValueInvalid", f".{'.'.join(path)}", said)

    def judged(
        self,
        document: Mapping[str, Any],
        before: Mapping[str, Any] | None,
        causes: Iterable[Cause],
    ) -> Judged:
        """What the rules of the schema have against a document.

        Args:
            document: the document.
            before: the object before; None where it is created.
            causes: what is wrong with it otherwise, which may keep the rules from being asked.
        """
        if self._rules is None:
            return Judged()
        if any(each.reason in _BLOCKING for each in causes):
            return Judged([_UNCHECKED])
        return self._rules.judge(
            self._without_nulls(document), before and self._without_nulls(before)
        )

    def _plain(self, document: Mapping[str, Any]) -> Any:
        """A document as plain JSON, with its defaults."""
        return self._filled(msgspec.json.decode(text_of(document)))

    def _filled(self, plain: Any) -> Any:
        return self._root.filled(plain) if self._has_defaults else plain

    def _without_nulls(self, document: Mapping[str, Any]) -> Any:
        """A document as plain JSON, with its defaults and without what is null and may not be."""
        plain = self._plain(document)
        if b"null" in msgspec.json.encode(plain):
            self._errors(plain)  # Takes that out.
        return plain

    def type_causes(self, document: Mapping[str, Any]) -> list[Cause]:
        """What in a document is of another type than it has to be, null included."""
        errors = self._validator.iter_errors(msgspec.json.decode(text_of(document)))
        found = [
            cause
            for error in errors
            if error.kind.name != "format" and not _is_null_of_any(error)
            for cause in causes_of([error], self._patterns)
            if cause.reason == "FieldValueTypeInvalid"
        ]
        return found[:_MOST]

    def without_nulls(
        self, document: dict[str, Any], before: Mapping[str, Any], text: bytes | None = None
    ) -> dict[str, Any]:
        """A document without members that are null and may not be.

        Args:
            document: the document.
            before: the object that it is written over; what is null there stays.
            text: the document as JSON, where that is known.
        """
        text = text_of(document) if text is None else text
        new = [each for each in self._nulls_of(text) if not _is_null(before, each)]
        found = copy.deepcopy(document) if new else document
        for path in new:
            _owner(found, path).pop(path[-1])
        return found

    def _nulls_of(self, text: bytes) -> Sequence[_At]:
        """Where something in a document is null that may not be; what was validated lately need not be validated again for it."""
        if b"null" not in text:
            return ()
        known = self._nulls.get(text)
        if known is not None:
            return known
        dropped: list[_At] = []
        self._errors(msgspec.json.decode(text), dropped)
        return dropped

    def _as_json_schema(self, schema: Any) -> Any:
        """An OpenAPI schema as JSON Schema: what may be null says so, and what has a default may be null."""
        if isinstance(schema, list):
            return [self._as_json_schema(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        found: dict[str, Any] = {
            key: {name: self._of_member(each) for name, each in value.items()}
            if key == "properties"
            else self._of_member(value)
            if key == "additionalProperties" and "properties" not in schema
            else value
            if key in {"enum", "default", "const", "required"}
            else self._as_json_schema(value)
            for key, value in schema.items()
            if key not in {"example", "nullable"}
        }
        if isinstance(written := found.get("pattern"), str):
            found["pattern"] = as_ecma(written)
            self._patterns[found["pattern"]] = written
        for bound, excluding in _EXCLUDING.items():
            # OpenAPI 3.0 and CRDs say whether a bound is excluded, JSON Schema says which one is.
            if isinstance(found.get(excluding), bool) and found.pop(excluding) and bound in found:
                found[excluding] = found.pop(bound)
        if fitting := _RANGES.get((schema.get("type", ""), schema.get("format", ""))):
            least, most = fitting
            found["minimum"] = max(least, found.get("minimum", least))
            found["maximum"] = min(most, found.get("maximum", most))
        if schema.get("nullable") and None not in schema.get("enum", [None]):
            # It is null, which is none of its values, rather than absent.
            return {**found, **({"type": [schema["type"], "null"]} if "type" in schema else {})}
        if schema.get("nullable") or "default" in schema:
            # Not one of two schemas: what is wrong within the value shows its own place so.
            return {"if": {"not": {"type": "null"}}, "then": found}
        return found

    def _of_member(self, schema: Any) -> Any:
        """The schema of a property, or of what a map has, as JSON Schema. What is free-form is no null where schemas say what may be null."""
        found = self._as_json_schema(schema)
        is_free = isinstance(schema, dict) and PRESERVE in schema
        if self._says_nullable and is_free and not schema.keys() & {"type", "nullable", "default"}:
            found["type"] = sorted(_NO_NULL)
        return found

    def _errors(
        self, plain: Any, dropped: list[_At] | None = None
    ) -> list[jsonschema_rs.ValidationError]:
        """What the schema has against a document; members that may not be null and are count as absent.

        Args:
            plain: the document; these members are removed from it.
            dropped: where they were.
        """
        errors = list(self._validator.iter_errors(plain))
        removed = [each.instance_path for each in errors if _drop_null(plain, each)]
        if dropped is not None:
            dropped += removed
        return self._errors(plain, dropped) if removed else errors


def _drop_null(document: Any, error: jsonschema_rs.ValidationError) -> bool:
    """Removes the member that an error is about if it is null; whether it was."""
    is_value = (
        error.kind.name == "enum"
    )  # Where it is no null that has to be absent, its type says so, too.
    if error.instance is not None or not error.instance_path or is_value:
        return False
    owner = _owner(document, error.instance_path)
    if not isinstance(owner, dict) or error.instance_path[-1] not in owner:
        return False
    del owner[error.instance_path[-1]]
    return True


def _is_null_of_any(error: jsonschema_rs.ValidationError) -> bool:
    """Whether it is about a null where anything else may be: configurations may have it, and it is dropped."""
    kind: Any = error.kind
    return kind.name == "type" and error.instance is None and set(kind.types) == _NO_NULL


def _is_null(document: Any, path: _At) -> bool:
    """Whether there is a null at a place."""
    try:
        return _owner(document, path)[path[-1]] is None
    except (KeyError, IndexError, TypeError):
        return False


def _owner(document: Any, path: _At) -> Any:
    """What holds the value at a place."""
    for each in path[:-1]:
        document = document[each]
    return document


def _reference(key: str) -> str:
    escaped = key.replace("~", "~0").replace("/", "~1")
    return "#/$defs/" + urllib.parse.quote(escaped, safe="~")


def _whole(served: ServedVersion, key: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a definition, with what is wanted of a whole object of Kubernetes within another."""
    return {"allOf": [schema, _EMBEDDED]} if served.is_whole(key) else schema


class Validators:
    """Validates documents of all versions; what that takes is made when a version is needed."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], Validator] = {}

    def of(self, target: Target) -> Validator:
        """What validates documents of a target's version."""
        key = target.kind.resource, target.served.version
        if key not in self._made:
            self._made[key] = Validator(target.served)
        return self._made[key]

    def causes(
        self, target: Target, document: Mapping[str, Any], text: bytes | None = None
    ) -> list[Cause]:
        """What the schema of a target's version has against a document; see `Validator.causes`."""
        return self.of(target).causes(document, text)

    def causes_over(
        self, target: Target, document: Mapping[str, Any], before: Mapping[str, Any] | None
    ) -> list[Cause]:
        """What the schema of a target's version has against what a hook leaves, its rules included.

        Args:
            target: the version.
            document: the document.
            before: the object before; None where it is created.
        """
        causes = [*wrong_types(document.get("metadata")), *self.causes(target, document)]
        return [*causes, *self.of(target).judged(document, before, causes).causes]

    def has_nulls(self, target: Target, config: Mapping[str, Any]) -> bool:
        """Whether anything that is written of a configuration is null and may not be; all else in it is of the type that the schema gives it.

        Raises:
            ApiError: something is not.
        """
        types = self.of(target).type_causes
        causes = types(config)
        if not all(map(_is_of_null, causes)):
            raise invalid(target.kind, target.name, causes)
        if causes and target.subresource:  # What is not written may be null.
            causes = types(subresource_of(config, STATUS))
        return bool(causes)

    def require_nulls(
        self, target: Target, before: dict[str, Any], applied: dict[str, Any]
    ) -> None:
        """Makes sure that nothing in an object is null that may not be, after a configuration was applied to it.

        Args:
            target: what the request is about.
            before: the object before; empty where it is created.
            applied: the object from now on.

        Raises:
            ApiError: something is; all that is wrong is said with it.
        """
        known = self.of(target).type_causes(before)
        causes = self.of(target).type_causes(applied)
        nulls = [each for each in causes if _is_of_null(each) and each not in known]
        if nulls:
            places = {each.field for each in nulls}
            others = (each for each in self.causes(target, applied) if each.field not in places)
            raise invalid(target.kind, target.name, [*dict.fromkeys(nulls), *others])

    def require_valid(
        self,
        target: Target,
        before: dict[str, Any] | None,
        wanted: dict[str, Any],
        beside: Iterable[Cause] = (),
        text: bytes | None = None,
    ) -> Sequence[str]:
        """Makes sure that the schema has nothing against a document that it has not against the one before.

        So what is stored may be written back. Gives what its rules have against what stays as it was, of which clients are warned.

        Args:
            target: what the request is about.
            before: the object before; None where it is created.
            wanted: the document.
            beside: what else is wrong with it.
            text: the document as JSON, where that is known.

        Raises:
            ApiError: it has, or something else is wrong.
        """
        causes = [*beside, *self.causes(target, wanted, text)]
        known = () if before is None or not causes else self.causes(target, before)
        new = [each for each in causes if each not in known]
        judged = self.of(target).judged(wanted, before, new)
        if new or judged.causes:
            error = invalid(target.kind, target.name, [*new, *judged.causes])
            raise error.with_warnings(judged.warnings)
        return judged.warnings


def _is_of_null(cause: Cause) -> bool:
    return cause.message.endswith('"null"')
