"""Values with expressions in them, such as defaults: evaluated as a whole."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trundle.engine._scene import Scene
from trundle.engine.expressions import (
    Code,
    Expression,
    Format,
    Listing,
    Mapped,
    Scalar,
    Scope,
    as_key,
    freeze,
)


@dataclass(frozen=True, slots=True)
class Fixed:
    """What yields one value, whatever the object is."""

    value: Any

    def __call__(self, _scene: Scene) -> Any:
        return self.value


def structure(code: Code, format_: Format) -> Callable[[Scene], Any]:
    """What makes the value of a part of a class file; expressions see the object as `$` and `$this`.

    Raises:
        EngineError: an expression in it cannot be read. The function raises it where one fails.
    """
    if _is_constant(code):
        return Fixed(value_of(code, format_)(Scope(None, {})))
    made = value_of(code, format_)
    return lambda scene: made(Scope(scene, {"$1": scene.this, "$this": scene.this}))


def _is_constant(code: Code) -> bool:
    match code:
        case Scalar():
            return True
        case Expression():
            return False
        case Listing():
            return all(_is_constant(each) for each in code.items)
        case Mapped():
            return all(_is_constant(each) for entry in code.entries for each in entry)


def value_of(code: Code, format_: Format) -> Callable[[Scope], Any]:
    """What makes the value of a part of a class file from the variables of a scope.

    Raises:
        EngineError: an expression in it cannot be read. The function raises it where one fails.
    """
    match code:
        case Scalar():
            value = code.value
            return lambda _: value
        case Expression():
            return code.compile(format_)
        case Listing():
            items = [value_of(each, format_) for each in code.items]
            return lambda scope: tuple([each(scope) for each in items])
        case Mapped():
            pairs = [
                (value_of(key, format_), value_of(value, format_)) for key, value in code.entries
            ]
            return lambda scope: freeze({as_key(key(scope)): value(scope) for key, value in pairs})
