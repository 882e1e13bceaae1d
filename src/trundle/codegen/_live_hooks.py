"""Calls of hooks without source: what a hook reads as plain values, and what it returns as typed ones."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from trundle.errors import TrundleError, expectation
from trundle.evolution import ChangeError, Lineage, Neighbours
from trundle.evolution.steps import CallConverter, HookCall
from trundle.runtime import ABSENT, HookError


class HookKey(NamedTuple):
    """Which hook is called.

    Attributes:
        type: the type whose conversion it augments, as the older side names it.
        between: the neighbours.
        up: whether it leads from the older side to the newer.
        assigns: whether it writes properties; else it converts a value.
        method: the method.
    """

    type: str
    between: Neighbours
    up: bool
    assigns: bool
    method: str


PlainHook: TypeAlias = Callable[[Any], Any]
"""Takes the plain values that are read by property, or the one that is converted; returns what is written in the same way."""

Hooks: TypeAlias = Callable[[HookKey], PlainHook]


def hook_key(lineage: Lineage, call: HookCall | CallConverter) -> HookKey:
    """Which hook a step of a plan of a lineage calls."""
    name, between = lineage.definition(call.between.older).name, call.between
    if isinstance(call, HookCall):
        return HookKey(name, between, call.up, True, call.method)
    return HookKey(name, between, call.input.version == between.older, False, call.method)


class LiveHook:
    """A hook that one plan calls.

    Args:
        key: which one.
        hooks: gives what is called.
    """

    def __init__(self, key: HookKey, hooks: Hooks) -> None:
        self._key = key
        self._call = hooks(key)

    def outputs(
        self, values: Mapping[str, Any], writes: frozenset[str], holder: Any, beside: str = ""
    ) -> Any:
        """What the hook returns, by property; empty where all that it reads is absent.

        Args:
            values: what it reads by property.
            writes: the properties that it may write.
            holder: the object that is converted, for messages.
            beside: a property that is no reason to call the hook where all others are absent.

        Raises:
            HookError: it fails, returns no map, or writes what it does not declare.
        """
        given = {name: plain(value) for name, value in values.items() if value is not ABSENT}
        if not given.keys() - {beside}:
            return {}
        found = self._called(given, holder)
        if not isinstance(found, Mapping):
            wanted = "a map of the properties that it writes"
            raise self._failed(
                f"returned something else: {expectation(wanted, _spoken(found))}", holder
            )
        for name in found:
            if name not in writes:
                wanted = f"what it declares in `writes` ({', '.join(sorted(writes))})"
                raise self._failed(
                    f"wrote something else: {expectation(wanted, repr(name))}", holder
                )
        return found

    def converted(self, value: Any, type_: Any, path: str | None) -> Any:
        """A value as the hook converts it; null stays null where the other side takes it.

        Args:
            value: the value.
            type_: the type of what is made of it.
            path: JSON path of the value from the root; None where that is not known.

        Raises:
            HookError: the hook fails, or makes something else.
        """
        if value is None and _takes_null(type_):
            return None
        try:
            return self.typed(self._called(plain(value), value), type_, "", value)
        except HookError as error:
            error.path = path
            raise

    def typed(self, value: Any, type_: Any, name: str, holder: Any) -> Any:
        """A value that the hook returned, as one of a type.

        Raises:
            HookError: it is none.
        """
        try:
            return msgspec.json.decode(msgspec.json.encode(value), type=type_)
        except (msgspec.MsgspecError, TypeError) as error:
            what = f"{name!r} of a wrong type" if name else "a value of a wrong type"
            raise self._failed(f"wrote {what}: {error}", holder) from None

    def _called(self, given: Any, holder: Any) -> Any:
        try:
            return self._call(given)
        except TrundleError as error:
            raise self._failed(f"failed: {error}", holder) from error

    def _failed(self, reason: str, holder: Any) -> HookError:
        return HookError(
            f"the hook {self._key.method} between {self._key.between} {reason}", holder
        )


def plain(value: Any) -> Any:
    """A value of an object as plain JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _takes_null(type_: Any) -> bool:
    try:
        return msgspec.convert(None, type_) is None
    except msgspec.ValidationError:
        return False


def _spoken(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__


def no_hooks(key: HookKey) -> PlainHook:
    """The hooks of conversions that have none.

    Raises:
        ChangeError: always.
    """
    raise ChangeError(
        f"{key.method} of {key.type}",
        "these conversions run no hand-written code; write rules that need no hook",
    )
