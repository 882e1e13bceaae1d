"""`GC.collect` against plain data: lists of names say what leads where, who owns what, and who wants to hear."""

import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import opened

ITEM = """
Name: Item
Properties:
  kids: {Contract: [$.class(Item)], Default: [], Usage: InOut}
  links: {Contract: [$.class(Item)], Default: [], Usage: InOut}
Methods:
  .destroy: {Body: [!yaql "trace(list(ends, id($this)))"]}
  gone: {Arguments: [{o: {Contract: $.class(Item)}}], Body: [!yaql "trace(list(gone, id($this), id($o)))"]}
  left: {Arguments: [{o: {Contract: $.class(Item)}}], Body: [!yaql "trace(list(left, id($this), id($o)))"]}
  subscribe:
    Scope: Public
    Arguments: [{s: {Contract: $.class(Item)}}, {h: {Contract: $}}]
    Body: [!yaql 'sys:GC.subscribeDestruction($this, $s, $h)']
  unsubscribe:
    Scope: Public
    Arguments: [{s: {Contract: $.class(Item)}}, {h: {Contract: $}}]
    Body: [!yaql 'sys:GC.unsubscribeDestruction($this, $s, $h)']
  link: {Scope: Public, Arguments: [{o: {Contract: [$.class(Item)]}}], Body: [{$.links: $o}]}
  keep: {Scope: Public, Arguments: [{o: {Contract: [$.class(Item)]}}], Body: [{$.kids: $o}]}
  collect: {Scope: Public, Body: [sys:GC.collect()]}
"""
HANDLERS = st.sampled_from(["gone", "left", None])
NUMBERS = st.integers(0, 6)
ACTS = st.one_of(
    st.tuples(st.sampled_from(["subscribe", "unsubscribe"]), NUMBERS, NUMBERS, HANDLERS),
    st.tuples(st.sampled_from(["link", "unlink", "drop"]), NUMBERS, NUMBERS, st.none()),
    st.tuples(st.just("collect"), NUMBERS, NUMBERS, st.none()),
)


class Plain:
    """What is known of the objects, as names; the first one is the root."""

    def __init__(self, owners, wanted):
        self.owner = {f"i{at + 1}": f"i{each % (at + 1)}" for at, each in enumerate(owners)}
        self.kids = {name: [] for name in ["i0", *self.owner]}
        for name, each in self.owner.items():
            self.kids[each].append(name)
        self.links = {name: [] for name in self.kids}
        self.wanted = {name: [] for name in self.kids}
        for publisher, subscriber, handler in wanted:
            self.subscribe(self.name(publisher), self.name(subscriber), handler)

    def name(self, number):
        return f"i{number % (len(self.owner) + 1)}"

    def subscribe(self, publisher, subscriber, handler):
        if (subscriber, handler) not in self.wanted[publisher]:
            self.wanted[publisher].append((subscriber, handler))

    def model(self, name="i0"):
        listed = [{"subscriber": each, "handler": handler} for each, handler in self.wanted[name]]
        header = {"type": "a.Item", "id": name, "dependencies": {"onDestruction": listed}}
        return {"?": header, "kids": [self.model(each) for each in self.kids[name]]}

    def reached(self):
        found = {"i0"}
        left = ["i0"]
        while left:
            at = left.pop()
            new = {*self.kids[at], *self.links[at]} - found
            found |= new
            left += new
        return found

    def collect(self):
        """Those that end, and what is heard of each of them, in its order."""
        kept = self.reached()
        doomed = [each for each in self.kids if each not in kept]
        heard = {each: [one for one in self.wanted[each] if one[1]] for each in doomed}
        for table in (self.kids, self.links, self.wanted):
            for each in doomed:
                del table[each]
        for each in self.wanted:
            self.wanted[each] = [one for one in self.wanted[each] if one[0] in kept]
        return doomed, heard


def check_seen(seen, doomed, heard, before):
    """What code saw of one collection."""
    calls, ends = (
        seen[: -len(doomed) or None],
        [each[1] for each in seen[len(seen) - len(doomed) :]],
    )
    assert sorted(ends) == sorted(doomed)
    assert Counter(tuple(each) for each in calls) == Counter(
        (handler, subscriber, publisher)
        for publisher, wanted in heard.items()
        for subscriber, handler in wanted
    )
    for publisher, wanted in heard.items():
        assert [(each[1], each[0]) for each in calls if each[2] == publisher] == wanted
    for first, second in before:
        if first in doomed and second in doomed and not leads(second, first, before, doomed):
            assert ends.index(first) < ends.index(second)


def leads(start, goal, before, doomed):
    """Whether a circle of objects leaves no order between two."""
    found, left = {start}, [start]
    while left:
        at = left.pop()
        new = {second for first, second in before if first == at and second in doomed} - found
        found |= new
        left += new
    return goal in found


def dependencies_of(model):
    """Who wants to hear of the end of each object in a dump."""
    header = model["?"]
    listed = (header.get("dependencies") or {}).get("onDestruction") or []
    found = {header["id"]: [(each["subscriber"], each["handler"]) for each in listed]}
    for each in [*model["kids"], *model["links"]]:
        if isinstance(each, dict):
            found |= dependencies_of(each)
    return found


@given(
    st.lists(NUMBERS, min_size=1, max_size=6),
    st.lists(st.tuples(NUMBERS, NUMBERS, HANDLERS), max_size=4),
    st.lists(ACTS, max_size=20),
)
def test_collections_end_what_plain_lists_say(owners, wanted, acts):
    plain, seen = Plain(owners, wanted), []
    with opened({"a.Item": ITEM}, plain.model(), functions={"trace": seen.append}) as (
        session,
        root,
    ):
        for act, one, other, handler in [*acts, ("collect", 0, 0, None)]:
            name, second = plain.name(one), plain.name(other)
            if act == "collect":
                pairs = [(each, plain.owner[each]) for each in plain.owner]
                pairs += [(each, to[0]) for each, listed in plain.wanted.items() for to in listed]
                doomed, heard = plain.collect()
                session.call(root, "collect")
                check_seen(seen, doomed, heard, pairs)
                assert sorted(session.objects) == sorted(plain.kids)
                assert dependencies_of(session.dump(root, whole=False)) == plain.wanted
                seen.clear()
            elif name in plain.kids and second in plain.kids:
                perform(session, plain, (act, name, second, handler))


def perform(session, plain, step):
    """Does something to the objects, and the same to the names."""
    act, name, second, handler = step
    at = session.objects[name]
    if act == "subscribe":
        plain.subscribe(name, second, handler)
        session.call(at, act, [session.objects[second], handler])
    elif act == "unsubscribe":
        plain.wanted[name] = [each for each in plain.wanted[name] if each != (second, handler)]
        session.call(at, act, [session.objects[second], handler])
    elif act == "drop":
        plain.kids[name] = plain.kids[name][1:]
        session.call(at, "keep", [[session.objects[each] for each in plain.kids[name]]])
    else:
        plain.links[name] = [*plain.links[name], second] if act == "link" else []
        session.call(at, "link", [[session.objects[each] for each in plain.links[name]]])


MANY = """
Name: Root
Properties: {kids: {Contract: [$.class(Item)], Usage: InOut}}
Methods:
  subscribe: {Scope: Public, Body: [{For: x, In: $.kids, Do: !yaql 'sys:GC.subscribeDestruction($this, $x, gone)'}]}
  unsubscribe: {Scope: Public, Body: [{For: x, In: $.kids, Do: !yaql 'sys:GC.unsubscribeDestruction($this, $x, gone)'}]}
  drop: {Scope: Public, Body: [{$.kids: []}, sys:GC.collect()]}
"""


def steps_of(*acts, count):
    """How many functions, those of C too, the last of some calls takes, with so many objects that want to hear of one."""
    kids = [{"?": {"type": "a.Item", "id": f"i{at}"}} for at in range(count)]
    model = {"?": {"type": "a.Root", "id": "root"}, "kids": kids}
    number = 0

    def seen(frame, event, argument):
        nonlocal number
        number += event in ("call", "c_call")

    functions = {"trace": len}
    with opened({"a.Item": ITEM, "a.Root": MANY}, model, functions=functions) as (session, root):
        for each in acts[:-1]:
            session.call(root, each)
        sys.setprofile(seen)
        try:
            session.call(root, acts[-1])
        finally:
            sys.setprofile(None)
    return number


@pytest.mark.parametrize(
    "acts", [["subscribe"], ["subscribe", "unsubscribe"], ["subscribe", "drop"]]
)
def test_many_subscriptions_of_one_object_take_time_by_their_number(acts):
    few, many = (steps_of(*acts, count=count) for count in (50, 400))
    assert many < 9 * few
