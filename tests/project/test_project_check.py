from trundle.project import generate

STRING, INTEGER = "{type: string}", "{type: integer}"


def test_output_is_missing_then_fresh_then_stale(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}")
    assert project.findings("stale") == [
        "crm: expected the generated package crm, found none; run `trundle generate`"
    ]
    generate(project.config())
    assert project.findings("stale") == []
    project.schema("2012-02-02", f"{{a: {STRING}, b: {STRING}}}")
    (found,) = project.findings("stale")
    assert "expected what `trundle generate` writes, found other files (missing: " in found


def test_a_change_of_type_is_acknowledged_by_a_rule_or_a_hook(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}").schema("2012-02-02", f"{{a: {INTEGER}}}")
    assert project.findings("type-change") == []
    (found,) = project.findings("type-change", strict=True)
    assert found.startswith("schemas/2012-02-02.yaml#: Person.a changes its type from string ")
    assert found.endswith("or `keep: [a]` under 2011-01-01")
    project.configure("changes: {2011-01-01: {Person: {keep: [a]}}}\n")
    assert project.findings("type-change", strict=True) == []
    project.configure("changes: {2011-01-01: {Person: {convert: {a: string-to-integer}}}}\n")
    assert project.findings("type-change", strict=True) == []
    project.write(
        "names.py",
        """\
        from trundle.runtime import hook
        class A:
            @hook(reads=("a",), writes=("a",))
            def assign_to(self, source):
                return {"a": 1}
        """,
    )
    project.configure(
        "hooks: [{type: Person, between: [2011-01-01, 2012-02-02], use: 'names:A'}]\n"
    )
    assert project.findings("type-change", strict=True) == []


def test_required_properties_that_may_be_absent_are_notes(project):
    project.schema("2011-01-01", f"{{a: {STRING}, d: {{type: string, format: date}}}}")
    project.schema(
        "2012-02-02", f"{{a: {STRING}, d: {{type: string, format: date}}}}", required="[a, d]"
    )
    assert project.findings("default") == [
        (
            "schemas/2012-02-02.yaml#: Person.a is required in 2012-02-02, but other versions may lack "
            'it: it shows ""; configure a `default` if that is wrong'
        ),
        (
            "schemas/2012-02-02.yaml#: Person.d is required in 2012-02-02, but other versions may lack "
            "it: it stays absent; configure a `default` if that is wrong"
        ),
    ]
    project.configure("changes: {2012-02-02: {Person: {default: {a: x}}}}\n")
    assert 'it shows "x"' in project.findings("default")[0]


def test_always_required_properties_are_no_notes(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}", required="[a]")
    project.schema("2012-02-02", f"{{a: {STRING}}}", required="[a]")
    assert project.findings("default") == []


def test_unions_that_nothing_tells_apart_are_notes(project):
    one = "{type: object, properties: {x: {type: string}}}"
    other = "{type: object, properties: {y: {type: string}}}"
    project.schema(
        "2011-01-01",
        '{a: {anyOf: [{$ref: "#/$defs/One"}, {$ref: "#/$defs/Other"}]}}',
        defs=f"{{One: {one}, Other: {other}}}",
    )
    (found,) = project.findings("union")
    assert "Person.a (One | Other) in 2011-01-01 is carried as free-form data" in found


def test_errors_come_before_notes_and_findings_do_not_repeat(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}")
    project.schema("2012-02-02", f"{{a: {STRING}}}", required="[a]")
    found = project.findings()
    assert len(found) == len(set(found))
    assert found[0].startswith("crm: ")


def test_what_cannot_be_generated_is_not_called_stale(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}")
    project.configure("changes: {2011-01-01: {Person: {keep: [q]}}}\n")
    assert project.findings("stale") == []
    assert len(project.findings("unused")) == 1
