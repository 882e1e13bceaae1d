"""A session: the classes and objects of one run."""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, get_args

from trundle.engine._assigning import read_static
from trundle.engine._classes import Classes
from trundle.engine._dump import Dump, Form
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._handle import Handle, Handles
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
from trundle.engine._object import Instance
from trundle.engine._repository import Repository
from trundle.engine._sources import Sources
from trundle.engine._type import Type
from trundle.engine._world import World
from trundle.errors import did_you_mean, expectation


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
        lock: Mapping[str, Any] | None,
    ) -> None:
        self._lock = Lock(repository, lock)
        self._classes = Classes(repository, sources, self._lock, limits, self._read_static)
        self._world = World(self._classes, Layouts(sources, configs), limits, functions)
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

    def load(self, model: Mapping[str, Any]) -> Handle | None:
        """Loads a model; where anything in it is wrong, nothing of it.

        Args:
            model: `{"Objects": ..., "Attributes": ..., "ObjectsCopy": ...}`, or one object.

        Returns:
            The root; None for a model that wants no objects.

        Raises:
            EngineError: the model does not fit the classes; `errors` has all that is wrong, up to a limit.
        """
        self._world.check_open()
        if not is_whole(model):
            root: Instance | None = load_object(self._world, model)
        else:
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
        if form not in get_args(Form):
            advice = did_you_mean(str(form), get_args(Form))
            raise ValueError(expectation("a form of a dump", repr(form), advice))
        instance = None if root is None else self._alive(root)
        if whole:
            is_copy_kept = any(not each.is_destroyed for each in self._gone)
            return dump_model(self._world, instance, form, self._copy, is_copy_kept=is_copy_kept)
        if instance is None:
            raise ValueError(expectation("an object to dump", "None"))
        return Dump(self._world, form).tree(instance)

    def finish(self) -> None:
        """Destroys what only the last run had, and all objects that no root leads to; may be repeated."""
        world = self._world
        world.check_open()
        kept = reachable(self._roots)
        for name, each in list(world.objects.items()):
            if each not in kept:
                each.is_destroyed = True
                del world.objects[name]
        self._gone.clear()
        world.attributes = {
            key: value for key, value in world.attributes.items() if key[0] in world.objects
        }

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
