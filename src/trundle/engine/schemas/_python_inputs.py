"""What models give to the objects of a class, as authors of Python code see it."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from trundle.engine.contracts import Chain
from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar
from trundle.engine.schemas._inputs import (
    Described,
    Input,
    chain_in,
    inputs,
    lengths,
    takes_null,
)

Accepted: TypeAlias = Callable[[str, Any, str | None], tuple[Any, ...]]
"""Gives the classes whose objects `class()` takes: for a full name, the class whose code it is, and a version spec."""


class Plain(NamedTuple):
    """A value without objects.

    Attributes:
        type: `str`, `int`, `bool`, or empty for any value.
    """

    type: str = ""


class Constant(NamedTuple):
    """Exactly one value."""

    value: str | int | bool | None


class Objects(NamedTuple):
    """An object, or the id of one.

    Attributes:
        types: the classes that it may be of.
    """

    types: tuple[Any, ...]


class Items(NamedTuple):
    """A list.

    Attributes:
        values: what its items are.
    """

    values: "PythonType"


class Entries(NamedTuple):
    """A map.

    Attributes:
        named: what stands under constant keys.
        others: what stands under other keys; None where there are none.
        keys: what the other keys are.
        required: the constant keys that a map has to have.
    """

    named: tuple[tuple[str, "PythonType"], ...]
    others: "PythonType | None"
    keys: "PythonType" = Plain()
    required: frozenset[str] = frozenset()


class OrNull(NamedTuple):
    """A value, or null."""

    value: "PythonType"


PythonType: TypeAlias = Plain | Constant | Objects | Items | Entries | OrNull


class PythonInput(NamedTuple):
    """Something that a model gives to an object.

    Attributes:
        name: its name.
        type: what its values are.
        is_required: whether a model has to give it.
        is_reference: whether objects in it stand in full elsewhere.
    """

    name: str
    type: PythonType
    is_required: bool
    is_reference: bool


def python_inputs(type_: Described, accepted: Accepted) -> tuple[PythonInput, ...]:
    """What models give to the objects of a class, in the order in which dumps have it.

    Args:
        type_: the class.
        accepted: gives the classes that a contract takes.
    """
    order = {name: at for at, name in enumerate(type_.properties)}
    found = sorted(inputs(type_), key=lambda each: order.get(each.name, len(order)))
    return tuple(_Builder(type_, each, accepted).input() for each in found)


class _Builder:
    def __init__(self, type_: Described, given: Input, accepted: Accepted) -> None:
        declared = type_.properties.get(given.name)
        self._given = given
        self._owner = type_ if declared is None else declared.declaring_type
        self._accepted = accepted
        self._is_reference = False

    def input(self) -> PythonInput:
        """The input."""
        given = self._given
        if given.contract is None:  # Nothing looks at it while the model loads.
            return PythonInput(given.name, Plain(), is_required=False, is_reference=False)
        type_ = self._type(given.contract)
        is_required = given.default is None and not takes_null(given.contract, given.full)
        return PythonInput(given.name, type_, is_required, self._is_reference)

    def _type(self, code: Code) -> PythonType:
        match code:
            case Scalar(value):
                return Plain() if isinstance(value, float) else Constant(value)
            case Expression():
                chain = chain_in(code, self._given.full)
                return Plain() if chain is None else self._of_chain(chain)
            case Listing():
                items = {self._type(each) for each in lengths(code)[0]}
                return Items(items.pop() if len(items) == 1 else Plain())
            case Mapped():
                return self._of_map(code)

    def _of_map(self, code: Mapped) -> Entries:
        constants = [(key.value, each) for key, each in code.entries if isinstance(key, Scalar)]
        texts = [(key, each) for key, each in constants if isinstance(key, str)]
        named = tuple((key, self._type(each)) for key, each in texts)
        required = frozenset(key for key, each in texts if not takes_null(each, self._given.full))
        others = [
            (self._type(key), self._type(each))
            for key, each in code.entries
            if isinstance(key, Expression)
        ]
        if others:
            return Entries(named, others[0][1], others[0][0], required)
        is_open = not code.entries or len(texts) < len(constants)
        return Entries(named, Plain() if is_open else None, Plain(), required)

    def _of_chain(self, chain: Chain) -> PythonType:
        if len(chain.conversions) != 1:
            return Plain()
        conversion = chain.conversions[0]
        self._is_reference |= "notOwned" in chain.ownership
        found: PythonType
        match conversion.method:
            case "string":
                found = Plain("str")
            case "int" | "bool" as name:
                found = Plain(name)
            case "class":
                found = self._objects(conversion.type, conversion.versions)
            case _:
                return Plain()
        is_null_taken = chain.takes_null is not False or bool(chain.fallback)
        return OrNull(found) if is_null_taken else found

    def _objects(self, name: str, versions: str) -> PythonType:
        spec = None
        if versions:
            try:
                spec = json.loads(versions)
            except ValueError:
                return Plain()
        return Objects(self._accepted(name, self._owner, None if spec is None else str(spec)))
