"""Runs the static methods of a package in this process; several threads may ask."""

import json
import threading
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from trundle.engine import Engine, EngineCode, EngineError, Limits, Session
from trundle.packages import Package, PackageError
from trundle.project._method_errors import LimitReachedError, StaticMethodError

LIMITS = Limits(
    objects=10_000, steps=200_000, seconds=2.0, results=100_000, memory=256 * 1024 * 1024
)
"""How much one call may take."""


_MOST_CHARACTERS = 16 * 1024 * 1024


class MethodsHere:
    """Runs methods one at a time.

    Args:
        files: the files of the package of classes.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._lock = threading.Lock()

    @cached_property
    def _session(self) -> tuple[Session, Package]:
        package = Package.from_files(self._files)
        return Engine([package], limits=LIMITS).session(), package

    def load(self) -> None:
        """Reads the classes, as the first call does otherwise.

        Raises:
            StaticMethodError: they cannot be used.
        """
        try:
            _ = self._session
        except (EngineError, PackageError) as error:
            raise StaticMethodError(str(error)) from None

    def compute(self, class_name: str, method: str, values: Mapping[str, Any]) -> Any:
        """What a method returns for plain values.

        Raises:
            StaticMethodError: it fails, or returns what is no plain value.
            LimitReachedError: it reaches a limit.
        """
        with self._lock:
            try:
                session, package = self._session
                type_ = session.type(class_name, str(package.version), package.name)
                found = session.compute(type_, method, values)
            except EngineError as error:
                raise _failure(error) from None
        try:
            text = json.dumps(found, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            reason = f"it returned what is no plain value: {error}"
            raise StaticMethodError(reason) from None
        if len(text) > _MOST_CHARACTERS:
            reason = f"it returned {len(text)} characters, more than {_MOST_CHARACTERS}"
            raise LimitReachedError(reason)
        return json.loads(text)


def _failure(error: EngineError) -> StaticMethodError:
    """What is wrong with a call; a hook cannot be given more than the limits, so another advice than that of the engine."""
    if error.code != EngineCode.LIMIT:
        return StaticMethodError(str(error))
    where = f" ({error.file}:{error.line})" if error.file else ""
    return LimitReachedError(f"{error.message}{where}; let it do less, a hook cannot have more")
