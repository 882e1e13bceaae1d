"""The last version of a workload and 2023-01-01, served by Cadwyn out of a dictionary.

Run as a script, with a file that has a workload of the last version, it serves that on a free port and prints it.
"""

import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

import uvicorn
from cadwyn import (
    Cadwyn,
    HeadVersion,
    ResponseInfo,
    Version,
    VersionBundle,
    VersionChange,
    VersionedAPIRouter,
    convert_response_to_previous_version_for,
    schema,
)
from documents import LAST
from pydantic import BaseModel
from shapes import OLDER


class Contact(BaseModel):
    """How a team is reached at once."""

    phone: str | None = None
    room: str | None = None
    onCall: bool | None = None  # noqa: N815 - as documents have it


class Team(BaseModel):
    """Who answers for a workload."""

    name: str
    email: str | None = None
    contact: Contact | None = None


class Limit(BaseModel):
    """How much of something a workload may use."""

    hard: int
    soft: int | None = None
    unit: str | None = None


class Schedule(BaseModel):
    """When a workload may be changed."""

    window: str
    days: list[str] | None = None
    paused: bool | None = None


class Variable(BaseModel):
    """A setting of a program."""

    name: str
    value: str | None = None


class Probe(BaseModel):
    """How it is seen that a program works."""

    path: str
    port: int | None = None
    period: float | None = None
    failures: int | None = None


class Container(BaseModel):
    """A program of a workload."""

    name: str
    imageReference: str  # noqa: N815 - the same
    command: list[str] | None = None
    variables: list[Variable] | None = None
    cpu: float | None = None
    memory: int | None = None
    probe: Probe | None = None


class Endpoint(BaseModel):
    """Where a workload is reached."""

    name: str
    port: int
    host: str | None = None
    secure: bool | None = None
    weight: float | None = None


class Metadata(BaseModel):
    """What all objects have."""

    name: str
    annotations: dict[str, str] | None = None


class Workload(BaseModel):
    """Containers that run together, and how they are reached."""

    apiVersion: str  # noqa: N815 - the same
    kind: str
    metadata: Metadata
    id: str
    displayName: str  # noqa: N815 - the same
    owner: Team
    tier: str | None = None
    replicas: int
    public: bool | None = None
    load: float | None = None
    tags: list[str] | None = None
    labels: dict[str, str] | None = None
    limits: dict[str, Limit] | None = None
    schedule: Schedule | None = None
    containers: list[Container]
    endpoints: list[Endpoint] | None = None
    settings: dict[str, Any] | None = None


class RenameImage(VersionChange):
    """Containers have an `image`, and whole numbers of processors."""

    description = "Containers name their image in full."
    instructions_to_migrate_to_previous_version = (
        schema(Container).field("imageReference").had(name="image"),
        schema(Container).field("cpu").had(type=int | None),
    )

    @convert_response_to_previous_version_for(Workload)
    def rename(response: ResponseInfo) -> None:  # noqa: N805 - as Cadwyn has it
        """Gives images the name that they had."""
        response.body["apiVersion"] = OLDER
        for each in response.body["containers"]:
            each["image"] = each.pop("imageReference")


def main() -> None:
    """Serves until it is killed."""
    stored = json.loads(Path(sys.argv[1]).read_bytes())
    kept = {stored["metadata"]["name"]: stored}
    router = VersionedAPIRouter()

    @router.get("/workloads/{name}", response_model=Workload, response_model_exclude_none=True)
    async def get(name: str) -> Any:
        return kept[name]

    @router.get("/used")
    async def used() -> float:
        return time.process_time()

    bundle = VersionBundle(HeadVersion(), Version(LAST, RenameImage), Version(OLDER))
    app = Cadwyn(versions=bundle)
    app.generate_and_include_versioned_routers(router)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
