"""What the body of a method sees while it runs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from trundle.engine._errors import EngineError
from trundle.engine._errors import Frame as FrameEntry
from trundle.engine._loading import Loading
from trundle.engine._object import Instance
from trundle.engine._scene import Scene, TypeValue
from trundle.engine._stage import Code
from trundle.engine._type import Type

_NO_VARIABLES: Mapping[str, Any] = MappingProxyType({})


class Frame(Code):
    """One call of a method.

    Attributes:
        caller: the code that calls it; None where it is called from outside.
        variables: the variables of its body.
        outer: the call that it is nested in; None for none.
        depth: how many calls are nested, with it.
        loading: the objects that its arguments bring as maps; None where they bring none.
        handled: the errors that `Catch` blocks around are handling, the innermost last.
    """

    caller: Scene | None = None
    variables: Mapping[str, Any] = _NO_VARIABLES
    outer: "Frame | None" = None
    depth: int = 1
    loading: Loading | None = None
    handled: tuple[EngineError, ...] = ()

    @property
    def owner(self) -> Instance | None:
        """None: what an argument brings has no owner yet."""
        return None

    def model(self) -> Loading:
        """The objects that arguments bring as maps."""
        if self.loading is None:
            self.loading = Loading(self.world, is_code=True)
        return self.loading

    def load(self, model: Mapping[Any, Any], default: TypeValue, spec: str | None) -> Instance:
        """Loads a map as an object."""
        assert isinstance(default, Type)
        return self.model().bring(model, None, default, spec)

    def find(self, identifier: str) -> Instance | None:
        """The object with an id; in code that a loading model calls, also one that the model has.

        Raises:
            NotYet: a model that is still loading may have it elsewhere.
        """
        found = None
        if self.loading is not None and self.loading.links is not None:
            found = self.loading.links.get(identifier)
        found = found or self.world.objects.get(identifier)
        if found is None and isinstance(self.caller, Code):
            return self.caller.find(identifier)
        return found

    def settle(self) -> None:
        """Adds to the session what arguments brought.

        Raises:
            EngineError: an object is not in order.
        """
        if self.loading is not None:
            loading, self.loading = self.loading, None
            loading.run()
            loading.commit()

    def entry(self, line: int | None) -> FrameEntry:
        """Where the method is, for an error that passes through it."""
        origin = self.origin
        return FrameEntry(
            origin.package,
            origin.version,
            origin.name,
            self.member,
            origin.declaration.file,
            line,
        )
