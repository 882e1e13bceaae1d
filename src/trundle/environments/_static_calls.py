"""Classes whose static methods are called: as a call names them, and in the versions that an environment uses."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from trundle.catalog import Snapshot
from trundle.engine import Engine, EngineCode, EngineError, Limits, Session, Type
from trundle.environments._records import Uses
from trundle.environments._sessions import plain_value
from trundle.errors import Kind
from trundle.version import SemVer

_MARK = ":"


class CalledClass(NamedTuple):
    """A class whose static method is called.

    Attributes:
        name: its full name.
        version: its version, or a range; None where none is named.
        package: its package; None where only one has the class.
    """

    name: str
    version: str | None = None
    package: str | None = None

    def type_in(self, session: Session) -> Type:
        """The class, in the newest version where none is named.

        Raises:
            EngineError: there is no such class, or it cannot be built.
        """
        return session.type(*self)

    def used(self, snapshot: Snapshot, uses: Uses) -> "CalledClass":
        """The class in the version that an environment uses; as it is where a version is named, or none is used."""
        if self.version is not None:
            return self
        packages = [
            snapshot.package(name, version)
            for name, version in ((x, SemVer.parse(y)) for x, y in uses)
            if self.package in (None, name) and version in snapshot.versions(name)
        ]
        found = [each for each in packages if self.name in each.classes]
        if not found:
            return self
        newest = max(found, key=lambda each: each.version)
        return self._replace(version=str(newest.version), package=newest.name)


def called_class(target: str) -> CalledClass | None:
    """The class that the target of a call names, as `:NAME`, `:NAME/VERSION` or `:NAME/VERSION@PACKAGE`; None where it names an object."""
    if not target.startswith(_MARK):
        return None
    rest, _, package = target.removeprefix(_MARK).partition("@")
    name, _, version = rest.partition("/")
    return CalledClass(name, version or None, package or None)


def call_static(
    snapshot: Snapshot,
    called: CalledClass,
    method: str,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    limits: Limits | None = None,
) -> Any:
    """Calls a public static method, without an environment: it reaches nothing, and nothing of it is kept.

    Args:
        snapshot: the packages that there are.
        called: the class.
        method: the method.
        args: values by position.
        kwargs: values by name.
        limits: how much its code may ask for.

    Returns:
        What it returns, as plain values.

    Raises:
        EngineError: there is no such class or method, or what the method throws.
    """
    with Engine(snapshot, limits=limits).session(dry_run=True) as session:
        try:
            value = session.call(called.type_in(session), method, args, kwargs)
        except EngineError as error:
            if error.code is EngineCode.EFFECT:
                error.kind = Kind.REFUSED  # It is asked for something that it cannot have here.
            raise
        return plain_value(session, value)
