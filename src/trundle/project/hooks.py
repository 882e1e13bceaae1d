"""Finds the hand-written hooks that a project names, and everything that is wrong with them.

A hook is a class, named by `use` as `package.module:Class` and imported with the project's folder on the
path. What it declares is read from its methods: `assign_to` and `assign_from`, declared with
`trundle.runtime.hook`, and property converters named `convert_..._to_...`. A hook that cannot stand where
the configuration puts it is a finding; it is never left out in silence.
"""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from types import TracebackType
from typing import NamedTuple, Protocol

import msgspec

from trundle.codegen import STATIC_METHODS, StaticCall, static_class
from trundle.errors import Finding, did_you_mean, listed
from trundle.evolution import (
    Evolution,
    HookDeclaration,
    HookReference,
    Lineage,
    Neighbours,
    VersionMap,
)
from trundle.project._hook_labels import without_unfit_labels
from trundle.project._hook_methods import Place, read_methods
from trundle.project._importing import file_of, importable
from trundle.project.findings import Misfit, ProjectCode, finding
from trundle.schema import ObjectType
from trundle.version import ApiVersion


class StaticCalls(NamedTuple):
    """The static methods that conversions of a project call.

    Attributes:
        files: the files of the package that has them, as far as they are needed.
        calls: how they are called, by type, neighbours, and what they are for.
        classes: the text of each class.
    """

    files: Mapping[str, str] = {}
    calls: Mapping[tuple[str, Neighbours, str], StaticCall] = {}
    classes: Mapping[str, str] = {}


def in_python(reference: HookReference, package: str) -> HookReference:
    """A hook as Python code outside of a generated package names it: static methods by the class in it that calls them."""
    if not reference.is_static:
        return reference
    name = static_class(reference.type, Neighbours(reference.older, reference.newer))
    return msgspec.structs.replace(reference, use=f"{package}.{STATIC_METHODS}:{name}")


class Discovered(NamedTuple):
    """What became of the hooks that a configuration names.

    Attributes:
        declarations: the hooks that can be called.
        misfits: everything that is wrong with the others.
        files: the files of their modules, and of what these import from the project's folder; those of classes that have static methods.
        static: the static methods among them.
    """

    declarations: tuple[HookDeclaration, ...]
    misfits: tuple[Misfit, ...]
    files: tuple[Path, ...]
    static: StaticCalls = StaticCalls()


def discover_hooks(
    references: Sequence[HookReference],
    evolution: Evolution,
    lineages: Sequence[Lineage],
    folder: Path,
    package: str,
) -> Discovered:
    """Imports the hooks of a project, and reads what they declare.

    Args:
        references: where the configuration names hooks.
        evolution: the versions under the configured changes, without hooks.
        lineages: all lineages of the evolution.
        folder: the project's folder.
        package: the generated package, which hooks may not import: it imports them.

    """
    if not references:
        return Discovered((), (), ())
    declarations: list[HookDeclaration] = []
    misfits: list[Misfit] = []
    modules = list(hook_modules(references))
    with importable([folder], modules, barred=package) as imported:
        for reference in references:
            if reference.is_static:
                continue
            unusable: list[Finding] = []
            class_ = load_class(reference, folder, package, unusable)
            misfits += [Misfit((), each) for each in unusable]
            problems: list[Finding] = []
            place = _place(reference, evolution, lineages, class_, problems)
            if class_ is not None and place is not None:
                declaration, found = read_methods(reference, class_, place)
                problems += found
                if not found:
                    declarations.append(declaration)
            misfits += [Misfit(hook_key(reference), each) for each in problems]
        files = {path for name in modules for path in file_of(sys.modules.get(name))}
    static = StaticCalls()
    if any(each.is_static for each in references):
        found_static, static, paths = _discover_static(
            references, evolution, lineages, folder, misfits
        )
        declarations += found_static
        files |= paths
    fitting, unfit = without_unfit_labels(declarations, evolution)
    misfits += [Misfit(hook_key(reference), each) for reference, each in unfit]
    return Discovered(fitting, tuple(misfits), tuple(sorted(files | imported)), static)


def _discover_static(
    references: Sequence[HookReference],
    evolution: Evolution,
    lineages: Sequence[Lineage],
    folder: Path,
    misfits: list[Misfit],
) -> tuple[list[HookDeclaration], StaticCalls, set[Path]]:
    """The hooks that are static methods; what is wrong with others is added to the misfits."""
    from trundle.project._static_hooks import StaticHooks  # noqa: PLC0415 - needs an extra

    hooks = StaticHooks(folder)
    declarations: list[HookDeclaration] = []
    calls: dict[tuple[str, Neighbours, str], StaticCall] = {}
    for reference in references:
        if not reference.is_static:
            continue
        problems: list[Finding] = []
        place = _place(reference, evolution, lineages, None, problems)
        if place is not None:
            problems += _same_name(reference, evolution)
            read = hooks.read(reference, place.lineages)
            problems += read.findings
            calls.update(read.calls)
            declarations += [] if read.declaration is None else [read.declaration]
        misfits += [Misfit(hook_key(reference), each) for each in problems]
    package = hooks.package
    if isinstance(package, str):
        return declarations, StaticCalls(), set()
    return declarations, StaticCalls(package.files, calls, package.texts), set(package.paths)


def _same_name(reference: HookReference, evolution: Evolution) -> Iterator[Finding]:
    """The findings for static methods of a type that has one name in Python with another one, as `tag` and `Tag`."""
    between = Neighbours(reference.older, reference.newer)
    name = static_class(reference.type, between)
    for each in evolution.schema(reference.older).definitions.values():
        if not isinstance(each, ObjectType) or each.name == reference.type:
            continue
        if static_class(each.name, between) == name:
            expected = f"a name of its own in Python for the hook of {reference.type}"
            what = f"{name}, which is for {each.name}, too"
            advice = "rename one of the types, or write the hook in Python"
            yield _finding(reference, what, advice, expected)


def hook_key(reference: HookReference) -> tuple[str, ...]:
    """What a hook is called among the rules that do not fit."""
    return ("hook", str(reference.older), reference.type, str(reference.newer), reference.use)


class Named(Protocol):
    """What a project file names a class for."""

    @property
    def use(self) -> str:
        """The class, as `package.module:Class`."""

    @property
    def where(self) -> str:
        """File and line."""


def _finding(reference: Named, found: str, advice: str, expected: str = "") -> Finding:
    return finding(ProjectCode.HOOK, reference.where, found, advice, expected=expected)


def load_class(
    reference: Named, folder: Path, package: str, findings: list[Finding]
) -> type | None:
    """The class of a hook; why it cannot be had is a finding.

    Args:
        reference: names the class.
        folder: the project's folder.
        package: the generated package, which the class's module may not import.
        findings: takes the findings.
    """
    module_name, _, path = reference.use.partition(":")
    expected = f"to import the hook {reference.use}"
    try:
        found: object = import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a module may raise anything, SystemExit included
        if isinstance(error, ModuleNotFoundError) and _is_part(error.name, module_name):
            what = f"no module {error.name}"
            advice = f"write it below {folder}, or correct `use`"
        else:
            place = _place_of(error.__traceback__, folder, reference)
            what = f"{type(error).__name__}: {error}{place}"
            advice = "correct the module"
            if isinstance(error, ModuleNotFoundError) and f"{error.name}.".startswith(
                f"{package}."
            ):
                what = f"an import of the generated package {package}{place}"
                advice = "import it only under `if TYPE_CHECKING:`"
        findings.append(_finding(reference, what, advice, expected))
        return None
    holder = module_name
    for name in path.split("."):
        if not hasattr(found, name):
            classes = [each for each, value in vars(found).items() if isinstance(value, type)]
            expected, what = f"the class {path} in {module_name}", f"no {name} in {holder}"
            findings.append(_finding(reference, what, did_you_mean(name, classes), expected))
            return None
        found, holder = getattr(found, name), f"{holder}.{name}"
    if isinstance(found, type):
        return found
    expected, what = f"{reference.use} to be a class", type(found).__name__
    findings.append(_finding(reference, what, "put the methods into a class", expected))
    return None


def _is_part(missing: str | None, module: str) -> bool:
    """Whether a module that is missing is the one that was asked for, or a package that holds it."""
    return missing is not None and f"{module}.".startswith(f"{missing}.")


def _place_of(trace: TracebackType | None, folder: Path, reference: Named) -> str:
    """Where in the project's own code an import failed."""
    root = folder.resolve()
    for frame in reversed(extract_tb(trace)):
        path = Path(frame.filename)
        if root in path.resolve().parents:
            return f" at {path.resolve().relative_to(root)}:{frame.lineno}"
    return "" if trace is None else f" in {reference.use.partition(':')[0]}"


def _place(
    reference: HookReference,
    evolution: Evolution,
    lineages: Sequence[Lineage],
    class_: type | None,
    findings: list[Finding],
) -> Place | None:
    """Where a hook stands; that there is no such place is a finding."""
    known = evolution.versions.versions
    gone = versions_gone(reference, known)
    findings.extend(gone)
    if gone:
        return None
    of_type = [
        each
        for each in lineages
        if reference.older in each.nodes and each.definition(reference.older).name == reference.type
    ]
    if not of_type:
        findings.append(_type_gone(reference, evolution))
        return None
    present = tuple(each for each in of_type if _meets(each, reference))
    if present:
        return Place(present, reference.older, reference.newer)
    findings.append(_dangling(reference, of_type, class_))
    return None


def versions_gone(reference: HookReference, known: Collection[ApiVersion]) -> tuple[Finding, ...]:
    """The findings for versions of a hook that no schema has."""
    advice = f"remove the hook, or restore the version; there are {listed(map(str, known))}"
    return tuple(
        _finding(
            reference,
            f"the hook {reference.use} stands at {version}, which no schema has",
            advice,
        )
        for version in (reference.older, reference.newer)
        if version not in known
    )


def _meets(lineage: Lineage, reference: HookReference) -> bool:
    return any(
        (pair.older, pair.newer) == (reference.older, reference.newer)
        for pair in lineage.versions.pairs
    )


def _type_gone(reference: HookReference, evolution: Evolution) -> Finding:
    definitions = evolution.schema(reference.older).definitions.values()
    names = {each.name for each in definitions if isinstance(each, ObjectType)}
    others = [
        schema.version
        for schema in evolution.schemas
        if any(each.name == reference.type for each in schema.definitions.values())
    ]
    what = (
        f"the hook {reference.use} is for {reference.type}, which {reference.older} does not have"
    )
    if reference.type in {each.name for each in definitions}:
        what = f"the hook {reference.use} is for {reference.type}, which is an enum"
        advice = "convert the property that holds it, by a hook of the type around it"
    elif others:
        advice = f"name the type as the older side does; {reference.type} is in {listed(map(str, others))}"
    else:
        advice = did_you_mean(reference.type, names)
    return _finding(reference, what, advice)


def _dangling(
    reference: HookReference,
    lineages: Sequence[Lineage],
    class_: type | None,
) -> Finding:
    """The finding for a hook whose versions are no neighbours, or no longer."""
    older, newer = reference.older, reference.newer
    between = VersionMap.of(
        version for each in lineages for version in each.nodes if older <= version <= newer
    )
    what = f"the hook {reference.use} of {reference.type} stands between {older} and {newer}, "
    if newer not in between.versions:
        later = [
            pair.newer for each in lineages for pair in each.versions.pairs if pair.older == older
        ]
        what += f"but {reference.type} is not there in {newer}"
        advice = f"write [{older}, {later[0]}]" if later else "remove the hook"
        return _finding(reference, what, advice)
    inner = [str(version) for version in between.versions[1:-1]]
    what += f"which are no neighbours: {listed(inner)} came between" if inner else "no neighbours"
    pairs = [
        (pair.older, pair.newer)
        for pair in lineages[0].versions.pairs
        if older <= pair.older and pair.newer <= newer
    ]
    fitting = [pair for pair in pairs if class_ and _fits(reference, class_, lineages, pair)]
    belongs = fitting if len(fitting) == 1 else pairs
    spoken = " or ".join(f"[{one}, {other}]" for one, other in belongs)
    return _finding(reference, what, f"it now belongs to {spoken or 'no pair'}; write that")


def _fits(
    reference: HookReference,
    class_: type,
    lineages: Sequence[Lineage],
    pair: tuple[ApiVersion, ApiVersion],
) -> bool:
    """Whether everything that a hook declares is there on both sides of a pair."""
    present = tuple(each for each in lineages if set(pair) <= each.nodes.keys())
    if not present:
        return False
    _, problems = read_methods(reference, class_, Place(present, *pair))
    return not problems


def hook_modules(references: Sequence[HookReference]) -> Iterator[str]:
    """The modules that hold a project's hooks."""
    yield from dict.fromkeys(
        each.use.partition(":")[0] for each in references if not each.is_static
    )
