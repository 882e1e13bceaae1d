"""What findings and errors say of typical mistakes of authors: where it is, what was expected, what was found, what to do."""

import pytest

from trundle.engine import Engine, EngineError, check, check_alone
from trundle.packages import Package

MANIFEST = "Format: 1.4\nType: Library\nFullName: a\nVersion: 1.0.0\nClasses:\n  a.A: A.yaml\n  a.B: B.yaml\n"
GOOD = """\
Namespaces: {=: a, io: io.murano}
Name: A
Properties:
  size: {Contract: $.int(), Default: 1}
Methods:
  run:
    Arguments:
      - given: {Contract: $}
    Body:
      - Return: $given
"""
OTHER = "Namespaces: {=: a}\nName: B\n"


def written(old, new, manifest=MANIFEST, other=OTHER):
    """The package with a mistake: text in the place of other text in the file of its class."""
    assert old in GOOD
    files = {
        "manifest.yaml": manifest,
        "Classes/A.yaml": GOOD.replace(old, new),
        "Classes/B.yaml": other,
    }
    return Package.from_files(files)


def test_the_package_without_a_mistake():
    assert check([written("A", "A")]) == ()


RETURN = "- Return: $given"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        # Keys
        ("Properties:", "Propertes:", 3, "found 'Propertes'; did you mean Properties?"),
        ("Contract: $.int()", "Contarct: $.int()", 4, "did you mean Contract?"),
        ("Arguments:", "Argumnts:", 7, "did you mean Arguments?"),
        ("Return:", "Retrun:", 10, "found 'Retrun'; did you mean Return?"),
        ("Methods:", "Properties: {}\nMethods:", 5, "'Properties' a second time"),
        # YAML
        ("    Body:\n", "      Body:\n", 9, "correct the indentation"),
        ("    Body:\n", "\tBody:\n", 9, "found a tab in the indentation; indent with spaces"),
        ("Name: A", "Name A", 3, "could not find expected ':'"),
        # Classes
        ("Name: A", "Name: A\nExtends: Nope", 3, "expected the class a.Nope in a/1.0.0"),
        ("Name: A", "Name: A\nExtends:\n  - B\n  - io:application", 5, "did you mean io.murano.Application?"),
        ("Name: A", "Name: A\nExtends: std:Object", 3, "expected a declared prefix, found 'std' in 'std:Object'; declare it"),
        ("Name: A", "Name: A\nMeta: {m:Title: {text: x}}", 3, "expected a declared prefix, found 'm' in 'm:Title'"),
        ("{Contract: $.int()", "{Contract: $.class(Bb)", 4, "did you mean a.B?"),
        (RETURN, "- new(q:B)", 10, "expected a declared prefix, found 'q' in 'q:B'"),
        ("Name: A", "Name: A\nExtends: A", 3, "a.A extends a.A; remove one of these from `Extends`"),
        # What is attached
        ("Name: A", "Name: A\nMeta: {io.murano.metadata.Title: {txt: x}}", 3, "io.murano.metadata.Title: expected one of text, found 'txt'; did you mean text?"),
        ("Name: A", "Name: A\nMeta: [io.murano.metadata.Title]", 3, "io.murano.metadata.Title: [io.murano.metadata.Title.text] expected a value"),
        ("Contract: $.int()", "Contract: $.int(), Meta: {io.murano.metadata.forms.Position: {index: x}}", 4, "expected an integer, found 'x'"),
        # Usages
        ("Default: 1", "Usage: Inn", 4, "expected one of In, Out,"),
        ("    Body:", "    Usage: Statc\n    Body:", 9, "did you mean Static?"),
        ("    Body:", "    Scope: Private\n    Body:", 9, "expected one of Session, Public, found 'Private'"),
        ("Name: A", "Name: A\nUsage: Abstract", 3, "expected one of Class, Meta, found 'Abstract'"),
        # Contracts
        ("Contract: $.int(), ", "", 4, "`Contract` in the property size, found none; add `Contract: $`"),
        ("{Contract: $}", "{}", 8, "`Contract` in the argument given, found none; add `Contract: $`"),
        ("$.int()", "$.int(", 4, "[a.A.size] `$.int(` is no expression"),
        ("$.int()", "$.integer()", 4, "expected a method of contracts, found `integer()` in `$.integer()`; did you mean int?"),
        ("$.int()", "int()", 4, "expected a method of contracts on `$`, found `int()` in `int()`; write `$.int()`"),
        ("$.int()", "class(B).notNull()", 4, "found `class()` in `class(B).notNull()`; write `$.class()`"),
        # Expressions
        ("$given", "$given.f(1", 10, "`$given.f(1` is no expression: parse error"),
        ("$given", "$given == 1", 10, "unexpected '='"),
        ("$given", "[1, {a: $given && true}]", 10, "`$given && true` is no expression"),
        ("Default: 1", "Default: $.other(", 4, "`$.other(` is no expression"),
        ("{Contract: $}", "{Contract: $, Default: $x +}", 8, "`$x +` is no expression"),
        # Statements
        (RETURN, "- $.run(1", 10, "`$.run(1` is no expression"),
        (RETURN, "- $given[1: 5", 10, "`$given[1` is no expression"),
        (RETURN, "- '$.run(1)'", 10, "expected a statement, found '$.run(1)'; write an expression such as `$.f()`, without quotes"),
        (RETURN, "- run", 10, "expected a statement, found 'run'; write an expression such as `$.f()`"),
        (RETURN, "- $x: 1\n        $y: 2", 10, "the keys `$x`, `$y`; write each assignment as an item"),
        (RETURN, "- Return: {?: {type: a.B}}", 10, "expected a key, found none; write the key; in a map in braces `?` needs quotes"),
        ("Default: 1", "Default: {?: {type: a.B}}", 4, "expected a key, found none; write the key;"),
        (RETURN, "- If: $given\n        Do: []", 11, "`If` has no key Do; write one of Else, Then"),
        (RETURN, "- If: $given\n        Then: []\n      - Else: []", 12, "found 'Else'; write it beside the If or Try"),
        (RETURN, "- Try: []\n      - Catch: []", 11, "found 'Catch'; write it beside the Try"),
        (RETURN, "- $x = 5", 10, "found the comparison `$x = 5`; to assign, write a colon"),
        (RETURN, "- If: $given = 1\n        Then:\n          - Try: [{Return: $given = 2}]\n            Catch:\n              - Do:\n                - $.y = 5", 15, "found the comparison `$.y = 5`"),
        (RETURN, "- For: $i\n        In: [1]\n        Do: []", 10, "expected the name of a variable for `For`, found the expression `$i`; write it without `$`"),
        (RETURN, "- For: 5\n        In: [1]\n        Do: []", 10, "expected the name of a variable for `For`, found 5; write one"),
        (RETURN, "- While: true\n        Do: []", 10, 'expected an expression for `While`, found true; write one, without quotes; `!yaql "true"` is'),
        (RETURN, "- Repeat: many\n        Do: []", 10, "expected an integer or an expression for `Repeat`, found 'many'"),
        (RETURN, "- Throw: $given", 10, "expected names of exceptions for `Throw`, found the expression `$given`"),
        (RETURN, "- Throw: []", 10, "expected the name of an exception for `Throw`, found a list; write one"),
        (RETURN, "- Try: []\n        Catch: nothing", 11, "expected a map, or a list of maps, for `Catch`, found 'nothing'"),
        (RETURN, "- Switch: [1]", 10, "expected a map of blocks for `Switch`, found a list"),
        (RETURN, "- If: {a: 1}\n        Then: []", 10, "expected an expression for `If`, found a map"),
        (RETURN, "- Break: now", 10, "expected no value for `Break`, found 'now'"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_class_file_is_found_once_with_its_line(old, new, line, words):
    (found,) = check([written(old, new)])
    assert (found.place.file, found.place.line) == ("Classes/A.yaml", line)
    assert words in str(found)


@pytest.mark.parametrize(
    ("form", "found", "advice"),
    [
        ("1.5", "1.5", "use a newer engine"),
        ("2.0", "2.0", "use a newer engine"),
        ("1.5.1", "1.5.1", "use a newer engine"),
        ("1.4.1", "1.4.1", "formats have two numbers: write `Format: 1.4`"),
        ("MuranoPL/1.4.2", "1.4.2", "formats have two numbers: write `Format: 1.4`"),
        ("Heat/1.0", "Heat/1.0", "Heat is not supported: write the package in MuranoPL"),
        ("Heat.HOT/1.0", "Heat.HOT/1.0", "Heat.HOT is not supported: write the package in Mu"),
        ("Heat.HOT", "Heat.HOT/1.0", "Heat.HOT is not supported: write the package in MuranoPL"),
    ],
)
def test_a_format_that_the_engine_does_not_run_is_found_once_in_the_manifest(form, found, advice):
    (wrong,) = check([written("A", "A", MANIFEST.replace("1.4", form))])
    assert str(wrong.place) == "manifest.yaml: a/1.0.0"
    assert f"expected `Format: 1.4` or older, found `Format: {found}`" in str(wrong)
    assert advice in str(wrong)


def test_a_format_counts_without_classes_too():
    manifest = "Format: Heat.HOT\nType: Application\nFullName: a\nVersion: 1.0.0\n"
    (wrong,) = check([Package.from_files({"manifest.yaml": manifest})])
    assert "found `Format: Heat.HOT/1.0`; Heat.HOT is not supported" in str(wrong)


@pytest.mark.parametrize("word", ["Break", "Continue"])
def test_a_break_outside_of_a_loop_is_found_before_it_runs(word):
    body = f"""- Repeat: 2
        Do:
          - If: true
            Then:
              - {word}:
      - Try:
          - $x: 1
        Catch:
          - Do:
              - {word}:"""
    (found,) = check([written(RETURN, body)])
    first = GOOD[: GOOD.index(RETURN)].count("\n") + 1
    assert (found.place.line, found.severity) == (first + 9, "warning")
    assert f"`{word}` stands outside of a loop; move it into a loop" in str(found)


def test_a_circle_of_two_classes_is_found_once_with_the_line_of_the_parents():
    (found,) = check([written("Name: A", "Name: A\nExtends: B", other=OTHER + "Extends: A\n")])
    assert (found.place.file, found.place.line) == ("Classes/A.yaml", 3)
    assert "a.A extends a.B extends a.A" in str(found)


@pytest.mark.parametrize(
    "text", ["costs a lot", "'$x.f('", "'100 $'", "hello, world", "|\n         $x("]
)
def test_what_is_meant_as_text_is_no_mistake(text):
    assert check([written("$given", text)]) == ()


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("- $.rum(1)", 'unknown method "rum" of the object root of a.A; did you mean run?'),
        ("- :A.rum(1)", 'unknown method "rum" of the type a.A; did you mean run?'),
        ("- $.siz", "expected a property of a.A, found 'siz'; did you mean size?"),
        ("- coalese($given)", 'unknown function "coalese"; did you mean coalesce?'),
        ("- list(1).selct($)", 'unknown method "selct" of a list; did you mean select?'),
        ("- new(q:B)", "expected a declared prefix, found 'q' in 'q:B'"),
        ("- Retrun: 1", "did you mean Return?"),
        ("- $.size: 5", "has the usage In, which only `.init` may assign; declare it as `Out` or `InOut`"),
    ],
)  # fmt: skip
def test_a_mistake_that_a_call_comes_upon_has_its_line_and_class(new, words):
    with Engine([written(RETURN, new)]).session() as session:
        root = session.load({"?": {"type": "a.A", "id": "root"}})
        with pytest.raises(EngineError) as caught:
            session.call(root, "run", [1], internal=True)
    assert words in str(caught.value)
    assert str(caught.value.place) == "Classes/A.yaml:10: a/1.0.0 a.A"


def test_a_file_of_several_classes_that_cannot_be_read_is_said_once():
    manifest = "Format: 1.4\nType: Library\nFullName: a\nVersion: 1.0.0\nClasses: {a.A: A.yaml, a.B: A.yaml}\n"
    text = "Namespaces: {=: a}\nName: A\n---\nName: B\nProperties: {x: [}\n"
    package = Package.from_files({"manifest.yaml": manifest, "Classes/A.yaml": text})
    for found in (check([package]), check_alone(package)):
        assert [(each.code, each.place.line) for each in found] == [("syntax", 5)]


def test_a_call_with_other_arguments_names_the_line_of_the_method():
    package = written("A", "A")
    with Engine([package]).session() as session:
        root = session.load({"?": {"type": "a.A"}})
        with pytest.raises(EngineError, match="expected the arguments given") as caught:
            session.call(root, "run", [1, 2], internal=True)
    assert caught.value.line == 6
