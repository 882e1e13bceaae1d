"""A registry in memory that does what the real one does not: newer APIs, and every kind of trouble.

Its faults are set by tests. It keeps to the distribution specification 1.1 by default.
"""

import hashlib
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import msgspec


class Simulator:
    """A registry at `address` while it is used as a context manager.

    Attributes:
        requests: method and path of each request, in order.
        faults: functions of handler, method and path that answer a request and return True, or let it pass.
        page: tags on a page; all of them for None.
        new: whether it has the API for referrers and removes tags alone.
    """

    def __init__(self, *, new: bool = True) -> None:
        self.new = new
        self.requests = []
        self.headers = []
        self.faults = []
        self.page = None
        self.blobs = {}
        self.manifests = {}
        self.tags = {}
        self.uploads = {}
        self.cut_after = None

    def __enter__(self):
        simulator = self

        class Handler(_Handler):
            registry = simulator

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_error):
        self._server.shutdown()
        self._server.server_close()

    def times(self, count, fault):
        """Answers the next requests with a fault."""
        left = [count]

        def limited(handler, method, path):
            if left[0] == 0:
                return False
            done = fault(handler, method, path)
            left[0] -= bool(done)
            return done

        self.faults.append(limited)

    def asked(self, method, part=""):
        return sum(each.startswith(method) and part in each for each in self.requests)


def status(code, *, method=None, part="", **headers):
    """A fault that answers with a status."""

    def fault(handler, asked, path):
        if (method is not None and asked != method) or part not in path:
            return False
        handler.drain()
        handler.reply(
            code, b'{"errors":[{"code":"TROUBLE","message":"made by the test"}]}', **headers
        )
        return True

    return fault


def hang_up(*, method=None, part=""):
    """A fault that closes the connection without an answer."""

    def fault(handler, asked, path):
        if (method is not None and asked != method) or part not in path:
            return False
        handler.close_connection = True
        handler.connection.shutdown(2)
        return True

    return fault


def trickle(least, hurry):
    """A fault that sends blobs of so many bytes or more at 20 KiB a second, until it may hurry."""

    def fault(handler, asked, path):
        content = handler.registry.blobs.get(path.rpartition("/")[2], b"")
        if asked != "GET" or len(content) < least:
            return False
        begin = int(handler.headers.get("Range", "bytes=0-")[6:].partition("-")[0])
        handler.send_response(206 if begin else 200)
        handler.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        handler.send_header("Content-Length", str(len(content) - begin))
        handler.end_headers()
        for place in range(begin, len(content), 4096):
            handler.wfile.write(content[place : place + 4096])
            hurry.wait(0.2)
        return True

    return fault


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # Else the content waits for the client to confirm the headers.
    registry: Simulator

    def log_message(self, *_arguments):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def drain(self):
        length = int(self.headers.get("Content-Length", 0))
        return self.rfile.read(length) if length else b""

    def reply(self, code, content=b"", **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Content-Length", headers.get("length", len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _serve(self):
        registry = self.registry
        path = urlsplit(self.path)
        registry.requests.append(f"{self.command} {self.path}")
        registry.headers.append(dict(self.headers))
        for fault in registry.faults:
            if fault(self, self.command, self.path):
                return
        query = {name: values[0] for name, values in parse_qs(path.query).items()}
        for pattern, handler in (
            (r"/v2/.+/blobs/uploads/(\w*)", self._upload),
            (r"/v2/.+/blobs/(sha256:\w+)", self._blob),
            (r"/v2/.+/manifests/([^/]+)", self._manifest),
            (r"/v2/.+/tags/(list)", self._tags),
            (r"/v2/.+/referrers/(sha256:\w+)", self._referrers),
        ):
            if match := re.fullmatch(pattern, path.path):
                handler(match[1], query)
                return
        self.reply(404)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815

    def _upload(self, name, query):
        uploads, base = self.registry.uploads, self.path.partition("uploads/")[0] + "uploads/"
        if self.command == "POST":
            self.drain()
            if query.get("mount") in self.registry.blobs:
                self.reply(201)
                return
            name = f"u{len(uploads)}"
            uploads[name] = b""
            self.reply(202, Location=base + name)
        elif name not in uploads:
            self.drain()
            self.reply(404)
        elif self.command == "GET":
            size = len(uploads[name])
            self.reply(204, Location=base + name, Range=f"0-{max(size - 1, 0)}")
        elif self.command == "PATCH":
            begin = int(self.headers["Content-Range"].partition("-")[0])
            if begin != len(uploads[name]):
                self.drain()
                self.reply(416)
                return
            cut, self.registry.cut_after = self.registry.cut_after, None
            if cut is not None:
                uploads[name] += self.rfile.read(cut)
                self.close_connection = True
                self.connection.shutdown(2)
                return
            uploads[name] += self.drain()
            self.reply(202, Location=base + name, Range=f"0-{len(uploads[name]) - 1}")
        else:
            content = uploads.pop(name) + self.drain()
            digest = "sha256:" + hashlib.sha256(content).hexdigest()
            if digest != query["digest"]:
                self.reply(400, b'{"errors":[{"code":"DIGEST_INVALID","message":"no"}]}')
                return
            self.registry.blobs[digest] = content
            self.reply(201)

    def _blob(self, digest, _query):
        content = self.registry.blobs.get(digest)
        if content is None:
            self.reply(404)
            return
        begin = int(self.headers.get("Range", "bytes=0-")[6:].partition("-")[0])
        length = len(content) - begin
        span = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        cut, self.registry.cut_after = self.registry.cut_after, None
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("Content-Length", str(length))
        if "Range" in self.headers:
            self.send_header("Content-Range", span)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[begin:] if cut is None else content[begin : begin + cut])
            self.close_connection = cut is not None

    def _manifest(self, reference, _query):
        registry = self.registry
        digest = registry.tags.get(reference, reference)
        if self.command == "PUT":
            content = self.drain()
            digest = "sha256:" + hashlib.sha256(content).hexdigest()
            registry.manifests[digest] = (content, self.headers["Content-Type"])
            if not reference.startswith("sha256:"):
                registry.tags[reference] = digest
            subject = msgspec.json.decode(content).get("subject")
            said = {"OCI_Subject": subject["digest"]} if registry.new and subject else {}
            self.reply(201, Docker_Content_Digest=digest, **said)
        elif self.command == "DELETE" and registry.new and reference in registry.tags:
            del registry.tags[reference]
            self.reply(202)
        elif self.command == "DELETE" and reference in registry.tags:
            self.reply(400, b'{"errors":[{"code":"DIGEST_INVALID","message":"no"}]}')
        elif digest not in registry.manifests:
            self.reply(404)
        elif self.command == "DELETE":
            del registry.manifests[digest]
            registry.tags = {tag: to for tag, to in registry.tags.items() if to != digest}
            self.reply(202)
        else:
            content, kind = registry.manifests[digest]
            self.reply(200, content, Content_Type=kind)

    def _tags(self, _name, query):
        tags = [tag for tag in sorted(self.registry.tags) if tag > query.get("last", "")]
        page = tags[: self.registry.page]
        more = {}
        if len(page) < len(tags):
            more = {
                "Link": f'<{urlsplit(self.path).path}?n={len(page)}&last={page[-1]}>; rel="next"'
            }
        self.reply(200, msgspec.json.encode({"name": "x", "tags": page[::-1]}), **more)

    def _referrers(self, subject, _query):
        if not self.registry.new:
            self.reply(404)
            return
        found = []
        for digest, (content, kind) in self.registry.manifests.items():
            document = msgspec.json.decode(content)
            if (document.get("subject") or {}).get("digest") == subject:
                found.append({"mediaType": kind, "digest": digest, "size": len(content)})
        index = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": found,
        }
        self.reply(200, msgspec.json.encode(index))


def drip(pause):
    """A fault that sends a blob byte by byte."""

    def fault(handler, method, path):
        if method != "GET" or "/blobs/" not in path:
            return False
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        try:
            for _ in range(1_000_000):
                handler.wfile.write(b"x")
                handler.wfile.flush()
                time.sleep(pause)
        except OSError:
            handler.close_connection = True
        return True

    return fault
