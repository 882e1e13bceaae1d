"""The ancestors of classes: their order, their versions where paths meet, and whose members count."""

import time

import pytest
from engines import extends, package
from hypothesis import given
from hypothesis import strategies as st

from trundle.engine import Engine, EngineError, Limits


def built(classes, name, **engine):
    return Engine([package("app", classes=classes)], **engine).session().type(name)


def names(types):
    return [each.name for each in types if each.name != "io.murano.Object"]


def refusal(call, *args, **kwargs):
    with pytest.raises(EngineError) as caught:
        call(*args, **kwargs)
    return caught.value


def test_ancestors_stand_before_their_own_and_left_before_right():
    classes = {
        "X": "",
        "L": extends("X"),
        "Y1": extends("X"),
        "Y2": extends("L"),
        "Z": extends("Y1", "Y2"),
    }
    found = built(classes, "Z")
    assert names(found.ancestors) == ["Y1", "Y2", "L", "X"]
    assert found.ancestors[-1].name == "io.murano.Object"
    assert names(found.lineage.upwards) == ["X", "Y1", "L", "Y2", "Z"]


def test_a_class_may_name_a_parent_before_a_child_of_it():
    classes = {"X": extends(f=1), "Y": extends("X", f=1), "Z": extends("X", "Y")}
    found = built(classes, "Z")
    assert names(found.ancestors) == ["Y", "X"]
    assert names(found.winners("f()")) == ["Y"]


def test_the_declaration_of_a_child_counts_and_of_strangers_both():
    classes = {"X": extends(f=1), "Y1": extends("X", f=1), "Y2": extends("X", f=1)}
    found = built({**classes, "Z": extends("Y1", "Y2")}, "Z")
    assert names(found.winners("f()")) == ["Y1", "Y2"]
    own = built({**classes, "Z": extends("Y1", "Y2", f=1)}, "Z")
    assert names(own.winners("f()")) == ["Z"]
    y2 = next(each for each in own.ancestors if each.name == "Y2")
    assert names(own.winners("f()", start=y2)) == ["Y2"]


@pytest.mark.parametrize(
    ("classes", "path"),
    [
        ({"A": extends("A")}, "A extends A"),
        (
            {"A": extends("B"), "B": extends("C"), "C": extends("A")},
            "A extends B extends C extends A",
        ),
        ({"A": extends("B"), "B": extends("C"), "C": extends("B")}, "B extends C extends B"),
    ],
)
def test_a_circle_of_parents_is_an_error_that_shows_it(classes, path):
    error = refusal(built, classes, "A")
    assert error.code == "circular"
    assert path in str(error)


def test_a_class_cannot_extend_one_that_describes_others():
    classes = {"M": "Usage: Meta", "A": extends("B"), "B": extends("M")}
    assert refusal(built, classes, "A").code == "inheritance"
    assert built({"M": "Usage: Meta", "A": "Extends: M\nUsage: Meta"}, "A").is_meta


@pytest.mark.full
def test_five_hundred_ancestors_work_and_a_limit_holds():
    classes = {"C0": "", **{f"C{at}": extends(f"C{at - 1}") for at in range(1, 501)}}
    assert len(built(classes, "C500").ancestors) == 501
    error = refusal(built, classes, "C500", limits=Limits(ancestors=100))
    assert error.code == "limit"


def meeting(x, y, override=(), member="f"):
    """The document's example: A inherits B of x and C of y, which inherit D of different versions of z."""
    return Engine(
        [
            *(
                package("z", each, classes={"z.D": extends(**{member: 1})})
                for each in ("1.2.0", "1.3.0")
            ),
            package("x", requires={"z": x}, classes={"x.B": extends("z.D")}),
            package("y", requires={"z": y}, classes={"y.C": extends("z.D")}),
            package(
                "app",
                requires={"x": 1, "y": 1},
                classes={"app.A": extends("x.B", "y.C", **dict.fromkeys(override, 1))},
            ),
        ]
    )


def versions(found, name="z.D"):
    return [str(each.version) for each in found.ancestors if each.name == name]


@pytest.mark.parametrize(
    ("x", "y", "version"),
    [
        ("1.2.0", "1", "1.2.0"),
        ("1", "1.2.0", "1.2.0"),
        ("1", ">=1.2,!=1.3", "1.2.0"),
        ("1", "1", "1.3.0"),
    ],
)
def test_paths_meet_in_the_newest_version_that_all_allow(x, y, version):
    with meeting(x, y).session() as session:
        assert versions(session.type("app.A")) == [version]


def test_versions_that_no_requirement_unites_conflict_when_they_share_a_member():
    error = refusal(meeting("1.2.0", "1.3.0").session().type, "app.A")
    assert (error.code, error.class_name) == ("conflict", "app.A")
    assert "x/1.0.0 requires z 1.2.0" in error.requirements[0]
    assert "y/1.0.0 requires z 1.3.0" in error.requirements[1]
    assert all(each in str(error) for each in error.requirements)


def test_versions_that_share_nothing_or_only_what_is_overridden_are_unrelated():
    with meeting("1.2.0", "1.3.0", override=["f"]).session() as session:
        assert versions(session.type("app.A")) == ["1.2.0", "1.3.0"]
    for member in (".init", ".destroy"):
        with meeting("1.2.0", "1.3.0", member=member).session() as session:
            assert versions(session.type("app.A")) == ["1.2.0", "1.3.0"]


def test_the_version_where_paths_meet_is_locked():
    lock = meeting(">=1.2", ">=1.2,<2").session()
    lock.type("app.A")
    assert lock.lock["app/1.0.0"] == {"x": "1.0.0", "y": "1.0.0"}
    session = meeting("1.2.0", "1").session()
    session.type("app.A")
    assert session.lock["app/1.0.0 app.A"] == {"z z.D": "1.2.0"}
    again = meeting("1.2.0", "1").session(session.lock)
    assert versions(again.type("app.A")) == ["1.2.0"]
    assert again.lock == session.lock
    wrong = {**session.lock, "app/1.0.0 app.A": {"z z.D": "1.3.0"}}
    assert refusal(meeting("1.2.0", "1").session(wrong).type, "app.A").code == "lock"


def test_a_choice_carries_on_to_the_ancestors_of_what_is_chosen():
    packages = [
        package("base", "1.0.0", classes={"base.E": ""}),
        package("base", "2.0.0", classes={"base.E": ""}),
        package("z", "1.2.0", {"base": "1"}, {"z.D": extends("base.E")}),
        package("z", "1.3.0", {"base": "2"}, {"z.D": extends("base.E")}),
        package("x", requires={"z": "1.2.0"}, classes={"x.B": extends("z.D")}),
        package("y", requires={"z": "1"}, classes={"y.C": extends("z.D")}),
        package("app", requires={"x": 1, "y": 1}, classes={"app.A": extends("x.B", "y.C")}),
    ]
    found = Engine(packages).session().type("app.A")
    assert versions(found, "base.E") == ["1.0.0"]


def stacked(levels):
    classes = {"L0": extends(f=1)}
    for at in range(1, levels + 1):
        below = f"L{at - 1}"
        classes |= {f"A{at}": extends(below, f=1), f"B{at}": extends(below, f=1)}
        classes[f"L{at}"] = extends(f"A{at}", f"B{at}", **{f"own{at}": 1})
    return Engine([package("app", classes=classes)]).session().type(f"L{levels}")


@pytest.mark.full
def test_stacked_diamonds_are_looked_up_in_linear_time():
    def looked_up(levels):
        found = stacked(levels)
        _ = found.methods
        started = time.process_time()
        for name in ("f()", "own1()", "missing()") * 5:
            found.lineage._winners.clear()
            found.winners(name)
        return time.process_time() - started

    assert names(stacked(18).winners("f()")) == ["A18", "B18"]
    small = min(looked_up(100) for _ in range(5))
    large = min(looked_up(200) for _ in range(5))
    assert large <= 3 * small + 0.001


@st.composite
def hierarchies(draw):
    """Parents by class, where a class extends only those before it; and the classes that declare a member."""
    size = draw(st.integers(2, 9))
    parents = {
        at: draw(st.lists(st.integers(0, at - 1), max_size=3, unique=True)) if at else []
        for at in range(size)
    }
    return parents, draw(st.sets(st.integers(0, size - 1)))


@pytest.mark.full
@given(hierarchies())
def test_winners_are_the_declaring_classes_below_which_none_declares(found):
    parents, declaring = found
    classes = {
        f"C{at}": extends(*(f"C{each}" for each in above), **({"f": 1} if at in declaring else {}))
        for at, above in parents.items()
    }
    last = max(parents)

    def above(at):
        return {at}.union(*(above(each) for each in parents[at]))

    candidates = above(last) & declaring
    expected = {
        at for at in candidates if not any(at in above(other) - {other} for other in candidates)
    }
    type_ = built(classes, f"C{last}")
    assert {int(each.name[1:]) for each in type_.winners("f()")} == expected
    places = {each: at for at, each in enumerate((type_, *type_.ancestors))}
    for each, place in places.items():
        assert all(places[parent] > place for parent in type_.lineage.parents[each])
