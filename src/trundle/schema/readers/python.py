"""Python classes: `msgspec.Struct`, dataclasses and pydantic models, by the JSON Schema that they export.

The module is imported, so reading it runs its code. Resources are the classes that the source lists,
else every public class defined in the module to which no other one refers.
"""

import dataclasses
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from trundle.schema._model import SchemaError
from trundle.schema.readers._facets import Dialect
from trundle.schema.readers._library import Document, Node
from trundle.schema.readers._names import version_in, version_of_path
from trundle.schema.readers._roots import Found, Request, Root
from trundle.version import ApiVersion

DIALECT = Dialect()
_TEMPLATE = "#/$defs/{name}"


def load(path: Path, resources: Sequence[str] | None) -> Document:
    """The schemas of a module's classes as one document.

    Args:
        path: the module's file, or its dotted name.
        resources: the classes that are wanted, or None for all public ones.

    Raises:
        SchemaError: the module cannot be imported, or a class has no JSON Schema.
    """
    module = _import(path)
    classes = _classes(module, resources)
    models = [each for each in classes if _is_pydantic(each)]
    others = [each for each in classes if not _is_pydantic(each)]
    definitions: dict[str, Any] = {}
    try:
        for part in (_of_msgspec(others), _of_pydantic(models)):
            for name, schema in part.items():
                if definitions.setdefault(name, schema) != schema:
                    raise SchemaError(str(path), "#", f"two classes are named {name}; rename one")
    except (TypeError, ValueError) as error:
        raise SchemaError(str(path), "#", f"a class has no JSON Schema: {error}") from error
    return Document(str(path), None, {"$defs": definitions, "x-classes": _names(classes)})


def find(document: Document, request: Request) -> Found:
    """The resources among the classes of a module.

    Raises:
        SchemaError: there is no class that could be a resource, or no API version can be determined.
    """
    top = Node(document, "", document.value)
    names = {
        name: top.child("$defs", name)
        for name in document.value["x-classes"]
        if name in document.value["$defs"]
    }
    chosen = [name for name in names if name not in _referenced(document.value["$defs"])]
    if request.resources is not None:
        chosen = [name for name in request.resources if name in names]
    if not chosen and request.resources is None:
        raise top.error(
            "nothing here is a resource: every class refers to another; list the resources"
        )
    version = _version(request) if chosen else None
    roots = tuple(
        Root(
            version=version,
            node=names[name],
            dialect=DIALECT,
            resource=name,
            definition=name,
            group=request.group,
            file=document.file,
        )
        for name in chosen
        if version is not None
    )
    return Found(roots, names)


def _import(path: Path) -> ModuleType:
    if path.suffix == ".py" and not path.is_file():
        raise SchemaError(str(path), "#", "there is no such file")
    try:
        return _execute(path) if path.suffix == ".py" else importlib.import_module(str(path))
    except Exception as error:
        reason = f"cannot import the module: {type(error).__name__}: {error}"
        raise SchemaError(str(path), "#", reason) from error


def _execute(path: Path) -> ModuleType:
    """The module of a file, under a name that is in no one's way."""
    name = f"_trundle_schema_{abs(hash(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _classes(module: ModuleType, resources: Sequence[str] | None) -> list[type]:
    found = [
        each
        for name, each in vars(module).items()
        if inspect.isclass(each) and not name.startswith("_") and _has_schema(each)
    ]
    if resources is not None:
        return [each for each in found if each.__name__ in resources]
    return [each for each in found if each.__module__ == module.__name__]


def _has_schema(kind: type) -> bool:
    return issubclass(kind, msgspec.Struct) or dataclasses.is_dataclass(kind) or _is_pydantic(kind)


def _is_pydantic(kind: type) -> bool:
    return hasattr(kind, "model_json_schema") or hasattr(kind, "__pydantic_core_schema__")


def _names(classes: Sequence[type]) -> list[str]:
    return [each.__name__ for each in classes]


def _of_msgspec(classes: Sequence[type]) -> dict[str, Any]:
    if not classes:
        return {}
    _, components = msgspec.json.schema_components(classes, ref_template=_TEMPLATE)
    return components


def _of_pydantic(classes: Sequence[type]) -> dict[str, Any]:
    if not classes:
        return {}
    from pydantic import TypeAdapter  # noqa: PLC0415 - an optional dependency

    adapters: list[Any] = [(each.__name__, "validation", TypeAdapter(each)) for each in classes]
    template = "#/$defs/{model}"
    found, shared = TypeAdapter.json_schemas(adapters, ref_template=template)
    definitions: dict[str, Any] = dict(shared.get("$defs", {}))
    for (name, _), schema in found.items():
        definitions.setdefault(str(name), schema)
    return definitions


def _referenced(definitions: dict[str, Any]) -> set[str]:
    """The definitions to which another one refers."""
    found = set()
    for owner, schema in definitions.items():
        pending = [schema]
        while pending:
            value = pending.pop()
            if isinstance(value, list):
                pending.extend(value)
            elif isinstance(value, dict):
                reference = value.get("$ref")
                if isinstance(reference, str) and reference != f"#/$defs/{owner}":
                    found.add(reference.rpartition("/")[2])
                pending.extend(value.values())
    return found


def _version(request: Request) -> ApiVersion:
    path = request.path
    found = request.version
    if found is None and path.suffix == ".py":
        found = version_of_path(path)
    elif found is None:
        found = next(filter(None, map(version_in, reversed(str(path).split(".")))), None)
    if found is None:
        raise SchemaError(
            str(path),
            "#",
            "no API version: name the module after it, as in v2014_04_04.py or v1beta1.py, or give the "
            "source a version",
        )
    return found
