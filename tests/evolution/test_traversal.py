"""Walks over plans reach every record, whatever it stands in."""

import typing

import pytest
from lineages import place, shape, v

from trundle.evolution import Neighbours, calls_hook, changes_in, inner_changes, operands
from trundle.evolution.steps import (
    CallConverter,
    Change,
    Expression,
    First,
    Hidden,
    HookCall,
    HookOutput,
    HookRefill,
    KeepPlaces,
    Leaf,
    Optional,
    PlannedEntry,
    Presence,
    Read,
    Refill,
    Said,
    Single,
    Solid,
    ToFreeForm,
    Unstash,
    ValueStep,
    Witness,
)

BETWEEN = Neighbours(v("v1"), v("v2"))
CONVERTER = CallConverter("hooks:Hook", "convert_a_to_b", BETWEEN, place("a@v1"), place("b@v2"))
HOOKED = HookOutput(
    HookCall("hooks:Hook", "assign_to", BETWEEN, True, ((place("a@v1"), Read("a")),)),
    place("b@v2"),
    None,
)
V1 = shape("storage v1")


@pytest.mark.parametrize(
    "value",
    [
        HOOKED,
        Hidden(HOOKED),
        First((Read("a"), HOOKED)),
        Change(HOOKED, ToFreeForm()),
        Change(Read("a"), Optional(CONVERTER)),
        Change(Read("a"), Single(CONVERTER)),
        Unstash((PlannedEntry(place("a@v1"), CONVERTER),), None),
        KeepPlaces(HOOKED, (), ToFreeForm()),
        Refill(HOOKED, (), ToFreeForm()),
        HookRefill(Read("a"), (), HOOKED, Witness((), ())),
        Presence(HOOKED),
        Said(Unstash((), None), HOOKED, place("o@v1"), V1),
        Solid(Read("o"), HOOKED, place("o@v1"), (Leaf("a", place("o.a@v1")),)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_hook_is_found_in_every_record(value):
    assert calls_hook(value)


def test_what_reads_a_property_calls_no_hook():
    assert not calls_hook(First((Unstash((), None), Change(Read("a"), ToFreeForm()))))


@pytest.mark.parametrize("record", typing.get_args(Expression), ids=lambda each: each.__name__)
def test_every_expression_has_its_operands_and_changes(record):
    known = {
        "steps": (),
        "options": (),
        "entries": (),
        "call": HOOKED.call,
        "value": Read("a"),
        "holder": HOOKED,
        "before": HOOKED,
        "said": Unstash((), None),
    }
    value = record(**{name: known.get(name) for name in record.__struct_fields__})
    assert all(isinstance(each, typing.get_args(Expression)) for each in operands(value))
    changes_in(value)


@pytest.mark.parametrize("record", typing.get_args(ValueStep), ids=lambda each: each.__name__)
def test_every_change_has_its_inner_changes(record):
    known = {"steps": (), "cases": ()}
    inner_changes(record(**{name: known.get(name, CONVERTER) for name in record.__struct_fields__}))
