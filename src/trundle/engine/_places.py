"""The places of a model, for messages: found when something is wrong, and however deep the model is."""

from collections.abc import Iterable, Mapping
from typing import Any

from trundle.errors import shortened, shown

_MOST_STEPS = 60
"""How many steps of a path messages show."""


class Places:
    """Where each list and map of a model stands."""

    def __init__(self, roots: Iterable[tuple[str, Any]]) -> None:
        """Goes through models.

        Args:
            roots: the path of each model, and the model.
        """
        self._steps: dict[int, tuple[int | None, str]] = {}
        for path, root in roots:
            self._steps[id(root)] = (None, path)
            self._follow(root)

    def path(self, part: Any) -> str:
        """The path of a list or map, such as `$.Objects.db`, without the middle where it is long; empty where it is in no model."""
        steps: list[str] = []
        place: int | None = id(part)
        while place is not None:
            if place not in self._steps:
                return ""
            place, step = self._steps[place]
            steps.append(step)
        if len(steps) > _MOST_STEPS:
            steps[_MOST_STEPS // 2 : -_MOST_STEPS // 2] = ["..."]
        return "".join(reversed(steps))

    def _follow(self, root: Any) -> None:
        left = [root]
        while left:
            part = left.pop()
            if isinstance(part, tuple):
                parts: Any = ((f"[{at}]", each) for at, each in enumerate(part))
            else:
                parts = ((_step(key), each) for key, each in part.items())
            for step, each in parts:
                if isinstance(each, tuple | Mapping):
                    self._steps[id(each)] = (id(part), step)
                    left.append(each)


def _step(key: object) -> str:
    return (
        f".{shortened(key)}" if isinstance(key, str) and key.isidentifier() else f"[{shown(key)}]"
    )
