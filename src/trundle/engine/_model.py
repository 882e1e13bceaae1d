"""Whole models: the objects that are wanted, those of the last run, and what code remembers of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from trundle.engine._dump import Dump, Form
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._frozen import frozen
from trundle.engine._loading import Loading
from trundle.engine._object import Instance, Part
from trundle.engine._world import World
from trundle.errors import expectation, shown

OBJECTS, COPY, ATTRIBUTES, SYSTEM = "Objects", "ObjectsCopy", "Attributes", "SystemData"


class Loaded(NamedTuple):
    """What a model brought into a session.

    Attributes:
        root: its root; None where it wants no objects.
        gone: the objects of the last run that it no longer wants.
    """

    root: Instance | None
    gone: Sequence[Instance]


def is_whole(model: object) -> bool:
    """Whether this is a whole model, rather than one object."""
    return isinstance(model, Mapping) and OBJECTS in model and "?" not in model


def load_model(world: World, model: Mapping[str, Any]) -> Loaded:
    """Loads a whole model, or nothing of it.

    Raises:
        EngineError: the model is not one; the error has all that is wrong, up to a limit.
    """
    for key in model:
        if key not in (OBJECTS, COPY, ATTRIBUTES, SYSTEM):
            raise _wrong(expectation(f"{OBJECTS}, {COPY} and {ATTRIBUTES} in a model", shown(key)))
    wanted = Loading(world)
    root = _root(wanted, model[OBJECTS], OBJECTS)
    wanted.run()
    before = Loading(world, known={})
    _root(before, model.get(COPY), COPY)
    before.run()
    known = {**world.objects, **wanted.made}
    gone = {name: each for name, each in before.made.items() if name not in known}
    attributes = _attributes(model.get(ATTRIBUTES), {**known, **gone})
    before.end()
    for each in gone.values():
        _join(each, known)
    wanted.commit()
    world.add(gone)
    world.attributes.update(attributes)
    return Loaded(root, list(gone.values()))


def load_object(world: World, model: object) -> Instance:
    """Loads one object with all that it owns, or nothing of it."""
    loading = Loading(world)
    root = _root(loading, model, "")
    if root is None:
        raise _wrong(expectation("an object", "nothing"))
    loading.run()
    loading.commit()
    return root


def dump_model(
    world: World, root: Instance | None, form: Form, copy: Any, *, is_copy_kept: bool
) -> dict[str, Any]:
    """A session's objects as a whole model.

    Args:
        world: the session.
        root: the root of what is wanted.
        form: how classes are named.
        copy: the tree of the last run, as it was loaded.
        is_copy_kept: whether objects of the last run still wait to be destroyed, so that their tree has to stay.
    """
    dump = Dump(world, form)
    tree = None if root is None else dump.tree(root)
    again = None if root is None else Dump(world, form).tree(root)
    attributes = [
        [*key, value]
        for key, value in sorted(world.attributes.items(), key=lambda each: each[0])
        if key[0] in dump.written
    ]
    return {OBJECTS: tree, ATTRIBUTES: attributes, COPY: copy if is_copy_kept else again}


def reachable(values: Iterable[Any]) -> set[Instance]:
    """All objects that some values are, have or lead to."""
    found: set[Instance] = set()
    seen: set[int] = set()  # A value may have the same one in it again and again
    left: list[Any] = [tuple(values)]
    while left:
        each = left.pop()
        if isinstance(each, Part):
            each = each.instance
        if isinstance(each, Instance):
            parts: Iterable[Any] = each.values.values()
        elif isinstance(each, Mapping):
            parts = (*each.keys(), *each.values())
        else:
            parts = each
        for value in parts:
            if isinstance(value, Instance | Part):
                if value.instance not in found:
                    found.add(value.instance)
                    left.append(value.instance)
            elif isinstance(value, tuple | Mapping | frozenset) and id(value) not in seen:
                seen.add(id(value))
                left.append(value)
    return found


def _root(loading: Loading, model: object, key: str) -> Instance | None:
    if model is None:
        return None
    if not isinstance(model, Mapping):
        where = f" under {key}" if key else ""
        raise _wrong(expectation(f"an object{where}", shown(model)))
    made = frozen(model, loading.world.limits)
    return loading.root(made, f"$.{key}" if key else "$")


def _attributes(given: object, known: Mapping[str, Instance]) -> dict[tuple[str, str, str], Any]:
    """What code remembers of objects that there are."""
    if given is None:
        return {}
    if not isinstance(given, list | tuple):
        raise _wrong(expectation(f"a list under {ATTRIBUTES}", shown(given)))
    found: dict[tuple[str, str, str], Any] = {}
    for at, each in enumerate(given):
        is_entry = isinstance(each, list | tuple) and len(each) == 4  # noqa: PLR2004 - id, class, name, value
        if not is_entry or not all(isinstance(part, str) for part in each[:3]):
            message = expectation(f"[id, class, name, value] at {ATTRIBUTES}[{at}]", shown(each))
            raise _wrong(message)
        if each[0] in known and each[3] is not None:
            found[each[0], each[1], each[2]] = each[3]
    return found


def _join(instance: Instance, known: Mapping[str, Instance]) -> None:
    """Lets an object of the last run refer to the objects that are wanted, in place of what they were."""
    if instance.holder is not None:
        instance.holder = known.get(instance.holder.id, instance.holder)
    for key, value in instance.values.items():
        instance.values[key] = _joined(value, known)


def _joined(value: Any, known: Mapping[str, Instance]) -> Any:
    if isinstance(value, Instance):
        return known.get(value.id, value)
    if isinstance(value, Part):
        return Part(known.get(value.id, value.instance), value.type)
    if isinstance(value, tuple):
        return tuple([_joined(each, known) for each in value])
    if isinstance(value, Mapping):
        return type(value)({key: _joined(each, known) for key, each in value.items()})  # type: ignore[call-arg]
    return value


def _wrong(message: str) -> EngineError:
    return EngineError(EngineCode.SYNTAX, message, advice="correct the model")
