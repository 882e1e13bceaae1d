"""Enums and plain text through versions that spell a text in other letter cases."""

from collections.abc import Iterator
from typing import Any

import pytest
from amounts import amount, some_of
from evolving import Store, evolve, forget, rules, thing
from hypothesis import given, settings
from hypothesis import strategies as st

SPELLINGS = ["Small", "small", "SMALL", "Large", "large"]
NAMES = ["v1beta1", "v1", "v2beta1", "v2", "v3"]
Enums = dict[str, list[str] | None]
"""The enum of each version; None where the property is plain text."""


def definitions(enum: list[str] | None, *, wrap: str = "{}") -> dict[str, Any]:
    if enum is None:
        return {"Thing": {"size": wrap.format("string"), "n": "integer"}}
    return {"Thing": {"size": wrap.format("Size"), "n": "integer"}, "Size": enum}


def chain(*enums: list[str] | None) -> Enums:
    return {f"v{n}": each for n, each in enumerate(enums, start=1)}


def scheme_of(enums: Enums, *, wrap: str = "{}") -> Any:
    return evolve({version: definitions(each, wrap=wrap) for version, each in enums.items()})


def may_show(enums: Enums, text: str, writer: str, reader: str) -> set[str] | None:
    """What a version may show of a text that another wrote; None for the text in any letter case.

    This knows the enums of the two versions only. Versions in between may have had a say in what no enum of the
    reader's spells. Versions with the same enum may share what is written.
    """
    wrote, reads = enums[writer] or (), enums[reader] or ()
    if writer == reader:
        return {text}
    own = {each for each in reads if each.casefold() == text.casefold()}
    return {*own, text} if own and set(wrote) == set(reads) else own or None


def check(enums: Enums, scheme: Any, text: str, wrap: str = "{}") -> None:
    inside = {"{}": lambda it: it, "[{}]": lambda it: it[0], "{{{}}}": lambda it: it["a"]}[wrap]
    value = {"{}": text, "[{}]": [text], "{{{}}}": {"a": text}}[wrap]
    for writer in enums:
        store = Store(scheme).put(writer, size=value, n=1)
        for reader in enums:
            allowed = may_show(enums, text, writer, reader)
            straight = scheme.convert(thing(writer, size=value), to=reader)
            for shown in (store.read(reader)["size"], straight["size"]):
                assert inside(shown).casefold() == text.casefold()
                assert allowed is None or inside(shown) in allowed, (writer, reader, shown)
        for editor in enums:
            edited = Store(scheme, store.stored).edit(editor, n=2)
            assert edited.read(writer) == {"size": value, "n": 2}


@pytest.mark.parametrize("text", some_of(["Small", "small", "LARGE", "large", "tiny"], 2))
@pytest.mark.parametrize("wrap", ["{}", "[{}]", "{{{}}}"])
@pytest.mark.parametrize(
    "enums",
    some_of(
        [
            chain(["Small"], ["Small", "Large"], None),
            chain(["Small", "Large"], ["Small"], None),
            chain(None, ["Small"], ["Small", "Large"]),
            chain(["Small", "Large"], None, ["SMALL"]),
            chain(["Standard_A1", "Small"], ["STANDARD_A1", "SMALL"]),
            chain(["Small"], ["Large"], ["small"]),
            chain(["Small", "small"], ["Small"]),
            chain(["Small"], ["Small", "Large"], ["Small", "Large", "Huge"]),
            {"v1": ["Small", "Large"], "v2beta1": ["Small"], "v2": None},
        ],
        3,
    ),
)
def test_a_client_reads_the_text_that_it_wrote_and_others_their_own_letter_case(
    enums: Enums, wrap: str, text: str
) -> None:
    scheme = scheme_of(enums, wrap=wrap)
    check(enums, scheme, text, wrap)
    forget(scheme)


ENUM = st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=3, unique=True)
CHAINS = st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({each: st.none() | ENUM for each in sorted(names)})
)


@pytest.mark.full
@settings(max_examples=amount(40), deadline=None)
@given(CHAINS, st.sampled_from([*SPELLINGS, "tiny"]))
def test_so_it_is_for_any_enums_of_any_versions(enums: Enums, text: str) -> None:
    scheme = scheme_of(enums)
    check(enums, scheme, text)
    forget(scheme)


def test_an_edit_in_a_version_with_another_enum_is_seen_by_all() -> None:
    scheme = scheme_of(chain(["Small"], ["Small", "Large"], None))
    store = Store(scheme).put("v2", size="large")
    assert store.edit("v3", size="LARGE").read("v2") == {"size": "Large"}
    assert store.read("v1") == {"size": "LARGE"}
    assert store.edit("v2", size="small").read("v3") == {"size": "small"}
    assert store.read("v2") == {"size": "small"}


@pytest.mark.parametrize("type_", ["Size", "Size?"])
def test_a_rule_for_values_holds_in_every_letter_case(type_: str) -> None:
    versions = {
        "v1": {"Thing": {"size": type_}, "Size": ["Small", "Large"]},
        "v2": {"Thing": {"size": type_}, "Size": ["S", "Large"]},
    }
    scheme = evolve(versions, rules("v1", values={"size": {"Small": "S"}}))
    for writer, text, shown in (
        ("v1", "Small", "S"),
        ("v1", "SMALL", "S"),
        ("v1", "large", "Large"),
        ("v1", "tiny", "tiny"),
        ("v2", "s", "Small"),
        ("v2", "LARGE", "Large"),
    ):
        reader = "v2" if writer == "v1" else "v1"
        store = Store(scheme).put(writer, size=text)
        assert store.read(writer) == {"size": text}
        assert store.read(reader) == {"size": shown}
        assert scheme.convert(thing(writer, size=text), to=reader)["size"] == shown
    forget(scheme)


GROWING = {
    "v1": {"Thing": {"size": "Size", "l": "[In]", "n": "integer"}, "In": {"size": "Size"}},
    "v2": {"Thing": {"size": "Size", "l": "[In]", "n": "integer"}, "In": {"size": "Size"}},
}
SIZES = {"v1": ["Small"], "v2": ["Small", "Large"]}


@pytest.fixture(scope="module", params=["v2", "v1"])
def growing(request: pytest.FixtureRequest) -> Iterator[Any]:
    versions = {version: {**each, "Size": SIZES[version]} for version, each in GROWING.items()}
    scheme = evolve(versions, hub=request.param)
    yield scheme
    forget(scheme)


def test_where_an_enum_only_grows_each_version_shows_its_own_letter_case(growing: Any) -> None:
    for writer, text, reader, shown in (
        ("v1", "small", "v2", "Small"),
        ("v2", "small", "v1", "Small"),
        ("v1", "large", "v2", "Large"),
        ("v2", "large", "v1", "large"),
    ):
        store = Store(growing).put(writer, size=text, l=[{"size": text}, {}], n=1)
        for n in (2, 3):
            assert store.read(writer) == {"size": text, "l": [{"size": text}, {}], "n": n - 1}
            assert store.read(reader) == {"size": shown, "l": [{"size": shown}, {}], "n": n - 1}
            store.edit(reader, n=n)
        straight = growing.convert(thing(writer, size=text, l=[{"size": text}]), to=reader)
        assert straight == thing(reader, size=shown, l=[{"size": shown}])


def test_what_another_version_writes_is_not_shown_as_its_writer_spelled_it(growing: Any) -> None:
    store = Store(growing).put("v1", size="small")
    assert store.edit("v2", size="LARGE").read("v1") == {"size": "LARGE"}
    assert store.read("v2") == {"size": "LARGE"}
    assert store.edit("v1", size="SMALL").read("v2") == {"size": "Small"}
    assert store.edit("v2", size=None).read("v1") == {}


def test_versions_with_the_same_enum_share_what_is_written() -> None:
    scheme = scheme_of(chain(["Small"], ["Small"], ["Small", "Large"]))
    assert Store(scheme).put("v1", size="small").read("v2") == {"size": "small"}
    forget(scheme)


def test_an_entry_is_kept_only_for_a_text_in_another_letter_case(growing: Any) -> None:
    plain = growing.convert(thing("v1", size="Small"))
    assert "$propertyBag" not in plain
    kept = growing.convert(thing("v1", size="small"))
    assert kept["size"] == "small"
    assert list(kept["$propertyBag"]) == ["size~"]


@pytest.mark.full
def test_a_later_release_keeps_what_clients_wrote() -> None:
    known = {version: {**each, "Size": SIZES[version]} for version, each in GROWING.items()}
    old = evolve(known)
    store = Store(old).put("v1", size="small", n=1)
    third = {"Thing": {"size": "Size", "n": "integer"}, "Size": ["SMALL", "Huge", "Large"]}
    plain = {"Thing": {"size": "string", "n": "integer"}}
    gone = {"Thing": {"n": "integer"}}
    for v3 in (third, plain, gone):
        new = evolve({**known, "v3": v3})
        later = Store(new, new.convert(store.stored))
        assert later.read("v1") == {"size": "small", "n": 1}
        seen = "small" if v3 is third else "Small"  # what v2 stored may have been written in v2
        assert later.read("v2") == {"size": seen, "n": 1}
        later.edit("v3", n=2)
        assert later.read("v1") == {"size": "small", "n": 2}
        assert later.read("v2") == {"size": seen, "n": 2}
        forget(new)
    forget(old)


def test_a_text_beside_mapped_ones_is_shown_in_each_enums_own_letter_case(forgetting):
    versions = {"v1": definitions(["open", "done"]), "v2": definitions(["Open", "Closed"])}
    scheme = forgetting(evolve(versions, rules("v1", values={"size": {"done": "Closed"}})))
    for written, shown in (("open", "Open"), ("OPEN", "Open"), ("done", "Closed")):
        store = Store(scheme).put("v1", size=written)
        assert store.read("v2") == {"size": shown}
        assert store.read("v1") == {"size": written}
        assert scheme.convert(thing("v1", size=written), to="v2")["size"] == shown
    for written, shown in (("Open", "open"), ("OPEN", "open"), ("Closed", "done")):
        store = Store(scheme).put("v2", size=written)
        assert store.read("v1") == {"size": shown}
        assert store.read("v2") == {"size": written}


WRAPS = {
    "[{}]": lambda texts: texts,
    "[{}?]": lambda texts: texts,
    "{{{}}}": lambda texts: dict(zip("abcd", texts, strict=False)),
    "[[{}]]": lambda texts: [texts],
    "{{[{}]}}": lambda texts: {"k": texts},
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("older_writes", [True, False], ids=["older writes", "newer writes"])
@pytest.mark.parametrize(
    "enums",
    some_of(
        [
            chain(None, ["LARGE", "small"]),
            chain(["LARGE", "small"], None),
            chain(["LARGE", "small"], ["LARGE", "small", "x"]),
            chain(["LARGE", "small"], ["Large", "Small"]),
            chain(["LARGE", "small"], None, ["Large", "Small"]),
        ],
        4,
    ),
    ids=str,
)
@pytest.mark.parametrize("hub", ["v1", "v2"])
def test_texts_of_a_list_or_map_stay_as_they_were_written_where_another_version_adds_one(
    forgetting, hub, enums, older_writes, wrap
):
    versions = {each: definitions(enum, wrap=wrap) for each, enum in enums.items()}
    scheme = forgetting(evolve(versions, hub=hub))
    ends = (min(enums), max(enums))
    writer, other = ends if older_writes else ends[::-1]
    make = WRAPS[wrap]
    store = Store(scheme).put(writer, size=make(["large", "SMALL"]))
    shown = [*_texts(store.read(other)["size"])]
    assert store.edit(other, size=make([*shown, "y"])).read(other) == {"size": make([*shown, "y"])}
    assert store.read(writer) == {"size": make(["large", "SMALL", "y"])}
    store.edit(writer, size=make(["large", "SMALL", "y", "z"]))
    assert store.read(writer) == {"size": make(["large", "SMALL", "y", "z"])}
    assert store.read(other) == {"size": make([*shown, "y", "z"])}
    removed = {"b": shown[1]} if wrap == "{{{}}}" else make(shown[1:2])
    store.edit(other, size=removed)
    assert [*_texts(store.read(writer)["size"])] == ["SMALL"]


def _texts(value: Any) -> Iterator[str]:
    """The texts in lists and maps, at any depth."""
    if isinstance(value, str):
        yield value
    else:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


@pytest.mark.parametrize("says", [{}, {"Stop": "Stop"}])
@pytest.mark.parametrize("wrap", ["{}", "{}?"])
def test_of_values_that_become_one_that_of_the_same_name_is_shown_on_the_way_back(
    forgetting: Any, says: dict[str, str], wrap: str
) -> None:
    """As where a version has deprecated names of a value beside its own."""
    versions = {
        "v1": definitions(["Borrow", "Stop", "Next"], wrap=wrap),
        "v2": definitions(["Stop", "Next"], wrap=wrap),
    }
    more = rules("v1", values={"size": {"Borrow": "Stop", **says}})
    scheme = forgetting(evolve(versions, more))
    for older, newer in (("Borrow", "Stop"), ("Stop", "Stop"), ("Next", "Next")):
        assert scheme.convert(thing("v1", size=older), to="v2") == thing("v2", size=newer)
        assert scheme.convert(thing("v2", size=newer), to="v1") == thing("v1", size=newer)
        store = Store(scheme).put("v1", size=older)
        assert store.read("v1") == {"size": older}
    edited = Store(scheme).put("v1", size="Next").edit("v2", size="Stop")
    assert edited.read("v1") == {"size": "Stop"}


def test_a_value_that_takes_the_name_of_another_goes_back_to_what_it_was(forgetting: Any) -> None:
    versions = {"v1": definitions(["Low", "High"]), "v2": definitions(["High", "Highest"])}
    scheme = forgetting(
        evolve(versions, rules("v1", values={"size": {"Low": "High", "High": "Highest"}}))
    )
    for older, newer in (("Low", "High"), ("High", "Highest")):
        assert scheme.convert(thing("v1", size=older), to="v2") == thing("v2", size=newer)
        assert scheme.convert(thing("v2", size=newer), to="v1") == thing("v1", size=older)
