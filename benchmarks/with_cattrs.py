"""The neighbours as attrs classes, read and written by cattrs over orjson."""

from typing import Any

from attrs import field, make_class
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from cattrs.preconf.orjson import make_converter
from shapes import Fields, NewerContainer, NewerWorkload, OlderWorkload, made, neighbour

_CONVERTER = make_converter(omit_if_default=True, forbid_extra_keys=True)


def _class(name: str, fields: Fields) -> type[Any]:
    """An attrs class whose properties are spelt in camel case in documents."""
    members = {
        each: field(type=type_) if required else field(type=type_, default=None)
        for each, (type_, required) in fields.items()
    }
    class_ = make_class(name, members, kw_only=True)
    names: dict[str, Any] = {each: override(rename=_camel(each)) for each in fields}
    _CONVERTER.register_structure_hook(
        class_,
        make_dict_structure_fn(class_, _CONVERTER, _cattrs_forbid_extra_keys=True, **names),
    )
    _CONVERTER.register_unstructure_hook(
        class_,
        make_dict_unstructure_fn(class_, _CONVERTER, _cattrs_omit_if_default=True, **names),
    )
    return class_


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.title() for each in others)


_CLASSES = made(_class)


def convert(data: bytes) -> bytes:
    """From bytes to bytes."""
    source = _CONVERTER.loads(data, _CLASSES[OlderWorkload])
    found: bytes = _CONVERTER.dumps(
        neighbour(source, _CLASSES[NewerWorkload], _CLASSES[NewerContainer])
    )
    return found
