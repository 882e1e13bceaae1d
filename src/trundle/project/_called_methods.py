"""Static methods of packages as generated code calls hooks: classes whose methods call them, in a module that is no file.

A generated package imports a hook by its name and gives it a record. The module is made in each process that imports the package; what a method is
given and returns are plain values there, as in conversions of models.
"""

import contextlib
import importlib
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

import msgspec

from trundle.codegen import Blueprint, HookKey, HookRecords, PlainHook, hook_records
from trundle.engine import Engine, EngineError, Limits, Session
from trundle.evolution import HookDeclaration, Neighbours
from trundle.packages import Package
from trundle.project._class_literals import literals
from trundle.project._hook_values import HookValue
from trundle.project._release_hooks import StaticHook
from trundle.runtime import ABSENT

MODULE = "hooks_of_packages"
"""The module that generated packages import the classes from."""


class CalledMethod(msgspec.Struct, frozen=True, kw_only=True):
    """A static method, and what generated code gives to it.

    Attributes:
        name: what the method of a Python class is called: `assign_to`, `assign_from`, or a property's converter.
        package: the package.
        version: its version.
        class_name: the class.
        method: the static method.
        arguments: its arguments by property.
        outputs: the keys of the map that it returns, by property.
        assigns: whether it augments a conversion.
        given: the types of what it gets, by property.
        made: the types of what it returns, by property.
        records: the records that generated code has for it.
    """

    name: str
    package: str
    version: str
    class_name: str
    method: str
    arguments: dict[str, str]
    outputs: dict[str, str]
    assigns: bool
    given: dict[str, HookValue]
    made: dict[str, HookValue]
    records: HookRecords


class CalledMethods(msgspec.Struct, frozen=True, kw_only=True):
    """The methods that a generated package calls, as plain data for other processes.

    Attributes:
        package: the generated package.
        archives: the packages.
        limits: how much each call may take.
        classes: the methods of each Python class.
    """

    package: str
    archives: tuple[bytes, ...]
    limits: Limits
    classes: dict[str, tuple[CalledMethod, ...]]

    def said(self) -> dict[str, str]:
        """By module, Python text that has the literals of all classes with these methods, on which their conditions may turn."""
        packages = {(each.name, str(each.version)): each for each in self._packages()}
        wanted = {
            (each.package, each.version, each.class_name)
            for methods in self.classes.values()
            for each in methods
        }
        found: dict[str | int | float, None] = {}
        for name, version, class_name in sorted(wanted):
            package = packages[name, version]
            found.update(dict.fromkeys(literals(package.file(package.classes[class_name]))))
        return {MODULE: repr([*found])}

    def _packages(self) -> list[Package]:
        return [Package.from_archive(each) for each in self.archives]

    def install(self) -> None:
        """Puts the module into the interpreter.

        Raises:
            EngineError: a class cannot be built.
        """
        session = Engine(self._packages(), limits=self.limits).session()
        module, calls = ModuleType(MODULE), _Calls(session, self.package)
        for name, methods in self.classes.items():
            members = {each.name: _method(calls.of(each)) for each in methods}
            setattr(module, name, type(name, (), members))
        sys.modules[MODULE] = module

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Has the module in the interpreter for a while."""
        self.install()
        try:
            yield
        finally:
            sys.modules.pop(MODULE, None)


def named_in_python(hooks: Iterable[HookDeclaration]) -> tuple[HookDeclaration, ...]:
    """Hooks of releases, each with the name of the Python class that calls its methods."""
    return tuple(
        msgspec.structs.replace(
            each,
            reference=msgspec.structs.replace(each.reference, use=f"{MODULE}:Hook{number}"),
            called={},
        )
        for number, each in enumerate(hooks, start=1)
    )


def called_methods(
    package: str,
    blueprint: Blueprint,
    hooks: Iterable[HookDeclaration],
    methods: Mapping[HookKey, StaticHook],
    packages: Iterable[Package],
    limits: Limits,
) -> CalledMethods:
    """What the Python classes of hooks call.

    Args:
        package: the name of the package that is generated.
        blueprint: its blueprint, with hooks of `named_in_python`.
        hooks: the same hooks with the names of their static methods.
        methods: the static methods.
        packages: all packages that these need.
        limits: how much each call may take.
    """
    records = {
        (key.type, key.between, key.method): each for key, each in hook_records(blueprint).items()
    }
    known = {(key.type, key.between, key.method): each for key, each in methods.items()}
    classes: dict[str, tuple[CalledMethod, ...]] = {}
    for hook, python in zip(hooks, named_in_python(hooks), strict=True):
        reference = hook.reference
        between = Neighbours(reference.older, reference.newer)
        made = []
        for name in (*hook.assign, *hook.converters):
            method = known[reference.type, between, hook.method(name)]
            found = records.get((reference.type, between, name))
            if found is not None:
                made.append(_called(name, method, found))
        classes[python.reference.use.partition(":")[2]] = tuple(made)
    archives = tuple(each.archive for each in packages)
    return CalledMethods(package=package, archives=archives, limits=limits, classes=classes)


def _called(name: str, method: StaticHook, records: HookRecords) -> CalledMethod:
    return CalledMethod(
        name=name,
        package=method.type.package,
        version=str(method.type.version),
        class_name=method.type.class_name,
        method=method.method,
        arguments=dict(method.arguments),
        outputs=dict(method.outputs),
        assigns=method.assigns,
        given=dict(method.given),
        made=dict(method.made),
        records=records,
    )


class _Calls:
    """What generated code calls.

    Args:
        session: runs the methods.
        package: the generated package.
    """

    def __init__(self, session: Session, package: str) -> None:
        self._session = session
        self._package = package
        self._known: dict[tuple[str, str, str], Any] = {}

    def of(self, method: CalledMethod) -> Callable[[Any], Any]:
        """Calls a method for a record, or for the value that it converts."""
        type_ = self._session.type(method.class_name, method.version, method.package)
        static = StaticHook(
            type_,
            method.method,
            method.arguments,
            method.outputs,
            method.assigns,
            method.given,
            method.made,
        )
        call = self._ended_once(static.called_in(self._session))
        if method.assigns:
            return lambda record: self._assigned(method.records, call, record)
        return lambda value: self._converted(method.records, call, value)

    @staticmethod
    def _ended_once(call: PlainHook) -> PlainHook:
        """Calls a method until a call reaches a limit; each later one then has the same error at once."""
        ended: list[EngineError] = []

        def called(given: Any) -> Any:
            if ended:
                raise ended[0]
            try:
                return call(given)
            except EngineError as error:
                if error.code == "limit":
                    ended.append(error)
                raise

        return called

    def _assigned(self, records: HookRecords, call: PlainHook, record: Any) -> Any:
        given = {
            name: _plain(value)
            for name, attribute in records.reads.items()
            if (value := getattr(record, attribute)) is not ABSENT
        }
        found = call(given)
        if not isinstance(found, Mapping):
            return found
        named: dict[str, Any] = {
            records.writes.get(str(x), str(x)): value for x, value in found.items()
        }
        made = _typed(named, self._written(type(record), records))
        return {name: getattr(made, name, value) for name, value in named.items()}

    def _converted(self, records: HookRecords, call: PlainHook, value: Any) -> Any:
        written = self._written(type(value), records)
        attributes: list[str] = list(dict.fromkeys(records.writes.values()))
        if value is None and _taking(written, attributes, None):
            return None
        found = call(_plain(value))
        attribute: str = _taking(written, attributes, found) or attributes[0]
        return getattr(_typed({attribute: found}, written), attribute)

    def _written(self, read: type[Any], records: HookRecords) -> Any:
        """The record of the side that is written, in the generated package that has what is read; of a scalar, in the whole one."""
        root = read.__module__.partition(".")[0]
        package = root if f"{root}.hooks" in sys.modules else self._package
        key = (package, records.module, records.written)
        if key not in self._known:
            self._known[key] = _record(*key)
        return self._known[key]


def _method(call: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """A method of a Python class that calls something else."""
    return lambda _, given: call(given)


def _record(package: str, module: str, name: str) -> Any:
    """A record of a generated package; the module of many places has numbered parts."""
    for part in itertools.count(1):
        found = importlib.import_module(f"{package}.{module}{f'_part{part}' if part > 1 else ''}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AssertionError


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _typed(values: Mapping[str, Any], record: Any) -> Any:
    """Values as a record has them.

    Raises:
        msgspec.ValidationError: one is of a wrong type.
    """
    return msgspec.json.decode(msgspec.json.encode(values), type=record)


def _taking(record: Any, attributes: Iterable[str], value: Any) -> str | None:
    """The first of some attributes of a record that takes a value."""
    for each in attributes:
        try:
            _typed({each: value}, record)
        except msgspec.ValidationError:
            continue
        return each
    return None
