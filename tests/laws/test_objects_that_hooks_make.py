"""Objects that hooks make of what the other version has: what they do not write stays when that is edited."""

import json

import pytest
from amounts import amount
from evolving import Store, evolve, forget, hooked, rules
from hypothesis import given
from hypothesis import strategies as st
from proving import prove

from trundle import verify
from trundle.runtime import ABSENT, HookError, free_form

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"
HUBS = pytest.mark.parametrize("hub", [V1, V2])


@pytest.fixture
def install():
    made = []

    def install(versions, *more, **options):
        made.append(evolve(versions, *more, **options))
        return made[-1]

    yield install
    for scheme in made:
        forget(scheme)


def one_thing(owner):
    return ABSENT if owner is ABSENT else owner.name


class OneOwner:
    def assign_to(self, source):
        return {"owner": ABSENT if source.name is ABSENT else {"name": source.name}}

    def assign_from(self, source):
        return {"name": one_thing(source.owner)}


OWNER = {"Owner": {"name": "string", "team": "string", "at": "At"}, "At": {"city": "string"}}
OWNED = {
    V1: {"Thing": {"name": "string", "note": "string"}},
    V2: {"Thing": {"owner": "Owner", "note": "string"}, **OWNER},
}
OWNS = {"to": (("name",), ("owner",)), "back": (("owner",), ("name",))}


@HUBS
def test_an_object(install, hub):
    scheme = install(OWNED, hooked(V1, V2, OneOwner, **OWNS), hub=hub)
    store = Store(scheme).put(V2, owner={"name": "a", "team": "t", "at": {"city": "c"}}, note="n")
    assert store.read(V1) == {"name": "a", "note": "n"}
    store.edit(V1, name="b")
    assert store.read(V2) == {
        "owner": {"name": "b", "team": "t", "at": {"city": "c"}},
        "note": "n",
    }


@HUBS
def test_an_object_that_the_other_version_gives_its_first_value(install, hub):
    scheme = install(OWNED, hooked(V1, V2, OneOwner, **OWNS), hub=hub)
    store = Store(scheme).put(V2, owner={"team": "t"})
    assert store.read(V1) == {}
    assert store.edit(V1, name="b").read(V2) == {"owner": {"name": "b", "team": "t"}}


@HUBS
def test_an_object_that_the_other_version_removes(install, hub):
    scheme = install(OWNED, hooked(V1, V2, OneOwner, **OWNS), hub=hub)
    store = Store(scheme).put(V2, owner={"name": "a", "team": "t"}, note="n")
    assert store.edit(V1, name=None).read(V2) == {"note": "n"}


class Owners:
    def assign_to(self, source):
        names = source.names
        return {"owners": ABSENT if names is ABSENT else [{"name": each} for each in names]}

    def assign_from(self, source):
        owners = source.owners
        return {"names": ABSENT if owners is ABSENT else [each.name for each in owners]}


@HUBS
def test_objects_in_a_list(install, hub):
    versions = {
        V1: {"Thing": {"names": "[string]"}},
        V2: {"Thing": {"owners": "[Owner;name]"}, "Owner": {"name!": "string", "team": "string"}},
    }
    hook = hooked(V1, V2, Owners, to=(("names",), ("owners",)), back=(("owners",), ("names",)))
    store = Store(install(versions, hook, hub=hub))
    store.put(V2, owners=[{"name": "a", "team": "t"}, {"name": "b", "team": "u"}])
    assert store.edit(V1, names=["c", "b"]).read(V2) == {
        "owners": [{"name": "c"}, {"name": "b", "team": "u"}]
    }


class Named:
    def assign_to(self, source):
        return {"by": {source.key: {"name": source.name}}}

    def assign_from(self, source):
        ((key, owner),) = list(source.by.items())[:1]
        return {"key": key, "name": owner.name}


@HUBS
def test_objects_in_a_map(install, hub):
    versions = {
        V1: {"Thing": {"key!": "string", "name!": "string"}},
        V2: {"Thing": {"by!": "{Owner}"}, "Owner": {"name!": "string", "team": "string"}},
    }
    hook = hooked(V1, V2, Named, to=(("key", "name"), ("by",)), back=(("by",), ("key", "name")))
    store = Store(install(versions, hook, hub=hub))
    store.put(V2, by={"k": {"name": "a", "team": "t"}, "l": {"name": "b", "team": "u"}})
    assert store.edit(V1, name="c").read(V2) == {
        "by": {"k": {"name": "c", "team": "t"}, "l": {"name": "b", "team": "u"}}
    }


class Limits:
    """One of the elements of a list, and of the members of a map, is what the older version has a number for."""

    def assign_to(self, source):
        return {"rules": [{"of": "cpu", "most": source.cpu}], "by": {"cpu": source.cpu}}

    def assign_from(self, source):
        rules = [] if source.rules is ABSENT else source.rules
        found = [each.most for each in rules if each.of == "cpu"]
        return {"cpu": found[0] if found else ABSENT}


LIMITS = {
    V1: {"Thing": {"cpu": "integer"}},
    V2: {
        "Thing": {"rules": "[Rule]", "by": "{integer}"},
        "Rule": {"of": "string", "most": "integer"},
    },
}
HAS_LIMITS = {"to": (("cpu",), ("rules", "by")), "back": (("rules",), ("cpu",))}


@HUBS
@pytest.mark.parametrize("keys", ["", ";of"])
def test_what_the_other_version_adds_to_lists_and_maps_of_which_it_is_shown_nothing(
    install, hub, keys
):
    versions = {
        **LIMITS,
        V2: {**LIMITS[V2], "Thing": {"rules": f"[Rule{keys}]", "by": "{integer}"}},
    }
    store = Store(install(versions, hooked(V1, V2, Limits, **HAS_LIMITS), hub=hub))
    store.put(V2, rules=[{"of": "disk", "most": 1}, {"of": "net", "most": 2}], by={"disk": 1})
    assert store.read(V1) == {}
    assert store.edit(V1, cpu=5).read(V2) == {
        "rules": [{"of": "cpu", "most": 5}, {"of": "disk", "most": 1}, {"of": "net", "most": 2}],
        "by": {"cpu": 5, "disk": 1},
    }
    assert store.read(V1) == {"cpu": 5}
    assert store.edit(V1, cpu=6).read(V2)["rules"][1:] == [
        {"of": "disk", "most": 1},
        {"of": "net", "most": 2},
    ]


class Parts:
    """Texts among others: those of which `name` is the first, or the value of the key `name`."""

    def assign_to(self, source):
        name = source.name
        return {
            "texts": [name],
            "by": {"name": name},
            "free": free_form({"name": name, "more": [name]}),
        }

    def assign_from(self, source):
        return {"name": source.by["name"]}


PARTS = {
    V1: {"Thing": {"name!": "string"}},
    V2: {"Thing": {"texts!": "[string]", "by!": "{string}", "free!": "any"}},
}
HAS_PARTS = {"to": (("name",), ("texts", "by", "free")), "back": (("by",), ("name",))}


@HUBS
def test_parts_of_lists_maps_and_free_form_data(install, hub):
    store = Store(install(PARTS, hooked(V1, V2, Parts, **HAS_PARTS), hub=hub))
    store.put(
        V2,
        texts=["a", "b"],
        by={"name": "a", "b": "c"},
        free={"name": "a", "more": ["a", "b"], "rest": {"b": 1}},
    )
    assert store.edit(V1, name="d").read(V2) == {
        "texts": ["d", "b"],
        "by": {"name": "d", "b": "c"},
        "free": {"name": "d", "more": ["d", "b"], "rest": {"b": 1}},
    }


class Plain(Parts):
    def assign_to(self, source):
        return {**super().assign_to(source), "free": {"name": source.name}}


def test_free_form_data_is_no_dictionary(install):
    scheme = install(PARTS, hooked(V1, V2, Plain, **HAS_PARTS), hub=V1)
    store = Store(scheme).put(V1, name="a")
    with pytest.raises(HookError, match=r"free-form data as .*free_form\(value\).* for 'free'"):
        store.read(V2)


class Ranked:
    """Writes a member that the other method does not give back."""

    def assign_to(self, source):
        return {"owner": {"name": source.name, "team": source.rank}}

    def assign_from(self, source):
        return {"name": one_thing(source.owner)}


def test_an_object_of_which_the_way_back_is_not_all_is_made_anew(install):
    """What the hook wrote before cannot be found out, so that a member may be stale."""
    versions = {
        V1: {"Thing": {"name": "string", "rank": "string"}},
        V2: {"Thing": {"owner": "Owner"}, **OWNER},
    }
    hook = hooked(V1, V2, Ranked, to=(("name", "rank"), ("owner",)), back=(("owner",), ("name",)))
    store = Store(install(versions, hook, hub=V1))
    store.put(V1, name="a", rank="r").edit(V2, owner={"name": "a", "team": "r", "at": {}})
    assert store.edit(V1, rank="s").read(V2) == {"owner": {"name": "a", "team": "s"}}


class Unranked:
    """Writes a member of what the other method declares, and never gives back."""

    def assign_to(self, source):
        return {"owner": {"name": source.name, "team": source.rank}}

    def assign_from(self, source):
        return {"name": source.owner.name, "rank": ABSENT}


def test_an_object_of_which_the_way_back_gave_less_is_made_anew(install):
    """The stored object had a rank that the other version has not written: what the hook wrote of it went with it."""
    versions = {
        V1: {"Thing": {"name": "string", "rank": "string"}},
        V2: {"Thing": {"owner": "Owner"}, **OWNER},
    }
    both = ("name", "rank")
    hook = hooked(V1, V2, Unranked, to=(both, ("owner",)), back=(("owner",), both))
    store = Store(install(versions, hook, hub=V1))
    store.put(V1, name="a", rank="r").edit(V2, owner={"name": "a", "team": "r", "at": {}})
    assert store.read(V1) == {"name": "a", "rank": "r"}
    assert store.edit(V1, rank=None).read(V2) == {"owner": {"name": "a"}}


class Strict:
    """Refuses a name that it gives itself, and an object without a city, each in one of its methods."""

    def assign_to(self, source):
        if source.name == "":
            raise ValueError("no name")
        return {"owner": {"name": source.name}}

    def assign_from(self, source):
        if source.owner.at is not ABSENT and source.owner.at.city is ABSENT:
            raise ValueError("no city")
        return {"name": "" if source.owner.name is ABSENT else source.owner.name}


def test_what_a_hook_refuses_of_an_entry_is_made_anew(install):
    scheme = install(OWNED, hooked(V1, V2, Strict, **OWNS), hub=V1)
    store = Store(scheme).put(V2, owner={"team": "t"})
    assert store.read(V1) == {"name": ""}
    assert store.edit(V1, name="b").read(V2) == {"owner": {"name": "b"}}
    store.put(V2, owner={"name": "a", "at": {"city": "c"}}).edit(V1, name="b")
    entry = store.stored["$propertyBag"]["owner"][V2]
    for odd in ({"name": "a", "at": {}}, {"name": 1}):  # as another release wrote it, or damaged
        entry["value"] = odd
        assert store.read(V2) == {"owner": {"name": "b"}}


class TwoOwners:
    def assign_to(self, source):
        first, _, second = source.names.partition(" ")
        return {"first": {"name": first}, "second": {"name": second}}

    def assign_from(self, source):
        return {"names": f"{one_thing(source.first)} {one_thing(source.second)}"}


@HUBS
def test_several_objects_that_one_call_makes(install, hub):
    versions = {
        V1: {"Thing": {"names!": "string"}},
        V2: {"Thing": {"first!": "Owner", "second!": "Owner"}, **OWNER},
    }
    hook = hooked(
        V1,
        V2,
        TwoOwners,
        to=(("names",), ("first", "second")),
        back=(("first", "second"), ("names",)),
    )
    store = Store(install(versions, hook, hub=hub))
    store.put(V2, first={"name": "a", "team": "t"}, second={"name": "b", "team": "u"})
    assert store.edit(V1, names="a c").read(V2) == {
        "first": {"name": "a", "team": "t"},
        "second": {"name": "c", "team": "u"},
    }
    stale = Store(store.scheme, store.stored).edit(V2, first={"name": "d", "team": "v"})
    assert stale.read(V1) == {"names": "d c"}
    assert stale.read(V2)["second"] == {"name": "c", "team": "u"}


class SomeOwners(TwoOwners):
    def assign_from(self, source):
        first, second = one_thing(source.first), one_thing(source.second)
        return {"names": f"{'' if first is ABSENT else first} {'' if second is ABSENT else second}"}


@HUBS
def test_an_object_that_stays_where_another_one_of_the_call_is_edited(install, hub):
    """What the first object keeps follows from entries of both, of which the edit changes the second."""
    versions = {
        V1: {"Thing": {"names": "string"}},
        V2: {"Thing": {"first": "Owner", "second": "Owner"}, **OWNER},
    }
    both = ("first", "second")
    hook = hooked(V1, V2, SomeOwners, to=(("names",), both), back=(both, ("names",)))
    store = Store(install(versions, hook, hub=hub))
    store.put(V2, first={"name": "b", "team": "t"}, second={"name": ""}).edit(V1, names="a c")
    written = {"first": {"name": "a", "team": "t"}, "second": {"name": "c", "team": "u"}}
    assert store.edit(V2, second=written["second"]).read(V2) == written
    assert store.put(V2, first={"name": "a"}).edit(V1, names="b ").read(V2) == {
        "first": {"name": "b"}  # the second one was not there before either
    }


THREE = {
    **OWNED,
    V3: {
        "Thing": {"holder": "Owner", "note": "string"},
        "Owner": {"name": "string", "group": "string", "at": "At"},
        "At": {"town": "string"},
    },
}
RENAMES = (
    rules(V2, rename={"owner": "holder"}),
    rules(V2, "Owner", rename={"team": "group"}),
    rules(V2, "At", rename={"city": "town"}),
)


@pytest.mark.parametrize("hub", [V1, V2, V3])
def test_an_object_of_a_version_further_on(install, hub):
    scheme = install(THREE, hooked(V1, V2, OneOwner, **OWNS), *RENAMES, hub=hub)
    store = Store(scheme).put(V3, holder={"name": "a", "group": "t", "at": {"town": "c"}})
    store.edit(V1, name="b")
    assert store.read(V3) == {"holder": {"name": "b", "group": "t", "at": {"town": "c"}}}
    store.edit(V2, owner={"name": "b", "team": "u", "at": {"city": "c"}}).edit(V1, name="d")
    assert store.read(V3) == {"holder": {"name": "d", "group": "u", "at": {"town": "c"}}}


def test_an_object_that_is_rolled_forward(install):
    hook = hooked(V1, V2, OneOwner, **OWNS)
    early, late = install(OWNED, hook, hub=V1), install(OWNED, hook, hub=V2)
    store = Store(early).put(V2, owner={"name": "a", "team": "t"}).edit(V1, name="b")
    stored = json.loads(late.encode(late.decode(json.dumps(store.stored).encode())))
    rolled = late.put(V1, late.read(V1, stored), stored)
    assert late.read(V2, rolled)["owner"] == {"name": "b", "team": "t"}


NAMES = st.sampled_from(["", "a", "b"])


@pytest.mark.parametrize("hub", [V1, V2, V3])
def test_edits_of_all_versions_against_plain_data(install, hub):
    """The model has one name, team and city; who removes the name from V1 removes the object."""
    scheme = install(THREE, hooked(V1, V2, OneOwner, **OWNS), *RENAMES, hub=hub)

    @verify.some_examples(amount(100))
    @given(
        first=st.fixed_dictionaries({"name": NAMES}, optional={"team": NAMES, "city": NAMES}),
        edits=st.lists(
            st.tuples(st.sampled_from([V1, V2, V3]), NAMES, st.none() | NAMES, st.none() | NAMES),
            max_size=5,
        ),
    )
    def check(first, edits):
        model = dict(first)
        store = Store(scheme).put(V2, owner=as_owner(model, V2))
        for version, name, team, city in edits:
            model["name"] = name
            if version == V1:
                store.edit(V1, name=name)
            else:
                model = {"name": name, "team": team, "city": city}
                model = {key: each for key, each in model.items() if each is not None}
                store.edit(version, **{HOLDERS[version]: as_owner(model, version)})
            assert store.read(V1) == {"name": name}
            for other in (V2, V3):
                assert store.read(other) == {HOLDERS[other]: as_owner(model, other)}

    check()


HOLDERS = {V2: "owner", V3: "holder"}


def as_owner(model, version):
    team, city = ("team", "city") if version == V2 else ("group", "town")
    found = {"name": model["name"]}
    if "team" in model:
        found[team] = model["team"]
    if "city" in model:
        found["at"] = {city: model["city"]}
    return found


@pytest.mark.parametrize("hub", [V1, V2, V3])
def test_all_laws(install, hub):
    scheme = install(THREE, hooked(V1, V2, OneOwner, **OWNS), *RENAMES, hub=hub)
    prove(scheme, "Thing", hooks=True, hooked={"name", "owner", "holder"})


class Increased:
    def assign_to(self, source):
        return {"b": ABSENT if source.a is ABSENT else source.a + 1}

    def assign_from(self, source):
        return {"a": ABSENT if source.b is ABSENT else source.b - 1}


class NamedOwner:
    def assign_to(self, source):
        return {"b": ABSENT if source.a is ABSENT else {"name": source.a}}

    def assign_from(self, source):
        return {"a": one_thing(source.b)}


@pytest.mark.parametrize("hub", [V1, V2, V3])
@pytest.mark.parametrize(
    ("hook", "read", "made", "first", "required"),
    [
        (Increased, "integer", "integer", 5, 0),
        (NamedOwner, "string", "Owner", {"name": "n"}, {}),
    ],
)
def test_an_edit_beside_what_a_version_shows_because_it_requires_it_gives_it_to_no_other(
    install, hub, hook, read, made, first, required
):
    """The entry of what the version wrote first is stale; that it is there changes nothing."""
    versions = {
        V1: {"Thing": {"a": read}, **OWNER},
        V2: {"Thing": {"b!": made, "note": "string"}, **OWNER},
        V3: {"Thing": {"b": made, "note": "string"}, **OWNER},
    }
    scheme = install(
        versions, hooked(V1, V2, hook, to=(("a",), ("b",)), back=(("b",), ("a",))), hub=hub
    )
    store = Store(scheme).put(V2, b=first).edit(V1, a=None)
    assert store.read(V2) == {"b": required}
    store.edit(V2, note="n")
    assert store.read(V2) == {"b": required, "note": "n"}
    assert [store.read(V1), store.read(V3)] == [{}, {"note": "n"}]
