"""The rules of releases: where they are read from, which versions they lead between, and what is wrong with them."""

import pytest
from engines import package

from trundle.packages import Package
from trundle.project import ConfigError
from trundle.project.package_evolution import PackageEvolutions, check_rules
from trundle.version import ApiVersion

v = ApiVersion.parse


def release(version, rules="", requires=None, package_name="p", **classes):
    """A release whose classes have properties of these contracts; one with `Extends` is given as text."""
    texts = {
        f"{package_name}.{name}": each
        if isinstance(each, str)
        else "Properties:\n" + "".join(f"  {key}: {{Contract: {x}}}\n" for key, x in each.items())
        for name, each in classes.items()
    }
    found = package(package_name, version, requires, texts)
    if not rules:
        return found
    return Package.from_files({**{x: found.file(x) for x in found.files}, "evolution.yaml": rules})


def evolved(*releases, name="p"):
    return PackageEvolutions(releases).of(name)


def links(found, line):
    """What meets between neighbours, with the conversion."""
    (resource,) = [each for each in found.evolution.resources if each.name == line]
    return {
        (
            f"{each.older.version} {each.older.property}",
            f"{each.newer.version} {each.newer.property}",
        ): type(each.conversion).__name__
        for each in resource.root.links
    }


TEXT, NUMBER = "$.string()", "$.int()"
RENAME = "changes: {1.0.0: {p.A: {rename: {a: b}}}}"


def test_the_rules_of_a_release_stand_under_its_older_neighbour():
    found = evolved(release("1.0.0", A={"a": TEXT}), release("2.0.0", RENAME, A={"b": TEXT}))
    assert found.findings == ()
    assert links(found, "p.A") == {("1.0.0 a", "2.0.0 b"): "Same"}


def test_the_key_of_the_rules_may_be_left_out():
    rules = "1.0.0:\n  p.A: {rename: {a: b}}"
    found = evolved(release("1.0.0", A={"a": TEXT}), release("2.0.0", rules, A={"b": TEXT}))
    assert links(found, "p.A") == {("1.0.0 a", "2.0.0 b"): "Same"}


def test_rules_go_on_to_a_neighbour_that_came_between():
    first, last = release("1.0.0", A={"a": TEXT}), release("2.0.0", RENAME, A={"b": TEXT})
    found = evolved(first, release("1.0.1", A={"a": TEXT}), last)
    assert found.findings == ()
    assert ("1.0.1 a", "2.0.0 b") in links(found, "p.A")


def test_a_class_keeps_its_line_under_another_name():
    rules = "changes: {1.0.0: {p.A: {renameType: p.B}}}"
    uses = {"x": "$.class(p.A)"}
    found = evolved(
        release("1.0.0", A={"a": TEXT}, U=uses),
        release("2.0.0", rules, B={"a": TEXT}, U={"x": "$.class(p.B)"}),
    )
    assert found.findings == ()
    assert links(found, "p.B") == {("1.0.0 a", "2.0.0 a"): "Same"}
    assert links(found, "p.U") == {("1.0.0 x", "2.0.0 x"): "ConvertObject"}
    assert found.resource(v("1.0.0"), "p.A") is found.resource(v("2.0.0"), "p.B")


def test_rules_of_several_releases_of_an_ancestor_are_one_for_its_child_classes():
    base = [
        release("1.0.0", package_name="l", B={"a": NUMBER}),
        release(
            "2.0.0", "changes: {1.0.0: {l.B: {rename: {a: b}}}}", package_name="l", B={"b": NUMBER}
        ),
        release(
            "3.0.0",
            "changes: {2.0.0: {l.B: {rename: {b: c}, convert: {b: integer-to-string}}}}",
            package_name="l",
            B={"c": TEXT},
        ),
    ]
    child = "Extends: l.B"
    found = evolved(
        *base,
        release("1.0.0", requires={"l": "1"}, A=child),
        release("1.1.0", requires={"l": "3"}, A=child),
    )
    assert found.findings == ()
    assert links(found, "p.A") == {("1.0.0 a", "1.1.0 c"): "ConvertScalar"}


def test_the_own_rules_of_a_class_win_over_those_of_its_ancestors():
    one = release("1.0.0", package_name="l", B={"a": TEXT, "z": TEXT})
    two = release(
        "2.0.0",
        "changes: {1.0.0: {l.B: {rename: {a: b, z: y}}}}",
        package_name="l",
        B={"b": TEXT, "y": TEXT},
    )
    child = f"Extends: l.B\nProperties: {{c: {{Contract: {TEXT}}}}}"
    rules = "changes: {1.0.0: {p.A: {rename: {a: c}}}}"
    found = evolved(
        one,
        two,
        release("1.0.0", requires={"l": "1"}, A="Extends: l.B"),
        release("2.0.0", rules, {"l": "2"}, A=child),
    )
    assert set(links(found, "p.A")) == {("1.0.0 a", "2.0.0 c"), ("1.0.0 z", "2.0.0 y")}


@pytest.mark.parametrize(
    ("rules", "line", "message"),
    [
        (
            "changes:\n  1.0.0:\n    p.A:\n      rename: {x: b}",
            4,
            "names x, which p.A of 1.0.0 does not have",
        ),
        ("changes:\n  1.0.0:\n    p.X: {rename: {a: b}}", 3, "1.0.0 has no type p.X"),
        ("changes:\n  1.0.0:\n    p.A:\n      rename: {a: c}", 4, "no newer p.A has c"),
        (
            "changes:\n  1.5.0:\n    p.A:\n      rename: {a: b}",
            3,
            "the older neighbour of 2.0.0 is 1.0.0",
        ),
    ],
)
def test_a_rule_that_fits_nothing_is_a_finding_with_file_and_line(rules, line, message):
    found = evolved(release("1.0.0", A={"a": TEXT}), release("2.0.0", rules, A={"b": TEXT}))
    (finding,) = found.findings
    assert message in str(finding)
    assert (finding.place.file, finding.place.line) == ("p/2.0.0/evolution.yaml", line)


@pytest.mark.parametrize(
    ("rules", "line", "message"),
    [
        ("changes:\n  1.0:\n    p.A: {rename: {a: b}}", 2, "quote the key"),
        ("changes:\n  2.0.0:\n    p.A: {rename: {a: b}}", 3, "only `default` under 2.0.0 itself"),
        ("changes:\n  3.0.0:\n    p.A: {rename: {a: b}}", 2, "2.0.0 or a version before it"),
        ("changes:\n  1.0.0:\n    p.A: {rname: {a: b}}", 3, "rname"),
        ("rules:\n  1.0.0: {}", 1, "rules"),
        ("- 1", 1, "the rules of a release"),
        ("a: b\n---\nc: d", 1, "2 documents"),
        ("a: [", 1, ""),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_with_file_and_line(rules, line, message):
    with pytest.raises(ConfigError, match=f"p/2.0.0/evolution.yaml:{line}.*{message}"):
        evolved(release("1.0.0", A={"a": TEXT}), release("2.0.0", rules, A={"b": TEXT}))


def test_the_rules_of_the_oldest_release_lead_to_nothing():
    two = release("2.0.0", RENAME, A={"b": TEXT})
    assert evolved(two, release("3.0.0", A={"b": TEXT})).findings == ()


@pytest.mark.parametrize(
    ("rules", "before", "message"),
    [
        ("changes: [", None, "p/2.0.0/evolution.yaml:1"),
        ("changes: {1.0.0: {p.A: {rename: {x: b}}}}", "1.0.0", "names x"),
        (RENAME, "1.0.7", ""),
        (RENAME, None, ""),
    ],
)
def test_a_release_is_checked_against_the_one_before(rules, before, message):
    one = None if before is None else release(before, A={"a": TEXT})
    found = list(check_rules(release("2.0.0", rules, A={"b": TEXT}), one))
    assert [message in str(each) for each in found] == [True] * bool(message)


def test_rules_are_not_compared_without_what_the_package_requires():
    one = release("1.0.0", requires={"q": "1"}, A="Extends: q.B")
    assert list(check_rules(release("2.0.0", RENAME, {"q": "1"}, A="Extends: q.B"), one)) == []


def test_pre_releases_are_previews():
    rules = "changes: {1.0.0: {p.A: {rename: {a: b}}}}"
    first, preview = release("1.0.0", A={"a": TEXT}), release("2.0.0-rc.1", rules, A={"b": TEXT})
    assert set(links(evolved(first, preview), "p.A")) == {("1.0.0 a", "2.0.0-rc.1 b")}
    found = evolved(first, preview, release("2.0.0", rules, A={"b": TEXT}))
    assert found.findings == ()
    assert set(links(found, "p.A")) == {("1.0.0 a", "2.0.0 b"), ("2.0.0-rc.1 b", "2.0.0 b")}
