"""A module of a generated package: its text with marks becomes source, with the imports that it needs.

Everything of the package is imported relatively, so that the package works under any name.
"""

import builtins
import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from trundle import __version__, runtime
from trundle.codegen._classes import ClassPath
from trundle.codegen._helpers import COMMON, HOOKS
from trundle.codegen._naming import class_name
from trundle.codegen._text import (
    HEADER,
    WIDTH,
    docstring,
    marks,
    module_alias,
    replace_marks,
    text_literal,
)
from trundle.evolution import LONGEST, fitting, snake

_STANDARD = {
    "Any": "typing",
    "Callable": "collections.abc",
    "ClassVar": "typing",
    "Mapping": "collections.abc",
    "Protocol": "typing",
    "Required": "typing",
    "Sequence": "collections.abc",
    "StrEnum": "enum",
    "TYPE_CHECKING": "typing",
    "TypeVar": "typing",
    "TypedDict": "typing",
    "cast": "typing",
}

_TEXT = re.compile(r'''"""(?s:.*?)"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#.*''')
"""What is no code: docstrings, texts and comments."""
_RENAMED = re.compile(r"\w+ as ")
"""What an import calls otherwise."""
_TOP = re.compile(r"^(?:def |class )?(\w+)", re.MULTILINE)
"""What a module defines."""
_RESERVED = frozenset({"msgspec", *_STANDARD, *runtime.__all__, *dir(builtins)})
"""What modules call by the names that it has elsewhere."""


class Near(msgspec.Struct, frozen=True):
    """Modules of hooks that move along with a generated package, as the package imports them.

    Attributes:
        package: the dotted name of the package.
        modules: the dotted names of the modules.
    """

    package: str
    modules: frozenset[str] = frozenset()

    def origin(self, inside: str, module: str) -> str:
        """How a folder of the package, seen from the package, names a module of hooks; one of the package itself starts with a dot."""
        if module.startswith("."):
            return relative(inside, module[1:])
        top = self.package.partition(".")[0]
        if module not in self.modules or module.partition(".")[0] != top:
            return module
        return relative(f"{self.package}.{inside}" if inside else self.package, module)


def render_module(
    module: str,
    about: str,
    body: str,
    *,
    near: Near,
    direct: bool = False,
    public: Iterable[str] = (),
    epilogue: str = "",
) -> str:
    """The source of a module.

    Args:
        module: its dotted name, relative to the package.
        about: its documentation.
        body: its code, with marks.
        near: the modules of hooks that are imported relatively.
        direct: whether classes of other modules are imported by name, where theirs are unique.
        public: the names that it offers; all where there are none.
        epilogue: code at its end, without marks.
    """
    imports = _Imports(module, near, _TOP.findall(body + epilogue))
    unique = _unique_classes(module, body) if direct else frozenset()
    names: dict[tuple[str, str], str] = {}
    found = dict.fromkeys(marks(body))
    hooks = [name for kind, name in found if kind == "h"]
    for kind, name in found:
        if kind == "c":
            names[kind, name] = imports.class_name(name, plain=name in unique)
        elif kind == "t":
            names[kind, name] = imports.class_name(name, plain=name in unique, checked=True)
        elif kind == "f":
            names[kind, name] = imports.function_name(ClassPath(*name.split(":")))
    for use in sorted(hooks):
        names["h", use] = imports.hook_name(use)
    text = replace_marks(body, names)
    instances = "".join(f"{names['h', use]} = {imports.hooks[use]}()\n" for use in hooks)
    own = imports.text()
    parts = [
        f"{HEADER}{docstring(about)}\nfrom __future__ import annotations\n",
        _used(text + _RENAMED.sub("", own) + epilogue),
        own,
        _public(public),
        instances,
    ]
    head = "\n".join(part for part in parts if part)
    if not text.strip():
        return f"{head}\n{epilogue.lstrip()}"
    return f"{head}\n\n{text.strip(chr(10))}\n{epilogue}"


def contract() -> str:
    """The statement by which a package checks that the runtime is one that it was made for."""
    return f"runtime.require(__name__, interface={runtime.INTERFACE}, made_by={text_literal(__version__)})\n"


def relative(package: str, other: str) -> str:
    """Another module as a relative import names it.

    Args:
        package: the dotted name of the package that holds the importing module.
        other: the dotted name of the other module, which starts where `package` does.
    """
    here, there = _parts(package), _parts(other)
    common = 0
    while common < min(len(here), len(there)) and here[common] == there[common]:
        common += 1
    return "." * (len(here) - common + 1) + ".".join(there[common:])


def _parts(name: str) -> list[str]:
    return name.split(".") if name else []


class _Imports:
    """The imports that a module turns out to need.

    Args:
        module: its dotted name.
        near: the modules of hooks that are imported relatively.
        defined: what the module defines.

    Attributes:
        hooks: the hook classes, as the module calls them.
    """

    def __init__(self, module: str, near: Near, defined: Iterable[str]) -> None:
        self.module = module
        self.package = module.rpartition(".")[0]
        self.hooks: dict[str, str] = {}
        self._near = near
        self._taken = {*_RESERVED, *defined}
        self._hook_classes: dict[tuple[str, str], str] = {}
        self._names: dict[str, set[str]] = {}
        self._checked: dict[str, set[str]] = {}
        self._deferred: dict[str, str] = {}

    def class_name(self, path: str, *, plain: bool, checked: bool = False) -> str:
        """A class as the module's code calls it; `checked` for one in an annotation."""
        other, _, class_ = path.partition(":")
        if other == self.module:
            return class_
        if plain:
            self._add(relative(self.package, other), class_, checked=checked)
            return class_
        return f"{self._module(other, module_alias(other), checked=checked)}.{class_}"

    def function_name(self, path: ClassPath) -> str:
        """A function of a module of conversions as the module's code calls it."""
        if path.module == self.module:
            return path.name
        leaf = path.module.rpartition(".")[2]
        alias = f"{leaf.removeprefix('shared_')}_conversions"
        if path.module.startswith(COMMON):
            alias = leaf
        elif path.module == HOOKS:
            alias = "calling_hooks"
        if path.module.rpartition(".")[0] != self.package:
            return f"{self._module(path.module, alias)}.{path.name}"
        self._module(path.module, alias, checked=True)
        self._deferred[alias] = leaf
        return f"{alias}.{path.name}"

    def hook_name(self, use: str) -> str:
        """The instance of a hook class as the module's code calls it. All other names are to be known before."""
        module, _, path = use.partition(":")
        class_, *inner = path.split(".")
        alias = self._hook_classes.get((module, class_))
        if alias is None:
            alias = self._free(_hook_names(module, class_))
            self._hook_classes[module, class_] = alias
            shown = class_ if alias == class_ else f"{class_} as {alias}"
            self._add(self._near.origin(self.package, module), shown)
        names = _hook_names(module, *path.split("."))
        self.hooks[use] = ".".join((alias, *inner))
        return self._free(f"_{snake(each)}_hook" for each in names)

    def _free(self, names: Iterable[str]) -> str:
        """The first of some names that the module has for nothing else."""
        name = next(each for each in names if each not in self._taken)
        self._taken.add(name)
        return name

    def _module(self, other: str, alias: str, *, checked: bool = False) -> str:
        parent, _, leaf = other.rpartition(".")
        shown = leaf if leaf == alias else f"{leaf} as {alias}"
        self._add(relative(self.package, parent), shown, checked=checked)
        return alias

    def _add(self, origin: str, name: str, *, checked: bool = False) -> None:
        (self._checked if checked else self._names).setdefault(origin, set()).add(name)
        self._taken.add(name.rpartition(" ")[2])

    def text(self) -> str:
        """The import statements: other packages, this one, and what only type checkers import, or what is imported when it is used."""
        apart = {origin for origin in self._names if not origin.startswith(".")}
        checked = {
            origin: names - self._names.get(origin, set())
            for origin, names in self._checked.items()
        }
        only = textwrap.indent(_statements(checked, checked), "    ")
        deferred = "".join(
            f"    {alias} = DeferredModule({text_literal(f'.{leaf}')}, __package__)\n"
            for alias, leaf in sorted(self._deferred.items())
        )
        blocks = [
            _statements(self._names, apart),
            _statements(self._names, self._names.keys() - apart),
            f"if TYPE_CHECKING:\n{only}" + (f"else:\n{deferred}" if deferred else "")
            if only
            else "",
        ]
        return "\n".join(block for block in blocks if block)


def _hook_names(module: str, *path: str) -> Iterator[str]:
    """What a module may call a hook class, the plainest first: by its name alone, then with more and more of where it is.

    Args:
        module: the module that has it.
        path: the name of the class, after those of the classes that it is in.
    """
    *around, name = *filter(None, module.split(".")), *path
    yield name
    for each in reversed(around):
        name = fitting(f"{class_name(each)}{name[:1].upper()}{name[1:]}", LONGEST - len("__hook"))
        yield name
    yield from (f"{name}{number}" for number in itertools.count(2))


def _statements(names: Mapping[str, set[str]], origins: Iterable[str]) -> str:
    """Import statements from some modules, from the furthest to the nearest."""

    def nearness(origin: str) -> tuple[int, str]:
        return len(origin.lstrip(".")) - len(origin), origin

    return "".join(
        from_import(origin, sorted(names[origin]))
        for origin in sorted(origins, key=nearness)
        if names[origin]
    )


def _used(text: str) -> str:
    """The imports of what is named in a module's code."""
    words = set(re.findall(r"[A-Za-z_]\w*", _TEXT.sub("", text)))
    standard = "".join(
        from_import(origin, names)
        for origin in sorted(set(_STANDARD.values()))
        if (names := sorted(name for name in words & _STANDARD.keys() if _STANDARD[name] == origin))
    )
    third = "import msgspec\n" if "msgspec" in words else ""
    bases = sorted(words & set(runtime.__all__), key=lambda n: (not n.isupper(), n.islower(), n))
    own = from_import("trundle.runtime", bases) if bases else ""
    return "\n".join(part for part in (standard, third + own) if part)


def _unique_classes(module: str, body: str) -> frozenset[str]:
    """The classes of other modules that a module may call by their bare names."""
    found: dict[str, set[str]] = {}
    for name in re.findall(r"^(?:class )?(\w+)(?:\(| = )", body, re.MULTILINE):
        found.setdefault(name, set()).add(f"{module}:{name}")
    for kind, path in marks(body):
        if kind == "c":
            found.setdefault(path.partition(":")[2], set()).add(path)
    return frozenset(next(iter(paths)) for paths in found.values() if len(paths) == 1)


def _public(names: Iterable[str]) -> str:
    """The statement that says what a module offers; empty where it offers all that it has."""
    listed = ", ".join(map(text_literal, names))
    return f"__all__ = [{listed}]\n" if listed else ""


def from_import(module: str, names: list[str]) -> str:
    """An import statement, on several lines where one is too short."""
    line = f"from {module} import {', '.join(names)}\n"
    if len(line) <= WIDTH + 1:
        return line
    inner = "".join(f"    {name},\n" for name in names)
    return f"from {module} import (\n{inner})\n"
