"""A session: the classes and objects of one run."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from trundle.engine._assigning import read_static
from trundle.engine._classes import Classes
from trundle.engine._described import described
from trundle.engine._dump import Dump, Form
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._frozen import frozen
from trundle.engine._handle import Handle, Handles, inside, outside
from trundle.engine._layout import Layouts
from trundle.engine._limits import Limits
from trundle.engine._lock import Lock
from trundle.engine._model import (
    COPY,
    dump_model,
    is_whole,
    load_model,
    load_object,
    reachable,
)
from trundle.engine._object import Instance, Part
from trundle.engine._repository import Repository
from trundle.engine._sources import Sources
from trundle.engine._type import Type
from trundle.engine._world import World
from trundle.engine.effects import EffectChange, Effects
from trundle.engine.running import (
    Calls,
    Found,
    Mocks,
    Routines,
    as_function,
    destroy,
    room_for,
    watch,
)
from trundle.errors import did_you_mean, expectation

_STATIC = ("Static", "Extension")


class Session:
    """Classes and objects that belong together; `Engine.session` opens one. It belongs to one thread at a time.

    Once it is closed, its lock can still be read. All else, and what its handles do, is an error with the code `access`.
    """

    def __init__(
        self,
        repository: Repository,
        sources: Sources,
        limits: Limits,
        configs: Mapping[str, Mapping[str, Any]],
        functions: Mapping[str, Callable[..., Any]],
        routines: Routines,
        effects: Effects,
        lock: Mapping[str, Any] | None,
        *,
        mocks: bool = False,
    ) -> None:
        self._effects = effects
        self._routines = routines
        self._lock = Lock(repository, lock)
        self._classes = Classes(repository, sources, self._lock, limits, self._read_static)
        known: dict[str, Callable[..., Any]] = {}
        self._layouts = Layouts(sources, configs)
        self._world = World(self._classes, self._layouts, limits, known, effects)
        known |= {name: as_function(name, self._world, each) for name, each in functions.items()}
        self._calls = self._world.calls = Calls(
            self._world, routines, Mocks() if mocks else None, watch(effects.hidden)
        )
        self._world.collect = self._collect
        self._roots: list[Instance] = []
        self._gone: list[Instance] = []
        self._copy: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Lets go of all objects; none is destroyed."""
        self._world.close()
        self._roots.clear()
        self._gone.clear()
        self._copy = None

    @property
    def lock(self) -> dict[str, dict[str, str]]:
        """Which version each requirement of the packages in use got, for JSON: `{"app/1.0.0": {"lib": "1.2.0"}}`."""
        return self._lock.to_plain()

    @property
    def objects(self) -> Mapping[str, Handle]:
        """All objects by id; it changes with the session.

        Raises:
            EngineError: the session is closed.
        """
        self._world.check_open()
        return Handles(self._world)

    def type(self, name: str, version: str | None = None, package: str | None = None) -> Type:
        """A class, built if it was not used yet.

        Args:
            name: its full name.
            version: a version or a range, as `classVersion` of a model: one that is gone stands for its nearest kin. The latest
                where None.
            package: its package; may be left out where only one has the class.

        Raises:
            EngineError: there is no such class, or it cannot be built.
        """
        self._world.check_open()
        return self._classes.named(name, version, package)

    def resolve(self, name: str, code: Type) -> Type:
        """The class that a full name means in the code of another class: in the version that its package requires.

        Raises:
            EngineError: neither its package nor one that this requires has such a class, or it cannot be built.
        """
        return self._classes.resolve(code.source, name)

    def accepted(self, name: str, code: Type, spec: str | None = None) -> tuple[Type, ...]:
        """The classes whose objects a contract `class()` takes, in all versions that it takes, the oldest first.

        Args:
            name: the full name in the contract.
            code: the class that has the contract.
            spec: the versions, in place of those that the package of that class requires.

        Raises:
            EngineError: neither its package nor one that this requires has such a class, or one cannot be built.
        """
        owner = self._classes.edge(code.source, name).requirement.name
        wanted = self._world.wanted(code, owner, spec)
        repository = self._classes.repository
        packages = [repository.package(owner, each) for each in repository.versions(owner)]
        return tuple(
            self._classes.built(each, name)
            for each in packages
            if each.version in wanted and name in each.classes
        )

    def compile(self, type_: Type) -> None:
        """Compiles all methods that a class declares itself, each of which is else compiled when it is called first.

        Raises:
            EngineError: the body, a contract or a default of one cannot be read.
        """
        self._world.check_open()
        for name in type_.declaration.methods:
            self._calls.compile(type_, name)

    def load(self, model: Mapping[str, Any]) -> Handle | None:
        """Loads a model and runs `.init` of its objects; where anything in it is wrong, nothing of it is loaded.

        Args:
            model: `{"Objects": ..., "Attributes": ..., "ObjectsCopy": ...}`, or one object.

        Returns:
            The root; None for a model that wants no objects.

        Raises:
            EngineError: the model does not fit the classes; `errors` has all that is wrong, up to a limit.
        """
        self._begin()
        if not is_whole(model):
            with self._running():
                root: Instance | None = load_object(self._world, model)
        else:
            with self._running():
                root, gone = load_model(self._world, model)
            self._gone += gone
            self._copy = model.get(COPY)
        if root is None:
            return None
        self._roots.append(root)
        return Handle(self._world, root)

    def dump(
        self, root: Handle | None, form: Form = "Serializable", *, whole: bool = True
    ) -> dict[str, Any]:
        """Writes objects as a model of plain values, which shares nothing with the session.

        Args:
            root: the root.
            form: `Serializable` has classes as `name/1.2.3@package`, `Mixed` as types, `Inline` as keys before the
                properties.
            whole: whether to write a whole model, with `Attributes` and `ObjectsCopy`; else the object alone, with all that it
                owns.

        Raises:
            EngineError: the object is destroyed.
            ValueError: there is no such form.
        """
        self._world.check_open()
        instance = None if root is None else self._alive(root)
        if whole:
            is_copy_kept = any(not each.is_destroyed for each in self._gone)
            return dump_model(self._world, instance, form, self._copy, is_copy_kept=is_copy_kept)
        if instance is None:
            raise ValueError(expectation("an object to dump", "None"))
        return Dump(self._world, form).tree(instance)

    def call(
        self,
        target: Handle | Type | str,
        method: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        internal: bool = False,
    ) -> Any:
        """Calls a method.

        Args:
            target: an object, its id, or a class for a static method.
            method: its name.
            args: values by position: scalars, lists, dictionaries, handles and types. A map with `?` becomes what the contract
                of the argument makes of it: `class()` makes an object with an id of its own, `template()` and `$` keep a map.
            kwargs: values by name.
            internal: whether to call methods that are not public as well.

        Returns:
            A scalar, list or dictionary, with handles for objects and types for type references; None where nothing is returned. A list that is the key of a map is a tuple.

        Raises:
            EngineError: there is no such method, it is not public, the values do not fit, or what the method throws; `frames`
                has the methods that it passed through. With the code `invalid-target`: the target, or a handle among the
                values, is no object of this session.
        """
        self._begin()
        world = self._world
        receiver = self._receiver(target)
        found = self._found(receiver, method, internal=internal)
        _check_given(receiver, method, args, kwargs)
        try:
            values = [frozen(inside(world, each), world.limits) for each in args]
            named = {
                name: frozen(inside(world, each), world.limits)
                for name, each in (kwargs or {}).items()
            }
        except RecursionError:
            type_ = receiver if isinstance(receiver, Type) else receiver.type
            message = f"an argument of {method} is nested too deeply"
            raise type_.error(EngineCode.LIMIT, message, member=method) from None
        with self._running():
            result = found.call(receiver, values, named)
            try:
                return outside(world, result)
            except EngineError as error:
                at = found.routine.line
                raise found.declaring.error(
                    error.code, error.message, advice=error.advice, member=method, line=at
                ) from None

    def _found(self, receiver: Instance | Part | Type, method: str, *, internal: bool) -> Found:
        """The method that a name means from outside.

        Raises:
            EngineError: there is no such method, or it is not public.
        """
        if isinstance(receiver, Type):
            type_ = receiver
            found = self._calls.find_static(type_, method)
        else:
            type_ = receiver.type
            found = self._calls.find(receiver.instance.type, type_, method)
        if found is None:
            known = [
                each.name
                for each in type_.methods.values()
                if (internal or each.is_public)
                and (not isinstance(receiver, Type) or each.usage in _STATIC)
            ]
            kind = "a static method" if isinstance(receiver, Type) else "a method"
            message = expectation(f"{kind} of {type_.name}", method)
            advice = did_you_mean(method, known)
            raise type_.error(EngineCode.NO_METHOD, message, advice=advice, member=method)
        if not internal and not found.routine.is_public:
            message = f"the method {method} of {found.declaring.name} is not public"
            advice = "declare it with `Scope: Public`"
            raise type_.error(EngineCode.NOT_PUBLIC, message, advice=advice, member=method)
        return found

    def compute(self, target: Type, method: str, values: Mapping[str, Any]) -> Any:
        """Calls a public static method as a pure function.

        The call has a world of its own, of which nothing stays: no objects of this session, no values that static properties were given, no
        functions and providers of the operator. So equal values give equal results.

        Args:
            target: the class.
            method: the static method.
            values: values by the names of arguments, as `call` takes them.

        Returns:
            What `call` returns.

        Raises:
            EngineError: as `call` does; with the code `effect`: the method wants to act on the world, to wait, or to draw a random name.
        """
        self._world.check_open()
        world = World(self._classes, self._layouts, self._world.limits, {}, Effects(), is_pure=True)
        calls = world.calls = Calls(world, self._routines, None, watch(self._effects.hidden))
        kept = self._world, self._calls, self._roots, self._gone
        self._world, self._calls, self._roots, self._gone = world, calls, [], []
        world.collect = self._collect
        try:
            return self.call(target, method, kwargs=values)
        finally:
            self._world, self._calls, self._roots, self._gone = kept
            world.close()

    def finish(self) -> None:
        """Destroys what only the last run had, and after that all objects that no root leads to; may be repeated.

        What a `.destroy` or a handler throws is logged, and stops nothing.

        Raises:
            EngineError: with the code `limit`: they take more steps or time than the limits allow.
        """
        self._begin()
        world = self._world
        gone = [each for each in self._gone if not each.is_destroyed]
        self._gone.clear()
        with self._running():
            destroy(self._calls, gone)
            self._collect()
        world.attributes = {
            key: value for key, value in world.attributes.items() if key[0] in world.objects
        }

    @property
    def changes(self) -> tuple[EffectChange, ...]:
        """What the methods that ran have done to the world, in its order; in a dry run, what they would do."""
        return tuple(self._effects.changes)

    def settle(self) -> None:
        """Removes what earlier runs did to the world and this one no longer wants, in the reverse order in which it was made.

        Call it at the end of a run that wanted all that shall be there, and has succeeded: after `finish`. In a dry run it adds to `changes`.

        Raises:
            EngineError: with the code `effect`: a provider is not there, then nothing is removed; or one fails, then the rest waits
                for the next time.
        """
        self._world.check_open()
        self._effects.settle()

    def _collect(self) -> None:
        """Destroys all objects that no root leads to; while methods run, neither a static property nor one of their variables."""
        running = [*self._calls.variables()]
        if self._world.turns.innermost is not None:
            running += self._world.statics.values()
        kept = reachable([*self._roots, *self._gone, *running])
        destroy(self._calls, [each for each in self._world.objects.values() if each not in kept])

    def _begin(self) -> None:
        self._world.check_open()
        if self._world.turns.innermost is None:  # else a function from outside calls it again
            self._world.begin()

    @contextlib.contextmanager
    def _running(self) -> Iterator[None]:
        """Runs methods: with room for nested calls, and plain values in what is thrown."""
        try:
            with room_for(self._world.limits.calls):
                yield
        except EngineError as error:
            at: EngineError | None = error
            while at is not None:
                at.extra = self._extra(at)
                at = at.cause
            raise

    def _extra(self, thrown: EngineError) -> Any:
        """What was thrown with an error, as code outside of the engine has it.

        Raises:
            EngineError: it is too large; where it was thrown.
        """
        try:
            return outside(self._world, thrown.extra)
        except EngineError as error:
            error.message = f"`Extra` of {thrown.names[0]}: {error.message}"
            error.file, error.line, error.frames = thrown.file, thrown.line, thrown.frames
            error.package, error.version = thrown.package, thrown.version
            error.class_name, error.member = thrown.class_name, thrown.member
            raise error from None

    def _receiver(self, target: Handle | Type | str) -> Instance | Part | Type:
        if isinstance(target, Type):
            return target
        if isinstance(target, str):
            if target not in self._world.objects:
                message = expectation("an object of this session", target)
                advice = did_you_mean(target, list(self._world.objects))
                raise EngineError(EngineCode.NO_OBJECT, message, advice=advice)
            return self._world.objects[target]
        found = inside(self._world, target)
        if not isinstance(found, Instance | Part):
            message = expectation("an object, its id or a class to call", described(target))
            advice = "give a handle of this session, or what `session.type` returns"
            raise EngineError(EngineCode.INVALID_TARGET, message, advice=advice)
        return found

    def _alive(self, handle: Handle) -> Instance:
        instance = handle.instance
        if self._world.objects.get(instance.id) is not instance:
            message = expectation("an object of this session", f"{instance.id}, which is not in it")
            advice = "load it, or use it before `finish`"
            raise EngineError(EngineCode.NO_OBJECT, message, advice=advice)
        return instance

    def _read_static(self, start: Type, name: str) -> Any:
        self._world.check_open()
        return read_static(self._world, start, name)


def _check_given(
    receiver: Instance | Part | Type,
    method: str,
    args: Any,
    kwargs: Any,
) -> None:
    """Makes sure that values are given as a list, and those by name as a map.

    Raises:
        EngineError: they are not.
    """
    type_ = receiver if isinstance(receiver, Type) else receiver.type
    if not isinstance(args, Iterable) or isinstance(args, str | bytes | Mapping):
        expected, found = f"a list of values by position for {method}", described(args)
    elif kwargs is not None and not isinstance(kwargs, Mapping):
        expected, found = f"a map of values by name for {method}", described(kwargs)
    else:
        unnamed = [each for each in kwargs or () if not isinstance(each, str)]
        if not unnamed:
            return
        expected, found = f"a text as the name of each value for {method}", described(unnamed[0])
    raise type_.error(
        EngineCode.NO_MATCH,
        expectation(expected, found),
        advice="give `args` as a list and `kwargs` as a map",
        member=method,
    )
