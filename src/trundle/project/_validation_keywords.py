"""Notes about validation keywords that cannot mean what their author wants, and defaults that their type does not admit."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias, TypeGuard, assert_never

from trundle.errors import Finding, meant, similar
from trundle.project.findings import ProjectCode, finding
from trundle.project.loading import Project
from trundle.schema import (
    ABSENT,
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    Schema,
    Type,
    Union,
)

_RULES = "x-kubernetes-validations"
_NUMBERS = frozenset({"maximum", "minimum", "multipleOf"})
_COUNTS = frozenset(
    {"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"}
)
_RANGES = (
    ("minimum", "maximum"),
    ("minItems", "maxItems"),
    ("minLength", "maxLength"),
    ("minProperties", "maxProperties"),
)
_KEYWORDS = frozenset(
    [
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "contains",
        "default",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "deprecated",
        "description",
        "discriminator",
        "else",
        "enum",
        "example",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "if",
        "items",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "nullable",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "readOnly",
        "required",
        "then",
        "title",
        "type",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
        "writeOnly",
    ]
)
"""What JSON Schema and OpenAPI know, in the drafts that are read."""

_SYNTAX = ("unterminated", "missing )", "unbalanced parenthesis", "nothing to repeat")
"""What is wrong with a pattern in every dialect of regular expressions, in the words of Python's."""

_NEAR = 0.8
"""How alike two words are at least, where one is the other misspelt."""

Said: TypeAlias = tuple[str, str]
"""What is said of a keyword, and what to do."""


def keyword_notes(project: Project) -> Iterator[Finding]:
    """All notes about keywords and defaults, one for all versions that say the same."""
    found: dict[tuple[str, Said], tuple[str, list[Schema]]] = {}
    for schema in project.schemas:
        for key in sorted(schema.definitions):
            definition = schema.definitions[key]
            if not isinstance(definition, ObjectType):
                continue
            for subject, said in _of_object(definition, schema):
                known = found.setdefault((subject, said), (definition.source, []))
                known[1].append(schema)
    for (subject, (what, advice)), (where, schemas) in found.items():
        first, count = min(each.version for each in schemas), len(schemas)
        since = str(first) if count == 1 else f"{count} versions from {first}"
        text = f"{subject} in {since} {what}"
        yield finding(ProjectCode.KEYWORD, where, text, advice, severity="note")


def _of_object(definition: ObjectType, schema: Schema) -> Iterator[tuple[str, Said]]:
    """What there is to say of an object type and its properties, by their names."""
    for said in _of_keywords(dict(definition.constraints)):
        yield definition.name, said
    for each in definition.properties:
        name = f"{definition.name}.{each.name}"
        for said in _of_keywords(dict(each.constraints)):
            yield name, said
        if each.default is not ABSENT and not _admits(each.type, each.default, schema):
            shown = json.dumps(each.default, ensure_ascii=False)
            what = f"has the default {shown}, which its type does not admit"
            yield (
                name,
                (what, "objects that take it are not valid; correct the default or the type"),
            )


def _of_keywords(keywords: Mapping[str, Any]) -> Iterator[Said]:
    for key, value in keywords.items():
        yield from _of_keyword(key, value)
        if key in {"items", "additionalProperties"} and isinstance(value, dict):
            yield from _of_keywords(value)
    for low, high in _RANGES:
        least, most = keywords.get(low), keywords.get(high)
        if _is_number(least) and _is_number(most) and least > most:
            what = f"has a {low} of {least} above its {high} of {most}"
            yield what, "no value is valid; correct one of the two"


def _of_keyword(key: str, value: Any) -> Iterator[Said]:
    if key in _NUMBERS and not _is_number(value):
        yield _unfit(key, value, "a number")
    elif key in _COUNTS and not (_is_whole(value) and value >= 0):
        yield _unfit(key, value, "a whole number that is not negative")
    elif key == "uniqueItems" and not isinstance(value, bool):
        yield _unfit(key, value, "true or false")
    elif key == _RULES:
        yield from _of_rules(value)
    elif key == "pattern":
        if not isinstance(value, str) or _is_broken(value):
            yield _unfit(key, value, "a regular expression")
    elif key not in _KEYWORDS and key.isalpha() and (near := similar(key, _KEYWORDS, least=_NEAR)):
        yield f"has `{key}`, which is no validation keyword", meant(near)


def _of_rules(rules: Any) -> Iterator[Said]:
    """What there is to say of rules in CEL; nothing where the library that evaluates them is not there."""
    if not isinstance(rules, list):
        yield _unfit(_RULES, rules, "a list of rules")
        return
    if find_spec("cel_expr_python") is None:
        return
    from trundle.cel import RuleExpressions  # noqa: PLC0415 - needs an extra

    for each in rules:
        if not isinstance(each, dict) or not isinstance(each.get("rule"), str):
            yield _unfit(_RULES, each, "an object with a `rule`")
        elif not isinstance(each.get("messageExpression", ""), str):
            yield _unfit("messageExpression", each["messageExpression"], "a text")
        elif why := RuleExpressions(each).unreadable:
            what = f"has a rule in CEL that `trundle serve` cannot read: {each['rule'].strip()} ({why})"
            yield what, "correct it; the server does not hold objects to it, and warns its clients"


def _unfit(key: str, value: Any, wanted: str) -> Said:
    shown = json.dumps(value, ensure_ascii=False)
    return (
        f"has {shown} as {key}, where {wanted} is expected",
        "servers cannot validate by it; correct it",
    )


def _is_broken(pattern: str) -> bool:
    """Whether a pattern is none in any dialect of regular expressions."""
    try:
        re.compile(pattern)
    except re.error as error:
        return error.msg.startswith(_SYNTAX)
    except (OverflowError, RecursionError):
        return False
    return False


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and value % 1 == 0  # not so of infinity


def _admits(type_: Type, value: Any, schema: Schema) -> bool:
    """Whether a value is one of a type."""
    match type_:
        case FreeForm():
            return True
        case Nullable(inner):
            return value is None or _admits(inner, value, schema)
        case Scalar(kind):
            return _is_scalar(kind, value)
        case ListOf(items):
            return isinstance(value, list) and _admit(items, value, schema)
        case MapOf(values):
            return isinstance(value, dict) and _admit(values, list(value.values()), schema)
        case Union(variants):
            return any(_admits(each, value, schema) for each in variants)
        case Ref(key):
            definition = schema.definitions[key]
            if isinstance(definition, EnumType):
                return value in definition.values
            return isinstance(value, dict) and _admits_members(definition, value, schema)
        case _:
            assert_never(type_)


def _admit(type_: Type, values: Sequence[Any], schema: Schema) -> bool:
    return all(_admits(type_, each, schema) for each in values)


def _admits_members(definition: ObjectType, value: Mapping[str, Any], schema: Schema) -> bool:
    """Whether the members of an object are of their types; what lacks may be filled in."""
    types = {each.name: each.type for each in definition.properties}
    return all(_admits(types[name], each, schema) for name, each in value.items() if name in types)


def _is_scalar(kind: str, value: Any) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return _is_whole(value)
        case _:
            return _is_number(value)
