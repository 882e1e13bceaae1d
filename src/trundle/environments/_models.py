"""Models of environments: made, loaded to see what they use, compared."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trundle.catalog import Snapshot
from trundle.engine import HEADER, Engine, EngineError, Handle, Session
from trundle.engine.effects import plain_text
from trundle.environments._records import Lock, Model, Uses
from trundle.packages import Package
from trundle.version import SemVer

APPLICATIONS = "applications"
_ROOT = "io.murano.Environment"
_ACTIONS = "_actions"


class Loaded(NamedTuple):
    """A model that fits the classes.

    Attributes:
        model: the objects, each with the version of its class.
        uses: the packages that they use.
        lock: which versions requirements got.
    """

    model: Model | None
    uses: Uses
    lock: Lock


def new_model(name: str, identifier: str) -> Model:
    """The model of an environment without applications."""
    return {HEADER: {"type": _ROOT, "id": identifier}, "name": name, APPLICATIONS: []}


def loaded(engine: Engine, snapshot: Snapshot, model: Mapping[str, Any], lock: Lock) -> Loaded:
    """Loads a model without any effect; gives it as the engine writes it.

    Args:
        engine: the engine.
        snapshot: the packages of the engine that a catalog has.
        model: a whole model.
        lock: the versions that requirements got before.

    Raises:
        EngineError: it does not fit the classes.
    """
    with engine.session(lock, dry_run=True) as session:
        root = session.load(model)
        found = None if root is None else dumped(session, root)["Objects"]
        return Loaded(found, *used(session, snapshot))


def dumped(session: Session, root: Handle | None) -> dict[str, Any]:
    """What is kept of a run: its objects, and what code remembers of them."""
    whole = session.dump(root)
    return {"Objects": _without_actions(whole["Objects"]), "Attributes": whole["Attributes"]}


def used(session: Session, snapshot: Snapshot) -> tuple[Uses, Lock]:
    """The versions that the objects of a session use, of their classes and of what these require; and the rows of the lock with them."""
    lock = session.lock
    types = {one for each in session.objects.values() for one in (each.type, *each.type.ancestors)}
    found = {(each.package, str(each.version)) for each in types}
    left = list(found)
    while left:
        name, version = left.pop()
        for each in lock.get(f"{name}/{version}", {}).items():
            if each not in found:
                found.add(each)
                left.append(each)
    labels = {f"{name}/{version}" for name, version in found}
    kept = {key: row for key, row in lock.items() if key.partition(" ")[0] in labels}
    known = (x for x in found if SemVer.parse(x[1]) in snapshot.versions(x[0]))
    return tuple(sorted(known)), kept


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


def _without_actions(model: Any) -> Any:
    """A dump without what it says of methods, which follows from the classes."""
    for each in objects_in(model):
        each[HEADER].pop(_ACTIONS, None)
    return model


def handle_of(session: Session, named: str) -> Handle | None:
    """The object with an id, or the only one of that name; None where there is none."""
    if named in session.objects:
        return session.objects[named]
    found = [each for each in session.objects.values() if each.name == named]
    return found[0] if len(found) == 1 else None


def plain_value(session: Session, value: Any) -> Any:
    """What a method returned, as plain values: objects as their models, classes as their labels."""
    if isinstance(value, Handle):
        try:
            return _without_actions(session.dump(value, whole=False))
        except EngineError:
            return value.id
    if isinstance(value, list):
        return [plain_value(session, each) for each in value]
    if isinstance(value, dict):
        return {str(plain_value(session, x)): plain_value(session, y) for x, y in value.items()}
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
