"""What required properties show where nothing provides them: a whole object shows a value, a partial one nothing.

An API object is partial where it, or an object within it, lacks what its own version requires. Kubernetes hands
such objects to conversion webhooks, to convert what one manager owns.
"""

from contextvars import ContextVar
from typing import Any, TypeVar

from trundle.runtime._objects import ABSENT, GeneratedObject, all_missing

Shown = TypeVar("Shown")
"""The type of what is shown."""


class Converting:
    """An API object that is being converted to another version without a store, as long as the context is open.

    Whether it is partial is found out when a value is to be shown for the first time, and only then.
    """

    __slots__ = ("_before", "_partial", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value
        self._partial: bool | None = None

    def __enter__(self) -> None:
        self._before = _CONVERTING.set(self)

    def __exit__(self, *error: object) -> None:
        _CONVERTING.reset(self._before)

    def is_partial(self) -> bool:
        """Whether the object is partial."""
        if self._partial is None:
            self._partial = _is_partial(self._value)
        return self._partial


_CONVERTING: ContextVar[Converting | None] = ContextVar("CONVERTING", default=None)
"""What is being converted; None where the source is what a store keeps, which is whole."""


def if_whole(value: Shown) -> Shown:
    """A value that a required property shows where nothing provides it; absent where a partial object is converted."""
    converting = _CONVERTING.get()
    if converting is None or not converting.is_partial():
        return value
    return ABSENT  # type: ignore[return-value]


def _is_partial(value: Any) -> bool:
    waiting = [value]
    for each in waiting:
        if isinstance(each, GeneratedObject):
            if any(getattr(each, name) is ABSENT for name in all_missing(type(each))):
                return True
            waiting.extend(getattr(each, name) for name in each.__struct_fields__)
        elif isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend(each.values())
    return False
