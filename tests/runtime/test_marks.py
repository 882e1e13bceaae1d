"""What is written over a stored object is marked, and nothing else is; no mark stays."""

import threading

import pytest

from trundle.runtime import ABSENT, Absent, PropertyBag, StorageObject
from trundle.runtime._bag import NoEntry
from trundle.runtime._entries import Entry
from trundle.runtime._marks import marks, written_over
from trundle.runtime._objects import Hollow
from trundle.runtime._unmarked import without_marks


class Part(StorageObject):
    size: int = ABSENT
    part: "Part" = ABSENT
    parts: "list[Part]" = ABSENT
    named: "dict[str, Part]" = ABSENT
    property_bag: PropertyBag | Absent = ABSENT


def test_nothing_is_marked_that_is_not_written_over_anything():
    assert not marks()
    with pytest.raises(ZeroDivisionError), written_over():
        1 / 0  # noqa: B018
    assert not marks()


def test_one_within_another_ends_by_itself():
    with written_over():
        with written_over():
            assert marks()
        assert marks()
    assert not marks()


def test_another_thread_marks_nothing():
    found = []
    with written_over():
        other = threading.Thread(target=lambda: found.append(marks()))
        other.start()
        other.join()
    assert found == [False]


def marked(size=ABSENT):
    return Part(size=size, property_bag={"x": {"v1": NoEntry(1)}}, unknown=Hollow())


def test_no_mark_stays_wherever_it_is():
    value = Part(
        part=Part(part=marked()),
        parts=[marked(), Part(part=marked(2))],
        named={"a": marked()},
        property_bag={"y": {"v1": Entry(marked(3)), "v2": NoEntry(2)}, "z": {"v1": NoEntry(4)}},
    )
    assert without_marks(value) is value
    assert value == Part(
        part=Part(),
        parts=[Part(), Part(part=Part(size=2))],
        named={"a": Part()},
        property_bag={"y": {"v1": Entry(Part(size=3))}},
    )
    assert value.parts[0].unknown is value.named["a"].unknown is value.part.unknown is ABSENT


def test_an_object_that_is_there_only_for_what_is_hollow_is_hollow_as_well():
    value = Part(part=Part(part=marked(), unknown=Hollow()))
    assert without_marks(value) == Part()
    assert without_marks(Part(part=marked(), unknown=Hollow())) is ABSENT


def test_what_a_merge_has_passed_on_is_not_looked_through():
    """It is shared with what is stored, so it must not be changed either."""
    kept = marked()
    known = Part(part=kept, parts=[kept, Part(size=1)], named={"a": kept})
    value = Part(part=kept, parts=[kept, Part(size=2, part=marked())], named={"a": kept})
    without_marks(value, known)
    assert value.part is value.parts[0] is value.named["a"] is kept
    assert isinstance(kept.unknown, Hollow)
    assert value.parts[1] == Part(size=2)
    shifted = Part(parts=[Part(size=0, part=marked()), *known.parts[1:]], part=kept)
    assert without_marks(shifted, known).parts == [Part(size=0), Part(size=1)]
