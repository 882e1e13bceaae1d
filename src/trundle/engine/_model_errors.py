"""What is wrong with a model, collected so that one error names all of it."""

from trundle.engine._errors import EngineError
from trundle.engine._layout import Slot


class ModelErrors:
    """The errors of a model, each with its place and the property that it is about.

    Args:
        most: how many errors end the search for more.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: list[EngineError] = []

    def note(self, error: EngineError, path: str, slot: Slot) -> None:
        """Notes what is wrong with a property; the same once.

        Args:
            error: what is wrong; what it lacks of its place is filled in.
            path: where the object stands in the model.
            slot: the property.

        Raises:
            EngineError: there is too much.
        """
        for each in error.errors:
            if not each.path.startswith("$"):
                each.path = f"{path}.{each.path or slot.name}"
            each.package = each.package or slot.declaring.package
            each.version = each.version or slot.declaring.version
            each.class_name = each.class_name or slot.declaring.name
            each.member = each.member or slot.name
            each.file = each.file or slot.declaring.declaration.file
            each.line = each.line or slot.declaration.line
        known = {(each.path, each.message) for one in self._found for each in one.errors}
        if not {(each.path, each.message) for each in error.errors} <= known:
            self._found.append(error)
        if len(self._found) >= self._most:
            self.raise_all()

    def raise_all(self) -> None:
        """Raises what is wrong.

        Raises:
            EngineError: something is.
        """
        if self._found:
            raise EngineError.of(self._found)
