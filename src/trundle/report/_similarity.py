"""How much two names, texts or sets of names are alike, from 0 to 1."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from math import prod

_NEGATIONS = ("dis", "in", "non", "not", "un")
_OPPOSITES = (
    {"allow", "deny"},
    {"allow", "forbid"},
    {"disable", "enable"},
    {"disabled", "enabled"},
    {"exclude", "include"},
    {"excluded", "included"},
    {"hidden", "shown"},
    {"hide", "show"},
    {"max", "min"},
    {"maximum", "minimum"},
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


def words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case: `sortKey` and `sort_key` are `sort` and `key`."""
    return tuple(word.casefold() for word in _WORD.findall(name))


def case_only(one: str, other: str) -> bool:
    """Whether two names differ by nothing but letter case and the marks between words."""
    return one != other and _bare(one) == _bare(other)


def _bare(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def has_name(longer: str, shorter: str) -> bool:
    """Whether a name has all words of another, and more: `deprecatedCount` has those of `count`."""
    ours, theirs = Counter(words(longer)), Counter(words(shorter))
    return bool(theirs) and theirs < ours


def likeness(one: str, other: str) -> float:
    """How much two names are alike: by their letters and by the words they share, half each.

    Names that say the opposite, as `available` and `unavailable`, are not alike at all.
    """
    ours, theirs = words(one), words(other)
    if opposite(one, other):
        return 0.0
    shared = sum((Counter(ours) & Counter(theirs)).values())
    by_word = 2 * shared / (len(ours) + len(theirs)) if ours and theirs else 0.0
    by_letter = difflib.SequenceMatcher(None, _bare(one), _bare(other), autojunk=False).ratio()
    return (by_word + by_letter) / 2


def opposite(one: str, other: str) -> bool:
    """Whether two names differ by a word and its opposite, as `available` and `unavailable`, `min` and `max`."""
    return len(one_sided := _one_sided(words(one), words(other))) == 1 and _opposed(*one_sided[0])


def turned(one: str, other: str) -> str | None:
    """The first name as words, with that of the other for each of its words of which the other has the opposite; None where it has none."""
    pairs = dict(each for each in _one_sided(words(one), words(other)) if _opposed(*each))
    return " ".join(pairs.get(word, word) for word in words(one)) if pairs else None


def _one_sided(ours: tuple[str, ...], theirs: tuple[str, ...]) -> list[tuple[str, str]]:
    """All pairs of words that only one of two names has, one of each."""
    return [
        (one, other) for one in ours for other in theirs if one not in theirs and other not in ours
    ]


def _opposed(one: str, other: str) -> bool:
    negated = any(one == each + other or other == each + one for each in _NEGATIONS)
    return negated or {one, other} in _OPPOSITES


def texts_alike(one: str, other: str) -> float:
    """How much two descriptions are alike, word by word; 0 where either is missing."""
    if not one or not other:
        return 0.0
    ours, theirs = one.casefold().split(), other.casefold().split()
    return difflib.SequenceMatcher(None, ours, theirs, autojunk=False).ratio()


def overlap(ours: AbstractSet[str], theirs: AbstractSet[str]) -> float:
    """The share of all members of two sets that both have."""
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else 0.0


def together(evidence: Iterable[float]) -> float:
    """Independent pieces of evidence taken together: each leaves less room for doubt."""
    return round(1 - prod(1 - each for each in evidence), 2)
