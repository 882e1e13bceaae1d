"""Class files: what they declare, and what is wrong with them."""

import pytest

from trundle.engine import EngineError
from trundle.engine._class_file import read_class_file

WHOLE = """
Namespaces:
  =: com.x
  std: io.murano
  py:
---
Name: Server
Extends: [std:Application, ':Base', other.Thing]
Import: std:File
Meta:
  std:Title: {text: A server}
Properties:
  port:
    Contract: $.int().notNull()
    Default: 80
  disks:
    Usage: Out
    Contract: [$.string()]
Methods:
  initialize:
    Arguments:
      - size: {Contract: $.int()}
  scale:
    Scope: Public
    Arguments:
      - by: {Contract: $.int(), Default: 1}
      - others: {Contract: $, Usage: VarArgs}
      - options: {Contract: $, Usage: KwArgs}
    Body: [{$.n: $.n + $by}, not an ( expression]
---
Namespaces: {=: com.y}
Name: Label
Usage: Meta
Cardinality: Many
Applies: [Type, Method]
Inherited: true
Workflow:
  show:
---
Properties: {}
"""


def test_a_file_has_several_classes_and_namespaces_hold_until_others_come():
    server, label, unnamed = read_class_file(WHOLE.encode(), "a.yaml")
    assert server.name == "com.x.Server"
    assert server.parents == ("io.murano.Application", "com.x.Base", "other.Thing")
    assert server.imports == ("io.murano.File",)
    assert server.names.full("py:StopIteration") == "StopIteration"
    assert (label.name, label.usage, label.cardinality) == ("com.y.Label", "Meta", "Many")
    assert (label.applies, label.is_inherited) == (("Type", "Method"), True)
    assert list(label.methods) == ["show"]
    assert (unnamed.name, unnamed.parents) == ("", None)


def test_members_keep_what_is_written_of_them():
    server, *_ = read_class_file(WHOLE.encode(), "a.yaml")
    port, disks = server.properties.values()
    assert (port.usage, port.has_default, port.default.value, port.line) == ("In", True, 80, 13)
    assert (disks.usage, disks.has_default) == ("Out", False)
    assert server.methods[".init"].arguments[0].name == "size"
    scale = server.methods["scale"]
    assert scale.is_public
    assert [each.usage for each in scale.arguments] == ["Standard", "VarArgs", "KwArgs"]
    assert scale.body.items[0].line == 29  # Kept, and not read


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        ("Name: a\nExtend: b", "syntax", 2, "did you mean Extends?"),
        ("Name: p:A", "no-class", 1, "declare it under `Namespaces`"),
        ("Name: A\n---\nName: A", "ambiguous", 3, "lines 1 and 3"),
        ("Usage: Meta\n---\nUsage: Meta", "ambiguous", 3, "a class without a name"),
        ("Name: A\nProperties:\n  p: {Default: 1}", "syntax", 3, "`Contract` in the property p"),
        ("Name: A\nProperties:\n  p: {Contract: $, Usage: Input}", "syntax", 3, "In, Out"),
        ("Name: A\nMethods:\n  f: {Usage: Action, Scope: Session}", "syntax", 3, "Scope: Public"),
        (
            "Name: A\nMethods:\n  f:\n    Arguments: [k: {Contract: $, Usage: KwArgs}, a: {Contract: $}]",
            "syntax",
            4,
            "plain arguments first",
        ),
        ("Name: A\nMethods:\n  init: {}\n  destroy:\n  .destroy:", "syntax", 5, "a second time"),
        ("Name: A B", "syntax", 1, "letters, digits"),
        ("[a]", "syntax", 1, "a class as a map"),
        ("a: [", "syntax", 1, "valid YAML"),
    ],
)
def test_what_is_wrong_has_file_and_line(text, code, line, words):
    with pytest.raises(EngineError) as caught:
        read_class_file(text.encode(), "Classes/a.yaml")
    error = caught.value
    assert (error.code, error.file, error.line) == (code, "Classes/a.yaml", line)
    assert words in str(error)


def test_a_class_file_that_is_a_bomb_is_refused():
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{after}: &{after} [{','.join([f'*{name}'] * 9)}]\n"
        for name, after in zip("abcdefg", "bcdefgh", strict=True)
    )
    with pytest.raises(EngineError, match="aliases"):
        read_class_file(bomb.encode(), "a.yaml")
