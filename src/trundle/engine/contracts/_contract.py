"""A contract as it is declared, compiled once, and run for each value."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._scene import Scene
from trundle.engine.contracts._glance import glances_of
from trundle.engine.contracts._methods import METHODS, compilers_for, run_of
from trundle.engine.contracts._parts import (
    ConstantPart,
    ExpressionPart,
    ListPart,
    MapPart,
    Part,
)
from trundle.engine.contracts._steps import bare, calls_of, kept_types, taken_class
from trundle.engine.contracts._violations import ViolationError
from trundle.engine.expressions import (
    Binary,
    Call,
    Code,
    Expression,
    Format,
    FrozenDict,
    Language,
    Listing,
    Mapped,
    Scalar,
)
from trundle.errors import Place, did_you_mean, expectation, shown


@dataclass(frozen=True, slots=True)
class Where:
    """What a contract belongs to, for messages.

    Attributes:
        class_name: the full name of the class.
        member: the property, or the method.
        argument: the argument of the method; empty for a property.
        file: the class file.
        line: the line of the contract.
    """

    class_name: str
    member: str
    argument: str = ""
    file: str = ""
    line: int | None = None

    def at(self, path: tuple[Any, ...]) -> str:
        """A place within the value: `ns.Class.prop['key'][0]`, or `ns.Class::method(arg[0])`."""
        within = "".join(f"[{shown(each)}]" for each in path)
        if self.argument:
            return f"{self.class_name}::{self.member}({self.argument}{within})"
        return f"{self.class_name}.{self.member}{within}"


class Contract:
    """A compiled contract; it keeps nothing between calls, and threads may share it.

    Attributes:
        part: what it is made of.
        where: what it belongs to.
    """

    __slots__ = ("part", "where")

    def __init__(self, part: Part, where: Where) -> None:
        self.part = part
        self.where = where

    @property
    def kept(self) -> frozenset[type]:
        """The types of values that it always takes as they are, in a transformation and in a validation."""
        return self.part.kept if isinstance(self.part, ExpressionPart) else frozenset()

    @property
    def taken_class(self) -> str | None:
        """The class, as it is written, if the contract takes its objects as they are and nothing else but null."""
        return self.part.taken_class if isinstance(self.part, ExpressionPart) else None

    @property
    def taken_items(self) -> str | None:
        """The same of the items, if the contract is a list of any length with one contract for all items."""
        part = self.part
        if (
            not isinstance(part, ListPart)
            or len(part.items) != 1
            or part.least
            or part.most is not None
        ):
            return None
        item = part.items[0]
        return item.taken_class if isinstance(item, ExpressionPart) else None

    def keeps(self, value: Any) -> bool:
        """Whether it is certain at a glance that it takes a value as it is, in the same way."""
        return not isinstance(self.part, ConstantPart) and self.part.keeps(value)

    @property
    def glanced(self) -> frozenset[type]:
        """The types of values for which that is worth asking."""
        if isinstance(self.part, ExpressionPart):
            return frozenset(self.part.glances)
        return _COLLECTIONS if isinstance(self.part, ListPart | MapPart) else frozenset()

    def transform(self, value: Any, scene: Scene) -> Any:
        """What a value becomes when it is assigned or passed.

        Args:
            value: a value as `freeze` makes it.
            scene: whose code the contract is, and the object that gets the value.

        Returns:
            A value as `freeze` makes it.

        Raises:
            EngineError: the value violates the contract; `errors` has all violations in it.
        """
        try:
            return self.part.transform(value, scene)
        except ViolationError as error:
            raise self._error(error, scene) from error.__cause__

    def validate(self, value: Any, scene: Scene) -> None:
        """Checks that a value may stay as it is.

        Raises:
            EngineError: the value violates the contract; `errors` has all violations in it.
        """
        try:
            self.part.validate(value, scene)
        except ViolationError as error:
            raise self._error(error, scene) from error.__cause__

    def _error(self, violated: ViolationError, scene: Scene) -> EngineError:
        return EngineError.of(
            each if keys is None else self._placed(each, keys, scene)
            for keys, each in violated.errors
        )

    def _placed(self, error: EngineError, keys: tuple[Any, ...], scene: Scene) -> EngineError:
        where, origin = self.where, scene.origin
        within = "".join(f"[{shown(each)}]" for each in keys)
        return EngineError(
            error.code,
            f"[{where.at(keys)}] {error.message}",
            advice=error.advice,
            package=origin.package,
            version=origin.version,
            class_name=where.class_name,
            member=where.member,
            file=where.file,
            line=where.line,
            path=f"{where.argument or where.member}{within}",
            requirements=error.requirements,
        )


_COLLECTIONS = frozenset({tuple, FrozenDict})


def compile_contract(declaration: Code, *, format_: Format, where: Where) -> Contract:
    """Compiles a contract.

    Args:
        declaration: what stands under `Contract`.
        format_: the format of the package that declares it.
        where: what it belongs to.

    Raises:
        EngineError: the contract cannot be read; with class, member, file and line.
    """
    making, checking = compilers_for(format_)

    def part(code: Code) -> Part:
        match code:
            case Scalar():
                _check_constant(code)
                return ConstantPart(code.value)
            case Expression():
                _check_methods(code, making.language)
                made, checked = run_of(code, making), run_of(code, checking)
                tree = code.tree
                return ExpressionPart(
                    code, made, checked, kept_types(tree), taken_class(tree), glances_of(tree)
                )
            case Listing():
                return _list_part(code, part)
            case Mapped():
                return _map_part(code, part)

    try:
        return Contract(part(declaration), where)
    except EngineError as error:
        error.class_name, error.member = where.class_name, where.member
        error.message = f"[{where.at(())}] {error.message}"
        error.file, error.line = error.file or where.file, error.line or where.line
        raise


def _check_constant(code: Scalar) -> None:
    """Makes sure that a constant is not an expression with a mistake.

    Raises:
        EngineError: it starts as one, without quotes, and is none.
    """
    if code.is_plain and isinstance(code.value, str) and code.value.startswith("$"):
        Expression(code.value, Place(line=code.line)).tree  # noqa: B018 - raises what is wrong with it


def _check_methods(expression: Expression, language: Language) -> None:
    """Makes sure that the methods that are called on a value are known.

    Raises:
        EngineError: one is not.
    """
    for call in calls_of(expression.tree) or ():
        if not language.knows(call.name):
            message = expectation("a method of contracts", f"`{call.name}()` in {expression}")
            advice = did_you_mean(call.name, METHODS, "correct the name")
            line = expression.place.line
            raise EngineError(EngineCode.UNKNOWN_FUNCTION, message, advice=advice, line=line)
    first = bare(expression.tree)
    while isinstance(first, Binary) and first.operator == ".":
        first = bare(first.left)
    match first:
        case Call(name=name, arguments=given) if name in METHODS:
            if not (given and language.knows_function(name)):
                message = expectation("a method of contracts on `$`", f"`{name}()` in {expression}")
                advice, line = f"write `$.{name}()`", expression.place.line
                raise EngineError(EngineCode.SYNTAX, message, advice=advice, line=line)


def _list_part(listing: Listing, part: Callable[[Code], Part]) -> ListPart:
    items = list(listing.items)
    lengths: list[int] = []
    while items and len(lengths) < 2 and (length := _length(items[-1])) is not None:  # noqa: PLR2004 - least and most
        lengths.insert(0, length)
        items.pop()
    least = lengths[0] if lengths else 0
    most = lengths[1] if len(lengths) > 1 else None
    if least < 0:
        message = f"a list cannot have at least {least} items"
        raise _wrong(listing.line, message, "write 0 or more")
    if most is not None and most < least:
        message = f"a list cannot have at least {least} and at most {most} items"
        raise _wrong(listing.line, message, "write the smaller number first")
    return ListPart(tuple(map(part, items)), least, most)


def _length(code: Code) -> int | None:
    if isinstance(code, Scalar) and type(code.value) is int:
        return code.value
    return None


def _map_part(mapped: Mapped, part: Callable[[Code], Part]) -> MapPart:
    named: dict[Any, Part] = {}
    others: tuple[Part, Part] | None = None
    for key, value in mapped.entries:
        if isinstance(key, Scalar):
            named[key.value] = part(value)
        elif others is None:
            others = part(key), part(value)
        else:
            message = f"a contract has two expressions as keys, {key} the second"
            raise _wrong(key.place.line or mapped.line, message, "write one for all other keys")
    return MapPart(named, others, is_open=not mapped.entries)


def _wrong(line: int, message: str, advice: str) -> EngineError:
    return EngineError(EngineCode.SYNTAX, message, advice=advice, line=line)
