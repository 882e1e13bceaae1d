"""The one error of the engine: what went wrong, in which class of which package, and at which place of a model."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from trundle.errors import Code, Finding, Kind, Place, TrundleError, shortened
from trundle.version import SemVer


class EngineCode(Code):
    """What kind of thing is wrong; the value of `EngineError.code`."""

    NO_PACKAGE = "no-package"
    NO_CLASS = "no-class"
    NO_METHOD = "no-method"
    NO_PROPERTY = "no-property"
    NO_OBJECT = "no-object"
    AMBIGUOUS = "ambiguous"
    CONFLICT = "conflict"
    CONTRACT = "contract"
    ACCESS = "access"
    UNINITIALIZED = "uninitialized"
    CIRCULAR = "circular"
    MANIFEST = "manifest"
    FORMAT = "format"
    INHERITANCE = "inheritance"
    META = "meta"
    LOCK = "lock"
    SYNTAX = "syntax"
    LIMIT = "limit"
    UNKNOWN_FUNCTION = "unknown-function"
    NO_MATCH = "no-match"
    THROWN = "thrown"
    INVALID_TARGET = "invalid-target"
    INVALID_OPERATION = "invalid-operation"
    NOT_PUBLIC = "not-public"
    DESTROYED = "destroyed"
    EFFECT = "effect"


_KINDS = {
    EngineCode.NO_PACKAGE: Kind.NOT_FOUND,
    EngineCode.NO_CLASS: Kind.NOT_FOUND,
    EngineCode.NO_OBJECT: Kind.NOT_FOUND,
}
_MOST_SHOWN = 20
_LONGEST = 2000
"""How many characters a message of the engine has: names in it may come from values. What packages throw is theirs."""

_DSL, _YAQL = "murano.dsl.exceptions", "yaql.language.exceptions"
_PACKAGES = "murano.packages.exceptions"
_NAMES: dict[EngineCode, tuple[str, ...]] = {
    EngineCode.NO_PACKAGE: (f"{_DSL}.NoPackageFound",),
    EngineCode.NO_CLASS: (f"{_DSL}.NoClassFound", f"{_DSL}.NoPackageForClassFound"),
    EngineCode.NO_METHOD: (
        f"{_YAQL}.NoMethodRegisteredException",
        f"{_YAQL}.NoMatchingMethodException",
        f"{_DSL}.NoMethodFound",
        f"{_DSL}.MethodNotFound",
    ),
    EngineCode.NO_PROPERTY: (f"{_DSL}.PropertyReadError", f"{_DSL}.NoPropertyFound"),
    EngineCode.NO_OBJECT: (f"{_DSL}.NoObjectFoundError",),
    EngineCode.AMBIGUOUS: (
        f"{_DSL}.AmbiguousMethodName",
        f"{_DSL}.AmbiguousPropertyNameError",
        f"{_DSL}.AmbiguousClassName",
    ),
    EngineCode.CONTRACT: (f"{_DSL}.ContractViolationException",),
    EngineCode.ACCESS: (f"{_DSL}.NoWriteAccessError",),
    EngineCode.UNINITIALIZED: (f"{_DSL}.UninitializedPropertyAccessError",),
    EngineCode.CIRCULAR: (f"{_DSL}.CircularExpressionDependenciesError",),
    EngineCode.INHERITANCE: (f"{_DSL}.InvalidInheritanceError",),
    EngineCode.FORMAT: (f"{_PACKAGES}.PackageFormatError", f"{_DSL}.PackageFormatError"),
    EngineCode.MANIFEST: (f"{_PACKAGES}.PackageClassLoadError",),
    EngineCode.META: ("ValueError",),
    EngineCode.SYNTAX: (
        f"{_DSL}.DslSyntaxError",
        f"{_DSL}.DslContractSyntaxError",
        "SyntaxError",
    ),
    EngineCode.UNKNOWN_FUNCTION: (f"{_YAQL}.NoFunctionRegisteredException",),
    EngineCode.NO_MATCH: (
        f"{_YAQL}.NoMatchingMethodException",
        f"{_YAQL}.NoMatchingFunctionException",
    ),
    EngineCode.INVALID_TARGET: (f"{_DSL}.InvalidLhsTargetError",),
    EngineCode.INVALID_OPERATION: (f"{_DSL}.DslInvalidOperationError",),
    EngineCode.NOT_PUBLIC: (f"{_DSL}.MethodNotExposed",),
    EngineCode.DESTROYED: (f"{_DSL}.ObjectDestroyedError",),
    EngineCode.CONFLICT: ("ValueError",),
    EngineCode.EFFECT: ("io.trundle.EffectError",),
    EngineCode.LOCK: ("io.trundle.LockError",),
    EngineCode.LIMIT: ("io.trundle.LimitError",),
}
"""The names by which published packages catch errors of the engine, and names of ours where Murano has no such error."""

UNKNOWN_PREFIX = ("KeyError", *_NAMES[EngineCode.NO_CLASS])
"""The names of the error for a name whose prefix no class file declares."""

WRONG_SCOPE = ("ValueError", *_NAMES[EngineCode.SYNTAX])
"""The names of the error for a method whose usage and scope contradict each other."""


def names_of(code: EngineCode) -> tuple[str, ...]:
    """The names by which published packages catch errors of a kind."""
    return _NAMES.get(code, ())


class Frame(NamedTuple):
    """Where a method was when an error passed through it.

    Attributes:
        package: the package of the class.
        version: its version.
        class_name: the full name of the class that declares the method.
        method: the method.
        file: the class file.
        line: the line of the statement; None where it is not known.
    """

    package: str
    version: SemVer
    class_name: str
    method: str
    file: str
    line: int | None

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{self.class_name}.{self.method} ({self.package}/{self.version}, {where})"


class EngineError(TrundleError):
    """A class, an object or a model that the engine cannot take.

    `str` gives the message, with file and line at its end. An error of several things has the attributes of the first.

    Attributes:
        code: what kind of thing is wrong.
        message: what is wrong; the violation of a contract starts with the place, as `[a.B.ports[0]]`.
        advice: what to do about it; may be empty.
        package: the package whose code it is about; empty where there is none.
        version: its version; None where there is none.
        class_name: the full name of the class.
        member: the property or method.
        file: the class file, as the package names it.
        line: the line in the file; the first is 1.
        path: the place in the model, as `$.Objects.db`.
        requirements: the requirements that chose what does not fit, each as `app/1.0.0 requires lib 1.2`.
        names: the names by which a package can catch it.
        extra: what was thrown with it.
        cause: the error that it was thrown for; None for none.
        original: the Python error behind it; None for none.
        frames: the methods that it passed through, the innermost first.
        seen: the call that the last of them is for.
        is_at_class: whether its place is the class that it is about, for want of a statement.
    """

    def __init__(
        self,
        code: EngineCode,
        message: str,
        *,
        advice: str = "",
        package: str = "",
        version: SemVer | None = None,
        class_name: str = "",
        member: str = "",
        file: str = "",
        line: int | None = None,
        path: str = "",
        requirements: Sequence[str] = (),
        names: Sequence[str] = (),
    ) -> None:
        self.code = code
        self.message = message if code is EngineCode.THROWN else shortened(message, _LONGEST)
        self.advice = advice
        self.package = package
        self.version = version
        self.class_name = class_name
        self.member = member
        self.file = file
        self.line = line
        self.path = path
        self.requirements = tuple(requirements)
        self.names = tuple(names) or names_of(code)
        self.extra: Any = None
        self.cause: EngineError | None = None
        self.original: BaseException | None = None
        self.frames: tuple[Frame, ...] = ()
        self.seen: object = None
        self.is_at_class = False
        self._several: tuple[EngineError, ...] = ()
        self.kind = _KINDS.get(code, Kind.REFUSED)
        super().__init__(message)

    @classmethod
    def of(cls, errors: Iterable["EngineError"]) -> "EngineError":
        """One error of several, in their order; a single one as it is."""
        found = tuple(each for error in errors for each in error.errors)
        if len(found) == 1:
            return found[0]
        first = found[0]
        joined = cls(first.code, first.message)
        joined.__dict__.update(first.__dict__)
        joined._several = found
        return joined

    @property
    def errors(self) -> tuple["EngineError", ...]:
        """All errors, where there are several; else this one."""
        return self._several or (self,)

    @property
    def place(self) -> Place:
        """Where it is; a part of the place that is not known is left out."""
        name = f"{self.package}/{self.version}" if self.package and self.version else self.package
        return Place(
            self.file, self.line, " ".join(filter(None, (name, self.class_name))), self.path
        )

    @property
    def findings(self) -> tuple[Finding, ...]:  # type: ignore[override]
        """A finding for each error."""
        return tuple(
            Finding(each.code, each.place, "", each.message, each.advice) for each in self.errors
        )

    def __reduce__(self) -> tuple[Any, ...]:
        restore, (class_, arguments, attributes) = super().__reduce__()
        return restore, (class_, arguments, {**attributes, "seen": None})

    def format(self) -> str:
        """The error with the methods that led to it, the outermost first, and with its causes."""
        lines = [f"{self.names[0]}: {self}" if self.names else str(self)]
        if self.frames:
            lines = [f"  in {each}" for each in reversed(self.frames)] + lines
            lines.insert(0, "Called methods, the last one failed:")
        if self.cause is not None:
            lines = [self.cause.format(), "", "It is the cause of:", "", *lines]
        return "\n".join(lines)

    def __str__(self) -> str:
        shown = [_text(each) for each in self.errors[:_MOST_SHOWN]]
        if len(self.errors) > _MOST_SHOWN:
            shown.append(f"and {len(self.errors) - _MOST_SHOWN} more")
        return "\n".join(shown)


def _text(error: EngineError) -> str:
    parts = [error.message]
    if error.advice:
        parts.append(f"; {error.advice}")
    where = [str(error.place)] if str(error.place) else []
    return "".join(parts) + (f" ({where[0]})" if where else "")
