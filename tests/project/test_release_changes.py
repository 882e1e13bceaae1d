"""What changed from one release to the next, each kind of change by itself."""

import json
import shutil

import pytest

from trundle.packages import Level
from trundle.project import resources_in
from trundle.project.release_changes import changes_between

HOOK = """\
from trundle.runtime import hook

class Names:
    @hook(reads=("a",), writes=("c",))
    def assign_to(self, source):
        return {"c": source.a}

    @hook(reads=("c",), writes=("a",))
    def assign_from(self, source):
        return {"a": source.c}
"""
TWO = {"2011-01-01": "{a: {type: string}}", "2013-03-03": "{a: {type: string}, c: {type: string}}"}


class Releases:
    """Two releases of one project, side by side."""

    def __init__(self, project, folder):
        self.now = project
        self.folder = folder

    def keep(self):
        """Takes what is there for the earlier release."""
        shutil.copytree(self.now.folder, self.folder, dirs_exist_ok=True)

    def changes(self):
        found = changes_between(self.folder / "trundle.yaml", self.now.folder / "trundle.yaml")
        return {(str(each.code), each.level, each.judge): each for each in found}

    def kinds(self):
        return {(code, level) for code, level, _ in self.changes()}


@pytest.fixture
def releases(project, tmp_path_factory):
    return Releases(project, tmp_path_factory.mktemp("before"))


def of(releases, before, now, **more):
    """The kinds of changes where one API version had some properties and has others."""
    releases.now.schema("2011-01-01", with_id(before))
    releases.keep()
    releases.now.schema("2011-01-01", with_id(now), **more)
    return releases.kinds()


def with_id(properties):
    return f"{{id: {{type: string}}, {properties[1:]}"


STORED = ("stored-objects-given-up", Level.MAJOR)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("{a: {type: string}}", "{}", {("property-removed", Level.MAJOR), STORED}),
        ("{}", "{a: {type: string}}", {("property-added", Level.MINOR)}),
        (
            "{a: {type: string}}",
            "{a: {type: boolean}}",
            {("type-changed", Level.MAJOR), STORED},
        ),
        (
            "{a: {type: number}}",
            "{a: {type: integer}}",
            {("type-narrowed", Level.MAJOR), STORED},
        ),
        ("{a: {type: integer}}", "{a: {type: number}}", {("type-widened", Level.MINOR)}),
        (
            "{a: {type: array, items: {type: integer}}}",
            "{a: {type: array, items: {type: number}}}",
            {("type-widened", Level.MINOR)},
        ),
        ("{a: {type: string}}", "{a: {type: [string, 'null']}}", {("type-widened", Level.MINOR)}),
        (
            "{a: {type: string, enum: [x, y]}}",
            "{a: {type: string, enum: [y, z]}}",
            {("value-removed", Level.MAJOR), ("value-added", Level.MINOR)},
        ),
        (
            "{a: {type: array, items: {type: string, enum: [x, y]}}}",
            "{a: {type: array, items: {type: string, enum: [x]}}}",
            {("value-removed", Level.MAJOR)},
        ),
        (
            "{a: {type: string}}",
            "{a: {type: string, enum: [x]}}",
            {("type-narrowed", Level.MAJOR)},
        ),
        ("{a: {type: string, enum: [x]}}", "{a: {type: string}}", {("type-widened", Level.MINOR)}),
        (
            "{a: {type: integer, enum: [1]}}",
            "{a: {type: integer}}",
            {("type-widened", Level.MINOR)},
        ),
        (
            "{a: {type: string, maxLength: 5}}",
            "{a: {type: string, maxLength: 4}}",
            {("constraint-narrowed", Level.MAJOR)},
        ),
        (
            "{a: {type: string}}",
            "{a: {type: string, pattern: x}}",
            {("constraint-narrowed", Level.MAJOR)},
        ),
        (
            "{a: {type: integer, minimum: 5}}",
            "{a: {type: integer, minimum: 4}}",
            {("constraint-widened", Level.MINOR)},
        ),
        (
            "{a: {type: string, pattern: x}}",
            "{a: {type: string, pattern: y}}",
            {("constraint-changed", Level.PATCH)},
        ),
        (
            "{a: {type: string}}",
            "{a: {type: string, default: x}}",
            {("default-changed", Level.PATCH)},
        ),
        (
            "{o: {type: object, properties: {a: {type: string}, b: {type: string}}}}",
            "{o: {type: object, properties: {b: {type: string}}}}",
            {("property-removed", Level.MAJOR), STORED},
        ),
        ("{a: {type: string}}", "{a: {type: string, description: new}}", set()),
        ("{a: {type: string}}", "{a: {type: object}}", {("type-narrowed", Level.MAJOR)}),
        ("{a: {type: string}}", "{a: {}}", {("type-widened", Level.MINOR)}),
        (
            "{a: {type: array, items: {type: integer}}}",
            "{a: {type: array, items: {type: object}}}",
            {("type-narrowed", Level.MAJOR)},
        ),
        ("{a: {}}", "{a: {type: object}}", {("constraint-narrowed", Level.MAJOR)}),
        ("{a: {type: object}}", "{a: {}}", {("constraint-widened", Level.MINOR)}),
        (
            "{a: {items: {type: object}}}",
            "{a: {items: {}}}",
            {("constraint-widened", Level.MINOR)},
        ),
        (
            "{a: {type: object, properties: {x: {type: string}}}}",
            "{a: {type: object}}",
            {("type-widened", Level.MINOR)},
        ),
        (
            "{a: {items: {type: object, additionalProperties: {type: string}}}}",
            "{a: {items: {type: object}}}",
            {("type-widened", Level.MINOR)},
        ),
        (
            "{a: {type: object}}",
            "{a: {type: object, additionalProperties: {type: string}}}",
            {("type-narrowed", Level.MAJOR), STORED},
        ),
    ],
)
def test_changes_of_a_released_version(releases, before, now, expected):
    assert of(releases, before, now) == expected


def test_what_becomes_required_is_major(releases):
    text = "{a: {type: string}}"
    assert of(releases, text, text, required="[a]") == {("property-required", Level.MAJOR)}


def test_a_new_property_that_is_required_is_major(releases):
    found = of(releases, "{}", "{a: {type: string}}", required="[a]")
    assert found == {("property-required", Level.MAJOR)}


def test_versions_come_and_go(releases):
    releases.now.schema("2011-01-01", "{a: {type: string}}").schema(
        "2012-02-02", "{id: {type: string}}"
    )
    releases.keep()
    (releases.now.folder / "schemas" / "2011-01-01.yaml").unlink()
    releases.now.schema("2014-04-04", "{id: {type: string}}")
    assert {
        ("api-version-removed", Level.MAJOR),
        ("api-version-added", Level.MINOR),
    } <= releases.kinds()


def test_a_horizon_that_ends_serving_is_major(releases):
    releases.now.schema("2011-01-01", "{id: {type: string}}").schema(
        "2012-02-02", "{id: {type: string}}"
    )
    releases.keep()
    releases.now.configure("horizon: {ga: 1}\n")
    assert releases.kinds() == {("no-longer-served", Level.MAJOR)}


def test_a_rule_that_goes_is_a_conversion_lost(releases):
    releases.now.schema("2011-01-01", "{a: {type: string}}").schema(
        "2012-02-02", "{b: {type: string}}"
    )
    releases.now.configure("changes: {2011-01-01: {Person: {rename: {a: b}}}}\n")
    releases.keep()
    releases.now.configure("")
    found = releases.changes()
    lost = found["conversion-lost", Level.MAJOR, False]
    assert lost.place in {
        "Person.a from 2011-01-01 to 2012-02-02",
        "Person.b from 2012-02-02 to 2011-01-01",
    }


def test_a_rule_that_is_new_is_a_conversion_more(releases):
    releases.now.schema("2011-01-01", "{n: {type: integer}}")
    releases.now.schema("2012-02-02", "{n: {type: string}}")
    releases.keep()
    releases.now.configure("changes: {2011-01-01: {Person: {convert: {n: integer-to-string}}}}\n")
    assert releases.kinds() == {("conversion-added", Level.MINOR)}


def test_a_rule_that_says_something_else_is_for_a_person(releases):
    releases.now.schema("2011-01-01", "{a: {type: string}}").schema(
        "2012-02-02", "{a: {type: string}}"
    )
    releases.now.configure("changes: {2011-01-01: {Person: {values: {a: {x: y}}}}}\n")
    releases.keep()
    releases.now.configure("changes: {2011-01-01: {Person: {values: {a: {x: z}}}}}\n")
    assert ("rule-changed", Level.PATCH, True) in releases.changes()


@pytest.fixture
def hooked(releases):
    for version, properties in TWO.items():
        releases.now.schema(version, properties)
    releases.now.write("names.py", HOOK)
    releases.now.configure(
        "hooks:\n  - {type: Person, between: [2011-01-01, 2013-03-03], use: 'names:Names'}\n"
    )
    releases.keep()
    return releases


def test_a_hook_whose_code_changed_is_for_a_person(hooked):
    hooked.now.write("names.py", HOOK.replace("source.a}", "source.a.upper()}"))
    assert set(hooked.changes()) == {("hook-changed", Level.PATCH, True)}


def test_comments_of_a_hook_are_no_change(hooked):
    hooked.now.write("names.py", f"# new\n{HOOK}")
    assert hooked.kinds() == set()


def test_a_hook_that_loses_a_way_is_major(hooked):
    hooked.now.write("names.py", HOOK[: HOOK.index('    @hook(reads=("c",)')])
    assert hooked.kinds() == {("hook-removed", Level.MAJOR)}


def test_a_hook_that_goes_is_major(hooked):
    hooked.now.configure("")
    assert hooked.kinds() == {("hook-removed", Level.MAJOR)}


def test_the_code_of_a_release_is_never_run(hooked):
    mark = hooked.folder / "ran"
    (hooked.folder / "names.py").write_text(f"open({str(mark)!r}, 'w')\n{HOOK}")
    hooked.changes()
    assert not mark.exists()


def test_schemas_in_python_are_not_compared(releases):
    releases.now.schema("2011-01-01", "{id: {type: string}}")
    releases.keep()
    releases.now.write("trundle.yaml", "package: crm\nsources: [{path: x.py, version: v1}]\n")
    assert set(releases.changes()) == {("not-compared", Level.PATCH, True)}


def test_another_name_of_the_package_is_major(releases):
    releases.now.schema("2011-01-01", "{id: {type: string}}")
    releases.keep()
    releases.now.write("trundle.yaml", "package: people\nsources: [schemas]\nunknown: keep\n")
    assert releases.kinds() == {
        ("package-renamed", Level.MAJOR),
        ("unknown-properties-kept", Level.MINOR),
    }


def test_shapes_that_are_given_up_in_the_lock_are_major_all_the_same(releases):
    """`trundle lock --accept` makes `check` pass; clients of the release before lose their objects all the same."""
    releases.now.schema("2011-01-01", "{a: {type: string}}")
    releases.keep()
    releases.now.schema("2011-01-01", "{a: {type: boolean}}")
    assert STORED in releases.kinds()


GROUPS = """\
groups: {crm: crm.example.com, shop: shop.example.com}
sources:
  - {path: crm, group: crm.example.com}
  - {path: shop, group: shop.example.com}
"""


@pytest.fixture
def grouped(releases):
    """Two groups with a resource type of one name and different properties."""
    releases.now.write("trundle.yaml", f"package: crm\n{GROUPS}")
    for group, name in (("crm", "a"), ("shop", "b")):
        text = f"title: Account\ntype: object\nproperties: {{{name}: {{type: string}}}}\n"
        releases.now.write(f"{group}/v1.yaml", text)
    releases.keep()
    return releases


def test_namesakes_of_several_groups_are_compared_each_with_itself(grouped):
    assert grouped.kinds() == set()
    text = "title: Account\ntype: object\nproperties: {a: {type: string}, c: {type: string}}\n"
    grouped.now.write("crm/v1.yaml", text)
    assert [each.place for each in grouped.changes().values()] == ["Account.c in v1"]
    assert grouped.kinds() == {("property-added", Level.MINOR)}


def test_a_group_that_goes_takes_its_resource_types(grouped):
    grouped.now.write(
        "trundle.yaml",
        "package: crm\ngroups: {crm: crm.example.com}\n"
        "sources: [{path: crm, group: crm.example.com}]\n",
    )
    assert grouped.kinds() == {("resource-type-removed", Level.MAJOR)}


def test_groups_that_are_new_are_another_package(releases):
    releases.now.schema("2011-01-01", "{a: {type: string}}")
    releases.keep()
    releases.now.write(
        "trundle.yaml",
        "package: crm\ngroups: {crm: crm.example.com}\n"
        "sources: [{path: schemas, group: crm.example.com}]\n",
    )
    assert ("package-renamed", Level.MAJOR) in releases.kinds()


def test_namesakes_of_several_groups_are_distinguished(grouped):
    grouped.now.write("app.yaml", "name: acme/crm\nversion: 1.0.0\n")
    assert dict(resources_in(grouped.now.folder)) == {
        "crm.example.com/Account": ("v1",),
        "shop.example.com/Account": ("v1",),
    }


def write_crd(releases, **said):
    """Writes a CRD, with what else its version says."""
    schema = {"type": "object", "properties": {"status": {"type": "object"}}}
    spec = {
        "group": "crm.example.com",
        "names": {"kind": "Person", "plural": "people"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": schema},
                **said,
            }
        ],
    }
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": spec,
    }
    releases.now.write("schemas/people.json", json.dumps(crd))


def test_the_subresource_scale_is_part_of_the_contract(releases):
    def scaled(*paths):
        named = dict(zip(("specReplicasPath", "statusReplicasPath"), paths, strict=True))
        return {"subresources": {"scale": named}}

    one, other = scaled(".spec.a", ".status.a"), scaled(".spec.b", ".status.a")
    for before, now, level, text in (
        ({}, one, Level.MINOR, "it now has the subresource scale"),
        (one, {}, Level.MAJOR, "it no longer has the subresource scale"),
        (one, other, Level.MAJOR, "its subresource scale is now about other properties"),
    ):
        write_crd(releases, **before)
        releases.keep()
        write_crd(releases, **now)
        (change,) = releases.changes().values()
        assert (change.code, change.level, change.text) == ("scale-changed", level, text)


def test_a_status_that_is_written_otherwise_breaks_clients(releases):
    apart = {"subresources": {"status": {}}}
    for before, now, text in (
        ({}, apart, "its status is now a subresource"),
        (apart, {}, "its status is now written with the object"),
    ):
        write_crd(releases, **before)
        releases.keep()
        assert not releases.kinds()
        write_crd(releases, **now)
        (change,) = releases.changes().values()
        assert (change.code, change.level, change.text) == ("status-changed", Level.MAJOR, text)
