"""Measures `trundle kube webhook` beside a webhook of controller-runtime that converts the same, over HTTPS.

What is measured is the processor time of the server for each review, TLS and HTTP included, on one core. Objects have about 2 KB, differ from
each other, and are converted between the first two versions. The peer is `webhook_go`, which needs Go.
"""

import contextlib
import datetime as dt
import ipaddress
import itertools
import json
import os
import re
import shutil
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from documents import FIRST, SECOND, document
from loading import Connection, request

from trundle.project import generate, load_config

HERE = Path(__file__).parent
GROUP = "workloads.local"
PROJECT = """\
package: workloads
sources: [schemas]
changes:
  2020-01-01:
    Workload:
      rename: {title: displayName}
"""
OLDER, NEWER = f"{GROUP}/v20200101", f"{GROUP}/v20210101"
ROUNDS, REVIEWS = 15, 200
BATCHES, BATCH = 5, 500
CONNECTIONS = 8  # The kernel deals them out; of fewer, one process would often have nearly all.


def used(process: int) -> float:
    """The processor time of a process' threads, in seconds."""
    tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in tasks) / 1e9


class Peer(NamedTuple):
    """A webhook that runs.

    Attributes:
        process: its process.
        connection: a connection to it.
    """

    process: int
    connection: Connection

    def used(self) -> float:
        """The processor time of its threads, in seconds."""
        return used(self.process)

    def ask(self, sent: bytes) -> bytes:
        """The answer to a request."""
        self.connection.send(sent)
        return self.connection.receive()

    def cost(self, asked: list[bytes]) -> float:
        """The processor time that it takes for each request, in seconds."""
        before = self.used()
        for each in asked:
            self.ask(each)
        return (self.used() - before) / len(asked)


def certificate(folder: Path) -> Path:
    """A certificate for the loopback that vouches for itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "webhook")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file = folder / "tls.pem"
    file.write_bytes(
        made.public_bytes(form[0]) + key.private_bytes(*form, serialization.NoEncryption())
    )
    return file


@contextlib.contextmanager
def ours(folder: Path, pem: Path, *options: str) -> Iterator[tuple[int, int]]:
    """`trundle kube webhook` for the project in a folder; its process and port."""
    trundle = Path(sys.executable).with_name("trundle")
    command = [str(trundle), "kube", "webhook", "--host", "127.0.0.1", "--port", "0"]
    given = ["--tls-cert", str(pem), "--tls-key", str(pem)]
    command += [*given, *options]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"serving on https://127.0.0.1:(\d+)", line):
                yield process.pid, int(found[1])
                return
        raise SystemExit("the webhook does not start")
    finally:
        process.terminate()
        process.wait(40)


@contextlib.contextmanager
def theirs(folder: Path, pem: Path) -> Iterator[tuple[int, int]]:
    """The webhook of controller-runtime; its process and port."""
    program = folder / "webhook_go"
    subprocess.run(["go", "build", "-o", program, "."], cwd=HERE / "webhook_go", check=True)
    process = subprocess.Popen(
        [program, pem], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "GOMAXPROCS": "1"},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline())
    finally:
        process.communicate()


_NUMBERS = itertools.count()


def review(count: int, *, up: bool = True) -> bytes:
    """A request with so many objects, none of which was in one before."""
    objects = []
    for number in itertools.islice(_NUMBERS, count):
        made = document(number)
        made["apiVersion"] = OLDER if up else NEWER
        if not up:
            made["displayName"] = made.pop("title")
        made["metadata"] |= {"namespace": "default", "uid": f"u-{number}", "generation": 1}
        objects.append(made)
    asked = {"uid": "1", "desiredAPIVersion": NEWER if up else OLDER, "objects": objects}
    body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": asked}
    # An API server sorts what it sends.
    return request(
        "POST",
        "/convert",
        json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(),
    )


def converted(answer: bytes) -> list[dict[str, Any]]:
    """The objects of an answer, without what only Go writes."""
    response = json.loads(answer)["response"]
    assert response["result"]["status"] == "Success", response
    for each in response["convertedObjects"]:
        each["metadata"].pop("creationTimestamp", None)
    found: list[dict[str, Any]] = response["convertedObjects"]
    return found


def ratio(one: list[float], other: list[float]) -> float:
    """How many times as much another one takes: the median over the rounds."""
    return statistics.median(theirs / ours for ours, theirs in zip(one, other, strict=True))


def compare(trundle: Peer, peer: Peer) -> None:
    """Prints what reviews cost both."""
    print("| a conversion review over HTTPS, in processor time | times as fast | µs, here |")
    print("|---|--:|--:|")
    for title, count, times, differ, rounds in (
        ("one object", 1, REVIEWS, True, ROUNDS),
        ("one object, asked for again", 1, REVIEWS, False, ROUNDS),
        (f"{BATCH} objects", BATCH, 1, True, BATCHES),
    ):
        costs: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds + 1):
            asked = [
                review(count, up=each % 2 == 0) for each in range(max(times, 2) if differ else 2)
            ]
            asked *= 1 if differ else times // 2
            found = [each.cost(asked) for each in (trundle, peer)]
            if number:  # The first round only warms up.
                for each, cost in zip(costs, found, strict=True):
                    each.append(cost)
        mine, other = map(statistics.median, costs)
        print(f"| {title}: controller-runtime | 1.00 | {other * 1e6:,.0f} |")
        print(f"| {title}: `trundle kube webhook` | {ratio(*costs):.2f} | {mine * 1e6:,.0f} |")


def several(folder: Path, pem: Path, tls: ssl.SSLContext) -> None:
    """Prints how many reviews are answered in a second by one process and by two, and what each takes of the processor."""
    print(
        f"\n| `trundle kube webhook`, {CONNECTIONS} clients with {BATCH} objects at a time | reviews a second | ms of the processor |"
    )
    print("|---|--:|--:|")
    asked = review(BATCH)
    for number in (1, 2):
        with ours(folder, pem, "--workers", str(number)) as (process, port):
            connections = [Connection(port, tls) for _ in range(CONNECTIONS)]
            for each in connections:
                each.send(asked)
            for each in connections:
                each.receive()
            children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
            running = [process, *map(int, children)]
            before, start = sum(map(used, running)), time.perf_counter()
            for _ in range(BATCHES * 2):
                for each in connections:
                    each.send(asked)
                for each in connections:
                    each.receive()
            count = BATCHES * 2 * CONNECTIONS
            rate = count / (time.perf_counter() - start)
            cost = (sum(map(used, running)) - before) / count
            for each in connections:
                each.close()
        print(f"| `--workers {number}` | {rate:,.1f} | {cost * 1e3:,.1f} |")


def main() -> None:
    """Prints the table."""
    if shutil.which("go") is None:
        print("The webhook is not measured: its peer needs Go.")
        return
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        (folder / "schemas").mkdir()
        for each in (FIRST, SECOND):
            shutil.copy(HERE / "schemas" / f"{each}.yaml", folder / "schemas")
        (folder / "trundle.yaml").write_text(PROJECT)
        generate(load_config(folder / "trundle.yaml"))
        pem = certificate(folder)
        tls = ssl.create_default_context(cafile=str(pem))
        peers = []
        for running in (ours(folder, pem), theirs(folder, pem)):
            process, port = stack.enter_context(running)
            peers.append(Peer(process, Connection(port, tls)))
            stack.callback(peers[-1].connection.close)
        for up in (True, False):
            asked = review(20, up=up)
            mine, other = (converted(each.ask(asked)) for each in peers)
            assert mine == other
        compare(*peers)
        several(folder, pem, tls)


if __name__ == "__main__":
    main()
