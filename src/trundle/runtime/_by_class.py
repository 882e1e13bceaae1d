"""What is found out about classes once, and forgotten when a package goes, whose classes would stay otherwise."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")

_FORGETTING: list[Callable[[], object]] = []


def once(function: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """A function whose results are kept for each class that it is called with."""
    kept = functools.cache(function)
    _FORGETTING.append(kept.cache_clear)
    return kept  # type: ignore[return-value]  # It takes what the function takes.


def table() -> dict[Any, Any]:
    """A table by classes. It may be empty at any moment, as after the start."""
    made: dict[Any, Any] = {}
    _FORGETTING.append(made.clear)
    return made


def forget_classes() -> None:
    """Forgets what was found out about generated classes, so that those of a package can go that nothing uses any more.

    About others it is found out again when it is needed; threads that convert are not disturbed.
    """
    for each in _FORGETTING:
        each()
