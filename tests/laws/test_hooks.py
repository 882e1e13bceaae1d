"""What hooks own, and in which order they run."""

import json

import pytest
from evolving import Store, evolve, forget, hooked, rules

from trundle.evolution import ChangeError
from trundle.runtime import ABSENT, HookError
from trundle.verify import LawBroken, law3

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"
CALLS = []


@pytest.fixture
def install():
    made = []

    def install(versions, *more, **options):
        made.append(evolve(versions, *more, **options))
        return made[-1]

    yield install
    for scheme in made:
        forget(scheme)


def thing(version, **properties):
    return {"apiVersion": version, "kind": "Thing", **properties}


def read(scheme, stored, version):
    return json.loads(scheme.encode(scheme.from_storage(stored, version)))


class Drops:
    def assign_to(self, source):
        return {"b": source.a, "note": ABSENT}


def test_what_a_hook_leaves_absent_is_absent(install):
    scheme = install(
        {
            V1: {"Thing": {"a": "string", "note": "string"}},
            V2: {"Thing": {"b": "string", "note": "string"}},
        },
        hooked(V1, V2, Drops, to=(("a", "note"), ("b", "note"))),
    )
    document = thing(V1, a="x", note="n")
    assert scheme.convert(document, V2) == thing(V2, b="x")
    assert read(scheme, scheme.to_storage(document), V1) == document


class Owner:
    def assign_to(self, source):
        part = {"l": source.o.p.l} if source.o is not ABSENT and source.o.p is not ABSENT else {}
        return {"o": {"p": {**part, "new_x": source.x}}}

    def assign_from(self, source):
        part = source.o.p
        return {"x": part.new_x, "o": {"p": {"l": part.l}}}


OWNED = {
    V1: {
        "Thing": {"x": "integer", "o": "O"},
        "O": {"p": "P"},
        "P": {"k": "integer", "l": "integer"},
    },
    V2: {"Thing": {"o": "O"}, "O": {"p": "P"}, "P": {"l": "integer", "newX": "integer"}},
}
OWNER = (("x", "o"), ("o",)), (("o",), ("x", "o"))


def test_an_edit_keeps_what_the_other_side_has_inside_of_an_object_that_a_hook_owns(install):
    to, back = OWNER
    scheme = install(OWNED, hooked(V1, V2, Owner, to=to, back=back))
    stored = scheme.to_storage(thing(V1, x=1, o={"p": {"k": 7, "l": 2}}))
    seen = read(scheme, stored, V2)
    assert seen == thing(V2, o={"p": {"l": 2, "newX": 1}})
    seen["o"]["p"]["l"] = 3
    edited = scheme.to_storage(seen, stored)
    assert read(scheme, edited, V1) == thing(V1, x=1, o={"p": {"k": 7, "l": 3}})


class OwnsOnTheWayUp:
    def assign_to(self, source):
        part = ABSENT if source.o is ABSENT else source.o.p
        return {"o": {"p": {"l": ABSENT if part is ABSENT else part.l, "new_x": source.x}}}

    def assign_from(self, source):
        return {"x": ABSENT if source.o.p is ABSENT else source.o.p.new_x}


@pytest.mark.parametrize("hub", ["", V1])
def test_an_edit_keeps_what_is_inside_of_an_object_that_a_hook_owns_on_one_way_only(install, hub):
    to, back = (("x", "o"), ("o",)), (("o",), ("x",))
    scheme = install(OWNED, hooked(V1, V2, OwnsOnTheWayUp, to=to, back=back), hub=hub)
    stored = scheme.to_storage(thing(V1, x=1, o={"p": {"k": 7, "l": 2}}))
    seen = read(scheme, stored, V2)
    assert seen == thing(V2, o={"p": {"l": 2, "newX": 1}})
    seen["o"]["p"] = {"l": 3, "newX": 4}
    edited = scheme.to_storage(seen, stored)
    assert read(scheme, edited, V1) == thing(V1, x=4, o={"p": {"k": 7, "l": 3}})


class Wrong:
    def assign_to(self, source):
        return {"o": {"p": {"newX": 1}}}


def test_a_nested_dictionary_has_the_attributes_of_its_class(install):
    scheme = install(OWNED, hooked(V1, V2, Wrong, to=(("x",), ("o",))))
    with pytest.raises(HookError, match=r"P has no attribute .newX., but l, new_x"):
        scheme.convert(thing(V1, x=1), V2)


class Named:
    def assign_to(self, source):
        return {"b": source.a}

    def assign_from(self, source):
        return {"a": source.b}


class Renamed:
    def assign_to(self, source):
        return {"c": source.b, "d": source.b}

    def assign_from(self, source):
        return {"b": source.c}


@pytest.mark.parametrize("hub", [V1, V2, V3])
def test_a_hook_reads_what_another_one_wrote(install, hub):
    scheme = install(
        {
            V1: {"Thing": {"a": "string"}},
            V2: {"Thing": {"b": "string"}},
            V3: {"Thing": {"c": "string", "d": "string"}},
        },
        hooked(V1, V2, Named, to=(("a",), ("b",)), back=(("b",), ("a",))),
        hooked(V2, V3, Renamed, to=(("b",), ("c", "d")), back=(("c",), ("b",))),
        hub=hub,
    )
    store = Store(scheme).put(V1, a="x")
    assert [store.read(each) for each in (V1, V2, V3)] == [
        {"a": "x"},
        {"b": "x"},
        {"c": "x", "d": "x"},
    ]
    store.edit(V3, c="y")
    assert [store.read(each) for each in (V1, V2, V3)] == [
        {"a": "y"},
        {"b": "y"},
        {"c": "y", "d": "x"},
    ]


class Inner:
    def assign_to(self, source):
        CALLS.append("inner")
        return {"b": source.a}


class Outer:
    def assign_to(self, source):
        CALLS.append("outer")
        return {"a": source.z}


def test_the_hook_of_a_type_runs_after_those_of_what_is_inside(install):
    scheme = install(
        {
            V1: {"Thing": {"z": "string", "o": "O"}, "O": {"a": "string"}},
            V2: {"Thing": {"a": "string", "o": "O"}, "O": {"b": "string"}},
        },
        hooked(V1, V2, Outer, to=(("z",), ("a",))),
        hooked(V1, V2, Inner, "O", to=(("a",), ("b",))),
    )
    CALLS.clear()
    assert scheme.convert(thing(V1, z="z", o={"a": "a"}), V2) == thing(V2, a="z", o={"b": "a"})
    assert CALLS == ["inner", "outer"]


class Reaches:
    def assign_to(self, source):
        size = source.spec__size
        return {"rollout__limits__max": ABSENT if size is ABSENT else size * source.factor}

    def assign_from(self, source):
        return {"spec__size": source.rollout__limits__max // 10, "factor": 10}


REACHED = {
    V1: {
        "Thing": {"factor": "integer", "spec": "Spec"},
        "Spec": {"size": "integer", "k": "string"},
    },
    V2: {
        "Thing": {"rollout": "Rollout", "spec": "Spec"},
        "Rollout": {"limits": "Limits", "z": "string"},
        "Limits": {"max": "integer", "min": "integer"},
        "Spec": {"k": "string"},
    },
}
REACHES = (
    (("factor", "spec.size"), ("rollout.limits.max",)),
    (
        ("rollout.limits.max",),
        ("factor", "spec.size"),
    ),
)


def test_a_hook_owns_single_properties_inside_of_objects(install):
    to, back = REACHES
    scheme = install(REACHED, hooked(V1, V2, Reaches, to=to, back=back))
    document = thing(V1, factor=3, spec={"k": "a", "size": 2})
    assert scheme.convert(document, V2) == thing(
        V2, rollout={"limits": {"max": 6}}, spec={"k": "a"}
    )
    stored = scheme.to_storage(document)
    assert read(scheme, stored, V1) == document
    seen = read(scheme, stored, V2)
    seen["rollout"] = {"limits": {"max": 40, "min": 1}, "z": "z"}
    edited = scheme.to_storage(seen, stored)
    assert read(scheme, edited, V1) == thing(V1, factor=10, spec={"k": "a", "size": 4})
    assert read(scheme, edited, V2) == seen
    assert read(scheme, scheme.to_storage(read(scheme, edited, V1), edited), V2) == seen


class Paused:
    """A property of the older side that an annotation of the newer side stands for."""

    def assign_to(self, source):
        labels = {} if source.metadata is ABSENT else source.metadata.get("labels", {})
        return {"tier": labels.get("tier", "none")}

    def assign_from(self, source):
        CALLS.append(source)
        if source.metadata is ABSENT:
            return {}
        text = source.metadata.get("annotations", {}).get("example.com/paused", ABSENT)
        source.metadata["annotations"] = "a copy"
        return {"paused": ABSENT if text is ABSENT else text == "true"}


ANNOTATED = {
    V1: {"Thing": {"paused": "boolean", "n": "integer", "x": "string", "y": "string"}},
    V2: {"Thing": {"tier": "string", "n": "integer", "x": "string", "y": "string"}},
}
PAUSED = hooked(
    V1, V2, Paused, to=(("metadata",), ("tier",)), back=(("metadata", "n"), ("paused",))
)


def described(count, **annotations):
    named = {name.replace("_", "/"): text for name, text in annotations.items()}
    return {"name": "t", "resourceVersion": str(count), "annotations": named}


PAUSE = {"example.com_paused": "true"}


@pytest.mark.parametrize("hub", [V1, V2])
def test_a_hook_reads_metadata_as_plain_data(install, hub):
    scheme = install(ANNOTATED, PAUSED, hub=hub)
    metadata = {**described(1, **PAUSE), "labels": {"tier": "front"}}
    older = scheme.convert(thing(V2, n=1, metadata=metadata), V1)
    assert older == thing(V1, n=1, paused=True, metadata=metadata)
    assert scheme.convert(thing(V1, metadata=metadata), V2)["tier"] == "front"
    CALLS.clear()
    assert scheme.convert(thing(V2, metadata=metadata), V1) == thing(V1, metadata=metadata)
    assert CALLS == []  # all that it reads beside metadata is absent


@pytest.mark.parametrize("hub", [V1, V2])
def test_a_hook_is_asked_again_when_it_says_another_thing_of_metadata(install, hub):
    scheme = install(ANNOTATED, PAUSED, hub=hub)
    store = Store(scheme).put(V1, n=1, paused=False, metadata=described(1))
    store.edit(V2, metadata=described(2, other="a"))
    assert store.read(V1) == {"n": 1, "paused": False, "metadata": described(2, other="a")}
    store.edit(V2, metadata=described(3, **PAUSE))
    assert store.read(V1)["paused"] is True
    before = store.stored
    assert store.put(V1, **store.read(V1)).stored == before
    assert store.put(V2, **store.read(V2)).stored == before


def test_the_quick_way_sees_that_a_hook_reads_metadata(install):
    scheme = install(ANNOTATED, PAUSED)
    metadata = {**described(1), "labels": {"tier": "front"}}
    base = scheme.convert_json(json.dumps(thing(V1, x="x", y="y", metadata=metadata)).encode())
    metadata["labels"]["tier"] = "back"
    data = json.dumps(thing(V1, x="x", y="y", metadata=metadata)).encode()
    put = scheme._puts.put(data, base)
    assert put is not None
    assert json.loads(put)["tier"] == "back"
    assert put == scheme.put(V1, data, base)
    assert put == scheme.encode(scheme.to_storage(scheme.decode(data), scheme.decode(base)))


def test_metadata_that_a_straight_conversion_reads(install):
    scheme = install(ANNOTATED, PAUSED)
    data = json.dumps(thing(V2, n=1, metadata=described(1, **PAUSE))).encode()
    assert json.loads(scheme.convert_json(data, V1)) == scheme.convert(json.loads(data), V1)


@pytest.mark.parametrize("hub", [V2, V3])
def test_a_hook_that_reads_metadata_alone_stands_between_its_neighbours(install, hub):
    last = {"tier": "integer", "n": "integer", "x": "string", "y": "string"}
    scheme = install({**ANNOTATED, V3: {"Thing": last}}, PAUSED, hub=hub)
    metadata = {**described(1), "labels": {"tier": "front"}}
    assert scheme.convert(thing(V3, metadata=metadata), V2) == thing(V2, metadata=metadata)
    stored = scheme.to_storage(thing(V1, metadata=metadata))
    assert read(scheme, stored, V2) == thing(V2, tier="front", metadata=metadata)


def test_hooks_do_not_write_metadata(install):
    with pytest.raises(
        ChangeError, match=r"declares 'metadata', which Thing of 2021-01-01 does not"
    ):
        install(ANNOTATED, hooked(V1, V2, Paused, to=(("metadata",), ("metadata",))))


class Constant:
    """Makes an object of anything, and a text of any object."""

    def assign_to(self, source):
        return {"o": {"x": "made"}}

    def assign_from(self, source):
        return {"a": "back"}


MADE = {
    V1: {"Thing": {"a": "string", "c": "string"}},
    V2: {"Thing": {"o": "O"}, "O": {"x": "string", "y": "string"}},
}


CONSTANT = hooked(V1, V2, Constant, to=(("a", "c"), ("o",)), back=(("o",), ("a",)))


@pytest.mark.parametrize(
    ("hub", "own", "edited", "seen"),
    [
        (V1, thing(V2, o={"x": "own"}), thing(V1, a="2"), thing(V2, o={"x": "made"})),
        (V2, thing(V1, a="own"), thing(V2, o={"x": "2"}), thing(V1, a="back")),
    ],
    ids=["an object", "a text"],
)
def test_law_3_lets_a_hook_say_anew_what_stood_beside_what_was_edited(
    install, hub, own, edited, seen
):
    scheme = install(MADE, CONSTANT, hub=hub)
    stored = scheme.put(None, own)
    assert scheme.read(own["apiVersion"], stored) == own
    written = scheme.put(None, edited, stored)
    assert scheme.read(own["apiVersion"], written) == seen
    law3(
        scheme,
        *(scheme.decode(json.dumps(each).encode()) for each in (stored, edited)),
        hooks=True,
        hooked={"a", "o"},
    )


class Fills(Constant):
    def assign_to(self, source):
        return {"o": {"x": source.a}}

    def assign_from(self, source):
        return {"a": ABSENT if source.o is ABSENT else source.o.x}


@pytest.mark.parametrize(
    ("hub", "reads", "left"),
    [
        (V1, ("a",), {"x": "2", "y": "y"}),
        (V1, ("a", "c"), {"x": "2"}),
        (V2, ("a", "c"), {"x": "2", "y": "y"}),
    ],
)
def test_law_3_sees_what_an_object_loses_that_a_hook_makes_anew(install, hub, reads, left):
    """Where the version without such an object is stored, its edit leaves the rest of it in a stale entry.

    What the hook wrote before is not to be found out where its other method does not write all that it reads.
    """
    scheme = install(
        MADE, hooked(V1, V2, Fills, to=(reads, ("o",)), back=(("o",), ("a",))), hub=hub
    )
    stored = scheme.put(V2, thing(V2, o={"x": "1", "y": "y"}))
    assert scheme.read(V2, scheme.put(V1, thing(V1, a="2"), stored)) == thing(V2, o=left)
    edit = [scheme.decode(json.dumps(each).encode()) for each in (stored, thing(V1, a="2"))]
    if "y" in left:
        law3(scheme, *edit, hooks=True, hooked={"a", "o"})
    else:
        with pytest.raises(LawBroken, match=r"\$\.o\.y"):
            law3(scheme, *edit, hooks=True, hooked={"a", "o"})


class Unrelated:
    def assign_to(self, source):
        return {"h": source.g}

    def assign_from(self, source):
        return {"g": source.h}


class Forgetful:
    """A scheme whose writes drop all bags within what is stored."""

    def __init__(self, scheme):
        self.scheme = scheme

    def __getattr__(self, name):
        return getattr(self.scheme, name)

    def to_storage(self, value, base=None):
        found = self.scheme.to_storage(value, base)
        if base is None:
            return found
        tree = json.loads(self.scheme.encode(found))
        tree["n"]["m"].pop("$propertyBag")
        return self.scheme.decode(json.dumps(tree).encode())


def test_law_3_sees_what_is_lost_beside_what_hooks_write(install):
    """That a version shows again what converting alone gives is no excuse where no hook writes it."""
    inner = {"N": {"m": "M"}, "M": {"k": "K"}}
    scheme = install(
        {
            V1: {"Thing": {"q": "string", "g": "string", "n": "N"}, **inner, "K": ["x", "y"]},
            V2: {"Thing": {"q": "string", "h": "string", "n": "N"}, **inner, "K": ["X", "Y"]},
        },
        rules(V1, "M", values={"k": {"x": "X", "y": "X"}}),
        hooked(V1, V2, Unrelated, to=(("g",), ("h",)), back=(("h",), ("g",))),
        hub=V2,
    )
    stored = scheme.put(V1, thing(V1, q="1", n={"m": {"k": "y"}}))
    assert scheme.read(V1, stored)["n"] == {"m": {"k": "y"}}
    edit = [
        scheme.decode(json.dumps(each).encode())
        for each in (stored, {**scheme.read(V2, stored), "q": "2"})
    ]
    law3(scheme, *edit, hooks=True, hooked={"g", "h"})
    with pytest.raises(LawBroken, match=r"\$\.n\.m\.k"):
        law3(Forgetful(scheme), *edit, hooks=True, hooked={"g", "h"})


class Single:
    def assign_to(self, source):
        return {"o__x": source.a}

    def assign_from(self, source):
        return {"a": source.o__x}


@pytest.mark.parametrize("hub", [V1, V2])
def test_a_hook_that_writes_a_single_property_keeps_the_rest_of_an_object(install, hub):
    hook = hooked(V1, V2, Single, to=(("a",), ("o.x",)), back=(("o.x",), ("a",)))
    store = Store(install(MADE, hook, hub=hub)).put(V2, o={"x": "1", "y": "y"})
    assert store.edit(V1, a="2").read(V2) == {"o": {"x": "2", "y": "y"}}


class FilledZone:
    def assign_to(self, source):
        return {"area": source.zone or ABSENT}

    def assign_from(self, source):
        return {"zone": source.area}


class Kilobytes:
    def convert_string_to_integer(self, value):
        return int(value[:-1]) if value.endswith("k") else ABSENT

    def convert_integer_to_string(self, value):
        return f"{value}k"


@pytest.mark.parametrize("hub", [V1, V2])
def test_empty_text_that_a_hook_takes_for_absent_comes_back(install, hub):
    versions = {
        V1: {"Thing": {"zone": "string", "b": "string"}},
        V2: {"Thing": {"area": "string", "b": "string"}},
    }
    ways = {"to": (("zone",), ("area",)), "back": (("area",), ("zone",))}
    store = Store(install(versions, hooked(V1, V2, FilledZone, **ways), hub=hub))
    store.put(V1, zone="", b="x")
    assert store.read(V2) == {"b": "x"}
    assert store.edit(V2, b="y").read(V1) == {"zone": "", "b": "y"}
    assert store.edit(V2, area="a").read(V1) == {"zone": "a", "b": "y"}
    assert store.edit(V1, zone="").read(V2) == {"b": "y"}
    assert store.read(V1) == {"zone": "", "b": "y"}


@pytest.mark.parametrize("hub", [V1, V2])
def test_a_value_for_which_a_converter_has_no_counterpart_is_kept(install, hub):
    versions = {
        V1: {"Thing": {"size": "string", "b": "string"}},
        V2: {"Thing": {"size": "integer", "b": "string"}},
    }
    store = Store(install(versions, hooked(V1, V2, Kilobytes), hub=hub))
    assert store.put(V1, size="big").read(V2) == {}
    assert store.edit(V2, b="x").read(V1) == {"size": "big", "b": "x"}
    assert store.edit(V2, size=5).read(V1) == {"size": "5k", "b": "x"}


class Lacking:
    def assign_to(self, source):
        name = "absent" if source.name is ABSENT else repr(source.name)
        return {"seen": f"{name} {source.owner.name!r}"}


class LackingAlone:
    def assign_to(self, source):
        names = (source.name, source.owner__name)
        return {"seen": " ".join("absent" if each is ABSENT else each for each in names)}


@pytest.mark.parametrize("hub", [V1, V2, V3])
@pytest.mark.parametrize(
    ("hook", "reads", "seen"),
    [
        (Lacking, ("name", "owner"), "absent ''"),
        (LackingAlone, ("name", "note", "owner.name"), "absent absent"),
    ],
)
def test_a_hook_is_given_what_the_types_of_its_record_say_of_what_is_required(
    install, hub, hook, reads, seen
):
    """No name is stored: an attribute of the record may be absent, one of a version's class may not."""
    note, owner = {"note": "string"}, {"Owner": {"name": "string"}}
    versions = {
        V1: {"Thing": {"owner": "Owner", "name": "string", **note}, **owner},
        V2: {
            "Thing": {"owner": "Owner", "name!": "string", **note},
            "Owner": {"name!": "string"},
        },
        V3: {"Thing": {"owner": "Owner", "name": "string", "seen": "string", **note}, **owner},
    }
    declared = hooked(V2, V3, hook, to=(reads, ("seen",)))
    store = Store(install(versions, declared, hub=hub)).put(V1, owner={}, note="n")
    assert store.read(V2) == {"owner": {"name": ""}, "name": "", "note": "n"}
    assert store.read(V3) == {"owner": {}, "seen": seen, "note": "n"}
