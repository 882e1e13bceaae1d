"""What is lossy by nature, and which plans cannot keep a law: derived from the plans alone.

Nothing here is found by trying. Every plan to storage and back is read for what it carries; what it does
not carry, or not as it is, is a limit, with the reason. A *limit* that breaks a law is one that the author
should look at; all others follow from what the versions can express.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from trundle.evolution import ByHook, Evolution, Lineage, Plan, PlanKey, Shape, spoken_hook
from trundle.evolution.conversions import CallHook
from trundle.evolution.steps import Assign, Expression, First, Stash, Step, Unstash
from trundle.schema import ObjectType
from trundle.verify._flows import Datum, Flow, flows, nested

KINDS: Mapping[str, str] = {
    "unread": "a client of its version does not read it back",
    "stale": "nothing shows whether the bag's value is still current",
    "one-way": "a hook leads one way only: an edit on the far side is not seen on the near one",
    "dropped": "lost from API version to API version without the stored object",
    "narrowed": "seen by other versions only as far as they can express it",
    "default": "shown where nothing is stored",
    "incomplete": "required, and absent where nothing is stored",
}
"""Each kind of limit, in words."""

BREAKING: Mapping[str, str] = {"unread": "law 1", "stale": "law 4", "one-way": "law 3"}
"""The law that a plan with a limit of this kind cannot keep; the other kinds keep all laws."""


class Limit(msgspec.Struct, frozen=True, order=True):
    """Something that is not kept, or not as it is.

    Attributes:
        path: where it is, seen from the resource's root.
        kind: one of `KINDS`.
        versions: the versions that have it.
        others: the versions that cannot see it, or see something else.
        reason: why, in words.
    """

    path: str
    kind: str
    versions: tuple[str, ...]
    others: tuple[str, ...] = ()
    reason: str = ""

    @property
    def law(self) -> str | None:
        """The law that the plan cannot keep, if it breaks one."""
        return BREAKING.get(self.kind)

    def to_plain(self) -> dict[str, Any]:
        """The limit as plain values, for programs."""
        return {
            "path": self.path,
            "kind": self.kind,
            "law": self.law,
            "versions": list(self.versions),
            "others": list(self.others),
            "reason": self.reason,
        }


class _Group(NamedTuple):
    """The plans between the API types of a lineage and one storage type of it."""

    lineage: Lineage
    up: dict[str, Plan]
    down: dict[str, Plan]


def limits(evolution: Evolution, plans: Mapping[PlanKey, Plan]) -> Mapping[str, tuple[Limit, ...]]:
    """All limits, by the name of the resource type.

    Args:
        evolution: the versions.
        plans: all plans of the package, by their keys.
    """
    groups: dict[tuple[int, Shape], _Group] = {}
    for key, made in plans.items():
        up = key.source.kind == "api"
        if up == (key.target.kind == "api"):
            continue
        storage, api = (key.target, key.source) if up else (key.source, key.target)
        group = groups.setdefault((id(key.lineage), storage), _Group(key.lineage, {}, {}))
        (group.up if up else group.down)[api.version.text] = made
    known: dict[tuple[int, Shape], tuple[Limit, ...]] = {}
    found = {}
    for resource in evolution.resources:
        hub = Shape("storage", resource.versions.hub)
        each_limit = set()
        for place, path in _places(resource.root, hub, groups).items():
            if place not in known:
                known[place] = tuple(dict.fromkeys(_Limits(groups[place]).all()))
            for each in known[place]:
                each_limit.add(msgspec.structs.replace(each, path=f"{path}.{each.path}"))
        found[resource.name] = tuple(sorted(each_limit))
    return found


def _places(
    root: Lineage, hub: Shape, groups: Mapping[tuple[int, Shape], _Group]
) -> Mapping[tuple[int, Shape], str]:
    """The first place at which each lineage stands, seen from a root."""
    found: dict[tuple[int, Shape], str] = {}
    waiting = [((id(root), hub), "$")]
    for key, path in waiting:
        if key in found or key not in groups:
            continue
        found[key] = path
        for made in groups[key].up.values():
            for step in made.steps:
                for flow in flows(step.value):
                    for change in flow.changes:
                        waiting.extend(
                            ((id(plan.lineage), plan.target), f"{path}.{flow.source.name}{inside}")
                            for plan, inside in nested(change)
                        )
    return found


class _Limits:
    def __init__(self, group: _Group) -> None:
        self.group = group
        self.lineage = group.lineage
        self.written = {version: tuple(_written(made)) for version, made in group.up.items()}
        self.read = {
            version: {step.property: tuple(flows(step.value)) for step in _assigns(made)}
            for version, made in group.down.items()
        }
        self.seen = {
            version: {flow.source for each in found.values() for flow in each}
            for version, found in self.read.items()
        }

    def definition(self, version: str) -> ObjectType:
        """The type's definition in a version."""
        return next(
            self.lineage.definition(each) for each in self.lineage.nodes if each.text == version
        )

    def ordered(self, versions: Container[str]) -> tuple[str, ...]:
        """Some versions in ascending order."""
        return tuple(each.text for each in self.lineage.nodes if each.text in versions)

    def all(self) -> Iterator[Limit]:
        yield from self.carried()
        yield from self.narrowed()
        yield from self.shown()
        yield from self.stale()
        yield from self.one_way()

    def carried(self) -> Iterator[Limit]:
        """What a version cannot read back, and what other versions do not see at all."""
        dropped: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for version, written in self.written.items():
            for name in dict.fromkeys(flow.source.name for _, flow in written):
                own = [(datum, flow) for datum, flow in written if flow.source.name == name]
                exact = {datum for datum, flow in own if not flow.losses(self.lineage)}
                back = {flow.source for flow in self.read.get(version, {}).get(name, ())}
                if not exact & back and not any(flow.hooked for _, flow in own):
                    why = [reason for _, flow in own for reason in flow.losses(self.lineage)]
                    yield Limit(name, "unread", (version,), reason="; ".join(dict.fromkeys(why)))
                every = {datum for datum, _ in own}
                others = tuple(w for w, seen in self.seen.items() if not every & seen)
                if others:
                    dropped.setdefault((name, others), []).append(version)
        for (name, others), versions in dropped.items():
            yield Limit(name, "dropped", tuple(versions), others, "they have no place for it")

    def narrowed(self) -> Iterator[Limit]:
        """What other versions see only as far as they can express it."""
        found: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
        for version, written in self.written.items():
            for datum, up in written:
                if datum.version is not None:
                    continue  # an entry holds the value as it is
                for other, shown in self.read.items():
                    downs = [
                        each for flow in shown.values() for each in flow if each.source == datum
                    ]
                    for down in downs if other != version else ():
                        whole = Flow(up.source, (*up.changes, *down.changes))
                        for reason in whole.losses(self.lineage):
                            pair = found.setdefault((up.source.name, reason), (set(), set()))
                            pair[0].add(version)
                            pair[1].add(other)
        for (name, reason), (versions, others) in found.items():
            yield Limit(name, "narrowed", self.ordered(versions), self.ordered(others), reason)

    def shown(self) -> Iterator[Limit]:
        """What a version shows, or lacks, where it requires something that is not stored."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for version, made in self.group.down.items():
            definition = self.definition(version)
            for step in _assigns(made):
                declared = definition.property(step.property)
                if declared is None or not declared.required or not self.may_lack(version, step):
                    continue
                kind, reason = "incomplete", ""
                if step.default is not msgspec.UNSET:
                    shown = msgspec.json.encode(step.default).decode()
                    kind, reason = "default", f"{shown} is shown"
                found.setdefault((step.property, kind, reason), []).append(version)
        for (name, kind, reason), versions in found.items():
            yield Limit(name, kind, tuple(versions), reason=reason)

    def may_lack(self, version: str, step: Assign) -> bool:
        """Whether some other version may leave out what a version requires."""
        sources = {flow.source for flow in flows(step.value)}
        for other, written in self.written.items():
            if other == version:
                continue
            names = {flow.source.name for datum, flow in written if datum in sources}
            definition = self.definition(other)
            declared = [definition.property(name) for name in names]
            if not any(each is not None and each.required for each in declared):
                return True
        return False

    def stale(self) -> Iterator[Limit]:
        """Entries that stand before another source of the value, with nothing that shows their age."""
        for version, made in self.group.down.items():
            for step in _assigns(made):
                if _unwitnessed(step.value):
                    yield Limit(step.property, "stale", (version,))

    def one_way(self) -> Iterator[Limit]:
        """Hooks that have no way back."""
        for link in self.lineage.links:
            hook = link.conversion
            if isinstance(hook, CallHook) and None in (hook.up, hook.down):
                near, far = (link.older, link.newer) if hook.up else (link.newer, link.older)
                yield Limit(
                    near.property,
                    "one-way",
                    (near.version.text,),
                    (far.version.text,),
                    spoken_hook(hook.use, hook.up or hook.down or ""),
                )
        ways: dict[tuple[str, str], set[bool]] = {}
        for each in self.lineage.hooks:
            if isinstance(each.how, ByHook):
                ways.setdefault((each.how.use, str(each.how.between)), set()).add(each.how.up)
        for each in self.lineage.hooks:
            how = each.how
            if isinstance(how, ByHook) and len(ways[how.use, str(how.between)]) == 1:
                yield Limit(
                    each.output.property,
                    "one-way",
                    tuple(sorted({place.version.text for place in each.inputs})),
                    (each.output.version.text,),
                    spoken_hook(how.use, how.method),
                )


def _assigns(made: Plan) -> Iterator[Assign]:
    return (step for step in made.steps if isinstance(step, Assign))


def _written(made: Plan) -> Iterator[tuple[Datum, Flow]]:
    for step in made.steps:
        for flow in flows(step.value):
            yield _datum(step), flow


def _datum(step: Step) -> Datum:
    if isinstance(step, Stash):
        return Datum(step.entry.property, step.entry.version.text)
    return Datum(step.property)


def _unwitnessed(value: Expression | None) -> bool:
    """Whether an entry comes before the values of other threads, and nothing makes it stale."""
    if not isinstance(value, First):
        return False
    first = value.options[0]
    return isinstance(first, Unstash) and first.witness is None
