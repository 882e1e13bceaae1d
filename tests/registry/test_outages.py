"""Registries that are away, asked again and again by one process."""

import contextlib

import msgspec
import pytest
from artifacts import QUICK, push
from simulating import Simulator, hang_up, status

from trundle.registry import Outages, RegistryError, UnreachableError, open_registry

ATTEMPTS = QUICK.retries + 1


@pytest.fixture
def simulator():
    with Simulator() as running:
        yield running


@pytest.fixture
def outages():
    return Outages()


def repository_of(simulator, outages, name="acme/crm"):
    settings = msgspec.structs.replace(QUICK, outages=outages)
    return open_registry(simulator.address, settings=settings).repository(name)


def test_a_host_that_does_not_answer_is_asked_for_one_of_many(simulator, outages):
    simulator.faults.append(hang_up())
    with pytest.raises(UnreachableError) as first:
        repository_of(simulator, outages).tags()
    assert len(simulator.requests) == ATTEMPTS
    with pytest.raises(UnreachableError, match="acme/db/tags/list") as second:
        repository_of(simulator, outages, "acme/db").tags()
    assert len(simulator.requests) == ATTEMPTS
    assert second.value.found == first.value.found


def test_a_later_round_asks_once_until_the_host_answers(simulator, outages):
    repository = repository_of(simulator, outages)
    push(repository, tag="1.0.0")
    simulator.faults.append(hang_up())
    for _ in range(3):
        outages.begin_round()
        with pytest.raises(UnreachableError):
            repository.tags()
    before = len(simulator.requests)
    outages.begin_round()
    with pytest.raises(UnreachableError):
        repository.tags()
    assert len(simulator.requests) == before + 1
    simulator.faults.clear()
    with pytest.raises(UnreachableError):
        repository.tags()
    outages.begin_round()
    assert repository.tags() == ["1.0.0"]
    simulator.times(2, hang_up())
    assert repository.tags() == ["1.0.0"]


def test_other_hosts_are_asked_as_before(simulator, outages):
    with Simulator() as gone:
        repository = repository_of(gone, outages)
    with pytest.raises(UnreachableError):
        repository.tags()
    other = repository_of(simulator, outages)
    push(other, tag="1.0.0")
    simulator.times(2, hang_up())
    assert other.tags() == ["1.0.0"]


NAMES = ("acme/a", "acme/b", "acme/c")


def looked_at(simulator, outages, names=NAMES):
    """What one round asks a registry for: the repositories that it answers well, and those that it was asked for at all."""
    outages.begin_round()
    before, answered = len(simulator.requests), []
    for each in names:
        with contextlib.suppress(UnreachableError):
            repository_of(simulator, outages, each).tags()
            answered.append(each)
    asked = [each.split("/v2/")[1].removesuffix("/tags/list") for each in simulator.requests[before:]]  # fmt: skip
    return answered, asked


@pytest.fixture
def pushed(simulator):
    for each in NAMES:
        push(repository_of(simulator, None, each), tag="1.0.0")


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_a_host_in_trouble_is_asked_for_one_of_many_and_then_for_another_one(
    simulator, outages, code
):
    simulator.faults.append(status(code))
    assert looked_at(simulator, outages) == ([], ["acme/a"] * ATTEMPTS)
    turns = [looked_at(simulator, outages)[1] for _ in range(6)]
    assert turns == [["acme/b"], ["acme/c"], ["acme/a"]] * 2
    # Another one in a registry by itself has each turn.
    only = ["acme/d"]
    with Simulator() as other:
        other.faults.append(status(code))
        assert [len(looked_at(other, outages, only)[1]) for _ in range(3)] == [ATTEMPTS, 1, 1]


def test_a_host_in_trouble_says_why_to_those_that_it_was_not_asked_for(simulator, outages):
    simulator.faults.append(status(503))
    with pytest.raises(UnreachableError):
        repository_of(simulator, outages).tags()
    with pytest.raises(UnreachableError, match=r"acme/db/tags/list.*HTTP status 503"):
        repository_of(simulator, outages, "acme/db").tags()


def test_a_host_that_is_no_longer_in_trouble_is_asked_for_all(simulator, outages, pushed):
    fault = status(503)
    simulator.faults.append(fault)
    looked_at(simulator, outages)
    simulator.faults.clear()
    assert looked_at(simulator, outages)[0] == ["acme/b", "acme/c"]  # The first had its turn.
    for _ in range(2):
        assert looked_at(simulator, outages)[0] == [*NAMES]
    simulator.faults.append(fault)
    looked_at(simulator, outages)
    assert len(looked_at(simulator, outages)[1]) == 1


@pytest.mark.parametrize("part", ["acme/a/", "acme/a/tags"])
def test_trouble_of_one_repository_holds_up_others_once(simulator, outages, pushed, part):
    """Also where a part of it is answered well."""
    simulator.faults.append(status(500, part=part))
    assert looked_at(simulator, outages)[0] == []
    for _ in range(4):
        with contextlib.suppress(UnreachableError):
            repository_of(simulator, outages, "acme/a").resolve("1.0.0")
        assert looked_at(simulator, outages)[0] == ["acme/b", "acme/c"]
    assert looked_at(simulator, outages)[1] == ["acme/a"] * ATTEMPTS + ["acme/b", "acme/c"]


def test_trouble_of_several_repositories_keeps_no_other_waiting(simulator, outages, pushed):
    """As where a registry passes requests on to another one, which is in trouble."""
    simulator.faults += [status(502, part="acme/a/"), status(502, part="acme/b/")]
    found = [looked_at(simulator, outages)[0] for _ in range(6)]
    assert found == [[], []] + [["acme/c"]] * 4


@pytest.mark.parametrize("code", [400, 403, 404, 408, 416, 425])
def test_what_a_host_refuses_is_a_matter_of_one_repository(simulator, outages, pushed, code):
    simulator.faults.append(status(code, part="acme/a/"))
    with pytest.raises(RegistryError):
        repository_of(simulator, outages, "acme/a").resolve("1.0.0")
    assert repository_of(simulator, outages, "acme/b").tags() == ["1.0.0"]


def test_a_token_service_in_trouble_is_asked_once_in_a_round(simulator, outages):
    with Simulator() as tokens:
        challenge = f'Bearer realm="http://{tokens.address}/token",service="x"'
        simulator.faults.append(status(401, WWW_Authenticate=challenge))
        tokens.faults.append(status(503))
        numbers = []
        for _ in range(3):
            before = len(tokens.requests)
            assert looked_at(simulator, outages)[0] == []
            numbers.append(len(tokens.requests) - before)
        assert numbers == [ATTEMPTS, 1, 1]


def test_without_outages_each_request_is_as_patient_as_the_first(simulator):
    simulator.faults.append(hang_up())
    for count in (1, 2):
        with pytest.raises(UnreachableError):
            repository_of(simulator, None).tags()
        assert len(simulator.requests) == count * ATTEMPTS
