import json
import re
import sys

import msgspec
import pytest
from amounts import some_of
from evolving import evolve, thing

from trundle.runtime import ConversionError, DocumentError, reason_of

ALL = {
    "Thing": {
        "name!": "string",
        "count": "integer",
        "ratio": "number",
        "live": "boolean",
        "in": "In",
        "many": "[In]",
        "by": "{In}",
        "either": "string|integer",
        "shape": "Circle|Square",
        "free": "any",
        "tree": "Node",
        "odd name": "string",
        "null": "string?",
        "colour": "Colour",
    },
    "In": {"street!": "string", "zip": "integer"},
    "Circle": {"kind!": "CircleKind", "radius!": "integer"},
    "Square": {"kind!": "SquareKind", "side": "integer"},
    "CircleKind": ["circle"],
    "SquareKind": ["square"],
    "Colour": ["red", "green"],
    "Node": {"nodes": "[Node]", "next": "Node"},
}
NEWER = {
    **ALL,
    "Thing": {**ALL["Thing"], "extra": "string"},
    "Node": {**ALL["Node"], "extra": "string"},
}


@pytest.fixture(scope="module")
def scheme():
    return evolve({"v1": ALL, "v2": NEWER})


def findings(scheme, document):
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    with pytest.raises(DocumentError) as raised:
        scheme.decode(data)
    return [f"{reason_of(each)} - at {each.place.path}" for each in raised.value.findings]


@pytest.mark.parametrize(
    ("wrong", "finding"),
    [
        ({"name": 5}, "Expected `str`, got `int` - at $.name"),
        ({"count": "5"}, "Expected `int`, got `str` - at $.count"),
        ({"count": 1.5}, "Expected `int`, got `float` - at $.count"),
        ({"count": None}, "Expected `int`, got `null` - at $.count"),
        ({"live": 1}, "Expected `bool`, got `int` - at $.live"),
        ({"many": {}}, "Expected `array`, got `object` - at $.many"),
        ({"in": []}, "Expected `object`, got `array` - at $.in"),
        ({"in": {}}, "Expected the required property `street`, got nothing - at $.in.street"),
        ({"many": [{"street": "a"}, 5]}, "Expected `object`, got `int` - at $.many[1]"),
        ({"by": {"a b": {"street": 1}}}, 'Expected `str`, got `int` - at $.by["a b"].street'),
        ({"either": True}, "Expected `int | str`, got `bool` - at $.either"),
        ({"odd name": 1}, 'Expected `str`, got `int` - at $["odd name"]'),
        (
            {"shape": {"radius": 1}},
            "Expected the required property `kind`, got nothing - at $.shape",
        ),
        (
            {"shape": {"kind": "oval"}},
            "Expected one of 'circle', 'square', got 'oval' - at $.shape.kind",
        ),
        ({"nmae": "x"}, "Expected a known property, got `nmae`; did you mean name? - at $.nmae"),
        ({"zzz": 1}, "Expected a known property, got `zzz` - at $.zzz"),
        ({"in": {"street": "s", "Zip": 1}}, "did you mean zip? - at $.in.Zip"),
        ({"$unknown": {}}, 'Expected a known property, got `$unknown` - at $["$unknown"]'),
        ({"$propertyBag": {}}, 'Expected a known property, got `$propertyBag` - at $["$prop'),
    ],
)
def test_what_is_wrong_is_named_with_its_path(scheme, wrong, finding):
    (found,) = findings(scheme, thing("v1", **{"name": "n", **wrong}))
    assert finding in found


def test_all_findings_are_named_in_the_order_of_the_document(scheme):
    assert findings(
        scheme, thing("v1", count="x", many=[{"zip": "1"}, {"street": "s", "sreet": 1}], zzz=1)
    ) == [
        "Expected `int`, got `str` - at $.count",
        "Expected `int`, got `str` - at $.many[0].zip",
        "Expected the required property `street`, got nothing - at $.many[0].street",
        "Expected a known property, got `sreet`; did you mean street? - at $.many[1].sreet",
        "Expected a known property, got `zzz` - at $.zzz",
        "Expected the required property `name`, got nothing - at $.name",
    ]


def test_the_message_names_the_version_and_lists_a_line_each(scheme):
    with pytest.raises(DocumentError) as raised:
        scheme.decode(json.dumps(thing("v1", name=1, count="x")).encode())
    assert raised.value.subject == "Thing v1"
    assert str(raised.value) == (
        "not a valid Thing v1:\n"
        "  Expected `str`, got `int` - at $.name\n"
        "  Expected `int`, got `str` - at $.count"
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"apiVersion":"v1","kind":"Thing","name":"n"',
        b'{"apiVersion":"v1","kind":"Thing","name":"n',
        b'{"apiVersion":"v1","kind":"Thing","name":"n"}}',
        b'{"apiVersion":"v1","kind":"Thing","name":"n","ratio":NaN}',
        b'{"apiVersion":"v1","kind":"Thing","name":"n","ratio":Infinity}',
        b'{"apiVersion":"v1","kind":"Thing","name":"n","ratio":1e999}',
        b'{"apiVersion":"v1","kind":"Thing","name":"n","free":NaN}',
        b'{"apiVersion":"v1","kind":"Thing","name":"n","free":[1,]}',
        b'{"apiVersion":"v1","kind":"Thing","name":"\\ud800"}',
        b'{"apiVersion":"v1","kind":"Thing","name":"\xff"}',
        b'{"apiVersion":"v1","kind":"Thing","name":"\xed\xa0\x80"}',
        b'{"apiVersion":"v1","kind":"Thing","name":"n","zzz":"\\ud800"}',
        b'{"apiVersion":"v1","kind":"Thing","name":"n","zzz":"\xff"}',
        b'{"apiVersion":"v1","kind":"Thing","name":"n","free":"\xff"}',
        b'{"kind":"Thing","name":"\\ud800","apiVersion":"v1"}',
        b'{"kind":"Thing","name":"\xff","apiVersion":"v1"}',
        b'{"kind":"Thing","\xff":"a","apiVersion":"v1","name":"n"}',
        b'{"kind":"Thing","by":{"\xff":{"street":"a"}},"apiVersion":"v1","name":"n"}',
        b'{"apiVersion":"\xff","kind":"Thing","name":"n"}',
        b"[]",
        b"null",
        b'"v1"',
        b"\xff\xfe{\x00}\x00",
        b"9" * 5000,
    ],
)
def test_what_is_no_json_object_is_a_document_error(scheme, data):
    for _ in range(2):  # the second time by the quick way
        with pytest.raises(DocumentError):
            scheme.convert_json(data, "v2", strict=True)
        scheme.decode(b'{"apiVersion":"v1","kind":"Thing","name":"n"}')


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", ["ratio", "free"])
def test_numbers_that_are_not_finite_are_errors(scheme, name, value):
    with pytest.raises(DocumentError):
        scheme.convert(thing("v1", name="n", **{name: value}))


def test_a_number_in_the_bag_that_is_not_finite_is_an_error():
    versions = {"v1": {"Thing": {"size": "number"}}, "v2": {"Thing": {"a": "string"}}}
    scheme = evolve(versions)
    made = scheme.decode(json.dumps(thing("v1", size=0.5)).encode())
    made.size = float("inf")
    kept = scheme.to_storage(made)
    with pytest.raises(DocumentError, match=r"got `inf` - at \$\.\$propertyBag\.size\.v1\.value"):
        scheme.encode(kept)


@pytest.mark.parametrize("wrong", [{1, 2}, object(), b"x", {"a": {1}}, {(1, 2): 3}])
def test_what_is_no_plain_json_is_a_document_error(scheme, wrong):
    with pytest.raises(DocumentError, match="Expected"):
        scheme.convert(thing("v1", name="n", free=wrong))


def test_a_dictionary_that_contains_itself_is_a_document_error(scheme):
    circle = []
    circle.append(circle)
    with pytest.raises(DocumentError):
        scheme.convert(thing("v1", name="n", free=circle))


def test_a_lone_surrogate_in_a_dictionary_is_a_document_error(scheme):
    with pytest.raises(DocumentError):
        scheme.convert(thing("v1", name="\ud800"))


@pytest.mark.parametrize(
    "spelt",
    ["9007199254740993", "-9223372036854775809", "18446744073709551617", "1" + "0" * 40],
)
def test_integers_are_exact_however_large(scheme, spelt):
    data = f'{{"apiVersion":"v1","kind":"Thing","name":"n","count":{spelt},"free":{spelt}}}'
    stored = scheme.convert_json(data.encode())
    assert f'"count":{spelt}'.encode() in stored
    assert f'"free":{spelt}'.encode() in stored
    assert f'"count":{spelt}'.encode() in scheme.convert_json(stored, "v1")
    value = json.loads(data)
    assert scheme.convert(value, "v2")["count"] == int(spelt)


def test_free_form_numbers_keep_their_spelling(scheme):
    free = b'{"a":1.10,"b":1E5,"c":-0.0,"d":1.0}'
    data = b'{"apiVersion":"v1","kind":"Thing","name":"n","free":' + free + b"}"
    stored = scheme.convert_json(data)
    assert free in stored
    assert free in scheme.convert_json(stored, "v2")


def test_a_number_keeps_whether_it_is_an_integer(scheme):
    for value in (1, 1.0, 1.5, -0.0, 2**53 + 1):
        found = scheme.convert(thing("v1", name="n", ratio=value), "v2")["ratio"]
        assert (found, type(found)) == (value, type(value))


def nested(levels, opening, closing):
    return (
        b'{"apiVersion":"v1","kind":"Thing","name":"n",'
        + opening[0]
        + opening[1] * levels
        + closing * levels
        + b"}"
    )


READS_DEEP = sys.version_info >= (3, 14)
"""Python 3.14 bounds the depth of what is read by the size of the stack, no longer by a number."""
DEEP = {
    "free lists": (b'"free":', b"[", b"]"),
    "unknown lists": (b'"zzz":', b"[", b"]"),
    "free objects": (b'"free":1,"free2":', b'{"a":', b"}"),
    "nodes": (b'"tree":', b'{"nodes":[', b"]}"),
}


@pytest.mark.parametrize("levels", [50, 200, 400, 700, 900, 2_000, 10_000, 100_000])
@pytest.mark.parametrize("kind", ["free lists", "unknown lists", "nodes"])
def test_deep_nesting_is_read_or_is_a_document_error(scheme, kind, levels):
    before, opening, closing = DEEP[kind]
    data = nested(levels, (before, opening), closing)
    for call in (
        lambda: scheme.convert_json(data),
        lambda: scheme.convert(data),
        lambda: scheme.convert_json(scheme.convert_json(data), "v1"),
        lambda: scheme.convert(data, base=scheme.convert(thing("v1", name="m"))),
    ):
        try:
            call()
        except DocumentError:
            continue
        assert levels < 10_000 or READS_DEEP
        assert kind != "unknown lists"


@pytest.mark.full
def test_a_deep_dictionary_is_read_or_is_a_document_error(scheme):
    for levels in (100, 300, 600, 900, 10_000, 100_000):
        free = tree = None
        for _ in range(levels):
            free = [free]
            tree = {"next": tree} if tree is not None else {}
        for properties in ({"free": free}, {"tree": tree}):
            try:
                stored = scheme.convert(thing("v1", name="n", **properties))
                scheme.convert(stored, "v2")
                scheme.convert(thing("v1", name="o", **properties), base=stored)
            except DocumentError:
                assert levels > 100


@pytest.mark.full
def test_unknown_properties_are_kept_where_the_package_says_so():
    from evolving import evolution, load

    keeping = load(evolution({"v1": ALL, "v2": NEWER}), unknown="keep")
    document = thing("v1", name="n", zzz={"b": 1.10, "a": None}, many=[{"street": "s", "y": 1}])
    stored = keeping.convert(document)
    assert keeping.convert(stored, "v1") == document
    assert keeping.convert(stored, "v2")["zzz"] == {"b": 1.10, "a": None}
    assert list(keeping.convert(stored, "v2")["zzz"]) == ["b", "a"]


def test_unknown_properties_of_stored_objects_are_carried_along(scheme):
    stored = scheme.convert(thing("v1", name="n", many=[{"street": "s"}]))
    stored["later"] = {"x": [1]}
    stored["many"][0]["later"] = "y"
    seen = scheme.convert(stored, "v1")
    assert (seen["later"], seen["many"][0]["later"]) == ({"x": [1]}, "y")
    assert scheme.convert(seen, base=stored) == stored


def test_what_a_stored_object_lacks_though_required_is_no_error(scheme):
    stored = scheme.convert(thing("v1", name="n"))
    del stored["name"]
    assert scheme.convert(stored, "v1")["name"] == ""


def test_a_property_that_a_client_names_like_what_objects_keep_apart_is_unknown(scheme):
    for name in ("$unknown", "$additional", "$propertyBag"):
        for value in ({}, {"a": 1}, "x", None):
            assert findings(scheme, thing("v1", name="n", **{name: value}))
            assert findings(scheme, thing("v1", name="n", many=[{"street": "", name: value}]))


def test_such_names_are_only_data_within_free_form(scheme):
    free = {"$unknown": {"a": 1}, "$additional": 2, "$propertyBag": 3, "$writtenWith": 4}
    document = thing("v1", name="n", free=free)
    assert scheme.convert(scheme.convert(document), "v1") == document


def test_additional_properties_come_back_in_their_places():
    open_ = {"Thing": {"a": "string", "*": "integer"}}
    scheme = evolve({"v1": open_, "v2": open_})
    document = thing("v1", **{"a": "x", "b": 1, "$unknown": 2, "$additional": 3, "": 4})
    stored = scheme.convert(document)
    assert scheme.convert(stored, "v2") == {**document, "apiVersion": "v2"}
    with pytest.raises(DocumentError, match=r"Expected `int`, got `str` - at \$\.b"):
        scheme.convert(thing("v1", b="x"))


def test_a_repeated_member_counts_as_its_last(scheme):
    data = b'{"apiVersion":"v1","kind":"Thing","name":"a","name":"b"}'
    assert scheme.decode(data).name == "b"


def test_the_letter_case_of_a_tag_is_forgiven(scheme):
    document = thing("v1", name="n", shape={"kind": "CIRCLE", "radius": 1})
    assert scheme.convert(document, "v2")["shape"] == {"kind": "circle", "radius": 1}


def test_every_error_is_a_conversion_error_and_carries_its_data(scheme):
    with pytest.raises(ConversionError) as raised:
        scheme.convert(thing("v1"))
    (finding,) = raised.value.findings
    assert (finding.place.path, reason_of(finding)) == (
        "$.name",
        "Expected the required property `name`, got nothing",
    )


def test_objects_encode_as_compact_json(scheme):
    data = b'{"apiVersion":"v1","kind":"Thing","name":"\xc3\xa4"}'
    assert scheme.encode(scheme.decode(data)) == data
    assert msgspec.json.decode(data)["name"] == "ä"


@pytest.mark.parametrize(
    "later",
    some_of(
        [
            b"}",
            b',"apiVersion":"v1"}',
            b',"apiVersion":"v9"}',
            b',"kind":"Other"}',
            b',"$writtenWith":5}',
            b',"unknown":1}',
            b',"count":"text"}',
        ],
        3,
    ),
)
def test_what_is_stored_reads_as_it_did_the_first_time(later):
    written = b'{"apiVersion":"v1","kind":"Thing","name":"\xc3\xa4","count":1}'

    def seen(known, read):
        made = evolve({"v1": ALL, "v2": NEWER})
        kept = made.put(None, written)
        assert kept.count(b"$") == 1
        for _ in range(known):
            made.read("v1", kept)
        try:
            return read(made, kept[:-1] + later)
        except ConversionError as error:
            return type(error), re.sub(r"evolved_\d+", "evolved", str(error))

    for read in (
        lambda made, kept: made.read("v1", kept),
        lambda made, kept: made.convert_json(kept, "v1"),
        lambda made, kept: made.put(None, written, kept),
    ):
        assert seen(0, read) == seen(2, read)
