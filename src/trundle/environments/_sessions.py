"""Models of environments in sessions of the engine: loaded to see what they use, and written again."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from trundle.catalog import Snapshot
from trundle.engine import HEADER, Engine, EngineError, Handle, Limits, Session
from trundle.environments._models import objects_in
from trundle.environments._records import Lock, Model, Uses
from trundle.version import SemVer

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


def loaded_once(
    snapshot: Snapshot, limits: Limits | None, model: Mapping[str, Any], lock: Lock
) -> Loaded:
    """Loads a model as `loaded` does, in an engine for that alone."""
    return loaded(Engine(snapshot, limits=limits), snapshot, model, lock)


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


def _without_actions(model: Any) -> Any:
    """A dump without what it says of methods, which follows from the classes."""
    for each in objects_in(model):
        each[HEADER].pop(_ACTIONS, None)
    return model


def handles_of(session: Session, named: str) -> list[Handle]:
    """The object with an id, or those of that name."""
    if named in session.objects:
        return [session.objects[named]]
    return [each for each in session.objects.values() if each.name == named]


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
