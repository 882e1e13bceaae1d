import pytest

STRING, INTEGER = "{type: string}", "{type: integer}"
LIST = "{type: array, items: {type: string}}"


@pytest.fixture
def people(project):
    """Three versions, of which the last one renames and retypes."""
    project.schema("2011-01-01", f"{{a: {STRING}, n: {INTEGER}, l: {LIST}, e: {{enum: [x, y]}}}}")
    project.schema("2012-02-02", f"{{a: {STRING}, n: {INTEGER}, l: {LIST}, e: {{enum: [x, y]}}}}")
    project.schema("2013-03-03", f"{{b: {STRING}, n: {STRING}, l: {STRING}, e: {{enum: [x, z]}}}}")
    return project


def rules(project, version, text):
    project.configure(f"changes:\n  {version}:\n    Person:\n      {text}\n")
    return project.problems()


@pytest.mark.parametrize(
    "rule",
    [
        "rename: {a: b}",
        "convert: {n: integer-to-string}",
        "unwrap: [l]",
        "values: {e: {y: z}}",
        "keep: [n]",
        "default: {n: 5}",
    ],
)
def test_a_rule_that_fits_is_no_finding(people, rule):
    assert rules(people, "2012-02-02", rule) == []


@pytest.mark.parametrize(
    "rule",
    [
        "rename: {a: b}",
        "convert: {n: integer-to-string}",
        "unwrap: [l]",
        "values: {e: {y: z}}",
        "keep: [n]",
    ],
)
def test_a_rule_that_a_new_version_cut_off_names_the_pair_it_belongs_to(people, rule):
    (found,) = rules(people, "2011-01-01", rule)
    assert found.startswith("trundle.yaml:6: ")
    assert "2012-02-02 came between" in found
    assert found.endswith("it now belongs to 2012-02-02 and 2013-03-03; move it under 2012-02-02")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("rename: {a: c}", "no newer Person has c; write one of b, e, l, n"),
        ("rename: {aa: b}", "names aa, which Person of 2012-02-02 does not have; did you mean a?"),
        ("wrap: [n]", "matches nothing: integer becomes string in 2013-03-03"),
        ("unwrap: [n]", "matches nothing: integer becomes string in 2013-03-03"),
        ("convert: {n: string-to-integer}", "matches nothing: integer becomes string"),
        ("values: {e: {w: z}}", "`values` of e in Person of 2012-02-02 matches nothing"),
        ("values: {n: {w: z}}", "`values` of n in Person of 2012-02-02 matches nothing"),
        ("variant: {n: Http}", "'n' is no object of 2012-02-02 that becomes a union of 2013-03-03"),
        ("keep: [a]", "no newer Person has a"),
        (
            "move: {a: b.c}",
            "cannot follow b.c of Person in 2013-03-03: b of Person is a single value",
        ),
        ("move: {a: o.cc}", "`move` of Person finds no o.cc in 2013-03-03"),
        ("renameType: Human", "no newer version has Human; write one of Person"),
        (
            "default: {n: five}",
            "the default of n in Person of 2012-02-02: expected integer, found 'five'",
        ),
    ],
)
def test_a_rule_that_matches_nothing_says_why(people, rule, reason):
    found = rules(people, "2012-02-02", rule)
    assert len(found) == 1
    assert reason in found[0]


def test_rules_of_unknown_versions_and_types_are_findings(people):
    people.configure(
        """\
        changes:
          2014-04-04: {Person: {rename: {a: b}}}
          2012-02-02: {Persom: {rename: {a: b}}}
        """
    )
    assert people.problems() == [
        (
            "trundle.yaml:4: there are changes of Person under 2014-04-04, which no schema has; "
            "did you mean 2013-03-03?"
        ),
        "trundle.yaml:5: 2012-02-02 has no type Persom; did you mean Person?",
    ]


def test_a_rule_of_the_newest_version_matches_nothing(people):
    (found,) = rules(people, "2013-03-03", "rename: {b: c}")
    assert "no newer version has Person" in found


def test_contradictions_are_found_and_the_other_rules_still_count(project):
    project.schema("2011-01-01", f"{{a: {STRING}, c: {STRING}}}")
    project.schema("2012-02-02", f"{{b: {STRING}, c: {STRING}}}")
    project.schema("2013-03-03", f"{{d: {STRING}, c: {STRING}}}")
    project.configure(
        """\
        changes:
          2011-01-01:
            Person:
              rename: {c: d}
          2012-02-02:
            Person:
              rename:
                b: d
        """
    )
    found = project.problems()
    assert any("contradicts another rename of Person" in each for each in found)
    (resource,) = project.load().evolution.resources
    assert len(resource.root.threads) > 1


def test_all_findings_are_listed(people):
    found = rules(people, "2012-02-02", "{rename: {x: y}, keep: [q], default: {a: 1}}")
    assert len(found) == 3


def test_type_renames_follow_nested_types(project):
    old = "{Address: {type: object, properties: {s: {type: string}}}}"
    new = "{Location: {type: object, properties: {s: {type: string}}}}"
    project.schema("2011-01-01", '{a: {$ref: "#/$defs/Address"}}', defs=old)
    project.schema("2012-02-02", '{a: {$ref: "#/$defs/Address"}}', defs=old)
    project.schema("2013-03-03", '{a: {$ref: "#/$defs/Location"}}', defs=new)
    project.configure("changes: {2012-02-02: {Address: {renameType: Location}}}\n")
    assert project.problems() == []
    project.configure("changes: {2011-01-01: {Address: {renameType: Location}}}\n")
    (found,) = project.problems()
    assert "it now belongs to 2012-02-02 and 2013-03-03" in found


def test_moves_into_and_out_of_nested_objects_fit(project):
    nested = "{type: object, properties: {street: {type: string}}}"
    project.schema("2011-01-01", f"{{street: {STRING}, place: {nested}}}")
    project.schema("2012-02-02", f"{{address: {nested}, street2: {STRING}}}")
    project.configure(
        """\
        changes:
          2011-01-01:
            Person:
              move: {street: address.street, place.street: street2}
        """
    )
    assert project.problems() == []


def test_rules_name_what_moves_by_its_older_path(project):
    inner = f"{{type: object, properties: {{t: {STRING}, e: {{enum: [x, y]}}}}}}"
    project.schema("2011-01-01", f"{{o: {inner}}}")
    other = f"{{type: object, properties: {{s: {INTEGER}, f: {{enum: [X, Y]}}}}}}"
    project.schema("2012-02-02", f"{{p: {other}}}")
    move = "move: {o.t: p.s, o.e: p.f}"
    values = "values: {o.e: {x: X, y: Y}}"
    fitting = f"{move}\n      {values}\n      convert: {{o.t: string-to-integer}}"
    assert rules(project, "2011-01-01", fitting) == []
    (found,) = rules(project, "2011-01-01", f"{move}\n      values: {{o.z: {{x: X}}}}")
    assert "`values` of o.z in Person of 2011-01-01 matches nothing" in found


def test_an_object_that_becomes_a_variant_fits(project):
    http = "{type: object, properties: {kind: {enum: [http]}, url: {type: string}}}"
    file = "{type: object, properties: {kind: {enum: [file]}, path: {type: string}}}"
    plain = "{type: object, properties: {url: {type: string}}}"
    project.schema("2011-01-01", '{a: {$ref: "#/$defs/Plain"}}', defs=f"{{Plain: {plain}}}")
    project.schema(
        "2012-02-02",
        '{a: {oneOf: [{$ref: "#/$defs/Http"}, {$ref: "#/$defs/File"}]}}',
        defs=f"{{Http: {http}, File: {file}}}",
    )
    project.configure("changes: {2011-01-01: {Person: {variant: {a: Http}}}}\n")
    assert project.problems() == []
    project.configure("changes: {2011-01-01: {Person: {variant: {a: Ftp}}}}\n")
    assert len(project.problems()) == 1


def test_of_several_rules_on_one_line_only_the_wrong_one_is_set_aside(people):
    rules(people, "2012-02-02", "{rename: {a: b}, variant: {n: Http}}")
    (changes,) = people.load().evolution.all_changes
    assert changes.rename == {"a": "b"}
    assert changes.variant == {}


def test_rules_of_a_nested_type_fit_what_a_rule_of_an_earlier_pair_has_moved_into_it(project):
    place = "{title: Place, properties: {street: {type: string}, lines: {type: string}}}"
    project.schema("2011-01-01", f"{{street: {STRING}, lines: {STRING}}}")
    project.schema("2012-02-02", f"{{place: {place}}}")
    later = "{properties: {road: {type: string}, in: {properties: {lines: {type: integer}}}}}"
    project.schema("2013-03-03", f"{{place: {{title: Place, {later[1:]}}}")
    project.configure(
        """\
        changes:
          2011-01-01:
            Person:
              move: {street: place.street, lines: place.lines}
          2012-02-02:
            PersonPlace:
              rename: {street: road}
              move: {lines: in.lines}
              convert: {lines: string-to-integer}
        """
    )
    assert project.problems() == []


ELEMENTS = (
    "{type: array, items: {type: array, items: {title: Port, properties: {%s}}}}",
    "a: {type: string}, e: {enum: [x]}",
    "o: {properties: {a: {type: integer}, f: {enum: [y]}}}",
)


def test_rules_about_what_stands_in_elements_are_refused_with_the_lines_to_write(project):
    types, older, newer = ELEMENTS
    project.schema("2011-01-01", f"{{l: {types % older}}}")
    project.schema("2012-02-02", f"{{l: {types % newer}, a: {STRING}}}")
    for rule, said in (
        ("move: {'l[][].a': 'l[][].o.a'}", "2011-01-01: `PersonL: {move: {a: o.a}}`"),
        ("convert: {'l[][].a': string-to-integer}", "`PersonL: {convert: {a: ...}}`"),
        ("keep: ['l[][].a']", "`PersonL: {keep: [a]}`"),
        ("move: {'l[][].a': a}", "cannot leave for a: what stands in elements moves within them"),
    ):
        (found, *_) = rules(project, "2011-01-01", rule)
        assert said in found


def test_the_lines_to_write_for_what_stands_in_elements_fit(project):
    types, older, newer = ELEMENTS
    project.schema("2011-01-01", f"{{l: {types % older}}}")
    project.schema("2012-02-02", f"{{l: {types % newer}}}")
    project.configure(
        """\
        changes:
          2011-01-01:
            PersonL:
              move: {a: o.a, e: o.f}
              convert: {a: string-to-integer}
              values: {e: {x: y}}
        """
    )
    assert project.problems() == []


def test_rules_name_the_properties_of_nested_objects_by_paths(project):
    project.schema("2011-01-01", "{o: {properties: {t: {type: string}, u: {type: string}}}, r: {}}")
    project.schema(
        "2012-02-02",
        "{o: {properties: {t: {type: integer}}}, p: {properties: {u: {type: integer}}}, r: {}}",
    )
    rule = "{move: {o.u: p.u}, convert: {o.t: duration-to-seconds, o.u: duration-to-seconds}}"
    project.configure(f"changes: {{2011-01-01: {{Person: {rule}}}}}\n")
    assert project.problems() == []
    project.configure("changes: {2011-01-01: {Person: {convert: {q.t: duration-to-seconds}}}}\n")
    (found,) = project.problems()
    assert "`convert` names q.t, which Person of 2011-01-01 does not have" in found
