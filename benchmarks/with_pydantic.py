"""The neighbours 2023-01-01 and 2024-01-01 as pydantic models, with a conversion written by hand."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class _Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", populate_by_name=True)


class _Contact(_Model):
    phone: str | None = None
    room: str | None = None
    on_call: bool | None = None


class _Team(_Model):
    name: str
    email: str | None = None
    contact: _Contact | None = None


class _Limit(_Model):
    hard: int
    soft: int | None = None
    unit: str | None = None


class _Schedule(_Model):
    window: str
    days: list[str] | None = None
    paused: bool | None = None


class _Variable(_Model):
    name: str
    value: str | None = None


class _Probe(_Model):
    path: str
    port: int | None = None
    period: float | None = None
    failures: int | None = None


class _Endpoint(_Model):
    name: str
    port: int
    host: str | None = None
    secure: bool | None = None
    weight: float | None = None


class _Container(_Model):
    name: str
    command: list[str] | None = None
    variables: list[_Variable] | None = None
    cpu: int | None = None
    memory: int | None = None
    probe: _Probe | None = None


class _Container2023(_Container):
    image: str
    privileged: bool | None = None


class _Container2024(_Container):
    image_reference: str


class _Workload(_Model):
    kind: Literal["Workload"]
    metadata: dict[str, Any] | None = None
    id: str
    display_name: str
    owner: _Team
    tier: str | None = None
    replicas: int
    public: bool | None = None
    load: float | None = None
    region: str | None = None
    tags: list[str] | None = None
    labels: dict[str, str] | None = None
    limits: dict[str, _Limit] | None = None
    schedule: _Schedule | None = None
    endpoints: list[_Endpoint] | None = None
    settings: Any = None


class Workload2023(_Workload):
    """The older neighbour."""

    api_version: Literal["2023-01-01"]
    containers: list[_Container2023]


class Workload2024(_Workload):
    """The newer neighbour."""

    api_version: Literal["2024-01-01"]
    containers: list[_Container2024]


def neighbour(source: Workload2023) -> Workload2024:
    """From the older neighbour to the newer one; values that were checked are not checked again."""
    return Workload2024.model_construct(
        api_version="2024-01-01",
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
        containers=[_container(each) for each in source.containers],
        endpoints=source.endpoints,
        settings=source.settings,
    )


def _container(source: _Container2023) -> _Container2024:
    return _Container2024.model_construct(
        name=source.name,
        image_reference=source.image,
        command=source.command,
        variables=source.variables,
        cpu=source.cpu,
        memory=source.memory,
        probe=source.probe,
    )


def convert(data: bytes) -> bytes:
    """From bytes to bytes."""
    source = Workload2023.model_validate_json(data)
    return neighbour(source).model_dump_json(by_alias=True, exclude_none=True).encode()
