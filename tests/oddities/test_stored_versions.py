"""Which version is stored: what a CRD and the configuration say, and what a release before stored."""

import json
from typing import Any

import pytest
import yaml
from projects import Installation, Installer

from trundle.project import lock_path
from trundle.project.checking import check
from trundle.project.config import load_config
from trundle.project.generating import generate
from trundle.project.lock_change import lock
from trundle.runtime import UnknownVersionError

V1, V2 = "2018-08-08", "2020-02-02"
SHAPES: dict[str, dict[str, str]] = {
    V1: {"name": "string", "team": "string", "size": "integer"},
    V2: {"name": "string", "group": "string", "size": "string", "note": "string"},
}
RULES = {V1: {"Person": {"rename": {"team": "group"}}}}


def release(
    install: Installer, *versions: str, released: Installation | None = None, **config: Any
) -> Installation:
    files = {
        f"{version}.yaml": {
            "title": "Person",
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in SHAPES[version].items()},
        }
        for version in versions
    }
    rules = {version: RULES[version] for version in versions[:-1]}
    return install(files, config={"changes": rules, **config}, released=released)


def person(version: str, **properties: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": "Person", **properties}


@pytest.fixture(scope="module")
def first(install: Installer) -> Installation:
    return release(install, V1)


@pytest.fixture(scope="module")
def held(install: Installer, first: Installation) -> Installation:
    return release(install, V1, V2, released=first, hub={"Person": V1})


@pytest.fixture(scope="module")
def moved(install: Installer, held: Installation) -> Installation:
    return release(install, V1, V2, released=held)


def notes(installed: Installation, kind: str) -> list[str]:
    return [each.found for each in check(installed.project.config) if each.code == kind]


def test_the_configured_hub_is_what_is_stored_and_locked(held: Installation) -> None:
    assert held.kept(person(V2, group="g", note="n")) == person(
        V1, team="g", **{"$writtenWith": V2, "$propertyBag": {"note": {V2: {"value": "n"}}}}
    )
    recorded = yaml.safe_load((held.project.folder / "trundle.lock").read_text())["resources"]
    assert list(recorded["Person"]) == [V1]
    assert recorded["Person"][V1]["versions"] == [V1, V2]


def test_a_held_back_release_shares_a_store_with_the_one_before(
    first: Installation, held: Installation
) -> None:
    stored = held.put(person(V2, name="Ada", group="g", size="large", note="n"))
    assert first.read(stored, V1) == person(V1, name="Ada", team="g")
    edited = first.edit(stored, V1, team="h")
    assert held.read(edited, V2) == person(V2, name="Ada", group="h", size="large", note="n")
    assert first.edit(edited, V1) == edited
    assert held.edit(edited, V2) == edited
    stale = first.edit(edited, V1, size=3)
    assert "size" not in held.read(stale, V2)


def test_the_next_release_reads_what_was_held_back_and_can_be_rolled_back(
    held: Installation, moved: Installation
) -> None:
    stored = held.put(person(V2, name="Ada", group="g", size="large", note="n"))
    rolled = moved.roll(stored)
    assert json.loads(rolled)["apiVersion"] == V2
    for version in (V1, V2):
        assert moved.read(rolled, version) == held.read(rolled, version)
        assert moved.read(stored, version) == held.read(stored, version)
    assert json.loads(held.roll(rolled)) == json.loads(stored)


def test_a_release_stores_any_recorded_version_that_is_chosen(
    first: Installation, moved: Installation
) -> None:
    scheme = moved.scheme.storing({"person": "v20180808"})
    stored = scheme.put(None, person(V2, name="Ada", group="g", note="n"))
    assert stored["apiVersion"] == V1
    assert moved.scheme.put(None, person(V2))["apiVersion"] == V2
    data = json.dumps(stored).encode()
    assert first.read(data, V1) == person(V1, name="Ada", team="g")
    edited = scheme.put(None, person(V2, name="Ada", group="h", note="m"), stored)
    assert edited["apiVersion"] == V1
    assert scheme.convert(edited, to=V2) == person(V2, name="Ada", group="h", note="m")
    newest = moved.scheme.put(None, person(V2, name="Bea", note="n"))
    assert scheme.convert(newest)["apiVersion"] == V1
    assert scheme.put(V2, scheme.read(V2, newest), newest) == newest


@pytest.mark.parametrize(
    ("storage", "message"),
    [
        ({"Person": "2019-01-01"}, "Person cannot be stored in '2019-01-01', but in 2018-08-08"),
        ({"Pet": V1}, "there is no resource type 'Pet' to be stored"),
    ],
)
def test_only_a_recorded_version_can_be_chosen(
    moved: Installation, storage: dict[str, str], message: str
) -> None:
    with pytest.raises(UnknownVersionError, match=message):
        moved.scheme.storing(storage)


def test_check_says_when_a_release_cannot_be_rolled_back_to(
    install: Installer, first: Installation, held: Installation, moved: Installation
) -> None:
    assert notes(held, "hub") == []
    assert notes(moved, "hub") == []
    rushed = release(install, V1, V2, released=first)
    assert notes(rushed, "hub") == []  # it is recorded by now
    (rushed.project.folder / "trundle.lock").write_bytes(
        (first.project.folder / "trundle.lock").read_bytes()
    )
    (found,) = [each for each in check(rushed.project.config) if each.code == "hub"]
    assert found.severity == "note"
    assert found.found == (
        f"Person is stored in {V2} from now on, which the release that is recorded here cannot read"
    )
    assert f"`hub: {{Person: {V1}}}`" in found.advice


@pytest.mark.parametrize(
    ("hub", "message"),
    [
        ({"Persno": V1}, "`hub` names Persno, which no schema has; did you mean Person?"),
        (
            {"Person": "2019-01-01"},
            f"`hub` holds Person at 2019-01-01, which it does not have; it has {V1}, {V2}",
        ),
    ],
)
def test_a_hub_that_no_schema_has_is_an_error(
    held: Installation, hub: dict[str, str], message: str
) -> None:
    path = held.project.config.path
    text = path.read_text()
    described = yaml.safe_load(text) | {"hub": hub}
    path.write_text(yaml.safe_dump(described))
    try:
        found = [each for each in check(load_config(path)) if each.code == "hub"]
    finally:
        path.write_text(text)
    assert [(each.severity, each.message) for each in found] == [("error", message)]
    assert found[0].where.startswith(f"{path}:")


def test_a_bag_of_a_later_release_stays_in_a_type_that_has_none(install: Installer) -> None:
    def of(*versions: str, **config: Any) -> Installation:
        text = {"type": "string"}
        names: dict[str, dict[str, Any]] = {V1: {"a": text}, V2: {"a": text, "b": text}}
        files = {
            f"{version}.yaml": {
                "title": "Person",
                "type": "object",
                "properties": {
                    "k": text,
                    "part": {"type": "object", "properties": names[version]},
                    "open": {
                        "type": "object",
                        "properties": names[version],
                        "additionalProperties": {"type": "integer"},
                    },
                },
            }
            for version in versions
        }
        return install(files, config=config)

    old, new = of(V1), of(V1, V2, hub={"Person": V1})
    parts = {"part": {"a": "1", "b": "2"}, "open": {"a": "1", "b": "2", "c": 3}}
    stored = new.put(person(V2, k="x", **parts))
    shown = {"part": {"a": "1"}, "open": {"a": "1", "c": 3}}
    assert old.read(stored, V1) == person(V1, k="x", **shown)
    assert old.edit(stored, V1) == stored
    edited = old.edit(stored, V1, k="y", part={"a": "9"}, open={"a": "8", "c": 4})
    after = {"part": {"a": "9", "b": "2"}, "open": {"a": "8", "b": "2", "c": 4}}
    assert new.read(edited, V2) == person(V2, k="y", **after)
    (outcome,) = old.scheme.convert_many([json.loads(stored)], V1)
    assert outcome.tolerated == ()


def test_removing_all_additional_properties_removes_those_that_are_seen(
    install: Installer,
) -> None:
    def of(values: Any) -> dict[str, Any]:
        properties = {"id": {"type": "string"}}
        return {
            "title": "Person",
            "type": "object",
            "properties": properties,
            "additionalProperties": values,
        }

    scheme = install(
        {f"{V1}.yaml": of(True), f"{V2}.yaml": of({"type": "string"})},
        config={"hub": {"Person": V1}},
    ).scheme
    stored = scheme.convert(person(V1, x=None, y="1"))
    assert scheme.convert(stored, V2) == person(V2, y="1")
    edited = scheme.convert(person(V2), base=stored)
    assert scheme.convert(edited, V1) == person(V1, x=None)


def test_what_is_generated_stays_fresh_when_its_hub_is_recorded(
    install: Installer, first: Installation
) -> None:
    fresh = release(install, V1)
    config = fresh.project.config
    assert generate(config).generated == ()  # it was recorded after it was generated
    lock_path(config).unlink()
    assert generate(config).generated == ()
    lock(config)
    moved = release(install, V1, V2)
    lock_path(moved.project.config).write_bytes(lock_path(first.project.config).read_bytes())
    assert generate(moved.project.config).generated == (moved.scheme.package,)
