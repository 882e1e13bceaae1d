"""One version in several spellings: `2019-09-09`, `v20190909` and `v1api20190909`."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from projects import Installation, Installer

from trundle.project.lock_change import lock
from trundle.runtime import DocumentError
from trundle.schema import SchemaError

P, GA, NEXT = "2014-04-04-preview", "2014-04-04", "2019-09-09"
LABELS = {P: "v20140404beta1", GA: "v20140404", NEXT: "v20190909"}
OTHERS = {P: "v1api20140404preview", GA: "v1api20140404", NEXT: "v1api20190909"}
SHAPES = {
    P: {"name": "string", "note": "string"},
    GA: {"name": "string", "age": "integer"},
    NEXT: {"fullName": "string", "age": "string", "parts": ["note"]},
}


def schema(version: str) -> dict[str, Any]:
    shape = SHAPES[version]
    properties: dict[str, Any] = {
        name: {"type": each} for name, each in shape.items() if isinstance(each, str)
    }
    part = {"type": "object", "properties": {"only" + version[:4]: {"type": "string"}}}
    properties["inner"] = {"$ref": "#/$defs/Part"}
    return {
        "title": "Person",
        "type": "object",
        "properties": properties,
        "$defs": {"Part": part},
    }


def project(
    install: Installer, names: dict[str, str], rules: dict[str, str], released: Any = None
) -> Installation:
    changes = {rules[GA]: {"Person": {"rename": {"name": "fullName"}}}}
    return install(
        {f"{names[version]}.yaml": schema(version) for version in SHAPES},
        config={"changes": changes},
        released=released,
    )


PLAIN = {version: version for version in SHAPES}


@pytest.fixture(scope="module")
def plain(install: Installer) -> Installation:
    return project(install, PLAIN, LABELS)


def person(version: str, **properties: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": "Person", **properties}


def test_rules_may_spell_a_version_otherwise_than_the_schemas(plain: Installation) -> None:
    assert plain.convert(person(GA, name="Ada"), NEXT) == person(NEXT, fullName="Ada")


@pytest.mark.parametrize("spelling", [LABELS, OTHERS])
def test_documents_and_callers_may_spell_a_version_as_they_like(
    plain: Installation, spelling: dict[str, str]
) -> None:
    scheme = plain.scheme
    written = person(spelling[GA], name="Ada")
    assert scheme.convert(written, to=spelling[NEXT]) == person(NEXT, fullName="Ada")
    assert scheme.convert(written, to=spelling[GA]) == person(GA, name="Ada")
    assert scheme.convert(written, to=GA, version=GA) == person(GA, name="Ada")
    bare = {"kind": "Person", "name": "Ada"}
    assert scheme.convert(bare, to=NEXT, version=spelling[GA]) == person(NEXT, fullName="Ada")
    stored = scheme.convert(written)
    assert stored == person(NEXT, fullName="Ada") | {"$writtenWith": GA}
    assert scheme.convert(stored, to=spelling[P]) == person(P, name="Ada")
    quick = scheme.convert_json(json.dumps(written).encode(), to=spelling[NEXT])
    assert json.loads(quick) == person(NEXT, fullName="Ada")


def test_bags_keep_the_spelling_of_the_schemas(plain: Installation) -> None:
    stored = plain.kept(person(LABELS[P], note="x"))
    assert list(stored["$propertyBag"]["note"]) == [P]


@pytest.mark.parametrize(("before", "after"), [(PLAIN, LABELS), (LABELS, PLAIN), (OTHERS, LABELS)])
def test_what_a_release_stored_is_read_when_a_later_one_spells_its_versions_otherwise(
    install: Installer, before: dict[str, str], after: dict[str, str]
) -> None:
    old = project(install, before, before)
    stored = old.put(person(before[P], note="x", inner={"only2014": "deep"}))
    stored = old.put(person(before[NEXT], age="old", fullName="Ada"), stored)
    new = project(install, after, after, released=old)
    assert new.read(stored, after[P]) == person(after[P], name="Ada", note="x")
    assert new.read(stored, after[NEXT]) == person(after[NEXT], fullName="Ada", age="old")
    edited = new.edit(stored, after[P], note="y", inner={"only2014": "deeper"})
    assert list(json.loads(edited)["$propertyBag"]["note"]) == [after[P]]
    assert new.edit(edited, after[P]) == edited
    assert old.read(edited, before[P])["note"] == "y"


def test_a_bag_within_an_entry_is_read_in_any_spelling(install: Installer) -> None:
    def release(names: dict[str, str]) -> Installation:
        item = {"type": "array", "items": {"$ref": "#/$defs/Part"}}
        own = {P: "a", GA: "b", NEXT: "c"}
        files = {
            f"{names[version]}.yaml": {
                "title": "Person",
                "type": "object",
                "properties": {"k": {"type": "string"}, **({"l": item} if version != NEXT else {})},
                "$defs": {
                    "Part": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            own[version]: {"type": "string"},
                        },
                    }
                },
            }
            for version in SHAPES
        }
        return install(files)

    old, new = release(PLAIN), release(LABELS)
    stored = old.put(person(P, l=[{"name": "1", "a": "A"}]))
    stored = old.edit(stored, GA, l=[{"name": "1", "b": "B"}])
    for version, own in ((P, {"a": "A"}), (GA, {"b": "B"})):
        seen = new.read(stored, LABELS[version])
        assert seen == person(LABELS[version], l=[{"name": "1", **own}])


def test_the_lock_stands_when_a_version_is_spelt_otherwise(install: Installer) -> None:
    old = project(install, PLAIN, PLAIN)
    new = project(install, LABELS, LABELS, released=old)
    recorded = yaml.safe_load((new.project.folder / "trundle.lock").read_text())
    assert list(recorded["resources"]["Person"]) == [NEXT]
    assert lock(new.project.config).unchanged == (f"Person {LABELS[NEXT]}",)


def test_both_spellings_in_one_project_are_an_error_with_both_places(
    install: Installer, tmp_path: Path
) -> None:
    files = {"a/2019-09-09.yaml": schema(NEXT), "b/v20190909.yaml": schema(NEXT) | {"title": "Pet"}}
    with pytest.raises(SchemaError) as raised:
        install(files)
    message = str(raised.value)
    assert "b/v20190909.yaml#: v20190909 is the same version as 2019-09-09" in message
    assert "a/2019-09-09.yaml" in message
    assert "spell it alike in both" in message


def test_two_entries_for_one_version_are_an_error_with_their_place(plain: Installation) -> None:
    entries = {LABELS[P]: {"value": "1"}, P: {"value": "2"}}
    stored = person(NEXT, **{"$writtenWith": P, "$propertyBag": {"note": entries}})
    for document in (stored, json.dumps(stored).encode()):
        with pytest.raises(DocumentError) as raised:
            plain.scheme.read(P, document)
        (finding,) = raised.value.findings
        assert finding.place.path == '$["$propertyBag"].note'
        assert finding.expected == f"one entry for {P}"
