"""Python source for classes of packages."""

import graphlib
import json
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from trundle.codegen import attribute_names, class_name, lay_out
from trundle.engine import Type
from trundle.engine.schemas import (
    Constant,
    Entries,
    Items,
    Objects,
    OrNull,
    Plain,
    PythonInput,
    PythonType,
)
from trundle.project._class_annotations import Annotations, capitalized
from trundle.project.findings import FindingsError, ProjectCode, finding

_BASES = "trundle.runtime.model_objects"
_TAKEN = ("header", "to_model", "model_properties", "model_class", "properties")


class Module(NamedTuple):
    """A package in one version, as a module.

    Attributes:
        folder: the subpackage.
        name: the module in it.
    """

    folder: str
    name: str

    @property
    def alias(self) -> str:
        """What other modules call it."""
        return f"_{self.folder}_{self.name}"


class PythonClass(NamedTuple):
    """A class of a package as a Python class.

    Attributes:
        type: the class.
        module: where it stands.
        name: its name there.
        bases: its bases, all that it descends from where there are several: so their order is the same in all classes.
        inputs: its properties.
    """

    type: Type
    module: Module
    name: str
    bases: tuple[Type, ...]
    inputs: tuple[PythonInput, ...]


def module_of(type_: Type) -> Module:
    """The module of a class."""
    folder = re.sub(r"[^0-9a-z]+", "_", type_.package.lower()).strip("_")
    if not folder.isidentifier() or keyword.iskeyword(folder):
        folder = f"package_{folder}"
    return Module(folder, "v" + re.sub(r"[^0-9a-z]+", "_", str(type_.version).lower()))


def python_classes(inputs: Mapping[Type, tuple[PythonInput, ...]]) -> tuple[PythonClass, ...]:
    """The Python classes for classes of packages, each after all that it descends from."""
    graph = {each: sorted(each.parents, key=str) for each in sorted(inputs, key=str)}
    ordered = list(graphlib.TopologicalSorter(graph).static_order())
    place = {each: at for at, each in enumerate(ordered)}
    names = _names(ordered)
    return tuple(
        PythonClass(each, module_of(each), names[each], _bases(each, place), inputs[each])
        for each in ordered
    )


def _bases(type_: Type, place: Mapping[Type, int]) -> tuple[Type, ...]:
    """Of several parents, all ancestors from the last to the first: so no two classes order them in different ways."""
    parents = type_.parents
    if len(parents) == 1:
        return parents
    return tuple(sorted(type_.ancestors, key=place.__getitem__, reverse=True))


def _names(types: Iterable[Type]) -> dict[Type, str]:
    """A name for each class: the last part of its own, or all of it where several in a module end alike."""
    modules: dict[Module, list[Type]] = {}
    for each in types:
        modules.setdefault(module_of(each), []).append(each)
    found: dict[Type, str] = {}
    for members in modules.values():
        short = {each: class_name(each.name.rpartition(".")[2]) for each in members}
        counts = Counter(short.values())
        taken: set[str] = set()
        for each, name in short.items():
            plain = name if counts[name] == 1 else class_name(each.name)
            unique, number = plain, 2
            while unique in taken:
                unique, number = f"{plain}{number}", number + 1
            taken.add(unique)
            found[each] = unique
    return found


def files_of(classes: Sequence[PythonClass], package: str) -> dict[str, bytes]:
    """The files of a package with classes, by path.

    Args:
        classes: the classes, each after those that it descends from.
        package: the dotted name of the package.
    """
    known = {each.type: each for each in classes}
    modules: dict[Module, list[PythonClass]] = {}
    for each in classes:
        modules.setdefault(each.module, []).append(each)
    _check_imports(modules, known)
    files = {"__init__.py": _root(modules, package), "py.typed": ""}
    for module, members in modules.items():
        files[f"{module.folder}/__init__.py"] = f'"""Versions of {members[0].type.package}."""\n'
        files[f"{module.folder}/{module.name}.py"] = _module(module, members, known, package)
    return {name: lay_out(text).encode() for name, text in sorted(files.items())}


def _check_imports(
    modules: Mapping[Module, Sequence[PythonClass]], known: Mapping[Type, PythonClass]
) -> None:
    """Refuses packages whose classes extend each other in a circle of packages, as modules cannot import each other so.

    Raises:
        FindingsError: there is a circle.
    """
    graph = {
        module: {known[base].module for each in members for base in each.bases} - {module}
        for module, members in modules.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        circle = [modules[each][0].type for each in error.args[1]]
        names = " -> ".join(f"{each.package}/{each.version}" for each in reversed(circle))
        expected = "packages whose classes do not extend each other's in a circle"
        advice = "move the classes that others extend to a package of their own"
        raise FindingsError(
            [finding(ProjectCode.CIRCLE, "the classes", names, advice, expected=expected)]
        ) from None


def _root(modules: Mapping[Module, Sequence[PythonClass]], package: str) -> str:
    lines = [
        '"""Classes of packages, to build object models with."""',
        "",
        "from collections.abc import Mapping",
        "from typing import Any, Final, TypeVar",
        "",
    ]
    ordered = sorted(modules)
    lines += [
        f"from {_BASES} import ModelObject, read_model",
        "",
        *_imports(ordered, package),
        "",
        'Found = TypeVar("Found", bound=ModelObject)',
        "",
        "CLASSES: Final[Mapping[str, type[ModelObject]]] = {",
        *(
            f"    {_text(str(each.type))}: {module.alias}.{each.name},"
            for module in ordered
            for each in modules[module]
        ),
        "}",
        '"""All classes, as models spell them."""',
        "",
        "",
        "def read(model: Mapping[str, Any], type_: type[Found]) -> Found:",
        '    """The object that a map of a dumped model is, with all objects in it.',
        "",
        "    Args:",
        "        model: the map.",
        "        type_: the class that it has to be of; `ModelObject` for any.",
        "",
        "    Raises:",
        "        ValueError: it is no object of that class, or its class has no such properties.",
        '    """',
        "    return read_model(model, CLASSES, type_)",
    ]
    return "\n".join(lines) + "\n"


def _module(
    module: Module,
    members: Sequence[PythonClass],
    known: Mapping[Type, PythonClass],
    package: str,
) -> str:
    annotations = Annotations(
        lambda type_: _class_text(known[type_], module), (each.name for each in members)
    )
    body: list[str] = []
    for each in members:
        lines = list(_class(each, known, annotations))
        body += [*annotations.taken_out(), "", "", *lines]
    others = {known[base].module for each in members for base in each.bases}
    named = {
        known[type_].module
        for each in members
        for one in each.inputs
        for type_ in types_in(one.type)
    }
    lines = [
        f'"""The classes of {members[0].type.package} {members[0].type.version}."""',
        "",
        "from __future__ import annotations",
        "",
        "from dataclasses import dataclass, field",
        f"from typing import {', '.join(_TYPING)}",
        "",
        f"from {_BASES} import (",
        *(f"    {name}," for name in _IMPORTED),
        ")",
    ]
    if based := _imports(others - {module}, package):
        lines += ["", *based]
    if only := named - others - {module}:
        lines += ["", "if TYPE_CHECKING:", *(f"    {each}" for each in _imports(only, package))]
    text = "\n".join([*lines, *body]) + "\n"
    return _without_unused(text)


_TYPING = ("TYPE_CHECKING", "Any", "ClassVar", "Literal", "Required", "TypedDict")
_IMPORTED = (
    "ABSENT",
    "OBJECT",
    "PLAIN",
    "Absent",
    "Entries",
    "Items",
    "ModelField",
    "ModelObject",
)


def _imports(modules: Iterable[Module], package: str) -> list[str]:
    return [
        f"from {package}.{each.folder} import {each.name} as {each.alias}"
        for each in sorted(modules)
    ]


def _without_unused(text: str) -> str:
    """A module without the names that it imports and does not use."""

    def used(name: str) -> bool:
        return len(re.findall(rf"\b{name}\b", text)) > 1

    kept = [
        line
        for line in text.splitlines()
        if not (line.strip().rstrip(",") in _IMPORTED and not used(line.strip().rstrip(",")))
    ]
    typing = [each for each in _TYPING if used(each)]
    joined = "\n".join(kept) + "\n"
    joined = joined if used("field") else joined.replace("dataclass, field", "dataclass")
    return re.sub(r"from typing import .*", f"from typing import {', '.join(typing)}", joined)


def _class(
    found: PythonClass, known: Mapping[Type, PythonClass], annotations: Annotations
) -> Iterator[str]:
    names = attribute_names((each.name for each in found.inputs), _TAKEN)
    bases = [_class_text(known[each], found.module) for each in found.bases] or ["ModelObject"]
    yield "@dataclass(kw_only=True, eq=False)"
    yield f"class {found.name}({', '.join(bases)}):"
    yield f'    """{found.type.name} {found.type.version}."""'
    yield ""
    yield f"    MODEL_CLASS: ClassVar[str] = {_text(str(found.type))}"
    parts = [_field(each, names[each.name]) for each in found.inputs]
    comma = "," if len(parts) == 1 else ""
    yield f"    MODEL_FIELDS: ClassVar[tuple[ModelField, ...]] = ({', '.join(parts)}{comma})"
    above = [known[each] for each in found.type.ancestors]
    if found.inputs:
        yield ""
    for one in found.inputs:
        text = "Any"
        if _narrows(one, above, found.module, known):
            text = annotations.of(one.type, found.name + capitalized(one.name))
        suffix = (
            " = field()" if one.is_required else " = ABSENT"
        )  # Else that of an ancestor counts.
        if not one.is_required and text != "Any":
            text = f"{text} | Absent"
        yield f"    {names[one.name]}: {text}{suffix}"
    given = {names[one.name] for one in found.inputs}
    for name in dict.fromkeys(_attributes(above)):
        if name not in given:  # Models give it to objects of an ancestor only.
            yield f"    {name}: Any = ABSENT"


def _attributes(classes: Iterable[PythonClass]) -> Iterator[str]:
    for each in classes:
        yield from attribute_names((one.name for one in each.inputs), _TAKEN).values()


def _narrows(
    one: PythonInput,
    above: Iterable[PythonClass],
    module: Module,
    known: Mapping[Type, PythonClass],
) -> bool:
    """Whether each value of a property is one of the property that ancestors have under its name."""
    mine = _alternatives(one.type, module, known) | (set() if one.is_required else {"Absent"})
    for each in above:
        for other in each.inputs:
            if other.name != one.name:
                continue
            theirs = _alternatives(other.type, module, known)
            theirs |= set() if other.is_required else {"Absent"}
            if "Any" not in theirs and not mine <= theirs:
                return False
    return True


def _alternatives(
    type_: PythonType, module: Module, known: Mapping[Type, PythonClass]
) -> set[PythonType | str]:
    match type_:
        case OrNull(value):
            return {"None"} | _alternatives(value, module, known)
        case Objects(types):
            return {"str", *(_class_text(known[each], module) for each in types)}
        case Plain(""):
            return {"Any"}
        case Plain("str"):
            return {"str"}
    return {type_}


def _field(one: PythonInput, attribute: str) -> str:
    parts = [_text(one.name), _text(attribute)]
    shape = _shape(one.type)
    if shape != "PLAIN" or one.is_reference:
        parts.append(shape)
    if one.is_reference:
        parts.append("True")
    return f"ModelField({', '.join(parts)})"


def _shape(type_: PythonType) -> str:
    match type_:
        case Plain() | Constant():
            return "PLAIN"
        case Objects():
            return "OBJECT"
        case OrNull(value):
            return _shape(value)
        case Items(values):
            inner = _shape(values)
            return inner if inner == "PLAIN" else f"Items({inner})"
        case Entries(named, others):
            rest = "PLAIN" if others is None else _shape(others)
            known = {name: shape for name, each in named if (shape := _shape(each)) != "PLAIN"}
            if rest == "PLAIN" and not known:
                return "PLAIN"
            if rest != "PLAIN":  # Else what stands under the others would be taken for objects.
                known |= {name: _shape(each) for name, each in named}
            pairs = ", ".join(f"{_text(name)}: {shape}" for name, shape in known.items())
            return f"Entries({{{pairs}}}, {rest})"


def types_in(type_: PythonType) -> Iterable[Type]:
    """The classes that a type names."""
    match type_:
        case Objects(types):
            return types
        case OrNull(inner) | Items(inner):
            return types_in(inner)
        case Entries(named, others):
            parts = [each for _, each in named] + ([] if others is None else [others])
            return [each for one in parts for each in types_in(one)]
    return ()


def _text(value: str) -> str:
    return json.dumps(value)


def _class_text(found: PythonClass, module: Module) -> str:
    return found.name if found.module == module else f"{found.module.alias}.{found.name}"
