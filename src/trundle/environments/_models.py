"""Models of environments as plain values: made, looked through, compared."""

from collections.abc import Iterator
from typing import Any

from trundle.engine import HEADER
from trundle.engine.effects import plain_text
from trundle.environments._records import Model
from trundle.errors import did_you_mean, expectation, shown
from trundle.packages import Package

APPLICATIONS = "applications"
_ROOT = "io.murano.Environment"


def new_model(name: str, identifier: str) -> Model:
    """The model of an environment without applications."""
    return {HEADER: {"type": _ROOT, "id": identifier}, "name": name, APPLICATIONS: []}


def pinned(model: Any, package: Package) -> Any:
    """A model whose objects of a package have its version, where they name none."""
    if isinstance(model, list):
        return [pinned(each, package) for each in model]
    if not isinstance(model, dict):
        return model
    found = {key: pinned(each, package) for key, each in model.items() if key != HEADER}
    header = model.get(HEADER)
    if isinstance(header, dict) and header.get("type") in package.classes:
        header = {"classVersion": str(package.version), "package": package.name, **header}
    return {HEADER: header, **found} if HEADER in model else found


def objects_in(model: Any) -> Iterator[Model]:
    """All objects of a model, each before those within it."""
    left = [model]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            if isinstance(each.get(HEADER), dict):
                yield each
            left += reversed([value for key, value in each.items() if key != HEADER])
        elif isinstance(each, list):
            left += reversed(each)


def label_of(model: Model) -> tuple[str, str, str]:
    """The class of an object in a stored model, its version, and its package."""
    name, _, rest = model[HEADER]["type"].partition("/")
    version, _, package = rest.partition("@")
    return name, version, package


def left_out(given: Any, loaded: Any, place: str = "$") -> Iterator[str]:
    """What no property takes of a model as a person wrote it: for each of these, where it stands, and what could be meant.

    Args:
        given: the model.
        loaded: the same model, with the properties that its classes have.
        place: where it stands.
    """
    if isinstance(given, list) and isinstance(loaded, list):
        for number, (each, other) in enumerate(zip(given, loaded, strict=False)):
            yield from left_out(each, other, f"{place}[{number}]")
    if not isinstance(given, dict) or not isinstance(loaded, dict):
        return
    for key, value in given.items():
        if key in loaded:
            yield from left_out(value, loaded[key], f"{place}.{key}")
        elif HEADER in loaded:
            name, version, _ = label_of(loaded)
            known = [each for each in loaded if each != HEADER]
            near = did_you_mean(str(key), known, "remove it")
            wanted = f"a property that models of {name} {version} have"
            yield f"{place}.{key}: {expectation(wanted, shown(key) + ', which is left out', near)}"


def differences(before: Model | None, after: Model | None) -> list[str]:
    """What became of the objects of a model: `web changed`; of the root, only where both have one."""
    old, new = _flat(before), _flat(after)
    if before is None and after is not None:
        del new[str(after[HEADER]["id"])]
    made = [f"{new[key][0]} added" for key in new if key not in old]
    changed = [f"{new[x][0]} changed" for x in new if x in old and old[x] != new[x]]
    gone = [f"{old[key][0]} removed" for key in old if key not in new]
    return [*made, *changed, *gone]


def _flat(model: Model | None) -> dict[str, tuple[str, str]]:
    """By id, what an object is called and what it has, without what it owns; the applications of the root are left out."""
    found = {}
    for each in objects_in(model):
        header = each[HEADER]
        identifier = str(header.get("id"))
        left_out = {HEADER, APPLICATIONS} if each is model else {HEADER}
        own = {key: _references(value) for key, value in each.items() if key not in left_out}
        text = plain_text([header.get("type"), header.get("name"), own])
        found[identifier] = header.get("name") or identifier, text
    return found


def _references(value: Any) -> Any:
    if isinstance(value, list):
        return [_references(each) for each in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get(HEADER), dict):
        return value[HEADER].get("id")
    return {key: _references(each) for key, each in value.items()}
