"""A whole generated package: which plans it needs, and its modules."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trundle.codegen._blueprint import Blueprint
from trundle.codegen._classes import ApiNode, StorageNode
from trundle.codegen._conversions import conversion_modules
from trundle.codegen._hooks import hook_places, render_hook_place
from trundle.codegen._layout import lay_out
from trundle.codegen._modules import Near, contract, relative, render_module
from trundle.codegen._straight import STRAIGHT
from trundle.codegen._text import (
    HEADER,
    docstring,
    text_literal,
)
from trundle.codegen._types import TypeRenderer
from trundle.evolution import ChangeError, Evolution
from trundle.schema import ObjectType

if TYPE_CHECKING:
    from trundle.codegen._hook_dictionaries import KnownRecords


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
        self.title = title or package
        self.near = Near(package, relative_hooks(blueprint.evolution))
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
            "from trundle import runtime\n\n"
            '__all__ = ["scheme"]\n\n'
            f"{contract()}\n"
            f"scheme = runtime.Scheme(\n    __name__,\n    (\n{resources}    ),\n"
            f"    served=(\n{served}    ),\n    unknown={text_literal(self.unknown)},\n"
            f"    hooked={bool(self.evolution.hooks)},\n)\n"
        )

    def _resource(self, each: Any) -> str:
        versions = each.versions
        api = {v: self.classes.api(v, each.resources[v].root, root=True) for v in versions.versions}
        storage = {v: self.classes.storage(each.root, v) for v in versions.storage}
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
        return f"        runtime.ResourceType(\n{''.join(lines)}        ),\n"

    def _version(self, version: Any) -> str:
        imports = "".join(
            f"from {relative(self.classes.version_module(version), module)} import *\n"
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
        return render_module(
            module,
            about,
            body,
            near=self.near,
            direct=direct,
            public=public,
            epilogue=epilogue,
        )

    def _conversions(self) -> Iterator[tuple[str, str]]:
        for each in conversion_modules(self.plans, self.types):
            about = f"Conversions of {self.title}."
            text = self._module(each.module, about, each.body, epilogue=each.epilogue)
            yield f"{each.module.replace('.', '/')}.py", text

    def _hooks(self) -> Iterator[tuple[str, str]]:
        known: KnownRecords = {}
        for module, places in self.hook_places.items():
            body = "\n\n".join(render_hook_place(self.types, place, known) for place in places)
            between = places[0].between
            about = (
                f"Where hooks may stand between {between.older} and {between.newer}: the records that they read, "
                "the dictionaries (`Outputs`) that they return, and a protocol for each converter."
            )
            yield f"{module.replace('.', '/')}.py", self._module(module, about, body, direct=True)


def relative_hooks(evolution: Evolution) -> frozenset[str]:
    """The modules of hooks that move along with the package."""
    references = [each.reference for each in evolution.hooks]
    return frozenset(each.use.partition(":")[0] for each in references if each.relative)
