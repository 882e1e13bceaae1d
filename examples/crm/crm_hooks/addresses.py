"""How addresses were written before 2018-08-08, and how they are written since."""

from typing import TYPE_CHECKING

from trundle.runtime import ABSENT, Absent, hook

if TYPE_CHECKING:
    from crm.hooks.v2017_07_07_to_v2018_08_08 import (
        AddressNewer,
        AddressNewerOutputs,
        AddressOlder,
        AddressOlderOutputs,
    )


class AddressLines:
    """Street and city on the one side, the whole address on the other; both sides know the city."""

    @hook(reads=("city", "street"), writes=("full_address",))
    def assign_to(self, source: "AddressOlder", /) -> "AddressNewerOutputs":
        """Writes street and city in a row, as a letter shows them."""
        parts = [part for part in (source.street, source.city) if part is not ABSENT and part]
        return {"full_address": ", ".join(parts) or ABSENT}

    @hook(reads=("city", "full_address"), writes=("street",))
    def assign_from(self, source: "AddressNewer", /) -> "AddressOlderOutputs":
        """Takes the street to be all that comes before the city."""
        return {"street": _before(source.city, source.full_address)}


def _before(city: str | Absent, address: str | Absent) -> str | Absent:
    """The parts of an address before its city; the whole address where the city is not in it.

    The last part that names the city counts, for there are streets that are named after cities.
    """
    if address is ABSENT or city is ABSENT or not city:
        return address
    parts = [part.strip() for part in address.split(",")]
    if city not in parts:
        return address
    place = len(parts) - 1 - parts[::-1].index(city)
    return ", ".join(parts[:place])
