"""Places: what environments may reach, by names that clients choose from."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from trundle.api._status import ApiError, bad_request
from trundle.environments import Environment, Providers
from trundle.errors import did_you_mean, expectation, listed

_TENANT, _ENVIRONMENT = "{tenant}", "{environment}"
_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.))*")


class Place(NamedTuple):
    """What an environment may reach.

    Attributes:
        settings: the settings of providers; `{tenant}` and `{environment}` in their values stand for the names of these.
        tenants: whose environments; those of all tenants where empty.
        confining: those of the settings that hold for each run, also of environments that were made when the place had others.
    """

    settings: Providers
    tenants: tuple[str, ...] = ()
    confining: Mapping[str, Mapping[str, str]] = {}

    def is_for(self, tenant: str) -> bool:
        """Whether environments of a tenant may be there."""
        return not self.tenants or tenant in self.tenants


def settings_at(places: Mapping[str, Place], name: str, tenant: str, environment: str) -> Providers:
    """The settings of providers of an environment at a place.

    Args:
        places: all places.
        name: the place; empty for none, where nothing can be reached.
        tenant: whose environment it is.
        environment: the name of the environment.

    Raises:
        ApiError: there is no such place for the tenant, or the names cannot be part of one.
    """
    if not name:
        return {}
    known = [each for each, place in places.items() if place.is_for(tenant)]
    if name not in known:
        found = f"only {listed(known)}" if known else "none"
        advice = did_you_mean(name, known, "ask who runs the server for one")
        message = expectation(f"a place {name} of the server", found, advice)
        raise ApiError(422, "Invalid", message)
    return _with_names(places[name].settings, tenant, environment)


def settings_now(places: Mapping[str, Place], environment: Environment) -> Providers:
    """The settings of providers of an environment for a run: those that are kept with it, and what confines its place by now.

    An environment of an earlier release, of which the place is not known, is at the one that reaches the same.

    Args:
        places: all places.
        environment: the environment.

    Raises:
        ApiError: the names cannot be part of what confines it.
    """
    kept, name = environment.providers, environment.place
    if name is None:
        name = next((x for x, each in places.items() if _reaches_the_same(each, environment)), "")
    if name not in places:
        return kept
    found = _with_names(places[name].confining, environment.tenant, environment.name)
    return {provider: {**each, **found.get(provider, {})} for provider, each in kept.items()}


def _reaches_the_same(place: Place, environment: Environment) -> bool:
    """Whether a place reaches what an environment does, but for what confines it."""
    if not place.is_for(environment.tenant):
        return False
    confined = [each for each in place.confining if each in environment.providers]
    try:
        here = _with_names(place.settings, environment.tenant, environment.name)
    except ApiError:
        return False
    return bool(confined) and all(
        _without(here[each], place.confining[each])
        == _without(environment.providers[each], place.confining[each])
        for each in confined
    )


def _without(settings: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in settings.items() if key not in others}


def _with_names(
    settings: Mapping[str, Mapping[str, str]], tenant: str, environment: str
) -> Providers:
    """Settings with the names of a tenant and an environment in them.

    Raises:
        ApiError: a name cannot be part of one.
    """
    names = {_TENANT: tenant, _ENVIRONMENT: environment}
    return {
        provider: {key: _named(value, names) for key, value in each.items()}
        for provider, each in settings.items()
    }


def _named(text: str, names: Mapping[str, str]) -> str:
    """A text with names in it.

    Raises:
        ApiError: a name could lead out of a folder, or is no word.
    """
    for each, name in names.items():
        if each in text and not _PLAIN.fullmatch(name):
            expected = "a name of letters, digits, `-`, `_` and single dots, which this place needs"
            raise bad_request(expectation(expected, repr(name), "choose another name"))
    return re.sub(r"\{(?:tenant|environment)\}", lambda found: names[found[0]], text)
