"""What is broken on purpose is found, reported with a small counterexample, and found again by its seed."""

import itertools
from contextlib import closing
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from evolving import evolution, hooked, rules
from verify_projects import V1, V2, generated, items, levels, proved, replaced

from trundle.codegen import generate_package
from trundle.project.proving import ProofOptions, prove_schemas
from trundle.runtime import ABSENT
from trundle.verify.proofs import Counterexample, Proof, Prover, Work, part_of

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
            *("storage versions", "origins", "origins of edits"),
        }


class Sorts:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"family": source.last, "sort_key": source.last}

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"last": source.family}


@pytest.mark.full
def test_what_a_hook_makes_of_an_object_stored_in_an_older_shape_is_no_finding() -> None:
    """A preview has no sort key; its successor gets one from the hook that stands between it and what is stored."""
    versions = {
        "2020-01-01": {"Thing": {"last": "string"}},
        "2021-01-01-preview": {"Thing": {"family": "string"}},
        "2021-01-01": {"Thing": {"family": "string", "sortKey": "string"}},
    }
    declared = hooked(
        "2020-01-01",
        "2021-01-01",
        Sorts,
        to=(("last",), ("family", "sortKey")),
        back=(("family",), ("last",)),
    )
    made = evolution(versions, declared, hub="2020-01-01")
    assert findings(proved(made, examples=10)) == []


@pytest.mark.full
def test_pieces_of_work_on_one_resource_type_share_what_is_known_of_it() -> None:
    evolution = items("x", "y")
    (resource,) = evolution.resources
    first, second = (
        Work(part=part_of(evolution, resource), versions=(each,), seed=1, examples=2)
        for each in (V1, V2)
    )
    with generated(evolution, lambda _: None) as scheme, closing(Prover(scheme)) as prover:
        each_alone = [[*Prover(scheme).prove(each)] for each in (first, second)]
        with patch("trundle.verify._hops.generate_package", wraps=generate_package) as making:
            assert [[*prover.prove(each)] for each in (first, second)] == each_alone
    assert making.call_count == 1


def test_further_seeds_do_not_try_the_covering_documents_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A clock that goes on by a second each time lets the first round end, and stops in the second."""
    clock = SimpleNamespace(monotonic=itertools.count().__next__)
    monkeypatch.setattr("trundle.project._proof_works.time", clock)
    options = ProofOptions(seed=1, examples=1, seconds=4)
    run = prove_schemas(items("x", "y"), options, on_total=lambda _: None, on_step=lambda _: None)
    assert run.rounds == 2
    assert [(each.seed, each.covering > 0) for each in run.proofs] == [
        (1, True),
        (2, False),
        (1, True),
    ]
    assert all(each.held for each in run.proofs)


@pytest.mark.full
def test_a_dropped_entry_is_found_with_little_more_than_the_lost_value() -> None:
    found = only(proved(items("x", "y"), replaced(STASH, "")), "storing and reading")
    assert (found.resource, found.version, found.versions) == ("Thing", V1, (V1,))
    assert found.path == "$.l[0].x"
    assert found.found == "nothing"
    assert document(found)["l"] == [{"x": msgspec.json.decode(found.expected)}]
    assert set(document(found)) == {"apiVersion", "kind", "l"}


@pytest.mark.full
def test_the_same_seed_finds_the_same() -> None:
    runs = [proved(items("x", "y"), replaced(STASH, ""), seed=5) for _ in range(2)]
    assert runs[0] == runs[1]
    assert findings(runs[0])


@pytest.mark.full
def test_elements_matched_by_their_place_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_place(values: Any, others: Any, keys: Any = ()) -> list[int | None]:
        return [place if place < len(others) else None for place in range(len(values))]

    monkeypatch.setattr("trundle.runtime._list_merge.match", by_place)
    found = only(proved(items("x", "y"), examples=60), "law 5")
    assert found.path.startswith("$.l[")
    assert found.case.edited is not None


@pytest.mark.full
def test_an_empty_object_that_is_lost_beside_what_moves_into_it_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The documents that come before the drawn ones have such objects."""
    versions = {
        V1: {"Thing": {"a": "string", "b": "string", "o": "Other"}, "Other": {"x": "string"}},
        V2: {"Thing": {"o": "Other"}, "Other": {"a": "string", "b": "string", "y": "string"}},
    }
    made = evolution(versions, rules(V1, move={"a": "o.a", "b": "o.b"}))
    assert findings(proved(made, examples=0)) == []
    with monkeypatch.context() as patched:
        patched.setattr("trundle.runtime._nested.has_entries", lambda bag: bag is not ABSENT)
        found = only(proved(made, examples=0), "law 1, what a client writes, it reads")
    assert found.path == "$.o"


@pytest.mark.full
def test_a_wrong_inverse_of_a_rule_is_found() -> None:
    wrong = replaced(DOWN, 'dict[str, str] = {"H": "low"}')
    found = only(proved(levels(), wrong), "law 8, what schemas and rules say")
    assert found.path == "$.level"
    assert found.expected != found.found


@pytest.mark.full
def test_a_rule_that_is_wrong_both_ways_is_found_hop_by_hop() -> None:
    def wrong(files: dict[str, bytes]) -> None:
        replaced(DOWN, 'dict[str, str] = {"H": "low", "L": "high"}')(files)
        replaced(UP, 'dict[str, str] = {"high": "L", "low": "H"}')(files)

    found = only(proved(levels(), wrong), "hop by hop")
    assert found.path == "$.level"
    assert {V1, V2} == set(found.versions)


@pytest.mark.full
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
    case = found.case
    documents = [case.document, case.edited, *(each.document for each in case.writes)]
    assert any(b'"l":[{}]' in bytes(each).replace(b" ", b"") for each in documents if each)
