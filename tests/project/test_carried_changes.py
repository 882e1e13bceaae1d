"""What `evolution.yaml` adds to the changes of classes: by hand, as an author would say it."""

import pytest
from test_package_evolution import NUMBER, TEXT, release

from trundle.engine.changes import package_changes
from trundle.packages import Level, bump_of
from trundle.project._carried_changes import with_rules
from trundle.version import SemVer

OLD = release("1.0.0", A={"a": TEXT, "n": NUMBER, "gone": TEXT}, B={"x": TEXT})
LISTED = "Properties:\n  b: {Contract: [$.string()]}\n  n: {Contract: $.string()}\n"


def rows(before, now):
    found = with_rules(package_changes(before, now), before, now)
    return [f"{each.level.word} {each.place}: {each.text}" for each in found]


def required(before, now):
    return str(bump_of(SemVer.parse("1.0.0"), with_rules(package_changes(before, now), before, now)).required)  # fmt: skip


def test_what_goes_and_what_is_new_name_each_other():
    rules = """\
changes:
  1.0.0:
    p.A: {wrap: {a: b}, convert: {n: integer-to-string}}
    p.B: {renameType: p.C}
"""
    new = release("2.0.0", rules, A=LISTED, C={"x": TEXT})
    found = rows(OLD, new)
    assert "major p.A.a: the property is removed; objects carry it on as b" in found
    assert "minor p.A.b: the property is new; objects of 1.0.0 bring a" in found
    assert "major p.A.gone: the property is removed" in found
    assert "major p.B: the class is removed; objects carry it on as p.C" in found
    assert "minor p.C: the class is new; objects of 1.0.0 bring p.B" in found
    assert [each for each in found if "the rule" in each] == [
        "patch p.A.a: objects of 1.0.0 convert by the rule `wrap: b`",
        "patch p.A.n: objects of 1.0.0 convert by the rule `convert: integer-to-string`",
        "patch p.B: objects of 1.0.0 convert by the rule `renameType: p.C`",
    ]
    assert not any("evolution.yaml" in each for each in found)


def test_rules_make_no_change_a_smaller_one():
    rules = "changes: {1.0.0: {p.A: {rename: {a: b}}}}"
    new = release("2.0.0", rules, A={"b": TEXT, "n": NUMBER, "gone": TEXT}, B={"x": TEXT})
    assert required(OLD, new) == "2.0.0"
    same = release("1.0.1", A={"a": TEXT, "n": NUMBER, "gone": TEXT}, B={"x": TEXT})
    assert required(OLD, same) == "1.0.0"


RENAME = "changes: {1.0.0: {p.A: {rename: {a: b}}}}"


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("changes: {1.0.0: {p.A: {rename: {a: c}}}}", "`rename: c` and said `rename: b`"),
        ("changes: {1.0.0: {p.A: {wrap: {a: b}}}}", "`wrap: b` and said `rename: b`"),
        (
            "changes: {1.0.0: {p.A: {rename: {a: b}, convert: {a: integer-to-string}}}}",
            "`convert: integer-to-string, rename: b` and",
        ),
        ("hooks: {1.0.0: {p.A: {a: m}}}", "`hook: m` and said `rename: b`"),
        ("changes: {1.0.0: {p.B: {rename: {x: y}}}}", "nothing and said `rename: b`"),
    ],
)
def test_rules_of_earlier_releases_that_change_are_for_a_person(rules, said):
    two, three = (release(each, text, A={"b": TEXT}) for each, text in (("2.0.0", RENAME), ("2.0.1", rules)))  # fmt: skip
    found = [each for each in rows(two, three) if each.startswith("patch p.A.a in 1.0.0: ")]
    assert len(found) == 1
    assert said in found[0]
    (change,) = [
        each
        for each in with_rules(package_changes(two, three), two, three)
        if each.place == "p.A.a in 1.0.0"
    ]
    assert (change.judge, change.level) == (True, Level.PATCH)


def test_rules_that_are_the_same_or_stay_behind_are_no_change():
    two = release("2.0.0", RENAME, A={"b": TEXT})
    assert rows(two, release("2.0.1", f"{RENAME} # once more", A={"b": TEXT})) == [
        "patch evolution.yaml: other content: evolution.yaml"
    ]
    assert rows(two, release("2.0.1", A={"b": TEXT})) == [
        "patch evolution.yaml: other content: evolution.yaml removed"
    ]


def test_rules_that_cannot_be_read_hide_nothing():
    new = release("2.0.0", "changes: [", A={"b": TEXT})
    found = rows(OLD, new)
    assert "major p.A.a: the property is removed" in found
    assert "patch evolution.yaml: other content: evolution.yaml new" in found
