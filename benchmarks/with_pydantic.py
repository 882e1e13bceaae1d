"""The neighbours as pydantic models; what was checked is not checked again when it is converted."""

from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic.alias_generators import to_camel
from shapes import Fields, NewerContainer, NewerWorkload, OlderWorkload, made, neighbour


class _Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", populate_by_name=True)


def _model(name: str, fields: Fields) -> type[Any]:
    members: dict[str, Any] = {
        field: (type_, ... if required else None) for field, (type_, required) in fields.items()
    }
    return create_model(name, __base__=_Model, **members)


_MODELS = made(_model)
_READ = _MODELS[OlderWorkload].model_validate_json
_MAKE = _MODELS[NewerWorkload].model_construct, _MODELS[NewerContainer].model_construct


def convert(data: bytes) -> bytes:
    """From bytes to bytes."""
    found = neighbour(_READ(data), *_MAKE)
    return bytes(found.model_dump_json(by_alias=True, exclude_none=True).encode())
