"""Measures contracts, compiled, against yaql's own evaluator with the same functions over the same tree.

Each contract runs in turns with its peer; the ratio is how many compiled runs fit into one of yaql's.
"""

import statistics
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import rounds

from trundle.engine._scene import ObjectValue, TypeValue
from trundle.engine.contracts import Where, compile_contract
from trundle.engine.contracts._methods import compilers_for
from trundle.engine.expressions import Expression, Format, Scope, freeze
from trundle.engine.expressions._scope import context_of

ROUNDS = 15
FLOOR = 100
CONTRACTS: tuple[tuple[str, Any], ...] = (
    ("$.string().notNull()", "example"),
    ("$.int().notNull().check($ > 0 and $ < 65536)", 8080),
    ("$.int() or 5672", None),
    ("$.bool().notNull()", True),
    ("$.string().check($ in list(small, medium, large))", "medium"),
    ("$.check($ > 0)", 5),
    ("$.string().check(len($) > 3 and $.startsWith('ex'))", "example"),
    ("$.class(Node).notNull()", "node"),
    ("$.class(Node).check($.size > 2)", "node"),
)


class _Type(TypeValue):
    name = "a.Node"

    def read(self, name: str, _scene: Any) -> Any:
        raise AttributeError(name)


class _Node(ObjectValue):
    id, type, owner = "node", _Type(), None

    def read(self, _name: str, _scene: Any) -> Any:
        return 3


class _Origin:
    package, version, class_name = "app", None, "a.App"


class _Scene:
    """One type and one object of it."""

    this = _Node()
    origin = _Origin()
    functions: Mapping[str, Any] = MappingProxyType({})
    meter = world = None

    def method(self, _receiver: Any, _name: str) -> None:
        """None: no value has methods of its own here."""

    def resolve(self, _name: str) -> TypeValue:
        return _Node.type

    def find(self, _identifier: str) -> ObjectValue:
        return self.this

    def is_instance(self, value: ObjectValue, type_: TypeValue, _spec: str | None = None) -> bool:
        return value.type is type_


def contestants(text: str, value: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A contract compiled, and on yaql's evaluator with a context that is ready."""
    scene: Any = _Scene()
    expression = Expression(text)
    contract = compile_contract(expression, format_=Format(), where=Where("a.App", "p"))
    language = compilers_for(Format())[0].language
    scope = Scope(scene, {"$1": value, "$this": scene.this})
    context, native = context_of(scope, language), expression.tree.native
    return (
        lambda: contract.transform(value, scene),
        lambda: freeze(language.evaluate(native, context)),
    )


def main() -> None:
    """Prints a line for each contract, and the median of the ratios."""
    ratios = []
    print("contracts: compiled, and on yaql's evaluator")
    for text, value in CONTRACTS:
        ours, theirs = contestants(text, value)
        assert ours() == theirs(), text
        compiled, evaluated = rounds.measure((ours, theirs), ROUNDS)
        ratio = compiled.times_as_fast_as(evaluated)
        ratios.append(ratio)
        micros = f"{compiled.median * 1e6:7.2f} us {evaluated.median * 1e6:9.1f} us"
        print(f"  {text:55} {micros} {ratio:6.0f} times as fast")
    verdict = "above" if min(ratios) >= FLOOR else "BELOW"
    print(f"  median {statistics.median(ratios):.0f}, least {min(ratios):.0f}: {verdict} {FLOOR}")


if __name__ == "__main__":
    main()
