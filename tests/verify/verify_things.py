"""Classes as a generated package has them, written by hand."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from trundle.runtime import (
    ABSENT,
    ADDITIONAL,
    BAG,
    WRITTEN_WITH,
    Absent,
    ApiObject,
    FreeForm,
    PropertyBag,
    StorageObject,
)


class PartLevel(StrEnum):
    GOLD = "Gold"
    SILVER = "Silver"


class Part(ApiObject, kw_only=True):
    name: str
    level: str | Absent = ABSENT
    parts: list[Part] | Absent = ABSENT


class Circle(ApiObject, kw_only=True, tag_field="kind", tag="circle"):
    radius: int | float


class Square(ApiObject, kw_only=True, tag_field="kind", tag="square"):
    side: int | Absent | None = ABSENT


class Whole(ApiObject, kw_only=True):
    api_version: str = "v1"
    kind: str = "Whole"
    metadata: FreeForm | Absent = ABSENT
    count: int
    data: FreeForm | Absent = ABSENT
    flag: bool | Absent = ABSENT
    labels: dict[str, str | None] | Absent = ABSENT
    part: Part | Absent = ABSENT
    parts: list[Part] | Absent = ABSENT
    shape: Circle | Square | str | Absent = ABSENT
    additional_properties: dict[str, int] | Absent = msgspec.field(default=ABSENT, name=ADDITIONAL)


class Stored(StorageObject, kw_only=True):
    api_version: str = "v1"
    kind: str = "Whole"
    count: int | Absent = ABSENT
    written_with: str | Absent = msgspec.field(default=ABSENT, name=WRITTEN_WITH)
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)
