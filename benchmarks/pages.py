"""Measures how long the server takes for each page: from the request to the whole answer, in this process, without HTTP.

The project has 300 resource types in ten versions, each version with one more property; the store behind the pages about objects has 100,000, the catalog 5,000 versions of packages; see `kept_pages` for the others. The first request of
each page, after the server has started, is bound by itself, as it reads what later ones have at hand. Bound is the time of the processor, in all threads: pages wait for nothing else, and the clock
goes on while other programs have their turn.
"""

import asyncio
import contextlib
import http
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlencode

import kept_pages
from filled_channels import PACKAGE as DATABASE
from filled_channels import WORD

from trundle.api import Access, Api, seldom_collecting, served_kinds
from trundle.api.access import Guard
from trundle.api.catalogs import CatalogRoutes
from trundle.catalog import Catalog
from trundle.dashboard import ServerPage, ShownProject, page_application
from trundle.packages import Package
from trundle.project import evolution_of, generate, generated_scheme, load_config, load_parts
from trundle.schema.readers import Source
from trundle.store import Key, Store

TYPES, VERSIONS, ROUNDS = 300, 10, 30
MOST = 100
"""Milliseconds of the processor that a page may take, when it is asked for first and later on."""

Pages: TypeAlias = Mapping[str, tuple[str, dict[str, Any], str]]
"""By a name, the path of a page, its parameters, and what it must show."""

TYPE = {"of": "", "type": "Thing150"}
PAGES: Pages = {
    "list": ("/ui/versions", {}, "300 resource types"),
    "search": ("/ui/versions", {"q": "size7"}, "300 resource types with"),
    "map": ("/ui/versions/type", TYPE, "10 versions"),
    "schema": ("/ui/versions/type", {**TYPE, "v": "2024-01-01"}, "Its name."),
    "changes": ("/ui/versions/type", {**TYPE, "v": ["2015-01-01", "2024-01-01"]}, "size9"),
    "history": ("/ui/versions/property", {**TYPE, "name": "Thing150.name"}, "Thing150.name"),
}
OBJECTS = 100_000
_TOGETHER = 1_000
BOXES = {"of": "bench.example.com", "type": "boxes"}
BOX = {**BOXES, "namespace": "default", "name": "b050000"}
OBJECT_PAGES: Pages = {
    "types": ("/ui/objects", {}, "boxes"),
    "objects": ("/ui/objects/list", {**BOXES, "v": "v2"}, "50 objects, and more"),
    "labels": ("/ui/objects/list", {**BOXES, "labels": "shelf=500"}, "50 objects, and more"),
    "nothing": (
        "/ui/objects/list",
        {**BOXES, "labels": "shelf=none"},
        "no object that the filters choose",
    ),
    "name": ("/ui/objects/list", {**BOXES, "called": "b099999"}, "1 object"),
    "object": ("/ui/objects/one", {**BOX, "v": ["v1", "v2"]}, "differs"),
    "editor": ("/ui/objects/edit", {**BOX, "v": "v1"}, "red"),
    "storage": ("/ui/storage", {}, "100,000"),
}


PACKAGES, RELEASES = 500, 10
PACKAGE = {"name": "com.example.package250"}
PACKAGE_PAGES: Pages = {
    "packages": ("/ui/packages", {}, "com.example.package"),
    "found": ("/ui/packages", {"q": "age250"}, "package250"),
    "package": ("/ui/packages/one", PACKAGE, "1.9.0"),
    "inside": ("/ui/packages/one", {**PACKAGE, "look": "1"}, "Thing"),
    "class": (
        "/ui/packages/class",
        {**PACKAGE, "class": "com.example.package250.Thing"},
        "$.int()",
    ),
}


SHOP = {"tenant": kept_pages.TENANT, "name": kept_pages.SHOP}
ENVIRONMENT_PAGES: Pages = {
    "environments": ("/ui/environments", {"tenant": kept_pages.TENANT}, "e0100"),
    "environment": ("/ui/environments/one", SHOP, "app099"),
    "draft": ("/ui/environments/draft", {**SHOP, "draft": "me"}, "app099"),
    "deployment": ("/ui/environments/deployment", {**SHOP, "number": "1"}, "app099"),
    "what to add": ("/ui/environments/add", SHOP, "package=a"),
    "adding": ("/ui/environments/add", {**SHOP, "package": "a"}, "Properties"),
}
CHANNEL = {"tenant": kept_pages.TENANT, "package": DATABASE, "channel": WORD}
CHANNEL_PAGES: Pages = {
    "channels": ("/ui/packages/channels", {"tenant": kept_pages.TENANT}, "1 channel"),
    "channel": ("/ui/packages/channel", CHANNEL, "earlier"),
}
INSTALLED = {"package": DATABASE}
INSTALLED_PAGES: Pages = {
    "installed": ("/ui/installed", {}, DATABASE),
    "one": ("/ui/installed/one", INSTALLED, "9.0.1"),
    "outlook": ("/ui/installed/one", {**INSTALLED, "look": "1"}, "4.98"),
    "back": ("/ui/installed/back", INSTALLED, "9.0.0"),
}


def write(folder: Path) -> None:
    """Writes the schemas."""
    for at in range(VERSIONS):
        place = folder / f"{2015 + at}-01-01"
        place.mkdir()
        for number in range(TYPES):
            parts = {f"size{each}": {"type": "integer"} for each in range(at + 1)}
            part = {"title": f"Part{number}", "type": "object", "properties": parts}
            properties = {"name": {"type": "string", "description": "Its name."}, **parts}
            thing = {
                "title": f"Thing{number}",
                "type": "object",
                "properties": {**properties, "part": {"$ref": "#/$defs/Part"}},
                "$defs": {"Part": part},
            }
            (place / f"thing{number}.json").write_text(json.dumps(thing))


class Taken(NamedTuple):
    """How many milliseconds an answer takes.

    Attributes:
        clock: by the clock.
        processor: of the processor.
    """

    clock: float
    processor: float


def request(application: Any, path: str, query: dict[str, Any], shows: str) -> Taken:
    """How long an answer takes that shows something."""
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": urlencode(query, doseq=True).encode(),
        "headers": [(b"host", b"localhost:8002")],
        "server": ("127.0.0.1", 8002),
        "scheme": "http",
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    async def answered() -> Taken:
        clock, processor = time.perf_counter(), time.process_time()
        await application(scope, receive, send)
        return Taken((time.perf_counter() - clock) * 1000, (time.process_time() - processor) * 1000)

    found = asyncio.run(answered())
    assert sent[0]["status"] == http.HTTPStatus.OK, sent
    text = b"".join(each.get("body", b"") for each in sent[1:]).decode()
    assert shows in text, (path, query, shows)
    return found


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Any]:
    """The page of a server with many objects."""
    schema = "title: Box\ntype: object\nproperties: {{{}: {{type: string}}, number: {{type: integer}}}}\n"
    (folder / "schemas").mkdir()
    for version, name in (("v1", "color"), ("v2", "colour")):
        (folder / "schemas" / f"{version}.yaml").write_text(schema.format(name))
    (folder / "trundle.yaml").write_text(
        "package: boxes\nsources: [schemas]\nkubernetes: {group: bench.example.com}\n"
        "changes: {v1: {Box: {rename: {color: colour}}}}\n"
    )
    config = load_config(folder / "trundle.yaml")
    generate(config)
    with (
        generated_scheme(config) as scheme,
        Store(folder / "store.sqlite", scheme) as store,
        Catalog(folder / "catalog.db") as catalog,
    ):
        versions = [
            package(number, minor) for number in range(PACKAGES) for minor in range(RELEASES)
        ]
        assert not catalog.upload(versions, tenant="default").refused
        for start in range(0, OBJECTS, _TOGETHER):
            drafts = [
                store.draft(Key("Box", "default", f"b{at:06}"), box(at))
                for at in range(start, start + _TOGETHER)
            ]
            store.commit([store.creation(each) for each in drafts])
        kinds = served_kinds(load_parts(config).values(), scheme)
        access = Access()
        page = ServerPage(access, has_packages=True)
        beside = [*CatalogRoutes(catalog).routes, *page.routes(kinds, store)]
        api = Api(store, kinds, "0", access=access, beside=beside)
        yield page.around(Guard(api.application, access))


def package(number: int, minor: int) -> Package:
    """A version of a package with a class and a requirement."""
    name = f"com.example.package{number}"
    lines = ["Format: '1.4'", "Type: Library", f"FullName: {name}", f"Version: 1.{minor}.0"]
    lines += ["Require: {com.example.package0: '>=1.0,<2.0'}", f"Classes: {{{name}.Thing: T.yaml}}"]
    text = f"Name: {name}.Thing\nProperties: {{n: {{Contract: $.int(), Default: {minor}}}}}\n"
    return Package.from_files({"manifest.yaml": "\n".join(lines), "Classes/T.yaml": text})


def box(number: int) -> bytes:
    """A document of an object."""
    labels = {"shelf": str(number % 1000)}
    document = {"apiVersion": "v1", "kind": "Box", "metadata": {"labels": labels}}
    return json.dumps({**document, "color": "red", "number": number}).encode()


def measured(application: Any, pages: Pages) -> list[str]:
    """Prints how long pages take; those that take too long, when they are asked for first or later on."""
    for each in threading.enumerate():
        if each.name == "page-preparing":  # A server is asked after its start.
            each.join()
    print(f"{'page':12}{'first':>9}{'median':>9}{'slowest':>9}   by the clock: first, median")
    slow = []
    with seldom_collecting():  # As a server does.
        for name, (path, query, shows) in pages.items():
            first = request(application, path, query, shows)
            later = [request(application, path, query, shows) for _ in range(ROUNDS)]
            clock, processor = zip(*later, strict=True)
            median = statistics.median(processor)
            of_processor = f"{first.processor:9.1f}{median:9.1f}{max(processor):9.1f}"
            print(f"{name:12}{of_processor}{first.clock:12.1f}{statistics.median(clock):9.1f}")
            slow += [f"{name}, first"] if first.processor > MOST else []
            slow += [name] if median > MOST else []
    return slow


def main() -> None:
    """Prints milliseconds by page; fails where a request takes too long, or a page does not show what it must."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        evolution = evolution_of([Source(Path(folder))])
    application = page_application({"": ShownProject(evolution)})
    print(f"Pages of {TYPES} resource types in {VERSIONS} versions, milliseconds")
    slow = measured(application, PAGES)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as application:
        print(f"\nPages of {OBJECTS} objects, milliseconds")
        slow += measured(application, OBJECT_PAGES)
        print(f"\nPages of {PACKAGES * RELEASES} versions of packages, milliseconds")
        slow += measured(application, PACKAGE_PAGES)
    with tempfile.TemporaryDirectory() as folder, kept_pages.environments(Path(folder)) as shown:
        print(f"\nPages of {kept_pages.ENVIRONMENTS} environments, milliseconds")
        slow += measured(shown, ENVIRONMENT_PAGES)
    with tempfile.TemporaryDirectory() as folder, kept_pages.channels(Path(folder)) as pages:
        print(f"\nPages of a signed channel of {kept_pages.CHANNEL} versions, milliseconds")
        slow += measured(pages.followed, CHANNEL_PAGES)
        slow += measured(pages.installed, INSTALLED_PAGES)
    if slow:
        sys.exit(f"slower than {MOST} ms: {', '.join(slow)}")


if __name__ == "__main__":
    main()
