"""The modules of conversions: which function stands where, and where the scheme finds it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec

from trundle.codegen._classes import ClassPath
from trundle.codegen._common_functions import Alike
from trundle.codegen._functions import Function, FunctionRenderer
from trundle.codegen._helpers import LINE_LIMIT, Helpers
from trundle.codegen._independent_properties import back_of
from trundle.codegen._naming import first_free, shortened
from trundle.codegen._needed_plans import wants_base
from trundle.codegen._plan_names import direction
from trundle.codegen._text import text_literal, tuple_literal
from trundle.codegen._types import TypeRenderer
from trundle.evolution import Plan, PlanKey, partition, snake
from trundle.runtime import conversion_module

_INDEX = "CONVERSIONS: ConversionTable = "
"""By the modules of classes: which function converts what; see `ConversionTable`."""


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
        {plan.key: renderer.render(plan, plans.get(back_of(plan.key))) for plan in plans.values()},
    ).modules()


class _Placing:
    """Gives each function a module and a name.

    A function is with the class of its API side, else of its source; `home` is the module for that.
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
            {key: (*f.calls, *_ways_back(key, f)) for key, f in functions.items()},
        )
        self.alike = Alike(functions, numbers)
        self.paths: dict[PlanKey, ClassPath] = {}
        self.written: dict[str, list[PlanKey]] = {}
        self._place()
        self.listed: dict[str, list[PlanKey]] = {}
        for key in {number: key for key, number in reversed(numbers.items())}.values():
            if _is_looked_up(key):
                self.listed.setdefault(self._home(key), []).append(key)

    def _home(self, key: PlanKey) -> str:
        return conversion_module(_kept_with(self.functions[key], key).module)

    def _place(self) -> None:
        taken: dict[str, set[str]] = {}
        sizes: dict[str, int] = {}
        for key, function in self.alike.functions.items():
            home = self._home(key)
            names = (function.name, *_fuller_names(key, function))
            name = first_free(names, taken.setdefault(home, set()))
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
        return text_literal(path.name if path.module == module else str(path))

    def _index(self, keys: list[PlanKey], module: str) -> str:
        """By the modules of two classes: which function leads from the one to the other."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        for key in keys:
            function, leading = self.functions[key], self.alike.leading[key]
            source, target = function.source, function.target
            entry = [self._path(key, module)]
            extra = [leading.version or "", leading.made is not None, function.wants_base]
            while extra and not extra[-1]:
                extra.pop()
            entry.extend(text_literal(x) if isinstance(x, str) else str(x) for x in extra)
            classes = source.name if source.name == target.name else f"{source.name} {target.name}"
            shown = tuple_literal(entry) if extra else entry[0]
            among = found.setdefault((source.module, target.module), {})
            among[classes] = min(shown, among.get(classes, shown), key=_from_afar)
        text = f"\n\n{_INDEX}{{\n"
        for modules, functions in sorted(found.items()):
            text += f"    {tuple_literal(map(text_literal, modules))}: {{\n"
            for classes, each in sorted(functions.items()):
                text += f"        {text_literal(classes)}: {each},\n"
            text += "    },\n"
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
            function = self.functions[key]
            if function.tied is None or key not in self._merging:
                continue
            found = dict(function.tied)
            for name, (other, callee) in function.parts.items():
                if self._merges(callee):
                    found[name] = f"*{other}"
            members = ", ".join(
                f"{text_literal(one)}: {text_literal(other)}" for one, other in found.items()
            )
            text += f"    {text_literal(self.paths[key].name)}: {{{members}}},\n"
        return f"\n\nTIED: dict[str, dict[str, str]] = {{\n{text}}}\n" if text else ""

    def _merges(self, key: PlanKey) -> bool:
        """Whether a put may merge objects by a plan: it is the one plan between their classes, and so is the way back."""
        ways = (self.functions[key], self.functions[back_of(key)])
        return ways[0].tied is not None and all(
            self._between[each.source, each.target] == 1 for each in ways
        )

    @cached_property
    def _between(self) -> Counter[tuple[ClassPath, ClassPath]]:
        """How many conversions lead from one class to another."""
        listed = (self.functions[key] for keys in self.listed.values() for key in keys)
        return Counter((each.source, each.target) for each in listed)

    @cached_property
    def _merging(self) -> frozenset[PlanKey]:
        """The plans whose functions a put may merge objects by: those of resources, and of objects within."""
        found = dict.fromkeys(key for key in self.functions if key.lineage.is_root)
        waiting = [*found]
        for key in waiting:
            inner = [callee for _, callee in self.functions[key].parts.values()]
            new = [
                each for each in dict.fromkeys(inner) if each not in found and self._merges(each)
            ]
            found.update(dict.fromkeys(new))
            waiting.extend(new)
        return frozenset(self.alike.writer[key] for key in found)


def _ways_back(key: PlanKey, function: Function) -> tuple[PlanKey, ...]:
    """The plan back from storage of a function whose table says what both ways do."""
    return () if function.tied is None else (back_of(key),)


def _fuller_names(key: PlanKey, function: Function) -> Iterator[str]:
    """What a function is called where its plain name is another's: with the other version, and with its class."""
    way = direction(key)
    other = key.source if key.source.kind == "storage" != key.target.kind else key.target
    suffix = way if way.endswith(other.version.identifier) else f"{way}_{other.version.identifier}"
    for name in (function.name.removesuffix(f"_{way}"), snake(function.target.name)):
        yield shortened(name, f"_{way}")
        yield shortened(name, f"_{suffix}")


def _is_looked_up(key: PlanKey) -> bool:
    """Whether the scheme looks for a conversion by its classes: one of a resource, or one that a store is part of."""
    kinds = {key.source.kind, key.target.kind}
    return kinds != {"api"} or key.lineage.is_root


def _from_afar(entry: str) -> tuple[bool, str]:
    """Orders entries of a table: those of its own module come first."""
    return ":" in entry, entry


def _kept_with(function: Function, key: PlanKey) -> ClassPath:
    """The class whose module keeps a conversion: the API side's, else the source's."""
    return function.target if key.source.kind == "storage" != key.target.kind else function.source
