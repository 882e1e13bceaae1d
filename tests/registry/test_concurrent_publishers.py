"""Publishers in processes of their own, in a folder and at a real registry."""

import subprocess
from pathlib import Path

import pytest
import warm
from amounts import full
from ledgers import ledger_of, shown, shows

from trundle.registry import Reference

SCRIPT = Path(__file__).with_name("publishing.py")


def reference_of(repository):
    return str(Reference.parse(repository.location))


def publish(repository, name, count, death="-", lease="20"):
    return subprocess.Popen(
        [
            *warm.script(SCRIPT, always=True),
            reference_of(repository),
            name,
            str(count),
            str(death),
            lease,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    output, errors = process.communicate(timeout=300)
    return process.returncode, output.split(), errors


@pytest.mark.full
@pytest.mark.parametrize(
    ("repository", "publishers"),
    [("directory", 3), ("http", 2), full("directory", 10), full("http", 10)],
    indirect=["repository"],
)
def test_publishers_at_once_lose_nothing(repository, publishers):
    running = [publish(repository, f"p{number}", 2) for number in range(publishers)]
    results = [finish(process) for process in running]
    assert [code for code, _, _ in results] == [0] * publishers, results
    published = sorted(name for _, output, _ in results for name in output)
    assert len(published) == publishers * 2
    assert sorted(shown(repository)) == published
    assert ledger_of(repository).is_settled()


@pytest.mark.parametrize("repository", ["directory", full("http")], indirect=True)
def test_publishers_of_which_some_die_lose_nothing(repository):
    deaths = {1: 3, 4: 8, 7: 12}
    running = [
        publish(repository, f"p{number}", 2, deaths.get(number, "-"), lease="2")
        for number in range(10)
    ]
    results = [finish(process) for process in running]
    assert [code for code, _, _ in results] == [9 if n in deaths else 0 for n in range(10)], results
    published = {name for _, output, _ in results for name in output}
    ledger = ledger_of(repository)
    assert published <= {each.payload.decode() for each in ledger.entries()}
    ledger.settle(shows(repository))
    assert published <= set(shown(repository))


@pytest.mark.full
def test_a_publisher_killed_before_any_of_its_writes_leaves_a_channel_that_reads(repository):
    """Every write of a commit, and of the checkpoint that follows it, is the last one once."""
    ledger = ledger_of(repository, compact_at=1000)
    expected = [ledger.commit(lambda _entries: b"old", shows(repository)).payload.decode()]
    died, step = True, 0
    while died:
        step += 1
        code, output, errors = finish(publish(repository, f"k{step}", 1, step, lease="1"))
        assert code in {0, 9}, errors
        died = code == 9
        before, now = expected, shown(repository)
        new = f"k{step}.0"
        assert now in (before, [*before, new])
        ledger.settle(shows(repository))
        expected = shown(repository)
        assert expected in (before, [*before, new])
        assert set(output) <= set(expected)
    assert step > 5
