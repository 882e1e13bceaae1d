"""How often a Meta class may describe one class or member, with what is inherited."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from trundle.engine._declarations import ClassDeclaration
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._metas import attached
from trundle.engine._nodes import Node
from trundle.engine._type import Type, method_key
from trundle.errors import expectation, listed

Find: TypeAlias = Callable[[Type, str], Type | None]
"""The class that a full name means in the code of a class; None where there is none."""


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
    """Applies `Cardinality` and `Inherited` to the classes of a repository."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._own: dict[Type, Mapping[str, Sequence[Type]]] = {}

    def errors(self, type_: Type) -> Iterator[EngineError]:
        """What is attached to a class or its members twice, or comes from several parents, and may be there once only."""
        own = self._attached(type_)
        lines = {each.key: each for each in described(type_.declaration)}
        for key, metas in own.items():
            about = {"member": lines[key].member, "line": lines[key].meta.line}
            for meta, times in Counter(metas).items():
                if times > 1 and _is_single(meta):
                    message = expectation(f"{meta.name} once", f"it {times} times")
                    advice = "remove the others, or change `Cardinality` of the Meta class"
                    yield type_.error(EngineCode.META, message, advice=advice, **about)
        for key in ("", *type_.own_members):
            for meta, origins in self._inherited(type_, key).items():
                if len(origins) > 1 and _is_single(meta) and meta not in own.get(key, ()):
                    found = listed(each.label for each in origins)
                    message = expectation(f"{meta.name} from one parent", f"it from {found}")
                    advice = f"attach {meta.name} in {type_.name} itself"
                    member = key.removesuffix("()")
                    yield type_.error(EngineCode.META, message, advice=advice, member=member)

    def _attached(self, type_: Type) -> Mapping[str, Sequence[Type]]:
        """The Meta classes that a class attaches itself, by what they describe."""
        if type_ not in self._own:
            self._own[type_] = {
                each.key: [
                    meta
                    for name, _ in attached(type_, each.meta)
                    if (meta := self._find(type_, name)) is not None
                ]
                for each in described(type_.declaration)
            }
        return self._own[type_]

    def _inherited(self, type_: Type, key: str) -> Mapping[Type, Sequence[Type]]:
        """What describes a class or member because it describes what is above, with the classes that attach it."""
        if not any(key in self._attached(each) for each in type_.ancestors):
            return {}
        reaching: dict[Type, dict[Type, dict[Type, None]]] = {}
        for each in type_.lineage.upwards:
            own = self._attached(each).get(key, ())
            above: dict[Type, dict[Type, None]] = {}
            for parent in type_.lineage.parents[each]:
                for meta, origins in reaching[parent].items():
                    if not (meta in own and _is_single(meta)):
                        above.setdefault(meta, {}).update(origins)
            if each is type_:
                return {meta: tuple(origins) for meta, origins in above.items()}
            for meta, origins in above.items():
                if len(origins) > 1 and _is_single(meta):  # Said of that class already
                    above[meta] = dict.fromkeys(list(origins)[:1])
            for meta in own:
                if meta.declaration.is_inherited:
                    above.setdefault(meta, {})[each] = None
            reaching[each] = above
        return {}


def _is_single(meta: Type) -> bool:
    return meta.declaration.cardinality == "One"
