"""Holds what another implementation made of documents against the conversions of a generated package."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import msgspec

from trundle.project._expected import DifferenceKind, ExpectedDifference
from trundle.project._places import Path, spelt
from trundle.project.pairs import Pair, PairsError, member
from trundle.runtime import (
    ConversionError,
    DocumentError,
    JoinedScheme,
    Lenience,
    Scheme,
    reason_of,
)
from trundle.version import ApiVersion, VersionError

_NOTHING: Any = msgspec.UNSET
_ANY = Lenience(missing=True, nulls=True, unknown="keep")
_METADATA_MAPS = (("labels",), ("annotations",))
_PARTS = re.compile(
    r"\.(?P<name>[^.\[]+)|\[(?P<quoted>\"(?:[^\"\\]|\\.)*\")\]|\[(?P<place>[0-9]*|\.\.\.)\]"
)


class Check(msgspec.Struct, frozen=True, order=True):
    """What documents are held to.

    Attributes:
        resource: the resource type.
        source: the version of the documents that are converted.
        target: the version that they are converted to; the same as `source` for the way through storage.
    """

    resource: str
    source: str
    target: str

    @property
    def way(self) -> str:
        """The conversion in words."""
        if self.source == self.target:
            return f"{self.source} through storage"
        return f"{self.source} to {self.target}"


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The first example of a difference.

    Attributes:
        where: file and line of the pair.
        path: the exact place in the document.
        expected: the value that the other implementation has, as JSON; None for none.
        found: the value that Trundle has, as JSON; None for none. The reason where the document is refused.
    """

    where: str
    path: str
    expected: str | None = None
    found: str | None = None


class ConformanceEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One difference, in all documents that have it.

    Attributes:
        check: what these documents were held to.
        path: where it is, with `[]` for the elements of lists and `*` for the keys of maps.
        difference: what is wrong there.
        documents: how many documents have it.
        example: the first of them.
        expected: what lists it as expected; None where nothing does.
    """

    check: Check
    path: str
    difference: DifferenceKind
    documents: int
    example: Found
    expected: ExpectedDifference | None = None

    def to_plain(self) -> dict[str, Any]:
        """The difference as plain values, for programs."""
        example = msgspec.to_builtins(self.example)
        data = {
            "resource": self.check.resource,
            "from": self.check.source,
            "to": self.check.target,
            "path": self.path,
            "difference": self.difference,
            "documents": self.documents,
            "example": {name: value for name, value in example.items() if value is not None},
        }
        return data if self.expected is None else {**data, "reason": self.expected.reason}


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """How many documents were held to a check.

    Attributes:
        check: the check.
        documents: how many there were.
        equal: those without any difference.
        as_expected: those with expected differences only.
    """

    check: Check
    documents: int
    equal: int
    as_expected: int


class Conformance(msgspec.Struct, frozen=True, kw_only=True):
    """What came out.

    Attributes:
        pairs: how many pairs there were.
        held: all checks, in the order of resource type and versions.
        differences: all that is not expected.
        expected: the differences that are listed as expected.
        unused: what is listed as expected, and was not found anywhere.
    """

    pairs: int
    held: tuple[Held, ...]
    differences: tuple[ConformanceEntry, ...]
    expected: tuple[ConformanceEntry, ...]
    unused: tuple[ExpectedDifference, ...]

    def to_plain(self) -> dict[str, Any]:
        """What came out as plain values, for programs."""
        return {
            "pairs": self.pairs,
            "checks": [
                {
                    "resource": each.check.resource,
                    "from": each.check.source,
                    "to": each.check.target,
                    "throughStorage": each.check.source == each.check.target,
                    "documents": each.documents,
                    "equal": each.equal,
                    "asExpected": each.as_expected,
                }
                for each in self.held
            ],
            "differences": [each.to_plain() for each in self.differences],
            "expected": [each.to_plain() for each in self.expected],
            "unused": [
                {"where": each.where, "path": each.path, "reason": each.reason}
                for each in self.unused
            ],
        }


class PairVersions(NamedTuple):
    """What documents do not say themselves.

    Attributes:
        before: the version of the documents before.
        after: the version of the documents after.
        resource: the resource type of all of them.
    """

    before: str | None = None
    after: str | None = None
    resource: str | None = None


_ZEROS = ("0", "0s")
"""The zeros of `Quantity` and `Duration`."""


class _Difference(NamedTuple):
    path: Path
    kind: DifferenceKind
    expected: str | None
    found: str | None
    keys: frozenset[int] = frozenset()
    """Which parts of the path are keys of maps."""
    maps: frozenset[Path] = frozenset()
    """The places of maps."""

    @property
    def is_empty(self) -> bool:
        """Whether neither side has anything but empty values. A member of a map is something, whatever its value is."""
        if self.kind == "refused" or self.path[:-1] in self.maps:
            return False
        texts = (each for each in (self.expected, self.found) if each is not None)
        return all(_is_empty(json.loads(each), self.path, self.maps) for each in texts)


def conform(
    scheme: Scheme | JoinedScheme,
    pairs: Sequence[Pair],
    expected: Sequence[ExpectedDifference] = (),
    *,
    alone: Sequence[tuple[str, bytes]] = (),
    both: bool = False,
    versions: PairVersions = PairVersions(),  # noqa: B008 - it is immutable
    lenience: Lenience | None = None,
    on_step: Callable[[str, int, int], None] = lambda _name, _done, _total: None,
) -> Conformance:
    """Converts the first document of every pair and compares the result with the second.

    Every document is also written to storage and read back, which has to lead to the document itself; no
    difference there counts as expected, but for a document that is refused before it is stored.

    Args:
        scheme: the scheme of the generated package.
        pairs: what another implementation was given, and what it made of that.
        expected: the differences that are expected.
        alone: further documents, with where each stands; they are only written to storage and read back.
        both: whether the second document is also converted back and compared with the first.
        versions: what the documents do not say themselves.
        lenience: what is tolerated about the documents of both sides, each as its own version has it; None for nothing.
        on_step: called for each pair with its place, how many are done, and how many there are.

    Raises:
        PairsError: a document does not say its version, and none was given, or both have the same.
    """
    tally = _Tally(expected)
    for where, document in alone:
        said = _version(Pair(where, document, document), document, versions.before, "before")
        check = Check(_resource(document, versions), said, said)
        tally.add(
            check,
            where,
            list(_held(scheme, (document, document), check, versions.resource, lenience)),
        )
    for done, pair in enumerate(pairs, 1):
        on_step(pair.where, done, len(pairs))
        one = _version(pair, pair.before, versions.before, "before")
        other = _version(pair, pair.after, versions.after, "after")
        if _are_one(one, other):
            raise _of_one_version(pair, one)
        ways = [
            (pair.before, one, pair.after, other),
            (pair.before, one, pair.before, one),
            (pair.after, other, pair.after, other),
        ]
        if both:
            ways.append((pair.after, other, pair.before, one))
        for source, source_version, wanted, version in ways:
            check = Check(_resource(source, versions), source_version, version)
            found = _held(scheme, (source, wanted), check, versions.resource, lenience)
            tally.add(check, pair.where, list(found))
    return tally.result(len(pairs))


def _are_one(version: str, other: str) -> bool:
    """Whether two texts name one version; what is no version is found where a document is read."""
    try:
        return ApiVersion.parse(version) == ApiVersion.parse(other)
    except VersionError:
        return version == other


def _of_one_version(pair: Pair, version: str) -> PairsError:
    expected, found = "documents of two versions", f"{version} before and after"
    advice = "remove the pair, or name the right versions with --from and --to"
    return PairsError(pair.where, expected, found, advice)


def _version(pair: Pair, document: bytes, given: str | None, side: str) -> str:
    said = member(document, "apiVersion")
    if said is None and given is None:
        option = "--from" if side == "before" else "--to"
        expected, advice = f"`apiVersion` in the document {side}", f"give its version with {option}"
        raise PairsError(pair.where, expected, "none", advice)
    return given if said is None else said.rpartition("/")[2]  # type: ignore[return-value]


def _resource(document: bytes, versions: PairVersions) -> str:
    return versions.resource or member(document, "kind") or member(document, "type") or "resource"


def _held(
    scheme: Scheme | JoinedScheme,
    documents: tuple[bytes, bytes],
    check: Check,
    resource: str | None,
    lenience: Lenience | None,
) -> Iterator[_Difference]:
    """How the conversion of the first document differs from the second."""
    read = partial(scheme.convert_json, resource=resource, strict=True, lenience=lenience)
    source, wanted = documents
    try:
        if check.source == check.target:
            made = scheme.convert_json(
                read(source, version=check.source), check.target, resource=resource
            )
        else:
            made = read(source, check.target, version=check.source)
        if lenience is not None:
            wanted = read(wanted, check.target, version=check.target)
    except DocumentError as error:
        for finding in error.findings:
            yield _Difference(_parsed(finding.place.path), "refused", None, reason_of(finding))
    except ConversionError as error:
        yield _Difference((), "refused", None, str(error))
    else:
        found = list(differences(_tree(wanted), _tree(made)))
        if found:
            shown, other = (_shown(scheme, each, check, resource) for each in (made, wanted))
            maps = frozenset((*_maps(shown), *_maps(other)))
            yield from (
                each._replace(keys=_map_keys(each.path, shown), maps=maps) for each in found
            )


def _shown(
    scheme: Scheme | JoinedScheme, document: bytes, check: Check, resource: str | None
) -> Any:
    """A document as an object of its class; None where it is a list, or nothing that a class can hold."""
    try:
        return scheme.decode(document, version=check.target, resource=resource, lenience=_ANY)
    except ConversionError:
        return None


def _maps(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where an object has maps or free-form data, as a version has them; metadata has two maps."""
    if path[-1:] == ("metadata",):
        yield from ((*path, *each) for each in _METADATA_MAPS)
    elif isinstance(value, dict | msgspec.Raw):
        yield path
    inner: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    elif isinstance(value, msgspec.Struct):
        names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        inner = ((name, getattr(value, field)) for name, field in names)
    for name, each in inner:
        yield from _maps(each, (*path, name))


def _map_keys(path: Path, value: Any) -> frozenset[int]:
    """Which parts of a path in an object are keys of maps; labels and annotations are maps, too."""
    found = {2} if path[:1] == ("metadata",) and path[1:2] in _METADATA_MAPS else set[int]()
    for at, part in enumerate(path):
        if isinstance(value, dict) and isinstance(part, str):
            found.add(at)
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part] if part < len(value) else None
        elif isinstance(value, msgspec.Struct):
            names = dict(zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True))
            value = getattr(value, names.get(str(part), ""), None)
        else:
            break
    return frozenset(found)


def _tree(data: bytes) -> Any:
    return json.loads(data, parse_float=Decimal)


def differences(expected: Any, found: Any, path: Path = ()) -> Iterator[_Difference]:
    """All places at which two JSON values differ.

    The order of an object's members and the spelling of a number do not count, the order of a list does. Lists
    of different lengths differ as a whole.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in {**expected, **found}:
            one, other = expected.get(name, _NOTHING), found.get(name, _NOTHING)
            yield from differences(one, other, (*path, name))
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, (*path, place))
    elif expected is _NOTHING:
        yield _Difference(path, "unexpected", None, _text(found))
    elif found is _NOTHING:
        yield _Difference(path, "missing", _text(expected), None)
    elif isinstance(expected, bool) is not isinstance(found, bool) or expected != found:
        yield _Difference(path, "changed", _text(expected), _text(found))


def _is_empty(value: Any, path: Path, maps: Collection[Path]) -> bool:
    """Whether a value is what Go writes for the zero value of a type, or an object of such."""
    if isinstance(value, dict) and path not in maps:
        return all(_is_empty(each, (*path, name), maps) for name, each in value.items())
    return not value or value in _ZEROS


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=float)


def _parsed(path: str) -> Path:
    """A JSON path as parts; elements whose place is not known are at 0."""
    found: list[str | int] = []
    for part in _PARTS.finditer(path):
        if part["name"] is not None:
            found.append(part["name"])
        elif part["quoted"] is not None:
            found.append(json.loads(part["quoted"]))
        else:
            found.append(int(part["place"]) if part["place"].isdigit() else 0)
    return tuple(found)


class _Tally:
    """Counts differences that are the same in several documents once."""

    def __init__(self, expected: Sequence[ExpectedDifference]) -> None:
        self.listed = expected
        self.used: set[int] = set()
        self.held: dict[Check, list[int]] = {}
        self.entries: dict[tuple[Any, ...], ConformanceEntry] = {}

    def add(self, check: Check, where: str, found: Sequence[_Difference]) -> None:
        """Counts the differences of one document."""
        counts = self.held.setdefault(check, [0, 0, 0])
        known = {each: self.expectation(check, each) for each in found}
        counts[0] += 1
        counts[1] += not found
        counts[2] += bool(found) and None not in known.values()
        keys: dict[tuple[Any, ...], tuple[_Difference, ExpectedDifference | None]] = {}
        for each, listed in known.items():
            reason = each.found if each.kind == "refused" else None
            path = spelt(each.path, keys=each.keys)
            keys.setdefault((check, path, each.kind, reason, listed), (each, listed))
        for key, (each, listed) in keys.items():
            if key in self.entries:
                old = self.entries[key]
                self.entries[key] = msgspec.structs.replace(old, documents=old.documents + 1)
                continue
            self.entries[key] = ConformanceEntry(
                check=check,
                path=spelt(each.path, keys=each.keys),
                difference=each.kind,
                documents=1,
                example=Found(
                    where=where,
                    path=spelt(each.path, exact=True),
                    expected=each.expected,
                    found=each.found,
                ),
                expected=listed,
            )

    def expectation(self, check: Check, found: _Difference) -> ExpectedDifference | None:
        """What lists a difference as expected."""
        refused = found.kind == "refused"
        if check.source == check.target and not refused:
            return None
        versions = {check.target, check.source} if refused else {check.target}
        covering = [
            (number, each)
            for number, each in enumerate(self.listed)
            if any(
                each.covers(version, found.path, found.kind, empty=found.is_empty)
                for version in versions
            )
        ]
        self.used.update(number for number, _ in covering)
        return covering[0][1] if covering else None

    def result(self, pairs: int) -> Conformance:
        """All that was counted."""
        entries = sorted(
            self.entries.values(), key=lambda each: (each.check, each.path, each.difference)
        )
        return Conformance(
            pairs=pairs,
            held=tuple(
                Held(check=check, documents=total, equal=equal, as_expected=expected)
                for check, (total, equal, expected) in sorted(self.held.items())
            ),
            differences=tuple(each for each in entries if each.expected is None),
            expected=tuple(each for each in entries if each.expected is not None),
            unused=tuple(
                each for number, each in enumerate(self.listed) if number not in self.used
            ),
        )
