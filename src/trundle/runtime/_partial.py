"""Classes that read of a document only what a conversion touches; all else stays the JSON it was."""

import typing
from typing import Any

import msgspec

from trundle.runtime._bases import ApiObject
from trundle.runtime._class_fields import fields_of
from trundle.runtime._documents import wire_name
from trundle.runtime._lookup import Lookup
from trundle.runtime._objects import UNKNOWN
from trundle.runtime._tables import classes_in

_NAMING = ("api_version", "kind", "type")
"""What identifies the class of a root object."""


def partial_class(lookup: Lookup, class_: type[Any], function: str) -> type[Any] | None:
    """A class like a generated one for what a straight conversion reads of its objects.

    Each property that the conversion only copies is kept as JSON. The conversion takes such an object as it
    takes one of the class; what it makes is right as JSON, but of no use as an object.

    Args:
        lookup: the package's classes and functions.
        class_: the class that the conversion leads from.
        function: the conversion's path.

    Returns:
        The class; None where documents must be read whole.
    """
    return _Making(lookup).make(class_, function)


class _Making:
    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.made: dict[tuple[type[Any], str], type[Any] | None] = {}

    def make(self, class_: type[Any], function: str) -> type[Any] | None:
        key = (class_, function)
        if key not in self.made:
            self.made[key] = None  # within itself, an object is read whole
            self.made[key] = self._made(class_, function)
        return self.made[key]

    def _made(self, class_: type[Any], function: str) -> type[Any] | None:
        touched = self.lookup.touched(function)
        if touched is None or wire_name(class_, "unknown") != UNKNOWN:
            return None
        fields = []
        for field in fields_of(class_):
            if field.name == "unknown":
                continue
            if field.name in touched:
                type_ = self._part(field.type, touched[field.name])
            elif field.name in _NAMING and isinstance(field.default, str):
                type_ = str
            else:
                type_ = msgspec.Raw if field.required else msgspec.Raw | msgspec.UnsetType
            default = msgspec.NODEFAULT if field.required else field.default
            fields.append(
                (field.name, type_, msgspec.field(default=default, name=field.encode_name))
            )
        config = class_.__struct_config__
        return msgspec.defstruct(
            class_.__name__,
            fields,
            bases=(ApiObject,),
            module=__name__,
            kw_only=True,
            tag=config.tag,
            tag_field=config.tag_field,
            gc=False,
        )

    def _part(self, type_: Any, function: str) -> Any:
        """The type of a property whose objects a conversion of their own converts."""
        classes = set(classes_in(type_))
        if not function or len(classes) != 1:
            return type_
        (class_,) = classes
        part = self.make(class_, function)
        return type_ if part is None else _replaced(type_, class_, part)


def _replaced(type_: Any, one: type[Any], other: type[Any]) -> Any:
    if type_ is one:
        return other
    arguments = tuple(_replaced(each, one, other) for each in typing.get_args(type_))
    origin = typing.get_origin(type_)
    if origin is None:
        return type_
    return origin[arguments] if origin in (list, dict) else typing.Union[arguments]  # noqa: UP007
