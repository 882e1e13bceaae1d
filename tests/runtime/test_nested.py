from trundle.runtime import (
    ABSENT,
    StorageObject,
    inside,
    presence,
    put_inside,
    said,
    solid,
)
from trundle.runtime._bag import MISSING


class Spec(StorageObject):
    size: int | None = ABSENT
    name: str = ABSENT


class Required(StorageObject, kw_only=True):
    spec: Spec
    size: int


class Thing(StorageObject):
    template: Required = ABSENT


WAY = (("template", Required, {"size": 3}), ("spec", Spec, None))


def test_what_is_inside_of_nothing_is_absent():
    assert inside(Thing(), "template", "spec", "name") is ABSENT
    assert inside(Thing(template=None), "template", "spec") is ABSENT
    assert inside(Thing(template=Required(spec=Spec(name="x"), size=1)), "template", "size") == 1


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


def test_its_own_side_says_whether_an_object_is_there():
    made = Spec(name="x")
    assert said(True, ABSENT, Spec) == Spec()
    assert said(True, made, Spec) is said(None, made, Spec) is said(MISSING, made, Spec) is made
    assert said(None, ABSENT, Spec) is None
    assert said(ABSENT, made, Spec) is ABSENT
    assert (presence(made), presence(None), presence(ABSENT)) == (True, None, ABSENT)
