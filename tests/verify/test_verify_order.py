"""The order of additional properties: which difference the first law takes for none, and which it reports."""

from typing import Any

import pytest
from evolving import evolve, forget, thing

from trundle import verify
from trundle.runtime import Scheme

VERSIONS = {
    "v1": {"Thing": {"o": "O"}, "O": {"x": "string", "*": "string"}},
    "v2": {"Thing": {"o": "O"}, "O": {"*": "string"}},
}


class Reading:
    """A scheme that shows additional properties in an order of its own."""

    def __init__(self, scheme: Scheme, names: str) -> None:
        self._scheme = scheme
        self._names = names

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scheme, name)

    def from_storage(self, stored: Any, to: str) -> Any:
        found = self._scheme.from_storage(stored, to)
        members = found.o.additional_properties
        found.o.additional_properties = {name: members[name] for name in self._names}
        return found


def law1(scheme: Scheme, shown: str) -> None:
    written = scheme.decode(thing("v2", o={"x": "1", "a": "2", "b": "3"}))
    reading: Any = Reading(scheme, shown)
    verify.law1(reading, scheme.to_storage(written), written)


@pytest.mark.parametrize("hub", ["v1", "v2"])
def test_what_the_stored_version_names_may_come_behind_the_others(hub: str) -> None:
    scheme = evolve(VERSIONS, hub=hub)
    law1(scheme, "xab")
    if hub == "v1":
        law1(scheme, "abx")
    else:
        with pytest.raises(verify.LawBroken, match="order or spelling"):
            law1(scheme, "abx")
    forget(scheme)


@pytest.mark.parametrize("hub", ["v1", "v2"])
def test_another_order_of_the_others_is_reported(hub: str) -> None:
    scheme = evolve(VERSIONS, hub=hub)
    for shown in ("xba", "bax"):
        with pytest.raises(verify.LawBroken, match="order or spelling"):
            law1(scheme, shown)
    forget(scheme)
