"""yaql's contexts: calls in them fail in few words, and count what they evaluate."""

import collections.abc  # noqa: F401 - yaql uses it without importing it
import importlib.util
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, Final, NamedTuple

from yaql.language import contexts, exceptions, specs, utils, yaqltypes

from trundle.engine._described import described
from trundle.engine._scene import Meter, ObjectValue, TypeValue
from trundle.errors import meant, similar


class UnknownCall:
    """What errors of yaql about a call of what is not there are as well, in the own runner.

    Attributes:
        called: the name; empty until the error is raised.
        meant: what was probably meant, as advice; None until that is looked up, empty where nothing is alike.
    """

    called: str = ""
    meant: str | None = None


class MisfitCall:
    """What errors of yaql about a call whose values do not fit are as well, in the own runner.

    Attributes:
        ways: how those of its name are called.
    """

    ways: tuple[str, ...] = ()


class _UnknownFunctionError(UnknownCall, exceptions.NoFunctionRegisteredException):  # type: ignore[misc]
    pass


class _MisfitFunctionError(MisfitCall, exceptions.NoMatchingFunctionException):  # type: ignore[misc]
    pass


def _unlike(kind: type[Exception], text: str) -> type[Exception]:
    """An error of yaql about a method, which has the receiver in few words: yaql would print all of it."""

    def begin(self: Any, name: str, receiver: Any) -> None:
        of = f" of {receiver.type.name}" if isinstance(receiver, ObjectValue) else ""
        shown = f"{described(receiver)}{of}"
        exceptions.ResolutionError.__init__(self, text.format(name, shown))

    own = {
        exceptions.NoMethodRegisteredException: (UnknownCall,),
        exceptions.NoMatchingMethodException: (MisfitCall,),
    }
    return type(kind.__name__, (*own.get(kind, ()), kind), {"__init__": begin})


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
            "NoMatchingFunctionException": _MisfitFunctionError,
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
_ABSENT: Final = {
    "encryptData": "leave it out: what a form asks as a password is kept as a secret, apart from the model",
    "decryptData": "leave it out: a secret is put in place of `{{secret:NAME}}` where it is used",
    "config": "declare a property with `Usage: Config`, which the operator can set",
}
"""What to do in place of functions that MuranoPL knows as optional, and that there are none of here."""


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
            except exceptions.ResolutionError as error:
                if isinstance(error, UnknownCall) and error.meant is None:
                    error.called = name
                    error.meant = _ABSENT.get(name) or self._meant(name, receiver)
                if isinstance(error, MisfitCall) and not error.ways:
                    error.ways = ways(name, _definitions(self, name, receiver), receiver)
                raise

        return call

    def _meant(self, name: str, receiver: Any) -> str:
        """What was probably meant by a name that there is nothing of."""
        is_function = receiver is utils.NO_VALUE
        if _definitions(self, name, None if is_function else utils.NO_VALUE):
            return as_method(name) if is_function else as_function(name)
        return meant(similar(name, known(self, receiver)))


def as_method(name: str) -> str:
    """Advice for what is called as a function, and is a method."""
    return f"call it with a dot: `value.{name}(..)`"


def as_function(name: str) -> str:
    """Advice for what is called as a method, and is a function."""
    return f"call it without a dot: `{name}(..)`"


def known(context: Any, receiver: Any = utils.NO_VALUE) -> set[str]:
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


class Taken(NamedTuple):
    """What functions there are for a call.

    Attributes:
        fits: whether one of them takes its arguments, as far as that is known before they have values.
        ways: how those of its name are called.
        advice: what to write in place of a function that there is none of here; mostly empty.
    """

    fits: bool
    ways: tuple[str, ...] = ()
    advice: str = ""


def taken(context: Any, engine: Any, call: Any, receiver: Any = utils.NO_VALUE) -> Taken:
    """What functions there are for a call in a tree of yaql, or what methods where there is a receiver."""
    found = _definitions(context, call.name, receiver)
    if not found:
        return Taken(fits=False, advice=_ABSENT.get(call.name, ""))
    given = call.args if receiver is utils.NO_VALUE else (receiver, *call.args)
    try:
        values, named = _RUNNER.translate_args(found[0].no_kwargs, given, {})
        fits = any(each.map_args(values, named, context, engine) is not None for each in found)
    except (exceptions.ArgumentException, exceptions.MappingTranslationException):
        fits = False
    return Taken(fits, ways(call.name, found, receiver))


def _definitions(context: Any, name: str, receiver: Any) -> list[Any]:
    """The functions that have a name; the methods where there is a receiver."""
    wanted = "is_function" if receiver is utils.NO_VALUE else "is_method"
    layers = context.collect_functions(name, lambda each, _: getattr(each, wanted))
    return [each for layer in layers for each in layer]


def ways(name: str, definitions: list[Any], receiver: Any) -> tuple[str, ...]:
    """How functions of a name are called."""
    is_method = receiver is not utils.NO_VALUE
    return tuple(sorted({_way(name, each, is_method=is_method) for each in definitions}))


def _way(name: str, definition: Any, *, is_method: bool) -> str:
    """How a function is called: its name with its parameters, as in `substring(start, length=)`."""
    shown = []
    parameters = sorted(
        definition.parameters.items(),
        key=lambda each: (each[1].position is None, each[1].position or 0),
    )
    for key, each in parameters:
        if not isinstance(each.value_type, yaqltypes.HiddenParameterType):
            text = each.alias or each.name
            many = key if key in ("*", "**") else ""
            default = "" if many or each.default is specs.NO_DEFAULT else "="
            shown.append(f"{many}{text}{default}")
    return f"{name}({', '.join(shown[1:] if is_method else shown)})"


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
