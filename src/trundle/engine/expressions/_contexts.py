"""yaql's contexts: calls in them fail in few words, and count what they evaluate."""

import collections.abc  # noqa: F401 - yaql uses it without importing it
import importlib.util
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from yaql.language import contexts, exceptions, utils

from trundle.engine._described import described
from trundle.engine._scene import Meter, ObjectValue, TypeValue
from trundle.errors import meant, similar


class _UnknownNameError(exceptions.ResolutionError):  # type: ignore[misc]
    """A call of what is not there; each such error of yaql is one in the own runner.

    Attributes:
        meant: what was probably meant, as advice; None until that is looked up, empty where nothing is alike.
    """

    meant: str | None = None


class _UnknownFunctionError(_UnknownNameError, exceptions.NoFunctionRegisteredException):  # type: ignore[misc]
    pass


def _unlike(kind: type[Exception], text: str) -> type[Exception]:
    """An error of yaql about a method, which has the receiver in few words: yaql would print all of it."""

    def begin(self: Any, name: str, receiver: Any) -> None:
        exceptions.ResolutionError.__init__(self, text.format(name, described(receiver)))

    own = (_UnknownNameError,) if kind is exceptions.NoMethodRegisteredException else ()
    return type(kind.__name__, (*own, kind), {"__init__": begin})


def _own_runner() -> ModuleType:
    """What yaql calls functions with, a second time, so that yaql itself stays as it is for others in the process."""
    found = importlib.util.find_spec("yaql.language.runner")
    assert found is not None
    assert found.loader is not None
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    made.exceptions = SimpleNamespace(  # type: ignore[attr-defined]
        **{
            **vars(exceptions),
            "NoFunctionRegisteredException": _UnknownFunctionError,
            "NoMethodRegisteredException": _unlike(
                exceptions.NoMethodRegisteredException, 'unknown method "{}" of {}'
            ),
            "NoMatchingMethodException": _unlike(
                exceptions.NoMatchingMethodException, 'no method "{}" of {} takes such values'
            ),
            "AmbiguousMethodException": _unlike(
                exceptions.AmbiguousMethodException, 'more than one method "{}" of {} fits'
            ),
        }
    )
    return made


_RUNNER: Final[Any] = _own_runner()


class BriefContext(contexts.Context):  # type: ignore[misc]
    """A context whose calls fail in few words."""

    def __call__(
        self,
        name: str,
        engine: Any,
        receiver: Any = utils.NO_VALUE,
        data_context: Any = None,
        use_convention: bool = False,  # noqa: FBT001, FBT002 - yaql's signature
        function_filter: Any = None,
    ) -> Callable[..., Any]:
        """What calls a function by its name, or a method where there is a receiver."""

        def call(*values: Any, **by_name: Any) -> Any:
            try:
                return _RUNNER.call(
                    name,
                    self,
                    values,
                    by_name,
                    engine,
                    receiver,
                    data_context,
                    use_convention,
                    function_filter,
                )
            except _UnknownNameError as error:
                if error.meant is None:
                    error.meant = meant(similar(name, _known(self, receiver)))
                raise

        return call


def meant_by(error: Exception) -> str:
    """What a call of what is not there probably meant, as advice; empty where that is not known, and for other errors."""
    return (isinstance(error, _UnknownNameError) and error.meant) or ""


def _known(context: Any, receiver: Any) -> set[str]:
    """The names that a call could have: those of methods, where there is a receiver."""
    kind = receiver.type if isinstance(receiver, ObjectValue) else receiver
    if isinstance(kind, TypeValue):
        return set(kind.methods)
    wanted = "is_function" if receiver is utils.NO_VALUE else "is_method"
    found = set()
    while context is not None:
        for name, definitions in getattr(context, "_functions", {}).items():
            if name.isidentifier() and any(getattr(each, wanted) for each in definitions):
                found.add(name)
        context = context.parent
    return found


class MeteredContext(BriefContext):
    """A context that counts the contexts which yaql makes below it: one for each call of a lambda."""

    def __init__(self, parent: Any, meter: Meter | None = None) -> None:
        super().__init__(parent)
        self._meter: Meter = meter or parent._meter  # noqa: SLF001 - of its own class

    def create_child_context(self) -> Any:
        """A context below this one."""
        meter = self._meter
        meter.steps -= 1
        if meter.steps < 0:
            meter.more()
        return MeteredContext(self)
