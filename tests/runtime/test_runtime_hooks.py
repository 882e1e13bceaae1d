import msgspec
import pytest
from evolving import Store, evolve, hooked, thing

from trundle.runtime import (
    ABSENT,
    ConversionError,
    HookError,
    call_converter,
    call_hook,
    hook,
    plain_metadata,
)


class Names(msgspec.Struct, frozen=True, kw_only=True):
    full: str | msgspec.UnsetType = ABSENT
    tags: list[str] | msgspec.UnsetType = ABSENT


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    first: str | msgspec.UnsetType = ABSENT
    last: str | msgspec.UnsetType = ABSENT


WRITES = frozenset({"first", "last"})


def called(method, record=None):
    record = Names(full="Ada Lovelace") if record is None else record
    return call_hook("hooks:Names.assign_to", method, record, WRITES, Parts, "v1 and v2", "holder")


def test_a_hook_declares_what_it_reads_and_writes_in_order():
    @hook(reads=("b", "a"), writes=("d", "c"))
    def assign_to(self, source):
        return {}

    assert assign_to.__hook__ == (("a", "b"), ("c", "d"))
    assert assign_to(None, None) == {}


@pytest.mark.parametrize("wrong", [{"reads": "name"}, {"writes": "name"}])
def test_a_single_text_is_no_declaration(wrong):
    with pytest.raises(TypeError, match=r"as a tuple of attributes, as in \('name',\)"):
        hook(**{"reads": (), "writes": (), **wrong})


def test_a_hook_gets_the_record_and_gives_its_outputs():
    def split(source):
        first, last = source.full.split()
        return {"first": first, "last": last}

    assert called(split) == {"first": "Ada", "last": "Lovelace"}


def test_a_hook_need_not_write_everything_it_declares():
    assert called(lambda source: {"first": "Ada"}) == {"first": "Ada"}
    assert called(lambda source: {}) == {}


def test_a_hook_is_not_called_when_all_its_inputs_are_absent():
    assert called(pytest.fail, Names()) == {}


def test_an_undeclared_output_is_an_error_that_says_what_to_do():
    with pytest.raises(HookError) as raised:
        called(lambda source: {"first": "Ada", "middle": "B", "age": 1})
    assert str(raised.value) == (
        "the hook hooks:Names.assign_to between v1 and v2 wrote 'age', 'middle', which it does not "
        "declare; add it to `writes`, which has first, last"
    )
    assert raised.value.holder == "holder"


def test_an_output_of_a_wrong_type_is_an_error_that_names_it():
    with pytest.raises(
        HookError, match=r"wrong type: Expected `str`, got `int` for 'first'$"
    ) as raised:
        called(lambda source: {"first": 5})
    raised.value.path = "$.spec"
    assert str(raised.value).endswith("got `int` for 'first' - at $.spec")


def test_an_object_of_another_class_is_an_error_that_names_the_attribute():
    with pytest.raises(HookError, match=r"got `Names` for 'first'$"):
        called(lambda source: {"first": source})


def test_an_absent_output_is_as_if_not_written():
    assert called(lambda source: {"first": ABSENT, "last": "L"}) == {"last": "L"}


@pytest.mark.parametrize("returned", [None, [], "text", ("first", "Ada")])
def test_anything_but_a_dictionary_is_an_error(returned):
    kind = type(returned).__name__
    with pytest.raises(HookError, match=f"returned {kind}; expected a dictionary"):
        called(lambda source: returned)


def test_a_hook_that_raises_is_named_with_its_error():
    with pytest.raises(HookError, match="raised ZeroDivisionError: division by zero") as raised:
        called(lambda source: 1 / 0)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_a_hook_cannot_change_its_input():
    tags = ["a"]

    def greedy(source):
        with pytest.raises(AttributeError):
            source.full = "x"
        source.tags.append("b")
        return {"first": str(source.tags)}

    assert called(greedy, Names(tags=tags)) == {"first": "['a', 'b']"}
    assert tags == ["a"]


def test_a_converter_gets_a_copy_and_its_error_is_named():
    value = {"a": [1]}
    found = call_converter("hooks:H.convert", lambda each: each["a"].pop(), value, "v1 and v2", "h")
    assert (found, value) == (1, {"a": [1]})
    with pytest.raises(HookError, match=r"hook hooks:H\.convert between v1 and v2 raised KeyError"):
        call_converter("hooks:H.convert", lambda each: each["z"], value, "v1 and v2", "h")


class Strict:
    def assign_to(self, source):
        if not source.text:
            raise ValueError("empty text")
        if source.text == "list":
            return []
        return {"length" if source.text != "oops" else "width": len(source.text)}


VERSIONS = {
    "v1": {"Thing": {"items": "[Item]"}, "Item": {"text": "string"}},
    "v2": {"Thing": {"items": "[Item]"}, "Item": {"length": "integer"}},
}


@pytest.fixture(scope="module")
def scheme():
    return evolve(VERSIONS, hooked("v1", "v2", Strict, "Item", to=(("text",), ("length",))))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "raised ValueError: empty text"),
        ("list", "returned list; expected a dictionary"),
        ("oops", "wrote 'width', which it does not declare"),
    ],
)
def test_an_error_of_a_hook_arrives_with_object_path_and_versions(scheme, text, reason):
    with pytest.raises(HookError) as raised:
        Store(scheme).put("v1", items=[{"text": "fine"}, {"text": text}])
    message = str(raised.value)
    assert message.startswith("Thing v1: the hook ")
    assert reason in message
    assert "between v1 and v2" in message
    assert message.endswith(" - at $.items[1]")


def test_a_hook_runs_for_every_element_that_has_its_input(scheme):
    store = Store(scheme).put("v1", items=[{"text": "four"}, {}])
    assert store.read("v2") == {"items": [{"length": 4}, {}]}
    assert store.read("v1") == {"items": [{"text": "four"}, {}]}


class Infinite:
    def assign_to(self, source):
        return {"size": float("inf")}


def test_a_hook_that_makes_an_infinite_number_is_an_error():
    from trundle.runtime import DocumentError

    scheme = evolve(
        {
            "v1": {"Thing": {"text": "string"}},
            "v2": {"Thing": {"size": "number"}},
        },
        hooked("v1", "v2", Infinite, to=(("text",), ("size",))),
    )
    with pytest.raises(DocumentError, match=r"finite number, got `inf` - at \$\.size"):
        scheme.convert(thing("v1", text="x"))


@pytest.mark.parametrize("text", [b"null", b"3", b'"x"', b"[]"])
def test_metadata_that_is_no_object_is_absent_for_a_hook(text):
    assert plain_metadata(msgspec.Raw(text)) is ABSENT
    assert plain_metadata(ABSENT) is ABSENT


def test_metadata_is_plain_data_and_the_hooks_own():
    metadata = msgspec.Raw(b'{"labels": {"a": "b"}}')
    plain_metadata(metadata)["labels"] = {}
    assert plain_metadata(metadata) == {"labels": {"a": "b"}}


class Lengths:
    def convert_string_to_integer(self, value):
        return {"none": None, "text": "x", "half": 1.5, "absent": ABSENT}.get(value, len(value))

    def convert_item_to_string(self, value):
        return value.text

    def convert_string_to_item(self, value):
        return {"text": value} if value != "item" else {"length": value}


def test_a_converter_is_held_to_the_type_that_it_makes():
    older = {"Thing": {"size": "string", "named": "string"}}
    newer = {"Thing": {"size": "integer", "named": "Item"}, "Item": {"text": "string"}}
    scheme = evolve({"v1": older, "v2": newer}, hooked("v1", "v2", Lengths))

    def shown(**properties):
        document = {"apiVersion": "v1", "kind": "Thing", **properties}
        found = scheme.convert(document, to="v2")
        return {name: found[name] for name in found if name in properties}

    assert shown(size="four", named="a") == {"size": 4, "named": {"text": "a"}}
    assert shown(size="absent") == {}
    for given, made in (("none", "null"), ("text", "str"), ("half", "float")):
        what = f"a value of a wrong type: Expected `int`, got `{made}`"
        with pytest.raises(HookError, match=rf"convert_string_to_integer .* returned {what}"):
            shown(size=given)
    with pytest.raises(HookError, match="Item has no attribute 'length', but text"):
        shown(named="item")


class WritesTheWhole:
    def assign_to(self, source):
        return {"item": {"text": source.old}}


def test_an_object_of_which_a_hook_declares_one_property_is_an_error_that_says_how_to_return_it():
    older = {"Thing": {"old": "string"}}
    newer = {"Thing": {"item": "Item"}, "Item": {"text": "string", "note": "string"}}
    hook = hooked("v1", "v2", WritesTheWhole, to=(("old",), ("item.text",)))
    scheme = evolve({"v1": older, "v2": newer}, hook)
    expected = "wrote 'item', which it does not declare; return 'item__text' in its place"
    with pytest.raises(HookError, match=expected):
        scheme.convert({"apiVersion": "v1", "kind": "Thing", "old": "a"}, to="v2")


class PassesOn:
    def assign_to(self, source):
        return {"item": source.old}


def test_an_object_of_the_other_version_is_an_error_that_says_what_to_return():
    older = {"Thing": {"old": "Item"}, "Item": {"text": "string"}}
    newer = {"Thing": {"item": "Item"}, "Item": {"text": "string", "note": "string"}}
    hook = hooked("v1", "v2", PassesOn, to=(("old",), ("item",)))
    scheme = evolve({"v1": older, "v2": newer}, hook)
    expected = (
        "Expected a dictionary of attributes, as `Item` has .*, got an object .* of another one"
    )
    with pytest.raises(HookError, match=expected):
        scheme.convert({"apiVersion": "v1", "kind": "Thing", "old": {"text": "a"}}, to="v2")


class Opens:
    def assign_to(self, source):
        return {"in_": [{"x": "own", "additional_properties": {source.a: "other"}}]}

    def assign_from(self, source):
        return {"a": "back"}


def test_a_hook_gives_no_additional_property_under_the_name_of_a_property():
    newer = {"Thing": {"in": "[Open]"}, "Open": {"x": "string", "*": "string"}}
    hook = hooked("v1", "v2", Opens, to=(("a",), ("in",)), back=(("in",), ("a",)))
    scheme = evolve({"v1": {"Thing": {"a": "string"}}, "v2": newer}, hook)
    document = {"apiVersion": "v1", "kind": "Thing"}
    assert scheme.convert({**document, "a": "y"}, to="v2")["in"] == [{"x": "own", "y": "other"}]
    with pytest.raises(HookError, match="'x' is a property of Open, and no additional one"):
        scheme.convert({**document, "a": "x"}, to="v2")


def test_an_object_is_not_written_with_an_additional_property_under_the_name_of_a_property():
    scheme = evolve({"v1": {"Thing": {"x": "string", "*": "string"}}})
    found = scheme.decode({"apiVersion": "v1", "kind": "Thing", "x": "own", "y": "other"})
    found.additional_properties["x"] = "another"
    with pytest.raises(ConversionError, match="found 'x', which is a property"):
        scheme.encode(found)
