"""Changes everything that can be changed in an object, to see who else has it."""

from typing import Any

import msgspec


def spoil(value: Any) -> None:
    """Changes a value and all that it holds: every attribute, element and member."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            spoil(getattr(value, name))
            setattr(value, name, "spoilt")
    elif isinstance(value, list):
        for each in value:
            spoil(each)
        value.append("spoilt")
    elif isinstance(value, dict):
        for each in value.values():
            spoil(each)
        value["spoilt"] = "spoilt"
