"""A program that answers admission reviews over HTTPS, as tests want it: well, badly, or not at all."""

import base64
import contextlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """What is sent, where that is no review.

    Attributes:
        body: the bytes.
        status: the status of HTTP.
        kind: the media type.
        headers: further headers.
        wait: how many seconds pass before each of the parts of the body.
        parts: in how many parts the body is sent.
        drips: whether a long header is sent, letter by letter, before all else.
    """

    body: bytes = b""
    status: int = 200
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    wait: float = 0
    parts: int = 1
    drips: bool = False


Behaviour = Callable[[dict[str, Any]], dict[str, Any] | Reply]
"""Gives the `response` of a review, or what else is sent, from its `request`."""


class Asked:
    """A running program.

    Attributes:
        url: where it answers.
        requests: the `request` of each review that it was sent.
        paths: the path and query of each.
        behaviour: what it answers.
    """

    def __init__(self, certificate: Path, port: int) -> None:
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.connections: list[socket.socket] = []
        self.behaviour: Behaviour = lambda _: {"allowed": True}
        asked = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                asked.connections.append(self.connection)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                review = json.loads(body)
                assert (review["kind"], review["apiVersion"]) == (
                    "AdmissionReview",
                    "admission.k8s.io/v1",
                )
                asked.requests.append(review["request"])
                asked.paths.append(self.path)
                reply = asked.behaviour(review["request"])
                if not isinstance(reply, Reply):
                    reply = Reply(reviewed(review["request"], reply))
                with contextlib.suppress(OSError):
                    self.send_reply(reply)

            def send_reply(self, reply: Reply) -> None:
                self.send_response(reply.status)
                if reply.drips:
                    self.flush_headers()
                    for letter in b"X-Long: " + b"a" * 60 + b"\r\n":
                        time.sleep(0.3)
                        self.wfile.write(bytes([letter]))
                for name, value in reply.headers:
                    self.send_header(name, value)
                self.send_header("Content-Type", reply.kind)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                size = -(-len(reply.body) // reply.parts) or 1
                for start in range(0, len(reply.body), size):
                    time.sleep(reply.wait)
                    self.wfile.write(reply.body[start : start + size])
                    self.wfile.flush()

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: Any) -> None:
                """Clients that end connections are no news."""

        self._server = Server(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}/review"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Ends it, and all connections."""
        self._server.shutdown()
        self._server.server_close()
        for each in self.connections:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def running(certificate: Path, port: int = 0) -> Iterator[Asked]:
    """A running program."""
    found = Asked(certificate, port)
    try:
        yield found
    finally:
        found.stop()


def reviewed(request: dict[str, Any], response: Any, **changed: Any) -> bytes:
    """A review with a response to a request, as JSON."""
    if isinstance(response, dict):
        response = {"uid": request["uid"], **response}
    given = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
    return json.dumps({**given, **changed}).encode()


def patching(*operations: Any, **members: Any) -> dict[str, Any]:
    """A response that changes the object."""
    return {
        "allowed": True,
        "patchType": "JSONPatch",
        "patch": encoded(list(operations)),
        **members,
    }


def encoded(value: Any) -> str:
    """JSON as it is written into a review."""
    return base64.b64encode(json.dumps(value).encode()).decode()


def put(path: str, value: Any) -> dict[str, Any]:
    """An operation of a JSON patch."""
    return {"op": "add", "path": path, "value": value}


def refusing(**status: Any) -> dict[str, Any]:
    """A response that refuses."""
    return {"allowed": False, "status": status}


BEHAVIOURS: dict[str, Behaviour] = {
    "allows": lambda _: {"allowed": True},
    "refuses": lambda _: refusing(message="not today", code=403, reason="Forbidden"),
    "refuses-bare": lambda _: {"allowed": False},
    "refuses-with-nothing": lambda _: refusing(),
    "refuses-with-reason": lambda _: refusing(reason="TooManyRequests", code=429),
    "refuses-with-success": lambda _: refusing(status="Success", code=200, message="fine"),
    "refuses-with-causes": lambda _: refusing(
        message="wrong",
        code=422,
        reason="Invalid",
        details={
            "name": "x",
            "causes": [{"reason": "FieldValueInvalid", "field": "spec.size", "message": "odd"}],
        },
    ),
    "refuses-and-patches": lambda _: {
        **patching(put("/spec/size", 7)),
        "allowed": False,
        "status": {"message": "no"},
    },
    "warns": lambda _: {"allowed": True, "warnings": ["be careful", 'with "quotes"', "ünï"]},
    "warns-and-refuses": lambda _: {**refusing(message="no"), "warnings": ["be careful"]},
    "nulls": lambda _: {
        "allowed": True, "status": None, "patch": None, "patchType": None, "warnings": None,
    },
    "patches": lambda _: patching(
        put("/spec/size", 42), put("/metadata/labels", {"by": "hook"}), put("/spec/weight", 1.50)
    ),
    "patches-parts": lambda _: patching(
        put("/spec/parts", [{"name": "leg"}]),
        put("/spec/parts/-", {"name": "top", "count": 3}),
        {"op": "test", "path": "/spec/parts/0/name", "value": "leg"},
        {"op": "copy", "from": "/spec/title", "path": "/spec/note"},
        {"op": "replace", "path": "/spec/parts/1/count", "value": 4},
    ),
    "patches-nothing": lambda _: patching(),
    "patches-null": lambda _: patching() | {"patch": encoded(None)},
    "patches-missing-place": lambda _: patching(put("/spec/none/deep", 1)),
    "patches-removing-none": lambda _: patching({"op": "remove", "path": "/spec/none"}),
    "patches-with-failing-test": lambda _: patching({"op": "test", "path": "/kind", "value": "X"}),
    "patches-unknown-operation": lambda _: patching({"op": "mend", "path": "/kind"}),
    "patches-with-object": lambda _: patching() | {"patch": encoded({"op": "add"})},
    "patches-with-text": lambda _: patching() | {"patch": base64.b64encode(b"[{").decode()},
    "patches-no-base64": lambda _: patching() | {"patch": "%%%"},
    "patches-without-type": lambda _: {"allowed": True, "patch": encoded([put("/spec/size", 3)])},
    "type-without-patch": lambda _: {"allowed": True, "patchType": "JSONPatch"},
    "patches-of-other-type": lambda _: patching(put("/spec/size", 3)) | {"patchType": "Merge"},
    "patches-of-empty-type": lambda _: patching(put("/spec/size", 3)) | {"patchType": ""},
    "patches-to-wrong-value": lambda _: patching(put("/spec/size", "many")),
    "patches-to-no-object": lambda _: patching({"op": "replace", "path": "", "value": 3}),
    "patches-name": lambda _: patching(put("/metadata/name", "other")),
    "wrong-uid": lambda _: {"allowed": True, "uid": "other"},
    "no-uid": lambda request: Reply(reviewed(request, {"allowed": True, "uid": None})),
    "no-response": lambda request: Reply(reviewed(request, None)),
    "other-kind": lambda request: Reply(reviewed(request, {"allowed": True}, kind="Review")),
    "other-version": lambda request: Reply(
        reviewed(request, {"allowed": True}, apiVersion="admission.k8s.io/v1beta1")
    ),
    "wrong-types": lambda request: Reply(reviewed(request, {"allowed": "yes"})),
    "no-json": lambda _: Reply(b"<html>no</html>", kind="text/html"),
    "half-json": lambda _: Reply(b'{"kind": "AdmissionReview", '),
    "no-body": lambda _: Reply(),
    "list": lambda _: Reply(b"[]"),
    "as-text": lambda request: Reply(reviewed(request, {"allowed": True}), kind="text/plain"),
    "breaks": lambda _: Reply(b"out of order", 500, "text/plain"),
    "breaks-with-review": lambda request: Reply(reviewed(request, {"allowed": True}), 503),
    "is-not-there": lambda _: Reply(b"", 404),
    "is-elsewhere": lambda _: Reply(b"", 302, headers=(("Location", "/elsewhere"),)),
    "hangs": lambda request: _slow(request, 20),
    "trickles": lambda request: Reply(reviewed(request, {"allowed": True}), wait=0.3, parts=60),
    "drips": lambda request: Reply(reviewed(request, {"allowed": True}), drips=True),
}  # fmt: skip
"""What a program may do, by name."""


def _slow(request: dict[str, Any], seconds: float) -> dict[str, Any]:
    time.sleep(seconds)
    return {"allowed": True}


def by_name(request: dict[str, Any]) -> dict[str, Any] | Reply:
    """Behaves as the name of the object says; what is called otherwise is let through."""
    return BEHAVIOURS.get(request.get("name", ""), BEHAVIOURS["allows"])(request)
