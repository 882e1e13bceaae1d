"""An API over a store in a temporary folder, and clients that call it without a network."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from projects import Installation, installer
from said import saying
from starlette.testclient import TestClient

from trundle.api import Api, served_kinds
from trundle.store import Store

OLD, NEW = "v1", "v2"
"""`team` of the first is `spec.group` of the second; `age` is in the first only, `note` in the second."""

GROUP = "clubs.example.com"
SCHEMAS = {
    "v1.yaml": """
        title: Member
        type: object
        required: [team]
        properties:
          team: {type: string, pattern: "^[a-z]+$", description: Who the member plays with.}
          age: {type: integer, minimum: 0, maximum: 150}
          labels: {type: object, additionalProperties: {type: string}}
          level: {type: string, enum: [low, high], default: low}
        """,
    "v2.yaml": """
        title: Member
        type: object
        required: [group]
        properties:
          group: {type: string, pattern: "^[a-z]+$", description: Who the member is with.}
          note: {type: string, maxLength: 20}
          labels: {type: object, additionalProperties: {type: string}}
          level: {type: string, enum: [low, high], default: low}
          free: {type: object, additionalProperties: true}
          status: {type: object, properties: {phase: {type: string}}}
        """,
}
CONFIG = {
    "changes": {"v1": {"Member": {"rename": {"team": "group"}}}},
    "kubernetes": {
        "group": GROUP,
        "types": {
            "Member": {
                "shortNames": ["mem"],
                "categories": ["all"],
                "columns": [
                    {"name": "Level", "path": ".level"},
                    {"name": "Phase", "path": ".status.phase", "priority": 1},
                    {"name": "Age", "path": ".metadata.creationTimestamp", "type": "date"},
                ],
            }
        },
    },
}


class Client:
    """Calls an API.

    Attributes:
        http: the client below.
    """

    def __init__(self, api: Api) -> None:
        self.http = TestClient(api.application, raise_server_exceptions=True)

    def call(
        self, method: str, path: str, body: Any = None, *, media_type: str = "", **query: str
    ) -> Any:
        """An answer: its status, and its body as values."""
        body = saying(method, path, body, media_type)
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        headers = {"content-type": media_type} if media_type else {}
        found = self.http.request(method, path, content=content, params=query, headers=headers)
        return found.status_code, found.json()

    def at(
        self, version: str, name: str = "", *, namespace: str = "default", part: str = ""
    ) -> str:
        """The path of members, or of one of them, at a version."""
        tail = "".join(f"/{each}" for each in (name, part) if each)
        return f"/apis/{GROUP}/{version}/namespaces/{namespace}/members{tail}"

    def create(self, version: str, name: str, **properties: Any) -> Any:
        """Creates a member; what the server says."""
        code, found = self.call("POST", self.at(version), member(name, **properties))
        assert code == 201, found
        return found

    def get(self, version: str, name: str) -> Any:
        """A member as a version shows it."""
        code, found = self.call("GET", self.at(version, name))
        assert code == 200, found
        return found

    def patch(self, version: str, name: str, patch: Mapping[str, Any], **query: str) -> Any:
        """Changes a member by a merge patch; the status, and what the server says."""
        media_type = "application/merge-patch+json"
        return self.call("PATCH", self.at(version, name), patch, media_type=media_type, **query)


def member(name: str, **properties: Any) -> dict[str, Any]:
    """A document of a member."""
    return {"metadata": {"name": name}, **properties}


def whole(version: str, name: str, **properties: Any) -> dict[str, Any]:
    """A document of a member that says what it is."""
    head = {"apiVersion": f"{GROUP}/{version}", "kind": "Member"}
    return {**head, **member(name, **properties)}


@contextmanager
def clubs(folder: Path) -> Iterator[Installation]:
    """The project of members, generated."""
    with installer(folder) as install:
        yield install(SCHEMAS, config=CONFIG)


@contextmanager
def serving_clubs(installed: Installation, place: Path) -> Iterator[tuple[Api, Store]]:
    """An API that serves members, and its store."""
    with Store(place, installed.scheme) as store:
        yield Api(store, served_kinds([installed.project], installed.scheme), "0.0.0"), store
