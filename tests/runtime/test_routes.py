import json

import pytest
from cases import LEVEL, A, B, C
from evolving import evolution, evolve, hooked, load, rules, thing

from trundle.runtime import DocumentError, HookError, UnknownVersionError

ITEMS = {"name!": "string", "size": "integer", "in": "In"}
VERSIONS = {
    "v1": {
        "Thing": {"old": "string", "n!": "number", "items": "[Item]", "level": "Level", "in": "In"},
        "Item": {**ITEMS, "gone": "string"},
        "Level": ["low", "high"],
        "In": {"x": "string", "y": "integer"},
    },
    "v2": {
        "Thing": {"new": "string", "n!": "number", "items": "[Item]", "level": "Level", "in": "In"},
        "Item": {**ITEMS, "come": "string"},
        "Level": ["low", "high"],
        "In": {"x": "string", "y": "integer"},
    },
}
HEAD = b'{"apiVersion":"v1","kind":"Thing"'


@pytest.fixture(scope="module")
def scheme():
    return evolve(VERSIONS, rules("v1", rename={"old": "new"}))


def convert(scheme, text, **options):
    data = HEAD + text.encode()
    first = scheme.convert_json(data, "v2", **options)
    assert scheme.convert_json(data, "v2", **options) == first  # the second time by what it learnt
    return first.decode().removeprefix('{"apiVersion":"v2","kind":"Thing"')


def test_what_is_not_touched_stays_as_it_is_written(scheme):
    untouched = '{ "y" : 1.0,\t"x":"\\u00e9", "x":"" }'
    assert convert(scheme, f',"n":1.10,"in":{untouched},"old":"a"}}') == (
        f',"in":{untouched},"n":1.10,"new":"a"}}'
    )


def test_a_route_that_another_thread_has_just_learnt_is_taken(scheme):
    data = HEAD + b',"n":1.10,"in":{ "x":"\\u00e9" }}'
    first = scheme.convert_json(data, "v2")
    assert b'{ "x":"\\u00e9" }' in first
    assert scheme._routes.convert(data, "v2", None, None, strict=False) == first


def test_strict_writes_everything_as_its_class_does(scheme):
    assert convert(scheme, ',"n":1.10,"in":{ "y": 1, "x": "\\u00e9" }}', strict=True) == (
        ',"in":{"x":"é","y":1},"n":1.1}'
    )


@pytest.mark.parametrize(
    "untouched",
    [
        ',"n":"no number"}',
        ',"n":1e999}',
        ',"n":null}',
        ',"n":1,"level":"unheard of","in":7}',
        ',"n":1,"in":{"unknown":true}}',
        ',"n":1,"items":[{"name":"a","in":{"y":"z"}}]}',
    ],
)
def test_what_is_not_touched_is_not_validated_unless_strict(scheme, untouched):
    assert convert(scheme, untouched)
    if "unheard of" not in untouched or '"in":7' in untouched:
        with pytest.raises(DocumentError):
            convert(scheme, untouched, strict=True)


@pytest.mark.parametrize(
    ("touched", "found"),
    [
        (',"n":1,"items":{}}', r"Expected `array`, got `object` - at \$\.items"),
        (
            ',"n":1,"items":[{}]}',
            r"the required property `name`, got nothing - at \$\.items\[0\]\.name",
        ),
        (',"n":1,"items":[{"name":"a","b":1}]}', r"known property, got `b` - at \$\.items\[0\]\.b"),
        (',"n":1,"zzz":1}', r"known property, got `zzz` - at \$\.zzz"),
        ("}", r"the required property `n`, got nothing"),
        (',"n":1,"in":{"x":}}', "malformed"),
        (',"n":1,"in":{"x":"\\q"}}', "malformed"),
    ],
)
def test_what_is_touched_is_validated(scheme, touched, found):
    with pytest.raises(DocumentError, match=found):
        convert(scheme, touched)


def test_what_is_wrong_where_a_step_looks_brings_to_light_all_that_is_wrong(scheme):
    with pytest.raises(DocumentError) as caught:
        convert(scheme, ',"n":"no number","zzz":1}')
    assert [each.place.path for each in caught.value.findings] == ["$.n", "$.zzz"]


def test_text_that_is_no_utf_8_is_an_error_wherever_it_is(scheme):
    for _ in range(2):
        with pytest.raises(DocumentError, match="UTF-8"):
            scheme.convert_json(HEAD + b',"n":1,"in":{"x":"\xff"}}', "v2")
        convert(scheme, ',"n":1}')


def test_a_later_member_that_names_another_version_is_heard(scheme):
    convert(scheme, ',"n":1,"old":"a"}')
    data = HEAD + b',"n":1,"old":"a","apiVersion":"v3"}'
    with pytest.raises(UnknownVersionError, match="no version 'v3'"):
        scheme.convert_json(data, "v2")


@pytest.mark.parametrize("strict", [False, True])
def test_documents_that_do_not_start_with_their_names_come_to_the_same(scheme, strict):
    members = '"n":1,"items":[{"name":"a","gone":"b","in":{"x":"c"}}],"old":"d"'
    expected = convert(scheme, f",{members}}}", strict=strict)
    for data, options in (
        (f'{{{members},"kind":"Thing","apiVersion":"v1"}}', {}),
        (f'{{{members},"kind":"thing","apiVersion":"v1"}}', {}),
        (f"{{{members}}}", {"version": "v1"}),
        (f'{{"apiVersion":"v1",{members}}}', {"resource": "Thing"}),
    ):
        found = scheme.convert_json(data.encode(), "v2", strict=strict, **options)
        assert found.decode().endswith(expected)


def test_what_a_document_keeps_apart_is_carried(scheme):
    text = ',"n":1,"in":{"$unknown":{}}}'
    with pytest.raises(DocumentError):
        convert(scheme, text)


def test_a_property_that_becomes_an_additional_one_is_written_beside_the_others():
    scheme = evolve({"v1": {"Thing": {"a": "string"}}, "v2": {"Thing": {"*": "string"}}})
    for strict in (False, True):
        for _ in range(2):
            found = scheme.convert_json(HEAD + b',"a":"x"}', "v2", strict=strict)
            assert json.loads(found) == thing("v2", a="x")


@pytest.mark.full
def test_unknown_properties_are_kept_where_they_are(scheme):
    keeping = load(evolution(VERSIONS, rules("v1", rename={"old": "new"})), unknown="keep")
    text = ',"n":1,"zzz":1,"in":{"yyy":[2]},"items":[{"name":"a","xxx":3}]}'
    assert json.loads(keeping.convert_json(HEAD + text.encode(), "v2")) == thing(
        "v2", n=1, zzz=1, **{"in": {"yyy": [2]}}, items=[{"name": "a", "xxx": 3}]
    )


def test_versions_that_go_by_the_hub_are_read_whole():
    scheme = load(evolution(VERSIONS), straight=0)
    with pytest.raises(DocumentError, match="known property, got `unknown`"):
        scheme.convert_json(HEAD + b',"n":1,"in":{"unknown":true}}', "v2")


def test_unions_that_are_touched_are_read_whole():
    scheme = evolve({"v1": {"Thing": {"u": "A|B"}} | A | B, "v2": {"Thing": {"u": "A|C"}} | A | C})
    data = HEAD + b',"u":{"kind":"a","x":"1"}}'
    assert json.loads(scheme.convert_json(data, "v2")) == thing("v2", u={"kind": "a", "x": "1"})


def test_objects_within_themselves_and_maps_are_converted():
    node = {"name": "string", "kids": "[Node]", "by": "{Node}", "level": "L"}
    scheme = evolve(
        {
            "v1": {"Thing": {"n": "Node"}, "Node": {**node, "x": "string"}} | LEVEL,
            "v2": {"Thing": {"n": "Node"}, "Node": {**node, "z": "string"}} | LEVEL,
        },
        rules("v1", "Node", rename={"x": "z"}),
    )
    inner = {"x": "2", "level": "Gold"}
    source = thing("v1", n={"name": "a", "x": "1", "kids": [inner], "by": {"b": inner}})
    found = scheme.convert_json(json.dumps(source).encode(), "v2")
    assert json.loads(found) == json.loads(json.dumps(source).replace('"x"', '"z"')) | {
        "apiVersion": "v2"
    }


class Broken:
    def assign_to(self, source):
        raise ValueError("no")


def test_a_hook_that_fails_says_where():
    scheme = evolve(
        {
            "v1": {"Thing": {"items": "[Item]"}, "Item": {"a": "string"}},
            "v2": {"Thing": {"items": "[Item]"}, "Item": {"b": "string"}},
        },
        hooked("v1", "v2", Broken, "Item", to=(("a",), ("b",))),
    )
    with pytest.raises(HookError, match=r"raised ValueError: no - at \$\.items\[0\]"):
        scheme.convert_json(HEAD + b',"items":[{"a":"x"}]}', "v2")
