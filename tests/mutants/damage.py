"""Every way in which a plan can be damaged, one record at a time, and wrong decisions about bags and merges."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from trundle.evolution import Lineage, Plan, PlanKey
from trundle.evolution.steps import Assign, Shape, Stash
from trundle.runtime import (
    _bag,
    _bag_merge,
    _list_merge,
    _marks,
    _merge,
    _presences,
    _stale,
)
from trundle.schema import ABSENT

_INPUTS = (PlanKey, Lineage, Shape)
"""What a plan is for; damage there is another plan, not a wrong one."""
_KEPT = {"key", "place", "entry", "plan", "shape", "source", "type", "property", "use", "between"}


class Damage(NamedTuple):
    """A damaged plan.

    Attributes:
        kind: what is wrong, in a few words.
        where: the step, and the place in it.
        plan: the plan that takes the right one's place.
    """

    kind: str
    where: str
    plan: Plan


def damages(plan: Plan) -> Iterator[Damage]:
    """All damages of a plan."""
    for number, step in enumerate(plan.steps):
        name = step.property if isinstance(step, Assign) else f"bag {step.entry.property}"
        rest = (*plan.steps[:number], *plan.steps[number + 1 :])
        if isinstance(step, Stash):
            yield Damage("a stash left out", name, _with(plan, steps=rest))
        else:
            gone = _with(step, value=None)
            if step.value is not None:
                yield Damage("a step left out", name, _replaced(plan, number, gone))
            if step.default is not ABSENT:
                bare = _with(step, default=ABSENT)
                yield Damage("a default dropped", name, _replaced(plan, number, bare))
        for kind, value in _damaged(step):
            yield Damage(kind, name, _replaced(plan, number, value))
    yield from _swapped(plan)
    for field in ("consumed", "carried"):
        found = getattr(plan, field)
        for number in range(len(found)):
            kept = (*found[:number], *found[number + 1 :])
            yield Damage(f"{field} without one", str(number), _with(plan, **{field: kept}))
    for number, each in enumerate(plan.carried):
        for kind, value in _damaged(each):
            kept = (*plan.carried[:number], value, *plan.carried[number + 1 :])
            yield Damage(f"carried: {kind}", str(number), _with(plan, carried=kept))


def _with(record: Any, **fields: Any) -> Any:
    return msgspec.structs.replace(record, **fields)


def _replaced(plan: Plan, number: int, step: Any) -> Plan:
    return _with(plan, steps=(*plan.steps[:number], step, *plan.steps[number + 1 :]))


def _swapped(plan: Plan) -> Iterator[Damage]:
    """What two neighbouring properties are derived from, swapped."""
    assigned = [n for n, each in enumerate(plan.steps) if isinstance(each, Assign)]
    for one, other in pairwise(assigned):
        first, second = plan.steps[one], plan.steps[other]
        if type(first.value) is type(second.value) and first.value != second.value:
            damaged = _replaced(plan, one, _with(first, value=second.value))
            damaged = _replaced(damaged, other, _with(second, value=first.value))
            yield Damage("two properties swapped", f"{first.property}, {second.property}", damaged)


def _damaged(record: Any) -> Iterator[tuple[str, Any]]:
    """All ways to damage a record and what it holds, by what is wrong."""
    kind = type(record).__name__
    for field in record.__struct_fields__:
        value = getattr(record, field)
        if field in _KEPT or isinstance(value, _INPUTS):
            continue
        for what, damaged in _of_field(field, value):
            yield f"{kind}: {what}", _with(record, **{field: damaged})
        if isinstance(value, msgspec.Struct):
            for what, damaged in _damaged(value):
                yield what, _with(record, **{field: damaged})
        elif isinstance(value, tuple):
            for number, each in enumerate(value):
                if isinstance(each, msgspec.Struct) and not isinstance(each, _INPUTS):
                    for what, damaged in _damaged(each):
                        yield (
                            what,
                            _with(
                                record, **{field: (*value[:number], damaged, *value[number + 1 :])}
                            ),
                        )


def _of_field(field: str, value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case bool():
            yield f"{field} turned", not value
        case tuple() if field != "places":
            for number in range(len(value)):
                yield f"{field} without one", (*value[:number], *value[number + 1 :])
            if len(value) > 1:
                yield f"{field} in another order", value[::-1]
            if field == "values" and value and isinstance(value[0], tuple):
                yield f"{field} inverted", tuple((new, old) for old, new in value)
        case str() if field == "name" and "-to-" in value:
            one, _, other = value.partition("-to-")
            yield f"{field} inverted", f"{other}-to-{one}"
        case msgspec.Struct():
            if field in {"witness", "derived", "before", "after", "step", "item", "inner", "value"}:
                yield f"{field} removed", None
            inner = getattr(value, "value", None) or getattr(value, "inner", None)
            if isinstance(inner, msgspec.Struct) and field in {"value", "inner", "step", "item"}:
                yield f"{type(value).__name__} skipped", inner
        case _:
            return


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_arguments, **_options: value


def _by_place(values: Any, others: Any, _keys: Any = ()) -> list[int | None]:
    return [place if place < len(others) else None for place in range(len(values))]


def _no_entry(*arguments: Any, **options: Any) -> None:
    token = _marks._WRITING.set(None)
    try:
        _STASH(*arguments, **options)
    finally:
        _marks._WRITING.reset(token)


_STASH = _bag.stash

DECISIONS: Mapping[str, tuple[tuple[Any, str, Any], ...]] = {
    "current: always": ((_bag, "current", _always(True)),),
    "current: never": ((_bag, "current", _always(False)),),
    "same: always, in bags": ((_bag, "same", _always(True)),),
    "same: never, in bags": ((_bag, "same", _always(False)),),
    "same: always, in merges": (
        (_merge, "same", _always(True)),
        (_bag_merge, "same", _always(True)),
    ),
    "same: never, in merges": (
        (_merge, "same", _always(False)),
        (_bag_merge, "same", _always(False)),
    ),
    "merge: what was written, always": ((_merge, "merge", lambda _stored, _before, after: after),),
    "merge: what is stored, always": ((_merge, "merge", lambda stored, _before, _after: stored),),
    "put: what was written, always": (
        (_merge, "merge_objects", lambda _stored, _before, after: after),
    ),
    "put: what is stored, always": (
        (_merge, "merge_objects", lambda stored, _before, _after: stored),
    ),
    "objects: what was written, always": (
        (_merge, "_merge_different", lambda _stored, _before, after: after),
    ),
    "elements matched by place": ((_list_merge, "match", _by_place),),
    "elements never matched": (
        (_list_merge, "match", lambda values, _others, _keys=(): [None] * len(values)),
    ),
    "lists: as written": ((_merge, "merge_lists", lambda _s, _b, after, *_: after),),
    "maps: as written": ((_merge, "_merge_maps", lambda _s, _b, after: after),),
    "bags: not merged": ((_merge, "merge_bags", _always(None)),),
    "bags: always alike": ((_merge, "same_bags", _always(True)),),
    "entries: always alike": ((_bag_merge, "_same_entry", _always(True)),),
    "revived entries stay": ((_bag_merge, "_drop_revived", _always(None)),),
    "entries: the stored one stays": ((_bag_merge, "_merged_entry", lambda stored, *_: stored),),
    "entries accompany nothing": ((_bag, "accompany", _always(None)),),
    "what travels on accompanies what it did": ((_bag, "_go_along", lambda *_: iter(())),),
    "digest: of nothing": ((_bag, "digest", _always(None)),),
    "digest: always the same": ((_bag, "digest", _always("x")),),
    "removed objects: nothing in them stays": (
        (_presences, "_left", _always(ABSENT)),
        (_presences, "_put_back", _always(None)),
    ),
    "bags are not tidied": ((_bag, "tidy", _always(None)),),
    "places are not kept": (
        (_stale, "keep_places", lambda _stored, _entries, value, _hidden: value),
    ),
    "nothing is refilled": ((_stale, "refill", lambda _stored, _entries, value, _seen: value),),
    "nothing is left unsaid": ((_bag, "stash", _no_entry),),
}
"""Wrong decisions of the runtime: what takes the place of which function."""
