"""The modules of conversions: which function stands where, and where the scheme finds it."""

from collections.abc import Iterator, Mapping

import msgspec

from trundle.codegen._alike import Alike
from trundle.codegen._classes import ClassPath
from trundle.codegen._functions import Function, FunctionRenderer
from trundle.codegen._helpers import LINE_LIMIT, Helpers
from trundle.codegen._needs import wants_base
from trundle.codegen._text import WIDTH, text_literal
from trundle.codegen._types import TypeRenderer
from trundle.evolution import Plan, PlanKey, partition
from trundle.runtime import conversion_module

_INDEX = "CONVERSIONS: dict[str, tuple[tuple[str | bool, ...], ...]] = "
"""By source class: the classes that conversions lead to, their functions, and what these take."""


class ConversionModule(msgspec.Struct, frozen=True):
    """A module of conversions.

    Attributes:
        module: its dotted name, relative to the package.
        body: its functions, with marks.
        epilogue: its tables, by which the scheme finds conversions.
    """

    module: str
    body: str
    epilogue: str


def conversion_modules(
    plans: Mapping[PlanKey, Plan], types: TypeRenderer
) -> Iterator[ConversionModule]:
    """The modules of a package's conversions.

    Args:
        plans: all plans of the package.
        types: its classes.
    """
    renderer = FunctionRenderer(types, wants_base(plans))
    yield from _Placing(
        types,
        {plan.key: renderer.render(plan, plans.get(_back(plan.key))) for plan in plans.values()},
    ).modules()


def _back(key: PlanKey) -> PlanKey:
    return PlanKey(key.lineage, key.target, key.source)


class _Placing:
    """Gives each function a module and a name.

    A function stands with the class of its API side, else of its source; `home` is the module for that.
    """

    def __init__(self, types: TypeRenderer, functions: Mapping[PlanKey, Function]) -> None:
        self.types = types
        self.functions = functions
        numbers = partition(
            functions,
            {
                key: (f.source, f.target, f.text, f.helpers, f.wants_base)
                for key, f in functions.items()
            },
            {key: f.calls for key, f in functions.items()},
        )
        self.alike = Alike(functions, numbers)
        self.paths: dict[PlanKey, ClassPath] = {}
        self.written: dict[str, list[PlanKey]] = {}
        self._place()
        self.listed: dict[str, list[PlanKey]] = {}
        for key in {number: key for key, number in reversed(numbers.items())}.values():
            self.listed.setdefault(self._home(key), []).append(key)

    def _home(self, key: PlanKey) -> str:
        return conversion_module(_kept_with(self.functions[key], key).module)

    def _place(self) -> None:
        taken: dict[str, set[str]] = {}
        sizes: dict[str, int] = {}
        for key, function in self.alike.functions.items():
            home = self._home(key)
            name, count = function.name, 2
            while name in taken.setdefault(home, set()):
                name, count = f"{function.name}_{count}", count + 1
            taken[home].add(name)
            part = sizes.get(home, 0) // LINE_LIMIT
            sizes[home] = sizes.get(home, 0) + function.lines
            module = home if part == 0 else f"{home}_part{part + 1}"
            self.paths[key] = ClassPath(module, name)
            self.written.setdefault(module, []).append(key)
        for key, writer in self.alike.writer.items():
            self.paths[key] = self.paths[writer]

    def modules(self) -> Iterator[ConversionModule]:
        """All modules of conversions; one without any is empty."""
        helpers = Helpers(self.alike.functions, self.paths, self.alike.leading)
        for module in dict.fromkeys([*self.written, *self.listed, *helpers.modules]):
            keys = sorted(self.written.get(module, ()), key=lambda key: self.paths[key].name)
            index = self._index(self.listed[module], module) if module in self.listed else ""
            yield ConversionModule(
                module,
                "\n\n".join(helpers.module(module, keys)),
                index + self._touching(keys) + self._tied(keys),
            )

    def _path(self, key: PlanKey, module: str) -> str:
        """Where a conversion is, as a literal in a table of a module."""
        path = self.paths[key]
        return text_literal(f":{path.name}" if path.module == module else str(path))

    def _index(self, keys: list[PlanKey], module: str) -> str:
        """By source class: the classes that conversions lead to, and where these functions are."""
        found: dict[str, list[str]] = {}
        for key in keys:
            function, leading = self.functions[key], self.alike.leading[key]
            parts = [text_literal(str(function.target)), self._path(key, module)]
            extra = [function.wants_base, leading.version or "", leading.made is not None]
            while extra and not extra[-1]:
                extra.pop()
            parts.extend(text_literal(x) if isinstance(x, str) else str(x) for x in extra)
            entry = f"({', '.join(parts)})"
            found.setdefault(str(function.source), []).append(entry)
        text = f"\n\n{_INDEX}{{\n"
        for source, entries in sorted(found.items()):
            line = f"    {text_literal(source)}: ({entries[0]},),\n"
            if len(entries) == 1 and len(line) <= WIDTH + 1:
                text += line
                continue
            shown = "".join(f"        {entry},\n" for entry in sorted(entries))
            text += f"    {text_literal(source)}: (\n{shown}    ),\n"
        return text + "}\n"

    def _touching(self, keys: list[PlanKey]) -> str:
        """By straight conversion: the attributes that it does not just copy, and what converts these."""
        text = ""
        for key in keys:
            touched = self.functions[key].touched
            if touched is not None:
                members = ", ".join(
                    f"{text_literal(name)}: "
                    f"{text_literal('' if callee is None else str(self.paths[callee]))}"
                    for name, callee in touched.items()
                )
                text += f"    {text_literal(self.paths[key].name)}: {{{members}}},\n"
        return f"\n\nTOUCHED: dict[str, dict[str, str]] = {{\n{text}}}\n" if text else ""

    def _tied(self, keys: list[PlanKey]) -> str:
        """By conversion to storage: the attributes that it, or the way back, does not just copy."""
        text = ""
        for key in keys:
            found = self.functions[key].tied
            if found is not None:
                members = ", ".join(
                    f"{text_literal(one)}: {text_literal(other)}" for one, other in found.items()
                )
                text += f"    {text_literal(self.paths[key].name)}: {{{members}}},\n"
        return f"\n\nTIED: dict[str, dict[str, str]] = {{\n{text}}}\n" if text else ""


def _kept_with(function: Function, key: PlanKey) -> ClassPath:
    """The class whose module keeps a conversion: the API side's, else the source's."""
    return function.target if key.source.kind == "storage" != key.target.kind else function.source
