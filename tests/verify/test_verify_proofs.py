"""What is broken on purpose is found, told with a small counterexample, and found again by its seed."""

from typing import Any

import msgspec
import pytest
from verify_projects import V1, V2, items, levels, proved, replaced

from trundle.verify.proofs import Counterexample, Proof

STASH = '    stash(target, ("x", "2020-01-01"), source.x)\n'
DOWN = 'dict[str, str] = {"H": "high", "L": "low"}'
UP = 'dict[str, str] = {"high": "H", "low": "L"}'


def findings(proofs: list[Proof]) -> list[Counterexample]:
    return [found for proof in proofs for found in proof.findings]


def only(proofs: list[Proof], law: str) -> Counterexample:
    return next(found for found in findings(proofs) if law in found.law)


def document(found: Counterexample) -> Any:
    assert found.case.document is not None
    return msgspec.json.decode(found.case.document)


def test_what_is_not_broken_holds_in_every_law() -> None:
    for made in (items("x", "y"), levels()):
        proofs = proved(made, examples=10)
        assert findings(proofs) == []
        older = next(each for each in proofs if each.version == V1)
        assert set(older.held) == {
            *("identity", "law 1", "law 1 of edits", "law 2", "laws 3 and 5", "law 4", "law 6"),
            *("law 7", "law 8", "laws 4 and 8 of edits", "agreement", "upgrade", "hop by hop"),
            "storage versions",
        }


def test_a_dropped_entry_is_found_with_little_more_than_the_lost_value() -> None:
    found = only(proved(items("x", "y"), replaced(STASH, "")), "storing and reading")
    assert (found.resource, found.version, found.versions) == ("Thing", V1, (V1,))
    assert found.path == "$.l[0].x"
    assert found.found == "nothing"
    assert document(found)["l"] == [{"x": msgspec.json.decode(found.expected)}]
    assert set(document(found)) == {"apiVersion", "kind", "l"}


def test_the_same_seed_finds_the_same() -> None:
    runs = [proved(items("x", "y"), replaced(STASH, ""), seed=5) for _ in range(2)]
    assert runs[0] == runs[1]
    assert findings(runs[0])


def test_elements_matched_by_their_place_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_place(values: Any, others: Any, keys: Any = ()) -> list[int | None]:
        return [place if place < len(others) else None for place in range(len(values))]

    monkeypatch.setattr("trundle.runtime._merge.match", by_place)
    found = only(proved(items("x", "y"), examples=60), "law 5")
    assert found.path.startswith("$.l[")
    assert found.case.edited is not None


def test_a_wrong_inverse_of_a_rule_is_found() -> None:
    wrong = replaced(DOWN, 'dict[str, str] = {"H": "low"}')
    found = only(proved(levels(), wrong), "law 8, what schemas and rules say")
    assert found.path == "$.level"
    assert found.expected != found.found


def test_a_rule_that_is_wrong_both_ways_is_found_hop_by_hop() -> None:
    def wrong(files: dict[str, bytes]) -> None:
        replaced(DOWN, 'dict[str, str] = {"H": "low", "L": "high"}')(files)
        replaced(UP, 'dict[str, str] = {"high": "L", "low": "H"}')(files)

    found = only(proved(levels(), wrong), "hop by hop")
    assert found.path == "$.level"
    assert {V1, V2} == set(found.versions)


def test_an_entry_that_is_never_stale_is_found() -> None:
    old = "unstash(source, _level_entries, common.level_witness)"
    new = "unstash(source, _level_entries)"
    found = findings(proved(levels(), replaced(old, new), examples=60))
    assert {each.path for each in found} == {"$.level"}
    assert any("law 3" in each.law for each in found)
    assert all(len(each.case.writes) <= 2 for each in found)


def test_a_conversion_that_fails_is_found() -> None:
    broken = replaced("name=source.name, y=source.y", "name=source.name.lower(), y=source.y")
    found = only(proved(items("x", "y"), broken), "every valid document converts")
    assert "AttributeError" in found.law
    documents = [found.case.document, *(each.document for each in found.case.writes)]
    assert any(b'"l":[{}]' in bytes(each).replace(b" ", b"") for each in documents if each)
