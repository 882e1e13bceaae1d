"""Types as `trundle.lock` records them: plain data, read into the types of schemas and spelled for messages.

A scalar is its word, as `string`; free-form data is `any`. All else is an object with one key: `{list: string}`,
`{map: any}`, `{nullable: integer}`, `{object: Address}`, `{oneOf: [string, {object: Address}]}`.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias, get_args

from trundle.errors import expectation
from trundle.schema import (
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    ScalarKind,
    Schema,
    Type,
    Union,
)

RecordedType: TypeAlias = str | dict[str, Any]

_SCALARS = get_args(ScalarKind)
_FREE = "any"


def record_type(type_: Type, schema: Schema, object_name: Callable[[str], str]) -> RecordedType:
    """A type as the lock records it; an enum is as open as the kind of its values.

    Args:
        type_: the type.
        schema: where its references lead.
        object_name: what the lock calls an object type.
    """
    match type_:
        case Scalar(kind):
            return kind
        case FreeForm():
            return _FREE
        case Ref(key):
            found = schema.definitions[key]
            return {"object": object_name(key)} if isinstance(found, ObjectType) else found.kind
        case ListOf(items):
            return {"list": record_type(items, schema, object_name)}
        case MapOf(values):
            return {"map": record_type(values, schema, object_name)}
        case Nullable(inner):
            return {"nullable": record_type(inner, schema, object_name)}
        case Union(variants):
            found_types = [record_type(each, schema, object_name) for each in variants]
            return {"oneOf": [x for at, x in enumerate(found_types) if x not in found_types[:at]]}


def recorded_type(plain: RecordedType) -> Type:
    """A recorded type as a type of a schema; a reference has the name that the lock gives to an object.

    Raises:
        ValueError: this is no type.
    """
    match plain:
        case "any":
            return FreeForm()
        case str() if plain in _SCALARS:
            return Scalar(plain)  # type: ignore[arg-type]
        case {"list": items, **rest} if not rest:
            return ListOf(recorded_type(items))
        case {"map": values, **rest} if not rest:
            return MapOf(recorded_type(values))
        case {"nullable": inner, **rest} if not rest:
            return Nullable(recorded_type(inner))
        case {"object": str(name), **rest} if not rest:
            return Ref(name)
        case {"oneOf": [*variants], **rest} if not rest:
            return Union(tuple(recorded_type(each) for each in variants))
    shown = json.dumps(plain, ensure_ascii=False)
    raise ValueError(expectation("a type such as string, any or {list: string}", shown))


def spoken_type(type_: Type) -> str:
    """A recorded type in the words of a message."""
    match type_:
        case Scalar(kind):
            return kind
        case FreeForm():
            return _FREE
        case Ref(name):
            return f"object {name}"
        case ListOf(items):
            return f"list of {spoken_type(items)}"
        case MapOf(values):
            return f"map of {spoken_type(values)}"
        case Nullable(inner):
            return f"nullable {spoken_type(inner)}"
        case Union(variants):
            return f"one of [{'; '.join(map(spoken_type, variants))}]"


def parse_format_1(text: str) -> RecordedType:
    """The type that the first format of the lock spelled in words, as `list of object Address`."""
    word, _, rest = text.partition(" ")
    match word:
        case "nullable":
            return {"nullable": parse_format_1(rest)}
        case "list" | "map" if rest.startswith("of "):
            return {word: parse_format_1(rest.removeprefix("of "))}
        case "one" if rest.startswith("of [") and rest.endswith("]"):
            # Variants hold no unions, and names that are spelled with `; ` are quoted and escaped.
            parts = rest.removeprefix("of [").removesuffix("]").split("; ")
            return {"oneOf": [parse_format_1(each) for each in parts]}
        case "object":
            return {"object": str(json.loads(rest)) if rest.startswith('"') else rest}
    return text
