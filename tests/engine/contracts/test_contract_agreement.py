"""Compiled contracts and yaql's own evaluator, with the same methods as functions, agree on values and on violations."""

import re

import pytest
from amounts import amount
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scenes import Thing, Type, World

from trundle.engine import EngineError
from trundle.engine.contracts._methods import compilers_for, run_of
from trundle.engine.contracts._steps import kept_types
from trundle.engine.contracts._violations import ViolationError
from trundle.engine.expressions import Expression, Format, Scope, freeze
from trundle.engine.expressions._scope import context_of

BASE = Type("a.Base")
DERIVED = Type("a.Derived", "1.2.0", [BASE])
THIS = Thing(DERIVED, "this", size=3)
CHILD = Thing(DERIVED, "child", THIS, size=4)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([1.5, "x", "12", "child", "nobody", CHILD, THIS])
    | st.lists(st.sampled_from([1, "2", None]), max_size=3)
    | st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from([1, "2", None]), max_size=2)
)
STEPS = [
    "string()",
    "int()",
    "bool()",
    "notNull()",
    "check($ > 0)",
    "check($ in [x, 12])",
    "check($.size > 3, 'too small')",
    "check($this.size = 3, msg => concat(a, b))",
    "check(isString($) and len($) > 1)",
    "class(Base)",
    "class(Base, default => Derived)",
    "class('a.Base', versionSpec => '2')",
    "class(:Derived, null, '1')",
    "template(Base)",
    "template(Base, excludeProperties => [a])",
    "owned()",
    "notOwned()",
    "select($.int())",
    "orderBy($.int())",
    "a",
]
CHAINS = st.lists(st.sampled_from(STEPS), min_size=1, max_size=3).map(
    lambda steps: ".".join(["$", *steps])
)
CONTRACTS = CHAINS | st.tuples(CHAINS, st.sampled_from(["or", "and", "="]), CHAINS).map(" ".join)


def outcome(evaluate, variables):
    scene = World(THIS, {"Base": BASE, "a.Base": BASE, "Derived": DERIVED}, {"child": CHILD})
    try:
        found = freeze(evaluate(Scope(scene, variables)))
        return repr(found) if not isinstance(found, Thing) else (found.id, found.type.name)
    except ViolationError as error:
        return [each.message for _, each in error.errors]
    except EngineError as error:
        return error.code
    except Exception as error:  # noqa: BLE001 - whatever yaql raises
        return type(error)


@pytest.mark.parametrize("format_", [Format(1, 0), Format(1, 4)])
@pytest.mark.parametrize("purpose", [0, 1])
@settings(max_examples=amount(500), suppress_health_check=list(HealthCheck), deadline=None)
@given(text=CONTRACTS, value=VALUES)
def test_generated_contracts_agree(text, value, purpose, format_):
    compiler = compilers_for(format_)[purpose]
    expression = Expression(text)
    language, tree = compiler.language, expression.tree
    variables = {"$1": freeze(value), "$this": THIS}
    run = run_of(expression, compiler)
    ours = outcome(lambda scope: run(scope.variables["$1"], scope.scene), variables)
    if type(value) in kept_types(tree):
        assert ours == repr(value)
    theirs = outcome(
        lambda scope: language.evaluate(tree.native, context_of(scope, language)), variables
    )
    assert _without_addresses(ours) == _without_addresses(theirs)


def _without_addresses(found):
    return re.sub(r" at 0x\w+", "", str(found))
