"""Where objects are that have something in a table of their class: what classes say of their properties by attribute."""

import typing
from collections.abc import Iterator
from typing import Any

from trundle.runtime._by_class import once
from trundle.runtime._class_fields import fields_of
from trundle.runtime._objects import GeneratedObject


@once
def leading_to(class_: Any, table: str) -> tuple[str, ...]:
    """The attributes of a class whose objects have something in a table, or any within them."""
    return tuple(
        field.name
        for field in fields_of(class_)
        if any(_reaches(each, table) for each in classes_in(field.type))
    )


def _reaches(class_: type[Any], table: str) -> bool:
    """Whether objects of a class, or any within them, have something in a table."""
    seen = {class_}
    waiting = [class_]
    for each in waiting:
        if getattr(each, table):
            return True
        for field in fields_of(each):
            for inner in classes_in(field.type):
                if inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
    return False


def classes_in(type_: Any) -> Iterator[type[Any]]:
    """The generated classes that an annotation names."""
    if isinstance(type_, type) and issubclass(type_, GeneratedObject):
        yield type_
    for each in typing.get_args(type_):
        yield from classes_in(each)
