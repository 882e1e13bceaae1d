"""Methods, compiled: what their arguments become, and what runs."""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from trundle.engine._declarations import ArgumentUsage, MethodDeclaration, MethodUsage
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._natives import function_names, native_of
from trundle.engine._nodes import Node
from trundle.engine._scene import Scene
from trundle.engine._sources import compile_declared, format_of
from trundle.engine._type import Type
from trundle.engine.contracts import Contract
from trundle.engine.expressions import FrozenDict, code_of, decorated
from trundle.engine.running._blocks import Compiler
from trundle.engine.running._coverage import CountingCompiler, Coverage
from trundle.engine.running._frame import Frame
from trundle.engine.running._signals import Run
from trundle.engine.statements import Block, read_body
from trundle.errors import expectation, listed

if TYPE_CHECKING:
    from trundle.version import SemVer


Taken: TypeAlias = tuple[str, frozenset[type], Callable[[Any, Scene], Any]]
"""An argument: its variable, the types of values that its contract always takes as they are, and what others become."""

_NO_ACTIONS_SINCE = (1, 4)
_LOG = logging.getLogger("trundle.engine")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a method.

    Attributes:
        name: its name.
        variable: the variable that has its value.
        usage: whether it takes one value, or all others.
        contract: what a value becomes.
        default: the value where none is given; None where there is none.
        kept: the types of values that the contract always takes as they are.
    """

    name: str
    variable: str
    usage: ArgumentUsage
    contract: Contract
    default: Callable[[Scene], Any] | None
    kept: frozenset[type]

    def take(self, value: Any, frame: Frame) -> Any:
        """What a given value becomes."""
        if type(value) in self.kept:
            return value
        return self.contract.transform(value, frame)


@dataclass(frozen=True, slots=True)
class Lambdas:
    """The arguments of a method that get an expression instead of its value: a container of positions and names.

    Attributes:
        those: their positions and names.
        first: the position from which all are among them; None where one that takes all others is not.
        known: the names that are not among the others, where all others by name are among them; None where they are not.
    """

    those: frozenset[int | str] = frozenset()
    first: int | None = None
    known: frozenset[str] | None = None

    def __contains__(self, key: object) -> bool:
        if key in self.those:
            return True
        if isinstance(key, int):
            return self.first is not None and key >= self.first
        return self.known is not None and key not in self.known

    def __bool__(self) -> bool:
        return bool(self.those) or self.first is not None or self.known is not None

    def behind_receiver(self) -> "Lambdas":
        """The same, by the positions in a call whose receiver is the first argument."""
        those = (each - 1 if isinstance(each, int) else each for each in self.those)
        first = None if self.first is None else self.first - 1
        return Lambdas(frozenset(those), first, self.known)


@dataclass(frozen=True, slots=True)
class Routine:
    """A method of a class in one version; sessions share it.

    Attributes:
        name: its name.
        usage: what it is called on.
        is_public: whether it may be called from outside of the package language.
        arguments: its arguments; one that takes all others stands behind the ones that take one value.
        single: those that take one value.
        by_position: the same, as calls need them that give a value by position for each argument.
        count: how many values such calls give; -1 where one argument takes all others.
        body: what runs.
        native: the name of the function of a Python class that runs instead; empty for none.
        native_type: that class; None for none.
        is_static: whether `$` is the type.
        line: where it is declared.
        lambdas: the arguments that get an expression instead of its value.
    """

    name: str
    usage: MethodUsage
    is_public: bool
    arguments: tuple[Argument, ...]
    single: tuple[Argument, ...]
    by_position: tuple[Taken, ...]
    count: int
    body: Run | None
    native: str
    native_type: type | None
    is_static: bool
    line: int
    lambdas: Lambdas = Lambdas()

    def bind(
        self,
        frame: Frame,
        variables: dict[str, Any],
        values: Sequence[Any],
        named: Mapping[str, Any],
    ) -> None:
        """Sets the variables with which the method begins.

        Args:
            frame: the call.
            variables: the variables of its body, which has `$1` and `$this`.
            values: values by position.
            named: values by name.

        Raises:
            EngineError: a value violates its contract, is given twice, or there is no argument for it.
        """
        count = len(values)
        if count > len(self.single) or named:
            self._check_fit(frame, count, named)
        for at, argument in enumerate(self.single):
            if at < count:
                value = values[at]
                if argument.name in named:
                    self._refuse(frame, f"the argument {argument.name} twice")
            elif argument.name in named:
                value = named[argument.name]
            else:
                value = None if argument.default is None else argument.default(frame)
            variables[argument.variable] = argument.take(value, frame)
        if count > len(self.single) or named or len(self.arguments) > len(self.single):
            self._bind_others(frame, variables, values, named)

    def _bind_others(
        self,
        frame: Frame,
        variables: dict[str, Any],
        values: Sequence[Any],
        named: Mapping[str, Any],
    ) -> None:
        more = values[len(self.single) :]
        known = {each.name for each in self.single}
        others = {name: value for name, value in named.items() if name not in known}
        for argument in self.arguments[len(self.single) :]:
            if argument.usage == "VarArgs":
                variables[argument.variable] = tuple([argument.take(each, frame) for each in more])
            else:
                taken = {name: argument.take(each, frame) for name, each in others.items()}
                variables[argument.variable] = FrozenDict(taken)

    def _check_fit(self, frame: Frame, count: int, named: Mapping[str, Any]) -> None:
        """Makes sure that there is an argument for each value, before any is held to its contract.

        Raises:
            EngineError: there is not.
        """
        usages = {each.usage for each in self.arguments}
        if count > len(self.single) and "VarArgs" not in usages:
            self._refuse(frame, f"{count} values")
        others = named.keys() - {each.name for each in self.single}
        if others and "KwArgs" not in usages:
            self._refuse(frame, f"the argument {listed(each for each in named if each in others)}")

    def _refuse(self, frame: Frame, given: str) -> NoReturn:
        names = [each.name for each in self.arguments]
        taken = f"the arguments {listed(names)}" if names else "no arguments"
        message = expectation(f"{taken} for {frame.origin.name}.{self.name}", given)
        error = frame.origin.error(
            EngineCode.NO_MATCH, message, advice="correct the call", member=self.name
        )
        error.line = self.line  # Where a statement calls, its own line replaces this.
        raise error


class Routines:
    """The methods of all classes of an engine, each compiled when it is called first."""

    def __init__(self, natives: Mapping[str, type], coverage: Coverage | None = None) -> None:
        self._natives = natives
        self._coverage = coverage
        self._found: dict[tuple[str, SemVer, str, str], Routine] = {}

    def of(self, declaring: Type, name: str) -> Routine:
        """The method that a class declares.

        Raises:
            EngineError: its body, or a contract or default of an argument cannot be read.
        """
        key = (declaring.package, declaring.version, declaring.name, name)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._make(declaring, declaring.declaration.methods[name])
        return found

    def _make(self, declaring: Type, declared: MethodDeclaration) -> Routine:
        class_ = declaring.declaration
        arguments = []
        for each in declared.arguments:
            compiled = compile_declared(declaring.source, class_, each, declared.name)
            contract = compiled.contract
            arguments.append(
                Argument(
                    each.name,
                    sys.intern(f"${each.name}"),
                    each.usage,
                    contract,
                    compiled.default,
                    contract.kept,
                )
            )
        body = None
        if declared.body is not None:
            block = _block(declaring, declared.name, declared.body)
            compiler = (
                Compiler(format_of(declaring.source))
                if self._coverage is None
                else CountingCompiler(declaring, declared, self._coverage)
            )
            body = compiler.body(block)
        form = format_of(declaring.source)
        if declared.usage == "Action" and form >= _NO_ACTIONS_SINCE:
            _LOG.warning(
                "%s.%s has `Usage: Action`, which is deprecated; write `Scope: Public`",
                declaring.name,
                declared.name,
            )
        native_type = native_of(self._natives, class_, declaring.version)
        native = function_names(native_type).get(declared.name, "") if native_type else ""
        single = tuple(each for each in arguments if each.usage == "Standard")
        return Routine(
            name=declared.name,
            usage=declared.usage,
            is_public=declared.is_public,
            arguments=tuple(arguments),
            single=single,
            by_position=tuple(
                (each.variable, each.kept, each.contract.transform) for each in single
            ),
            count=len(single) if len(single) == len(arguments) else -1,
            body=body,
            native="" if body else native,
            native_type=native_type,
            is_static=declared.usage in ("Static", "Extension"),
            line=declared.line,
            lambdas=_lambdas(native_type, native, arguments),
        )


def _lambdas(native_type: type | None, native: str, arguments: Sequence[Argument]) -> Lambdas:
    specs = decorated(getattr(native_type, native)) if native else None
    if specs is None:
        return Lambdas()
    names = {specs.alias(each) for each in specs.lambdas}
    single = [each.name for each in arguments if each.usage == "Standard"]
    lazy = {each.usage for each in arguments if each.name in names}
    return Lambdas(
        frozenset(names & {*single}) | {at for at, each in enumerate(single) if each in names},
        len(single) if "VarArgs" in lazy else None,
        frozenset(single) if "KwArgs" in lazy else None,
    )


def _block(declaring: Type, name: str, body: Node) -> Block:
    """The statements of a method.

    Raises:
        EngineError: some cannot be read.
    """
    file = declaring.declaration.file
    try:
        return read_body(code_of(body, file), file)
    except EngineError as error:
        for each in error.errors:
            each.package, each.version = declaring.package, declaring.version
            each.class_name, each.member = declaring.name, name
        raise EngineError.of(error.errors) from None
