"""A proxy between a program and the API server, which kills the program at one of its writes.

The program reaches it by a kubeconfig of its own, without TLS and credentials; what is passed on is asked as the cluster's administrator.
"""

import contextlib
import http.server
import json
import re
import threading
from collections import Counter

import urllib3

_WRITES = frozenset({"DELETE", "PATCH", "POST", "PUT"})
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?")
_VARYING = frozenset({"binaryData", "managedFields", "resourceVersion", "uid"})
_MOST_ALIKE = 4
"""How often a program is killed at writes that differ in nothing but what varies by itself, such as what it remembers with times."""
_HEADERS = ("Accept", "Content-Type")


class WriteProxy:
    """A proxy to a cluster. Used as a context manager.

    The write that the program is killed at is answered by the cluster, and the program never gets the answer. Whether it dies so or
    before the next write makes no difference for the cluster. Renewals of Leases are not counted: when they come is up to the clock.

    Attributes:
        kubeconfig: leads to it.
        writes: what was written since `arm`, as method and path.
        killed: whether the program was killed since.
    """

    def __init__(self, cluster, folder):
        self._cluster = cluster
        self._lock = threading.Lock()
        self._leases = {}
        self._at, self._kill = None, None
        self._met = None
        self.writes, self.killed = [], False
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.kubeconfig = folder / "proxied"
        address = f"http://127.0.0.1:{self._server.server_port}"
        self.kubeconfig.write_text(json.dumps(_kubeconfig(address)))

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def arm(self, at, kill):
        """Counts writes anew, and kills the program at one of them.

        Args:
            at: at which, from 0; None for none.
            kill: kills the program.
        """
        with self._lock:
            self._at, self._kill, self._met = at, kill, None
            self.writes, self.killed = [], False

    def arm_for_all(self, kill):
        """Counts writes anew, and kills the program at each that it was not killed at before, until `arm` is called."""
        with self._lock:
            self._at, self._kill, self._met = None, kill, Counter()
            self.writes, self.killed = [], False

    def go_on(self):
        """Lets a program that was started again write, up to the next write that it was not killed at."""
        with self._lock:
            self.killed = False

    def passed_on(self, method, path, headers, body):
        """The cluster's answer to a request; None where the program is killed at it."""
        with self._lock:
            if self.killed:  # Another thread of the process was about to ask.
                return None
            dies = method in _WRITES and self._counts(method, path, body)
        answer = self._cluster.pool.request(
            *(method, self._cluster.url + path),
            body=body or None,
            headers=headers,
            preload_content=False,
        )
        if dies:
            answer.read()
            with self._lock:
                self._kill()
                self.killed, self._at = True, None
            return None
        return answer

    def _counts(self, method, path, body):
        """Whether the program is to be killed at a write."""
        if "/leases" in path:
            lease = json.loads(body or b"{}")
            metadata, spec = lease.get("metadata", {}), lease.get("spec", {})
            said = spec.get("holderIdentity"), metadata.get("annotations")
            name = metadata.get("name", path)
            before, self._leases[name] = self._leases.get(name), said
            if before == said:
                return False
        self.writes.append((method, path.partition("?")[0]))
        if self._met is None:
            return self._at == len(self.writes) - 1
        met, most = _alike(method, path, body)
        if self._met[met] >= most:
            return False
        self._met[met] += 1
        return True


class Meddler(WriteProxy):
    """A proxy that does something to a program before one of its writes is passed on, once.

    Args:
        cluster: the cluster.
        folder: where its kubeconfig is put.
        user: as whom the cluster is asked; the administrator where None.

    Attributes:
        late: the writes that were passed on after what was done, as method and path.
    """

    def __init__(self, cluster, folder, user=None):
        super().__init__(cluster, folder)
        self._headers = {} if user is None else {"Authorization": f"Bearer {cluster.tokens[user]}"}
        # Without the administrator's certificate.
        self._way = (
            cluster.pool if user is None else urllib3.PoolManager(ca_certs=cluster.authority)
        )
        self._before = None
        self._open = threading.Event()
        self._open.set()
        self.late = []

    def __exit__(self, *given):
        super().__exit__(*given)
        if self._way is not self._cluster.pool:
            self._way.clear()

    def meddle(self, part, number, what):
        """Before a write to a path with some text in it, counted from 0 and without dry runs, does something, once."""
        with self._lock:
            self._before, self.late = [part, number, what], []

    def cut(self):
        """Passes nothing on, until `mend` is called."""
        self._open.clear()

    def mend(self):
        """Passes on all that waits."""
        self._open.set()

    def passed_on(self, method, path, headers, body):
        self._open.wait()
        writes = method in _WRITES and "dryRun" not in path
        todo, done = None, False
        with self._lock:
            if writes and self._before is not None and self._before[0] in path:
                self._before[1] -= 1
                if self._before[1] < 0:
                    todo, self._before = self._before[2], None
            elif writes and self._before is None:
                done = True
        if todo is not None:
            todo()
        if todo is not None or done:
            self.late.append((method, path.partition("?")[0]))
        return self._way.request(
            *(method, self._cluster.url + path),
            body=body or None,
            headers=headers | self._headers,
            preload_content=False,
        )


def _alike(method, path, body):
    """What a write has in common with those that do the same, and how often the program is killed at these."""
    found = json.loads(body or b"{}")
    most = _MOST_ALIKE if "binaryData" in found else 1
    path = path.partition("?")[0]
    if path.endswith("/events"):  # Each says when it was.
        found = (found.get("reason"), found.get("message"), found.get("note"))
    return (method, path, _TIMES.sub("TIME", json.dumps(_steady(found), sort_keys=True))), most


def _steady(found):
    """A document without what varies by itself."""
    if isinstance(found, list):
        return [_steady(each) for each in found]
    if isinstance(found, dict):
        return {key: _steady(each) for key, each in found.items() if key not in _VARYING}
    return found


def _handler(proxy):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _ask(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {each: self.headers[each] for each in _HEADERS if each in self.headers}
            try:
                answer = proxy.passed_on(self.command, self.path, headers, body)
            except urllib3.exceptions.HTTPError:
                answer = None
            if answer is None:
                self.close_connection = True
                return
            gone = (OSError, urllib3.exceptions.HTTPError)
            with contextlib.closing(answer), contextlib.suppress(*gone):
                self._pass_back(answer)

        def _pass_back(self, answer):
            self.send_response_only(answer.status)
            self.send_header("Content-Type", answer.headers.get("Content-Type", "text/plain"))
            if "watch=" in self.path:
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.flush()
                while data := answer.read1():
                    self.wfile.write(data)
                return
            data = answer.read()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    for each in {"GET", *_WRITES}:
        setattr(Handler, f"do_{each}", Handler._ask)
    return Handler


def _kubeconfig(address):
    cluster = {"name": "proxied", "cluster": {"server": address}}
    context = {"name": "admin", "context": {"cluster": "proxied", "user": "admin"}}
    user = {"name": "admin", "user": {}}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [cluster],
        "users": [user],
        "contexts": [context],
        "current-context": "admin",
    }
