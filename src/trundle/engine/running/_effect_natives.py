"""What Python does behind the classes of the bundled `io.trundle`: each object is one effect."""

from abc import ABC, abstractmethod
from typing import Any

from trundle.engine._handle import Handle
from trundle.engine.effects import Plain
from trundle.engine.running._frame import Frame
from trundle.engine.running._natives import with_frame


class _Wanted(ABC):
    """An object that says what shall be there."""

    kind: str

    def __init__(self, this: Handle) -> None:
        self._this = this

    @abstractmethod
    def _wanted(self) -> Plain:
        """What shall be there."""

    @with_frame
    def deploy(self, frame: Frame) -> Any:
        """Sees to it that it is there."""
        frame.world.check_impure(f"{self.kind} effects act on the world")
        return frame.world.effects.want(self.kind, self._wanted(), self._this.get("provider"))

    @with_frame
    def delete(self, frame: Frame) -> bool:
        """Removes it at once."""
        frame.world.check_impure(f"{self.kind} effects act on the world")
        return frame.world.effects.drop(self.kind, self._wanted(), self._this.get("provider"))

    def _given(self, *names: str) -> dict[str, Any]:
        """Properties that are not null."""
        found = {each: self._this.get(each) for each in names}
        return {name: value for name, value in found.items() if value is not None}


class Documents(_Wanted):
    """`io.trundle.Document`."""

    kind = "document"

    def _wanted(self) -> Plain:
        return self._given("name", "content")


class Files(_Wanted):
    """`io.trundle.File`."""

    kind = "file"

    def _wanted(self) -> Plain:
        return self._given("path", "text")


class Processes(_Wanted):
    """`io.trundle.Process`."""

    kind = "process"

    def _wanted(self) -> Plain:
        return self._given("name", "arguments", "input", "codes", "undo")


EFFECT_NATIVES: dict[str, type] = {
    "io.trundle.Document/1": Documents,
    "io.trundle.File/1": Files,
    "io.trundle.Process/1": Processes,
}
"""The Python classes behind those of `io.trundle`."""
