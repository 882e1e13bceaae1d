"""What `typeinfo` gives, as section 12 of the language's reference lists it."""

import pytest
from engines import package

from trundle.engine import Engine, EngineError

CLASSES = {
    "a.Note": """
Usage: Meta
Inherited: true
Properties: {text: {Contract: $.string()}}
""",
    "a.Tag": """
Usage: Meta
Cardinality: Many
Inherited: true
Applies: [Type, Method]
Properties: {text: {Contract: $.string()}}
""",
    "a.Alone": "Usage: Meta\nProperties: {n: {Contract: $.int(), Default: 4}}\n",
    "a.Base": """
Meta: [{a.Note: {text: base}}, {a.Tag: {text: one}}, a.Alone]
Properties:
  n: {Contract: $.int(), Default: 1, Usage: InOut, Meta: {a.Note: {text: number}}}
  s: {Contract: $.int(), Default: 5, Usage: Static, Meta: a.Alone}
Methods:
  .init: {Body: []}
  add:
    Meta: {a.Tag: {text: method}}
    Arguments:
      - by: {Contract: $.int(), Default: 1, Meta: {a.Note: {text: argument}}}
      - others: {Contract: $, Usage: VarArgs, Meta: a.Alone}
    Body: {Return: $.n + $by}
""",
    "a.App": """
Namespaces: {=: a, io: io.murano}
Extends: Base
Meta: [{a.Note: {text: own}}, {a.Tag: {text: two}}]
Methods:
  twice: {Usage: Static, Arguments: [{x: {Contract: $.int()}}], Body: [{Return: $x * 2}]}
  run:
    Scope: Public
    Arguments: [{code: {Contract: $}}]
    Body: {Return: null}
""",
}
MANIFEST = {"Format": 1.4, "Meta": "{a.Note: {text: whole}}"}


def evaluate(expression):
    """What an expression yields in a method of `a.App` 1.2.3."""
    text = CLASSES["a.App"].replace(
        "Body: {Return: null}", f"Body: [{{Return: !yaql '{expression}'}}]"
    )
    app = package("lib.App", "1.2.3", classes=CLASSES | {"a.App": text}, **MANIFEST)
    with Engine([app]).session() as session:
        root = session.load({"?": {"type": "a.App"}})
        return session.call(root, "run", [None])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("typeinfo($).name", "a.App"),
        ("typeinfo(Base).usage", "Class"),
        ("typeinfo(:Base).name", "a.Base"),
        ("typeinfo($).package.name", "lib.App"),
        ("list(typeinfo($).version.major, typeinfo($).version.minor, typeinfo($).version.patch)", [1, 2, 3]),
        ("typeinfo($).package.version.minor", 2),
        ("typeinfo($).ancestors.name", ["a.Base", "io.murano.Object"]),
        ("typeinfo($).properties.name.orderBy($)", ["n", "s"]),
        ("typeinfo($).properties.where($.name = n).usage", ["InOut"]),
        ("typeinfo($).properties.hasDefault", [True, True]),
        ("typeinfo($).properties.declaringType.name", ["a.Base", "a.Base"]),
        ("typeinfo($).properties.where($.name = n).first().getValue($this)", 1),
        ("typeinfo($).properties.where($.name = s).first().getValue(null)", 5),
        ("typeinfo($).methods.where($.name = add).first().arguments.name", ["by", "others"]),
        ("typeinfo($).methods.where($.name = add).first().arguments.usage", ["Standard", "VarArgs"]),
        ("typeinfo($).methods.where($.name = add).first().arguments.hasDefault", [True, False]),
        ("typeinfo($).methods.where($.name = add).first().arguments.declaringMethod.name", ["add", "add"]),
        ("typeinfo($).methods.where($.name = add).first().declaringType.name", "a.Base"),
        ("typeinfo($).methods.where($.name = add).first().invoke($this, 6)", 7),
        ("typeinfo($).methods.where($.name = add).first().invoke($this, by => 8)", 9),
        ("typeinfo($).type = type($)", True),
        ("typeinfo($) = typeinfo(type($))", True),
        ("typeinfo($) = typeinfo(Base)", False),
        ("typeinfo($).meta.text.orderBy($)", ["one", "own", "two"]),
        ("typeinfo(Base).meta.where($ is Alone).n", [4]),
        ("typeinfo($).properties.where($.name = n).first().meta.text", ["number"]),
        ("typeinfo($).methods.where($.name = add).first().meta.text", ["method"]),
        ("typeinfo($).methods.where($.name = add).first().arguments.first().meta.text", ["argument"]),
        ("typeinfo($).properties.where($.name = s).first().meta.n", [4]),
        ("typeinfo($).methods.where($.name = add).first().arguments.last().meta.n", [4]),
        ("typeinfo($).methods.name.orderBy($)", ["add", "getAttr", "run", "setAttr", "twice"]),
        ("typeinfo($).package.meta.text", ["whole"]),
        ("typeinfo(io:Object).package.meta", []),
        ("str(typeinfo($).version)", "1.2.3"),
        ("list(typeinfo(Tag).cardinality, typeinfo(Tag).inherited)", ["Many", True]),
        ("typeinfo(Tag).targets", ["Type", "Method"]),
        ("typeinfo(Tag).usage", "Meta"),
        ("list(typeinfo(Alone).cardinality, typeinfo(Alone).inherited, typeinfo(Alone).targets)", ["One", False, ["All"]]),
        ("[typeinfo(Base).properties.where($.name = s).first().setValue(null, 6), :Base.s]", [None, 6]),
        ("typeinfo($).methods.where($.name = twice).first().invoke(null, 4)", 8),
        ("typeinfo($).methods.where($.name = twice).first().invoke(:App, x => 4)", 8),
        ("list(typeinfo($).version.prerelease, typeinfo($).version.build)", ["", ""]),
        ("typeinfo($).package.types.name.where($ = &quot;a.App&quot;)".replace("&quot;", '"'), ["a.App"]),
    ],
)  # fmt: skip
def test_what_is_known_of_classes_and_members(expression, expected):
    assert evaluate(expression) == expected


def test_a_property_is_set_through_what_is_known_of_it():
    text = CLASSES["a.App"].replace(
        "Body: {Return: null}",
        "Body:\n      - typeinfo($).properties.where($.name = n).first().setValue($this, 9)\n      - Return: $.n",
    )
    with Engine(
        [package("app", classes=CLASSES | {"a.App": text}, Format=1.4)]
    ).session() as session:
        root = session.load({"?": {"type": "a.App"}})
        assert session.call(root, "run", [None]) == 9


def test_what_there_is_not_is_an_error():
    with pytest.raises(EngineError) as caught:
        evaluate("typeinfo($).colour")
    assert caught.value.code == "no-property"
    with pytest.raises(EngineError) as caught:
        evaluate("typeinfo($).paint()")
    assert caught.value.code == "no-method"
