"""Small schemas that the tests of the reports share, written in the way of the case study."""

import os
from functools import cache
from pathlib import Path

import pytest

from trundle.evolution import Evolution, HookDeclaration, HookMethod, HookReference, TypeChanges
from trundle.schema import (
    EnumType,
    ListOf,
    MapOf,
    ObjectType,
    Property,
    Ref,
    Resource,
    Scalar,
    Schema,
)
from trundle.schema.readers import Source, read_schemas
from trundle.version import ApiVersion

TEXT, WHOLE, NUMBER = Scalar("string"), Scalar("integer"), Scalar("number")
KINDS = {"string": TEXT, "integer": WHOLE, "number": NUMBER, "boolean": Scalar("boolean")}


def v(text):
    return ApiVersion.parse(text)


def kind(text):
    """A type from its spelling: `string`, `Address`, `Address[]`, `map of string`."""
    if text.endswith("[]"):
        return ListOf(kind(text[:-2]))
    if text.startswith("map of "):
        return MapOf(kind(text.removeprefix("map of ")))
    return KINDS.get(text) or Ref(text)


def thing(name, docs=None, /, **properties):
    """An object type; `?` after a property's type makes it optional."""
    found = [
        Property(key, kind(text.rstrip("?")), not text.endswith("?"), doc=(docs or {}).get(key, ""))
        for key, text in properties.items()
    ]
    return ObjectType(name, True, tuple(sorted(found, key=lambda each: each.name)))


def choice(name, *values, named=True):
    return EnumType(name, named, "string", values)


def schema(version, root, *others, resource="Person"):
    definitions = {each.name: each for each in (root, *others)}
    return Schema(v(version), definitions, (Resource(resource, root.name),))


OLD = {"id": "string", "firstName": "string", "lastName": "string"}
NEW = {"id": "string", "legalName": "string", "familyName": "string", "knownAs": "string"}
SORTED = {**NEW, "sortKey": "string"}
PLACED = {"fullAddress": "string", "city": "string", "country": "string", "postCode": "string"}


def crm_schemas():
    """The case study's ten versions."""
    address = thing("Address", street="string", city="string")
    return (
        schema("2011-01-01", thing("Person", **OLD)),
        schema("2012-02-02", thing("Person", **OLD)),
        schema("2013-03-03", thing("Person", **OLD, middleName="string")),
        schema(
            "2014-04-04-preview",
            thing("Person", id="string", fullName="string", familyName="string", knownAs="string"),
        ),
        schema("2014-04-04", thing("Person", **NEW, alphaKey="string")),
        schema("2015-05-05", thing("Person", **SORTED)),
        schema("2016-06-06", thing("Person", **SORTED, mailingAddress="Address"), address),
        schema("2017-07-07", thing("Person", **SORTED, mailingAddress="Address?"), address),
        schema(
            "2018-08-08",
            thing("Person", **SORTED, mailingAddress="Address?"),
            thing("Address", **PLACED),
        ),
        schema(
            "2019-09-09",
            thing("Person", **SORTED, mailingAddress="Location?"),
            thing("Location", **PLACED, latitude="number", longitude="number"),
        ),
    )


CHANGES = (
    TypeChanges(version=v("2014-04-04-preview"), type="Person", rename={"fullName": "legalName"}),
    TypeChanges(version=v("2014-04-04"), type="Person", rename={"alphaKey": "sortKey"}),
    TypeChanges(version=v("2018-08-08"), type="Address", rename_type="Location"),
)
_NAMES = ("firstName", "lastName", "middleName")
_DERIVED = ("alphaKey", "familyName", "knownAs", "legalName")
HOOKS = (
    HookDeclaration(
        HookReference("Person", v("2013-03-03"), v("2014-04-04"), "crm_hooks:Names"),
        {
            "assign_to": HookMethod(_NAMES, _DERIVED),
            "assign_from": HookMethod(_DERIVED[1:], _NAMES),
        },
    ),
)


def crm():
    return Evolution(crm_schemas(), CHANGES, HOOKS)


@cache
def service_fabric():
    """The evolution of a real provider; tests that ask for it are skipped where it is not there."""
    folder = os.environ.get("CORPUS")
    files = sorted(Path(folder).glob("schemas/*/Microsoft.ServiceFabric.json")) if folder else []
    if not files:
        pytest.skip("CORPUS names no folder with schemas/*/Microsoft.ServiceFabric.json")
    return Evolution(read_schemas([Source(file) for file in files]))
