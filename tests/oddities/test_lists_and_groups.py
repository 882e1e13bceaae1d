"""Lists of documents, versions named with their API group, and what a CRD says of its versions."""

import json
from typing import Any

import pytest
from projects import Installation, Installer

from trundle.project.checking import check
from trundle.report import version_map, version_map_data, version_map_text
from trundle.runtime import ConversionError, DocumentError, UnknownVersionError

GROUP = "shop.example.org"


def version(name: str, properties: dict[str, Any], **said: Any) -> dict[str, Any]:
    spec = {"type": "object", "properties": properties}
    schema = {"type": "object", "properties": {"spec": spec}}
    said = {"served": True, "storage": False, **said}
    return {"name": name, **said, "schema": {"openAPIV3Schema": schema}}


def crd(kind: str, *versions: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {"kind": kind, "plural": f"{kind.lower()}s"},
            "scope": "Namespaced",
            "versions": list(versions),
        },
    }


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
CRATE = crd(
    "Crate",
    version("v1alpha1", {"size": TEXT}, served=False),
    version("v1", {"size": TEXT}, storage=True, deprecated=True, deprecationWarning="use v2"),
    version("v2", {"size": TEXT, "lid": TEXT}, deprecated=True),
)


@pytest.fixture(scope="module")
def crates(install: Installer) -> Installation:
    return install({"crate.yaml": CRATE})


def crate(version: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Crate", "spec": spec}


def listed(kind: str, *items: Any, api: str = f"{GROUP}/v1", **more: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, **more, "items": list(items)}


def test_a_version_may_be_named_with_its_group(crates: Installation) -> None:
    scheme = crates.scheme
    document = crate("v1", size="s")
    for to in ("v2", f"{GROUP}/v2", f"{GROUP.upper()}/v2"):
        assert scheme.convert(document, to) == crate("v2", size="s")
        quick = scheme.convert_json(json.dumps(document).encode(), to)
        assert json.loads(quick) == crate("v2", size="s")
    for to in ("other.org/v2", "/v2"):
        with pytest.raises(UnknownVersionError, match="is of the API group"):
            scheme.convert(document, to)


def test_a_list_is_converted_item_by_item_and_keeps_all_else(crates: Installation) -> None:
    metadata = {"resourceVersion": "7", "note": 1.10}
    before = listed("CrateList", crate("v1", size="s"), crate("v2", lid="l"), metadata=metadata)
    after = listed(
        "CrateList",
        crate("v2", size="s"),
        crate("v2", lid="l"),
        api=f"{GROUP}/v2",
        metadata=metadata,
    )
    assert crates.scheme.convert(before, "v2") == after
    text = json.dumps(before).replace("1.1", "1.10").encode()
    made = crates.scheme.convert_json(text, f"{GROUP}/v2")
    assert json.loads(made) == after
    assert b"1.10" in made
    (outcome,) = crates.scheme.convert_many([text], "v2", losses=True)
    assert json.loads(outcome.unwrap()) == after


def test_items_may_leave_out_what_their_list_says(crates: Installation) -> None:
    before = listed("CrateList", {"spec": {"size": "s"}})
    after = listed("CrateList", crate("v2", size="s"), api=f"{GROUP}/v2")
    assert crates.scheme.convert(before, "v2") == after


def test_an_empty_list_takes_the_version_that_is_wanted(crates: Installation) -> None:
    found = crates.scheme.convert(listed("CrateList"), "v2")
    assert found == listed("CrateList", api=f"{GROUP}/v2")


def test_a_plain_list_keeps_its_own_version(crates: Installation) -> None:
    before = listed("List", crate("v1", size="s"), api="v1")
    assert crates.scheme.convert(before, "v2") == listed("List", crate("v2", size="s"), api="v1")


@pytest.mark.parametrize("items", [None, []], ids=["null", "empty"])
def test_a_list_without_items_stays_as_it_is_written(crates: Installation, items: Any) -> None:
    plain = {"apiVersion": "v1", "kind": "List", "items": items}
    own = {"apiVersion": f"{GROUP}/v1", "kind": "CrateList", "items": items}
    assert crates.scheme.convert(plain, "v2") == plain
    assert crates.scheme.convert(own, "v2") == {**own, "apiVersion": f"{GROUP}/v2"}


@pytest.mark.parametrize("items", [{}, "x", 3], ids=str)
def test_a_list_whose_items_are_no_list_says_so(crates: Installation, items: Any) -> None:
    document = {"apiVersion": "v1", "kind": "List", "items": items}
    with pytest.raises(DocumentError, match=r"a list of documents, or null, got .* - at \$\.items"):
        crates.scheme.convert(document, "v2")
    assert crates.scheme.attempt(document, "v2").error is not None


@pytest.mark.parametrize("storage", ["v1", ["v1"], None, {"Crate": 1}], ids=str)
def test_a_choice_of_storage_versions_is_a_mapping(
    install: Installer, crates: Installation, storage: Any
) -> None:
    other = crd("Pallet", version("v1", {}, storage=True), version("v2", {}))
    other["spec"]["group"] = "other.example.org"
    groups = {"shop": GROUP, "other": "other.example.org"}
    both = install({"crate.yaml": CRATE, "pallet.yaml": other}, config={"groups": groups})
    for scheme in (crates.scheme, both.scheme):
        with pytest.raises(ConversionError, match="expected a mapping from resource types"):
            scheme.storing(storage)


def test_a_list_of_stored_objects_is_read(crates: Installation) -> None:
    before = listed("CrateList", crate("v2", lid="l"), api=f"{GROUP}/v2")
    stored = crates.scheme.convert(before)
    assert [each["$writtenWith"] for each in stored["items"]] == ["v2"]
    assert crates.scheme.convert(stored, "v2") == before


def test_every_item_that_is_wrong_is_named(crates: Installation) -> None:
    wrong = [crate("v1", size=1), crate("v1", size="s"), {**crate("v1"), "apiVersion": "a.org/v1"}]
    with pytest.raises(DocumentError) as raised:
        crates.scheme.convert(listed("CrateList", *wrong), "v2")
    assert [each.place.path for each in raised.value.findings] == [
        "$.items[0].spec.size",
        "$.items[2]",
    ]


def test_a_list_of_another_group_or_over_a_base_is_refused(crates: Installation) -> None:
    with pytest.raises(UnknownVersionError, match="API group"):
        crates.scheme.convert(listed("CrateList", api="other.org/v1"), "v2")
    with pytest.raises(ConversionError, match="write each item over its own"):
        crates.scheme.convert(listed("CrateList"), base=crates.scheme.convert(crate("v1")))


def test_an_item_of_another_kind_or_group_than_its_list_is_refused(install: Installer) -> None:
    scheme = install(
        {"crate.yaml": CRATE, "box.yaml": crd("Box", *CRATE["spec"]["versions"])}
    ).scheme
    other = {**crate("v1"), "apiVersion": "other.org/v1"}
    box = {**crate("v1"), "kind": "Box"}
    with pytest.raises(DocumentError) as caught:
        scheme.convert(listed("CrateList", crate("v1"), other, box), "v2")
    message = str(caught.value)
    assert "at $.items[1]" in message
    assert "an item of Crate, found one of Box" in message
    assert len(scheme.convert(listed("List", crate("v1"), box, api="v1"), "v2")["items"]) == 2


def test_a_resource_type_whose_name_ends_in_list_is_no_list(install: Installer) -> None:
    allow = crd("AllowList", version("v1", {}, storage=True), version("v2", {}))
    scheme = install({"allow.yaml": allow}).scheme
    document = {"apiVersion": f"{GROUP}/v1", "kind": "AllowList", "spec": {}}
    assert scheme.convert(document, "v2") == {**document, "apiVersion": f"{GROUP}/v2"}


def test_a_joined_scheme_converts_lists_of_several_groups(install: Installer) -> None:
    other = crd("Pallet", version("v1", {}, storage=True), version("v2", {}))
    other["spec"]["group"] = "other.example.org"
    groups = {"shop": GROUP, "other": "other.example.org"}
    both = install({"crate.yaml": CRATE, "pallet.yaml": other}, config={"groups": groups})
    pallet = {"apiVersion": "other.example.org/v1", "kind": "Pallet", "spec": {}}
    before = listed("List", crate("v1", size="s"), pallet, api="v1")
    after = listed(
        "List",
        crate("v2", size="s"),
        {**pallet, "apiVersion": "other.example.org/v2"},
        api="v1",
    )
    assert both.scheme.convert(before, "v2") == after
    (outcome,) = both.scheme.convert_many([before], "v2")
    assert outcome.unwrap() == after
    with pytest.raises(UnknownVersionError, match="no resource type 'Crat' to be stored; did you"):
        both.scheme.storing({"Crat": "v1"})
    crates_alone = listed("CrateList", crate("v2", lid="l"), api=f"{GROUP}/v2")
    assert both.scheme.convert(crates_alone, f"{GROUP}/v1")["apiVersion"] == f"{GROUP}/v1"


# What a CRD says of its versions


def test_the_stored_version_is_the_hub_unless_the_configuration_says_otherwise(
    install: Installer, crates: Installation
) -> None:
    assert crates.scheme.resources["Crate"].hub == "v1"
    assert crates.kept(crate("v2", lid="l"))["apiVersion"] == f"{GROUP}/v1"
    said = install({"crate.yaml": CRATE}, config={"hub": {"Crate": "v2"}})
    assert said.scheme.resources["Crate"].hub == "v2"
    assert said.read(crates.put(crate("v2", lid="l")), "v2") == crate("v2", lid="l")


def test_a_version_that_is_not_served_is_still_converted(crates: Installation) -> None:
    assert crates.scheme.served == ("v1", "v2")
    assert crates.convert(crate("v1alpha1", size="s"), "v2") == crate("v2", size="s")


def test_deprecated_versions_are_shown(crates: Installation) -> None:
    found = version_map(crates.project.evolution, "Crate")
    rows = version_map_text(found).splitlines()
    assert [row.endswith("deprecated") for row in rows[4:7]] == [False, True, True]
    versions = version_map_data(found)["versions"]
    warning = f"{GROUP}/v2 Crate is deprecated"
    assert [each["deprecated"] for each in versions] == [None, "use v2", warning]
    notes = [each for each in check(crates.project.config) if each.code == "deprecated"]
    assert [each.found for each in notes] == [
        "Crate in v1 is deprecated: use v2",
        f"Crate in v2 is deprecated: {warning}",
    ]
    assert crates.module("v1").Crate.__doc__.rstrip().endswith("Deprecated: use v2")


def test_items_of_another_group_or_resource_type_are_refused(install: Installer) -> None:
    other = crd("Crate", version("v1", {}, storage=True), version("v2", {}))
    other["spec"]["group"] = "other.example.org"
    groups = {"shop": GROUP, "other": "other.example.org"}
    both = install({"crate.yaml": CRATE, "other.yaml": other}, config={"groups": groups})
    strange = {"apiVersion": "other.example.org/v1", "kind": "Crate", "spec": {}}
    for item in (strange, crate("v1") | {"kind": "Pallet"}):
        with pytest.raises(DocumentError) as raised:
            both.scheme.convert(listed("CrateList", crate("v1"), item), "v2")
        assert [each.place.path for each in raised.value.findings] == ["$.items[1]"]
