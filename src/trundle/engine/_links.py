"""Ids in maps that code makes objects of: they link the maps to each other, and the objects get new ones."""

from collections.abc import Mapping
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._header import read_header
from trundle.engine._object import Instance
from trundle.errors import expectation, shown


class Links:
    """What the ids in some maps stand for.

    Attributes:
        names: all of them, also those of maps that are no objects yet.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._made: dict[str, tuple[Mapping[Any, Any], Instance]] = {}

    def expect(self, value: Any) -> None:
        """Notes the ids of the maps in a value: no other object of the session is meant by them."""
        left = [value]
        while left:
            each = left.pop()
            if isinstance(each, Mapping):
                identifier = read_header(each).id
                if identifier is not None:
                    self.names.add(identifier)
                left.extend(each.values())
            elif isinstance(each, tuple | list):
                left.extend(each)

    def get(self, identifier: str) -> Instance | None:
        """The object that an id stands for; None where there is none."""
        found = self._made.get(identifier)
        return None if found is None else found[1]

    def find(self, identifier: str, model: Mapping[Any, Any]) -> Instance | None:
        """The object that was made of an equal map with an id; None for a map that comes first.

        Raises:
            EngineError: one was made of another map with this id.
        """
        found = self._made.get(identifier)
        if found is None:
            return None
        if found[0] == model:
            return found[1]
        message = expectation("each id once", f"{shown(identifier)} for two objects")
        advice = "give the object another id, or refer to the first one by its id"
        raise EngineError(EngineCode.CONFLICT, message, advice=advice)

    def add(self, identifier: str, model: Mapping[Any, Any], made: Instance) -> None:
        """Notes the object that was made of a map."""
        self._made[identifier] = model, made
