"""A contract that is an expression, as the list of what its methods do: `$.string().notNull().check(len($) < 9)`."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trundle.engine._errors import EngineError
from trundle.engine.contracts._methods import METHODS, arguments_of
from trundle.engine.contracts._predicates import Predicate, at_step, predicate_of
from trundle.engine.contracts._steps import bare, calls_of
from trundle.engine.expressions import (
    Binary,
    Call,
    Tree,
    class_name,
    spelled,
)

CONVERSIONS = ("string", "int", "bool", "class", "template")
"""The methods by which values become others."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a value becomes.

    Attributes:
        method: one of the conversions.
        type: the full name of the class, for objects and templates.
        versions: the text of the expression for its versions; empty for those that the package requires.
        options: the texts of the other arguments, by their names.
    """

    method: str
    type: str = ""
    versions: str = ""
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """What the methods of a contract do together.

    Attributes:
        conversions: what values become, in their order; nothing where they stay as they are.
        is_not_null: whether null is refused by `notNull()`.
        ownership: those of `owned` and `notOwned` that it has.
        predicate: what its checks demand.
        checks: the texts of its checks.
        fallback: what stands after `or`; empty for nothing.
    """

    conversions: tuple[Conversion, ...] = ()
    is_not_null: bool = False
    ownership: frozenset[str] = frozenset()
    predicate: Predicate = field(default_factory=Predicate)
    checks: tuple[str, ...] = ()
    fallback: str = ""

    @property
    def takes_null(self) -> bool | None:
        """Whether null is accepted; None where that is not known."""
        return False if self.is_not_null else self.predicate.takes_null


def chain_of(tree: Tree, full: Callable[[str], str]) -> Chain | None:
    """The chain that an expression is; None for any other expression.

    Args:
        tree: the expression.
        full: gives the full name of a class by the name in the expression; raises `KeyError` for an unknown prefix.
    """
    tree, fallback = _without_fallback(bare(tree))
    calls = calls_of(tree)
    if calls is None:
        return None
    chain = Chain(fallback=fallback)
    for call in calls:
        try:
            found = _with(chain, call, full)
        except (EngineError, KeyError):
            return None
        if found is None:
            return None
        chain = found
    if [each.method for each in chain.conversions] == ["int"]:
        return replace(chain, predicate=chain.predicate.of_integers())
    return chain


def _with(chain: Chain, call: Call, full: Callable[[str], str]) -> Chain | None:
    """The chain with one more method; None for one that means nothing in contracts."""
    if call.name not in METHODS:
        return None
    conversions, not_null = chain.conversions, chain.is_not_null
    ownership, predicate, checks = chain.ownership, chain.predicate, chain.checks
    given = arguments_of(call)
    match call.name:
        case "notNull":
            not_null = True
        case "owned" | "notOwned":
            ownership |= {call.name}
        case "check":
            last = conversions[-1].method if conversions else ""
            added = predicate_of(given["pred"], is_integer=last == "int")
            predicate &= at_step(added, len(conversions))
            checks = (*checks, spelled(given["pred"]))
        case _:
            written = {name: spelled(each) for name, each in given.items()}
            type_ = ""
            if "type" in given:
                name = class_name(given["type"])
                if name is None:
                    return None
                type_ = full(name)
            versions = written.pop("versionSpec", "")
            written.pop("type", None)
            options = tuple(sorted(written.items()))
            conversions = (*conversions, Conversion(call.name, type_, versions, options))
    return Chain(conversions, not_null, ownership, predicate, checks, chain.fallback)


def _without_fallback(tree: Tree) -> tuple[Tree, str]:
    """An expression without what stands after `or`, and the text of that."""
    if isinstance(tree, Binary) and tree.operator == "or":
        return bare(tree.left), spelled(tree.right)
    return tree, ""
