"""A broken law is found, and reported with resource, versions, path and both values.

The engine keeps the laws; so each is broken here on purpose, by a scheme that cheats.
"""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from trundle import verify
from trundle.codegen import generate_package
from trundle.evolution import Evolution
from trundle.runtime import ABSENT, Scheme
from trundle.schema import ListOf, ObjectType, Property, Ref, Resource, Scalar, Schema
from trundle.verify._edit_laws import hidden_beside_more
from trundle.version import ApiVersion

TEXT = Scalar("string")
V1, V2 = "2020-01-01", "2021-01-01"


def schema(version: str, **properties: Any) -> Schema:
    def made(name: str, types: dict[str, Any]) -> ObjectType:
        return ObjectType(name, True, tuple(Property(n, t) for n, t in sorted(types.items())))

    definitions = {
        "Item": made("Item", {"name": TEXT, properties.pop("item"): TEXT}),
        "Thing": made("Thing", properties),
    }
    return Schema(ApiVersion.parse(version), definitions, (Resource("Thing", "Thing"),))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("package")
    items = ListOf(Ref("Item"))
    evolution = Evolution(
        (
            schema(V1, item="x", a=TEXT, b=TEXT, items=items),
            schema(V2, item="y", a=TEXT, c=TEXT, items=items),
        )
    )
    for path, data in generate_package(evolution, package="verified").items():
        file = folder / "verified" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("verified")
    sys.path.remove(str(folder))
    for name in [each for each in sys.modules if each.partition(".")[0] == "verified"]:
        del sys.modules[name]


class Cheating:
    """A scheme whose writes or reads are changed behind its back."""

    def __init__(self, scheme: Scheme, **changes: Any) -> None:
        self._scheme = scheme
        self._changes = changes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scheme, name)

    def to_storage(self, value: Any, base: Any = None) -> Any:
        found = self._scheme.to_storage(value, base)
        change = self._changes.get("written")
        return found if change is None else change(self._scheme.decode(self._scheme.encode(found)))

    def from_storage(self, stored: Any, to: str) -> Any:
        found = self._scheme.from_storage(stored, to)
        change = self._changes.get("read")
        return found if change is None else change(found)


def document(package: Any, version: str = V1, **properties: Any) -> Any:
    return verify.object_class(package.scheme, "Thing", version)(**properties)


def test_all_laws_hold(package: Any) -> None:
    scheme = package.scheme
    stored = scheme.to_storage(document(package, V2, a="1", c="2"))
    edited = scheme.from_storage(stored, V1)
    edited.b = "3"
    verify.laws(scheme, stored, document(package, a="4"), edited)
    verify.law4(scheme, stored, document(package, a="4"), document(package, a="5"))


def test_a_changed_value_breaks_the_first_law_and_is_reported(package: Any) -> None:
    def shout(stored: Any) -> Any:
        stored.a = stored.a.upper()
        return stored

    stored = package.scheme.to_storage(document(package, a="before"))
    scheme: Any = Cheating(package.scheme, written=shout)
    with pytest.raises(verify.LawBroken) as caught:
        verify.law1(scheme, stored, document(package, a="text"))
    broken = caught.value
    assert (broken.resource, broken.versions, broken.path) == ("Thing", (V1,), "$.a")
    assert (broken.expected, broken.found) == ("text", "TEXT")
    assert str(broken).startswith(
        "law 1, what a client writes, it reads: Thing 2020-01-01 - at $.a"
    )
    assert 'expected: "text"' in str(broken)
    with pytest.raises(verify.LawBroken, match="storing and reading is the identity"):
        verify.law_identity(scheme, document(package, a="text"))


def test_a_write_that_leaves_traces_breaks_the_second_law(package: Any) -> None:
    def trace(stored: Any) -> Any:
        stored.c = "trace"
        return stored

    stored = package.scheme.to_storage(document(package, a="1"))
    scheme: Any = Cheating(package.scheme, written=trace)
    with pytest.raises(verify.LawBroken, match=r"law 2, .* at \$\.c"):
        verify.law2(scheme, stored, V1)


def test_losing_what_the_writer_cannot_see_breaks_the_third_law(package: Any) -> None:
    def forget(stored: Any) -> Any:
        stored.c = ABSENT
        return stored

    stored = package.scheme.to_storage(document(package, V2, a="1", c="2"))
    edited = package.scheme.from_storage(stored, V1)
    edited.a = "new"
    scheme: Any = Cheating(package.scheme, written=forget)
    with pytest.raises(
        verify.LawBroken, match=r"law 3, .* at \$\.c\n  expected: \"2\"\n  found:    n"
    ):
        verify.law3(scheme, stored, edited)


def test_moving_data_to_another_element_breaks_the_fifth_law(package: Any) -> None:
    scheme = package.scheme
    item = importlib.import_module("verified.v2020_01_01").Item
    newer = importlib.import_module("verified.v2021_01_01").Item
    hidden = [newer(name="p", y="1"), newer(name="q", y="2")]
    stored = scheme.to_storage(document(package, V2, items=hidden))
    edited = scheme.from_storage(stored, V1)
    edited.items = [item(name="q"), item(name="p", x="new")]
    verify.law5(scheme, stored, edited)

    def swap(stored: Any) -> Any:
        if len(stored.items) > 1 and stored.items[0].y is not ABSENT:
            stored.items[0].y, stored.items[1].y = stored.items[1].y, stored.items[0].y
        return stored

    cheating: Any = Cheating(scheme, written=swap)
    with pytest.raises(verify.LawBroken, match=r"law 5, .*items\[\d\]\.y"):
        verify.law5(cheating, stored, edited)


def test_changing_the_input_breaks_the_sixth_law(package: Any) -> None:
    kept = document(package, a="1")

    def touch(found: Any) -> Any:
        kept.a = f"{kept.a}!"
        return found

    stored = package.scheme.to_storage(document(package, a="0"))
    scheme: Any = Cheating(package.scheme, written=touch)
    with pytest.raises(verify.LawBroken, match="law 6"):
        verify.law6(scheme, stored, kept)


def test_ways_that_differ_are_found(package: Any) -> None:
    def shout(found: Any) -> Any:
        found.a = "other"
        return found

    stored = package.scheme.to_storage(document(package, a="0"))
    scheme: Any = Cheating(package.scheme, read=shout)
    with pytest.raises(verify.LawBroken, match="the methods agree"):
        verify.law_agreement(scheme, stored, document(package, a="1"))


def test_an_upgrade_that_loses_is_found(package: Any) -> None:
    class_ = verify.storage_class(package.scheme, "Thing", V1)
    earlier = class_(a="1", b="2", written_with=V1)
    verify.law_upgrade(package.scheme, earlier)

    def forget(found: Any) -> Any:
        if hasattr(found, "b"):
            found.b = ABSENT
        return found

    scheme: Any = Cheating(package.scheme, read=forget)
    with pytest.raises(verify.LawBroken, match=r"earlier version stored: .* at \$\.b"):
        verify.law_upgrade(scheme, earlier)


def test_only_the_letter_case_of_a_listed_text_may_change_in_an_upgrade(package: Any) -> None:
    class_ = verify.storage_class(package.scheme, "Thing", V1)
    earlier = class_(a="1", b="text", written_with=V1)

    def shout(found: Any) -> Any:
        if getattr(found, "b", ABSENT) == "text":
            found.b = "TEXT"
        return found

    scheme: Any = Cheating(package.scheme, read=shout)
    with contextlib.suppress(verify.LawBroken):  # the second law has more to say
        verify.law_upgrade(scheme, earlier, {("b", "TEXT")})
    for listed in ({("a", "TEXT")}, {("b", "Text")}, frozenset()):
        with pytest.raises(verify.LawBroken, match=r"earlier version stored: .* at \$\.b"):
            verify.law_upgrade(scheme, earlier, listed)


def test_an_edit_that_is_stored_nowhere_is_not_hidden_by_what_is(package: Any) -> None:
    stored = package.scheme.to_storage(document(package, a="1"))
    assert not hidden_beside_more(package.scheme, (stored, stored), V1, ("a",))


def test_an_edit_may_be_hidden_where_the_hub_shows_it_and_no_entry_has_a_part(package: Any) -> None:
    """As free-form data on the way hides an object of which it cannot show all: the version never shows `a`."""

    def hide(found: Any) -> Any:
        if found.api_version == V1:
            found.a = ABSENT
        return found

    scheme: Any = Cheating(package.scheme, read=hide)
    puts = tuple(scheme.to_storage(document(package, V2, a=each)) for each in "12")
    assert hidden_beside_more(scheme, puts, V1, ("a",))
    assert not hidden_beside_more(package.scheme, puts, V1, ("a",))
