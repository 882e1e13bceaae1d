"""The quick way to write over what is stored comes to the same bytes as the careful one."""

import json

import pytest
from evolving import evolve, thing

from trundle.runtime import DocumentError, Lenience, Scheme, UnknownVersionError

V1, V2 = "2020-01-01", "2021-01-01"


@pytest.fixture(scope="module")
def scheme() -> Scheme:
    """Properties that are only copied, one that is renamed, one that changes, and objects that do."""
    same = {
        "text!": "string",
        "number": "number",
        "list": "[Leaf;id]",
        "free": "any",
        "map": "{string}",
    }
    leaf = {"Leaf": {"id!": "string", "x": "string"}}
    return evolve(
        {
            V1: {"Thing": {**same, "old": "string", "n": "Item"}, "Item": {"x": "string"}} | leaf,
            V2: {"Thing": {**same, "new": "string", "n": "Item"}, "Item": {"y": "string"}} | leaf,
        }
    )


FULL = {
    "text": "a",
    "number": 1,
    "list": [{"id": "1", "x": "2"}, {"id": "2"}],
    "free": {"b": 1.10, "a": []},
    "map": {"b": "1", "a": "2"},
}


def put(scheme: Scheme, base: bytes, document: object, **options: object) -> bytes:
    """What the quick way comes to, which the careful way comes to as well."""
    data = json.dumps(document, separators=(",", ":"), **options).encode()
    quick = scheme._puts.put(data, base)
    assert quick is not None
    assert quick == scheme.encode(scheme.to_storage(scheme.decode(data), scheme.decode(base)))
    assert quick == scheme.convert_json(data, base=base)
    assert quick == scheme.put(json.loads(data)["apiVersion"], data, base)
    return quick


@pytest.fixture
def base(scheme: Scheme) -> bytes:
    stored = scheme.to_storage(thing(V1, **FULL, old="o", n={"x": "1"}))
    seen = scheme.from_storage(stored, V2)
    seen.new = "n"
    return scheme.encode(scheme.to_storage(seen, stored))


@pytest.mark.parametrize("version", [V1, V2])
@pytest.mark.parametrize(
    "edit",
    [
        {},
        {"text": "b"},
        {"text": ""},
        {"number": 1.0},
        {"number": None},
        {"list": [{"id": "2", "x": "3"}, {"id": "1"}]},
        {"list": None},
        {"free": {"a": [], "b": 1.10}},
        {"map": {"a": "2", "b": "1"}},
        {"map": {}, "text": "é"},
        {"n": {}},
        {"n": None, "text": "c"},
        {"old": "other"},
        {"new": "other", "list": []},
        {"metadata": {"name": "m"}},
    ],
)
def test_an_edit_comes_to_what_the_careful_way_makes(scheme, base, version, edit):
    seen = json.loads(scheme.convert_json(base, version))
    allowed = {name: value for name, value in edit.items() if name not in {"old", "new"} - {*seen}}
    edited = {name: value for name, value in {**seen, **allowed}.items() if value is not None}
    made = put(scheme, base, edited, ensure_ascii=False)
    assert json.loads(scheme.convert_json(made, version)) == edited
    assert edit or made == base
    put(
        scheme,
        base,
        dict(sorted(edited.items(), key=lambda each: each[0] not in {"apiVersion", "kind"})),
    )


def test_what_the_document_does_not_touch_stays_byte_for_byte(scheme, base):
    seen = json.loads(scheme.convert_json(base, V1))
    made = put(scheme, base, {**seen, "text": "b"})
    assert made == base.replace(b'"text":"a"', b'"text":"b"').replace(
        b'"$writtenWith":"2021-01-01"', b'"$writtenWith":"2020-01-01"'
    )


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ({"list": [{"x": "1"}]}, "the required property `id`"),
        ({"text": 5}, "`str`"),
        ({"odd": 5}, "`odd`"),
        ({"map": {"a": 1}}, "`str`"),
    ],
)
def test_what_is_wrong_is_reported_by_the_careful_way(scheme, base, edit, reason):
    seen = json.loads(scheme.convert_json(base, V1))
    data = json.dumps({**seen, **edit}).encode()
    assert scheme._puts.put(data, base) is None
    with pytest.raises(DocumentError, match=reason):
        scheme.convert_json(data, base=base)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'"kind":"Thing"', b'"kind":"thing"'),
        (b'"text":"a"', b'"apiVersion":"2021-01-01","text":"a"'),
        (b'"text":"a"', b'"$unknown":{},"text":"a"'),
    ],
)
def test_unusual_documents_are_left_to_the_careful_way(scheme, base, one, other):
    data = scheme.convert_json(base, V1)
    assert scheme._puts.put(data, base) == base
    assert scheme._puts.put(data.replace(one, other), base) is None


def test_other_bases_are_left_to_the_careful_way(scheme, base):
    data = scheme.convert_json(base, V1)
    assert scheme._puts.put(data, data) is None
    earlier = data[:-1] + b',"$writtenWith":"2020-01-01"}'
    assert scheme._puts.put(data, earlier) is None
    assert (
        scheme._puts.put(data, base.replace(b'"2020-01-01":{"value"', b'"v20200101":{"value"'))
        is None
    )


def test_a_version_that_the_caller_names_has_to_be_the_documents(scheme, base):
    data = scheme.convert_json(base, V1)
    assert scheme._puts.put(data, base, V1) == base
    assert scheme._puts.put(data, base, V2) is None
    with pytest.raises(UnknownVersionError):
        scheme.put(V2, data, base)


def test_defaults_are_filled_in_and_reported_as_by_the_careful_way():
    part = {"Part": {"id!": "string", "mode": ("string", "auto"), "x": "string"}}
    scheme = evolve(
        {
            V1: {
                "Thing": {"level": ("string", "low"), "old": "string", "parts": "[Part;id]"},
                **part,
            },
            V2: {
                "Thing": {"level": ("string", "low"), "new": "string", "parts": "[Part;id]"},
                **part,
            },
        }
    )
    stored = scheme.put(V2, thing(V2, level="high", new="n", parts=[{"id": "1", "mode": "own"}]))
    base = json.dumps(stored, separators=(",", ":")).encode()
    document = {"parts": [{"id": "1", "x": "y"}, {"id": "2"}], "old": "o"}
    data = json.dumps(thing(V1, **document), separators=(",", ":")).encode()
    noted: list[object] = []
    lenience = Lenience(defaults=True, report=noted.append)
    quick = scheme._puts.put(data, base, lenience=lenience)
    by_the_quick_way, noted[:] = [*noted], []
    read = scheme.decode(data, lenience=lenience)
    assert quick == scheme.encode(scheme.to_storage(read, scheme.decode(base)))
    assert by_the_quick_way == noted
    assert [each.path for each in noted] == ["$.level", "$.parts[0].mode", "$.parts[1].mode"]
    noted.clear()
    assert scheme.put(None, data, base, lenience=lenience) == quick
    assert noted == by_the_quick_way


def test_a_resource_type_that_the_document_does_not_name_is_for_the_careful_way(
    scheme: Scheme, base: bytes
):
    data = scheme.read(V2, base)
    assert scheme._puts.put(data, base, None, "Thing") == base
    assert scheme._puts.put(data, base, None, "Other") is None
    with pytest.raises(UnknownVersionError):
        scheme.put(None, data, base, resource="Other")
