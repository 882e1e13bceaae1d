"""The scene of expressions that stand in no class, such as those of forms: functions, and no objects."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NoReturn

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._scene import Callee, ObjectValue, TypeValue
from trundle.version import SemVer


@dataclass(frozen=True, slots=True)
class _Origin:
    package: str = ""
    version: SemVer | None = None
    class_name: str = ""


class Nowhere:
    """A scene without objects and classes: what needs one of them is an error.

    Args:
        functions: what expressions can call beside the language's own functions, by name.
    """

    this = None
    world = None
    origin = _Origin()

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.functions = functions

    def method(self, receiver: Any, name: str) -> Callee | None:  # noqa: ARG002 - there are no objects
        """Plain values have the methods of the language alone."""
        return None

    def extension(self, _name: str) -> str:
        """Nothing: there are no classes."""
        return ""

    def builtin(self, name: str) -> Callable[..., Any]:
        """What takes the place of a function of the engine.

        Raises:
            EngineError: there is nothing of that name.
        """
        found = self.functions.get(name)
        if found is not None:
            return lambda _, *values, **named: found(*values, **named)
        message = f"the function {name} is known in classes only"
        raise EngineError(EngineCode.UNKNOWN_FUNCTION, message, advice="correct its name")

    def resolve(self, name: str) -> TypeValue:
        """There is no class here.

        Raises:
            EngineError: always.
        """
        raise self._no_class(name)

    def is_instance(self, value: ObjectValue, type_: TypeValue, spec: str | None = None) -> bool:  # noqa: ARG002
        """There is no object here.

        Raises:
            EngineError: always.
        """
        raise self._no_class(type_.name)

    def mismatch(
        self,
        value: ObjectValue,  # noqa: ARG002
        type_: TypeValue,  # noqa: ARG002
        spec: str | None = None,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """No versions are chosen here."""
        return ()

    def load(self, model: Mapping[Any, Any], default: TypeValue, spec: str | None) -> NoReturn:  # noqa: ARG002
        """There is no object here.

        Raises:
            EngineError: always.
        """
        raise self._no_class(default.name)

    def find(self, identifier: str) -> ObjectValue | None:  # noqa: ARG002
        """There is no object here."""
        return None

    def template(
        self,
        value: Mapping[Any, Any] | ObjectValue,  # noqa: ARG002
        default: TypeValue,
        excluded: AbstractSet[str],  # noqa: ARG002
        *,
        is_made: bool = False,  # noqa: ARG002
    ) -> NoReturn:
        """There is no object here.

        Raises:
            EngineError: always.
        """
        raise self._no_class(default.name)

    @staticmethod
    def _no_class(name: str) -> EngineError:
        message = f"the class {name} is named where no classes are known"
        return EngineError(EngineCode.NO_CLASS, message, advice="remove it")
