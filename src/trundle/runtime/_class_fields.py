"""The fields of generated classes, with their types, looked at once: msgspec evaluates all annotations each time it is asked."""

from typing import Any

import msgspec
from msgspec import inspect

from trundle.runtime._by_class import once, table

_KNOWN: dict[Any, inspect.StructType] = table()


@once
def fields_of(class_: Any) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a class as its annotations have them."""
    return msgspec.structs.fields(class_)


def struct_type(class_: Any) -> inspect.StructType:
    """What msgspec knows of a class; all classes that it refers to are looked at just once."""
    known = _KNOWN.get(class_)
    if known is not None:
        return known
    found: dict[Any, inspect.StructType] = {}
    waiting: list[inspect.Type] = [inspect.type_info(class_)]
    while waiting:
        match waiting.pop():
            case inspect.StructType(cls) as info if cls not in found:
                found[cls] = info
                waiting.extend(each.type for each in info.fields)
            case inspect.ListType(item_type=inner) | inspect.DictType(value_type=inner):
                waiting.append(inner)
            case inspect.UnionType(types):
                waiting.extend(types)
    _KNOWN.update(found)
    return found[class_]
