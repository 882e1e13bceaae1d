import importlib

import pytest

from trundle.project import FindingsError, ProjectError, lock, read_lock
from trundle.project.errors import OutputBusyError

lock_module = importlib.import_module("trundle.project.lock_change")
STRING, INTEGER = "{type: string}", "{type: integer}"
HOOK = """\
    from trundle.runtime import hook

    class Names:
        @hook(reads=("a",), writes=("c",))
        def assign_to(self, source):
            return {"c": source.a}
"""


@pytest.fixture
def released(project):
    """A project with a preview, a rename, a rule and a hook, released."""
    project.schema("2011-01-01", f"{{a: {STRING}, n: {INTEGER}}}")
    project.schema("2012-02-02-preview", f"{{p: {STRING}}}")
    project.schema("2013-03-03", f"{{b: {STRING}, c: {STRING}, n: {STRING}}}")
    project.write("names.py", HOOK)
    configure(project)
    lock(project.config())
    return project


def configure(project, *, rules="{rename: {a: b}, convert: {n: integer-to-string}}", hook=True):
    text = f"changes: {{2011-01-01: {{Person: {rules}}}}}\n" if rules else ""
    if hook:
        text += (
            "hooks:\n  - {type: Person, between: [2011-01-01, 2013-03-03], use: 'names:Names'}\n"
        )
    project.configure(text)


def findings(project):
    return [
        each for each in project.findings("lock") if "unreadable" in each or "objects of" in each
    ]


def test_a_lock_records_the_hub(released):
    recorded = read_lock(released.folder / "trundle.lock").resources
    assert list(recorded) == ["Person"]
    (version,) = recorded["Person"]
    release = recorded["Person"][version]
    assert version == "2013-03-03"
    assert release.versions == ["2011-01-01", "2012-02-02-preview", "2013-03-03"]
    person = release.types[release.root]
    assert person.properties == {"b": "string", "c": "string", "n": "string"}
    assert person.renamed == {"b": {"2011-01-01": "a"}}
    assert person.apart == {"n": ["2011-01-01"]}
    assert person.bag == {"n@2011-01-01": "integer", "p@2012-02-02-preview": "string"}
    assert release.changes["2011-01-01"]["Person"]["rename"] == {"a": "b"}
    assert release.hooks[0].use == "names:Names"


def test_nothing_changed_is_nothing_to_say(released):
    assert findings(released) == []
    before = (released.folder / "trundle.lock").read_bytes()
    change = lock(released.config())
    assert not change.changes
    assert change.unchanged == ("Person 2013-03-03",)
    assert (released.folder / "trundle.lock").read_bytes() == before


def test_a_hub_that_is_not_recorded_is_a_note(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}")
    found = project.findings("lock")
    assert found == [
        (
            "trundle.lock: the stored format of Person 2011-01-01 is not recorded; "
            "run `trundle lock` when you release it"
        )
    ]


def test_a_later_release_is_recorded_beside_the_first(released):
    released.schema("2014-04-04", f"{{b: {STRING}, c: {STRING}, n: {STRING}}}")
    change = lock(released.config())
    assert change.recorded == ("Person 2014-04-04",)
    recorded = read_lock(released.folder / "trundle.lock").resources["Person"]
    assert list(recorded) == ["2013-03-03", "2014-04-04"]
    assert findings(released) == []


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        (f"{{c: {STRING}, n: {STRING}}}", "have Person.b (string), which 2013-03-03 does not have any more"),
        (f"{{b: {INTEGER}, c: {STRING}, n: {STRING}}}", "have Person.b as string, which 2013-03-03 now has as another type"),
    ],
)  # fmt: skip
def test_a_recorded_property_must_stay_as_it_was(released, properties, reason):
    configure(released, rules="", hook=False)
    released.schema("2013-03-03", properties)
    assert any(reason in each for each in findings(released))


def test_a_recorded_version_must_stay(released):
    (released.folder / "schemas/2013-03-03.yaml").unlink()
    released.configure("")
    (found,) = findings(released)
    assert (
        "stored in 2013-03-03 are unreadable: no schema has Person in 2013-03-03 any more" in found
    )


def test_a_version_whose_values_ride_in_bags_must_stay(released):
    (released.folder / "schemas/2012-02-02-preview.yaml").unlink()
    (found,) = findings(released)
    assert "hold Person.p in the shape of 2012-02-02-preview, which no schema has any more" in found


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"rules": "{convert: {n: integer-to-string}}"},
            "which was a of 2011-01-01 when it was released",
        ),
        (
            {"rules": "{rename: {a: b}}"},
            "rely on `convert` of Person.n under 2011-01-01, which is gone",
        ),
        (
            {"hook": False},
            "rely on the hook names:Names of Person between 2011-01-01 and 2013-03-03",
        ),
    ],
)
def test_what_conversions_of_stored_objects_rely_on_must_stay(released, options, reason):
    configure(released, **options)
    (found,) = findings(released)
    assert reason in found


MAP = "{type: object, additionalProperties: {type: string}}"
LIST = "{type: array, items: {type: object, properties: {k: {type: string}, v: {type: string}}}}"
LISTED, MAPPED = "map-to-list: {key: k, value: v}", "list-to-map: {key: k, value: v}"


@pytest.mark.parametrize(
    ("older", "newer", "rules"),
    [
        (MAP, LIST, f"Person: {{convert: {{n: {{{LISTED}}}}}}}"),
        (LIST, MAP, f"Person: {{convert: {{n: {{{MAPPED}}}}}}}"),
        (
            "{type: object, properties: {apiVersion: {type: string}}}",
            "{type: object, properties: {apiGroup: {type: string}}}",
            "PersonN: {rename: {apiVersion: apiGroup}, convert: {apiVersion: {api-version-to-group: v1}}}",
        ),
    ],
    ids=["map-to-list", "list-to-map", "api-version-to-group"],
)
def test_a_later_release_keeps_a_conversion_that_has_something_to_know(
    project, older, newer, rules
):
    project.schema("2011-01-01", f"{{n: {older}}}")
    project.schema("2013-03-03", f"{{n: {newer}}}")
    project.configure(f"changes: {{2011-01-01: {{{rules}}}}}\n")
    lock(project.config())
    project.schema("2014-04-04", f"{{n: {newer}}}")
    assert findings(project) == []
    assert lock(project.config()).recorded == ("Person 2014-04-04",)
    assert findings(project) == []
    changed = {"key: k": "key: v", "value: v": "value: k", "group: v1": "group: v2"}
    for before, after in changed.items():
        rules = rules.replace(before, after, 1)
    project.configure(f"changes: {{2011-01-01: {{{rules}}}}}\n")
    found = findings(project)
    assert found
    assert all("under 2011-01-01, which has changed" in each for each in found)


UNION = "{{oneOf: [{}]}}"
VARIANT = "{{type: object, required: [kind], properties: {{kind: {{const: {0}}}, {0}: {{type: string}}}}}}"
ONE, BOTH = (UNION.format(", ".join(map(VARIANT.format, each))) for each in ("pq", "pqr"))


@pytest.mark.parametrize("hub", ["2011-01-01", "2013-03-03"])
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (STRING, STRING),
        (INTEGER, "{type: number}"),
        (f"{{type: array, items: {INTEGER}}}", "{type: array, items: {type: number}}"),
        (ONE, BOTH),
        (BOTH, ONE),
        ("{type: object}", f"{{type: object, properties: {{x: {STRING}}}}}"),
    ],
    ids=["same", "number", "list", "union", "smaller-union", "free-form"],
)
def test_a_rename_must_stay_also_where_the_type_differs(project, older, newer, hub):
    project.schema("2011-01-01", f"{{a: {older}}}")
    project.schema("2013-03-03", f"{{b: {newer}}}")
    stored = f"hub: {{Person: {hub}}}\n"
    project.configure(f"{stored}changes: {{2011-01-01: {{Person: {{rename: {{a: b}}}}}}}}\n")
    lock(project.config())
    assert findings(project) == []
    project.configure(stored)
    (found,) = findings(project)
    assert "rename: {a: b}" in found or "rely on `rename` of Person.a to b" in found


@pytest.mark.parametrize(
    ("types", "hub"),
    [
        ([STRING, STRING, STRING], "2011-01-01"),
        ([STRING, STRING, STRING], "2013-03-03"),
        ([INTEGER, INTEGER, "{type: number}"], "2011-01-01"),
        ([INTEGER, "{type: number}", "{type: number}"], "2013-03-03"),
    ],
)
def test_one_rename_may_say_what_two_said_around_a_version_that_is_gone(project, types, hub):
    versions = ("2011-01-01", "2012-02-02", "2013-03-03")
    for version, name, each in zip(versions, "abc", types, strict=True):
        project.schema(version, f"{{{name}: {each}}}")
    stored = f"hub: {{Person: {hub}}}\n"
    rules = "2011-01-01: {Person: {rename: {a: b}}}, 2012-02-02: {Person: {rename: {b: c}}}"
    project.configure(f"{stored}changes: {{{rules}}}\n")
    lock(project.config())
    (project.folder / "schemas" / "2012-02-02.yaml").unlink()
    project.configure(f"{stored}changes: {{2011-01-01: {{Person: {{rename: {{a: c}}}}}}}}\n")
    assert findings(project) == []
    project.configure(stored)
    (found,) = findings(project)
    assert "rename: {a: c}" in found or "rely on `rename` of Person.a to b" in found


def test_a_rename_goes_with_the_only_version_that_has_the_other_name(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}")
    project.schema("2012-02-02", f"{{b: {STRING}}}")
    project.schema("2013-03-03", f"{{x: {STRING}}}")
    stored = "hub: {Person: 2011-01-01}\n"
    project.configure(f"{stored}changes: {{2011-01-01: {{Person: {{rename: {{a: b}}}}}}}}\n")
    lock(project.config())
    (project.folder / "schemas" / "2012-02-02.yaml").unlink()
    project.configure(stored)
    assert findings(project) == []


def test_a_rename_must_stay_of_what_is_in_bags_on_both_sides(project):
    project.schema("2011-01-01", f"{{a: {STRING}, x: {STRING}}}")
    project.schema("2013-03-03", f"{{b: {STRING}, x: {STRING}}}")
    project.schema("2014-04-04", f"{{x: {STRING}}}")
    project.configure("changes: {2011-01-01: {Person: {rename: {a: b}}}}\n")
    lock(project.config())
    project.configure("")
    (found,) = findings(project)
    assert "rely on `rename` of Person.a to b under 2011-01-01, which is gone" in found


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("a.example", "b.example", "name the API group a.example, which is now b.example"),
        ("a.example", "", "name the API group a.example, which is gone"),
        ("a.example", "A.example", ""),
        ("a.example", "a.example", ""),
        ("", "a.example", ""),
    ],
)
def test_the_api_group_that_stored_objects_name_must_stay(project, before, after, said):
    project.schema("2011-01-01", f"{{a: {STRING}}}")

    def grouped(group):
        named = f", group: {group}" if group else ""
        project.write("trundle.yaml", f"package: crm\nsources: [{{path: schemas{named}}}]\n")

    grouped(before)
    lock(project.config())
    grouped(after)
    found = findings(project)
    assert len(found) == bool(said)
    assert all(said in each for each in found)


def test_growth_is_fine_and_reported(released):
    released.schema("2013-03-03", f"{{b: {STRING}, c: {STRING}, n: {STRING}, z: {{type: number}}}}")
    assert findings(released) == []
    assert any("has grown" in each for each in released.findings("lock"))
    assert lock(released.config()).extended == ("Person 2013-03-03",)


def test_what_contradicts_the_record_is_refused_until_it_is_accepted(released):
    before = (released.folder / "trundle.lock").read_bytes()
    configure(released, rules="{convert: {n: integer-to-string}}")
    with pytest.raises(FindingsError, match=r"restore `rename: \{a: b\}`"):
        lock(released.config())
    assert (released.folder / "trundle.lock").read_bytes() == before
    assert lock(released.config(), accept=True, dry_run=True).replaced == ("Person 2013-03-03",)
    assert (released.folder / "trundle.lock").read_bytes() == before
    lock(released.config(), accept=True)
    assert findings(released) == []


def test_a_version_that_is_gone_can_be_given_up(released):
    (released.folder / "schemas/2013-03-03.yaml").unlink()
    released.configure("")
    change = lock(released.config(), accept=True)
    assert change.removed == ("Person 2013-03-03",)
    assert list(read_lock(released.folder / "trundle.lock").resources["Person"]) == ["2011-01-01"]


@pytest.mark.parametrize(
    ("before", "after", "readable"),
    [
        (INTEGER, "{type: number}", True),
        ("{type: number}", INTEGER, False),
        ("{enum: [a, b]}", STRING, True),
        (STRING, "{enum: [a]}", True),
        (STRING, "{}", True),
        ("{}", STRING, False),
        (STRING, "{type: [string, 'null']}", True),
        ("{type: [string, 'null']}", STRING, False),
        ("{type: array, items: {type: integer}}", "{type: array, items: {type: number}}", True),
        ("{type: array, items: {type: string}}", STRING, False),
        ("{type: object, additionalProperties: {type: string}}", "{type: array, items: {type: string}}", False),
        (STRING, "{anyOf: [{type: string}, {type: integer}]}", True),
        ("{anyOf: [{type: string}, {type: integer}]}", STRING, False),
        ("{anyOf: [{type: string}, {type: integer}]}", "{anyOf: [{type: number}, {type: string}]}", True),
        ("{type: object, properties: {s: {type: string}}}", "{type: object, properties: {s: {type: string}, t: {type: string}}}", True),
        ("{type: object, properties: {s: {type: string}}}", "{type: object, properties: {t: {type: string}}}", False),
    ],
)  # fmt: skip
def test_which_types_still_read_what_was_stored(project, before, after, readable):
    project.schema("2011-01-01", f"{{a: {before}}}")
    lock(project.config())
    project.schema("2011-01-01", f"{{a: {after}}}")
    assert (findings(project) == []) is readable


def test_recursive_types_are_recorded_once(project):
    node = '{Node: {type: object, properties: {next: {$ref: "#/$defs/Node"}}}}'
    project.schema("2011-01-01", '{a: {$ref: "#/$defs/Node"}}', defs=node)
    lock(project.config())
    release = read_lock(project.folder / "trundle.lock").resources["Person"]["2011-01-01"]
    assert set(release.types) <= {"Node", "Node(2)", "Person"}
    assert findings(project) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("format: 9\nresources: {}\n", "expected format 2, found 9"),
        ("format: 1\n", "expected a lock, found"),
        ("format: 1\nresources: {}\nmore: 1\n", "expected a lock, found"),
        ("{", "expected"),
        ("\n", "expected a lock, found an empty file; restore it from version control"),
        ("--- 1\n--- 2\n", "expected one document, found 2"),
    ],
)
def test_a_damaged_lock_is_an_error(project, text, reason):
    project.schema("2011-01-01", f"{{a: {STRING}}}")
    project.write("trundle.lock", text)
    with pytest.raises(ProjectError, match=reason):
        lock(project.config())


def test_a_project_with_errors_cannot_be_locked(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}")
    project.configure("changes: {2011-01-01: {Person: {keep: [q]}}}\n")
    with pytest.raises(FindingsError):
        lock(project.config())


def test_a_rule_that_empties_the_bag_is_refused(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}").schema("2012-02-02", f"{{b: {STRING}}}")
    lock(project.config())
    configure(project, rules="{rename: {a: b}}", hook=False)
    (found,) = findings(project)
    assert "hold Person.a of 2011-01-01 in the property bag; now it would be read from b" in found


def test_a_type_that_joins_others_is_held_against_its_own_versions(project):
    old = "{Old: {type: object, properties: {x: {type: string}}}}"
    new = "{New: {type: object, properties: {x: {type: integer}}}}"
    project.schema("2011-01-01", '{a: {$ref: "#/$defs/Old"}}', defs=old)
    project.schema("2012-02-02", '{a: {$ref: "#/$defs/New"}}', defs=new)
    lock(project.config())
    project.configure("changes: {2011-01-01: {Old: {renameType: New}}}\n")
    (found,) = findings(project)
    assert "hold Person.a of 2011-01-01 in the property bag" in found


def test_entries_of_a_nested_bag_that_a_rule_about_their_path_passes_over_are_found(project):
    project.schema("2011-01-01", f"{{o: {{properties: {{a: {STRING}, k: {STRING}}}}}}}")
    project.schema("2012-02-02", f"{{o: {{properties: {{k: {STRING}}}}}, b: {STRING}}}")
    project.configure("")
    lock(project.config())
    project.configure("changes: {2011-01-01: {Person: {move: {o.a: b}}}}\n")
    (found,) = [each for each in findings(project) if "property bag" in each]
    assert "which a rule about its path now looks for in the object around it" in found
    assert "remove the rule; or, if no stored object has such an entry, accept it" in found


def test_a_lock_that_another_process_records_meanwhile_is_not_written_over(released, monkeypatch):
    """It reads the lock and works; the other one records a later version before it writes."""
    path = released.folder / "trundle.lock"
    released.schema("2014-04-04", f"{{b: {STRING}}}")
    write = lock_module._write

    def write_after_another(*arguments):
        monkeypatch.setattr(lock_module, "_write", write)
        released.schema("2015-05-05", f"{{b: {STRING}}}")
        lock(released.config())
        write(*arguments)

    monkeypatch.setattr(lock_module, "_write", write_after_another)
    with pytest.raises(
        OutputBusyError, match="another process has changed it; run the command again"
    ):
        lock(released.config())
    assert "2015-05-05" in read_lock(path).resources["Person"]
    assert lock(released.config()).changes is False
    assert not list(released.folder.glob(".trundle.lock*"))
