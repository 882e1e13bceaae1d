"""What a session holds: its classes, its objects, and what belongs to neither of them alone."""

import itertools
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from trundle.engine._classes import Classes, parse_range
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._layout import Layout, Layouts, Slot
from trundle.engine._limits import Limits
from trundle.engine._subscriptions import Subscriptions
from trundle.engine._turns import Turns
from trundle.engine._type import Type
from trundle.engine.effects import Effects
from trundle.errors import expectation
from trundle.version import VersionRange

if TYPE_CHECKING:
    from trundle.engine._object import Instance
    from trundle.engine._scene import Callee, Scene, TypeValue


_PORTION = 1000
"""After so many steps, at most, the time is looked at; after fewer, where they take long."""
_LONG = 0.05
"""How many seconds may go by before the time is looked at again, unless one step takes longer."""


class Calls(Protocol):
    """What runs the methods of a session."""

    def method(self, receiver: Any, name: str, scene: "Scene") -> "Callee | None":
        """The method of a value, as the code of a scene sees it; None where there is none."""

    def builtin(self, name: str) -> Callable[..., Any]:
        """A function of the engine, which takes the scene and values."""

    def mock(self, type_: Type, name: str, replacement: Callable[..., Any], holding: Any) -> None:
        """Replaces a method of a class until the session ends.

        Raises:
            EngineError: it cannot be replaced.
        """

    def begin(self, made: "Iterable[Instance]") -> None:
        """Runs `.init` of objects whose properties are all set.

        Raises:
            EngineError: one fails.
        """


class World:
    """The state of a session.

    Attributes:
        classes: its classes.
        layouts: what their objects are made of.
        limits: how much a model may ask for.
        functions: functions of the operator, by name.
        calls: what runs methods; set by the session.
        effects: what the run does to the world.
        turns: the branches of what runs.
        steps: how many steps may be taken before `more` is asked.
        doomed: the objects that are being destroyed.
        collect: destroys all objects that no root leads to; set by the session.
        objects: its objects by id; `add` puts some in.
        subscriptions: which of its objects are to say when they are destroyed, and to whom.
        statics: values of static properties, by the class that declares them.
        attributes: what code remembers of objects, by object id, class name and name.
        resolved: what names mean in the code of classes.
        is_closed: whether the session has ended, so that nothing can be done with it any more.
        is_pure: whether all that runs in it only computes, and comes to the same each time.
        writable: the properties that code has assigned, by the object's class, the one where the lookup starts, the name, and the code's class.
        accepted: whether the code of a class takes objects of one class as those of another, with a version spec.
    """

    def __init__(
        self,
        classes: Classes,
        layouts: Layouts,
        limits: Limits,
        functions: Mapping[str, Callable[..., Any]],
        effects: Effects,
        *,
        is_pure: bool = False,
    ) -> None:
        self.classes = classes
        self.layouts = layouts
        self.limits = limits
        self.is_pure = is_pure
        self.functions = functions
        self.effects = effects
        self.calls: Calls
        self.collect: Callable[[], None]
        self.turns = Turns()
        self.steps = 0
        self.begin()
        self._numbers = itertools.count(1)
        self.doomed: frozenset[Instance] = frozenset()
        self.is_closed = False
        self.objects: dict[str, Instance] = {}
        self.subscriptions = Subscriptions()
        self.statics: dict[tuple[Type, str], Any] = {}
        self.attributes: dict[tuple[str, str, str], Any] = {}
        self.resolved: dict[tuple[Type, str], Type] = {}
        self.writable: dict[tuple[Type, Type, str, Type], Slot] = {}
        self.accepted: dict[tuple[Type, TypeValue, TypeValue, str | None], bool] = {}
        self._named: dict[tuple[str, str | None, str | None], tuple[Type, Layout]] = {}
        self._layouts: dict[Type, tuple[Type, Layout]] = {}
        self._ranges: dict[tuple[str, Any], VersionRange] = {}

    def begin(self) -> None:
        """Counts steps and time from here on."""
        self._left = self.limits.steps
        self._looked = time.monotonic()
        self._until = self._looked + self.limits.seconds
        self._size = self.steps = 0
        self._portion()

    def add(self, made: "Mapping[str, Instance]") -> None:
        """Puts objects into the session, by their ids."""
        self.objects.update(made)
        self.subscriptions.note(made.values())

    def remove(self, made: "Mapping[str, Instance]") -> None:
        """Takes objects out of the session again that came into it with `add`."""
        for name, each in made.items():
            self.objects.pop(name, None)
            self.subscriptions.forget(each)

    def more(self) -> None:
        """Lets a run go on whose steps are used up; the clock is asked here alone, so that steps cost little.

        Raises:
            EngineError: it has taken all that it may, or too long.
        """
        if self._left + self.steps < 0:
            message = f"the run takes more than {self.limits.steps} steps"
            advice = "end a loop that does not end, or raise `steps` in the limits of the engine"
            raise EngineError(EngineCode.LIMIT, message, advice=advice)
        if not self.seconds_left():
            message = f"the run takes more than {self.limits.seconds:g} seconds"
            advice = "let it do less at once, or allow more time: `seconds` of `Limits`, `--time-limit` of commands"
            raise EngineError(EngineCode.LIMIT, message, advice=advice)
        self._portion()

    @property
    def is_used_up(self) -> bool:
        """Whether a run has no steps or no time left."""
        return self._left + self.steps < 0 or not self.seconds_left()

    def new_id(self) -> str:
        """An id for an object that has none; where all comes to the same each time, the ids do, too."""
        return f"{next(self._numbers):032x}" if self.is_pure else uuid.uuid4().hex

    def check_impure(self, what: str) -> None:
        """Makes sure that code may do what does not come to the same each time.

        Args:
            what: what the code wants to do.

        Raises:
            EngineError: it may only compute.
        """
        if self.is_pure:
            message = f"{what}, where code only computes"
            raise EngineError(EngineCode.EFFECT, message, advice="leave it out")

    def seconds_left(self) -> float:
        """How long the run may still take."""
        return max(self._until - time.monotonic(), 0)

    def _portion(self) -> None:
        """Moves some of the steps that are left to those that may be taken."""
        now = time.monotonic()
        is_quick = now - self._looked < _LONG
        self._size = min(2 * self._size + 1, _PORTION) if is_quick else self._size // 8
        self._looked = now
        self._left += self.steps
        self.steps = min(self._left, self._size)
        self._left -= self.steps

    def close(self) -> None:
        """Lets go of everything; no object is destroyed."""
        self.is_closed = True
        self.turns.close()
        self.objects.clear()
        self.attributes.clear()
        self.statics.clear()

    def check_open(self) -> None:
        """Makes sure that the session has not ended.

        Raises:
            EngineError: it has.
        """
        if self.is_closed:
            advice = "use it within its `with` statement, or open another session"
            raise EngineError(EngineCode.ACCESS, "the session is closed", advice=advice)

    def named(self, name: str, spec: str | None, package: str | None) -> tuple[Type, Layout]:
        """The class that a model means, with the layout of its objects."""
        key = (name, spec, package)
        found = self._named.get(key)
        if found is None:
            type_ = self.classes.named(name, spec, package)
            found = self._named[key] = (type_, self.layouts.of(type_))
        return found

    def fitting(self, type_: Type, spec: str | None) -> tuple[Type, Layout]:
        """A class with its layout, in the newest version that a version spec takes where one is given."""
        if spec is not None:
            version = self.classes.repository.choose(type_.package, parse_range(spec))
            if version is None:
                message = expectation(
                    f"{type_.name} in version {spec}", f"no such version of {type_.package}"
                )
                raise type_.error(EngineCode.NO_CLASS, message, advice="correct the version")
            source = self.classes.repository.package(type_.package, version)
            if type_.name not in source.classes:
                message = expectation(f"{type_.name} in {source.name} {version}", "no such class")
                raise type_.error(EngineCode.NO_CLASS, message, advice="correct the version")
            type_ = self.classes.built(source, type_.name)
        found = self._layouts.get(type_)
        if found is None:
            found = self._layouts[type_] = (type_, self.layouts.of(type_))
        return found

    def wanted(self, code: Type, name: str, spec: str | None) -> VersionRange:
        """The versions of a package that the code of a class takes; a version spec replaces its requirement."""
        key = (name, spec if spec is not None else code)
        found = self._ranges.get(key)
        if found is None:
            found = self.classes.required(code.source, name) if spec is None else parse_range(spec)
            self._ranges[key] = found
        return found
