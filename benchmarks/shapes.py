"""The neighbours 2023-01-01 and 2024-01-01 as plain annotations, and a conversion written by hand.

Libraries that read documents by classes make theirs of these.
"""

import typing
from collections.abc import Callable
from typing import Any

OLDER, NEWER = "2023-01-01", "2024-01-01"


class Contact:
    """How a team is reached at once."""

    phone: str | None
    room: str | None
    on_call: bool | None


class Team:
    """Who answers for a workload."""

    name: str
    email: str | None
    contact: Contact | None


class Limit:
    """How much of something a workload may use."""

    hard: int
    soft: int | None
    unit: str | None


class Schedule:
    """When a workload may be changed."""

    window: str
    days: list[str] | None
    paused: bool | None


class Variable:
    """A variable of a program's environment."""

    name: str
    value: str | None


class Probe:
    """How it is seen that a program works."""

    path: str
    port: int | None
    period: float | None
    failures: int | None


class Endpoint:
    """Where a workload is reached."""

    name: str
    port: int
    host: str | None
    secure: bool | None
    weight: float | None


class _Container:
    name: str
    command: list[str] | None
    variables: list[Variable] | None
    cpu: int | None
    memory: int | None
    probe: Probe | None


class OlderContainer(_Container):
    """A program of a workload, as the older neighbour has it."""

    image: str
    privileged: bool | None


class NewerContainer(_Container):
    """A program of a workload, as the newer neighbour has it."""

    image_reference: str


class _Workload:
    api_version: str
    kind: str
    metadata: dict[str, Any] | None
    id: str
    display_name: str
    owner: Team
    tier: str | None
    replicas: int
    public: bool | None
    load: float | None
    region: str | None
    tags: list[str] | None
    labels: dict[str, str] | None
    limits: dict[str, Limit] | None
    schedule: Schedule | None
    endpoints: list[Endpoint] | None
    settings: Any


class OlderWorkload(_Workload):
    """The older neighbour."""

    containers: list[OlderContainer]


class NewerWorkload(_Workload):
    """The newer neighbour."""

    containers: list[NewerContainer]


CLASSES = (
    *(Contact, Team, Limit, Schedule, Variable, Probe, Endpoint),
    *(OlderContainer, NewerContainer, OlderWorkload, NewerWorkload),
)
"""All of them, parts first."""

Fields = dict[str, tuple[Any, bool]]
"""The type of each property, and whether it is required."""


def made(make: Callable[[str, Fields], type[Any]]) -> dict[type[Any], type[Any]]:
    """The classes that a library makes of these, by these."""
    found: dict[type[Any], type[Any]] = {}
    for class_ in CLASSES:
        hints = typing.get_type_hints(class_)
        found[class_] = make(
            class_.__name__,
            {
                name: (
                    _replaced(hint, found),
                    type(None) not in typing.get_args(hint) and hint is not Any,
                )
                for name, hint in hints.items()
            },
        )
    return found


def _replaced(hint: Any, classes: dict[type[Any], type[Any]]) -> Any:
    if hint in classes:
        return classes[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is None:
        return hint
    parts = tuple(_replaced(each, classes) for each in arguments)
    return origin[parts] if origin in (list, dict) else typing.Union[parts]  # noqa: UP007


def neighbour(source: Any, workload: Callable[..., Any], container: Callable[..., Any]) -> Any:
    """From the older neighbour to the newer one: containers rename a property and lose one."""
    return workload(
        api_version=NEWER,
        kind=source.kind,
        metadata=source.metadata,
        id=source.id,
        display_name=source.display_name,
        owner=source.owner,
        tier=source.tier,
        replicas=source.replicas,
        public=source.public,
        load=source.load,
        region=source.region,
        tags=source.tags,
        labels=source.labels,
        limits=source.limits,
        schedule=source.schedule,
        containers=[
            container(
                name=each.name,
                image_reference=each.image,
                command=each.command,
                variables=each.variables,
                cpu=each.cpu,
                memory=each.memory,
                probe=each.probe,
            )
            for each in source.containers
        ],
        endpoints=source.endpoints,
        settings=source.settings,
    )
