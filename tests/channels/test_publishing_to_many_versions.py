"""What it costs to publish does not grow with the channel: calls are counted, as times say little on a busy machine."""

import importlib
import sys
from collections import Counter
from pathlib import Path

import pytest

from trundle.channels.publishing import PublishedChannel, PublishRequest, publish
from trundle.registry import DirectoryRegistry

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def channels(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("filled_channels")


def calls_of_a_publish(channels, folder, count):
    """How often a publish to a channel with so many versions calls each function."""
    folder.mkdir()
    repository = DirectoryRegistry(folder / "registry").repository(channels.PACKAGE)
    channels.filled(repository, folder, count)

    def opened():
        return PublishedChannel(
            repository, channels.WORD, clock=channels.now, package=channels.PACKAGE
        )

    first, second = (
        PublishRequest(channels.package(folder / version, version))
        for version in ("9.0.0", "9.0.1")
    )
    publish(opened(), first)  # It imports what the second one uses.
    found = Counter()

    def count_call(frame, event, function):
        if event == "call":
            code = frame.f_code
            found[f"{Path(code.co_filename).name}:{code.co_name}"] += 1
        elif event == "c_call":
            found[function.__name__] += 1

    channel = opened()
    sys.setprofile(count_call)
    try:
        publish(channel, second)
    finally:
        sys.setprofile(None)
    assert "9.0.1" in {str(each.version) for each in opened().current().versions}
    return found


@pytest.mark.full
def test_publishing_to_10000_versions_costs_at_most_three_times_what_it_costs_to_10(
    channels, tmp_path
):
    few, many = (
        calls_of_a_publish(channels, tmp_path / str(count), count) for count in (10, 10_000)
    )
    assert few.total() > 1000
    assert many.total() <= 3 * few.total()
    requests = [
        {name: number for name, number in each.items() if name.startswith("_layout.py:")}
        for each in (few, many)
    ]
    assert requests[0] == requests[1]
