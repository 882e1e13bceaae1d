"""What changed between two releases of a package of classes, each kind of change by itself."""

import pytest
from engines import package

from trundle.engine.changes import package_changes
from trundle.engine.changes._ranges import covers
from trundle.packages import Level, Package, bump_of
from trundle.version import SemVer, VersionRange

MAJOR, MINOR, PATCH = Level.MAJOR, Level.MINOR, Level.PATCH
PATCHED = ("patch", True)
HEAD = "Namespaces: {=: a, core: io.murano, lib: lib}\n"


def changes(before, now, **both):
    """The changes between two releases of a package whose class files are given by class."""
    pair = (
        package("a", "1.0.0", each.pop("requires", None), each)
        for each in ({**both, **before}, {**both, **now})
    )
    return list(package_changes(*pair))


def of_class(before, now, **both):
    """The code, the level and the judging of each change where the class `a.A` said something and says something else."""
    found = changes({"a.A": HEAD + before}, {"a.A": HEAD + now}, **both)
    return {(str(each.code), each.level, each.judge) for each in found}


def property_(text):
    return f"Properties: {{p: {{{text}}}}}"


def method(text):
    return f"Methods: {{m: {{{text}}}}}"


def arguments(*texts, name="m"):
    return f"Methods: {{{name}: {{Arguments: [{', '.join(texts)}]}}}}"


A, B = "{a: {Contract: $.int()}}", "{b: {Contract: $.int()}}"


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        # Members.
        ("", property_("Contract: $"), {("property-added", MINOR, False)}),
        (property_("Contract: $"), "", {("property-removed", MAJOR, False)}),
        ("", property_("Contract: $.int().notNull()"), {("property-required", MAJOR, False)}),
        (
            "",
            property_("Contract: $.int().notNull(), Default: 1"),
            {("property-added", MINOR, False)},
        ),
        ("", property_("Contract: [$, 1]"), {("property-required", MAJOR, False)}),
        ("", property_("Contract: {k: $.notNull()}"), {("property-required", MAJOR, False)}),
        ("", property_("Contract: $.int().check($ > 0)"), {("property-required", MAJOR, False)}),
        ("", property_("Contract: $.check($this.x)"), {("property-required", MINOR, True)}),
        (
            "",
            property_("Contract: $.notNull(), Usage: Runtime"),
            {("property-added", MINOR, False)},
        ),
        (
            "",
            property_("Contract: $.notNull(), Usage: Config"),
            {("property-required", MAJOR, False)},
        ),
        ("", method("Body: []"), {("method-added", MINOR, False)}),
        (method("Body: []"), "", {("method-removed", MAJOR, False)}),
        ("Methods: {_m: {}}", "", {("method-removed", MINOR, False)}),
        (
            "Properties: {_p: {Contract: $, Usage: Runtime}}",
            "",
            {("property-removed", MINOR, False)},
        ),
        # Contracts.
        (
            property_("Contract: $"),
            property_("Contract: $.string()"),
            {("contract-narrowed", MAJOR, False)},
        ),
        (
            property_("Contract: $.string()"),
            property_("Contract: $"),
            {("contract-widened", MINOR, False)},
        ),
        (
            property_("Contract: $.int()"),
            property_("Contract: $.bool()"),
            {("contract-changed", MAJOR, False)},
        ),
        (
            property_("Contract: $.check($this.x)"),
            property_("Contract: $.check($this.y)"),
            {("contract-changed", PATCH, True)},
        ),
        (
            property_("Contract: $.int(), Usage: Runtime"),
            property_("Contract: $.int().notNull(), Usage: Runtime"),
            {("contract-narrowed", MINOR, False)},
        ),
        (
            property_("Contract: $.class(core:Object)"),
            property_("Contract: $.class(lib:X)"),
            {("contract-narrowed", MAJOR, False)},
        ),
        (
            property_("Contract: $.class(lib:X)"),
            property_("Contract: $.class(lib:Y)"),
            {("contract-changed", PATCH, True)},
        ),
        (
            property_("Contract: $.class(:A)"),
            property_("Contract: $.class(core:Application)"),
            {("contract-narrowed", MAJOR, False), ("contract-widened", MINOR, False)},
        ),
        (
            property_("Contract: $.class(lib:X)"),
            property_("Contract: $.class(lib.X)"),
            {("files-changed", PATCH, False)},
        ),
        (
            "Properties:\n  p:\n    Contract: $.class(lib:X, versionSpec => '>=1,<3')",
            "Properties:\n  p:\n    Contract: $.class(lib:X, versionSpec => '1')",
            {("contract-narrowed", MAJOR, False)},
        ),
        # Defaults.
        (
            property_("Contract: $, Default: 1"),
            property_("Contract: $, Default: 2"),
            {("default-changed", PATCH, True)},
        ),
        (
            property_("Contract: $, Default: 1"),
            property_("Contract: $"),
            {("default-changed", PATCH, True)},
        ),
        (
            property_("Contract: $.notNull(), Default: 1"),
            property_("Contract: $.notNull()"),
            {("property-required", MAJOR, False)},
        ),
        (
            property_("Contract: $.notNull()"),
            property_("Contract: $.notNull(), Default: 1"),
            {("property-optional", MINOR, False)},
        ),
        # Usages.
        (
            property_("Contract: $"),
            property_("Contract: $, Usage: Runtime"),
            {("property-usage-changed", MAJOR, False)},
        ),
        (
            property_("Contract: $, Usage: Runtime"),
            property_("Contract: $"),
            {("property-usage-changed", MINOR, False)},
        ),
        (
            property_("Contract: $.notNull(), Usage: Runtime"),
            property_("Contract: $.notNull()"),
            {("property-usage-changed", MINOR, False), ("property-required", MAJOR, False)},
        ),
        (
            property_("Contract: $"),
            property_("Contract: $, Usage: Out"),
            {("property-usage-changed", MINOR, False)},
        ),
        (
            property_("Contract: $, Usage: InOut"),
            property_("Contract: $"),
            {("property-usage-changed", MINOR, False)},
        ),
        (
            property_("Contract: $"),
            property_("Contract: $, Usage: Const"),
            {("property-usage-changed", PATCH, False)},
        ),
        (
            property_("Contract: $"),
            property_("Contract: $, Usage: Static"),
            {("property-usage-changed", MAJOR, False)},
        ),
        (
            property_("Contract: $, Usage: Config"),
            property_("Contract: $, Usage: Runtime"),
            {("property-usage-changed", MAJOR, False)},
        ),
        (method(""), method("Usage: Static"), {("method-usage-changed", MINOR, False)}),
        (method("Usage: Static"), method(""), {("method-usage-changed", MAJOR, False)}),
        (
            method("Usage: Extension"),
            method("Usage: Static"),
            {("method-usage-changed", MAJOR, False)},
        ),
        (method("Usage: Action"), method("Scope: Public"), {("files-changed", PATCH, False)}),
        (method("Usage: Action"), method(""), {("method-scope-changed", MAJOR, False)}),
        (method(""), method("Scope: Public"), {("method-scope-changed", MINOR, False)}),
        # Arguments.
        (arguments(A, B), arguments(A), {("argument-removed", MAJOR, False)}),
        (arguments(A), arguments(A, B), {("argument-required", MAJOR, False)}),
        (
            arguments(A),
            arguments(A, "{b: {Contract: $, Default: 1}}"),
            {("argument-added", MINOR, False)},
        ),
        (
            arguments(A),
            arguments(A, "{b: {Contract: $, Usage: KwArgs}}"),
            {("argument-added", MINOR, False)},
        ),
        (arguments(A, B), arguments(B, A), {("arguments-moved", MAJOR, False)}),
        (
            arguments(A),
            arguments("{b: {Contract: $, Default: 1}}", A),
            {("argument-added", MINOR, False), ("arguments-moved", MAJOR, False)},
        ),
        (
            arguments(A),
            arguments("{a: {Contract: $.int(), Default: 1}}"),
            {("argument-optional", MINOR, False)},
        ),
        (
            arguments("{a: {Contract: $.int(), Default: 1}}"),
            arguments(A),
            {("argument-required", MAJOR, False)},
        ),
        (
            arguments(A),
            arguments("{a: {Contract: $.int().notNull()}}"),
            {("contract-narrowed", MAJOR, False)},
        ),
        (
            arguments(A),
            arguments("{a: {Contract: $.int(), Usage: VarArgs}}"),
            {("argument-usage-changed", MAJOR, False)},
        ),
        (
            "",
            arguments("{a: {Contract: $}}", name=".init"),
            {("method-added", MINOR, True), ("argument-added", MINOR, False)},
        ),
        (
            "",
            arguments("{a: {Contract: $.notNull()}}", name=".init"),
            {("method-added", MINOR, True), ("argument-required", MAJOR, False)},
        ),
        (
            arguments(A, B, name=".init"),
            arguments(B, A, name=".init"),
            {("files-changed", PATCH, False)},
        ),
        (
            arguments(A, name="initialize"),
            "",
            {("method-removed", MINOR, True), ("argument-removed", MAJOR, False)},
        ),
        # Bodies and metas.
        (method("Body: [$.f()]"), method("Body: [$.g()]"), {("body-changed", *PATCHED)}),
        (method("Body: ['$.f()']"), method("Body: [$.f()]"), {("body-changed", *PATCHED)}),
        (method("Meta: core:metadata.Title"), method(""), {("meta-changed", *PATCHED)}),
        # Classes.
        ("", "Usage: Meta", {("class-usage-changed", MAJOR, False)}),
        ("Usage: Meta", "Usage: Meta\nCardinality: Many", {("class-usage-changed", MINOR, False)}),
        (
            "Usage: Meta\nApplies: Type",
            "Usage: Meta\nApplies: [Type, Method]",
            {("class-usage-changed", MINOR, False)},
        ),
        ("Usage: Meta", "Usage: Meta\nApplies: Type", {("class-usage-changed", MAJOR, False)}),
        ("", "Extends: core:Application", {("parents-changed", MINOR, False)}),
        (
            "Extends: core:User",
            "Extends: core:Project",
            {("parents-changed", MINOR, True), ("property-removed", MAJOR, False)},
        ),
        ("Import: lib:X", "", {("body-changed", *PATCHED)}),
        # Nothing.
        (
            method("Body: [ $.f() ]"),
            "# another layout\nMethods:\n  m:\n    Body:\n      - $.f()",
            {("files-changed", PATCH, False)},
        ),
    ],
)
def test_a_change_has_a_kind_and_a_level(before, now, expected):
    assert {
        (code, getattr(level, "word", level), judge) for code, level, judge in of_class(before, now)
    } == {(code, getattr(level, "word", level), judge) for code, level, judge in expected}


def kinds(found):
    return {(each.place, str(each.code), each.level) for each in found}


def test_classes_come_and_go():
    found = kinds(changes({"a.A": "", "a.B": ""}, {"a.B": "", "a.C": ""}))
    assert found == {("a.A", "class-removed", MAJOR), ("a.C", "class-added", MINOR)}


def test_a_name_that_stands_for_another_class_is_a_change():
    body, contract = method("Body: [new(lib:X)]"), property_("Contract: $.class(lib:X)")
    for text, code in ((body, "body-changed"), (contract, "contract-changed")):
        other = HEAD.replace("lib: lib", "lib: other") + text
        assert [str(e.code) for e in changes({"a.A": HEAD + text}, {"a.A": other})] == [code]


def test_a_member_that_moves_to_a_parent_stays():
    both = property_("Contract: $.int()") + "\n" + method("Body: [$.f()]")
    before = {"a.A": HEAD + both, "a.Base": ""}
    now = {"a.A": HEAD + "Extends: Base", "a.Base": HEAD + both}
    assert kinds(changes(before, now)) == {
        ("a.A", "parents-changed", MINOR),
        ("a.Base.m()", "method-added", MINOR),
        ("a.Base.p", "property-added", MINOR),
    }


def test_a_member_that_a_parent_loses_is_said_once():
    before = {"a.A": HEAD + "Extends: Base", "a.Base": HEAD + method("")}
    now = {"a.A": HEAD + "Extends: Base", "a.Base": HEAD}
    assert kinds(changes(before, now)) == {("a.Base.m()", "method-removed", MAJOR)}
    apart = {"a.A": HEAD, "a.Base": HEAD + method("")}
    assert ("a.A.m()", "method-removed", MAJOR) in kinds(changes(before, apart))


def test_an_override_that_goes_leaves_what_a_core_class_declares():
    before = HEAD + "Extends: core:Application\nMethods: {deploy: {Body: [$.f()]}}"
    now = HEAD + "Extends: core:Application"
    assert {(each[1], each[2]) for each in kinds(changes({"a.A": before}, {"a.A": now}))} == {
        ("body-changed", PATCH)
    }


def test_of_a_parent_that_is_not_there_a_person_must_know_what_it_has():
    before = HEAD + "Extends: lib:X\n" + method("")
    (found,) = changes({"a.A": before}, {"a.A": HEAD + "Extends: lib:X"})
    assert (found.level, found.judge, found.text) == (
        MAJOR,
        True,
        "the method is removed; look whether lib.X has it",
    )


def test_an_input_that_a_new_parent_brings_must_be_given():
    base = HEAD + property_("Contract: $.notNull()") + "\n" + method("")
    found = changes({"a.A": HEAD}, {"a.A": HEAD + "Extends: Base"}, **{"a.Base": base})
    assert kinds(found) == {
        ("a.A", "parents-changed", MINOR),
        ("a.A.p", "property-required", MAJOR),
    }


def test_a_subclass_is_known_from_the_files():
    files = {"a.Base": HEAD, "a.Derived": HEAD + "Extends: Base"}
    up, down = (HEAD + property_(f"Contract: $.class({each})") for each in ("Base", "Derived"))
    assert {e.code for e in changes({"a.A": up}, {"a.A": down}, **files)} == {"contract-narrowed"}
    assert {e.code for e in changes({"a.A": down}, {"a.A": up}, **files)} == {"contract-widened"}


def test_requirements_are_compared_by_what_they_allow():
    one = {"requires": {"lib": ">=1,<3", "old": 1, "same": "1"}, "a.A": ""}
    other = {"requires": {"lib": "1", "new": 1, "same": ">=1.0.0,<2"}, "a.A": ""}
    found = {each.place: each for each in changes(one, other)}
    assert {(e.place, str(e.code), e.level, e.judge) for e in found.values()} == {
        ("requirement lib", "requirement-changed", PATCH, True),
        ("requirement new", "requirement-added", PATCH, False),
        ("requirement old", "requirement-removed", PATCH, False),
        ("requirement same", "requirement-changed", PATCH, False),
    }
    assert found["requirement lib"].text.startswith("the range was >=1,<3 and is 1;")


def test_files_and_the_manifest_are_compared():
    def release(manifest, **files):
        text = f"FullName: a\nType: Application\nVersion: 1.0.0\n{manifest}"
        return Package.from_files({"manifest.yaml": text, **files})

    before = release(
        "Format: 1.0", **{"Resources/a.sh": "1", "Resources/b.sh": "1", "UI/ui.yaml": "1"}
    )
    now = release(
        "Format: 1.3", **{"Resources/a.sh": "2", "Resources/c.sh": "1", "UI/ui.yaml": "1"}
    )
    found = {str(each.code): each for each in package_changes(before, now)}
    assert set(found) == {"format-changed", "files-changed"}
    assert (
        found["files-changed"].text
        == "other content: Resources/a.sh, Resources/b.sh removed, Resources/c.sh new"
    )
    assert [found[each].judge for each in found] == [True, True]


def test_another_name_of_the_package_breaks_who_requires_it():
    one, other = (package(name, classes={"a.A": ""}) for name in ("a", "b"))
    (found,) = package_changes(one, other)
    assert (str(found.code), found.level, found.place) == ("package-renamed", MAJOR, "b")


def test_a_class_that_cannot_be_read_is_left_to_a_person():
    (found,) = changes({"a.A": HEAD + "Methods: ["}, {"a.A": HEAD})
    assert (str(found.code), found.judge, found.place) == ("not-compared", True, "a.A")
    assert "in the earlier release" in found.text
    assert changes({"a.A": "Methods: ["}, {"a.A": "Methods: ["}) == []


def test_equal_releases_have_no_changes():
    text = HEAD + "Extends: lib:X\n" + property_("Contract: $.class(X)") + "\n" + method("")
    assert changes({"a.A": text}, {"a.A": text}) == []


def test_below_one_a_breaking_change_is_a_minor_step():
    found = changes({"a.A": HEAD + method("")}, {"a.A": HEAD})
    assert str(bump_of(SemVer(0, 3, 1), found).required) == "0.4.0"
    assert str(bump_of(SemVer(1, 3, 1), found).required) == "2.0.0"


RANGES = (
    "*",
    "",
    "1",
    "1.2",
    "1.2.3",
    ">=1,<3",
    ">1.2",
    "<=1.2",
    "!=1.5",
    ">=1.0.0,<2",
    ">=1.2,!=1.2.4,<1.4",
    "<2.0.0-rc",
    ">=1.2.3-rc",
)
VERSIONS = [
    SemVer.parse(f"{major}.{minor}.{patch}{suffix}")
    for major in range(4)
    for minor in range(7)
    for patch in range(6)
    for suffix in ("", "-0", "-beta", "-rc", "-rc.1", "-z")
]


@pytest.mark.parametrize("wider", RANGES)
def test_a_range_covers_another_if_it_has_all_its_versions(wider):
    one = VersionRange.parse(wider)
    has = {each for each in VERSIONS if each in one}
    for narrower in RANGES:
        other = VersionRange.parse(narrower)
        assert covers(one, other) == all(each in has for each in VERSIONS if each in other), (
            narrower
        )


def test_other_meta_of_the_package_is_for_a_person():
    before, now = (package("a", each, Meta="{a.Tag: {x: 1}}") for each in ("1.0.0", "1.0.1"))
    assert not [each for each in package_changes(before, now) if each.code == "meta-changed"]
    now = package("a", "1.0.1", Meta="{a.Tag: {x: 2}}")
    (found,) = package_changes(before, now)
    assert (found.code, found.place, found.judge) == ("meta-changed", "a", True)
