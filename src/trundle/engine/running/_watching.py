"""What a run lets others see of itself while it goes on: each call, with its values shortened and without secrets."""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final, Protocol

from greenlet import getcurrent

from trundle.engine._errors import EngineError, Frame
from trundle.engine._object import Instance, Part
from trundle.engine._scene import TypeValue
from trundle.errors import shortened, shown

MASK: Final = "***"
_PRIVATE = re.compile(r"passw|secret|token|credential|private_?key", re.IGNORECASE)
_MOST_ITEMS, _MOST_LEVELS, _LONGEST_TEXT, _LONGEST = 4, 3, 40, 160


@dataclass(frozen=True)
class WatchedCall:
    """A call of a method that begins or ends.

    Attributes:
        frame: the method, and where it is declared.
        depth: how many calls it is nested in.
        branch: the branch of `Parallel` in which it runs, from 1 on; 0 for none.
        names: the names of its arguments.
    """

    frame: Frame
    depth: int
    branch: int
    names: tuple[str, ...]
    _variables: Mapping[str, Any]
    _hide: Callable[[str], str]

    @cached_property
    def arguments(self) -> dict[str, str]:
        """What it was called with, shortened; what has a name as `password` is masked."""
        return {
            name: MASK if _PRIVATE.search(name) else self.brief(self._variables.get(f"${name}"))
            for name in self.names
        }

    def brief(self, value: Any) -> str:
        """A value in few words, with markers in place of secrets."""
        if _PRIVATE.search(self.frame.method):
            return MASK
        return brief(value, self._hide)

    def hidden(self, text: str) -> str:
        """A text with markers in place of secrets."""
        return self._hide(text)


class Watcher(Protocol):
    """What is called while methods run. It must not raise, and not use the session."""

    def begin(self, call: WatchedCall) -> None:
        """A method begins; its arguments fit."""

    def end(self, call: WatchedCall, result: Any) -> None:
        """A method returns; `call.brief` shows what."""

    def fail(self, call: WatchedCall, error: EngineError) -> None:
        """A method ends with an error."""


_WATCHERS: ContextVar[tuple[Watcher, ...]] = ContextVar("watchers", default=())


@contextlib.contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Has a watcher called by all sessions that are opened meanwhile, beside those that are called already."""
    token = _WATCHERS.set((*_WATCHERS.get(), watcher))
    try:
        yield
    finally:
        _WATCHERS.reset(token)


def watch(hide: Callable[[str], str]) -> "Watch | None":
    """What calls the watchers of a new session; None where there are none.

    Args:
        hide: puts markers in place of secrets in a text.
    """
    watchers = _WATCHERS.get()
    return Watch(watchers, hide) if watchers else None


class Watch:
    """Calls the watchers of a session.

    Args:
        watchers: what is called.
        hide: puts markers in place of secrets in a text.
    """

    def __init__(self, watchers: tuple[Watcher, ...], hide: Callable[[str], str]) -> None:
        self._watchers = watchers
        self._hide = hide
        self._branches: dict[Any, int] = {}

    def run(
        self,
        frame: Frame,
        depth: int,
        names: tuple[str, ...],
        variables: Mapping[str, Any],
        act: Callable[[], Any],
    ) -> Any:
        """Runs a method, and says so before and after."""
        branch = self._branches.setdefault(getcurrent(), len(self._branches))
        kept = {f"${name}": variables.get(f"${name}") for name in names}  # The body may assign them
        call = WatchedCall(frame, depth, branch, names, kept, self._hide)
        for each in self._watchers:
            each.begin(call)
        try:
            result = act()
        except EngineError as error:
            for each in self._watchers:
                each.fail(call, error)
            raise
        for each in self._watchers:
            each.end(call, result)
        return result


class CallTrace:
    """Writes a line for each call, and one for what it came to; give it to `watching`.

    Args:
        write: takes a line; `print` will do.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def begin(self, call: WatchedCall) -> None:
        """Writes what is called, with its arguments and where it is."""
        values = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
        frame = call.frame
        where = f"{frame.package}/{frame.version} {frame.file}:{frame.line}"
        self._line(call, f"{frame.class_name}.{frame.method}({values})  {where}")

    def end(self, call: WatchedCall, result: Any) -> None:
        """Writes what is returned, if anything is."""
        if result is not None:
            self._line(call, f"= {call.brief(result)}")

    def fail(self, call: WatchedCall, error: EngineError) -> None:
        """Writes what is thrown."""
        name = error.names[0] if error.names else error.code.value
        text = " ".join(call.hidden(error.message).split())
        self._line(call, f"! {name}: {shortened(text, _LONGEST)}")

    def _line(self, call: WatchedCall, text: str) -> None:
        branch = f"[{call.branch}] " if call.branch else ""
        self._write(f"{'  ' * (call.depth - 1)}{branch}{text}")


def brief(value: Any, hide: Callable[[str], str] = str) -> str:
    """A value in few words.

    Args:
        value: the value.
        hide: puts markers in place of secrets in a text.
    """
    return shortened(_brief(value, hide, _MOST_LEVELS), _LONGEST)


def _brief(value: Any, hide: Callable[[str], str], levels: int) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            text = hide(value)  # Before it is shortened, or a part would be left
            return repr(shortened(text, _LONGEST_TEXT))
        case Instance() | Part():
            return _object(value)
        case TypeValue():
            return value.name
        case Mapping():
            if not levels:
                return "{...}"
            parts = [
                f"{_brief(key, hide, 0)}: {_entry(key, each, hide, levels)}"
                for key, each in islice(value.items(), _MOST_ITEMS)
            ]
            return f"{{{_listed(parts, len(value))}}}"
        case tuple() | list() | frozenset() | set():
            if not levels:
                return "[...]"
            parts = [_brief(each, hide, levels - 1) for each in islice(value, _MOST_ITEMS)]
            return f"[{_listed(parts, len(value))}]"
    return shown(value, _LONGEST_TEXT)


def _entry(key: Any, value: Any, hide: Callable[[str], str], levels: int) -> str:
    if isinstance(key, str) and _PRIVATE.search(key):
        return MASK
    return _brief(value, hide, levels - 1)


def _object(value: Instance | Part) -> str:
    instance = value if isinstance(value, Instance) else value.instance
    return f"<{instance.name or instance.id} of {value.type.name}>"


def _listed(parts: list[str], count: int) -> str:
    more = [f"{count - len(parts)} more"] if count > len(parts) else []
    return ", ".join(parts + more)
