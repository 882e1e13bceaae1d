"""Hooks in `evolution.yaml`: what can be called, and one finding for whatever cannot."""

import pytest
from engines import package

from trundle.packages import Package
from trundle.project.package_evolution import PackageEvolutions, check_rules

OLD = """
Properties:
  a: {Contract: $.string()}
  n: {Contract: $.string()}
  peer: {Contract: $.class(p.A)}
  limits: {Contract: {cpu: $.int()}}
"""
NEW = """
Properties:
  b: {Contract: $.string()}
  n: {Contract: $.int()}
  peer: {Contract: $.class(p.A)}
  limits: {Contract: {cpu: $.int()}}
Methods:
  up: {Usage: Static, Scope: Public, Arguments: [{a: {Contract: $}}], Body: [{Return: {b: $a}}]}
  hidden: {Usage: Static, Arguments: [{a: {Contract: $}}]}
  ofObjects: {Scope: Public, Arguments: [{a: {Contract: $}}]}
  none: {Usage: Static, Scope: Public}
  wrong: {Usage: Static, Scope: Public, Arguments: [{aa: {Contract: $}}]}
  all: {Usage: Static, Scope: Public, Arguments: [{a: {Contract: $, Usage: VarArgs}}]}
  two: {Usage: Static, Scope: Public, Arguments: [{x: {Contract: $}}, {y: {Contract: $}}]}
  one: {Usage: Static, Scope: Public, Arguments: [{x: {Contract: $}}, {y: {Contract: $, Default: 1}}]}
  deep: {Usage: Static, Scope: Public, Arguments: [{limits__cpu: {Contract: $}}]}
"""
OTHER = "Methods: {up: {Usage: Static, Scope: Public, Arguments: [{a: {Contract: $}}]}}"


def releases(hooks, indent=6):
    text = "\n".join(" " * indent + line for line in hooks.splitlines())
    one = package("p", "1.0.0", classes={"p.A": OLD, "p.Gone": "Properties: {}"})
    two = package("p", "2.0.0", classes={"p.A": NEW, "p.Other": OTHER})
    rules = text if indent == 0 else f"hooks:\n  1.0.0:\n    p.A:\n{text}"
    files = {name: two.file(name) for name in two.files}
    return one, Package.from_files({**files, "evolution.yaml": rules})


def found(hooks, indent=6):
    one, two = releases(hooks, indent)
    return list(check_rules(two, one))


@pytest.mark.parametrize(
    "hooks",
    [
        "assign_to: {use: up, writes: [b]}",
        "assign_to: {use: p.A.up, writes: [b]}",
        "assign_to: {use: p.Other.up, writes: [b, limits.cpu]}",
        "assign_to: {use: deep, writes: [b]}",
        "convert_string_to_integer: one",
        "convert_integer_to_string: p.A.one",
    ],
)
def test_a_hook_that_can_be_called_is_none(hooks):
    assert found(hooks) == []
    one, two = releases(hooks)
    assert len(PackageEvolutions([one, two]).of("p").hooks) == 1
    assert list(check_rules(two, None)) == []


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        (
            "assign_to: up",
            "expected a method and what it writes, found something else; write it like `assign_to: {use: METHOD",
        ),
        ("assign_to: {use: up}", "expected the key `writes` of a hook, found none"),
        ("assign_to: {writes: [b]}", "expected the key `use` of a hook, found none"),
        ("assign_to: {use: up, writes: []}", "p.A.up writes nothing"),
        ("assign_to: {use: up, writes: b}", "a list of property names"),
        ("assign_to: {use: up, writes: [c]}", "p.A.up writes c, which p.A of 2.0.0 does not have"),
        ("assign_to: {use: up, writes: [limits.ram]}", "p.A.up writes limits.ram, which"),
        ("assign_to: {use: up, writes: [peer.a]}", "p.A.up writes peer.a, which"),
        (
            "assign_to: {use: upp, writes: [b]}",
            "expected a static method of p.A, found upp; did you mean up",
        ),
        (
            "assign_to: {use: q.B.up, writes: [b]}",
            "expected a class of 2.0.0, which has the method, found q.B",
        ),
        (
            "assign_to: {use: p.Gone.up, writes: [b]}",
            "expected a class of 2.0.0, which has the method, found p.Gone",
        ),
        (
            "assign_to: {use: ofObjects, writes: [b]}",
            "p.A.ofObjects to be static, for it is called without an object, found the usage Runtime",
        ),
        ("assign_to: {use: hidden, writes: [b]}", "p.A.hidden to be public"),
        ("assign_to: {use: none, writes: [b]}", "p.A.none has no arguments"),
        (
            "assign_to: {use: wrong, writes: [b]}",
            "p.A.wrong has the argument aa, which p.A of 1.0.0 does not have",
        ),
        ("assign_to: {use: all, writes: [b]}", "the argument a of p.A.all takes all others"),
        (
            "assign_from: {use: up, writes: [b]}",
            "p.A.up has the argument a, which p.A of 2.0.0 does not have",
        ),
        (
            "convert_string_to_integer: two",
            "expected one argument without a default for p.A.two, which takes the value, found x, y",
        ),
        (
            "convert_text_to_number: one",
            "convert_text_to_number fits no changed property of p.A between 1.0.0 and 2.0.0",
        ),
        ("assing_to: one", "assing_to fits no changed property"),
    ],
)
def test_a_hook_that_cannot_be_called_is_one_finding_with_its_line(hooks, message):
    (first, *others) = found(hooks)
    assert message in str(first)
    assert first.place.file == "p/2.0.0/evolution.yaml"
    assert first.place.line == 4
    assert others == [] or "writes c" not in message


def test_a_hook_for_what_is_not_there_is_a_finding():
    text = "hooks: {1.0.0: {p.B: {convert_string_to_integer: p.A.one}}}"
    (wrong,) = found(text, 0)
    assert (
        "the hook convert_string_to_integer is for p.B, which has no objects between 1.0.0 and 2.0.0"
        in str(wrong)
    )


@pytest.mark.parametrize("use", ["hidden", "ofObjects", "p.Other.down"])
def test_methods_are_looked_at_without_the_release_before(use):
    _, two = releases(f"assign_to: {{use: {use}, writes: [b]}}")
    assert len(list(check_rules(two, None))) == 1


def test_hooks_of_a_package_with_requirements_are_checked_beside_these():
    lib = package("lib", "1.0.0", classes={"l.Base": "Properties: {z: {Contract: $}}"})
    one, two = releases("assign_to: {use: hidden, writes: [b]}")
    needing = []
    for each in (one, two):
        files = {name: each.file(name) for name in each.files}
        files["manifest.yaml"] += b"\nRequire: {lib: '1'}\n"
        files["Classes/class0.yaml"] += b"\nExtends: l.Base\n"
        needing.append(Package.from_files(files))
    assert list(check_rules(needing[1], needing[0])) == []
    (wrong,) = check_rules(needing[1], needing[0], [lib])
    assert "p.A.hidden to be public" in str(wrong)
