"""Traces: what ran, with shortened values, and no secret in it."""

import pytest
from programs import opened

from trundle.engine import CallTrace, EngineError, watching

TEXT = """
Properties: {n: {Contract: $.int(), Default: 1}}
Methods:
  f:
    Scope: Public
    Arguments: [{x: {Contract: $}}, {password: {Contract: $}}]
    Body:
      - $x: changed
      - $.g([1, 2, 3, 4, 5, 6], {token => abc, a => $this})
      - Return: 5
  g: {Arguments: [{l: {Contract: $}}, {m: {Contract: $}}]}
  bad: {Scope: Public, Body: [{Throw: Oops, Message: wrong}]}
"""


def traced(method, args=()):
    lines = []
    with watching(CallTrace(lines.append)), opened({"a.A": TEXT}) as (session, root):
        try:
            session.call(root, method, args)
        except EngineError as error:
            lines.append(error.format())
    return lines


def test_a_trace_has_each_call_with_its_place_and_no_secret():
    lines = traced("f", ["x" * 100, "hunter2"])
    assert [each.partition("  a/1.0.0 Classes/class0.yaml:")[0] for each in lines] == [
        f"a.A.f(x='{'x' * 37}...', password=***)",
        "  a.A.g(l=[1, 2, 3, 4, 2 more], m={'token': ***, 'a': <root of a.A>})",
        "= 5",
    ]
    assert "hunter2" not in "".join(lines)


def test_a_trace_and_an_error_say_what_was_thrown_and_where():
    lines = traced("bad")
    assert lines[1] == "! a.Oops: wrong"
    assert "in a.A.bad (a/1.0.0, Classes/class0.yaml:" in lines[2]


def test_nothing_is_traced_afterwards():
    lines = traced("f", [1, 2])
    with opened({"a.A": TEXT}) as (session, root), pytest.raises(EngineError):
        session.call(root, "bad")
    assert len(lines) == 3
