"""Functions and constants that conversions need beside them: which are with one, which several share.

A rendered conversion brings helpers of its own, as what it does with each variant of a union. Those that come
to the same are written once: within a module before the first conversion that uses them; those that
conversions of several modules use in the module of the first function that they call, which all of these
import anyway, else with the first class that they use. Those that call hooks, and those that refer to nothing,
are in modules of their own.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

from trundle.codegen._classes import ClassPath
from trundle.codegen._common_functions import Leading, version_of
from trundle.codegen._functions import Function
from trundle.codegen._naming import first_free, shortened
from trundle.codegen._text import marks, path_mark
from trundle.evolution import PlanKey, snake
from trundle.runtime import conversion_module

COMMON = "conversions.common"
"""The module of helpers that conversions of several modules use and that refer to nothing."""
HOOKS = "conversions.hooks"
"""The module of helpers that conversions of several modules use and that call hooks."""
LINE_LIMIT = 500
"""About how many statements of conversions a module holds before the next one is begun."""

_PART = re.compile("\x01p(\\d+)\x02")
_CALL = re.compile("\x01f(\\d+)\x02(\\(?)")
_EACH = re.compile(
    r"ABSENT if ([\w.]+) is ABSENT else \[(\x01f[^\x02]*\x02)\(item\) for item in \1\]"
)
"""A list whose elements go through a function alone, or are absent with it."""
_CALLED = re.compile("\x01f([^\x02]*)\x02")


class _Known(msgspec.Struct):
    """A helper that one or several functions bring.

    Attributes:
        hint: what its name ends with.
        subject: what it is about: the class that the first function reads that brings it.
        version: the version of that class, or of the one that is made.
        text: its source, in which parts are known by their numbers among all helpers.
        parts: the numbers of the helpers that it uses.
        called: the first function that it calls, itself or through its parts.
        modules: those of the functions that bring it.
    """

    hint: str
    subject: str
    version: str
    text: str
    parts: tuple[int, ...]
    called: ClassPath | None
    modules: set[str]

    def names(self, before: str = "") -> tuple[str, ...]:
        """What it may be called, the plainest first."""
        hint = self.hint.strip("_")
        fuller = shortened(f"{self.subject}_{hint}")
        return tuple(
            before + each
            for each in (hint, fuller, shortened(f"{self.subject}_{hint}", f"_{self.version}"))
        )


class Helpers:
    """All helpers of a package's conversions.

    Args:
        functions: the conversions that are written, in a fixed order.
        paths: what each conversion is called and where it is, also of those that others stand for.
        leading: what each takes before the object.
    """

    def __init__(
        self,
        functions: Mapping[PlanKey, Function],
        paths: Mapping[PlanKey, ClassPath],
        leading: Mapping[PlanKey, Leading],
    ) -> None:
        self._functions = functions
        self._paths = paths
        self._leading = leading
        self._known: list[_Known] = []
        self._numbers: dict[str, int] = {}
        self._of: dict[PlanKey, tuple[int, ...]] = {}
        for key, function in functions.items():
            self._of[key] = self._register(key, function)
        self._common_lines = 0
        self._shared: dict[str, list[int]] = {}
        self._shared_paths: dict[int, ClassPath] = {}
        self._name_shared()

    def _register(self, key: PlanKey, function: Function) -> tuple[int, ...]:
        numbers: list[int] = []
        for helper in function.helpers:
            text = self._resolved(helper.text, function)
            parts = tuple(numbers[int(part)] for part in _PART.findall(text))
            text = _numbered(text, numbers)
            number = self._numbers.setdefault(text, len(self._known))
            if number == len(self._known):
                called = _first_called(text)
                for part in parts:
                    called = called or self._known[part].called
                subject = snake(function.source.name).strip("_")
                version = version_of(key).identifier
                self._known.append(
                    _Known(helper.hint, subject, version, text, parts, called, set())
                )
            self._known[number].modules.add(self._paths[key].module)
            numbers.append(number)
        return tuple(numbers)

    def _resolved(self, text: str, function: Function) -> str:
        """A text in which the functions that it calls are marked by their paths."""

        def resolved(match: re.Match[str]) -> str:
            key = function.calls[int(match[1])]
            before = self._leading[key].arguments if match[2] else ()
            leading = "".join(f"{each}, " for each in before)
            return f"{path_mark(self._paths[key])}{match[2]}{leading}"

        return _EACH.sub(r"convert_each(\2, \1)", _CALL.sub(resolved, text))

    def _name_shared(self) -> None:
        """Gives each helper that several modules use a place and a name."""
        taken: dict[str, set[str]] = {}
        for path in self._paths.values():
            taken.setdefault(path.module, set()).add(path.name)
        for number, known in enumerate(self._known):
            if len(known.modules) == 1:
                continue
            module = self._home(known) or self._common_module(known)
            name = first_free(known.names(), taken.setdefault(module, set()))
            self._shared_paths[number] = ClassPath(module, name)
            self._shared.setdefault(module, []).append(number)

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that have helpers of several modules."""
        return tuple(self._shared)

    def _home(self, known: _Known) -> str:
        """The module of what a helper of several modules calls or uses; empty where it refers to nothing."""
        if known.called is not None:
            return known.called.module
        found = list(marks(known.text))
        if any(kind == "h" for kind, _ in found):
            return HOOKS
        classes = [path for kind, path in found if kind == "c"]
        if classes:
            return conversion_module(classes[0].partition(":")[0])
        homes = (self._home(self._known[part]) for part in known.parts)
        return next((home for home in homes if home), "")

    def _common_module(self, known: _Known) -> str:
        """The module for a helper that refers to nothing; a new one where the last has become long."""
        part = self._common_lines // LINE_LIMIT
        self._common_lines += known.text.count("\n")
        return COMMON if part == 0 else f"{COMMON}_part{part + 1}"

    def module(self, module: str, keys: list[PlanKey]) -> Iterator[str]:
        """The source of a module's conversions, helpers included, with marks for what they refer to."""
        names: dict[int, str] = {}
        taken: set[str] = set()
        for key in keys:
            function, path = self._functions[key], self._paths[key]
            own = self._of[key]
            yield from self._kept(own, names, taken)
            text = _numbered(self._resolved(function.text, function), own)
            yield self._spoken(text.replace("\x03", path.name), names)
        for number in self._shared.get(module, ()):
            known, path = self._known[number], self._shared_paths[number]
            yield from self._kept(known.parts, names, taken)
            yield self._spoken(known.text.replace("\x04", path.name), names)

    def _kept(
        self, numbers: tuple[int, ...], names: dict[int, str], taken: set[str]
    ) -> Iterator[str]:
        """The helpers that are before the first function of a module that uses them."""
        for number in numbers:
            if number in names or number in self._shared_paths:
                continue
            known = self._known[number]
            yield from self._kept(known.parts, names, taken)
            names[number] = first_free(known.names("_"), taken)
            text = known.text.replace("\x04", names[number])
            yield self._spoken(text, names)

    def _spoken(self, text: str, names: Mapping[int, str]) -> str:
        """A text in which helpers are called by their names."""

        def named(match: re.Match[str]) -> str:
            number = int(match[1])
            return names.get(number) or path_mark(self._shared_paths[number])

        return _PART.sub(named, text)


def _numbered(text: str, numbers: tuple[int, ...] | list[int]) -> str:
    """A text in which a function's own parts are known by their numbers among all helpers."""
    return _PART.sub(lambda match: f"\x01p{numbers[int(match[1])]}\x02", text)


def _first_called(text: str) -> ClassPath | None:
    found = _CALLED.search(text)
    if found is None:
        return None
    module, _, name = found[1].partition(":")
    return ClassPath(module, name)
