import pytest

from trundle.project import ConfigError, load_config, load_parts
from trundle.project._starred import captures, filled
from trundle.version import ApiVersion

OLDER, NEWER = "2012-02-02", "2013-03-03"
REF = "{type: object, properties: {apiVersion: {type: string}, name: {type: string}}}"
NAMED = "{type: object, properties: {name: {type: string}}}"
GROUP = "{type: object, properties: {group: {type: string}, name: {type: string}}}"


@pytest.fixture
def people(project):
    """Two types of references, and three properties that go into a nested object."""
    text = "{type: string}"
    project.schema(
        OLDER,
        f"{{home: {{$ref: '#/$defs/HomeRef'}}, work: {{$ref: '#/$defs/WorkRef'}}, aTime: {text}, bTime: {text}, "
        f"cTime: {text}, time: {text}}}",
        defs=f"{{HomeRef: {REF}, WorkRef: {REF}}}",
    )
    whole = "{type: integer}"
    times = f"{{aSeconds: {whole}, bSeconds: {whole}, cSeconds: {whole}, last: {whole}}}"
    project.schema(
        NEWER,
        f"{{home: {{$ref: '#/$defs/HomeRef'}}, work: {{$ref: '#/$defs/WorkRef'}}, time: {text}, "
        f"times: {{type: object, properties: {times}}}}}",
        defs=f"{{HomeRef: {GROUP}, WorkRef: {GROUP}}}",
    )
    return project


def configured(project, rules):
    project.configure(f"changes:\n  {OLDER}:\n{rules}")
    return project


def changes(project, name):
    assert project.problems() == []
    return project.load().evolution.changes(ApiVersion.parse(OLDER), name)


REFERENCES = """\
    "*Ref":
      rename: {apiVersion: group}
      convert: {apiVersion: api-version-to-group}
"""
TIMES = """\
    Person:
      move: {"*Time": times.*Seconds}
      convert: {"*Time": go-duration-to-seconds}
"""


def test_rules_for_a_pattern_of_types_hold_for_each_that_it_stands_for(people):
    configured(people, REFERENCES)
    for name in ("HomeRef", "WorkRef"):
        assert changes(people, name).rename == {"apiVersion": "group"}
        assert changes(people, name).convert == {"apiVersion": "api-version-to-group"}
    assert changes(people, "Person") is None


def test_a_pattern_of_properties_stands_for_the_same_text_on_both_sides(people):
    found = changes(configured(people, TIMES), "Person")
    assert found.move == {f"{each}Time": f"times.{each}Seconds" for each in "abc"}
    assert found.convert == {f"{each}Time": "go-duration-to-seconds" for each in "abc"}
    assert found.place("move", "aTime").endswith("trundle.yaml:6")


def test_a_pattern_leads_into_nested_objects(people):
    rules = """\
    Person:
      move: {work.api*: home.*group}
      convert: {work.api*: api-version-to-group}
"""
    convert, move = configured(people, rules).problems()
    assert convert.startswith("trundle.yaml:7: `convert` of work.apiVersion in Person")
    assert move.startswith("trundle.yaml:6: `move` of Person finds no home.Versiongroup")


def test_what_is_written_for_a_property_itself_goes_before_a_pattern(people):
    rules = TIMES.replace('{"*Time": times', '{cTime: times.last, "*Time": times').replace(
        "Person:", '"Per*":'
    )
    found = changes(configured(people, rules), "Person")
    assert found.move == {
        "aTime": "times.aSeconds",
        "bTime": "times.bSeconds",
        "cTime": "times.last",
    }


def test_patterns_and_names_of_one_type_are_taken_together(people):
    rules = TIMES.replace("Person:", '"*":') + "    Person:\n      move: {bTime: times.last}\n"
    found = changes(configured(people, rules), "Person")
    assert found.move == {
        "bTime": "times.last",
        "aTime": "times.aSeconds",
        "cTime": "times.cSeconds",
    }


def test_two_patterns_that_say_different_things_are_an_error(people):
    rules = TIMES.replace("convert:", 'rename: {"a*": "home*"}\n      convert:')
    (found,) = [each for each in configured(people, rules).problems() if "different" in each]
    assert found == (
        "trundle.yaml:6: `move` of *Time and, at trundle.yaml:7, `rename` of a* say different things about "
        "aTime of Person; write a rule for aTime under Person itself, or narrow a pattern"
    )


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (
            '    "*Reff":\n      keep: [name]\n',
            "trundle.yaml:5: no type of 2012-02-02 is called *Reff; write one of HomeRef, Person, WorkRef",
        ),
        (
            '    "*Ref":\n      keep: [uid, name]\n',
            "trundle.yaml:6: `keep` names uid, which no type of 2012-02-02 that *Ref stands for has",
        ),
        (
            '    Person:\n      move: {"*Timeout": times.*Seconds}\n',
            "trundle.yaml:6: `move` names *Timeout, which Person of 2012-02-02 does not have",
        ),
        (
            '    "*Ref":\n      rename: {apiVersion: grupp}\n',
            "trundle.yaml:6: `rename` of apiVersion in HomeRef of 2012-02-02 matches nothing",
        ),
    ],
)
def test_a_pattern_that_stands_for_nothing_is_an_error(people, rules, text):
    assert any(text in each for each in configured(people, rules).problems())


@pytest.mark.parametrize(
    "rules",
    [
        '    Person:\n      move: {"*Time": times.last}\n',
        '    Person:\n      rename: {aTime: "*"}\n',
        '    "*Ref":\n      renameType: Reference\n',
    ],
)
def test_both_names_have_as_many_stars(people, rules):
    with pytest.raises(ConfigError, match="expected as many `\\*` in both names"):
        configured(people, rules).config()


def test_types_are_renamed_by_patterns(people):
    people.schema(
        NEWER,
        "{home: {$ref: '#/$defs/HomeTarget'}, work: {$ref: '#/$defs/WorkTarget'}}",
        defs=f"{{HomeTarget: {REF}, WorkTarget: {REF}}}",
    )
    configured(people, '    "*Ref":\n      renameType: "*Target"\n')
    assert changes(people, "HomeRef").rename_type == "HomeTarget"
    assert changes(people, "WorkRef").rename_type == "WorkTarget"


def test_a_property_that_is_called_like_a_pattern_is_itself(project):
    project.schema(OLDER, "{'a*': {type: string}, ab: {type: string}}")
    project.schema(NEWER, "{'b*': {type: string}, ab: {type: string}}")
    configured(project, '    Person:\n      rename: {"a*": "b*"}\n')
    assert changes(project, "Person").rename == {"a*": "b*"}


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("*Ref", "HomeRef", ("Home",)),
        ("*Ref", "Ref", ("",)),
        ("*Ref", "homeref", None),
        ("Ref", "Ref", ()),
        ("a*c*", "abcd", ("b", "d")),
        ("a.b*", "axb", None),
    ],
)
def test_what_stars_stand_for(pattern, name, found):
    assert captures(pattern, name) == found


def test_stars_are_filled_in_order():
    assert filled("*.x*", ("\\1", "*")) == "\\1.x*"


def test_a_pattern_holds_where_a_newer_version_has_what_it_names(people):
    inside = "{node: {$ref: '#/$defs/NodeRef'}, home: {$ref: '#/$defs/HomeRef'}}"
    people.schema(OLDER, inside, defs=f"{{HomeRef: {REF}, NodeRef: {REF}}}")
    people.schema(NEWER, inside, defs=f"{{HomeRef: {GROUP}, NodeRef: {NAMED}}}")
    configured(people, REFERENCES)
    assert changes(people, "HomeRef").rename == {"apiVersion": "group"}
    assert changes(people, "NodeRef") is None
    (note,) = [each for each in people.findings() if "does nothing" in each]
    assert note == (
        "trundle.yaml:6: `rename` of apiVersion does nothing for NodeRef.apiVersion of 2012-02-02: no newer "
        "version has what the pattern makes of it; write a rule of its own where it became something else"
    )


def test_nothing_is_said_of_what_stays_where_it_is(people):
    inside = "{node: {$ref: '#/$defs/NodeRef'}, home: {$ref: '#/$defs/HomeRef'}}"
    people.schema(OLDER, inside, defs=f"{{HomeRef: {REF}, NodeRef: {REF}}}")
    people.schema(NEWER, inside, defs=f"{{HomeRef: {GROUP}, NodeRef: {REF}}}")
    configured(people, REFERENCES)
    assert changes(people, "NodeRef") is None
    assert not [each for each in people.findings() if "does nothing" in each]


def test_nothing_is_said_of_what_a_rule_of_the_object_around_it_moves(project):
    text, whole = "{type: string}", "{type: integer}"
    times = f"{{type: object, properties: {{aTime: {text}}}}}"
    project.schema(OLDER, f"{{aTime: {text}, check: {times}}}")
    project.schema(
        NEWER,
        f"{{late: {{type: object, properties: {{aTime: {whole}}}}}, start: {whole}}}",
    )
    rules = """\
    "Person*":
      move: {a*: late.a*, check.aTime: start}
      convert: {"*Time": go-duration-to-seconds, check.aTime: go-duration-to-seconds}
"""
    configured(project, rules)
    assert changes(project, "Person").move == {"aTime": "late.aTime", "check.aTime": "start"}
    assert not [each for each in project.findings() if "does nothing" in each]


def test_a_pattern_that_holds_elsewhere_leaves_other_rules_of_a_property_alone(project):
    text, whole = "{type: string}", "{type: integer}"
    project.schema(OLDER, f"{{aTime: {text}, note: {text}}}")
    project.schema(
        NEWER, f"{{aTime: {whole}, late: {{type: object, properties: {{note: {text}}}}}}}"
    )
    rules = """\
    Person:
      move: {"*": late.*}
    "*":
      convert: {"*Time": go-duration-to-seconds}
"""
    configured(project, rules)
    assert changes(project, "Person").convert == {"aTime": "go-duration-to-seconds"}
    assert not [each for each in project.findings() if "does nothing" in each]


def test_a_conversion_goes_with_a_rename_of_its_pattern_in_each_group(tmp_path):
    """In one group, the rename holds for no type, and what stays under its name was converted."""
    crd = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: {group}.example.com
  names: {{kind: Account}}
  scope: Namespaced
  versions:
  - name: v1beta1
    schema: {{openAPIV3Schema: {{type: object, properties: {{ownerRef: {older}}}}}}}
  - name: v1beta2
    schema: {{openAPIV3Schema: {{type: object, properties: {{ownerRef: {newer}}}}}}}
"""
    folder = tmp_path / "schemas"
    folder.mkdir()
    for group, newer in (("crm", GROUP), ("shop", REF)):
        (folder / f"{group}.yaml").write_text(crd.format(group=group, older=REF, newer=newer))
    config = tmp_path / "trundle.yaml"
    config.write_text(
        "package: all\ngroups: {crm: crm.example.com, shop: shop.example.com}\nsources: [schemas]\n"
        f"changes:\n  v1beta1:\n{REFERENCES}"
    )
    crm, shop = (each.evolution for each in load_parts(load_config(config)).values())
    v1beta1 = ApiVersion.parse("v1beta1")
    assert crm.changes(v1beta1, "AccountOwnerRef").convert
    assert not getattr(shop.changes(v1beta1, "AccountOwnerRef"), "convert", {})


def test_nothing_is_said_of_what_stays_the_same_where_another_type_changes(project):
    text = "{type: string}"
    home = f"{{type: object, properties: {{aTime: {text}}}}}"
    project.schema(OLDER, f"{{aTime: {text}, home: {home}, apiVersion: {text}, old: {REF}}}")
    project.schema(
        NEWER, f"{{aTime: {{type: integer}}, place: {home}, apiVersion: {text}, new: {GROUP}}}"
    )
    rules = """\
    "*":
      rename: {apiVersion: group}
      convert: {"*Time": go-duration-to-seconds, apiVersion: api-version-to-group}
    Person:
      rename: {home: place, old: new}
"""
    configured(project, rules)
    assert changes(project, "PersonOld").rename == {"apiVersion": "group"}
    assert not [each for each in project.findings() if "does nothing" in each]


def test_nothing_is_said_of_an_object_whose_contents_move(project):
    text = "{type: string}"
    project.schema(OLDER, f"{{inner: {{type: object, properties: {{a: {text}}}}}, b: {text}}}")
    project.schema(NEWER, f"{{a: {text}, outer: {{type: object, properties: {{b: {text}}}}}}}")
    configured(project, '    Person:\n      move: {"*": outer.*, inner.*: "*"}\n')
    assert changes(project, "Person").move == {"b": "outer.b", "inner.a": "a"}
    assert not [each for each in project.findings() if "does nothing" in each]


def test_a_pattern_does_nothing_where_it_does_not_hold_in_a_type_of_another_name(project):
    project.schema(OLDER, f"{{old: {REF}, home: {REF}}}")
    project.schema(NEWER, f"{{new: {REF}, home: {GROUP}}}")
    configured(project, REFERENCES.replace("*Ref", "*") + "    Person:\n      move: {old: new}\n")
    assert changes(project, "PersonHome").convert == {"apiVersion": "api-version-to-group"}
    assert changes(project, "PersonOld").rename == changes(project, "PersonOld").convert == {}


def test_names_take_the_letter_case_of_where_they_stand(project):
    text, whole = "{type: string}", "{type: integer}"
    project.schema(
        OLDER,
        f"{{keySize: {whole}, keyURL: {text}, key: {text}, inner: {{type: object, properties: {{seen: {text}}}}}}}",
    )
    project.schema(
        NEWER,
        f"{{privateKey: {{type: object, properties: {{size: {whole}, url: {text}}}}}, key: {text}, lastSeen: {text}}}",
    )
    configured(project, "    Person:\n      move: {key*: privateKey.*, inner.*: last*}\n")
    assert changes(project, "Person").move == {
        "keySize": "privateKey.size",
        "keyURL": "privateKey.url",
        "inner.seen": "lastSeen",
    }


def test_a_pattern_holds_where_a_type_goes_on_under_another_name(project):
    project.schema(OLDER, f"{{home: {REF}, work: {REF}, note: {{type: string}}}}")
    project.schema(
        NEWER,
        f"{{places: {{type: object, properties: {{home: {GROUP}, work: {NAMED}}}}}, note: {{type: string}}}}",
    )
    rules = REFERENCES.replace("*Ref", "Person*")
    configured(project, rules + '    Person:\n      move: {"*": places.*}\n')
    assert changes(project, "PersonHome").rename == {"apiVersion": "group"}
    idle = [each.split(":")[1] for each in project.findings() if "does nothing" in each]
    assert sorted(idle) == ["6", "7"]


def test_nothing_is_said_where_another_pattern_holds(people):
    rules = TIMES.replace("move: {", 'move: {"*": times.*, ')
    configured(people, rules)
    people.schema(OLDER, "{aTime: {type: string}, last: {type: integer}}")
    assert changes(people, "Person").move == {"aTime": "times.aSeconds", "last": "times.last"}
    assert not [each for each in people.findings() if "does nothing" in each]
