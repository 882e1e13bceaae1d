"""The law of origins: nothing that an earlier write left behind is shown again."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from trundle.runtime import Scheme
from trundle.verify._broken import MISSING, Difference, LawBroken, differences, same, shown, spoken
from trundle.verify._seen import context_of, named, some_versions, tree_of, view
from trundle.verify._views import value_at

Leaf: TypeAlias = tuple[tuple[str, ...], str]
"""A scalar as JSON text in lower case, and its path without the places in lists."""


def law_of_origins(scheme: Scheme, states: Sequence[Any], document: Any) -> None:
    """Each scalar that a version reads after a write it read before the write, or the written document leads to it.

    A scalar that was read earlier may return where the write gives a place the value again that the writer's version
    read there at that time, or adds to it: what accompanied the value then is current again. So may elements of a list
    or map that is made anew. What a version requires and nothing is stored of is no one's value, whatever stands there.

    Args:
        scheme: the scheme of the generated package.
        states: the storage objects after each of the earlier writes, at least one.
        document: a valid object of some version, which is written over the last of them.
    """
    resource, version = named(scheme, document)
    written = scheme.to_storage(document, states[-1])
    alone = scheme.to_storage(document)
    for other in some_versions(scheme, resource, scheme.encode(written)):
        if other == version:
            continue  # `law1` covers it
        views = [view(scheme, each, other) for each in (states[-1], alone)]
        views.append(tree_of(scheme, document))
        known: set[Leaf] = set()
        for leaf, path in _leaves(view(scheme, written, other), views):
            known = known or {leaf for each in views for leaf, _ in _leaves(each)}
            if leaf in known or leaf in _returning(scheme, states, document, other):
                continue
            if _within(path, scheme.lacking(other, written)):
                continue
            raise LawBroken(
                "law 4, nothing stale is shown again",
                resource,
                (version, other),
                path=shown(path),
                found=leaf[1],
                context=context_of(scheme, stored=states[-1], document=document, written=written)(),
            )


def _within(path: tuple[str | int, ...], places: Sequence[str]) -> bool:
    """Whether a path is one of some places, or inside of one."""
    return any(shown(path[:length]) in places for length in range(1, len(path) + 1))


def _returning(scheme: Scheme, states: Sequence[Any], document: Any, other: str) -> set[Leaf]:
    """What may be read again, because the write gives a property a value that it had when this was read."""
    _, version = named(scheme, document)
    now, before = tree_of(scheme, document), view(scheme, states[-1], version)
    changed = list(differences(now, before))
    found: set[Leaf] = set()
    for each in states[:-1]:
        then = view(scheme, each, version)
        if any(_back(place, value_at(then, place.path)) for place in changed):
            found.update(leaf for leaf, _ in _leaves(view(scheme, each, other)))
    return found


def _back(change: Difference, then: Any) -> bool:
    """Whether a write gives a place what was there at some time, or more, or a list or map anew that was there."""
    now, before, _ = change.one, change.other, change.path
    if isinstance(now, dict) and isinstance(then, dict):
        return before is MISSING or all(
            same(now.get(name, MISSING), each) for name, each in then.items()
        )
    if isinstance(now, list) and isinstance(then, list):
        return before is MISSING or all(any(same(one, each) for one in now) for each in then)
    return same(now, then)


def _leaves(
    value: Any, others: Sequence[Any] = (), path: tuple[str | int, ...] = ()
) -> Iterator[tuple[Leaf, tuple[str | int, ...]]]:
    """The scalars of a tree that none of some other trees has at the same place, with their paths."""
    if value in others:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            there = [each[name] for each in others if isinstance(each, dict) and name in each]
            yield from _leaves(member, there, (*path, name))
    elif isinstance(value, list):
        lists = [each for each in others if isinstance(each, list)]
        for place, item in enumerate(value):
            there = [each[place] for each in lists if place < len(each)]
            yield from _leaves(item, there, (*path, place))
    else:
        names = tuple(each for each in path if isinstance(each, str))
        yield (names, spoken(value).casefold()), path
