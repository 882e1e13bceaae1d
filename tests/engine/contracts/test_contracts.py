"""What contracts make of values, and what they refuse, sentence by sentence."""

import pytest
from scenes import Thing, Type, World

from trundle.engine import EngineError
from trundle.engine.contracts import Where, compile_contract
from trundle.engine.expressions import Format, freeze, read_code, thaw

BASE = Type("a.Base", "1.0.0")
DERIVED = Type("a.Derived", "1.2.0", [BASE])
OTHER = Type("a.Other", "1.0.0")
OWNER = Thing(OTHER, "owner")
THIS = Thing(OTHER, "this", OWNER)
CHILD = Thing(DERIVED, "child", THIS, size=3, name="x")
GRANDCHILD = Thing(DERIVED, "grandchild", CHILD)
STRANGER = Thing(OTHER, "stranger")


def world(**fields):
    types = {"Base": BASE, "Derived": DERIVED, "Other": OTHER, "a.Base": BASE}
    objects = {each.id: each for each in (THIS, CHILD, GRANDCHILD, STRANGER, OWNER)}
    return World(THIS, types, objects, **fields)


NEWEST = Format(1, 4)
PORT = Where("a.App", "port", "", "Classes/App.yaml", 7)


def contract(text, format_=NEWEST, where=PORT):
    (declaration,) = read_code(text, "Classes/App.yaml")
    return compile_contract(declaration, format_=format_, where=where)


def transform(text, value, scene=None, **options):
    found = contract(text, **options).transform(freeze(value), scene or world())
    return thaw(found)


def refused(text, value, scene=None, validate=False, **options):
    made = contract(text, **options)
    with pytest.raises(EngineError) as caught:
        (made.validate if validate else made.transform)(freeze(value), scene or world())
    return caught.value


def validates(text, value, scene=None):
    contract(text).validate(freeze(value), scene or world())


@pytest.mark.parametrize("format_", [Format(1, 0), Format(1, 4)])
@pytest.mark.parametrize(
    ("text", "value", "becomes"),
    [
        ("$", [1, {"a": None}], [1, {"a": None}]),
        ("$.string()", "x", "x"),
        ("$.string()", 5, "5"),
        ("$.string()", True, "True"),
        ("$.string()", CHILD, "child"),
        ("$.int()", "42", 42),
        ("$.int()", 1.9, 1),
        ("$.int()", True, 1),
        ("$.bool()", "no", True),
        ("$.bool()", [], False),
        ("$.notNull()", 0, 0),
        ("$.int().check($ > 0)", 5, 5),
        ("$.check($ in [a, b])", "a", "a"),
        ("$.check(true)", 1, 1),
        ("$.int() or 5672", None, 5672),
        ("$.int() or 5672", 80, 80),
        ("$.string() + '!'", "x", "x!"),
        ("$.string().toUpper()", "x", "X"),
        ("let(x => $.int()) -> $x + 1", "4", 5),
        ("$.select($.int())", ["1", 2], [1, 2]),
        ("$.orderBy($.int())", ["2", "1"], ["1", "2"]),
        ("5", 5, 5),
        ("'$.int()'", "$.int()", "$.int()"),
        ("nova", "nova", "nova"),
        ("null", None, None),
        ("[]", [1, "a"], [1, "a"]),
        ("[]", None, []),
        ("[]", "a", ["a"]),
        ("[$.int()]", ["1", 2], [1, 2]),
        ("[$]", {"a": 1}, [{"a": 1}]),
        ("[$.int(), $.string()]", ["1", 2, 3], [1, "2", "3"]),
        ("[$.int(), 1, 2]", [1, 2], [1, 2]),
        ("[$.int(), 2]", [1, 2, 3], [1, 2, 3]),
        ("[1, 2, 3]", [1, 1], [1, 1]),
        ("[1, 2]", ["a"], ["a"]),
        ("{}", {"a": 1}, {"a": 1}),
        ("{}", None, {}),
        ("{a: $.int()}", {"a": "1", "b": 2}, {"a": 1}),
        ("{a: $.int()}", {}, {"a": None}),
        ("{a: $.int() or 5}", None, {"a": 5}),
        ("{$.string(): $.int()}", {1: "2"}, {"1": 2}),
        ("{a: $.int(), $.string().notNull(): $.string()}", {"a": "1", "b": 2}, {"a": 1, "b": "2"}),
        ("{a: [{b: $.int()}]}", {"a": {"b": "1"}}, {"a": [{"b": 1}]}),
    ],
)
def test_transforms(text, value, becomes, format_):
    assert transform(text, value, format_=format_) == becomes


@pytest.mark.parametrize(
    "text",
    [
        "$.string()",
        "$.int()",
        "$.bool()",
        "$.class(Base)",
        "$.template(Base)",
        "$.owned()",
        "$.notOwned()",
    ],
)
def test_null_passes(text):
    assert transform(text, None) is None
    validates(text, None)


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("$.string()", 1.5, "expected text, found 1.5"),
        ("$.string()", {}, "expected text, found a map"),
        ("$.int()", "x", "expected an integer, found 'x'"),
        ("$.int()", "9" * 5000, "expected an integer"),
        ("$.int()", float("1e308") * 10, "expected an integer"),
        ("$.int()", [1], "expected an integer, found a list"),
        ("$.notNull()", None, "expected a value, found nothing"),
        ("$.check($ > 0)", -1, "the check fails for -1"),
        ("$.check($ > 0)", None, "the check fails for nothing"),
        ("$.check($ > 0, 'only ' + positive)", -1, "only positive"),
        ("$.check($ > 0)", "x", "cannot be applied to 'x'"),
        ("$.check($.a)", {}, "no key 'a'"),
        ("5", 6, "expected 5, found 6"),
        ("1", True, "expected 1, found true"),
        ("[$.int(), 1]", [], "at least 1 item, found 0"),
        ("[$.int(), 1, 2]", [1, 2, 3], "at most 2 items, found 3"),
        ("{}", 5, "expected a map, found 5"),
        ("{a: $}", [], "expected a map, found a list"),
        ("{$.string(): $}", {1: 1, "1": 2}, "the map has already"),
        ("$.class(Base)", 5, "expected an object of a.Base, found 5"),
        ("$.class(Base)", STRANGER, "found stranger of a.Other"),
        ("$.class(Base)", "nobody", "no object with the id 'nobody'"),
        ("$.template(Base)", "child", "or its model, found 'child'"),
        ("$.template(Base)", STRANGER, "found stranger of a.Other"),
        ("$.owned()", STRANGER, "the object this must own the object stranger"),
        ("$.owned()", THIS, "must own"),
        ("$.owned()", 5, "expected an object"),
        ("$.notOwned()", GRANDCHILD, "must not own the object grandchild"),
    ],
)
def test_refuses(text, value, words):
    error = refused(text, value)
    assert words in error.message
    assert str(error).startswith("[a.App.port")
    assert error.code == ("no-object" if "with the id" in words else "contract")
    assert (error.class_name, error.member, error.file, error.line) == (
        "a.App",
        "port",
        "Classes/App.yaml",
        7,
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$", 5),
        ("$.string()", "x"),
        ("$.int()", 5),
        ("$.bool()", False),
        ("$.notNull()", 0),
        ("$.class(Base)", CHILD),
        ("$.template(Base)", {"size": 3}),
        ("$.owned()", GRANDCHILD),
        ("$.notOwned()", STRANGER),
        ("$.notOwned()", OWNER),
        ("[$.int(), 1, 2]", [1]),
        ("{a: $.int(), $.string(): $.string()}", {"a": 1, "b": "x"}),
        ("{a: $.int()}", {}),
        ("5", 5),
    ],
)
def test_validates(text, value):
    validates(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$.string()", 5),
        ("$.int()", "5"),
        ("$.int()", True),
        ("$.int()", 1.0),
        ("$.bool()", 1),
        ("$.notNull()", None),
        ("$.check($ > 1)", 1),
        ("$.class(Base)", {}),
        ("$.class(Base)", "child"),
        ("$.class(Base)", STRANGER),
        ("$.owned()", STRANGER),
        ("$.notOwned()", CHILD),
        ("[]", None),
        ("[]", 5),
        ("[$.int()]", ["5"]),
        ("{}", None),
        ("{a: $.notNull()}", {}),
        ("{a: $.int()}", {"a": "5"}),
        ("{$.string(): $.int()}", {1: 1}),
        ("5", 6),
    ],
)
def test_validation_refuses_what_would_have_to_change(text, value):
    assert str(refused(text, value, validate=True)).startswith("[a.App.port")


def test_a_map_becomes_an_object_of_its_type_or_of_the_default():
    scene = world()
    made = transform("$.class(Base)", {"size": 1}, scene)
    assert (made.type, made.properties, made.owner) == (BASE, {"size": 1}, THIS)
    assert transform("$.class(Base, Derived)", {}, scene).type is DERIVED
    assert transform("$.class(Base, default => Derived)", {}, scene).type is DERIVED
    assert transform("$.class(Base)", {"?": {"type": "Derived"}}, scene).type is DERIVED
    error = refused("$.class(Base)", {"?": {"type": "Other"}}, scene)
    assert "expected an object of a.Base/1.0.0" in error.message


@pytest.mark.parametrize("name", ["Base", ":Base", "x:Base", "'a.Base'", "`a.Base`"])
def test_a_type_is_a_name_or_what_its_prefix_yields(name):
    assert transform(f"$.class({name})", "child") is CHILD


def test_the_version_of_a_class_is_the_declaring_packages_concern_unless_the_contract_says_more():
    scene = world(requirements={"a.Base": "2"})
    error = refused("$.class(Base)", CHILD, scene)
    assert error.requirements == ("app/1.0.0 requires a.Base 2",)
    assert error.requirements[0] in error.message
    assert transform("$.class(Base, versionSpec => '1')", CHILD, scene) is CHILD
    assert transform("$.class(Base, null, '1.0')", CHILD, scene) is CHILD
    refused("$.class(Base, versionSpec => '>1.0.0')", CHILD, scene)


def test_a_template_is_a_model_without_what_is_excluded():
    scene = world()
    assert transform("$.template(Base)", CHILD, scene) == {
        "?": {"type": DERIVED},
        "size": 3,
        "name": "x",
    }
    model = transform("$.template(Base, excludeProperties => [size])", {"size": "x"}, scene)
    assert model == {"?": {"type": BASE}}
    assert scene.loaded == []
    refused("$.template(Base, versionSpec => '2')", CHILD, scene)
    assert transform("$.template(Base, versionSpec => '1')", CHILD, scene)
    error = refused("$.template(Base)", {"?": {"type": "Other"}}, scene)
    assert "expected an object of a.Base" in error.message


def test_an_object_is_owned_whatever_class_its_owner_is_cast_to():
    class Cast(Thing):
        def __eq__(self, other):
            return isinstance(other, Thing) and self.id == other.id

        __hash__ = Thing.__hash__

    scene = world()
    scene.this = Cast(OTHER, "this", OWNER)
    assert transform("$.owned()", GRANDCHILD, scene) is GRANDCHILD
    refused("$.notOwned()", GRANDCHILD, scene)


def test_a_violation_says_where_in_the_value_it_is():
    error = refused("{key: [$.int()]}", {"key": [1, "x"]})
    assert error.message.startswith("[a.App.port['key'][1]] expected an integer")
    assert error.path == "port['key'][1]"
    where = Where("a.App", "scale", "by")
    assert refused("[$.int()]", ["x"], where=where).message.startswith("[a.App::scale(by[0])]")


def test_all_violations_of_a_value_are_reported():
    error = refused("{a: $.int(), b: [$.string().notNull()]}", {"a": "x", "b": [1.5, None, "y"]})
    assert [each.path for each in error.errors] == ["port['a']", "port['b'][0]", "port['b'][1]"]
    assert error.code == "contract"
    assert str(error).startswith("[a.App.port['a']] ")
    assert "[a.App.port['b'][1]] expected a value" in str(error)
    single = refused("$.int()", "x")
    assert single.errors == (single,)


def test_violations_of_objects_within_a_list_are_reported_beside_its_own():
    error = refused("[$.class(Base)]", [{"bad": 1}, 5, {"bad": 1}])
    assert [each.message.partition("]")[0] for each in error.errors] == [
        "[a.Base.bad",
        "[a.App.port[1",
        "[a.Base.bad",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$.int(", "no expression"),
        ("$.check()", "check(pred, msg => ..)"),
        ("$.class(Base, x => 1)", "class(type, default => .., versionSpec => ..)"),
        ("$.int(5)", "`int()`"),
        ("$.class(Base, default => Base, default => Base)", "class(type"),
        ("{$.int(): $, $.string(): $}", "two expressions as keys"),
        ("[$, 3, 2]", "at least 3 and at most 2"),
        ("[$, -1]", "at least -1 items"),
        ("(" * 900 + ")" * 900, "no expression"),
        ("$" + "[0]" * 900, "250 levels"),
    ],
)
def test_what_is_no_contract_is_an_error_with_its_place(text, words):
    quoted = f"!yaql {text!r}".replace('"', "'") if text[0] == "$" and "{" not in text else text
    if text.startswith("("):
        quoted = f'!yaql "{text}"'
    with pytest.raises(EngineError) as caught:
        contract(quoted)
    error = caught.value
    assert words in error.message
    assert error.code in ("syntax", "limit")
    assert error.message.startswith("[a.App.port]")
    assert (error.class_name, error.member, error.file) == ("a.App", "port", "Classes/App.yaml")
    assert error.line


def test_the_formats_differ_in_what_a_missing_key_is():
    assert transform("$.check($.a = null)", {"b": 1}, format_=Format(1, 1)) == {"b": 1}
    assert "no key 'a'" in refused("$.check($.a = null)", {"b": 1}).message


def test_a_predicate_that_takes_too_long_is_an_error_with_its_place():
    error = refused("$.check($ =~ '^(a|aa)+$')", "a" * 60 + "!")
    assert (error.code, error.class_name, error.line) == ("limit", "a.App", 7)
    assert error.message.startswith("[a.App.port] the pattern '^(a|aa)+$' takes too long")


def test_a_value_that_no_part_changes_may_be_as_deep_as_models_are():
    deep = 5
    for _ in range(2000):
        deep = (deep,)
    made = contract("{a: [$], b: $.notNull(), $.string(): $}").transform(
        {"a": deep, "b": deep, "c": deep}, world()
    )
    assert made["a"][0] is deep[0]
    assert made["b"] is made["c"] is deep


def test_an_error_crosses_to_another_process():
    import pickle

    error = refused("[$.int()]", ["x", "y"])
    again = pickle.loads(pickle.dumps(error))
    assert [str(each) for each in again.errors] == [str(each) for each in error.errors]
    assert again.code == error.code
