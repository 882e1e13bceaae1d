"""The laws of conversion, for every way in which a property or type may change."""

import json
from collections.abc import Iterator

import pytest
from amounts import amount, some_of
from cases import CASES as OTHERS
from evolving import evolve, forget
from hypothesis import given
from hypothesis import strategies as st
from moving_cases import MOVES
from spoiling import spoil

from trundle import verify
from trundle.runtime import DocumentError, Scheme

CASES = {**OTHERS, **{f"move {name}": each for name, each in MOVES.items()}}
RESOURCE = "Thing"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each law is tried with all cases; in `make test` with an eighth of them, each law with another one."""
    laws = [name for name in vars(metafunc.module) if name.startswith("test_")]
    law = laws.index(metafunc.function.__name__)
    metafunc.parametrize("case", some_of(CASES, 8, law % 8), scope="module")


@pytest.fixture(scope="module")
def scheme(case: str) -> Iterator[Scheme]:
    made = evolve(CASES[case].versions, *CASES[case].more)
    yield made
    forget(made)


def versions(scheme: Scheme) -> st.SearchStrategy[str]:
    return st.sampled_from(list(scheme.resources[RESOURCE].versions))


def test_what_a_client_writes_it_reads(scheme: Scheme) -> None:
    @verify.some_examples(amount(40))
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        document = data.draw(verify.documents(scheme, RESOURCE, data.draw(versions(scheme))))
        verify.law_identity(scheme, document)
        verify.law1(scheme, data.draw(verify.stored_objects(scheme, RESOURCE)), document)

    holds()


def test_writing_back_what_was_read_changes_nothing(scheme: Scheme) -> None:
    @verify.some_examples(amount(25))
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        verify.law2(scheme, data.draw(verify.stored_objects(scheme, RESOURCE)))

    holds()


def test_an_edit_is_seen_and_all_else_is_as_before(scheme: Scheme, case: str) -> None:
    hooks, hooked, renamed = CASES[case].hooks, CASES[case].hooked, CASES[case].renamed

    @verify.some_examples(amount(50))
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        stored = data.draw(verify.stored_objects(scheme, RESOURCE))
        seen = scheme.from_storage(stored, data.draw(versions(scheme)))
        edited = data.draw(verify.edits(seen))
        verify.law1(scheme, stored, edited)
        verify.law3(scheme, stored, edited, hooks=hooks, hooked=hooked, renamed=renamed)
        verify.law5(scheme, stored, edited, hooks=hooks, hooked=hooked, renamed=renamed)

    holds()


def test_an_edit_that_is_taken_back_leaves_nothing_behind(scheme: Scheme, case: str) -> None:
    if CASES[case].hooks:
        pytest.skip("what a hook makes of an edit need not lead back")

    @verify.some_examples(amount(40))
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        stored = data.draw(verify.stored_objects(scheme, RESOURCE))
        document = data.draw(verify.documents(scheme, RESOURCE, data.draw(versions(scheme))))
        edited = data.draw(verify.edits(document, scalars=True))
        verify.law4(scheme, stored, document, edited)

    holds()


def test_inputs_stay_and_all_ways_agree(scheme: Scheme) -> None:
    @verify.some_examples(amount(20))
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        stored = data.draw(verify.stored_objects(scheme, RESOURCE))
        document = data.draw(verify.documents(scheme, RESOURCE, data.draw(versions(scheme))))
        verify.law6(scheme, stored, document)
        verify.law_agreement(scheme, stored, document)

    holds()


def test_what_a_caller_gets_shares_nothing_with_what_it_gave(scheme: Scheme) -> None:
    @verify.some_examples(amount(15))
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        stored = data.draw(verify.stored_objects(scheme, RESOURCE))
        version, other = data.draw(versions(scheme)), data.draw(versions(scheme))
        document = data.draw(verify.documents(scheme, RESOURCE, version))
        given_ = [scheme.encode(stored), scheme.encode(document)]
        for result in (
            scheme.to_storage(document),
            scheme.to_storage(document, stored),
            scheme.to_storage(json.loads(given_[1]), stored),
            scheme.to_storage(scheme.from_storage(stored, version), stored),
            scheme.convert(document, other),
            scheme.convert(document, other, stored),
            scheme.convert(stored),
            scheme.from_storage(stored, version),
            document.convert_to_storage(),
            type(document).convert_from_storage(scheme.convert(stored)),
        ):
            spoil(result)
            assert [scheme.encode(stored), scheme.encode(document)] == given_

    holds()


def test_a_document_is_written_over_json_as_over_objects(scheme: Scheme) -> None:
    @verify.some_examples(amount(25))
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        stored = data.draw(verify.stored_objects(scheme, RESOURCE))
        version = data.draw(versions(scheme))
        seen = scheme.from_storage(stored, version)
        kept = scheme.encode(stored)
        for document in (
            seen,
            data.draw(verify.edits(seen)),
            data.draw(verify.documents(scheme, RESOURCE, version)),
        ):
            written = scheme.encode(document)
            for one in (written, json.dumps(json.loads(written), indent=1).encode()):
                try:
                    expected = scheme.encode(scheme.to_storage(scheme.decode(one), stored))
                except DocumentError:
                    continue  # what is shown though the version does not know it
                assert scheme.convert_json(one, base=kept) == expected

    holds()


def test_rolling_forward_keeps_what_every_version_reads(scheme: Scheme) -> None:
    found = scheme.resources[RESOURCE]
    earlier = [version for version in found.storage if version != found.hub]
    if not earlier:
        pytest.skip("there is no earlier storage shape")

    @verify.some_examples(amount(25))
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        version = data.draw(st.sampled_from(earlier))
        verify.law_upgrade(scheme, data.draw(verify.earlier_objects(scheme, RESOURCE, version)))

    holds()
