"""Generated values of generated classes are valid and of all kinds, and edits are edits."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from amounts import full
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from verify_things import Part, Stored, Whole

from trundle import verify
from trundle.runtime import ABSENT
from trundle.runtime._documents import write_value
from trundle.runtime._validation import read_value

SEARCH = settings(
    max_examples=20_000,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def depth(part: Part) -> int:
    return 1 + max(map(depth, part.parts), default=0) if part.parts is not ABSENT else 1


@verify.examples
@given(verify.objects(Whole))
def test_objects_are_valid_documents(whole: Whole) -> None:
    data = write_value(whole)
    read, findings = read_value(data, Whole, strict=True)
    assert findings == ()
    assert write_value(read) == data


@verify.examples
@given(verify.objects(Whole))
def test_what_names_a_resource_is_left_alone(whole: Whole) -> None:
    assert (whole.api_version, whole.kind) == ("v1", "Whole")
    assert whole.unknown is ABSENT


@verify.examples
@given(verify.objects(Part, depth=2))
def test_recursion_ends(part: Part) -> None:
    assert depth(part) <= 4


@pytest.mark.parametrize(
    "wanted",
    [
        lambda whole: whole.count > 2**53,
        lambda whole: whole.count == 0,
        lambda whole: whole.data is not ABSENT and bytes(whole.data) == b"1.10",
        lambda whole: whole.labels is not ABSENT and None in whole.labels.values(),
        lambda whole: whole.labels == {},
        full(lambda whole: whole.part is not ABSENT and whole.part.level == "Silver"),
        lambda whole: whole.part is not ABSENT and whole.part.name == "",
        full(lambda whole: whole.shape == "null"),
        lambda whole: isinstance(getattr(whole.shape, "radius", None), float),
        full(lambda whole: getattr(whole.shape, "side", ABSENT) is None),
        lambda whole: whole.additional_properties is not ABSENT,
        lambda whole: whole.parts is not ABSENT and len({p.name for p in whole.parts}) > 1,
    ],
)
def test_objects_are_of_all_kinds(wanted: Callable[[Any], bool]) -> None:
    find(verify.objects(Whole), wanted, settings=SEARCH)


def test_storage_objects_sometimes_carry_what_is_unknown() -> None:
    found = find(verify.objects(Stored), lambda each: each.unknown is not ABSENT, settings=SEARCH)
    assert found.property_bag is ABSENT
    assert found.written_with is ABSENT


@verify.examples
@given(st.data())
def test_edits_are_valid_and_leave_the_original_alone(data: st.DataObject) -> None:
    whole = data.draw(verify.objects(Whole))
    before = write_value(whole)
    edited = write_value(data.draw(verify.edits(whole)))
    assert write_value(whole) == before
    assert read_value(edited, Whole, strict=True)[1] == ()


@pytest.mark.parametrize(
    "wanted",
    [
        lambda one, other: one.count != other.count,
        lambda one, other: len(one.parts) < len(other.parts),
        lambda one, other: len(one.parts) > len(other.parts),
        lambda one, other: (
            [each.name for each in one.parts] == [each.name for each in reversed(other.parts)]
            and one.parts[0].name != one.parts[1].name
        ),
        lambda one, other: one.parts[0].name == "p" and other.parts[0].name not in {"p", "q"},
        lambda one, other: other.part is ABSENT and one.count == other.count,
        lambda one, other: other.flag is not ABSENT and one.count == other.count,
        lambda one, other: other.labels == {"a": "changed"} or list(other.labels) != ["a"],
    ],
)
def test_edits_are_of_all_kinds(wanted: Callable[[Any, Any], bool]) -> None:
    whole = Whole(
        count=1,
        labels={"a": "b"},
        part=Part(name="n"),
        parts=[Part(name="p"), Part(name="q")],
    )

    def meets(edited: Any) -> bool:
        try:
            return wanted(whole, edited)
        except (AttributeError, IndexError, TypeError):
            return False

    find(verify.edits(whole), meets, settings=SEARCH)


@verify.examples
@given(st.data())
def test_edits_of_scalars_leave_lists_maps_and_absence_alone(data: st.DataObject) -> None:
    whole = data.draw(verify.objects(Whole))
    edited = data.draw(verify.edits(whole, scalars=True))
    for name in ("labels", "parts", "additional_properties"):
        assert msgspec.json.encode([_plain(getattr(whole, name))]) == msgspec.json.encode(
            [_plain(getattr(edited, name))]
        )
    for name in whole.__struct_fields__:
        assert (getattr(whole, name) is ABSENT) == (getattr(edited, name) is ABSENT)


def _plain(value: Any) -> Any:
    return None if value is ABSENT else value
