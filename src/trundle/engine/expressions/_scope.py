"""The variables that an expression sees."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from trundle.engine._scene import Scene
from trundle.engine.expressions._yaql import Language

SCENE = "$#scene"
"""The name under which yaql's contexts keep the scene; no expression can spell it."""

_NO_FUNCTIONS: dict[str, Any] = {}


class Scope(msgspec.Struct, eq=False):
    """Variables over those of an enclosing scope; an unset variable is null.

    Attributes:
        scene: whose code it is, and the objects around it; None for expressions that need none.
        variables: values by name; `$` is `$1`, and all others have their `$`, too. Values are as `freeze` makes them.
        parent: the enclosing scope.
    """

    scene: Scene | None
    variables: Mapping[str, Any]
    parent: "Scope | None" = None

    __repr__ = object.__repr__

    def get(self, name: str) -> Any:
        """The value of a variable."""
        scope: Scope | None = self
        while scope is not None:
            variables = scope.variables
            if name in variables:
                return variables[name]
            scope = scope.parent
        return None

    def frames(self) -> Iterator[Mapping[str, Any]]:
        """All variables, the outermost first, with the scene under `SCENE`."""
        found = []
        scope: Scope | None = self
        while scope is not None:
            found.append(scope.variables)
            scope = scope.parent
        yield {SCENE: self.scene}
        yield from reversed(found)


NOWHERE = Scope(None, {})
"""What expressions see that depend on nothing."""


def context_of(scope: Scope, language: Language) -> Any:
    """A context of yaql that sees what a scope sees."""
    scene = scope.scene
    if scene is None:
        return language.child(scope.frames(), _NO_FUNCTIONS)
    return language.child(scope.frames(), scene.functions, scene.world)
