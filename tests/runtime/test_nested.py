from trundle.runtime import (
    ABSENT,
    Absent,
    PropertyBag,
    StorageObject,
    is_there,
    null_presence,
    opened,
    presence,
    said,
    solid,
    stash,
    stripped,
)
from trundle.runtime._bag import MISSING, NoEntry
from trundle.runtime._entries import Entry, MadeEntry
from trundle.runtime._marks import written_over
from trundle.runtime._merge import merge
from trundle.runtime._objects import Hollow


class Kept(StorageObject):
    property_bag: PropertyBag | Absent = ABSENT


class Spec(Kept):
    size: int | None = ABSENT
    name: str = ABSENT


class Required(Kept, kw_only=True):
    spec: Spec
    size: int


class Holder(Kept):
    spec: Spec = ABSENT


class Thing(Kept):
    template: Required = ABSENT


WAY = (("template", Required, {"size": 3}), ("spec", Spec, None))


def put_inside(target, way, attribute, value, default=ABSENT, *, over=False):
    """Puts a value into a nested object as generated code does."""
    if value is ABSENT:
        seen = target
        for name, _, _ in way:
            seen = getattr(seen, name)
            if default is ABSENT or not is_there(seen):
                return
        value = default
    for name, class_, shown in way:
        inner = opened(getattr(target, name), class_, shown, over=over)
        setattr(target, name, inner)
        target = inner
    setattr(target, attribute, value)


def test_a_value_makes_the_objects_on_its_way_with_what_they_show_anyhow():
    thing = Thing()
    put_inside(thing, WAY, "name", "x")
    assert (thing.template.spec.name, thing.template.size) == ("x", 3)


def test_an_absent_value_makes_nothing_but_a_default_shows_in_what_is_there():
    thing = Thing()
    put_inside(thing, WAY, "name", ABSENT, "none")
    assert thing.template is ABSENT
    thing.template = Required(spec=Spec(), size=1)
    put_inside(thing, WAY, "name", ABSENT, "none")
    assert thing.template.spec.name == "none"


def test_what_a_value_is_put_into_is_not_shared():
    shared = Required(spec=Spec(), size=1)
    thing = Thing(template=shared)
    put_inside(thing, WAY, "name", "x")
    assert shared.spec.name is ABSENT


def test_an_object_with_nothing_but_what_is_followed_elsewhere_is_absent():
    assert solid(Spec(size=1), "made", "size") is ABSENT
    assert solid(Spec(size=None), "made", "size") is ABSENT
    assert solid(Spec(size=1, name="x"), "made", "size") == "made"
    assert solid(Spec(), "made", "size") == "made"
    assert solid(None, None, "size") is None


def test_an_object_with_an_object_in_it_is_absent_where_that_has_nothing_but_what_is_followed_elsewhere():
    assert solid(Holder(spec=Spec()), "made", ("spec", "size")) == "made"
    assert solid(Holder(spec=Spec(name="x")), "made", ("spec", "size")) == "made"
    assert solid(Holder(spec=Spec(size=1, name="x")), "made", ("spec", "size")) == "made"
    assert solid(Holder(spec=Spec(size=1)), "made", ("spec", "size")) is ABSENT
    assert stripped(Holder(spec=Spec()), ("spec", "size")) == Holder()


def test_what_is_followed_elsewhere_is_not_kept_twice():
    held = Spec(size=1, name="x")
    assert stripped(held, "size") == Spec(name="x")
    assert held.size == 1
    assert stripped(Spec(size=1), "size") is ABSENT
    assert (stripped(None, "size"), stripped(Spec(), "size")) == (None, Spec())


def test_its_own_side_says_whether_an_object_is_there():
    made = Spec(name="x")
    assert said(True, ABSENT, Spec) == Spec()
    assert said(True, made, Spec) is said(None, made, Spec) is said(MISSING, made, Spec) is made
    assert said(None, ABSENT, Spec) is said(None, Spec(), Spec) is None
    assert said(ABSENT, Spec(), Spec) is said(ABSENT, None, Spec) is ABSENT
    assert said(ABSENT, made, Spec) is made
    assert (presence(made), presence(None), presence(ABSENT)) == (True, None, ABSENT)


class Written:
    """Objects as a writer makes them over a stored one."""

    def __init__(self, **values):
        self.thing = Thing()
        with written_over():
            for name, value in values.items():
                put_inside(self.thing, WAY[:1], name, value, over=True)


def test_an_edit_of_what_stands_in_an_object_keeps_what_the_writer_cannot_see_in_there():
    stored = Thing(template=Required(spec=Spec(name="hidden"), size=1))
    nothing, one, two = Written().thing, Written(size=1).thing, Written(size=2).thing
    assert merge(stored, one, two).template == Required(spec=Spec(name="hidden"), size=2)
    assert merge(stored, one, nothing).template == Required(spec=Spec(name="hidden"), size=ABSENT)
    stored = Thing(template=Required(spec=Spec(name="hidden"), size=ABSENT))
    assert merge(stored, nothing, two).template == Required(spec=Spec(name="hidden"), size=2)


def test_an_object_that_the_writer_emptied_is_gone():
    stored = Thing(template=Required(spec=ABSENT, size=1))
    assert merge(stored, Written(size=1).thing, Written().thing).template is ABSENT
    assert merge(Thing(), Written().thing, Written(size=1).thing).template.unknown is ABSENT


def test_what_a_writer_makes_goes_into_what_it_is_not_shown():
    stored = Thing(template=Required(spec=Spec(size=1), size=4))
    merged = merge(stored, Thing(), Thing(template=Required(spec=Spec(name="x"), size=4)))
    assert merged == Thing(template=Required(spec=Spec(size=1, name="x"), size=4))


def test_marks_of_what_a_writer_left_unsaid_are_nothing_that_an_object_holds():
    marked = Spec(size=1, property_bag={"x": {"v1": NoEntry(ABSENT)}})
    assert presence(stripped(marked, "size")) is ABSENT
    assert presence(stripped(Spec(size=1, property_bag={"x": {"v1": Entry("y")}}), "size")) is True
    hollow = Spec(property_bag={"x": {"v1": NoEntry(ABSENT)}}, unknown=Hollow())
    assert (
        merge(
            Required(size=1, spec=ABSENT),
            Required(size=1, spec=ABSENT),
            Required(size=1, spec=hollow),
        ).spec
        is ABSENT
    )


def test_a_writer_that_has_an_object_is_marked_where_its_entry_says_nothing_but_null():
    """So a merge sees that the writer removes it; what is stored by itself is as without the mark."""

    def marked(spec):
        target = Holder()
        stash(target, ("spec?", "v2"), null_presence(spec), derived=lambda _: ABSENT)
        (entry,) = target.property_bag["spec?"].values()
        return type(entry), entry.value, getattr(entry, "there", False)

    with written_over():
        assert marked(Spec()) == (NoEntry, ABSENT, True)
        assert marked(ABSENT) == (NoEntry, ABSENT, False)
        assert marked(None) == (MadeEntry, None, False)
    assert null_presence(Spec()) is null_presence(ABSENT) is ABSENT
    assert null_presence(None) is None
