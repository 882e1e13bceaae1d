"""Suggested rules in as few lines as say the same: a pattern where several rules follow it, and nothing else does."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, takewhile
from typing import NamedTuple, TypeAlias

import msgspec

from trundle.errors import listed
from trundle.evolution import Evolution, TypeChanges
from trundle.project._patterns import spread_patterns
from trundle.project._starred import ANY
from trundle.project.changes import BY_PROPERTY
from trundle.report import Suggestion, suggest, taken_up
from trundle.schema import Schema

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|.")

_Meant: TypeAlias = frozenset[tuple[str, str, str, str]]
"""Rules without patterns: type, rule, property, and what the rule says."""

_Says: TypeAlias = tuple[str, str, tuple[tuple[str, str], ...]]
"""A rule, and what it says about a property."""


class _Names(NamedTuple):
    """Patterns for the older and the newer path of properties."""

    older: str
    newer: str


def suggest_rules(evolution: Evolution) -> tuple[Suggestion, ...]:
    """Suggests configured changes, the likeliest first, with patterns where these say the same in fewer lines.

    Args:
        evolution: where to look, with the changes that are configured already.
    """
    singles = suggest(evolution)
    found: list[Suggestion] = []
    for version in sorted({each.older for each in singles}):
        schemas = [each for each in evolution.schemas if each.version >= version]
        configured = [each for each in evolution.all_changes if each.version == version]
        of_version = [each for each in singles if each.older == version]
        found.extend(_Condensing(schemas, configured, of_version).lines)
    return tuple(sorted(found, key=lambda each: -each.score))


class _Condensing:
    """The suggestions for one version, on the way to fewer lines."""

    def __init__(
        self,
        schemas: Sequence[Schema],
        configured: Sequence[TypeChanges],
        singles: Sequence[Suggestion],
    ) -> None:
        self._schemas = schemas
        self._configured = configured
        self.lines = list(singles)
        self._meaning = self._meant(self.lines)
        for name in sorted({each.type for each in singles}):
            self._star_properties(name)
        self._star_types()

    def _star_properties(self, name: str) -> None:
        """Puts patterns in place of properties of a type that go elsewhere in the same way."""
        placed = [
            each for each in self.lines if each.type == name and each.rule in ("move", "rename")
        ]
        found: dict[tuple[str, _Names], list[Suggestion]] = {}
        for one, other in combinations(placed, 2):
            names = _common_names(one, other) if one.rule == other.rule else None
            if names is not None:
                both = found.setdefault((one.rule, names), [])
                both.extend(each for each in (one, other) if each not in both)
        for (_, names), lines in sorted(found.items(), key=_by_reach):
            left = [each for each in lines if each in self.lines]
            if self._replace(left, property=names.older, target=names.newer):
                properties = {each.property for each in left}
                shaped = [
                    each for each in self.lines if each.type == name and each.property in properties
                ]
                for same in _alike(shaped):
                    self._replace(same, property=names.older)

    def _star_types(self) -> None:
        """Puts patterns in place of types for whose properties the same is suggested."""
        by_property: dict[tuple[str, str], list[Suggestion]] = {}
        for each in self.lines:
            if each.property:
                by_property.setdefault((each.property, each.type), []).append(each)
        found: dict[tuple[str, frozenset[_Says]], list[str]] = {}
        for (of_property, name), lines in by_property.items():
            said = frozenset(map(_said, lines))
            found.setdefault((of_property, said), []).append(name)
        used: dict[str, None] = {}
        for (of_property, _), names in sorted(found.items(), key=lambda each: -len(each[1])):
            replaced = [line for name in names for line in by_property[of_property, name]]
            for pattern in dict.fromkeys((*used, *_common_types(names))):
                if self._replace(replaced, type=pattern):
                    used[pattern] = None
                    break

    def _replace(self, replaced: Sequence[Suggestion], **names: str) -> bool:
        """Puts one line for each rule in place of several, where they mean the same; returns whether they do."""
        groups = [*_alike(replaced)] if "type" in names else [[*replaced]]
        if len(replaced) <= len(groups):
            return False
        starred = [_one_for(each, names) for each in groups]
        lines = [*(each for each in self.lines if each not in replaced), *starred]
        if self._meant(lines) != self._meaning:
            return False
        self.lines = lines
        return True

    def _meant(self, lines: Iterable[Suggestion]) -> _Meant | None:
        """What lines mean without patterns; None where a pattern has no effect, or two contradict each other.

        What a pattern says of a property that moves with a rule of an object around it has no effect, and is no fault.
        """
        found = spread_patterns([*taken_up(self._configured, lines)], self._schemas)
        if found.misfits or found.judged(())[1]:
            return None
        version = str(self._schemas[0].version)
        return frozenset(
            (each.type, rule, name, repr(said if rule == "keep" else said[name]))
            for each in found.changes
            for rule in BY_PROPERTY
            for said in [getattr(each, rule)]
            for name in said
            if (version, each.type, rule, name) not in found.written
            or (version, each.type, name) not in found.taken
        )


def _said(each: Suggestion) -> _Says:
    return each.rule, each.target, each.values


def _alike(lines: Iterable[Suggestion]) -> Iterator[list[Suggestion]]:
    """Lines that say the same of different properties or types."""
    found: dict[tuple[object, ...], list[Suggestion]] = {}
    for each in lines:
        found.setdefault(_said(each), []).append(each)
    yield from found.values()


def _one_for(lines: Sequence[Suggestion], names: Mapping[str, str]) -> Suggestion:
    """One line with a pattern in place of several; it is as likely as the least likely of them."""
    evidence = [each for each in lines[0].evidence if all(each in one.evidence for one in lines)]
    if "type" in names:
        evidence.append(f"in {len(lines)} types")
    elif "target" in names:
        evidence.append(f"stands for {listed(each.property for each in lines)}")
    score = min(each.score for each in lines)
    return msgspec.structs.replace(lines[0], score=score, evidence=tuple(evidence), **names)


def _by_reach(found: tuple[tuple[str, _Names], list[Suggestion]]) -> tuple[object, ...]:
    """Patterns that several properties follow first, then the narrower ones."""
    (rule, names), lines = found
    return -len(lines), -len(names.older), rule, names


def _common_names(one: Suggestion, other: Suggestion) -> _Names | None:
    """Patterns of both paths, where two properties go elsewhere in the same way."""
    olders = _common(one.property, other.property)
    newers = _common(one.target, other.target)
    if olders is None or newers is None:
        return None
    (older, *ours), (newer, *theirs) = olders, newers
    if [each.casefold() for each in ours] != [each.casefold() for each in theirs]:
        return None
    return _Names(older, newer)


def _common(one: str, other: str) -> tuple[str, str, str] | None:
    """A pattern for two paths that differ in one name, and what its `*` stands for in each."""
    paths = one.split("."), other.split(".")
    if len(paths[0]) != len(paths[1]) or any(mark in one + other for mark in (ANY, "[")):
        return None
    apart = [place for place, names in enumerate(zip(*paths, strict=True)) if len({*names}) > 1]
    if len(apart) != 1:
        return None
    (place,) = apart
    begin, end = _shared_words([path[place] for path in paths])
    pattern = [*paths[0][:place], f"{begin}{ANY}{end}", *paths[0][place + 1 :]]
    ours, theirs = (path[place][len(begin) : len(path[place]) - len(end)] for path in paths)
    return ".".join(pattern), ours, theirs


def _common_types(names: Sequence[str]) -> Iterator[str]:
    """Patterns that stand for some types, the likeliest first."""
    begin, end = _shared_words(names)
    if end:
        yield f"{ANY}{end}"
    yield ANY
    yield f"{begin}{ANY}{end}"


def _shared_words(names: Sequence[str]) -> tuple[str, str]:
    """The words that all of some names begin with, and those that all end with."""
    split = [_WORD.findall(each) for each in names]
    begin = _shared(split)
    end = _shared([each[len(begin) :][::-1] for each in split])
    return "".join(begin), "".join(end[::-1])


def _shared(lists: Sequence[Sequence[str]]) -> list[str]:
    """What all lists begin with."""
    return [
        each[0] for each in takewhile(lambda each: len({*each}) == 1, zip(*lists, strict=False))
    ]
