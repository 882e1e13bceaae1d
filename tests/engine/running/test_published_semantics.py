"""What published packages rely on in the engine that they were written for."""

import pytest
from engines import package
from programs import HISTORIC, opened, refused, run
from yaql.language import exceptions, specs, yaqltypes

from trundle.engine import EngineError, Handle, Type, check, native

# Methods of all objects


def test_every_class_has_the_methods_that_remember_values():
    found = run("Return: !yaql 'typeinfo($).methods.select($.name)'")
    assert found == ["run", "setAttr", "getAttr"]
    body = "Return: !yaql 'typeinfo(io:Object).methods.select([$.name, $.declaringType.name])'"
    assert run(body) == [["setAttr", "io.murano.Object"], ["getAttr", "io.murano.Object"]]


def test_values_are_remembered_through_what_typeinfo_gives_and_by_name():
    body = """
    - $set: typeinfo($).methods.where($.name = setAttr).single()
    - $set.invoke($, k, 5, 'a.A')
    - call(setAttr, [l, 6], {}, $)
    - Return: !yaql "[$.getAttr(k), $.getAttr(l), call(getAttr, [m, 7], {}, $)]"
    """
    assert run(body) == [5, 6, 7]


def test_a_class_overrides_them():
    text = """
    Methods:
      getAttr:
        Arguments: [{name: {Contract: $}}]
        Body: [{Return: !yaql 'super($, $.getAttr($name, none)).single() + x'}]
    """
    assert run("Return: new(S).getAttr(k)", classes={"a.S": text}) == "nonex"


def test_the_class_that_remembers_is_that_of_the_code_which_asks():
    classes = {
        "a.P": "Methods: {set: {Body: [!yaql '$.setAttr(k, 1)']}, get: {Body: [{Return: $.getAttr(k)}]}}",
        "a.C": "Extends: P\nMethods: {mine: {Body: [{Return: $.getAttr(k)}]}}",
    }
    body = "- $c: new(C)\n- $c.set()\n- Return: !yaql '[$c.get(), $c.mine(), $c.getAttr(k), $c.getAttr(k, 0, P)]'"
    assert run(body, classes=classes) == [1, None, None, 1]


def test_objects_and_types_within_a_value_are_remembered_by_id_and_name():
    body = "- $.setAttr(k, {a => [$, :A]})\n- $.setAttr(l, cast($, io:Object))\n- Return: !yaql '[$.getAttr(k), $.getAttr(l)]'"
    assert run(body) == [{"a": ["root", "a.A"]}, "root"]


def test_what_no_model_has_is_not_remembered():
    with refused("TypeError") as caught:
        run("- $.setAttr(k, [typeinfo($)])")
    assert "expected a value of a model to remember" in caught.value.message


# Classes of Python once had a prefix

PLUGIN = package("p", classes={"mirantis.Glance": "Methods: {f: {Body: [{Return: 1}]}}"})


@pytest.mark.parametrize("text", ["Methods: {}", "Extends: 'io.murano.extensions.mirantis.Glance'"])
def test_code_may_name_a_class_with_the_prefix_of_plugins(text):
    body = "Return: new('io.murano.extensions.mirantis.Glance').f()"
    options = {"packages": [PLUGIN], "requires": {"p": 1}}
    assert run(body, classes={"a.S": text}, **options) == 1
    assert not check([package("a", classes={"a.S": text}, requires={"p": 1}), PLUGIN])


def test_a_class_of_the_whole_name_comes_first():
    name = "io.murano.extensions.mirantis.Glance"
    text = "Methods: {f: {Body: [{Return: 2}]}}"
    both = package("p", classes={"mirantis.Glance": "", name: text})
    assert run(f"Return: new('{name}').f()", packages=[both], requires={"p": 1}) == 2


def test_the_prefix_names_no_class_of_the_own_package_and_none_that_is_not_required():
    with refused(HISTORIC + "NoClassFound"):
        run("Return: new('io.murano.extensions.a.A')")
    with refused(HISTORIC + "NoClassFound") as caught:
        run("Return: new('io.murano.extensions.mirantis.Glance')", packages=[PLUGIN])
    assert "io.murano.extensions.mirantis.Glance" in caught.value.message


# Static methods of Python


class Statics:
    @staticmethod
    @specs.inject("receiver", yaqltypes.Receiver())
    def who(receiver, value):
        return [
            type(receiver).__name__,
            receiver.name if isinstance(receiver, Type) else receiver.id,
            value,
        ]

    @classmethod
    @specs.inject("receiver", yaqltypes.Receiver())
    def whose(cls, receiver):
        assert cls is Statics
        return isinstance(receiver, Handle)

    @native(usage="Extension")
    @staticmethod
    @specs.inject("receiver", yaqltypes.Receiver())
    def ext(value, receiver):
        return [value, isinstance(receiver, Type)]


def test_a_static_method_of_python_gets_what_it_is_called_on():
    body = """
    - $s: new(S, {}, null, null)
    - Return: !yaql "[$s.who(1), :S.who(2), $s.whose(), :S.whose(), cast($s, S).whose(), id($s), 5.ext(), :S.ext(6)]"
    """
    found = run(body, classes={"a.S": ""}, natives={"a.S": Statics}, head="Import: S")
    identifier = found[5]
    assert found == [
        ["Handle", identifier, 1],
        ["Type", "a.S", 2],
        True,
        False,
        True,
        identifier,
        [5, True],
        [6, True],
    ]


def test_in_static_methods_of_the_language_the_object_is_the_type():
    text = "Methods: {f: {Usage: Static, Body: [{Return: !yaql '[$ = :S, $this = :S]'}]}}"
    assert run("Return: new(S).f()", classes={"a.S": text}) == [True, True]


def test_a_static_method_is_not_called_on_a_destroyed_object():
    text = "Properties: {s: {Contract: $.class(S), Usage: Out}}"
    classes = {"a.S": "Methods: {f: {Usage: Static, Body: [{Return: 1}]}}"}
    methods = "h: {Arguments: [{o: {Contract: $}}], Body: [{$.kept: $o}]}"
    body = """
    - $s: new(S)
    - sys:GC.subscribeDestruction($s, $, h)
    - $s: null
    - sys:GC.collect()
    - Return: $.kept.f()
    """
    with refused(HISTORIC + "ObjectDestroyedError"):
        run(body, classes=classes, head=text, methods=methods)


# Calls that several functions take


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (exceptions.AmbiguousFunctionException("f"), "AmbiguousFunctionException"),
        (exceptions.AmbiguousMethodException("f", 5), "AmbiguousMethodException"),
    ],
)
def test_an_ambiguous_call_is_caught_by_its_historic_name(error, name):
    def fail():
        raise error

    with pytest.raises(EngineError) as caught:
        run("Return: fail()", functions={"fail": fail})
    assert caught.value.names == (f"yaql.language.exceptions.{name}",)
    assert caught.value.code == "no-match"


def test_yaqls_own_ambiguity_is_caught_by_its_historic_name():
    @specs.parameter("x", yaqltypes.Integer())
    def first(x):
        return x

    @specs.parameter("x", yaqltypes.Integer())
    def second(x):
        return x

    @specs.inject("context", yaqltypes.Context())
    @specs.inject("engine", yaqltypes.Engine())
    def twice(context, engine, is_method):
        for each in (first, second):
            context.register_function(each, name="both", function=not is_method, method=is_method)
        return context("both", engine, *([5] if is_method else []))(*([] if is_method else [5]))

    for is_method, name in (("false", "Function"), ("true", "Method")):
        body = f"""
        - Try: [twice({is_method})]
          Catch:
            - With: 'yaql.language.exceptions.Ambiguous{name}Exception'
              As: e
              Do: [{{Return: $e.name}}]
        """
        found = run(body, functions={"twice": twice})
        assert found == f"yaql.language.exceptions.Ambiguous{name}Exception"


def test_the_root_class_is_described_with_its_methods():
    with opened({"a.A": ""}) as (session, root):
        assert sorted(root.type.methods) == ["getAttr", "setAttr"]
        with refused(HISTORIC + "MethodNotExposed"):
            session.call(root, "setAttr", ["k", 1])
        session.call(root, "setAttr", ["k", 1], internal=True)
        assert session.call(root, "getAttr", ["k"], internal=True) == 1
