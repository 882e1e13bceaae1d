"""Documents, the places in them, and where a `$ref` leads."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urldefrag, urljoin

from trundle.documents import UnreadableError, parse_values
from trundle.errors import Code
from trundle.schema._model import SchemaCode, SchemaError
from trundle.schema.readers._errors import UnsatisfiableError
from trundle.schema.readers._names import escape, unescape

_Error = TypeVar("_Error", bound=SchemaError)

DEEPEST_POINTER = 400
_URL = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_FIRST_ID = ("$id", "id")
_MAPS = frozenset({"$defs", "definitions", "patternProperties", "properties"})
_DATA = frozenset({"const", "default", "enum", "example", "examples"})


class Document:
    """One document of a file; identity is what makes it the same.

    Attributes:
        file: the file as the user named it.
        path: where it lies, or None for one that has no file.
        value: its content as plain values.
        number: its position among the documents of its file.
    """

    __slots__ = ("_identified", "file", "number", "path", "value")

    def __init__(self, file: str, path: Path | None, value: Any, number: int = 0) -> None:
        self.file = file
        self.path = path
        self.value = value
        self.number = number
        self._identified: dict[str, str] | None = None

    @property
    def url(self) -> str:
        """The URL that the document gives itself, else empty."""
        if not isinstance(self.value, dict):
            return ""
        for key in _FIRST_ID:
            url = self.value.get(key)
            if isinstance(url, str) and _URL.match(url):
                return url.rstrip("#")
        return ""

    @property
    def identified(self) -> Mapping[str, str]:
        """Pointers of all schemas that have an `$id`, `id` or `$anchor`, by URL and by `#anchor`.

        Raises:
            SchemaError: the document is nested too deeply.
        """
        if self._identified is None:
            self._identified = dict(_identifiers(Node(self, "", self.value)))
        return self._identified


class Node(NamedTuple):
    """A place in a document and the value that is there."""

    document: Document
    pointer: str
    value: Any

    def child(self, *segments: str) -> "Node":
        """The place below this one; the segments must exist."""
        value = self.value
        for segment in segments:
            value = value[int(segment)] if isinstance(value, list) else value[segment]
        tail = "/".join(map(escape, segments))
        return Node(self.document, f"{self.pointer}/{tail}", value)

    @property
    def place(self) -> tuple[Document, str]:
        """What identifies the place."""
        return self.document, self.pointer

    @property
    def source(self) -> str:
        """File and pointer, for messages."""
        return f"{self.document.file}#{self.pointer}"

    def error(self, reason: str) -> SchemaError:
        """An error at this place."""
        return self._placed(SchemaError(self.document.file, f"#{self.pointer}", reason))

    def unexpected(
        self, expected: str, found: str, advice: str = "", code: Code = SchemaCode.INVALID
    ) -> SchemaError:
        """An error at this place, where something else is than should be."""
        pointer = f"#{self.pointer}"
        further = {"expected": expected, "advice": advice}
        return self._placed(SchemaError(self.document.file, pointer, found, code=code, **further))

    def contradiction(self, reason: str) -> UnsatisfiableError:
        """The error for a schema at this place that no value fits."""
        return self._placed(UnsatisfiableError(self.document.file, f"#{self.pointer}", reason))

    def _placed(self, error: _Error) -> _Error:
        error.position = (self.document.number, *_position(self.document.value, self.pointer))
        return error


def _position(value: Any, pointer: str) -> Iterator[int]:
    """Which of its siblings each part of a pointer is, from the top."""
    for segment in map(unescape, pointer.split("/")[1:]):
        if isinstance(value, dict) and segment in value:
            yield list(value).index(segment)
            value = value[segment]
        elif isinstance(value, list) and segment.isdecimal() and int(segment) < len(value):
            yield int(segment)
            value = value[int(segment)]
        else:
            return


class Noted(NamedTuple):
    """What references led to: the documents, and the file of each URL that was looked up, if any."""

    documents: set[Document]
    urls: dict[str, str]


class Library:
    """Reads each file once and finds what references name.

    Args:
        on_file: called with the path of each file after it was read.
        redirect: gives the path at which the file of a URL lies, seen from a document, or a document that
            stands in for it; None where the URL means nothing to the format.
        folders: the folders below which a relative reference may lead; to files that were loaded it may always.
    """

    def __init__(
        self,
        on_file: Callable[[Path], None] | None = None,
        redirect: Callable[[Document, str], "Path | Document | None"] = lambda _document, _url: (
            None
        ),
        folders: Iterable[Path] = (),
    ) -> None:
        self._on_file = on_file
        self._redirect = redirect
        self._folders = frozenset(each.resolve() for each in folders)
        self._files: dict[Path, tuple[Document, ...]] = {}
        self._digests: dict[Path, str] = {}
        self._urls: dict[str, tuple[Document, str]] = {}
        self._noted = Noted(set(), {})

    @contextmanager
    def noting(self) -> "Iterator[Noted]":
        """Notes what references lead to meanwhile."""
        before, self._noted = self._noted, Noted(set(), {})
        try:
            yield self._noted
        finally:
            self._noted = before

    def leads_to(self, url: str) -> str:
        """The file of the document that gives itself or a part of it this URL, else nothing."""
        return self._urls[url][0].file if url in self._urls else ""

    def digest_of(self, path: Path) -> str:
        """The SHA-256 of a file as it was loaded; empty for one that was not."""
        return self._digests.get(path.resolve(), "")

    def load(self, path: Path) -> tuple[Document, ...]:
        """The documents of a file.

        Raises:
            SchemaError: the file is missing or cannot be read.
        """
        real = path.resolve()
        found = self._files.get(real)
        if found is None:
            yaml = path.suffix.lower() in {".yaml", ".yml"}
            data = _read(path)
            self._digests[real] = hashlib.sha256(data).hexdigest()
            values = _values(data, str(path), yaml=yaml)
            if not values:
                raise SchemaError(str(path), "#", "an empty file", expected="a schema")
            found = tuple(Document(str(path), path, each, i) for i, each in enumerate(values))
            self._files[real] = found
            if self._on_file is not None:
                self._on_file(path)
        return found

    def register(self, document: Document) -> None:
        """Makes the URLs that the document gives itself and its parts known to all others.

        Raises:
            SchemaError: the document is nested too deeply.
        """
        if document.url:
            self._urls.setdefault(document.url, (document, ""))
        for url, pointer in document.identified.items():
            if not url.startswith("#"):
                self._urls.setdefault(url, (document, pointer))

    def resolve(self, node: Node, reference: str) -> Node:
        """The place that a `$ref` at this node leads to.

        Raises:
            SchemaError: there is no such file, URL or place.
        """
        if reference.startswith("#/") and not node.document.identified:
            return self._at(node, Node(node.document, "", node.document.value), reference[1:])
        location, fragment = urldefrag(reference)
        base = self._base(node, location)
        if base.document is not node.document:
            self._noted.documents.add(base.document)
        fragment = unquote(fragment)
        if not fragment or fragment.startswith("/"):
            return self._at(node, base, fragment)
        pointer = base.document.identified.get(f"#{fragment}")
        if pointer is None:
            raise node.error(f"unresolvable $ref {reference!r}: no schema has this anchor")
        return self._at(node, Node(base.document, "", base.document.value), pointer)

    def _base(self, node: Node, location: str) -> Node:
        """The schema resource that the part of a reference before `#` means."""
        document = node.document
        base_url, base_pointer = _enclosing(node)
        if not location:
            return self._at(node, Node(document, "", document.value), base_pointer)
        url = urljoin(base_url, location) if base_url else location
        for known in (url, location):
            self._noted.urls[known] = self.leads_to(known)
            if known in self._urls:
                found, pointer = self._urls[known]
                return self._at(node, Node(found, "", found.value), pointer)
        redirected = self._redirect(document, url)
        if isinstance(redirected, Document):
            return Node(redirected, "", redirected.value)
        if redirected is None and not _URL.match(location) and document.path is not None:
            redirected = document.path.parent / unquote(location)
            self._check_inside(node, location, redirected)
        if redirected is None:
            raise node.error(
                f"unresolvable $ref {location!r}: no file among the sources has this $id; "
                "add the file to the sources"
            )
        if not redirected.is_file():
            raise node.error(f"unresolvable $ref {location!r}: there is no file {redirected}")
        found = self.load(redirected)[0]
        return Node(found, "", found.value)

    def _check_inside(self, node: Node, location: str, path: Path) -> None:
        """Refuses a reference that leads out of the folders, whether there is such a file or not.

        Raises:
            SchemaError: it does.
        """
        real = path.resolve()
        if real not in self._files and self._folders.isdisjoint(real.parents):
            raise node.unexpected(
                "a $ref to a file of the sources, or below their folders or the project's",
                f"{location!r}, which leads out of them",
                "name that file or its folder as a source",
                SchemaCode.LEADS_OUT,
            )

    @staticmethod
    def _at(node: Node, base: Node, pointer: str) -> Node:
        value = base.value
        for raw in pointer.split("/")[1:]:
            segment = unquote(unescape(raw)) if "%" in raw else unescape(raw)
            if isinstance(value, dict) and segment in value:
                value = value[segment]
            elif isinstance(value, list) and segment.isdecimal() and int(segment) < len(value):
                value = value[int(segment)]
            else:
                where = f"{base.document.file}#{base.pointer}{pointer}"
                raise node.error(f"unresolvable $ref: there is no {where}")
        return Node(base.document, base.pointer + pointer, value)


def _values(data: bytes, file: str, *, yaml: bool) -> list[Any]:
    """The documents of a file; a text that cannot be read is an error of its schema."""
    try:
        return parse_values(data, file=file, yaml=yaml)
    except UnreadableError as error:
        (found,) = error.findings
        reason = found.message if error.line is None else f"line {error.line}: {found.message}"
        raise SchemaError(file, "#", reason, code=found.code) from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SchemaError(str(path), "#", f"cannot read the file: {error.strerror}") from None


def _enclosing(node: Node) -> tuple[str, str]:
    """URL and pointer of the nearest schema around the node that has an `$id`."""
    best = (node.document.url, "")
    for url, pointer in node.document.identified.items():
        inside = node.pointer == pointer or node.pointer.startswith(f"{pointer}/")
        if inside and not url.startswith("#") and len(pointer) > len(best[1]):
            best = (url, pointer)
    return best


def _identifiers(top: Node) -> Iterator[tuple[str, str]]:
    """URLs and anchors of a document's subschemas with their pointers."""
    stack = [(top.value, top.document.url, "", False)]
    while stack:
        value, url, pointer, is_map = stack.pop()
        if pointer.count("/") > DEEPEST_POINTER:
            raise top.error("the document is nested too deeply; break it up with definitions")
        if isinstance(value, list):
            stack.extend((each, url, f"{pointer}/{i}", False) for i, each in enumerate(value))
        elif isinstance(value, dict):
            if not is_map:
                for found in _own_identifiers(value, url, pointer):
                    url = url if found.startswith("#") else found
                    yield found, pointer
            for key, each in value.items():
                if isinstance(key, str) and key not in _DATA:
                    named = not is_map and key in _MAPS
                    stack.append((each, url, f"{pointer}/{escape(key)}", named))


def _own_identifiers(value: dict[str, Any], url: str, pointer: str) -> Iterator[str]:
    for key in _FIRST_ID:
        given = value.get(key)
        if pointer and isinstance(given, str):
            yield given if given.startswith("#") else urljoin(url, given).rstrip("#")
    for key in ("$anchor", "$dynamicAnchor"):
        if isinstance(value.get(key), str):
            yield f"#{value[key]}"
