"""What Meta classes may describe, and how often, with what is inherited."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from trundle.engine._declarations import ClassDeclaration, MethodDeclaration
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._metas import SYNCHRONIZE, attached, method_metas
from trundle.engine._nodes import Node
from trundle.engine._type import Type, method_key
from trundle.errors import did_you_mean, expectation, listed, shown

Find: TypeAlias = Callable[[Type, str], Type]
"""The class that a full name means in the code of a class; raises an `EngineError` where there is none."""

_ON_ARGS = "onArgs"


class Described(NamedTuple):
    """A class, or one of its members, to which something is attached.

    Attributes:
        key: the member as `Type.own_members` names it; empty for the class. An argument stands behind its method.
        member: the property or method; empty for the class.
        target: what it is, as `Applies` names it.
        meta: what is attached.
    """

    key: str
    member: str
    target: str
    meta: Node


def described(declaration: ClassDeclaration) -> Iterator[Described]:
    """The class and its members, as far as something is attached to them."""
    if declaration.meta is not None:
        yield Described("", "", "Type", declaration.meta)
    for each in declaration.properties.values():
        if each.meta is not None:
            yield Described(each.name, each.name, "Property", each.meta)
    for method in declaration.methods.values():
        key = method_key(method.name)
        if method.meta is not None:
            yield Described(key, method.name, "Method", method.meta)
        for argument in method.arguments:
            if argument.meta is not None:
                yield Described(f"{key} {argument.name}", method.name, "Argument", argument.meta)


class MetaRules:
    """Applies `Usage`, `Applies`, `Cardinality` and `Inherited` of Meta classes to what they are attached to.

    Args:
        find: the class that a full name means in the code of a class; it need not be built.
    """

    def __init__(self, find: Find) -> None:
        self._find = find
        self._own: dict[Type, _Own] = {}

    def errors(self, type_: Type) -> Iterator[EngineError]:
        """What may not be attached to a class, to its members or to its ancestors.

        That is what no package has, what is no Meta class, what is for other things, what may be there once, but is there
        twice or comes from several parents, and `Synchronize` by what is no name of an argument.
        """
        lineage = type_.lineage.upwards
        for each in lineage:
            yield from self._attached(each).errors
        for key in dict.fromkeys(key for each in lineage for key in self._attached(each).metas):
            yield from self._inherited(type_, key)
        keys = self._synchronized(lineage)
        for each in lineage:
            for method, found in _unmatched(each, keys):
                if not _may_be_name(found):
                    yield _without_argument(each, method, found)

    def warnings(self, type_: Type) -> Iterator[EngineError]:
        """Where `Synchronize` names arguments that a method of a class does not have: they distinguish no calls.

        Published packages do so, and run.
        """
        for method, found in _unmatched(type_, self._synchronized(type_.lineage.upwards)):
            if _may_be_name(found):
                yield _without_argument(type_, method, found)

    def _attached(self, type_: Type) -> "_Own":
        """What a class attaches itself."""
        if type_ not in self._own:
            metas: dict[str, list[Type]] = {}
            errors: list[EngineError] = []
            for each in described(type_.declaration):
                found = metas[each.key] = []
                for name, _ in attached(type_, each.meta):
                    try:
                        meta = self._find(type_, type_.full_name(name))
                    except EngineError as error:
                        error.class_name, error.member = type_.name, each.member
                        error.file, error.line = type_.declaration.file, each.meta.line
                        errors.append(error)
                        continue
                    found.append(meta)
                    errors += _misplaced(type_, each, meta)
                errors += _repeated(type_, each, found)
            self._own[type_] = _Own(metas, errors)
        return self._own[type_]

    def _synchronized(self, lineage: Sequence[Type]) -> set[str]:
        """The keys of the methods that have `Synchronize` in a class or in one of its ancestors."""
        return {
            key
            for each in lineage
            for key, metas in self._attached(each).metas.items()
            if any(meta.name == SYNCHRONIZE for meta in metas)
        }

    def _inherited(self, root: Type, key: str) -> Iterator[EngineError]:
        """Where a class has what may be there once from several parents, in one pass over a class and its ancestors."""
        reaching: dict[Type, dict[Type, dict[Type, None]]] = {}
        for each in root.lineage.upwards:
            own = self._attached(each).metas.get(key, ())
            above: dict[Type, dict[Type, None]] = {}
            for parent in root.lineage.parents[each]:
                for meta, origins in reaching[parent].items():
                    if not (meta in own and _is_single(meta)):
                        above.setdefault(meta, {}).update(origins)
            for meta, origins in above.items():
                if len(origins) > 1 and _is_single(meta):
                    if _has(each, key):
                        yield _from_several(each, key, meta, origins)
                    above[meta] = dict.fromkeys(list(origins)[:1])  # Said of this class only
            for meta in own:
                if meta.declaration.is_inherited:
                    above.setdefault(meta, {})[each] = None
            reaching[each] = above


class _Own(NamedTuple):
    """What a class attaches: the Meta classes by what they describe, and what is wrong with them."""

    metas: Mapping[str, Sequence[Type]]
    errors: Sequence[EngineError]


def _misplaced(type_: Type, place: Described, meta: Type) -> Iterator[EngineError]:
    applies = meta.declaration.applies
    if not meta.is_meta:
        message = expectation("a Meta class under `Meta`", meta.name)
        yield _error(type_, place, message, f"add `Usage: Meta` to {meta.name}, or remove it")
    elif not {"All", place.target} & set(applies):
        message = expectation(f"{meta.name} at {', '.join(applies)}", f"it at {place.target}")
        yield _error(type_, place, message, "remove it")


def _repeated(type_: Type, place: Described, metas: Sequence[Type]) -> Iterator[EngineError]:
    for meta, times in Counter(metas).items():
        if times > 1 and meta.is_meta and _is_single(meta):
            message = expectation(f"{meta.name} once", f"it {times} times")
            advice = "remove the others, or change `Cardinality` of the Meta class"
            yield _error(type_, place, message, advice)


def _unmatched(type_: Type, keys: set[str]) -> Iterator[tuple[MethodDeclaration, Any]]:
    """What `Synchronize` has in place of arguments of the methods of a class; its own, or that of what they override."""
    for method in type_.declaration.methods.values() if keys else ():
        if method_key(method.name) not in keys:
            continue
        given = method_metas(type_, method.name).get(SYNCHRONIZE, {})
        found = given.get(_ON_ARGS, ())
        known = [each.name for each in method.arguments]
        for each in found if isinstance(found, tuple) else (found,):
            if each not in known:
                yield method, each


def _may_be_name(found: object) -> bool:
    return isinstance(found, str) and found != ""


def _without_argument(type_: Type, method: MethodDeclaration, found: object) -> EngineError:
    known = [each.name for each in method.arguments]
    have = f", which has {listed(known)}" if known else ", which has none"
    expected = f"arguments of {method.name}{have}, as `{_ON_ARGS}` of {SYNCHRONIZE}"
    advice = f"correct it, or leave `{_ON_ARGS}` out"
    if isinstance(found, str):
        advice = did_you_mean(found, known, advice)
    line = method.line if method.meta is None else method.meta.line
    message = expectation(expected, shown(found))
    return type_.error(EngineCode.META, message, advice=advice, member=method.name, line=line)


def _error(type_: Type, place: Described, message: str, advice: str) -> EngineError:
    line = place.meta.line
    return type_.error(EngineCode.META, message, advice=advice, member=place.member, line=line)


def _from_several(type_: Type, key: str, meta: Type, origins: Iterable[Type]) -> EngineError:
    found = listed(each.label for each in origins)
    message = expectation(f"{meta.name} from one parent", f"it from {found}")
    member, _, argument = key.partition(" ")
    where = (
        f"{type_.name} itself, to the argument {argument}" if argument else f"{type_.name} itself"
    )
    member = member.removesuffix("()")
    return type_.error(
        EngineCode.META, message, advice=f"attach {meta.name} in {where}", member=member
    )


def _has(type_: Type, key: str) -> bool:
    """Whether a class is or declares what a key of `Described` means."""
    member, _, argument = key.partition(" ")
    if not argument:
        return not key or key in type_.own_members
    method = type_.declaration.methods.get(member.removesuffix("()"))
    return method is not None and any(each.name == argument for each in method.arguments)


def _is_single(meta: Type) -> bool:
    return meta.declaration.cardinality == "One"
