"""Shows what Trundle does, on the customer service of this folder, in under a minute.

Run it with `python examples/crm/demo.py`. It generates into a temporary folder and leaves nothing behind.
Where the environment variable `CORPUS` names a folder with Azure's deployment schemas, it ends with a
change table of a real service.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from rich.theme import Theme
from serving import serving
from steps import GROUP, Runner, applied, edited, watched

from trundle.evolution import Evolution
from trundle.project import generated_files, load_project, read_documents, write_tree
from trundle.project.generated import generated_scheme
from trundle.project.generating import generate, package_folder
from trundle.project.loading import Project
from trundle.report import compare, comparison_text, version_map, version_map_text
from trundle.runtime import Scheme
from trundle.schema.readers import Source, read_schemas
from trundle.version import ApiVersion

HERE = Path(__file__).parent
FIRST, PREVIEW, LAST = "2011-01-01", "2014-04-04-preview", "2019-09-09"
ADDRESS = "mailingAddress"
SERVICE_FABRIC = "Microsoft.ServiceFabric.json"
_COMMAND = r"(?m)^(\$|PATCH|GET) .*"
NARROW, MEDIUM, WIDE = 70, 116, 150
"""Columns of a terminal from which on there is room for more."""

DONALD: dict[str, Any] = {
    "apiVersion": LAST,
    "kind": "Person",
    "metadata": {"name": "donald"},
    "id": "6f1d5c1e-0b54-4a53-9d0c-000000000003",
    "legalName": "Donald Fauntleroy Duck",
    "familyName": "Duck",
    "knownAs": "Donald",
    "sortKey": "Duck",
    "mailingAddress": {
        "fullAddress": "1313 Webfoot Walk, Duckburg, CA 95501, Calisota",
        "city": "Duckburg",
        "country": "Calisota",
        "postCode": "CA 95501",
        "latitude": 40.8,
        "longitude": -124.1,
    },
}


class Demo:
    """The story, chapter by chapter.

    Args:
        console: where it is printed.
        project: the project that it is about; its output is a folder that may be written.
    """

    def __init__(self, console: Console, project: Project) -> None:
        self.console = console
        self.project = project
        self.chapters = 0

    def show(self) -> bool:
        """Shows all chapters; returns whether nothing was lost."""
        self.console.print()
        self.say(
            "**Trundle** converts between schema versions without losing data. Here a customer service "
            "has nine releases and a preview in nine years; each changes the type Person. "
            "One store serves all clients, and every client continues to use its own version."
        )
        self.show_map()
        self.generate()
        with generated_scheme(self.project.config) as scheme:
            assert isinstance(scheme, Scheme)
            self.read_side_by_side(scheme)
            self.open_the_bag(scheme)
            self.edit_with_an_old_client(scheme)
        # A release of then and one of now both import the hooks, so they are opened one after the other.
        previewed = self.stored_by_the_preview()
        with generated_scheme(self.project.config) as scheme:
            assert isinstance(scheme, Scheme)
            self.follow_the_preview(scheme, previewed)
            kept = self.check_the_laws(scheme)
            self.serve(scheme)
        self.compare_service_fabric()
        self.console.print()
        return kept

    # Printing

    def chapter(self, title: str) -> None:
        """Begins a chapter."""
        self.chapters += 1
        self.console.print()
        self.console.print(Rule(Text(f" {self.chapters}. {title} ", "bold cyan"), align="left"))

    def say(self, markdown: str) -> None:
        """Prints a paragraph."""
        self.console.print(Padding(Markdown(markdown), (0, 0, 1, 0)))

    def block(self, text: str, *styles: tuple[str, str]) -> None:
        """Prints lines as they are, with words in a style; a line that is too long is cut."""
        shown = Text(text.rstrip("\n"), no_wrap=True, overflow="ellipsis")
        for pattern, style in styles:
            shown.highlight_regex(pattern, style)
        self.console.print(Padding(shown, (0, 0, 1, 2)))

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Text]]) -> None:
        """Prints a table whose cells wrap, without a header where that is empty."""
        table = Table(
            box=None,
            pad_edge=False,
            padding=(0, 2, 0, 0),
            header_style="bold",
            show_header=bool(header),
        )
        for name in header or [""] * len(rows[0]):
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*row)
        self.console.print(Padding(table, (0, 0, 1, 2)))

    # Chapters

    def show_map(self) -> None:
        """What is served, what is stored, and where everything leads."""
        self.chapter("The map")
        self.say(
            "The newest GA version is the *hub*: what the store keeps. A horizon of four GA versions is "
            "served; older clients and older stored objects can still be converted."
        )
        drawn = version_map(self.project.evolution, "Person", self.project.config.horizon)
        self.block(
            version_map_text(drawn), ("◆|hub", "bold yellow"), ("●|─|▶", "cyan"), ("·|╌", "dim")
        )

    def generate(self) -> None:
        """How much is written by hand, and how much is not."""
        self.chapter("Generate")
        schemas = list((HERE / "schemas").glob("*.yaml"))
        hooks = [file for file in (HERE / "crm_hooks").glob("*.py") if file.stem != "__init__"]
        config = (HERE / "trundle.yaml").read_text(encoding="utf-8").splitlines()
        written = sum(1 for line in config if line.strip() and not line.strip().startswith("#"))
        begin = time.perf_counter()
        root = generate(self.project.config).root
        seconds = time.perf_counter() - begin
        files = [file for file in root.rglob("*.py") if "tests" not in file.parts]
        lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
        self.say(
            f"Written by hand: {len(schemas)} schemas, {written} lines of `trundle.yaml`, and "
            f"{len(hooks)} hooks that know what names and addresses mean. From these `trundle generate` "
            f"wrote {len(files)} modules with {lines:,} lines of typed Python in {seconds:.1f} seconds."
        )

    def read_side_by_side(self, scheme: Scheme) -> None:
        """One stored object as several versions see it."""
        self.chapter("One object, many versions")
        self.say(
            f"A client of {LAST} stores Donald. Every version shows the properties that it has, under its "
            "own names."
        )
        stored = scheme.to_storage(DONALD)
        seen = {version: flat(read(scheme, stored, version)) for version in self.columns()}
        names = dict.fromkeys(name for view in seen.values() for name in view)
        rows = [
            [_label(name), *(_cell(view.get(name)) for view in seen.values())]
            for name in sorted(names, key=lambda name: name.startswith(ADDRESS))
        ]
        self.table(["", *seen], rows)

    def columns(self) -> tuple[str, ...]:
        """The versions that fit beside each other."""
        if self.console.width >= MEDIUM:
            return FIRST, "2013-03-03", "2014-04-04", "2017-07-07", LAST
        if self.console.width >= NARROW:
            return FIRST, "2014-04-04", LAST
        return FIRST, LAST

    def open_the_bag(self, scheme: Scheme) -> None:
        """What a property bag holds, and why."""
        self.chapter("The property bag")
        self.say(
            "Now a client of 2013-03-03 stores a person of that name. The store's shape has no first, "
            "middle or last name. A hook derives the new names from the old ones, and the *property bag* "
            "keeps the old ones:"
        )
        document = sample("donald.yaml")
        stored = scheme.to_storage(document)
        shown = json.loads(scheme.encode(stored))
        bag = shown.pop("$propertyBag", {})
        for name in ("kind", "metadata", "id"):
            shown.pop(name, None)
        self.block(as_lines(shown), (r"(?m)^\S+", "cyan"))
        rows = [
            [Text(name, "cyan"), Text(version), Text(str(entry.get("value", "absent")), "green")]
            for name, versions in bag.items()
            for version, entry in versions.items()
        ]
        self.table(["in the bag", "in the shape of", "value"], rows)
        newer = {**read(scheme, stored, LAST), "familyName": "Drake"}
        renamed = read(scheme, scheme.to_storage(newer, stored), "2013-03-03")
        self.say(
            "An entry also records a digest of the values beside it. As long as no client changes the new "
            "names, the old ones are returned unchanged. When a client does, they are stale: after "
            f"a client of {LAST} writes `familyName: Drake`, 2013-03-03 reads "
            f"`lastName: {renamed['lastName']}`."
        )

    def edit_with_an_old_client(self, scheme: Scheme) -> None:
        """A client that sees almost nothing writes back, and destroys nothing."""
        self.chapter(f"A client of {FIRST} edits")
        stored = scheme.to_storage(DONALD)
        seen = read(scheme, stored, FIRST)
        edited = {**seen, "lastName": "Drake"}
        self.say(
            f"It reads `firstName: {seen['firstName']}` and `lastName: {seen['lastName']}`, changes the "
            f"last name to `{edited['lastName']}`, and writes the object back. It knows of no address and "
            f"no sort key. A client of {LAST} then reads:"
        )
        before = flat(DONALD)
        after = flat(read(scheme, scheme.to_storage(edited, stored), LAST))
        rows = [_change(name, before.get(name), after.get(name)) for name in {**before, **after}]
        self.table(["", "before", "after", ""], rows)
        self.say(
            "The names that hooks derive follow the edit, the middle name included. All else is as before."
        )

    def stored_by_the_preview(self) -> bytes:
        """What the preview's release stored, before any hook was written."""
        preview = ApiVersion.parse(PREVIEW)
        known = tuple(each for each in self.project.schemas if each.version <= preview)
        then = msgspec.structs.replace(
            self.project,
            config=msgspec.structs.replace(self.project.config, package="crm_preview", hooks=()),
            schemas=known,
            evolution=Evolution(known),
        )
        write_tree(package_folder(then.config), generated_files(then), marker=then.config.package)
        with generated_scheme(then.config) as scheme:
            return scheme.encode(scheme.to_storage(sample("goofy.yaml")))

    def follow_the_preview(self, scheme: Scheme, stored: bytes) -> None:
        """A preview's property becomes the GA's."""
        self.chapter("What a preview stored")
        self.say(
            f"{PREVIEW} called the legal name `fullName`. Previews do not shape the store, so its release "
            "kept these names in the bag of 2013-03-03:"
        )
        bag = json.loads(stored)["$propertyBag"]
        self.block(
            as_lines({name: entry[PREVIEW]["value"] for name, entry in bag.items()}),
            (r"(?m)^\S+", "cyan"),
        )
        rolled = json.loads(scheme.convert_json(stored))
        self.say("One line of configuration says `rename: {fullName: legalName}`. Rolled forward:")
        names = ("familyName", "knownAs", "legalName")
        self.block(as_lines({name: rolled[name] for name in names}), (r"(?m)^\S+", "cyan"))
        first = read(scheme, scheme.decode(stored), FIRST)
        self.say(
            f"{FIRST} reads `{first['firstName']} {first['lastName']}`, by the hook; no hook has "
            "overwritten the legal name."
        )

    def check_the_laws(self, scheme: Scheme) -> bool:
        """Whether what is written is read, and writing back changes nothing, for every document and version."""
        self.chapter("Nothing lost")
        begin = time.perf_counter()
        documents = {str(each["apiVersion"]): each for each in samples()}
        stored = list(_stored(scheme, documents))
        broken = [
            (version, law)
            for (each, version) in product(stored, documents)
            for law in _broken_laws(scheme, each, version, documents[version])
        ]
        seconds = time.perf_counter() - begin
        count = f"{len(stored)} objects x {len(documents)} versions"
        rows = [
            [Text("✓", "green"), Text("what a client writes, it reads")],
            [Text("✓", "green"), Text("writing back what one read changes not a byte")],
        ]
        if broken:
            rows = [[Text("✗", "red"), Text(f"{law}, in {version}")] for version, law in broken[:5]]
        self.say(
            f"All {len(documents)} sample documents, each stored alone and over every other, are read, "
            "written back and written over in every version:"
        )
        self.table([], rows)
        verdict = f"{len(broken)} times something was lost" if broken else "nothing lost"
        style = "bold red" if broken else "bold green"
        line = Text.assemble((f"{count}: {verdict}", style), (f"  in {seconds:.1f} seconds", "dim"))
        self.console.print(Padding(line, (0, 0, 0, 2)))
        return not broken

    def serve(self, scheme: Scheme) -> None:
        """Clients of two versions write one person through a server, and a third watches."""
        self.chapter("A control plane")
        folder = self.project.config.output
        config = {**DONALD, "apiVersion": f"{GROUP}/v20190909"}
        moved = {"street": "1 Killmotor Hill", "city": "Duckburg"}
        changes = {"knownAs": "Don", "mailingAddress": moved}
        with serving(self.project, scheme, folder / "people.db") as served:
            clients = Runner(served.port, folder)
            apply, watch = applied(config, "team"), watched("v20190909", "donald")
            done = [clients.run(apply)]
            with contextlib.closing(clients.events(watch)) as events:
                seen = [next(events)]
                done.append(clients.run(edited("v20160606", "donald", changes, "clerk")))
                seen.append(next(events))
            conflict = clients.run(apply)
            kept = served.kept("donald")
        self.say(
            "`trundle serve` serves all of this to kubectl. A client applies Donald at v20190909, one of v20160606 "
            f"changes his address. {clients.note}"
        )
        self.block("\n".join(done), (_COMMAND, "cyan"))
        self.say(
            "One of v20190909 watches, from before the change. The two events that it gets, as a table:"
        )
        self.block(clients.shown(watch), (_COMMAND, "cyan"))
        shown = [flat(each["object"]) for each in seen]
        rows = [
            _change(name, *(each.get(name) for each in shown)) for name in {**shown[0], **shown[1]}
        ]
        self.table(["", *(each["type"] for each in seen), ""], rows)
        self.say(
            "Longitude and latitude are still there, though the client of v20160606 knows of neither. The first client "
            "applies its configuration again, and learns who wrote another name and address:"
        )
        self.block(conflict, (_COMMAND, "cyan"))
        address = kept["mailingAddress"]
        bag = address.get("$propertyBag", {})
        lines = {
            "knownAs": kept["knownAs"],
            "mailingAddress.fullAddress": address["fullAddress"],
            **{f"in its bag: {name}": json.dumps(each) for name, each in bag.items()},
        }
        self.say(f"The store keeps one object, in the shape of {LAST}:")
        self.block(as_lines(lines), (r"(?m)^(in its bag: )?\S+", "cyan"))

    def compare_service_fabric(self) -> None:
        """The change table of a real service, where its schemas are given."""
        corpus = os.environ.get("CORPUS")
        if not corpus:
            return
        self.chapter("A real service: Azure Service Fabric")
        older, newer = "2016-03-01", "2016-09-01"
        files = {
            version: Path(corpus) / "schemas" / version / SERVICE_FABRIC
            for version in (older, newer)
        }
        missing = [str(file) for file in files.values() if not file.is_file()]
        if missing:
            self.say(f"`CORPUS` is set, but there is no `{missing[0]}`; this chapter is left out.")
            return
        sources = [Source(file, version=version) for version, file in files.items()]
        evolution = Evolution(read_schemas(sources))
        found = compare(
            evolution, ApiVersion.parse(older), ApiVersion.parse(newer), "ClusterProperties"
        )
        self.say(f"What became of `ClusterProperties` from {older} to {newer}:")
        rows = [
            [
                Text(each.name, "cyan"),
                Text(each.old or ""),
                Text(each.new or ""),
                Text(each.change, "" if each.change == "None" else "bold yellow"),
                Text(each.handler),
            ]
            for each in found.types[0].properties
        ]
        if self.console.width >= WIDE:
            self.table(["property", older, newer, "change", "handler"], rows)
        else:
            self.table(["property", "change", "handler"], [[row[0], *row[3:]] for row in rows])
            retyped = [row for row in rows if row[3].plain == "Change of Type"]
            self.table(["change of type", older, newer], [row[:3] for row in retyped])
        self.console.print(
            Padding(Text(comparison_text(found).strip().splitlines()[-1]), (0, 0, 0, 2))
        )


# Documents


def samples() -> tuple[dict[str, Any], ...]:
    """The sample documents, one for each version."""
    return tuple(sample(file.name) for file in sorted((HERE / "documents").glob("*.yaml")))


def sample(name: str) -> dict[str, Any]:
    """A sample document."""
    path = HERE / "documents" / name
    (document,) = read_documents(path.read_bytes(), str(path))
    found: dict[str, Any] = json.loads(document.data)
    return found


def read(scheme: Scheme, stored: Any, version: str) -> dict[str, Any]:
    """What a version sees of a stored object."""
    found: dict[str, Any] = json.loads(scheme.encode(scheme.from_storage(stored, version)))
    return found


def flat(document: Mapping[str, Any]) -> dict[str, str]:
    """A document's own properties as text, those of its address by their paths."""
    found: dict[str, str] = {}
    for name, value in document.items():
        if name in {"apiVersion", "kind", "metadata", "id"}:
            continue
        if isinstance(value, dict):
            found[name] = ""
            found |= {f"{name}.{inner}": str(each) for inner, each in value.items()}
        else:
            found[name] = str(value)
    return found


def as_lines(values: Mapping[str, Any]) -> str:
    """Properties and their values in two columns."""
    width = max(map(len, values), default=0)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in values.items())


def _label(name: str) -> Text:
    """A property's name, set in below the property that holds it."""
    _, dot, inner = name.rpartition(".")
    return Text(f"  {inner}" if dot else name, "cyan")


def _cell(value: str | None) -> Text:
    """A value; a dot where there is none."""
    return Text("·", "dim") if value is None else Text(value)


def _change(name: str, before: str | None, after: str | None) -> list[Text]:
    """A row of a comparison, marked where it changed."""
    cells = [_label(name), _cell(before), _cell(after), Text("")]
    if before != after:
        cells[1].stylize("red")
        cells[2].stylize("bold green")
        cells[3] = Text("◀ changed", "bold green")
    return cells


# Laws


def _stored(scheme: Scheme, documents: Mapping[str, Any]) -> Iterator[Any]:
    """Every document stored alone, and written over every other."""
    for document in documents.values():
        alone = scheme.to_storage(document)
        yield alone
        for other in documents.values():
            if other is not document:
                yield scheme.to_storage(other, alone)


def _broken_laws(scheme: Scheme, stored: Any, version: str, document: Any) -> Iterator[str]:
    """The laws that a stored object breaks at a version."""
    seen = scheme.from_storage(stored, version)
    if scheme.encode(scheme.to_storage(seen, stored)) != scheme.encode(stored):
        yield "writing back what was read changed the stored object"
    if read(scheme, scheme.to_storage(document, stored), version) != document:
        yield "what was written is not what was read"


def main() -> int:
    """Shows all chapters on the terminal.

    Returns:
        0, or 1 where something was lost.
    """
    plain = bool(os.environ.get("NO_COLOR")) or not sys.stdout.isatty()
    page = io.StringIO()
    theme = Theme({"markdown.code": "bold cyan", "rule.line": "cyan"})
    console = Console(file=page if plain else None, highlight=False, theme=theme)
    project = load_project(HERE / "trundle.yaml")
    try:
        with tempfile.TemporaryDirectory(prefix="trundle-demo-") as folder:
            config = msgspec.structs.replace(project.config, output=Path(folder).resolve())
            kept = Demo(console, msgspec.structs.replace(project, config=config)).show()
    finally:
        lines = "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(lines.encode(encoding, "replace").decode(encoding))
    return 0 if kept else 1


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
