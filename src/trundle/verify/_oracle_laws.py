"""The laws that are held against the oracle, and against what hooks return."""

import functools
import importlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any

import msgspec

from trundle.evolution import HookDeclaration
from trundle.runtime import Scheme
from trundle.verify._broken import MISSING, LawBroken, differences, same, shown, spoken, tree
from trundle.verify._edit_laws import hidden_beside_more
from trundle.verify._removed import may_stay
from trundle.verify._seen import context_of, named, some_versions, tree_of, view
from trundle.verify._values import KEY_PROPERTIES
from trundle.verify._views import discriminators, in_another_variant, nothing_in, value_at
from trundle.verify.oracle import (
    Edited,
    World,
    after_edit,
    changed_discriminators,
    disagreements,
    leads_to,
    shown_document,
    stays,
)


def law7(scheme: Scheme, world: World, document: Any, target: str) -> None:
    """The text of a discriminator that both versions know never changes.

    Args:
        scheme: the scheme of the generated package.
        world: what the oracle knows.
        document: a valid object of some version.
        target: another version.
    """
    resource, version = named(scheme, document)
    found = tree_of(scheme, scheme.convert(document, target))
    own = tree_of(scheme, document)
    for place, text in changed_discriminators(world, own, version, found, target):
        raise LawBroken(
            "law 7, the text of a discriminator never changes",
            resource,
            (version, target),
            path=f"${place}",
            found=text,
            context=context_of(scheme, document=document)(),
        )


def law8(scheme: Scheme, world: World, document: Any, target: str) -> None:
    """What schemas and configuration say happens: an oracle that knows no plans comes to the same result.

    Args:
        scheme: the scheme of the generated package.
        world: what the oracle knows.
        document: a valid object of some version.
        target: another version, which is held to show what the oracle says.
    """
    resource, version = named(scheme, document)
    expected = shown_document(world, tree_of(scheme, document), version, target)
    straight = tree_of(scheme, scheme.convert(document, target))
    by_hub = view(scheme, scheme.to_storage(document), target)
    for each in differences(by_hub, straight):
        raise LawBroken(
            "the straight way and the one by the hub agree",
            resource,
            (version, target),
            path=shown(each.path),
            expected=each.one,
            found=each.other,
        )
    for each in (*disagreements(expected, straight), *disagreements(expected, by_hub)):
        raise LawBroken(
            "law 8, what schemas and rules say happens",
            resource,
            (version, target),
            path=shown(each.path),
            expected=each.one,
            found=each.other,
            context=context_of(scheme, document=document)(),
        )


def law8_of_edits(scheme: Scheme, world: World, stored: Any, edited: Any) -> None:
    """Laws 4 and 8 of an edit: what it touched is seen or derived anew, never stale, and all else is as before.

    Args:
        scheme: the scheme of the generated package.
        world: what the oracle knows.
        stored: a storage object that one version has written once.
        edited: what some version writes over it.
    """
    resource, version = named(scheme, edited)
    seen = scheme.from_storage(stored, version)
    written = scheme.to_storage(edited, stored)
    alone = scheme.to_storage(seen), scheme.to_storage(edited)
    storage: Any = type(written)
    names = discriminators(storage)
    for other in some_versions(scheme, resource, scheme.encode(written)):
        if other == version:
            continue
        edit = Edited(
            tree_of(scheme, seen),
            tree_of(scheme, edited),
            view(scheme, stored, other),
            *(view(scheme, each, other) for each in alone),
        )
        found = view(scheme, written, other)
        for path in unseen(edit, found):
            if not leads_to(world, other, version, path):
                continue  # the editor's has only the name of what is there
            hidden = (
                value_at(edit.was, path) == []
            )  # the editor sees a list, and nothing that is in it
            if hidden and in_another_variant(names, (edit.before, found), path):
                continue  # what the editor cannot see goes with the object that holds it
            if edited.__labels__ and nothing_in(edit.was, edit.fresh, path):
                continue
            if hidden_beside_more(scheme, (stored, written), other, path):
                continue
            made, views = (version, edit.seen, edit.edited), (other, edit.before, found)
            left = path, value_at(found, path)
            if may_stay(functools.partial(stays, world), made, views, edit.was, left):
                continue
            raise LawBroken(
                "laws 3 and 4, what an edit changes is seen, and what it cannot see stays",
                resource,
                (version, other),
                path=shown(path),
                expected=value_at(edit.before if hidden else edit.fresh, path),
                found=value_at(found, path),
                context=context_of(scheme, stored=stored, edited=edited, written=written)(),
            )
        for each in disagreements(after_edit(world, edit, version, other), found):
            raise LawBroken(
                "laws 4 and 8, an edit leaves nothing stale, and all else as before",
                resource,
                (version, other),
                path=shown(each.path),
                expected=each.one,
                found=each.other,
                context=context_of(scheme, stored=stored, edited=edited, written=written)(),
            )


def law_of_hooks(
    scheme: Scheme, world: World, hook: HookDeclaration, document: Any, target: str
) -> None:
    """What the hook of a whole document returns is what the other neighbour shows; absent is absent.

    Args:
        scheme: the scheme of the generated package.
        world: what the oracle knows.
        hook: a hook between the document's version and the target.
        document: a valid object of one neighbour.
        target: the other neighbour.
    """
    resource, version = named(scheme, document)
    method = "assign_to" if hook.reference.older.text == version else "assign_from"
    class_ = hook_class(hook.reference.use)
    declared = hook.assign.get(method)
    if class_ is None or declared is None:
        return
    with _recorded(class_, method) as returned:
        converted = scheme.convert(document, target)
    outputs = [msgspec.json.encode(without_absent(each)) for each in returned]
    if not outputs or len(set(outputs)) != 1:
        return  # it was not asked, or once for what it is held against
    found = tree_of(scheme, converted)
    fields = type(converted).__struct_encode_fields__, type(converted).__struct_fields__
    attributes = dict(zip(*fields, strict=True))
    definition = world.object(world.root(target))
    for name in declared.writes:
        property_ = definition.property(name)
        if property_ is None or name not in attributes:
            continue
        value = without_absent(returned[0].get(attributes[name], MISSING))
        wanted = MISSING if value is MISSING else tree(msgspec.json.encode(value))
        if _as_returned(wanted, found.get(name, MISSING), required=property_.required):
            continue
        raise LawBroken(
            "law 8, what a hook returns is shown",
            resource,
            (version, target),
            path=shown((name,)),
            expected=wanted,
            found=found.get(name, MISSING),
            context=context_of(scheme, document=document)(),
        )


def unseen(edit: Edited, found: Any) -> Iterator[tuple[str | int, ...]]:
    """The places at which an edit would be seen on its own but is not, and lists that lose what it cannot see."""
    for path in _unseen(edit.before, edit.was, edit.fresh, found, (), sure=True):
        seen, was, before, now = (
            value_at(each, path) for each in (edit.seen, edit.was, edit.before, found)
        )
        edited = value_at(edit.edited, path)
        if was == [] and len(_lost(before, now)) <= len(_lost(seen, edited)):
            continue  # the editor has taken away so much of what it saw, of which nothing fits the version
        yield path


def _unseen(
    before: Any, was: Any, fresh: Any, found: Any, path: tuple[str | int, ...], *, sure: bool
) -> Iterator[tuple[str | int, ...]]:
    """Places as `unseen` has them; `sure` says whether the elements that a path leads through are the same ones before and after."""
    if all(isinstance(each, dict) for each in (before, was, fresh, found)):
        for name in {**was, **fresh}:
            one, two, three, four = (
                each.get(name, MISSING) for each in (before, was, fresh, found)
            )
            yield from _unseen(one, two, three, four, (*path, name), sure=sure)
        return
    lists = [each for each in (before, was, fresh, found) if isinstance(each, list)]
    if len(lists) == 4 and len(set(map(len, lists))) == 1:  # noqa: PLR2004 - all of them
        sure = sure and _stay_in_place(was, fresh)
        for place, (one, two, three, four) in enumerate(zip(*lists, strict=True)):
            if _one_element(one, two, three, four):
                yield from _unseen(one, two, three, four, (*path, place), sure=sure)
        return
    hidden = not same(was, fresh) and same(before, found) and not same(found, fresh)
    hidden = hidden and (was is not MISSING or not _has_all(found, fresh))
    hidden = hidden and not (
        before == {} and isinstance(was, dict)
    )  # the editor saw what it requires, and no more
    if hidden or (sure and was == [] and isinstance(fresh, list) and _lost(before, found)):
        yield path


def _lost(before: Any, after: Any) -> list[str]:
    """The elements of a list that are no longer there."""
    one, other = (
        Counter(map(spoken, each if isinstance(each, list) else ())) for each in (before, after)
    )
    return list((one - other).elements())


def _has_all(one: Any, other: Any) -> bool:
    """Whether a value has all that another has; what is in its objects beside that the editor cannot see."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return same(one, other)
    return all(_has_all(one.get(name, MISSING), each) for name, each in other.items())


def _stay_in_place(was: list[Any], fresh: list[Any]) -> bool:
    """Whether the elements of a list are those at the same places after an edit: a key names each, or one of them changes at most."""
    changed = sum(not same(*each) for each in zip(was, fresh, strict=True))
    return changed <= 1 or any(
        all(isinstance(each, dict) and each.get(name) for each in (*was, *fresh))
        for name in KEY_PROPERTIES
    )


def _one_element(*views: Any) -> bool:
    """Whether what stands at a place of a list may be the same element in all views: nothing that says which one differs."""
    objects = [each for each in views if isinstance(each, dict)]
    for name in (*KEY_PROPERTIES, "type", "kind"):
        values = [each[name] for each in objects if name in each]
        if any(not same(each, values[0]) for each in values):
            return False
    return True


def without_absent(value: Any) -> Any:
    """What a hook returns, without members of dictionaries that are absent."""
    if isinstance(value, Mapping):
        return {name: without_absent(each) for name, each in value.items() if each is not MISSING}
    return [without_absent(each) for each in value] if isinstance(value, list) else value


def _as_returned(wanted: Any, found: Any, *, required: bool) -> bool:
    """Whether a property shows what a hook returned for it; of objects and enums only whether it is there."""
    if wanted is MISSING:
        return found is MISSING or required
    if isinstance(wanted, str) and isinstance(found, str):
        return wanted.casefold() == found.casefold()
    return isinstance(wanted, dict | list) or same(wanted, found)


def hook_class(use: str) -> Any:
    """The class of a hook, wherever a package has imported it from."""
    module, _, path = use.partition(":")
    for known, each in list(sys.modules.items()):
        if known == module or known.endswith(f".{module}"):
            with suppress(AttributeError):
                return attrgetter(path)(each)
    with suppress(AttributeError, ImportError):
        return attrgetter(path)(importlib.import_module(module))
    return None


@contextmanager
def _recorded(class_: Any, method: str) -> Iterator[list[Mapping[str, Any]]]:
    """What a hook's method returns for a while."""
    returned: list[Mapping[str, Any]] = []
    own = class_.__dict__.get(method)
    called = getattr(class_, method)

    def record(self: Any, source: Any, /) -> Any:
        outputs = called(self, source)
        if isinstance(outputs, Mapping):
            returned.append({name: each for name, each in outputs.items() if each is not MISSING})
        return outputs

    setattr(class_, method, record)
    try:
        yield returned
    finally:
        delattr(class_, method) if own is None else setattr(class_, method, own)
