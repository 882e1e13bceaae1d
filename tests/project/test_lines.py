"""The line that a path in a document leads to."""

import pytest

from trundle.documents import compose, line_at

TEXT = """\
Objects:
  ?: {type: a.A}
  list:
    - one
    - {two: 2,
       three: 3}
  a.b:
    c: 1
  a:
    b: {c: 2}
  "it's [0]":
    - x
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("$", 1),
        ("$.Objects", 1),
        ("$.Objects['?']", 2),
        ("$.Objects.?.type", 2),
        ("$.Objects.list", 3),
        ("$.Objects.list[0]", 4),
        ("$.Objects.list[1].three", 6),
        ("$.Objects.a.b.c", 8),  # The longer name counts.
        ("$.Objects.a", 9),
        ("$.Objects.it's [0][0]", 12),
        ('$.Objects["it\'s [0]"][0]', 12),
        ("$.Objects.list[1].four", 5),  # What is missing would be there.
        ("$.Objects.list[7]", 3),
        ("$.Else", 1),
    ],
)
def test_the_line_of_a_place(path, line):
    ((root,), _) = compose(TEXT, "f.yaml")
    assert line_at(root, path) == line


def test_json_that_is_yaml_has_lines_too():
    ((root,), _) = compose('{\n "a": {\n  "b": [\n   1,\n   2]}}', "f.json")
    assert [line_at(root, each) for each in ("$.a", "$.a.b", "$.a.b[1]")] == [2, 3, 5]
