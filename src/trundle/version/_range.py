"""Ranges of package versions: which versions a requirement allows, and which of them is taken.

A range is a comma list of clauses, all of which hold. A clause is an operator and a version, or `*`, or a version
alone, which means `==`. A version of one or two numbers stands for its whole family:

| clause | allows |
|---|---|
| `*` | every version |
| `1`, `==1`, `=1` | at least 1.0.0, below 2.0.0 |
| `!=1.5` | all but the versions whose first numbers are 1.5 |
| `>1` | at least 2.0.0 |
| `>=1` | at least 1.0.0 |
| `<2` | below 2.0.0 |
| `<=1` | below 2.0.0 |
| nothing | at least 0.0.0, below 1.0.0 |

The pre-releases of an excluded upper bound are out: `<2` does not allow 2.0.0-rc. Only `<2.0.0-rc`, which names
one, goes by precedence alone. Builds do not count, except in `==` and `!=` where a build is written.
"""

import bisect
import operator
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, Self, TypeAlias, assert_never

from trundle.version._scanning import Scanner
from trundle.version._semver import Frozen, SemVer

Operator: TypeAlias = Literal["==", "!=", ">", ">=", "<", "<="]

_OPERATORS: dict[str, Operator] = {
    "==": "==",
    "!=": "!=",
    ">=": ">=",
    "<=": "<=",
    ">": ">",
    "<": "<",
    "=": "==",
}
"""The operators as they are written; a longer one before its beginning."""

_FULL = 3
_STRANGE = {
    "^": "write the bounds out, as in >=1.2,<2",
    "~": "write the bounds out, as in >=1.2,<1.3",
    "|": "a range has one list of clauses, all of which hold",
}


class _Clause(NamedTuple):
    """One condition; `written` is how many of the version's numbers are given."""

    operator: Operator
    version: SemVer
    written: int

    @property
    def names_prerelease(self) -> bool:
        return self.operator != "!=" and self.version.is_prerelease

    @property
    def order(self) -> tuple[object, ...]:
        """Where a clause stands in the text of a range: lower bounds, upper bounds, exclusions."""
        return (_PLACES[self.operator], self.version, self.written)

    def allows(self, version: SemVer) -> bool:
        bound = self.version.precedence
        match self.operator:
            case "==":
                return self._is_family(version) and version.precedence >= bound
            case "!=":
                return not self._is_family(version)
            case ">=":
                return version.precedence >= bound
            case ">":
                if self.written == _FULL:
                    return version.precedence > bound
                return version.precedence >= self._after_family.precedence
            case "<":
                return version.precedence < bound and not self._is_before_release(version)
            case "<=":
                if self.written == _FULL:
                    return version.precedence <= bound
                return version.numbers[: self.written] <= self.version.numbers[: self.written]
            case never:
                assert_never(never)

    def _is_family(self, version: SemVer) -> bool:
        """Whether a version has the numbers that are written, and all else where all numbers are."""
        if self.written < _FULL:
            return version.numbers[: self.written] == self.version.numbers[: self.written]
        if self.version.build:
            return version == self.version
        return version.precedence == self.version.precedence

    @property
    def low(self) -> SemVer | None:
        """A version below which nothing is allowed; None if there is none."""
        return self.version if self.operator in ("==", ">", ">=") else None

    @property
    def high(self) -> SemVer | None:
        """A version above which nothing is allowed; None if there is none."""
        if self.operator not in ("==", "<", "<="):
            return None
        return self.version if self.written == _FULL else self._after_family

    @property
    def _after_family(self) -> SemVer:
        return self.version.next_major() if self.written == 1 else self.version.next_minor()

    def _is_before_release(self, version: SemVer) -> bool:
        """Whether this bound is a release, and the version one of its pre-releases."""
        return not self.version.prerelease and version.numbers == self.version.numbers

    def __str__(self) -> str:
        operator = "" if self.operator == "==" else self.operator
        if self.written == _FULL:
            return f"{operator}{self.version}"
        return operator + ".".join(str(each) for each in self.version.numbers[: self.written])


_PLACES = {"==": 0, ">": 1, ">=": 1, "<": 2, "<=": 2, "!=": 3}


class VersionRange(Frozen):
    """The versions that a requirement allows; make one with `parse`.

    Ranges are equal when they have the same clauses, in whatever order they are written. `str` writes a range so that
    `parse` reads the same again.
    """

    __slots__ = ("_clauses", "_hash")

    _clauses: tuple[_Clause, ...]
    _hash: int

    def __init__(self, clauses: Iterable[_Clause]) -> None:
        ordered = tuple(sorted(set(clauses), key=lambda each: (each.order, each.operator)))
        object.__setattr__(self, "_clauses", ordered)
        object.__setattr__(self, "_hash", hash(ordered))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads a range; blanks around clauses and operators do not matter.

        Raises:
            VersionSyntaxError: the text is not a range; it says where.
        """
        scanner = Scanner(text)
        scanner.skip_blank()
        if scanner.position == len(text):
            return cls(_SMALL)
        clauses = [*_clause(scanner)]
        while scanner.take(","):
            clauses += _clause(scanner)
        scanner.end("',' or the end of the range")
        return cls(clauses)

    @classmethod
    def exactly(cls, version: SemVer) -> Self:
        """The range of one version, its build included where it has one."""
        return cls((_Clause("==", version, _FULL),))

    @classmethod
    def family(cls, major: int) -> Self:
        """The range of all releases of one major number: `1` is at least 1.0.0, below 2.0.0."""
        return cls((_Clause("==", SemVer(major, 0, 0), 1),))

    @property
    def names_prerelease(self) -> bool:
        """Whether a bound is a pre-release, so that pre-releases count like releases; `!=` does not make them so."""
        return any(clause.names_prerelease for clause in self._clauses)

    def contains(self, version: SemVer) -> bool:
        """Whether a version lies in this range; pre-releases do, but `choose` takes them last."""
        for clause in self._clauses:  # noqa: SIM110 - resolvers call this in their innermost loops
            if not clause.allows(version):
                return False
        return True

    def __contains__(self, version: SemVer) -> bool:
        return self.contains(version)

    def fitting(self, versions: Iterable[SemVer]) -> tuple[SemVer, ...]:
        """Those versions that may be chosen, best first.

        These are the releases in the range, from the newest to the oldest. Where there are none, or the range names a
        pre-release, these are all versions in the range.
        """
        inside = sorted(filter(self.contains, versions), reverse=True)
        if self.names_prerelease:
            return tuple(inside)
        return tuple(each for each in inside if not each.is_prerelease) or tuple(inside)

    def stretch(self, ordered: Sequence[SemVer]) -> Sequence[SemVer]:
        """The part of versions in ascending order outside of which none lies in this range; found by bisection."""
        key = operator.attrgetter("precedence")
        start, end = 0, len(ordered)
        for clause in self._clauses:
            if low := clause.low:
                start = max(start, bisect.bisect_left(ordered, low.precedence, key=key))
            if high := clause.high:
                end = min(end, bisect.bisect_right(ordered, high.precedence, key=key))
        return ordered[start:end]

    def choose(self, versions: Iterable[SemVer]) -> SemVer | None:
        """The best version: the newest release, a pre-release only as `fitting` says; None if nothing fits."""
        return next(iter(self.fitting(versions)), None)

    def __and__(self, other: "VersionRange") -> "VersionRange":
        """The range of what both allow."""
        if not other._clauses or self is other:
            return self
        return VersionRange((*self._clauses, *other._clauses)) if self._clauses else other

    def __eq__(self, other: object) -> bool:
        return (
            self._clauses == other._clauses if isinstance(other, VersionRange) else NotImplemented
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return VersionRange, (self._clauses,)

    def __str__(self) -> str:
        return ",".join(str(clause) for clause in self._clauses) or "*"

    def __repr__(self) -> str:
        return f"VersionRange.parse({str(self)!r})"


_SMALL = (_Clause(">=", SemVer(0, 0, 0), _FULL), _Clause("<", SemVer(1, 0, 0), _FULL))

ANY = VersionRange(())
"""The range `*` of every version."""


def _clause(scanner: Scanner) -> tuple[_Clause, ...]:
    """Reads one clause; `*` is none."""
    scanner.skip_blank()
    operator = next((each for text, each in _OPERATORS.items() if scanner.take(text)), None)
    if operator is None:
        if scanner.take("*"):
            scanner.skip_blank()
            return ()
        start = scanner.text[scanner.position : scanner.position + 1]
        if start in _STRANGE:
            scanner.fail("an operator or a version", _STRANGE[start])
    scanner.skip_blank()
    numbers = scanner.numbers()
    start_of_suffix = scanner.position
    prerelease, build = scanner.suffixes(allowed=len(numbers) == _FULL)
    if build and operator not in (None, "==", "!="):
        at = start_of_suffix + scanner.text[start_of_suffix:].index("+")
        scanner.fail(f"no build after {operator}", "builds have no order; remove it", at=at)
    scanner.skip_blank()
    major, minor, patch = (*numbers, 0, 0)[:_FULL]
    version = SemVer(major, minor, patch, prerelease, build)
    return (_Clause(operator or "==", version, len(numbers)),)
