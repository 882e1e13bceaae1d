"""Python classes behind declared ones: what they add to the members of a class.

Each public function of the Python class is a method of the declared one, under its name in camel case: `report_error` is
`reportError`. A static or class method is static. What the class file declares itself, it declares in full, but for whether the function waits.
"""

import inspect
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from trundle.engine._declarations import (
    ARGUMENT_ORDER,
    ArgumentDeclaration,
    ArgumentUsage,
    ClassDeclaration,
    MethodDeclaration,
    MethodUsage,
)
from trundle.engine._nodes import ScalarNode
from trundle.engine._selecting import most_exact
from trundle.engine.expressions import Decorated, decorated
from trundle.version import SemVer

Function = TypeVar("Function")

_NAME, _USAGE = "__trundle_name__", "__trundle_usage__"
_ANY = ScalarNode("$", "$", 0, is_tagged=True)
_USAGES: dict[Any, ArgumentUsage] = {
    inspect.Parameter.VAR_POSITIONAL: "VarArgs",
    inspect.Parameter.VAR_KEYWORD: "KwArgs",
}
_FUNCTION_NAMES: WeakKeyDictionary[type, dict[str, str]] = WeakKeyDictionary()


class native:  # noqa: N801 - a decorator
    """Declares how the package language calls a function of a native class.

    Args:
        name: its name there; the one in Python in camel case where None.
        usage: `Extension` for an extension method, whose first argument receives the call; for static methods. What the
            function is in Python where None.
    """

    def __init__(self, name: str | None = None, *, usage: MethodUsage | None = None) -> None:
        self._name = name
        self._usage = usage

    def __call__(self, function: Function) -> Function:
        """Notes the declaration at the function."""
        plain = getattr(function, "__func__", function)  # Whichever decorator is the outer one.
        setattr(plain, _NAME, self._name)
        setattr(plain, _USAGE, self._usage)
        return function


def native_of(
    natives: Mapping[str, type], declaration: ClassDeclaration, version: SemVer
) -> type | None:
    """The Python class behind a class in a version; the most exact key wins."""
    found = most_exact(natives, declaration.name, version)
    return found[-1] if found else None


def with_native(declaration: ClassDeclaration, native: type) -> ClassDeclaration:
    """A class with the methods that a Python class adds to it."""
    methods = dict(declaration.methods)
    for name in dir(native):
        found = inspect.getattr_static(native, name)
        if name.startswith("_") or not _is_function(found):
            continue
        added = _method(name, found, getattr(native, name), declaration.line)
        declared = methods.get(added.name)
        methods[added.name] = replace(declared, waits=added.waits) if declared else added
    return replace(declaration, methods=methods)


def function_names(native: type) -> Mapping[str, str]:
    """The names in Python of the functions of a native class, by the names of its methods."""
    found = _FUNCTION_NAMES.get(native)
    if found is None:
        found = _FUNCTION_NAMES[native] = _function_names(native)
    return found


def _function_names(native: type) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in dir(native):
        if not name.startswith("_") and _is_function(inspect.getattr_static(native, name)):
            found.setdefault(_name(name, getattr(native, name)), name)
            found.setdefault(name, name)
    return found


def _is_function(found: object) -> bool:
    return isinstance(found, staticmethod | classmethod) or inspect.isfunction(found)


def _method(name: str, found: object, function: Any, line: int) -> MethodDeclaration:
    is_static = isinstance(found, staticmethod | classmethod)
    specs = decorated(function)
    parameters = list(inspect.signature(function).parameters.values())
    return MethodDeclaration(
        name=_name(name, function),
        usage=_usage(function, specs, is_static=is_static),
        is_public=specs is not None and specs.meta.get("Scope") == "Public",
        arguments=_arguments(parameters[0 if is_static else 1 :], specs),
        body=None,
        meta=None,
        line=line,
        waits=inspect.iscoroutinefunction(function),
    )


def _name(name: str, function: Any) -> str:
    """The name of a function in the package language: what decorators say, or its own in camel case."""
    specs = decorated(function)
    written = getattr(function, _NAME, None) or (specs.name if specs is not None else "")
    return written or camel_case(name)


def _usage(function: Any, specs: Decorated | None, *, is_static: bool) -> MethodUsage:
    written: MethodUsage | None = getattr(function, _USAGE, None)
    if written is None and specs is not None:
        written = specs.meta.get("Usage") or (
            "Extension" if is_static and specs.is_method else None
        )
    return written or ("Static" if is_static else "Runtime")


def _arguments(
    parameters: list[inspect.Parameter], specs: Decorated | None
) -> tuple[ArgumentDeclaration, ...]:
    """The arguments in the order that the package language wants: those that take all others are the last."""
    given = [each for each in parameters if specs is None or not specs.is_hidden(each.name)]
    found = [_argument(each, argument_name(each.name, specs)) for each in given]
    return tuple(sorted(found, key=lambda each: ARGUMENT_ORDER.index(each.usage)))


def argument_name(name: str, specs: Decorated | None) -> str:
    """The name of a parameter in the package language."""
    return camel_case(name) if specs is None else specs.alias(name)


def _argument(parameter: inspect.Parameter, name: str) -> ArgumentDeclaration:
    return ArgumentDeclaration(
        name=name,
        usage=_USAGES.get(parameter.kind, "Standard"),
        contract=_ANY,
        default=None,
        has_default=parameter.default is not inspect.Parameter.empty,
        meta=None,
        line=0,
    )


def camel_case(name: str) -> str:
    """A name of Python as the package language has it: `find_all_` is `findAll`."""
    return re.sub(r"_+([a-z0-9])", lambda found: found[1].upper(), name.strip("_"))
