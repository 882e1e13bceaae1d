"""What models give to the objects of a class."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from trundle.engine._declarations import INITIALIZER, ArgumentDeclaration, PropertyDeclaration
from trundle.engine._nodes import Node, ScalarNode
from trundle.engine.contracts import Chain, chain_of
from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar, code_of

FROM_MODEL = ("In", "Out", "InOut", "Const")
"""The usages of properties that models give."""


class Described(Protocol):
    """A class with all that it inherits."""

    declaration: Any
    package: str
    version: Any

    @property
    def class_name(self) -> str:
        """Its full name."""

    @property
    def label(self) -> str:
        """How models spell it."""

    @property
    def parents(self) -> Sequence[Any]:
        """Its parents."""

    @property
    def properties(self) -> Mapping[str, Any]:
        """Its properties by name."""

    @property
    def lineage(self) -> Any:
        """It and its ancestors."""


class Input(NamedTuple):
    """Something that a model gives to an object.

    Attributes:
        name: its name.
        contract: what its values satisfy; None where nothing looks at them while the model loads.
        written: the same as it is written.
        default: what it is where the model does not give it; None where no default is declared.
        full: gives the full name of a class by the name in the contract; raises `KeyError` for an unknown prefix.
    """

    name: str
    contract: Code | None
    written: Node | None
    default: Code | None
    full: Callable[[str], str]


def inputs(type_: Described) -> Iterator[Input]:
    """What models give to the objects of a class, by name; an argument of `.init` takes the place of a property."""
    found: dict[str, Input] = {}
    for name, each in type_.properties.items():
        owner = each.declaring_type.declaration
        if each.usage in FROM_MODEL:
            found[name] = _input(each.declaration, owner)
    for owner in type_.lineage.declarers(f"{INITIALIZER}()"):
        for argument in owner.declaration.methods[INITIALIZER].arguments:
            found[argument.name] = _input(argument, owner.declaration)._replace(contract=None)
    return iter([found[name] for name in sorted(found)])


def chain_in(code: Code, full: Callable[[str], str]) -> Chain | None:
    """The chain of methods that a contract is; None for any other."""
    return chain_of(code.tree, full) if isinstance(code, Expression) else None


def takes_null(code: Code, full: Callable[[str], str]) -> bool:
    """Whether null may satisfy a contract; so may what is not known to refuse it."""
    match code:
        case Scalar(value):
            return value is None
        case Expression():
            chain = chain_in(code, full)
            return chain is None or chain.takes_null is not False
        case Listing():
            return not lengths(code)[1]
        case Mapped():
            named = (value for key, value in code.entries if isinstance(key, Scalar))
            return all(takes_null(each, full) for each in named)


def lengths(listing: Listing) -> tuple[tuple[Code, ...], int, int | None]:
    """The contracts of a list's items, its least and its greatest length."""
    items = list(listing.items)
    numbers: list[int] = []
    while items and len(numbers) < 2 and (number := _length(items[-1])) is not None:  # noqa: PLR2004 - least and most
        numbers.insert(0, number)
        items.pop()
    return tuple(items), (numbers or [0])[0], numbers[1] if len(numbers) > 1 else None


def constant(code: Code) -> Any:
    """The plain value of a part of a class file without expressions.

    Raises:
        ValueError: there is an expression in it.
    """
    match code:
        case Scalar(value):
            return value
        case Listing(items):
            return [constant(each) for each in items]
        case Mapped(entries):
            found = {constant(key): constant(value) for key, value in entries}
            if all(isinstance(key, str) for key in found):
                return found
    raise ValueError(f"{code} is not constant")


def _length(code: Code) -> int | None:
    return code.value if isinstance(code, Scalar) and type(code.value) is int else None


def _input(declared: PropertyDeclaration | ArgumentDeclaration, owner: Any) -> Input:
    nothing = ScalarNode(None, "", declared.line)
    contract = code_of(declared.contract or nothing, owner.file)
    default = code_of(declared.default or nothing, owner.file) if declared.has_default else None
    return Input(declared.name, contract, declared.contract, default, owner.names.full)
