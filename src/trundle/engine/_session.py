"""A session: the classes and objects of one run."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from trundle.engine._classes import Classes
from trundle.engine._limits import Limits
from trundle.engine._lock import Lock
from trundle.engine._repository import Repository
from trundle.engine._sources import Sources
from trundle.engine._type import Type


class Session:
    """Classes and objects that belong together; `Engine.session` opens one."""

    def __init__(
        self,
        repository: Repository,
        sources: Sources,
        limits: Limits,
        configs: Mapping[str, Mapping[str, Any]],
        lock: Mapping[str, Any] | None,
    ) -> None:
        self._lock = Lock(repository, lock)
        self._classes = Classes(repository, sources, self._lock, limits)
        self._limits = limits
        self._configs = configs

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    @property
    def lock(self) -> dict[str, dict[str, str]]:
        """Which version each requirement of the packages in use got, for JSON: `{"app/1.0.0": {"lib": "1.2.0"}}`."""
        return self._lock.to_plain()

    def type(self, name: str, version: str | None = None, package: str | None = None) -> Type:
        """A class, built if it was not used yet.

        Args:
            name: its full name.
            version: a version or a range; the latest where None.
            package: its package; may be left out where only one has the class.

        Raises:
            EngineError: there is no such class, or it cannot be built.
        """
        return self._classes.named(name, version, package)
