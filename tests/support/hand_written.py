"""A CRD of members whose conversions were written by hand, with the webhook that makes them, in a thread of the test."""

import base64
import contextlib
import http.server
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from authorities import Authority

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_STATUS = {"type": "object", "properties": {"phase": _TEXT}}
SCHEMAS = {
    "v1": {"team": _TEXT, "age": _NUMBER},
    "v2": {"group": _TEXT, "note": _TEXT, "level": _TEXT, "status": _STATUS},
}
KEPT = "hand-written/age"
"""The annotation in which the conversion keeps what the newer version has no place for."""


def converted(found: dict[str, Any], version: str) -> dict[str, Any]:
    """An object at the other version: the name of a property changes, and the age goes to an annotation."""
    group, _, before = found["apiVersion"].partition("/")
    made = {**found, "apiVersion": f"{group}/{version}"}
    metadata = {
        **found["metadata"],
        "annotations": dict(found["metadata"].get("annotations") or {}),
    }
    if (before, version) == ("v1", "v2"):
        made["group"] = made.pop("team", None)
        if "age" in made:
            metadata["annotations"][KEPT] = str(made.pop("age"))
    elif (before, version) == ("v2", "v1"):
        made = {key: value for key, value in made.items() if key not in {"note", "level", "status"}}
        made["team"] = made.pop("group", None)
        if KEPT in metadata["annotations"]:
            made["age"] = int(metadata["annotations"].pop(KEPT))
    return {
        **{key: value for key, value in made.items() if value is not None},
        "metadata": metadata,
    }


@dataclass
class HandWritten:
    """A running webhook.

    Attributes:
        url: where it converts.
        authority: the certificate of its authority.
        convert: makes an object of another version of one.
        asked: how many reviews it has answered.
    """

    url: str
    authority: Path
    convert: Callable[[dict[str, Any], str], dict[str, Any]] = field(default=converted)
    asked: int = 0

    def answer(self, review: dict[str, Any]) -> dict[str, Any]:
        """The answer to a review."""
        self.asked += 1
        request = review["request"]
        version = request["desiredAPIVersion"].rpartition("/")[2]
        response: dict[str, Any] = {"uid": request["uid"]}
        try:
            response["convertedObjects"] = [
                self.convert(each, version) for each in request["objects"]
            ]
            response["result"] = {"status": "Success"}
        except LookupError as error:
            response["result"] = {"status": "Failed", "message": str(error)}
        return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}

    def crd(self, group: str) -> dict[str, Any]:
        """The CRD, which stores objects at v1."""
        names = {
            "kind": "Member",
            "listKind": "MemberList",
            "plural": "members",
            "singular": "member",
        }
        versions = [
            {
                "name": name, "served": True, "storage": name == "v1",
                "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
            }
            for name, properties in SCHEMAS.items()
        ]  # fmt: skip
        bundle = base64.b64encode(self.authority.read_bytes()).decode()
        client = {"url": self.url, "caBundle": bundle}
        webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
        conversion = {"strategy": "Webhook", "webhook": webhook}
        spec = {"group": group, "names": names, "scope": "Namespaced", "versions": versions, "conversion": conversion}  # fmt: skip
        head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        return {**head, "metadata": {"name": f"members.{group}"}, "spec": spec}


@contextlib.contextmanager
def running(folder: Path) -> Iterator[HandWritten]:
    """A running webhook, with a certificate of its own."""
    folder.mkdir()
    authority = Authority(folder)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(found.answer(review)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.server("hand"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    found = HandWritten(f"https://127.0.0.1:{server.server_port}/", authority.certificate)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
