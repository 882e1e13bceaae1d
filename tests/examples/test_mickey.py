"""Mickey Mouse's address: a property that leaves, and returns in another shape.

Version 3 of a person has an address of one label, version 4 has none, and version 5 has one of several
parts. Objects stored while version 4 was the newest hold the address in their property bag, in the shape of
version 3, and in no other.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from projects import Installation, installer

TEXT = {"type": "string"}
NAMES = {"fullName": TEXT, "familyName": TEXT, "knownAs": TEXT}
ADDRESSES = {
    "v3": {"label": TEXT},
    "v5": {"street": TEXT, "suburb": TEXT, "city": TEXT, "country": TEXT},
}
ADDRESSES["v5beta1"] = ADDRESSES["v5"]

MICKEY = {
    "kind": "Person",
    "fullName": "Michael Theodore Mouse",
    "familyName": "Mouse",
    "knownAs": "Mickey",
}
LABEL = {"label": "1313 S. Harbor Blvd\nAnaheim\nCA 92803\nUSA"}
PARTS = {
    "street": "1313 S. Harbor Blvd",
    "suburb": "",
    "city": "Anaheim, CA 92803",
    "country": "USA",
}
V3 = {"apiVersion": "v3", **MICKEY, "residentialAddress": LABEL}
V4 = {"apiVersion": "v4", **MICKEY}
V5 = {"apiVersion": "v5", **MICKEY, "residentialAddress": PARTS}

HOOK = """
from trundle.runtime import ABSENT, hook


class AddressLines:
    @hook(reads=("label",), writes=("city", "country", "street", "suburb"))
    def assign_to(self, source, /):
        street, *town, country = source.label.split("\\n")
        return {"street": street, "suburb": "", "city": ", ".join(town), "country": country}

    @hook(reads=("city", "country", "street", "suburb"), writes=("label",))
    def assign_from(self, source, /):
        parts = (source.street, source.suburb, *(source.city or "").split(", "), source.country)
        return {"label": "\\n".join(part for part in parts if part)}
"""


def schema(version: str) -> dict[str, Any]:
    """A person of a version."""
    properties: dict[str, Any] = dict(NAMES)
    found: dict[str, Any] = {"title": "Person", "type": "object", "properties": properties}
    if version in ADDRESSES:
        properties["residentialAddress"] = {"$ref": "#/$defs/Address"}
        found["$defs"] = {"Address": {"type": "object", "properties": ADDRESSES[version]}}
    return found


class Store:
    """An installation at some release: what it stores, and what it reads."""

    def __init__(self, installed: Installation) -> None:
        self.scheme = installed.scheme
        self.put = installed.put
        self.read = installed.read
        self.convert = installed.convert

    def address(self, stored: bytes, version: str) -> Any:
        return self.read(stored, version).get("residentialAddress")


Install = Callable[..., Store]


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Install]:
    """Installs a release of some versions, with or without the hook between the two addresses."""
    with installer(tmp_path) as make:

        def installed(*versions: str, hook: bool = False) -> Store:
            files = {f"{version}.yaml": schema(version) for version in versions}
            if not hook:
                return Store(make(files))
            declared = {
                "type": "Address",
                "between": ["v3", versions[-1]],
                "use": "HOOKS:AddressLines",
            }
            return Store(make(files, config={"hooks": [declared]}, code=HOOK))

        yield installed


# While version 4 is the newest


def test_version_4_keeps_the_address_of_version_3_in_the_bag(install: Install) -> None:
    store = install("v3", "v4")
    assert json.loads(store.put(V3)) == {
        "apiVersion": "v4",
        **MICKEY,
        "$writtenWith": "v3",
        "$propertyBag": {"residentialAddress": {"v3": {"value": LABEL}}},
    }


def test_version_3_reads_its_address_back_from_version_4(install: Install) -> None:
    store = install("v3", "v4")
    assert store.read(store.put(V3), "v3") == V3
    assert store.read(store.put(V3), "v4") == V4


@pytest.mark.parametrize("hook", [False, True])
def test_a_preview_of_version_5_keeps_its_address_in_the_shape_of_version_3(
    install: Install, hook: bool
) -> None:
    store = install("v3", "v4", "v5beta1", hook=hook)
    document = {**V5, "apiVersion": "v5beta1"}
    stored = store.put(document)
    assert json.loads(stored)["apiVersion"] == "v4"
    assert list(json.loads(stored)["$propertyBag"]["residentialAddress"]) == ["v3"]
    assert store.read(stored, "v5beta1") == document
    assert store.address(stored, "v3") == (LABEL if hook else {})


@pytest.mark.parametrize("hook", [False, True])
def test_what_a_preview_stored_reads_in_the_ga(install: Install, hook: bool) -> None:
    before = install("v3", "v4", "v5beta1", hook=hook)
    after = install("v3", "v4", "v5beta1", "v5", hook=hook)
    stored = before.put({**V5, "apiVersion": "v5beta1"})
    assert after.read(stored, "v5") == V5
    assert after.address(stored, "v3") == (LABEL if hook else {})


# Once version 5 is out


@pytest.mark.parametrize("hook", [False, True])
def test_what_version_4_kept_for_version_3_reads_in_every_version(
    install: Install, hook: bool
) -> None:
    stored = install("v3", "v4").put(V3)
    store = install("v3", "v4", "v5", hook=hook)
    assert store.read(stored, "v3") == V3
    assert store.read(stored, "v4") == V4
    assert store.address(stored, "v5") == (PARTS if hook else {})


@pytest.mark.parametrize("hook", [False, True])
def test_rolling_it_forward_changes_nothing_that_is_read(install: Install, hook: bool) -> None:
    stored = install("v3", "v4").put(V3)
    store = install("v3", "v4", "v5", hook=hook)
    rolled = store.scheme.convert_json(stored)
    assert json.loads(rolled)["apiVersion"] == "v5"
    for version in ("v3", "v4", "v5"):
        assert store.read(rolled, version) == store.read(stored, version)


@pytest.mark.parametrize("hook", [False, True])
def test_version_3_round_trips_over_version_5(install: Install, hook: bool) -> None:
    store = install("v3", "v4", "v5", hook=hook)
    stored = store.put(V3)
    assert store.read(stored, "v3") == V3
    assert store.read(stored, "v4") == V4
    assert store.address(stored, "v5") == (PARTS if hook else {})


@pytest.mark.parametrize("hook", [False, True])
def test_version_5_round_trips_and_version_3_sees_what_a_hook_gives(
    install: Install, hook: bool
) -> None:
    store = install("v3", "v4", "v5", hook=hook)
    stored = store.put(V5)
    assert store.read(stored, "v5") == V5
    assert store.read(stored, "v4") == V4
    assert store.address(stored, "v3") == (LABEL if hook else {})


@pytest.mark.parametrize("hook", [False, True])
@pytest.mark.parametrize("document", [V3, V5], ids=["v3", "v5"])
def test_a_client_of_version_4_leaves_either_address_alone(
    install: Install, hook: bool, document: dict[str, Any]
) -> None:
    store = install("v3", "v4", "v5", hook=hook)
    stored = store.put(document)
    written = store.put({**V4, "knownAs": "Mick"}, stored)
    for version in ("v3", "v5"):
        assert store.address(written, version) == store.address(stored, version)
        assert store.read(written, version)["knownAs"] == "Mick"


@pytest.mark.parametrize("hook", [False, True])
@pytest.mark.parametrize("document", [V3, V5], ids=["v3", "v5"])
def test_writing_back_what_one_read_changes_nothing(
    install: Install, hook: bool, document: dict[str, Any]
) -> None:
    store = install("v3", "v4", "v5", hook=hook)
    stored = store.put(document)
    for version in ("v3", "v4", "v5"):
        assert store.put(store.read(stored, version), stored) == stored


def test_a_move_that_version_5_writes_is_seen_by_version_3(install: Install) -> None:
    store = install("v3", "v4", "v5", hook=True)
    stored = store.put(V3)
    moved = {**V5, "residentialAddress": {**PARTS, "street": "1 Main Street"}}
    written = store.put(moved, stored)
    assert store.read(written, "v5") == moved
    assert store.address(written, "v3") == {"label": "1 Main Street\nAnaheim\nCA 92803\nUSA"}


def test_a_move_that_version_3_writes_is_seen_by_version_5(install: Install) -> None:
    store = install("v3", "v4", "v5", hook=True)
    stored = store.put(V5)
    label = {"label": "1 Main Street\nAnaheim\nCA 92803\nUSA"}
    written = store.put({**V3, "residentialAddress": label}, stored)
    assert store.address(written, "v3") == label
    assert store.address(written, "v5") == {**PARTS, "street": "1 Main Street"}


@pytest.mark.parametrize("hook", [False, True])
def test_a_version_that_removes_the_address_removes_it_for_all(
    install: Install, hook: bool
) -> None:
    store = install("v3", "v4", "v5", hook=hook)
    stored = store.put(V5)
    written = store.put({"apiVersion": "v3", **MICKEY}, stored)
    for version in ("v3", "v5"):
        assert store.address(written, version) is None


def test_without_a_stored_object_either_address_becomes_the_other(install: Install) -> None:
    store = install("v3", "v4", "v5", hook=True)
    assert store.convert(V3, "v5") == V5
    assert store.convert(V5, "v3") == V3
    assert store.convert(V3, "v4") == store.convert(V5, "v4") == V4
