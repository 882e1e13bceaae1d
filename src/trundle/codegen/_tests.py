"""Generating the round-trip tests of a package: one module for each API version.

The tests check generated values against the laws of conversion, which `trundle.verify` has. A module names the
resource types and the nested types of its version; what is the same for all of them is parametrised, so
that a module stays small however many types there are.
"""

from collections.abc import Iterator, Mapping

from trundle.codegen._blueprint import Blueprint
from trundle.codegen._classes import ApiNode
from trundle.codegen._layout import lay_out
from trundle.codegen._text import HEADER, docstring, text_literal
from trundle.evolution import METADATA, Evolution, label_of, short_type, split_path, spoken_type
from trundle.schema import ObjectType
from trundle.version import ApiVersion

MODULE_LIMIT = 60
"""How many nested types a module tests at most."""
_EXAMPLES = 25
_LARGE = 10
"""How many resource types one version may have before each is tried with fewer examples."""


def generate_tests(
    evolution: Evolution,
    *,
    package: str,
    title: str = "",
    horizon: int | None = None,
    unknown: str = "error",
    blueprint: Blueprint | None = None,
) -> Mapping[str, bytes]:
    """Generates the tests of a package that `generate_package` generates from the same input.

    Args:
        evolution: the versions, with configured changes and hooks.
        package: dotted name of the package.
        title: what the package is about, for the documentation of its tests.
        horizon: how many GA versions are served; None for all.
        unknown: what happens to unknown properties that a client writes: `error`, or `keep`.
        blueprint: that of the same evolution and horizon, where it was made before.

    Returns:
        The content of each file by its path, relative to the folder of the tests; the same for the same
        input. The tests need pytest and `trundle[verify]`.

    Raises:
        ChangeError: a configured change or hook does not fit the schemas.
    """
    del unknown  # what clients may write is nothing that is stored
    made = blueprint or Blueprint(evolution, horizon)
    return _Testing(made, title or package).files()


class _Testing:
    def __init__(self, blueprint: Blueprint, title: str) -> None:
        evolution = blueprint.evolution
        self.evolution = evolution
        self.title = title
        self.plans = blueprint.plans
        self.classes = blueprint.classes
        self.hooks = bool(evolution.hooks)
        self.hooked = sorted(hooked_properties(evolution))
        self.renamed = tuple(renamed_properties(evolution).items())

    def files(self) -> Mapping[str, bytes]:
        found = {"__init__.py": f'{HEADER}"""Round-trip tests of {self.title}."""\n'}
        nested = self._nested()
        for version in self.evolution.versions.versions:
            names = nested.get(version, [])
            for number in range(max(1, -(-len(names) // MODULE_LIMIT))):
                part = names[number * MODULE_LIMIT : (number + 1) * MODULE_LIMIT]
                suffix = f"_{number + 1}" if number else ""
                resources = () if number else self._resources(version)
                if resources or part:
                    text = self._module(version, resources, part)
                    found[f"test_{version.identifier}{suffix}.py"] = text
        return {path: lay_out(text).encode() for path, text in sorted(found.items())}

    def _resources(self, version: ApiVersion) -> tuple[str, ...]:
        return tuple(each.name for each in self.evolution.resources if version in each.resources)

    def _stored(self, version: ApiVersion) -> tuple[str, ...]:
        """The resource types that a store may keep in a version that is not their hub."""
        return tuple(
            each.name
            for each in self.evolution.resources
            if version in each.versions.storage and version != each.versions.hub
        )

    def _nested(self) -> Mapping[ApiVersion, list[str]]:
        """The nested types that are converted, by the newest of the versions that share each."""
        found: dict[ApiVersion, set[str]] = {}
        for key in self.plans:
            if (key.source.kind, key.target.kind) != ("api", "storage"):
                continue
            if key.lineage.is_root:
                continue
            node = ApiNode(key.source.version, key.lineage.nodes[key.source.version])
            first = self.classes.api_nodes[node]
            found.setdefault(first.version, set()).add(self.classes.path(first).name)
        return {version: sorted(names) for version, names in found.items()}

    def _module(self, version: ApiVersion, resources: tuple[str, ...], nested: list[str]) -> str:
        parent, _, module = self.classes.version_module(version).rpartition(".")
        stored = self._stored(version) if resources else ()
        about = docstring(
            f"Round-trip tests of API version {version} of {self.title}.\n\n"
            "What a client of this version writes, it reads; and whatever it cannot see stays as it was."
        )
        own = [f"from ..{parent} import {module}\n"] if parent and nested else []
        beside = ["scheme", module] if nested and not parent else ["scheme"]
        own.insert(0, f"from .. import {', '.join(sorted(beside))}\n")
        tests = [self._constants(version, resources, stored, nested)]
        tests.extend(self._resource_tests(len(resources)) if resources else ())
        tests.extend(_upgrade_tests(len(stored)) if stored else ())
        tests.extend(_nested_tests(len(nested)) if nested else ())
        return (
            f"{HEADER}{about}\n"
            + ("from typing import Any\n\n" if nested else "")
            + "import pytest\n"
            + "from hypothesis import given\n"
            + "from hypothesis import strategies as st\n"
            + "from trundle import verify\n\n"
            + "".join(own)
            + "\n"
            + "\n\n".join(tests)
        )

    def _constants(
        self,
        version: ApiVersion,
        resources: tuple[str, ...],
        stored: tuple[str, ...],
        nested: list[str],
    ) -> str:
        module = self.classes.version_module(version).rpartition(".")[2]
        lines = [f"VERSION = {text_literal(version.text)}\n"] if resources else []
        for name, members in (
            ("RESOURCES", [text_literal(each) for each in resources]),
            ("ONCE_STORED", [text_literal(each) for each in stored]),
            ("NESTED: tuple[type[Any], ...]", [f"{module}.{each}" for each in nested]),
        ):
            if len(members) == 1:
                lines.append(f"{name} = ({members[0]},)\n")
            elif members:
                shown = "".join(f"    {each},\n" for each in members)
                lines.append(f"{name} = (\n{shown})\n")
        if self.renamed and resources:
            shown = "".join(
                f"    {text_literal(older)}: {text_literal(newer)},\n"
                for older, newer in self.renamed
            )
            lines.append(f"RENAMED = {{\n{shown}}}\n")
        if self.hooked and resources:
            lines.append(f"HOOKED = {{{', '.join(map(text_literal, self.hooked))}}}\n")
        return "".join(lines)

    def _resource_tests(self, count: int) -> Iterator[str]:
        flags = ", hooks=True" if self.hooks else ""
        flags += ", hooked=HOOKED" if self.hooked else ""
        flags += ", renamed=RENAMED" if self.renamed else ""
        yield _test(
            "RESOURCES",
            count,
            "what_a_client_writes_it_reads",
            "Storing and reading is the identity, whatever was stored before and by whom.",
            "    stored = data.draw(verify.stored_objects(scheme, resource))\n"
            "    document = data.draw(verify.documents(scheme, resource, VERSION))\n"
            "    verify.law_identity(scheme, document)\n"
            "    verify.law_same_version(scheme, document, VERSION)\n"
            "    verify.law1(scheme, stored, document)\n"
            "    verify.law2(scheme, stored, VERSION)\n"
            "    verify.law6(scheme, stored, document)\n"
            "    verify.law_agreement(scheme, stored, document)\n",
        )
        yield _test(
            "RESOURCES",
            count,
            "an_edit_is_seen_and_all_else_is_as_before",
            "An edit through this version changes, for every version, just what was edited.",
            "    stored = data.draw(verify.stored_objects(scheme, resource))\n"
            "    edited = data.draw(verify.edits(scheme.from_storage(stored, VERSION)))\n"
            "    verify.law1(scheme, stored, edited)\n"
            f"    verify.law3(scheme, stored, edited{flags})\n"
            f"    verify.law5(scheme, stored, edited{flags})\n",
        )
        if self.hooks:
            return  # what a hook makes of an edit need not lead back
        yield _test(
            "RESOURCES",
            count,
            "an_edit_that_is_taken_back_leaves_nothing_behind",
            "Nothing stale is shown, and nothing is lost for having been stale.",
            "    stored = data.draw(verify.stored_objects(scheme, resource, writes=1))\n"
            "    document = data.draw(verify.documents(scheme, resource, VERSION))\n"
            "    edited = data.draw(verify.edits(document, scalars=True))\n"
            "    verify.law4(scheme, stored, document, edited)\n",
        )


def _upgrade_tests(count: int) -> Iterator[str]:
    yield _test(
        "ONCE_STORED",
        count,
        "rolling_forward_keeps_what_every_version_reads",
        "What this version stored while it was the newest is read by all versions after it.",
        "    earlier = data.draw(verify.earlier_objects(scheme, resource, VERSION))\n"
        "    verify.law_upgrade(scheme, earlier)\n",
    )


def _nested_tests(count: int) -> Iterator[str]:
    yield _test(
        "NESTED",
        count,
        "a_nested_type_comes_back_from_storage_as_it_was",
        "Storing and reading is the identity for a part of an object, too.",
        "    verify.law_nested(scheme, data.draw(verify.objects(nested)))\n",
        parameter="nested: type[Any]",
    )


def _test(
    over: str, count: int, name: str, about: str, body: str, parameter: str = "resource: str"
) -> str:
    examples = _EXAMPLES if count <= _LARGE else max(5, _EXAMPLES * _LARGE // count)
    profile = "@verify.examples" if examples == _EXAMPLES else f"@verify.some_examples({examples})"
    plain = parameter.partition(":")[0]
    return (
        f'@pytest.mark.parametrize("{plain}", {over})\n{profile}\n@given(data=st.data())\n'
        f"def test_{name}({parameter}, data: st.DataObject) -> None:\n"
        f'    """{about}"""\n{body}'
    )


def renamed_properties(evolution: Evolution) -> Mapping[str, str]:
    """Newer property names by older ones: all configured renames, by the last names of their paths."""
    found: set[tuple[str, str]] = set()
    for each in evolution.all_changes:
        for rule in (each.rename, each.wrap, each.unwrap, each.move):
            for older, newer in rule.items():
                pair = (older.rpartition(".")[2], newer.rpartition(".")[2])
                if pair[0] != pair[1]:
                    found.add(pair)
    return dict(sorted(dict(sorted(found, reverse=True)).items()))


def hooked_properties(evolution: Evolution) -> frozenset[str]:
    """The names that hooks write: the first name of each output, and older members that converters convert.

    What is within these may be made anew after an edit; nothing else may.
    """
    found: set[str] = set()
    for hook in evolution.hooks:
        for name in (each for method in hook.assign.values() for each in method.writes):
            found.add(METADATA if label_of(name) else split_path(name)[0])
        schema = evolution.schema(hook.reference.older)
        for definition in schema.definitions.values():
            if not isinstance(definition, ObjectType) or definition.name != hook.reference.type:
                continue
            for member in definition.properties:
                spoken = spoken_type(member.type, schema)
                ends = (spoken, short_type(spoken))
                if any(_converts(each, end) for each in hook.converters for end in ends):
                    found.add(member.name)
    return frozenset(found)


def _converts(converter: str, spoken: str) -> bool:
    """Whether a converter converts from or to a type, as its name says."""
    return converter.startswith(f"convert_{spoken}_to_") or converter.endswith(f"_to_{spoken}")
