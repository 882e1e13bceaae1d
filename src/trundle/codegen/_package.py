"""A whole generated package: which plans it needs, and its modules."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trundle import runtime
from trundle.codegen._alike import Alike
from trundle.codegen._blueprint import STRAIGHT, Blueprint
from trundle.codegen._classes import ApiNode, ClassPath, StorageNode
from trundle.codegen._functions import Function, FunctionRenderer
from trundle.codegen._helpers import COMMON, LINE_LIMIT, Helpers
from trundle.codegen._hooks import KnownSides, hook_places, render_hook_place
from trundle.codegen._layout import lay_out
from trundle.codegen._needs import wants_base
from trundle.codegen._text import (
    HEADER,
    WIDTH,
    docstring,
    marks,
    module_alias,
    replace_marks,
    text_literal,
)
from trundle.codegen._types import TypeRenderer
from trundle.evolution import ChangeError, Evolution, PlanKey, partition, snake
from trundle.runtime import conversion_module
from trundle.schema import ObjectType

_STANDARD = {
    "Any": "typing",
    "Callable": "collections.abc",
    "ClassVar": "typing",
    "Mapping": "collections.abc",
    "Protocol": "typing",
    "StrEnum": "enum",
    "TypedDict": "typing",
}

_INDEX = "CONVERSIONS: dict[str, tuple[tuple[str | bool, ...], ...]] = "
"""By source class: the classes that conversions lead to, their functions, and what these take."""

_TEXT = re.compile(r'''"""(?s:.*?)"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#.*''')
"""What is no code: docstrings, texts and comments."""


def generate_package(
    evolution: Evolution,
    *,
    package: str,
    title: str = "",
    horizon: int | None = None,
    unknown: str = "error",
    blueprint: Blueprint | None = None,
    straight: int = STRAIGHT,
) -> Mapping[str, bytes]:
    """Generates the Python package of all versions of some resource types.

    Args:
        evolution: the versions, with configured changes and hooks.
        package: dotted name of the package.
        title: what the package is about, for its documentation.
        horizon: how many GA versions are served; None for all.
        unknown: what happens to unknown properties that a client writes: `error`, or `keep`.
        blueprint: that of the same evolution and horizon, where it was made before.
        straight: how many of the newest served versions of a resource type convert straight to each other;
            all other API versions convert by way of the hub.

    Returns:
        The content of each file by its path, relative to the package's folder; the same for the same input.

    Raises:
        ChangeError: a configured change or hook does not fit the schemas.
    """
    _check_names(evolution)
    made = blueprint or Blueprint(evolution, horizon, straight)
    return _Packing(made, package, title, unknown).files()


def _check_names(evolution: Evolution) -> None:
    """Raises where a property has a name that msgspec cannot write."""
    for schema in evolution.schemas:
        for definition in schema.definitions.values():
            for each in definition.properties if isinstance(definition, ObjectType) else ():
                if re.search(r'["\\\x00-\x1f]', each.name):
                    raise ChangeError(
                        definition.source,
                        f"the property {each.name!r} of {definition.name} in {schema.version} has a "
                        "quote, a backslash or a control character in its name, which generated "
                        "classes cannot have; rename it, or leave the object free-form",
                    )


class _Packing:
    def __init__(self, blueprint: Blueprint, package: str, title: str, unknown: str) -> None:
        self.evolution = blueprint.evolution
        self.package = package
        self.title = title or package
        self.unknown = unknown
        self.served = blueprint.served
        self.plans = blueprint.plans
        self.classes = blueprint.classes
        self.types = TypeRenderer(self.classes)
        self.hook_places = hook_places(dict.fromkeys(key.lineage for key in self.plans))
        self.types.hook_modules.update(
            ((place.between, place.type_name), module)
            for module, places in self.hook_places.items()
            for place in places
        )

    def files(self) -> Mapping[str, bytes]:
        found = {
            "__init__.py": self._root(),
            "conversions/__init__.py": self._folder("Conversions between all versions."),
            "py.typed": "",
            "storage/__init__.py": self._folder("What a store keeps, by storage version."),
        }
        for version in self.evolution.versions.versions:
            folder = self.classes.version_module(version).replace(".", "/")
            found[f"{folder}/__init__.py"] = self._version(version)
        for module, nodes in self.classes.modules.items():
            found[f"{module.replace('.', '/')}.py"] = self._types_module(module, nodes)
        found.update(self._conversions())
        found.update(self._hooks())
        for folder, about in (
            ("compat", "API versions that are no longer served; the scheme still converts them."),
            ("hooks", "Protocols for hand-written hooks, by the neighbours they stand between."),
            ("shared", "Types that are the same in several versions."),
        ):
            if any(path.startswith(f"{folder}/") for path in found):
                found[f"{folder}/__init__.py"] = self._folder(about)
        return {path: lay_out(text).encode() for path, text in sorted(found.items())}

    def _folder(self, about: str) -> str:
        return f'{HEADER}"""{about}"""\n'

    def _root(self) -> str:
        resources = "".join(self._resource(each) for each in self.evolution.resources)
        served = "".join(
            f"        {text_literal(version.text)},\n"
            for version in self.evolution.versions.versions
            if version in self.served
        )
        about = docstring(
            f"{self.title}: types, storage and lossless conversions.\n\n"
            "`scheme` converts documents and objects between all versions."
        )
        return (
            f"{HEADER}{about}\n"
            "from trundle.runtime import ResourceType, Scheme\n\n"
            '__all__ = ["scheme"]\n\n'
            f"scheme = Scheme(\n    {text_literal(self.package)},\n    (\n{resources}    ),\n"
            f"    served=(\n{served}    ),\n    unknown={text_literal(self.unknown)},\n"
            f"    hooked={bool(self.evolution.hooks.declarations)},\n)\n"
        )

    def _resource(self, each: Any) -> str:
        versions = each.versions
        api = {v: self.classes.api(v, each.resources[v].root, root=True) for v in versions.versions}
        storage = {
            v: self.classes.storage(each.root, v) for v in (*versions.past_hubs, versions.hub)
        }
        hub = each.resources[versions.hub]
        lines = [
            f"            {text_literal(each.name)},\n",
            f"            hub={text_literal(versions.hub.text)},\n",
            f"            name_property={text_literal(hub.name_property)},\n",
        ]
        if hub.group:
            lines.append(f"            group={text_literal(hub.group)},\n")
        for name, paths in (("versions", api), ("storage", storage)):
            members = "".join(
                f"                {text_literal(v.text)}: {text_literal(str(path))},\n"
                for v, path in sorted(paths.items())
            )
            lines.append(f"            {name}={{\n{members}            }},\n")
        return f"        ResourceType(\n{''.join(lines)}        ),\n"

    def _version(self, version: Any) -> str:
        imports = "".join(
            f"from {self.package}.{module} import *\n"
            for module in self.classes.modules_of(version)
        )
        kept = "" if version in self.served else " It is no longer served."
        about = docstring(f"API version {version} of {self.title}.{kept}")
        return f"{HEADER}# ruff: noqa: F403\n{about}\n{imports}"

    def _types_module(self, module: str, nodes: list[ApiNode | StorageNode]) -> str:
        ordered = sorted(nodes, key=lambda node: self.classes.path(node).name)
        body = "\n\n".join(self.types.render(node) for node in ordered)
        kept = module.startswith("storage.")
        about = f"{'Storage types' if kept else 'API types'} of {self.title}."
        names = () if kept else tuple(self.classes.path(node).name for node in ordered)
        return self._module(module, about, body, direct=True, public=names)

    def _module(
        self,
        module: str,
        about: str,
        body: str,
        *,
        direct: bool = False,
        public: Iterable[str] = (),
        epilogue: str = "",
    ) -> str:
        names: dict[tuple[str, str], str] = {}
        imports: set[str] = set()
        hooks: dict[str, str] = {}
        unique = _unique_classes(module, body)
        for kind, name in marks(body):
            if (kind, name) in names:
                continue
            if kind == "c":
                plain = name if direct and name in unique else None
                names[kind, name] = self._class_name(module, name, imports, plain)
            elif kind == "f":
                path = ClassPath(*name.split(":"))
                if path.module == module:
                    names[kind, name] = path.name
                else:
                    parent, _, leaf = path.module.rpartition(".")
                    alias = f"{leaf.removeprefix('shared_')}_conversions"
                    shown = f"{leaf} as {alias}"
                    if path.module.startswith(COMMON):
                        alias = shown = leaf
                    imports.add(_from_import(f"{self.package}.{parent}", [shown]))
                    names[kind, name] = f"{alias}.{path.name}"
            else:
                names[kind, name] = self._hook_name(name, imports, hooks)
        text = replace_marks(body, names)
        instances = "".join(f"{instance} = {name}()\n" for name, instance in sorted(hooks.items()))
        instances = f"\n{instances}" if instances else ""
        used = self._used(text + epilogue)
        future = "from __future__ import annotations\n\n"
        gap = "\n" if instances else ""
        offered = _public(public)
        return (
            (
                f"{HEADER}{docstring(about)}\n{future}{used}{_joined(imports)}"
                f"{offered}{instances}{gap}\n\n{text.rstrip()}\n{epilogue}"
            )
            .replace("\n\n\n\n", "\n\n\n")
            .replace("\n\n\n\n", "\n\n\n")
        )

    def _class_name(self, module: str, name: str, imports: set[str], plain: str | None) -> str:
        other, _, class_ = name.partition(":")
        if other == module:
            return class_
        if plain is not None:
            imports.add(_from_import(f"{self.package}.{other}", [class_]))
            return class_
        alias = module_alias(other)
        parent, _, leaf = other.rpartition(".")
        origin = f"{self.package}.{parent}" if parent else self.package
        shown = f"{leaf} as {alias}" if leaf != alias else leaf
        imports.add(_from_import(origin, [shown]))
        return f"{alias}.{class_}"

    @staticmethod
    def _hook_name(use: str, imports: set[str], hooks: dict[str, str]) -> str:
        module, _, class_ = use.partition(":")
        alias = class_
        while alias in hooks and hooks[alias] != f"_{snake(class_)}_hook":
            alias = f"{alias}_"
        imports.add(
            f"from {module} import {class_}\n"
            if alias == class_
            else f"from {module} import {class_} as {alias}\n"
        )
        hooks[alias] = f"_{snake(alias)}_hook"
        return hooks[alias]

    @staticmethod
    def _used(text: str) -> str:
        code = _TEXT.sub("", text)
        words = set(re.findall(r"[A-Za-z_]\w*", code))
        lines = [
            _from_import(
                origin, sorted(n for n in words & _STANDARD.keys() if _STANDARD[n] == origin)
            )
            for origin in sorted(set(_STANDARD.values()))
            if any(_STANDARD[name] == origin for name in words & _STANDARD.keys())
        ]
        standard = "".join(lines)
        third = "import msgspec\n" if "msgspec" in words else ""
        bases = sorted(
            words & set(runtime.__all__), key=lambda n: (not n.isupper(), n.islower(), n)
        )
        own = _from_import("trundle.runtime", bases) if bases else ""
        return "\n".join(part for part in (standard, third + own) if part)

    # Conversions

    def _conversions(self) -> Iterator[tuple[str, str]]:
        functions = self._functions()
        numbers = partition(
            functions,
            {
                key: (f.source, f.target, f.text, f.helpers, f.wants_base)
                for key, f in functions.items()
            },
            {key: f.calls for key, f in functions.items()},
        )
        alike = Alike(functions, numbers)
        paths: dict[PlanKey, ClassPath] = {}
        taken: dict[str, set[str]] = {}
        modules: dict[str, list[PlanKey]] = {}
        homes: dict[str, list[PlanKey]] = {}
        sizes: dict[str, int] = {}
        for key, function in alike.functions.items():
            home = conversion_module(_kept_with(function, key).module)
            name, count = function.name, 2
            while name in taken.setdefault(home, set()):
                name, count = f"{function.name}_{count}", count + 1
            taken[home].add(name)
            part = sizes.get(home, 0) // LINE_LIMIT
            sizes[home] = sizes.get(home, 0) + function.lines
            module = home if part == 0 else f"{home}_part{part + 1}"
            paths[key] = ClassPath(module, name)
            modules.setdefault(module, []).append(key)
        for key in {number: key for key, number in reversed(numbers.items())}.values():
            home = conversion_module(_kept_with(functions[key], key).module)
            homes.setdefault(home, []).append(key)
            modules.setdefault(home, [])
        for key, writer in alike.writer.items():
            paths[key] = paths[writer]
        helpers = Helpers(alike.functions, paths, alike.leading)
        modules.update((each, []) for each in helpers.common)
        for module, keys in modules.items():
            ordered = sorted(keys, key=lambda key: paths[key].name)
            index = self._index(homes[module], functions, paths, alike) if module in homes else ""
            text = self._module(
                module,
                f"Conversions of {self.title}.",
                "\n\n".join(helpers.module(module, ordered)),
                epilogue=index + _touching(ordered, functions, paths),
            )
            yield f"{module.replace('.', '/')}.py", text
        for module in {conversion_module(each) for each in self.classes.modules} - modules.keys():
            if module.partition(".")[2].startswith(("hooks", "storage")):
                continue
            text = f'{HEADER}"""No class of this module is converted on its own."""\n\n'
            text += f"{_INDEX}{{}}\n"
            yield f"{module.replace('.', '/')}.py", text

    def _functions(self) -> dict[PlanKey, Function]:
        renderer = FunctionRenderer(self.types, wants_base(self.plans))
        return {plan.key: renderer.render(plan) for plan in self.plans.values()}

    @staticmethod
    def _index(
        keys: list[PlanKey],
        functions: Mapping[PlanKey, Function],
        paths: Mapping[PlanKey, ClassPath],
        alike: Alike,
    ) -> str:
        """By source class: the classes that conversions lead to, and where these functions are."""
        found: dict[str, list[str]] = {}
        for key in keys:
            function = functions[key]
            parts = [text_literal(str(function.target)), text_literal(str(paths[key]))]
            parts.append(str(function.wants_base))
            leading = alike.leading[key]
            if leading:
                parts.append(leading[1] if len(leading) > 1 else text_literal(""))
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

    def _hooks(self) -> Iterator[tuple[str, str]]:
        known: KnownSides = {}
        for module, places in self.hook_places.items():
            body = "\n\n".join(render_hook_place(self.types, place, known) for place in places)
            between = places[0].between
            about = f"Where hooks may stand between {between.older} and {between.newer}."
            yield f"{module.replace('.', '/')}.py", self._module(module, about, body, direct=True)


def _touching(
    keys: list[PlanKey], functions: Mapping[PlanKey, Function], paths: Mapping[PlanKey, ClassPath]
) -> str:
    """By straight conversion: the attributes that it does not just copy, and what converts these."""
    text = ""
    for key in keys:
        touched = functions[key].touched
        if touched is not None:
            members = ", ".join(
                f"{text_literal(name)}: {text_literal('' if callee is None else str(paths[callee]))}"
                for name, callee in touched.items()
            )
            text += f"    {text_literal(paths[key].name)}: {{{members}}},\n"
    return f"\n\nTOUCHED: dict[str, dict[str, str]] = {{\n{text}}}\n" if text else ""


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
    return f"\n__all__ = [{listed}]\n" if listed else ""


def _kept_with(function: Function, key: PlanKey) -> ClassPath:
    """The class whose module keeps a conversion: the API side's, else the source's."""
    return function.target if key.source.kind == "storage" != key.target.kind else function.source


def _joined(imports: set[str]) -> str:
    """Import statements in order, those from one module as one."""
    found: dict[str, set[str]] = {}
    for line in imports:
        module, _, names = line.removeprefix("from ").partition(" import ")
        plain = names.strip().removeprefix("(").removesuffix(")")
        found.setdefault(module, set()).update(
            name.strip() for name in plain.split(",") if name.strip()
        )
    return "".join(_from_import(module, sorted(names)) for module, names in sorted(found.items()))


def _from_import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}\n"
    if len(line) <= 101:  # noqa: PLR2004 - a line and its end
        return line
    inner = "".join(f"    {name},\n" for name in names)
    return f"from {module} import (\n{inner})\n"
