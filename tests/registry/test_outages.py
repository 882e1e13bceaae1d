"""Registries that are away, asked again and again by one process."""

import msgspec
import pytest
from artifacts import QUICK, push
from simulating import Simulator, hang_up, status

from trundle.registry import Outages, UnreachableError, open_registry

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


def test_a_host_that_answers_with_trouble_is_there(simulator, outages):
    """Trouble of one repository says nothing of others."""
    push(repository_of(simulator, outages, "acme/db"), tag="1.0.0")
    simulator.faults.append(status(503, part="acme/crm"))
    with pytest.raises(UnreachableError):
        repository_of(simulator, outages).tags()
    assert repository_of(simulator, outages, "acme/db").tags() == ["1.0.0"]


def test_without_outages_each_request_is_as_patient_as_the_first(simulator):
    simulator.faults.append(hang_up())
    for count in (1, 2):
        with pytest.raises(UnreachableError):
            repository_of(simulator, None).tags()
        assert len(simulator.requests) == count * ATTEMPTS
