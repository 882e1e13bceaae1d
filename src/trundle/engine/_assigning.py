"""Assigns properties: who may, and what the value becomes."""

from collections.abc import Mapping
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._frozen import frozen
from trundle.engine._loading import Loading
from trundle.engine._object import PENDING, Instance, check_alive, declaring_class, key_of
from trundle.engine._scene import NotYet, TypeValue
from trundle.engine._stage import Stage
from trundle.engine._type import Type
from trundle.engine._world import World
from trundle.errors import did_you_mean, expectation, shown

_WRITABLE = frozenset({"Out", "InOut", "Runtime", "Config"})


class Assignment(Stage):
    """What contracts see of a value that code assigns: all objects that there are, there are already."""

    loading: Loading

    def load(self, model: Mapping[Any, Any], default: TypeValue, spec: str | None) -> Instance:
        """Loads a map as an object of this one."""
        assert isinstance(default, Type)
        return self.loading.bring(model, self.owner, default, spec, self.member)

    def find(self, identifier: str) -> Instance | None:
        """The object with an id."""
        try:
            return super().find(identifier)
        except NotYet:
            return None


def assign(
    world: World, instance: Instance, start: Type, name: str, value: Any, code: Type
) -> None:
    """Assigns a property of an object, or leaves all as it is.

    Args:
        world: the session.
        instance: the object.
        start: the class where the lookup starts.
        name: the property; one that is not declared is private to the class of the code.
        value: its new value; maps become objects, and texts references, as its contract says.
        code: the class whose code assigns.

    Raises:
        EngineError: the code may not assign it, the value violates a contract, or the name is ambiguous.
    """
    try:
        given = frozen(value, world.limits)
        assign_by_code(world, instance, start, name, given, code, keeps_ids=True)
    except EngineError as error:
        if not error.file:  # It is assigned from outside, and no statement has the place.
            found = start.declaration
            declared = found.properties.get(name)
            error.file, error.line = found.file, declared.line if declared else found.line
        raise


def assign_by_code(
    world: World,
    instance: Instance,
    start: Type,
    name: str,
    given: Any,
    code: Type,
    *,
    keeps_ids: bool = False,
) -> None:
    """Assigns a property in the same way, to a value as `freeze` makes it, whose maps have ids of objects, or ids that only link them."""
    key = (instance.type, start, name, code)
    slot = world.writable.get(key)
    if slot is not None and type(given) in slot.kept and not instance.is_destroyed:
        instance.values[slot.key] = given
        return
    check_alive(instance)
    if not instance.type.descends_from(code):
        message = f"code of {code.name} may not assign {name} of {instance.type.name}"
        raise _refused(code, name, message, "call a method of it")
    declaring = declaring_class(instance.type, start, name)
    if declaring is None:
        instance.values[code, name] = given
        return
    usage = declaring.declaration.properties[name].usage
    if usage == "Static":
        assign_static(world, declaring, name, given)
        return
    if usage not in _WRITABLE and not instance.is_beginning:
        message = f"the property {name} of {declaring.name} has the usage {usage}, which only `.init` may assign"
        advice = "declare it as `Out` or `InOut`"
        raise _refused(code, name, message, advice)
    slot = world.layouts.of(instance.type).by_key[key_of(instance.type, declaring, name)]
    if usage in _WRITABLE:
        world.writable[key] = slot
    loading = Loading(world, is_code=not keeps_ids)
    made = slot.transform(given, Assignment(world, instance, slot.declaring, name, loading))
    for validate, each in slot.validators:
        validate(made, Assignment(world, instance, each, name, loading))
    loading.run()
    loading.commit()
    instance.values[slot.key] = made


def assign_static(world: World, declaring: Type, name: str, value: Any) -> None:
    """Assigns a static property of the class that declares it."""
    slot, loading = world.layouts.static(declaring, name), Loading(world, is_code=True)
    given = frozen(value, world.limits)
    made = slot.transform(given, Assignment(world, declaring, declaring, name, loading))
    loading.run()
    loading.commit()
    world.statics[declaring, name] = made


def read_static(world: World, start: Type, name: str) -> Any:
    """The value of a static property of a class or an ancestor; its default before anything is assigned.

    Raises:
        EngineError: there is no such property, or several are.
    """
    key = (static_declaring(start, name), name)
    if key not in world.statics:
        world.statics[key] = PENDING
        try:
            world.statics[key] = _default_static(world, *key)
        except BaseException:
            del world.statics[key]
            raise
    if world.statics[key] is PENDING:
        message = f"the default of {name} needs itself"
        advice = "give it a default that needs no other"
        raise key[0].error(EngineCode.CIRCULAR, message, advice=advice, member=name)
    return world.statics[key]


def static_declaring(start: Type, name: str) -> Type:
    """The class that declares a static property of a class or an ancestor.

    Raises:
        EngineError: there is no such property, or several are.
    """
    declaring = [
        each for each in start.winners(name) if each.declaration.properties[name].usage == "Static"
    ]
    if not declaring:
        known = [each.name for each in start.properties.values() if each.usage == "Static"]
        message = expectation(f"a static property of {start.name}", shown(name))
        advice = did_you_mean(name, known, "declare it with `Usage: Static`")
        raise start.error(EngineCode.NO_PROPERTY, message, advice=advice, member=name)
    if len(declaring) > 1:
        both = " and ".join(each.label for each in declaring)
        message = expectation(f"one property {name}", f"those of {both}")
        raise start.error(EngineCode.AMBIGUOUS, message, advice="override it", member=name)
    return declaring[0]


def _default_static(world: World, declaring: Type, name: str) -> Any:
    slot, loading = world.layouts.static(declaring, name), Loading(world)
    stage = Stage(world, declaring, declaring, name, loading)
    value = slot.transform(None if slot.default is None else slot.default(stage), stage)
    loading.run()
    loading.commit()
    return value


def _refused(code: Type, name: str, message: str, advice: str) -> EngineError:
    """An error of the code that assigns; the statement that it stands in gives it file and line."""
    return code.error(EngineCode.ACCESS, message, advice=advice, member=name, file="", line=None)
