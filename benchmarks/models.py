"""Measures loading, dumping and collecting a model of objects, against Python classes written by hand with the same checks, `json`, and a walk of these classes.

All have the same model in the same run, in turns. The classes by hand are in `handwritten_model.py`.
"""

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import handwritten_model

from trundle.engine import Engine
from trundle.packages import Package

NODES = 3333
"""Each with two more objects, so 10,000 with the root."""

ROUNDS = 9
MOST = 5
MANIFEST = """
FullName: com.example
Type: Library
Version: 1.2.3
Classes: {com.example.App: app.yaml, com.example.Node: app.yaml, com.example.Disk: app.yaml, com.example.Address: app.yaml}
"""
CLASSES = """
Namespaces: {=: com.example}
Name: App
Properties:
  name: {Contract: $.string().notNull()}
  nodes: {Contract: [$.class(Node).notNull()]}
---
Name: Node
Properties:
  name: {Contract: $.string().notNull()}
  port: {Contract: $.int().notNull().check($ > 0 and $ < 65536)}
  size:
    Contract: $.string().notNull().check($ in list(small, medium, large))
    Default: small
  isPublic: {Contract: $.bool().notNull(), Default: false}
  tags: {Contract: [$.string().notNull()]}
  labels: {Contract: {$.string().notNull(): $.string()}}
  disk: {Contract: $.class(Disk).notNull()}
  address: {Contract: $.class(Address).notNull()}
  peer: {Contract: $.class(Node)}
---
Name: Disk
Properties:
  size: {Contract: $.int().notNull().check($ > 0)}
  device: {Contract: $.string().notNull(), Default: /dev/vdb}
  format: {Contract: $.string(), Default: ext4}
---
Name: Address
Properties:
  host: {Contract: $.string().notNull()}
  port: {Contract: $.int(), Default: 80}
"""


def header(kind: str, identifier: str) -> dict[str, str]:
    """The header of an object."""
    return {"type": f"com.example.{kind}", "id": identifier, "classVersion": "1.2.3"}


def model(nodes: int) -> dict[str, Any]:
    """A model of three times as many objects as there are nodes, and a root."""
    return {
        "?": header("App", "app"),
        "name": "app",
        "nodes": [
            {
                "?": header("Node", f"n{at}"),
                "name": f"node {at}",
                "port": 1000 + at,
                "size": "medium",
                "isPublic": at % 2 == 0,
                "tags": ["a", "b", f"c{at}"],
                "labels": {"zone": f"z{at % 7}", "tier": "web"},
                "disk": {"?": header("Disk", f"d{at}"), "size": at + 1},
                "address": {
                    "?": header("Address", f"a{at}"),
                    "host": f"h{at}.example.com",
                    "port": 8080,
                },
                "peer": f"n{(at + 1) % nodes}",
            }
            for at in range(nodes)
        ],
    }


def seconds(jobs: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """The time of the processor for each job, in turns."""
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(ROUNDS + 1):
        for name, job in jobs.items():
            gc.collect()
            start = time.process_time()
            kept = job()
            elapsed = time.process_time() - start
            del kept
            if number:
                found[name].append(elapsed)
    return found


def ratio(found: dict[str, list[float]], mine: str, theirs: str) -> float:
    """How many times as long one takes as another: the median over the rounds."""
    return statistics.median(a / b for a, b in zip(found[mine], found[theirs], strict=True))


def walked(root: object) -> set[int]:
    """All objects that one leads to, found with nothing but Python."""
    found, left = {id(root)}, [root]
    while left:
        for value in vars(left.pop()).values():
            for each in value if isinstance(value, tuple) else (value,):
                if hasattr(each, "__dict__") and id(each) not in found:
                    found.add(id(each))
                    left.append(each)
    return found


def main() -> None:
    """Prints the times, and exits with 1 where something is slower than it should be."""
    files = {"manifest.yaml": MANIFEST, "Classes/app.yaml": CLASSES}
    engine = Engine([Package.from_files(files)])
    nodes = model(NODES)
    given: dict[str, Any] = {"Objects": nodes, "Attributes": [], "ObjectsCopy": None}

    def load() -> object:
        with engine.session() as session:
            return session.load(given)

    def load_by_hand() -> object:
        return handwritten_model.load(nodes)

    by_hand = handwritten_model.load(nodes)
    with engine.session() as session:
        root = session.load(given)
        assert len(session.objects) == len(by_hand) == 3 * NODES + 1
        plain = session.dump(root, whole=False)
        found = seconds(
            {
                "load": load,
                "load by hand": load_by_hand,
                "dump": lambda: session.dump(root, whole=False),
                "json.dumps": lambda: json.dumps(plain),
                "collect": session.finish,
                "walk by hand": lambda: walked(by_hand["app"]),
            }
        )
        assert len(session.objects) == len(walked(by_hand["app"]))
    for name, times in found.items():
        print(f"{name:>14}{statistics.median(times) * 1000:>10.1f} ms")
    pairs = ("load", "load by hand"), ("dump", "json.dumps"), ("collect", "walk by hand")
    ratios = [ratio(found, *each) for each in pairs]
    print(
        f"loading takes {ratios[0]:.1f} times as long as by hand, dumping {ratios[1]:.1f} times as long as json, "
        f"collecting {ratios[2]:.1f} times as long as a walk by hand"
    )
    sys.exit(any(each > MOST for each in ratios))


if __name__ == "__main__":
    main()
