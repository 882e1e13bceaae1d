"""How a server of environments gets what these may reach: from a file of places."""

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trundle.cli._catalogs import opened_catalog, place_of_catalog
from trundle.cli._environments import confinement, opened_providers, provider_settings
from trundle.cli._failures import unmet
from trundle.cli._installing import installed_packages
from trundle.cli._models import read_object
from trundle.cli._runs import RunOptions, limits_of
from trundle.errors import did_you_mean, listed, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import BaseRoute

    from trundle.api.environments import Place
    from trundle.engine import Limits

_PATHS = ("folder", "programs", "kubeconfig")
_TEXTS = ("server", "context", "namespace")
_PLACES, _LIMITS, _TENANTS = "places", "limits", "tenants"


@contextlib.contextmanager
def environment_routes(
    catalog: str, file: Path, state: Path | None = None
) -> Iterator["Sequence[BaseRoute]"]:
    """What serves the environments of a catalog.

    Args:
        catalog: the database of the catalog.
        file: says what they may reach.
        state: the folder of the installation whose packages upgrades take; None for none.

    Raises:
        CommandExit: the file cannot be used.
        DatabaseError: the database cannot be used.
    """
    from trundle.api.environments import EnvironmentRoutes, Means, running  # noqa: PLC0415
    from trundle.environments import Actions, Environments  # noqa: PLC0415

    places, limits = read_places(file)
    with opened_catalog(catalog, making=True) as opened:
        environments = Environments(opened, limits=limits)
        installed = None if state is None else partial(installed_packages, state)
        means = Means(place_of_catalog(catalog), opened_providers, limits, installed, places)
        with running(Actions(environments), means) as runner:
            yield EnvironmentRoutes(environments, runner).routes


def read_places(file: Path) -> "tuple[dict[str, Place], Limits]":
    """The places in a file, and the limits of runs.

    Raises:
        CommandExit: the file says something else.
        OSError: it cannot be read.
    """
    found = read_object(file, "places")
    _check_keys(str(file), found, (_PLACES, _LIMITS))
    places = _map(f"{file}: $.{_PLACES}", found.get(_PLACES, {}))
    read = {name: _place(file, name, given) for name, given in places.items()}
    return read, _limits(f"{file}: $.{_LIMITS}", found.get(_LIMITS, {}))


def _place(file: Path, name: str, given: Any) -> "Place":
    from trundle.api.environments import Place  # noqa: PLC0415

    where = f"{file}: $.{_PLACES}.{name}"
    _check_keys(where, _map(where, given), (*_PATHS, *_TEXTS, _TENANTS))
    for key in (*_PATHS, *_TEXTS):
        if key in given and not isinstance(given[key], str):
            raise unmet(f"{where}.{key}", "a text", shown(given[key]), "correct it")
    tenants = given.get(_TENANTS, [])
    if not isinstance(tenants, list) or not all(isinstance(each, str) for each in tenants):
        raise unmet(f"{where}.{_TENANTS}", "a list of tenants", shown(tenants), "correct it")
    paths = {key: file.absolute().parent / given[key] for key in _PATHS if key in given}
    texts = {key: given[key] for key in _TEXTS if key in given}
    options: dict[str, Any] = dict.fromkeys((*_PATHS, *_TEXTS)) | paths | texts
    # Tenants upload packages: what these name is not what those who run the server have chosen.
    settings = provider_settings(**options)
    confining = confinement(settings, cluster_wide="namespace" not in given)
    confined = {name: {**each, **confining.get(name, {})} for name, each in settings.items()}
    return Place(confined, tuple(tenants), confining)


def _limits(where: str, given: Any) -> "Limits":
    _check_keys(where, _map(where, given), ("seconds", "memory"))
    for key, value in given.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or value <= 0:
            raise unmet(f"{where}.{key}", "a number above 0", shown(value), "correct it")
    seconds, memory, _ = RunOptions()
    return limits_of(
        RunOptions(float(given.get("seconds", seconds)), int(given.get("memory", memory)))
    )


def _map(where: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise unmet(where, "a map", shown(given), "correct it")
    return given


def _check_keys(where: str, given: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            advice = did_you_mean(str(key), known, "remove it")
            raise unmet(where, f"only {listed(known)}", str(key), advice)
