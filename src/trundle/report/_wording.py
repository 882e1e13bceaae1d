"""The records of a plan and of a lineage in plain words."""

import json
from collections.abc import Sequence
from typing import assert_never

from trundle.evolution import Place, spoken_hook, steps
from trundle.evolution import conversions as relate
from trundle.schema import ABSENT


def quoted(name: str) -> str:
    """A property's name as text shows it."""
    return "the additional properties" if name == "*" else f"`{name}`"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Some names in a sentence: `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def say_step(step: steps.Step) -> str:
    """What a step of a plan does."""
    match step:
        case steps.Assign(property=name, value=None):
            return f"{quoted(name)} stays absent: it derives from nothing here{_default(step)}"
        case steps.Assign(property=name, value=steps.Read(property=same)) if name == same:
            return f"{quoted(name)} is copied{_default(step)}"
        case steps.Assign(property=name, value=value):
            assert value is not None
            return f"{quoted(name)} takes {say(value)}{_default(step)}"
        case steps.Stash(entry=entry, value=value, derived=derived):
            copied = value == steps.Read(entry.property)
            what = say_entry(entry) if copied else f"{say(value)} as {say_entry(entry)}"
            text = f"the property bag keeps {what}"
            if derived is None:
                return text
            return f"{text}, unless {say(derived)} has the same value"
        case _:
            assert_never(step)


def _default(step: steps.Assign) -> str:
    if step.default is ABSENT:
        return ""
    return f"; required, so {json.dumps(step.default, ensure_ascii=False)} shows where it is absent"


def say_entry(place: Place) -> str:
    """An entry of a property bag."""
    return f"{quoted(place.property)} in the shape of {place.version}"


def say(value: steps.Expression) -> str:
    """Where a value comes from."""
    match value:
        case steps.Read(property=name):
            return quoted(name)
        case steps.Unstash(entries=entries, witness=witness):
            if not entries:
                return "nothing"
            named = listed([_say_unstashed(entry) for entry in entries], "or")
            return f"the bag's {named}" + (" while that is current" if witness else "")
        case steps.Change(value=inner, step=step):
            return f"{say(inner)}{_with(step)}"
        case steps.HookOutput(call=call, output=output, step=step):
            inputs = [quoted(place.property) for place, value in call.inputs if value is not None]
            return (
                f"what {spoken_hook(call.use, call.method)} (between {call.between}) returns as "
                f"{quoted(output.property)} from {listed(inputs)}{_with(step)}"
            )
        case steps.Hidden(value=inner):
            return f"{say(inner)} of the object stored so far"
        case steps.KeepPlaces(value=inner):
            return f"{say(inner)}, with the elements that only a stale entry of the bag has"
        case steps.KeepElements(value=inner):
            return f"{say(inner)}, with what only a stale entry of the bag has beside key and value"
        case steps.Refill(value=inner) | steps.HookRefill(value=inner):
            return f"{say(inner)}, with what only a stale entry of the bag has inside of it"
        case steps.Presence(value=inner):
            return f"whether there is {say(inner)}"
        case steps.Said(said=said, value=inner):
            return f"{say(inner)}, there or not as {say(said)} has it"
        case steps.Solid(value=inner, leaves=leaves):
            return f"{say(inner)} where it has more than {listed([quoted(each.name) for each in leaves])}"
        case steps.First(options=options):
            return ", else ".join(say(option) for option in options)
        case _:
            assert_never(value)


def reads(step: steps.Step, name: str) -> bool:
    """Whether a step's value derives from a property of the source, through one hook at most."""
    return step.value is not None and _reads(step.value, name, hooks=1)


def _reads(value: steps.Expression, name: str, hooks: int) -> bool:
    match value:
        case steps.Read(property=read):
            return read == name
        case steps.Change(value=inner) | steps.KeepElements(value=inner):
            return _reads(inner, name, hooks)
        case steps.KeepPlaces(value=inner) | steps.Refill(value=inner):
            return _reads(inner, name, hooks)
        case steps.HookRefill(value=inner):
            return _reads(inner, name, hooks)
        case steps.Presence(value=inner) | steps.Said(value=inner) | steps.Solid(value=inner):
            return _reads(inner, name, hooks)
        case steps.HookOutput(call=call):
            values = [value for _, value in call.inputs if value is not None]
            return hooks > 0 and any(_reads(value, name, hooks - 1) for value in values)
        case steps.First(options=options):
            return any(_reads(option, name, hooks) for option in options)
        case steps.Unstash() | steps.Hidden():
            return False
        case _:
            assert_never(value)


def _say_unstashed(entry: steps.PlannedEntry) -> str:
    return f"{say_entry(entry.place)}{_with(entry.step)}"


def _with(step: steps.ValueStep | None) -> str:
    return "" if step is None else f", {say_change(step)}"


def _but(elsewhere: steps.Elsewhere | None) -> str:
    """What is not in an object, because the other side has it in other places."""
    return "" if elsewhere is None else f", without {listed(elsewhere.names, 'and')}"


def say_change(step: steps.ValueStep) -> str:  # noqa: C901 - one for each kind
    """What becomes of a value that goes through a change."""
    match step:
        case steps.ToObject():
            return "member by member"
        case steps.NotNull(inner=inner):
            return f"{say_change(inner)}, not null" if inner is not None else "not null"
        case steps.Items(item=inner):
            return f"element by element{_inner(inner)}"
        case steps.Values(value=inner):
            return f"value by value{_inner(inner)}"
        case steps.Optional(inner=inner):
            return f"{say_change(inner)}, null as null"
        case steps.Cases(cases=cases):
            lacking = any(case.lacking for case in cases)
            return "variant by variant" + (
                ", without those that are unknown here" if lacking else ""
            )
        case steps.Chain(steps=parts):
            return ", then ".join(map(say_change, parts))
        case steps.Listed(item=item):
            return f"as a list of one{_with(item)}"
        case steps.Single(item=item):
            return f"the first of the list{_with(item)}"
        case steps.ToFreeForm(elsewhere):
            return f"as plain JSON{_but(elsewhere)}"
        case steps.FromFreeForm(elsewhere=elsewhere):
            return f"where it fits the type{_but(elsewhere)}"
        case steps.KnownPart(elsewhere=elsewhere):
            return f"with what the type knows{_but(elsewhere)}"
        case steps.Fit(kinds=kinds):
            return f"where it is {listed(kinds, 'or')}"
        case steps.ToEnum():
            return "in the enum's own letter case"
        case steps.MapText(values=pairs):
            return "with " + listed([f"{one!r} as {other!r}" for one, other in pairs])
        case steps.CallScalar(name=name, version=version):
            return f"by {name}{f' at {version}' if version else ''}"
        case steps.ToList(key=key):
            return f"as a list with the key {quoted(key)}"
        case steps.ToMap(key=key):
            return f"as a map by {quoted(key)}"
        case steps.CallConverter(use=use, method=method, between=between):
            return f"by {spoken_hook(use, method)} (between {between})"
        case _:
            assert_never(step)


def _inner(step: steps.ValueStep) -> str:
    return "" if isinstance(step, steps.ToObject) else f", each {say_change(step)}"


def say_conversion(
    conversion: relate.Conversion,
) -> str:
    """How two places that meet convert into each other."""
    match conversion:
        case relate.Same():
            return "as it is"
        case relate.ConvertObject():
            return "member by member"
        case relate.EachItem(item=inner):
            return f"element by element, {say_conversion(inner)}"
        case relate.EachValue(value=inner):
            return f"value by value, {say_conversion(inner)}"
        case relate.NullFits(inner=inner):
            return f"{say_conversion(inner)}, where it is not null"
        case relate.ByVariant():
            return "variant by variant"
        case relate.Narrow():
            return "where the value fits the narrower type"
        case relate.EnumText():
            return "as text, in the letter case of each side's enum"
        case relate.MapValues(values=pairs):
            return "with " + listed([f"{one!r} as {other!r}" for one, other in pairs])
        case relate.Wrap(item=inner):
            return f"a single value as a list of one, {say_conversion(inner)}"
        case relate.Unwrap(item=inner):
            return f"a list as its only element, {say_conversion(inner)}"
        case relate.ConvertScalar(name=name, version=version):
            return f"by {name}{f' at {version}' if version else ''}"
        case relate.Keyed(map_older, key):
            names = ("map", "list") if map_older else ("list", "map")
            return f"a {names[0]} as a {names[1]} by {quoted(key)}"
        case relate.CallHook(use=use, up=up, down=down):
            methods = [method for method in (up, down) if method is not None]
            if spoken_hook(use, methods[0]) == methods[0]:
                return f"by {listed(list(dict.fromkeys(methods)))}"
            return f"by {use}, {listed(methods)}"
        case _:
            assert_never(conversion)
