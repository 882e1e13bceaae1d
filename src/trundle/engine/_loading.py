"""Loads models: makes an object of each map that a contract takes for one, and computes its properties.

An object stands in the session's table before its properties have values, so that others can refer to it. Its properties are
computed from a list of what is left to do, not by recursion; a contract or a default that reads a property of an object that is still
loading has it computed on the spot. A reference to an object that no map has been taken for yet is tried again when there is nothing else to do.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._frozen import frozen
from trundle.engine._header import Header, plain_header, read_header
from trundle.engine._layout import ABSENT, Layout, Slot
from trundle.engine._links import Links
from trundle.engine._model_errors import ModelErrors
from trundle.engine._object import PENDING, Instance, Key
from trundle.engine._places import Places
from trundle.engine._scene import NotYet, NotYetHere
from trundle.engine._stage import Stage
from trundle.engine._type import Type
from trundle.engine._world import World
from trundle.errors import expectation, shown

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Loading:
    """One model that is being loaded. Nothing of it is in the session before `commit`.

    Attributes:
        world: the session.
        made: the objects of the model by id.
        links: the ids in the maps, where they only link these; None where they are those of the objects.
        excluded: properties that are left alone, by object.
    """

    def __init__(
        self,
        world: World,
        around: "Loading | None" = None,
        known: Mapping[str, Instance] | None = None,
        *,
        is_code: bool = False,
        has_defaults: bool = True,
    ) -> None:
        """Begins to load.

        Args:
            world: the session.
            around: for a map that is loaded on trial, the model that it stands in.
            known: the objects that there are; those of the session where None.
            is_code: whether code brings the objects: they get new ids, and those in their maps only link them.
            has_defaults: whether what a map lacks gets its default.
        """
        self.world = world
        self.links = Links() if is_code else None
        self._known = world.objects if known is None else known
        self.made: dict[str, Instance] = {}
        self.excluded: dict[Instance, frozenset[str]] = {}
        self._around = around
        self._left: list[Instance] = []
        self._unset: list[Instance] = []
        self._models: dict[Instance, tuple[Mapping[str, Any], Layout]] = {}
        self._taken: dict[int, tuple[Mapping[Any, Any], Instance]] = {}
        self._waiting: list[tuple[Instance, Slot]] = []
        self._given: dict[tuple[Instance, Key], Any] = {}
        self._errors = ModelErrors(world.limits.errors)
        self._roots: list[tuple[str, Any]] = []
        self._places: Places | None = None
        self._is_running = False
        self._is_last_try = False
        self._has_defaults = has_defaults
        self._depth = 0
        self._classes: dict[tuple[str, str | None, str | None], tuple[Type, Layout]] = {}
        self._room = world.limits.objects - len(world.objects)
        self._complete = self.complete

    def root(self, model: Mapping[Any, Any], path: str) -> Instance:
        """Begins with an object that nothing owns.

        Args:
            model: its map, as `frozen` makes it.
            path: where it stands, for messages.

        Raises:
            EngineError: the map does not say of which class it is, or not of one that there is.
        """
        self._roots.append((path, model))
        try:
            return self.start(model, None, None, None)
        except EngineError as error:
            error.path = error.path or path
            raise

    def start(
        self,
        model: Mapping[Any, Any],
        owner: Instance | None,
        default: Type | None,
        spec: str | None,
        member: str = "",
    ) -> Instance:
        """The object that a map stands for; its properties are computed later.

        Args:
            model: the map.
            owner: the object that owns it.
            default: its class where the map has no type.
            spec: a version spec for that class.
            member: the property of the owner that it stands in.

        Raises:
            EngineError: there is no such class, its id is taken, or there are too many objects.
        """
        taken = self._taken.get(id(model))
        if taken is not None:
            return taken[1]
        plain = plain_header(model)
        if plain is None:
            header = read_header(model)
            name, kept, properties = header.name, header.kept, header.properties
            type_, layout = self._class_of(header, default, spec)
            identifier = header.id
        else:
            given = plain.get
            head = plain["type"], given("classVersion"), given("package")
            known = self._classes.get(head)
            if known is None:
                known = self._classes[head] = self._class_of(read_header(model), default, spec)
            type_, layout = known
            name, kept, properties = given("name"), _NOTHING, model
            identifier = given("id")
        link, links = identifier, self.links
        if links is not None and link is not None:
            linked = links.find(link, model)
            if linked is not None:
                return linked
            identifier = None
        if identifier is None:
            identifier = self.world.new_id()
        if identifier in self.made or identifier in self._known or len(self.made) >= self._room:
            self._check_room(identifier)
        made = Instance(identifier, type_, owner, name, kept, member)
        made.complete = self._complete
        self.made[identifier] = made
        if links is not None and link is not None:
            links.add(link, model, made)
        self._taken[id(model)] = (model, made)
        self._models[made] = (properties, layout)
        self._left.append(made)
        if member and owner in self.excluded:
            prefix = f"{member}."
            names = (each for each in self.excluded[owner] if each.startswith(prefix))
            self.excluded[made] = frozenset(each.removeprefix(prefix) for each in names)
        return made

    def bring(
        self,
        model: Mapping[Any, Any],
        owner: Instance | None,
        default: Type | None,
        spec: str | None,
        member: str = "",
    ) -> Instance:
        """The object that a map stands for which code has, perhaps at several places: each is an object of its own.

        Raises:
            EngineError: as `start` does.
        """
        copy = frozen(model, self.world.limits)
        if self.links is not None:
            self.links.expect(copy)
        return self.start(copy, owner, default, spec, member)

    def _class_of(
        self, header: Header, default: Type | None, spec: str | None
    ) -> tuple[Type, Layout]:
        """The class of an object, with the layout of its objects."""
        if type(header.type) is str:
            return self.world.named(header.type, header.spec, header.package)
        if isinstance(header.type, Type):
            return self.world.fitting(header.type, header.spec)
        if default is not None:
            return self.world.fitting(default, header.spec or spec)
        message = expectation("an object with its class under `?`", "none")
        raise EngineError(EngineCode.SYNTAX, message, advice="add `?: {type: NAME}`")

    def find(self, identifier: str) -> Instance | None:
        """The object with an id; None where there is none.

        Raises:
            NotYet: it may still come.
        """
        found = self.made.get(identifier)
        if found is None and self.links is not None:
            found = self.links.get(identifier)
            is_expected = found is None and identifier in self.links.names
            if is_expected and self._is_running and not self._is_last_try:
                raise self.not_yet()
        found = found or self._known.get(identifier)
        if found is not None:
            return found
        if self._is_running and not self._is_last_try:
            raise self.not_yet()
        return None if self._around is None else self._around.find(identifier)

    def not_yet(self) -> NotYet:
        """What ends an attempt; of a property that another one needs, all of it, so that a row of them is tried once."""
        return NotYet() if self._depth else NotYetHere()

    def on_trial(
        self,
        model: Mapping[Any, Any],
        default: Type,
        excluded: frozenset[str],
        member: str,
        *,
        is_made: bool,
    ) -> Instance:
        """An object that stays no part of the session.

        Args:
            model: its map.
            default: its class where the map has no type.
            excluded: properties that are left alone.
            member: where the map stands, for messages.
            is_made: whether a contract made the map, so that what it lacks gets no default.

        Raises:
            EngineError: it cannot be loaded.
        """
        trial = Loading(self.world, self, has_defaults=not is_made)
        try:
            found = trial.start(model, None, default, None)
            trial.excluded[found] = excluded
            trial.run()
        except EngineError as error:
            for each in error.errors:
                each.path = each.path.replace("$", member, 1) or member
            raise
        return found

    def run(self) -> None:
        """Computes all properties.

        Raises:
            EngineError: what is wrong with the model; all of it, up to a limit.
        """
        self._is_running = True
        self._fill_all()
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            before = len(self.made)
            for instance, slot in reversed(waiting):
                if slot.key not in instance.values:
                    self._attempt(instance, slot, self._models[instance][0])
            self._fill_all()
            if len(self._waiting) == len(waiting) and len(self.made) == before:
                if self._is_last_try:
                    break
                self._is_last_try = True
        self._errors.raise_all()
        if self._waiting and self._around is not None:
            raise self._around.not_yet()

    def commit(self) -> None:
        """Adds the objects to the session, and runs their `.init`.

        Raises:
            EngineError: one of them fails; none of the objects is in the session then.
        """
        self.world.add(self.made)
        self.end()
        try:
            self.world.calls.begin(self.made.values())
        except BaseException:
            self.world.remove(self.made)
            raise

    def end(self) -> None:
        """Lets go of the model."""
        for each in self.made.values():
            each.complete = None
        self._models.clear()
        self._taken.clear()

    def complete(self, instance: Instance, key: Key) -> None:
        """Computes a property before its turn, because another one needs it."""
        if instance not in self._models:
            return
        slot = self._models[instance][1].by_key.get(key)
        if slot is None or slot.name in self._models[instance][1].arguments:
            return
        if self._depth >= self.world.limits.waiting:
            if not self._is_last_try:
                raise NotYet  # Others of the row have their turn first
            most = f"at most {self.world.limits.waiting} properties that need each other in a row"
            message = expectation(most, "more")
            raise slot.declaring.error(EngineCode.LIMIT, message, member=slot.name)
        self._depth += 1
        is_waiting = False
        try:
            self._set(instance, slot, self._models[instance][0])
        except NotYet:
            is_waiting = True
        finally:
            self._depth -= 1
        if is_waiting:
            raise self.not_yet()

    def _check_room(self, identifier: str) -> None:
        if identifier in self.made or (self._around is None and identifier in self._known):
            message = expectation("each id once", f"{shown(identifier)} a second time")
            advice = "give the object another id, or refer to the first one by its id"
            if identifier not in self.made:
                message += ", as the session has it already"
                advice = (
                    "open another session to load the model again, or give the object another id"
                )
            raise EngineError(EngineCode.CONFLICT, message, advice=advice)
        if len(self.made) + len(self.world.objects) >= self.world.limits.objects:
            message = expectation(
                f"at most {self.world.limits.objects} objects in a session", "more"
            )
            raise EngineError(EngineCode.LIMIT, message, advice="split the model")

    def _fill_all(self) -> None:
        """Computes what the model gives, of all objects, and after that the defaults, of the last object first.

        So most defaults find what they need of an owned object, however deep the model is.
        """
        while self._left or self._unset:
            is_given = bool(self._left)
            instance = self._left.pop() if is_given else self._unset.pop()
            model, layout = self._models[instance]
            excluded = self.excluded.get(instance, ())
            values = instance.values
            has_more = False
            for key, name, slot in layout.loaded:
                if key in values or (excluded and name in excluded):
                    continue
                if slot.in_model and name in model:
                    if is_given:
                        value = model[name]
                        kind = type(value)
                        if kind in slot.kept or (kind in slot.glanced and slot.keeps(value)):
                            values[key] = value
                        elif not self._take(instance, slot, value, kind):
                            self._attempt(instance, slot, model)
                elif not self._has_defaults:
                    continue
                elif slot.standing is not ABSENT:
                    values[key] = slot.standing
                elif is_given:
                    has_more = True
                else:
                    self._attempt(instance, slot, model)
            if has_more:
                self._unset.append(instance)
            if is_given and layout.arguments:
                given = layout.arguments & model.keys()
                instance.arguments = {name: model[name] for name in given}

    def _take(self, instance: Instance, slot: Slot, value: Any, kind: type) -> bool:
        """Sets a property to an object, or a list of objects, that its contract takes as it is; whether that is so at a glance."""
        is_list = kind is tuple
        name = slot.taken_items if is_list else slot.taken_class
        if name is None:
            return False
        wanted = self.world.resolved.get((slot.declaring, name))
        if wanted is None:
            try:
                wanted = Stage(self.world, instance, slot.declaring, slot.name, self).resolve(name)
            except EngineError:
                return False  # The contract says where
        if not is_list:
            found = self._taken_as_it_is(instance, slot, value, wanted)
            if found is None:
                return False
            instance.values[slot.key] = found
            return True
        items = []
        for each in value:
            found = self._taken_as_it_is(instance, slot, each, wanted)
            if found is None:
                return False  # The contract finds those again that there are by now
            items.append(found)
        instance.values[slot.key] = tuple(items)
        return True

    def _taken_as_it_is(
        self, instance: Instance, slot: Slot, value: Any, wanted: Type
    ) -> Instance | None:
        if type(value) is dict:
            try:
                found: Instance | None = self.start(value, instance, wanted, None, slot.name)
            except EngineError:
                return None  # The contract says where
        elif type(value) is str:
            found = self.made.get(value)
        else:
            return None
        if found is None:
            return None
        is_right = self.world.accepted.get((slot.declaring, found.type, wanted, None))
        if is_right is None:
            is_right = Stage(self.world, instance, slot.declaring, slot.name, self).is_instance(
                found, wanted
            )
        return found if is_right else None

    def _attempt(self, instance: Instance, slot: Slot, model: Mapping[str, Any]) -> None:
        try:
            self._set(instance, slot, model)
        except NotYet:
            self._waiting.append((instance, slot))
        except EngineError as error:
            self._errors.note(error, self._path(instance), slot)

    def _set(self, instance: Instance, slot: Slot, model: Mapping[str, Any]) -> None:
        """Computes a property."""
        values, key = instance.values, slot.key
        values[key] = PENDING
        try:
            stage = Stage(self.world, instance, slot.declaring, slot.name, self)
            if slot.in_model and slot.name in model:
                value = slot.transform(model[slot.name], stage)
            elif slot.declaration.usage == "Runtime":
                value = self._runtime_value(instance, slot, stage)
            else:
                value = slot.transform(self._default(instance, slot, stage), stage)
            for validate, declaring in slot.validators:
                validate(value, Stage(self.world, instance, declaring, slot.name, self))
        except RecursionError:
            del values[key]
            message = f"the value of {slot.name} is nested too deeply"
            raise slot.declaring.error(EngineCode.LIMIT, message, member=slot.name) from None
        except BaseException:
            del values[key]
            raise
        if value is ABSENT:
            del values[key]
        else:
            values[key] = value

    def _default(self, instance: Instance, slot: Slot, stage: Stage) -> Any:
        """What the default yields; the same each time it is tried."""
        if slot.default is None:
            return None
        key = (instance, slot.key)
        if key not in self._given:
            value = slot.default(stage)
            if isinstance(value, tuple | Mapping):
                value = frozen(value, self.world.limits)  # Each map of it is an object of its own
            self._given[key] = value
        return self._given[key]

    def _runtime_value(self, instance: Instance, slot: Slot, stage: Stage) -> Any:
        """The default of a property that no model gives; none where it does not satisfy the contract."""
        if slot.default is None:
            return ABSENT
        value = self._default(instance, slot, stage)
        try:
            return slot.transform(value, stage)
        except EngineError as error:
            if error.code == EngineCode.CONTRACT:
                return ABSENT
            raise

    def _path(self, instance: Instance) -> str:
        """Where an object stands in the model; for one that no map of it stands for, where its owner does."""
        if self._places is None:
            self._places = Places(self._roots)
        at: Instance | None = instance
        while at is not None and at in self._models:
            path = self._places.path(self._models[at][0])
            if path:
                return path
            at = at.holder
        return "$"
