"""Resource types that real providers spell, place, drop and bring back in unexpected ways."""

import json
from typing import Any

import pytest
from arm import TEXT, deployed, or_expression, provider, resource
from projects import Installation, Installer
from proving import prove, prove_release

from trundle.runtime import UnknownVersionError

OLD, NEW = "2015-05-04-preview", "2016-04-01"


def stored(document: dict[str, Any], hub: str, writer: str, bag: Any = None) -> dict[str, Any]:
    found = {**document, "apiVersion": hub, "$writtenWith": writer}
    if bag:
        found["properties"] = {**document["properties"], "$propertyBag": bag}
    return found


# The same resource type in two letter cases


@pytest.fixture(scope="module")
def zones(install: Installer) -> Installation:
    names = {OLD: "Contoso.Shop/dnszones", NEW: "Contoso.Shop/dnsZones"}
    files = [
        provider(
            version,
            resource(name, version, ttl={"type": "integer"}),
            resource(f"{name}/A", version, address=TEXT),
        )
        for version, name in names.items()
    ]
    return install(dict(files))


def test_two_letter_cases_are_one_resource_type_with_one_store(zones) -> None:
    assert sorted(zones.scheme.resources) == ["Contoso.Shop/dnsZones", "Contoso.Shop/dnsZones/A"]
    old = deployed("Contoso.Shop/dnszones", OLD, ttl=60)
    new = deployed("Contoso.Shop/dnsZones", NEW, ttl=60)
    assert zones.kept(old) == stored(new, NEW, OLD)
    assert zones.kept(new) == stored(new, NEW, NEW)
    assert zones.convert(old, NEW) == new
    assert zones.convert(new, OLD) == old
    assert zones.read(zones.put(old), NEW) == new
    assert zones.read(zones.put(new, zones.put(old)), OLD) == old


def test_a_client_may_spell_a_resource_type_as_it_likes(zones) -> None:
    for spelt in ("Contoso.Shop/dnszones", "contoso.shop/DNSZONES"):
        found = zones.kept(deployed(spelt, NEW, ttl=60))
        assert found == stored(deployed("Contoso.Shop/dnsZones", NEW, ttl=60), NEW, NEW)


def test_a_child_follows_its_parents_letter_case(zones) -> None:
    old = deployed("Contoso.Shop/dnszones/A", OLD, address="1.2.3.4")
    new = deployed("Contoso.Shop/dnsZones/A", NEW, address="1.2.3.4")
    assert zones.convert(old, NEW) == new
    assert zones.read(zones.put(new), OLD) == old


def test_resource_types_in_two_letter_cases_keep_the_laws(zones) -> None:
    for name in zones.scheme.resources:
        prove(zones.scheme, name)


# The same resource in several scopes


BUDGETS, FIRST, SECOND = "Contoso.Shop/budgets", "2019-01-01", "2023-08-01"
FIRST_SCOPES = ("tenant", "managementGroup", "subscription")


def budgets(install: Installer, **in_subscriptions: Any) -> Installation:
    """Budgets in four scopes, in subscriptions perhaps with more properties, then in one scope alone."""
    narrow = resource(BUDGETS, FIRST, amount={"type": "integer"})
    wide = resource(BUDGETS, FIRST, amount={"type": "integer"}, **in_subscriptions)
    scopes = {
        f"{scope}_resourceDefinitions": {"budgets": wide if scope == "subscription" else narrow}
        for scope in FIRST_SCOPES
    }
    newer = resource(BUDGETS, SECOND, amount={"type": "number"}, currency=TEXT)
    return install(dict([provider(FIRST, narrow, **scopes), provider(SECOND, newer)]))


def test_a_resource_in_several_scopes_is_one_resource(install) -> None:
    installed = budgets(install)
    (schema, _) = installed.project.schemas
    (found,) = schema.resources
    assert found.scope == "resourceGroup,subscription,managementGroup,tenant"
    old = deployed(BUDGETS, FIRST, amount=5)
    assert installed.convert(old, SECOND) == deployed(BUDGETS, SECOND, amount=5)
    kept = installed.put(deployed(BUDGETS, SECOND, amount=5.5, currency="EUR"))
    assert installed.read(kept, FIRST) == deployed(BUDGETS, FIRST)
    prove(installed.scheme, BUDGETS)


def test_a_resource_that_differs_between_scopes_admits_what_any_scope_does(install) -> None:
    """Nothing within distinguishes the shapes, so what differs is carried as it was written."""
    installed = budgets(install, currency=TEXT)
    for properties in ({"amount": 5}, {"amount": 5, "currency": "EUR"}):
        old = deployed(BUDGETS, FIRST, **properties)
        assert installed.convert(old, SECOND) == {**old, "apiVersion": SECOND}
        assert installed.read(installed.put(old), FIRST) == old
    new = deployed(BUDGETS, SECOND, amount=5.5, currency="EUR")
    assert installed.read(installed.put(new), FIRST) == {**new, "apiVersion": FIRST}
    prove(installed.scheme, BUDGETS)


# Resources that vanish, return, or are dropped

WORLDS = {
    "2018-01-01": {"stores": ("a", "b"), "carts": ("x",)},
    "2019-01-01": {"stores": ("a",), "carts": ("x", "y")},
    "2020-01-01": {"stores": ("a",)},
    "2021-01-01-preview": {"stores": ("a", "c"), "carts": ("y", "z")},
    "2021-01-01": {"stores": ("a", "c"), "carts": ("y", "z")},
}


def world(install: Installer, count: int, before: Installation | None = None) -> Installation:
    files = [
        provider(
            version,
            *(
                resource(f"Contoso.Shop/{name}", version, **dict.fromkeys(properties, TEXT))
                for name, properties in resources.items()
            ),
        )
        for version, resources in list(WORLDS.items())[:count]
    ]
    return install(dict(files), released=before)


@pytest.fixture(scope="module")
def worlds(install: Installer) -> tuple[Installation, ...]:
    found: list[Installation] = []
    for count in (2, 3, 4, 5):
        found.append(world(install, count, found[-1] if found else None))
    return tuple(found)


CART = "Contoso.Shop/carts"


def test_a_resource_that_a_version_drops_keeps_its_storage_and_its_hub(worlds) -> None:
    _, dropped, _, _ = worlds
    assert dropped.scheme.resources[CART].hub == "2019-01-01"
    assert dropped.scheme.resources["Contoso.Shop/stores"].hub == "2020-01-01"
    assert list(dropped.scheme.resources[CART].versions) == ["2018-01-01", "2019-01-01"]
    document = deployed(CART, "2018-01-01", x="1")
    assert dropped.kept(document) == stored(document, "2019-01-01", "2018-01-01")
    assert dropped.convert(document, "2019-01-01") == deployed(CART, "2019-01-01", x="1")
    with pytest.raises(UnknownVersionError, match="2020-01-01"):
        dropped.convert(document, "2020-01-01")


def test_a_resource_that_a_preview_brings_back_still_lives_at_the_last_ga(worlds) -> None:
    before, dropped, preview, _ = worlds
    assert preview.scheme.resources[CART].hub == "2019-01-01"
    kept = before.put(deployed(CART, "2019-01-01", x="1", y="2"))
    assert dropped.roll(kept) == preview.roll(kept) == kept
    assert preview.read(kept, "2021-01-01-preview") == deployed(CART, "2021-01-01-preview", y="2")
    kept = preview.put(deployed(CART, "2021-01-01-preview", y="3", z="4"), kept)
    bag = {"z": {"2021-01-01-preview": {"value": "4"}}}
    known = deployed(CART, "2019-01-01", x="1", y="3")
    assert json.loads(kept) == stored(known, "2019-01-01", "2021-01-01-preview", bag)
    assert preview.read(kept, "2019-01-01") == known


def test_a_resource_that_returns_has_all_that_was_stored_before(worlds) -> None:
    before, _, preview, after = worlds
    assert after.scheme.resources[CART].hub == "2021-01-01"
    kept = before.put(deployed(CART, "2018-01-01", x="1"))
    kept = preview.put(deployed(CART, "2021-01-01-preview", z="4"), kept)
    assert after.read(kept, "2021-01-01") == deployed(CART, "2021-01-01", z="4")
    assert after.read(kept, "2019-01-01") == deployed(CART, "2019-01-01", x="1")
    rolled = deployed(CART, "2021-01-01", z="4")
    bag = {"x": {"2019-01-01": {"value": "1"}}}
    assert json.loads(after.roll(kept)) == stored(rolled, "2021-01-01", "2021-01-01-preview", bag)


@pytest.mark.full
def test_resources_that_come_and_go_keep_the_laws(worlds) -> None:
    for each in worlds:
        for name in each.scheme.resources:
            prove(each.scheme, name, examples=15)
    for number, old in enumerate(worlds):
        for new in worlds[number + 1 :]:
            for name in old.scheme.resources:
                prove_release(old.scheme, new.scheme, name, examples=15)


# Services that never become GA

PREVIEWS = {
    "2015-01-01-preview": {"a": TEXT, "old": TEXT},
    "2016-01-01-preview": {"a": TEXT, "b": {"type": "integer"}},
    "2017-01-01-preview": {"a": TEXT, "b": {"type": "number"}, "old": TEXT},
}


@pytest.mark.full
def test_a_service_without_any_ga_lives_at_its_newest_preview(install) -> None:
    kind = "Contoso.Shop/trials"
    releases: list[Installation] = []
    for count in (1, 2, 3):
        files = [
            provider(version, resource(kind, version, **properties))
            for version, properties in list(PREVIEWS.items())[:count]
        ]
        releases.append(install(dict(files), released=releases[-1] if releases else None))
    first, second, last = releases
    old, middle, new = PREVIEWS
    assert [each.scheme.resources[kind].hub for each in releases] == list(PREVIEWS)
    kept = first.put(deployed(kind, old, a="1", old="2"))
    assert json.loads(second.roll(kept)) == stored(
        deployed(kind, middle, a="1"), middle, old, {"old": {old: {"value": "2"}}}
    )
    assert json.loads(last.roll(second.roll(kept))) == stored(
        deployed(kind, new, a="1", old="2"), new, old
    )
    kept = last.put(deployed(kind, new, a="1", b=1.5, old="2"), kept)
    assert last.read(kept, middle) == deployed(kind, middle, a="1")
    assert last.read(kept, old) == deployed(kind, old, a="1", old="2")
    prove(last.scheme, kind)
    for before, after in ((first, second), (second, last), (first, last)):
        prove_release(before.scheme, after.scheme, kind)


@pytest.mark.full
def test_a_first_ga_takes_over_from_the_previews(install) -> None:
    kind, ga = "Contoso.Shop/trials", "2018-01-01"
    files = [
        provider(version, resource(kind, version, **properties))
        for version, properties in {**PREVIEWS, ga: {"a": TEXT, "b": {"type": "integer"}}}.items()
    ]
    before, after = install(dict(files[:3])), install(dict(files))
    assert after.scheme.resources[kind].hub == ga
    newest = list(PREVIEWS)[-1]
    kept = before.put(deployed(kind, newest, a="1", b=1.5, old="2"))
    assert after.read(kept, ga) == deployed(kind, ga, a="1")
    assert after.read(kept, newest) == deployed(kind, newest, a="1", b=1.5, old="2")
    prove(after.scheme, kind)
    prove_release(before.scheme, after.scheme, kind)


def test_files_copied_under_a_wrong_version_change_nothing(install) -> None:
    kind = "Contoso.Shop/stores"
    (name, content) = provider(NEW, resource(kind, NEW, a=TEXT, b=or_expression(TEXT)))
    _, misplaced = provider(NEW, resource(kind, NEW, a=TEXT))
    installed = install({name: content, f"2018-01-01/{name.partition('/')[2]}": misplaced})
    assert list(installed.scheme.resources[kind].versions) == [NEW]
    document = deployed(kind, NEW, a="1", b="2")
    assert installed.read(installed.put(document), NEW) == document
