"""The neighbours 2023-01-01 and 2024-01-01 as attrs classes, read and written by cattrs over orjson."""

from typing import Any, TypeVar, dataclass_transform

from attrs import define, fields
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from cattrs.preconf.orjson import make_converter

Class = TypeVar("Class", bound=type)

_CONVERTER = make_converter(omit_if_default=True, forbid_extra_keys=True)


@dataclass_transform(kw_only_default=True)
def _document(class_: Class) -> Class:
    """Makes an attrs class whose properties are spelt in camel case in documents."""
    made = define(kw_only=True)(class_)
    names: dict[str, Any] = {each.name: override(rename=_camel(each.name)) for each in fields(made)}
    _CONVERTER.register_structure_hook(
        made,
        make_dict_structure_fn(made, _CONVERTER, _cattrs_forbid_extra_keys=True, **names),
    )
    _CONVERTER.register_unstructure_hook(
        made,
        make_dict_unstructure_fn(made, _CONVERTER, _cattrs_omit_if_default=True, **names),
    )
    return made


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.title() for each in others)


@_document
class _Contact:
    phone: str | None = None
    room: str | None = None
    on_call: bool | None = None


@_document
class _Team:
    name: str
    email: str | None = None
    contact: _Contact | None = None


@_document
class _Limit:
    hard: int
    soft: int | None = None
    unit: str | None = None


@_document
class _Schedule:
    window: str
    days: list[str] | None = None
    paused: bool | None = None


@_document
class _Variable:
    name: str
    value: str | None = None


@_document
class _Probe:
    path: str
    port: int | None = None
    period: float | None = None
    failures: int | None = None


@_document
class _Endpoint:
    name: str
    port: int
    host: str | None = None
    secure: bool | None = None
    weight: float | None = None


@_document
class _Container2023:
    name: str
    image: str
    command: list[str] | None = None
    variables: list[_Variable] | None = None
    cpu: int | None = None
    memory: int | None = None
    privileged: bool | None = None
    probe: _Probe | None = None


@_document
class _Container2024:
    name: str
    image_reference: str
    command: list[str] | None = None
    variables: list[_Variable] | None = None
    cpu: int | None = None
    memory: int | None = None
    probe: _Probe | None = None


@_document
class Workload2023:
    """The older neighbour."""

    api_version: str
    kind: str
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
    containers: list[_Container2023]
    endpoints: list[_Endpoint] | None = None
    settings: Any = None


@_document
class Workload2024:
    """The newer neighbour."""

    api_version: str
    kind: str
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
    containers: list[_Container2024]
    endpoints: list[_Endpoint] | None = None
    settings: Any = None


def neighbour(source: Workload2023) -> Workload2024:
    """From the older neighbour to the newer one."""
    return Workload2024(
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
    return _Container2024(
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
    return _CONVERTER.dumps(neighbour(_CONVERTER.loads(data, Workload2023)))
