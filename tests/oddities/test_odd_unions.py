"""Resources and properties of several kinds: by a property that says which, or by constant names."""

import json
from typing import Any

import pytest
from arm import TEXT, deployed, or_expression, provider, resource
from people import known, person
from projects import Installation, Installer
from proving import prove, prove_release

OLD, NEW = "2019-01-21", "2020-09-18"
KIND = "Contoso.Shop/feeds"


def constant(name: str, *texts: str) -> dict[str, Any]:
    return {"properties": {name: or_expression({"type": "string", "enum": list(texts)})}}


def object_of(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(names, TEXT)}


# Polymorphic resources


def feeds(version: str, **kinds: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """A resource whose `kind` determines what is in its `properties`."""
    found = resource(KIND, version)
    del found["properties"]["properties"]
    found["oneOf"] = [
        {
            "type": "object",
            "required": ["kind", "properties"],
            "properties": {
                "kind": or_expression({"type": "string", "enum": [kind]}),
                "properties": or_expression({"$ref": f"#/definitions/{kind}Properties"}),
            },
        }
        for kind in kinds
    ]
    definitions = {f"{kind}Properties": object_of(*names) for kind, names in kinds.items()}
    return provider(version, found, definitions=definitions)


def feed(version: str, kind: str, **properties: Any) -> dict[str, Any]:
    found = deployed(KIND, version, **properties)
    return {**found, "kind": kind}


@pytest.fixture(scope="module")
def kinds(install: Installer) -> Installation:
    return install(
        dict(
            [
                feeds(OLD, Grid=("hub", "account"), Hub=("hub", "group")),
                feeds(NEW, Grid=("hub", "account", "event"), Hub=("hub", "group"), Iot=("hub",)),
            ]
        )
    )


def test_a_resource_of_several_kinds_converts_whatever_its_kind(kinds) -> None:
    for kind, properties in (
        ("Grid", {"hub": "h", "account": "a"}),
        ("Hub", {"hub": "h", "group": "g"}),
    ):
        one, two = feed(OLD, kind, **properties), feed(NEW, kind, **properties)
        assert kinds.convert(one, NEW) == two
        assert kinds.convert(two, OLD) == one
        assert kinds.kept(one) == {**two, "$writtenWith": OLD}
        assert kinds.read(kinds.put(two), OLD) == one


def test_what_nothing_within_distinguishes_is_carried_as_it_was_written(kinds) -> None:
    """The kind stands beside the properties, not in them: they are free-form data."""
    kept = kinds.put(feed(NEW, "Grid", hub="h", event="e"))
    assert kinds.read(kept, OLD) == feed(OLD, "Grid", hub="h", event="e")
    iot = kinds.put(feed(NEW, "Iot", hub="h"))
    assert kinds.read(iot, OLD) == feed(OLD, "Iot", hub="h")
    assert kinds.put(kinds.read(iot, OLD), iot) == iot


def test_a_resource_of_several_kinds_keeps_the_laws(kinds) -> None:
    prove(kinds.scheme, KIND)


def test_a_resource_whose_name_is_a_constant_keeps_its_name(install) -> None:
    kind = "Contoso.Shop/settings"

    def settings(version: str, *names: str, **properties: Any) -> tuple[str, Any]:
        found = resource(kind, version, **properties)
        found["properties"]["name"] = constant("name", *names)["properties"]["name"]
        return provider(version, found)

    installed = install(
        dict(
            [
                settings(OLD, "current", "Default", state=TEXT),
                settings(NEW, "current", "default", "recommended", state=TEXT, mode=TEXT),
            ]
        )
    )
    document = {**deployed(kind, NEW, state="on", mode="m"), "name": "recommended"}
    kept = installed.put(document)
    assert installed.read(kept, OLD) == {**deployed(kind, OLD, state="on"), "name": "recommended"}
    assert installed.put(installed.read(kept, OLD), kept) == kept
    spelt = {**deployed(kind, OLD, state="on"), "name": "Default"}
    kept = installed.put(spelt)
    assert installed.read(kept, OLD) == spelt
    assert installed.read(kept, NEW)["name"].casefold() == "default"
    prove(installed.scheme, kind)


# Unions of objects


def shape(kind: str, *names: str, tag: str = "kind") -> dict[str, Any]:
    found = object_of(*names)
    found["properties"] = {tag: {"const": kind}, **found["properties"]}
    return {**found, "required": [tag]}


def one_of(*names: str) -> dict[str, Any]:
    return {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in names]}


def test_an_object_that_becomes_a_union_is_its_variant(install) -> None:
    circle = {"type": "object", "properties": {"kind": TEXT, "radius": TEXT}}
    versions = {
        "v1.yaml": person({"Circle": circle}, it={"$ref": "#/$defs/Circle"}),
        "v2.yaml": person(
            {"Circle": shape("circle", "radius", "unit"), "Square": shape("square", "side")},
            it=one_of("Circle", "Square"),
        ),
    }
    before = install({"v1.yaml": versions["v1.yaml"]})
    after = install(versions, released=before)
    old = known("v1", it={"kind": "circle", "radius": "1"})
    kept = before.put(old)
    assert after.read(kept, "v2") == {**old, "apiVersion": "v2"}
    assert after.convert(old, "v2") == {**old, "apiVersion": "v2"}
    kept = after.put(known("v2", it={"kind": "circle", "radius": "2", "unit": "m"}), kept)
    assert after.read(kept, "v1") == known("v1", it={"kind": "circle", "radius": "2"})
    square = known("v2", it={"kind": "square", "side": "3"})
    kept = after.put(square)
    assert after.read(kept, "v1") == known("v1")
    assert after.read(after.edit(kept, "v1", name="Minnie"), "v2") == {**square, "name": "Minnie"}
    prove(after.scheme, "Person")
    prove_release(before.scheme, after.scheme, "Person")


@pytest.mark.parametrize("text", ["oval", "", "CIRCLE", None])
def test_what_no_variant_takes_is_still_read_by_the_version_that_wrote_it(
    install, text: str | None
) -> None:
    circle = {"type": "object", "properties": {"kind": TEXT, "radius": TEXT}}
    newer = {"Circle": shape("circle", "radius"), "Square": shape("square", "side")}
    for several in (False, True):
        old, new = {"$ref": "#/$defs/Circle"}, one_of("Circle", "Square")
        if several:
            old, new = ({"type": "array", "items": each} for each in (old, new))
        one = {"v1.yaml": person({"Circle": circle}, it=old)}
        before = install(one)
        after = install({**one, "v2.yaml": person(newer, it=new)}, released=before)
        value = {"radius": "1"} if text is None else {"kind": text, "radius": "1"}
        document = known("v1", it=[value, {"kind": "circle"}] if several else value)
        kept = before.put(document)
        for each in (kept, after.roll(kept), after.put(document)):
            assert after.read(each, "v1") == document
            assert after.put(after.read(each, "v2"), each) == each
        seen = after.read(kept, "v2").get("it")
        circles = {"kind": "circle", "radius": "1"} if text in {"CIRCLE", None} else None
        if several:
            assert seen == [*([circles] if circles else []), {"kind": "circle"}]
        else:
            assert seen == circles


def test_discriminators_in_another_letter_case_are_the_same(install) -> None:
    installed = install(
        {
            "v1.yaml": person(
                {"A": shape("Named", "x"), "B": shape("Singleton")}, it=one_of("A", "B")
            ),
            "v2.yaml": person(
                {"A": shape("named", "x", "y"), "B": shape("singleton")}, it=one_of("A", "B")
            ),
        }
    )
    one, two = (
        known("v1", it={"kind": "Named", "x": "1"}),
        known("v2", it={"kind": "named", "x": "1"}),
    )
    assert installed.convert(one, "v2") == two
    assert installed.convert(two, "v1") == one
    assert installed.kept(one)["it"] == {"kind": "named", "x": "1"}
    kept = installed.put(known("v2", it={"kind": "named", "x": "1", "y": "2"}))
    kept = installed.put(known("v1", it={"kind": "Named", "x": "3"}), kept)
    assert installed.read(kept, "v2")["it"] == {"kind": "named", "x": "3", "y": "2"}
    prove(installed.scheme, "Person")


def test_a_client_may_spell_a_discriminator_in_any_letter_case(install) -> None:
    installed = install(
        {
            "v1.yaml": person(
                {"A": shape("Named", "x"), "B": shape("Singleton")}, it=one_of("A", "B")
            )
        }
    )
    assert installed.kept(known("v1", it={"kind": "NAMED", "x": "1"}))["it"] == {
        "kind": "Named",
        "x": "1",
    }


NESTED = {
    "Secret": {"oneOf": [{"$ref": "#/$defs/Plain"}, {"$ref": "#/$defs/Vault"}]},
    "Plain": shape("plain", "value", tag="type"),
    "Vault": shape("vault", "key", tag="type"),
}


def test_unions_nest_in_variants(install) -> None:
    def service(kind: str, *names: str) -> dict[str, Any]:
        found = shape(kind, *names)
        found["properties"]["secret"] = {"$ref": "#/$defs/Secret"}
        return found

    installed = install(
        {
            "v1.yaml": person(
                {"Blob": service("blob"), "Table": service("table", "x"), **NESTED},
                it=one_of("Blob", "Table"),
            ),
            "v2.yaml": person(
                {
                    "Blob": service("blob", "y"),
                    "Table": service("table"),
                    **NESTED,
                    "Vault": shape("vault", "key", "version", tag="type"),
                },
                it=one_of("Blob", "Table"),
            ),
        }
    )
    document = known("v1", it={"kind": "table", "secret": {"type": "vault", "key": "k"}, "x": "1"})
    kept = installed.put(document)
    new = known("v2", it={"kind": "table", "secret": {"type": "vault", "key": "k"}})
    assert installed.read(kept, "v2") == new
    new["it"]["secret"]["version"] = "7"
    kept = installed.put(new, kept)
    assert installed.read(kept, "v1") == document
    assert installed.read(kept, "v2") == new
    new["it"] = {"kind": "blob", "secret": {"type": "plain", "value": "v"}, "y": "1"}
    kept = installed.put(new, kept)
    assert installed.read(kept, "v1") == known(
        "v1", it={"kind": "blob", "secret": {"type": "plain", "value": "v"}}
    )
    prove(installed.scheme, "Person")


def test_a_union_of_unions_is_one_union(install) -> None:
    """Variants that are unions themselves, by the same property or by another one."""
    inner = {"Round": one_of("Circle", "Oval")}
    flat = {
        "Circle": shape("circle", "x"),
        "Oval": shape("oval", "y"),
        "Square": shape("square", "z"),
    }
    installed = install(
        {
            "v1.yaml": person({**flat, **inner}, it=one_of("Round", "Square")),
            "v2.yaml": person(
                {**flat, "Oval": shape("oval", "y", "w")}, it=one_of("Circle", "Oval", "Square")
            ),
        }
    )
    for value in ({"kind": "circle", "x": "1"}, {"kind": "oval", "y": "1"}, {"kind": "square"}):
        assert installed.convert(known("v1", it=value), "v2") == known("v2", it=value)
        assert installed.convert(known("v2", it=value), "v1") == known("v1", it=value)
    prove(installed.scheme, "Person")


def test_a_base_that_admits_nothing_else_with_variants_that_add_to_it(install) -> None:
    """As in Service Fabric: `allOf` of a closed object and of variants, each fixed by a constant."""

    def scheme(*more: str) -> dict[str, Any]:
        def variant(name: str) -> dict[str, Any]:
            fixed = {"type": "object", "properties": {"Scheme": {"const": name}}}
            return {
                "allOf": [
                    {"$ref": f"#/definitions/{name}Partition"},
                    {**fixed, "required": ["Scheme"]},
                ]
            }

        closed = {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "Scheme": {"type": "string", "enum": ["Named", "Singleton"]},
                "note": TEXT,
            },
            "required": ["Scheme"],
        }
        return {
            "Partition": {"allOf": [closed, {"oneOf": [variant("Named"), variant("Singleton")]}]},
            "NamedPartition": object_of("names", *more),
            "SingletonPartition": {"type": "object", "properties": {}},
        }

    kind = "Contoso.Shop/services"
    partition = or_expression({"$ref": "#/definitions/Partition"})
    installed = install(
        dict(
            [
                provider(OLD, resource(kind, OLD, partition=partition), definitions=scheme()),
                provider(
                    NEW, resource(kind, NEW, partition=partition), definitions=scheme("count")
                ),
            ]
        )
    )
    value = {"Scheme": "Named", "note": "n", "names": "a"}
    kept = installed.put(deployed(kind, NEW, partition={**value, "count": "2"}))
    assert installed.read(kept, OLD) == deployed(kind, OLD, partition=value)
    assert json.loads(kept)["properties"]["partition"] == {**value, "count": "2"}
    alone = deployed(kind, OLD, partition={"Scheme": "Singleton", "note": "n"})
    assert installed.convert(alone, NEW) == {**alone, "apiVersion": NEW}
    prove(installed.scheme, kind)


# Which variants meet


def child(type_: str, *names: str) -> dict[str, Any]:
    """As the child resources of Azure: all are called `default`, and their type distinguishes them."""
    found = shape(type_, *names, tag="type")
    found["properties"]["name"] = {"const": "default"}
    return {**found, "required": ["name", "type"]}


CHILDREN = {"E": child("auditing", "state", "days"), "V": child("assessments", "state")}


def holding(*names: str) -> dict[str, Any]:
    """A union by itself, in a list, in a map, and in the variant of another union."""
    union = one_of(*names)
    box = shape("box", "label")
    box["properties"]["inner"] = union
    return person(
        {**CHILDREN, "Box": box, "Bag": shape("bag", "label")},
        it=union,
        many={"type": "array", "items": union},
        named={"type": "object", "additionalProperties": union},
        outer=one_of("Box", "Bag"),
    )


AUDITING = {"type": "auditing", "name": "default", "state": "on", "days": "7"}
ASSESSMENTS = {"type": "assessments", "name": "default", "state": "off"}
HELD = {
    "it": AUDITING,
    "many": [ASSESSMENTS, AUDITING],
    "named": {"a": ASSESSMENTS, "b": AUDITING},
    "outer": {"kind": "box", "inner": ASSESSMENTS, "label": "l"},
}


@pytest.mark.parametrize("newer", [("V", "E"), ("E", "V")])
def test_a_shared_constant_lets_no_variant_become_another(install, newer) -> None:
    installed = install({"v1.yaml": holding("E", "V"), "v2.yaml": holding(*newer)})
    one, two = known("v1", **HELD), known("v2", **HELD)
    assert installed.convert(one, "v2") == two
    assert installed.convert(two, "v1") == one
    kept = installed.put(one)
    assert json.loads(kept) == {**two, "$writtenWith": "v1"}
    assert installed.read(kept, "v2") == two
    edited = installed.edit(kept, "v2", many=[AUDITING])
    assert installed.read(edited, "v1") == {**one, "many": [AUDITING]}
    prove(installed.scheme, "Person")


def test_variants_that_got_another_constant_still_meet(install) -> None:
    """The new constant comes first in the alphabet, and distinguishes the variants as well."""

    def variant(kind: str, *names: str, alpha: bool) -> dict[str, Any]:
        found = shape(kind, *names)
        if alpha:
            found["properties"]["alpha"] = {"const": f"{kind}-alpha"}
        return found

    def version(*, alpha: bool) -> dict[str, Any]:
        definitions = {
            "A": variant("a", "x", alpha=alpha),
            "B": variant("b", "x", alpha=alpha),
        }
        return person(definitions, it=one_of(*(["B", "A"] if alpha else ["A", "B"])))

    installed = install({"v1.yaml": version(alpha=False), "v2.yaml": version(alpha=True)})
    for kind in ("a", "b"):
        old = known("v1", it={"kind": kind, "x": "1"})
        assert installed.convert(old, "v2") == {**old, "apiVersion": "v2"}
        new = known("v2", it={"kind": kind, "alpha": f"{kind}-alpha", "x": "1"})
        kept = installed.put(new)
        assert installed.read(kept, "v1") == old
        assert installed.read(kept, "v2") == new
    prove(installed.scheme, "Person")


def test_a_renamed_discriminator_still_distinguishes_its_variants(install) -> None:
    def version(tag: str, *more: str) -> dict[str, Any]:
        definitions = {"A": shape("a", "x", *more, tag=tag), "B": shape("b", "y", tag=tag)}
        return person(definitions, many={"type": "array", "items": one_of("A", "B")})

    changes = {"v1": {each: {"rename": {"kind": "type"}} for each in ("A", "B")}}
    installed = install(
        {"v1.yaml": version("kind"), "v2.yaml": version("type", "z")}, config={"changes": changes}
    )
    old = known("v1", many=[{"kind": "b", "y": "1"}, {"kind": "a", "x": "2"}])
    new = known("v2", many=[{"type": "b", "y": "1"}, {"type": "a", "x": "2"}])
    assert installed.convert(old, "v2") == new
    assert installed.convert(new, "v1") == old
    prove(installed.scheme, "Person")


def test_a_text_that_two_versions_know_is_not_changed_by_a_version_between(install) -> None:
    """The variant that the version between takes for A has another text in the newest."""
    plain = {"type": "object", "properties": {"kind": TEXT, "x": TEXT}}
    installed = install(
        {
            "v1.yaml": person({"A": shape("a", "x"), "B": shape("b")}, it=one_of("A", "B")),
            "v2.yaml": person({"A": plain}, it={"$ref": "#/$defs/A"}),
            "v3.yaml": person({"A": shape("c", "x"), "C": shape("a", "y")}, it=one_of("A", "C")),
        }
    )
    document = known("v1", it={"kind": "a", "x": "1"})
    assert installed.convert(document, "v2")["it"] == {"kind": "a", "x": "1"}
    kept = installed.put(document)
    for each in (installed.convert(document, "v3"), installed.read(kept, "v3")):
        assert each.get("it", {"kind": "a"})["kind"] == "a"
    assert installed.read(kept, "v1") == document
    assert installed.read(kept, "v2")["it"] == {"kind": "a", "x": "1"}
    prove(installed.scheme, "Person")


def test_an_integer_among_variants_becomes_a_number_and_comes_back_where_it_fits(install) -> None:
    installed = install(
        {
            "v1.yaml": person({}, it={"type": ["integer", "string"]}),
            "v2.yaml": person({}, it={"type": ["number", "string"]}),
        }
    )
    kept = installed.put(known("v1", it=5))
    kept = installed.edit(kept, "v2", it=6)
    assert installed.read(kept, "v1") == known("v1", it=6)
    kept = installed.edit(kept, "v2", it=6.5)
    assert installed.read(kept, "v1") == known("v1")
    kept = installed.edit(kept, "v2", it="six")
    assert installed.read(kept, "v1") == known("v1", it="six")
    prove(installed.scheme, "Person")


def test_an_enum_among_variants_is_carried_as_text(install) -> None:
    sizes = {"Size": {"type": "string", "enum": ["Small", "Large"]}}
    either = {"oneOf": [{"$ref": "#/$defs/Size"}, {"type": "boolean"}]}
    installed = install(
        {
            "v1.yaml": person({}, it={"type": ["boolean", "string"]}),
            "v2.yaml": person(sizes, it=either),
        }
    )
    kept = installed.put(known("v1", it="small"))
    assert installed.read(kept, "v2") == known("v2", it="Small")
    assert installed.read(kept, "v1") == known("v1", it="small")
    kept = installed.edit(kept, "v2", it="Large")
    assert installed.read(kept, "v1") == known("v1", it="Large")
    prove(installed.scheme, "Person")


def test_what_a_preview_has_meets_a_later_version_over_one_that_has_something_else(install) -> None:
    """As the management policies of storage accounts, which left for one version."""

    def version(*names: str) -> dict[str, Any]:
        return person(CHILDREN, many={"type": "array", "items": one_of(*names)})

    installed = install(
        {
            "2018-03-01-preview.yaml": version("E"),
            "2018-07-01.yaml": version("V"),
            "2018-11-01.yaml": version("V", "E"),
        }
    )
    old = known("2018-03-01-preview", many=[AUDITING])
    kept = installed.put(old)
    assert installed.read(kept, "2018-11-01") == {**old, "apiVersion": "2018-11-01"}
    both = known("2018-11-01", many=[ASSESSMENTS, AUDITING])
    kept = installed.put(both)
    assert installed.read(kept, "2018-03-01-preview") == old
    assert installed.read(kept, "2018-07-01")["many"] == [ASSESSMENTS]
    prove(installed.scheme, "Person")
