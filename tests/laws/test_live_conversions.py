"""Conversions that run from plans as closures do what generated code does, to the byte."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pytest
from amounts import amount, full
from cases import CASES as OTHERS
from cases import Case, invented
from evolving import evolution, forget, hooked, load
from hypothesis import given
from hypothesis import strategies as st
from moving_cases import MOVES

from trundle import verify
from trundle.codegen import LiveConversions
from trundle.evolution import ChangeError, Evolution, PlanKey, Shape
from trundle.runtime import Scheme

CASES = {**OTHERS, **{f"move {name}": each for name, each in MOVES.items()}}
RESOURCE = "Thing"
ALWAYS = (
    *(
        "lists with a key property",
        "list of unions",
        "changing objects to free-form",
        "gap, objects",
    ),
    *("additional, nested", "map to list", "recursion", "values", "previews only"),
    "move what is required out of an object that becomes free-form data",
)
"""The evolutions that `make test` looks at; together they have all steps of plans."""


class Both(NamedTuple):
    """An evolution as a generated package and as closures, all versions of which are stored.

    Attributes:
        scheme: the generated package.
        root: the lineage of the resource.
        live: the same conversions.
    """

    scheme: Scheme
    live: LiveConversions
    keys: dict[tuple[str, str], PlanKey]

    def steps(self) -> list[tuple[str, str]]:
        """The pairs of storage shapes between which generated code converts: all to the hub and back."""
        hub = self.scheme.resources[RESOURCE].hub
        return [pair for pair in self.keys if hub in pair]

    def generated(self, stored: bytes, source: str, target: str) -> bytes:
        one, other = (
            verify.storage_class(self.scheme, RESOURCE, each) for each in (source, target)
        )
        function = self.scheme.objects.conversion_of(one, other, up=True)
        return msgspec.json.encode(function(msgspec.json.decode(stored, type=one)))

    def closures(self, stored: bytes, source: str, target: str) -> bytes:
        key = self.keys[source, target]
        value = msgspec.json.decode(stored, type=self.live.source(key))
        return msgspec.json.encode(self.live.function(key)(value))


def both(made: Evolution) -> Both:
    (resource,) = made.resources
    shapes = [Shape("storage", each) for each in resource.versions.storage]
    keys = {
        (one.version.text, other.version.text): PlanKey(resource.root, one, other)
        for one, other in itertools.permutations(shapes, 2)
    }
    return Both(load(made), LiveConversions(made, keys.values()), keys)


@pytest.fixture(
    scope="module",
    params=[
        name if name in ALWAYS else full(name) for name, each in CASES.items() if not each.hooks
    ],
)
def pair(request: pytest.FixtureRequest) -> Iterator[Both]:
    case: Case = CASES[request.param]
    found = both(evolution(case.versions, *case.more, kept=tuple(case.versions)))
    yield found
    forget(found.scheme)


def test_closures_convert_what_is_stored_like_generated_code(pair: Both) -> None:
    @verify.some_examples(amount(25))
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        hub = pair.scheme.resources[RESOURCE].hub
        found = msgspec.json.encode(data.draw(verify.stored_objects(pair.scheme, RESOURCE)))
        stored = {hub: found}
        for source, target in data.draw(st.permutations(pair.steps())):
            if source in stored:
                made = pair.generated(stored[source], source, target)
                assert pair.closures(stored[source], source, target) == made
                stored[target] = made

    holds()


@pytest.mark.full
@pytest.mark.parametrize("seed", range(40))
def test_closures_convert_invented_evolutions_like_generated_code(seed: int) -> None:
    case = invented(seed)
    try:
        found = both(evolution(case.versions, *case.more, kept=tuple(case.versions)))
    except ChangeError:
        pytest.skip("the invented renames contradict each other")
    test_closures_convert_what_is_stored_like_generated_code(found)
    forget(found.scheme)


@pytest.mark.parametrize("name", ["hook", "converters", "hook in a list"])
def test_a_plan_that_needs_a_hook_is_refused(name: str) -> None:
    case = CASES[name]
    made = evolution(case.versions, *case.more, kept=tuple(case.versions))
    (resource,) = made.resources
    one, *_, other = (Shape("storage", each) for each in resource.versions.storage)
    with pytest.raises(ChangeError, match="run no hand-written code"):
        LiveConversions(made, [PlanKey(resource.root, one, other)])


class Labelled:
    def assign_to(self, source: Any) -> dict[str, str]:
        raise AssertionError


def test_metadata_alone_is_no_reason_to_call_a_hook() -> None:
    """As in generated code, where all else that the hook reads is absent."""
    one, other = "2020-01-01", "2021-01-01"
    versions = {one: {"Thing": {"a": "string"}}, other: {"Thing": {"b": "string"}}}
    hook = hooked(one, other, Labelled, to=(("a", "metadata"), ("b",)))
    made = evolution(versions, hook, kept=(one, other))
    (resource,) = made.resources
    shapes = [Shape("storage", each) for each in resource.versions.storage]
    key = PlanKey(resource.root, *sorted(shapes, key=lambda each: each.version))
    calls: list[Any] = []
    live = LiveConversions(made, [key], lambda _: lambda given: calls.append(given) or {"b": "x"})
    for held, found in (("", None), (', "a": "y"', "x")):
        stored = f'{{"apiVersion": "{one}", "kind": "Thing", "metadata": {{"name": "m"}}{held}}}'
        value = msgspec.json.decode(stored, type=live.source(key))
        converted = msgspec.json.decode(msgspec.json.encode(live.function(key)(value)))
        assert converted.get("b") == found
    assert calls == [{"a": "y", "metadata": {"name": "m"}}]
