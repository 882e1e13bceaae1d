"""Reads sources into one schema per API version."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from trundle.schema._model import Schema, SchemaError, Type, group_of
from trundle.schema.readers import azure, crd, json_schema, openapi, python
from trundle.schema.readers._builder import Builder
from trundle.schema.readers._errors import raise_all
from trundle.schema.readers._facets import describe
from trundle.schema.readers._finish import finish
from trundle.schema.readers._library import Document, Library, Node
from trundle.schema.readers._roots import Found, Request, Root
from trundle.schema.readers._sources import (
    Source,
    is_python,
    reference_folders,
    source_files,
    version_of,
)
from trundle.version import ApiVersion

_FINDERS: Mapping[str, Callable[[Document, Request], Found]] = {
    "azure": azure.find,
    "crd": crd.find,
    "json-schema": json_schema.find,
    "openapi": openapi.find,
}


class _Loaded(NamedTuple):
    """A document with what was found in it."""

    source: Source
    document: Document
    found: Found


def detect_format(document: Any) -> str:
    """The format of a document, given as plain values: one of `Format` other than `auto`."""
    for name, module in (("crd", crd), ("openapi", openapi), ("azure", azure)):
        if module.matches(document):
            return name
    return "json-schema"


class Declared(msgspec.Struct, frozen=True):
    """A resource that a file declares in one API version.

    Attributes:
        resource: its name, as documents write it.
        group: the group that it belongs to: its API group, else the namespace of its name; may be empty.
        version: the API version.
        file: the file, as the user named it.
        reading: how it is read, as text: what else its schema depends on but files and version.
    """

    resource: str
    group: str
    version: ApiVersion
    file: str
    reading: str


class Selection(NamedTuple):
    """Schemas, and what they were made from.

    Attributes:
        schemas: one for each API version, in the order of the versions.
        files: every file that some part of them was taken from.
        urls: the file that each URL led to that references were looked up by; empty where to none.
    """

    schemas: tuple[Schema, ...]
    files: tuple[str, ...]
    urls: Mapping[str, str]


class Catalogue:
    """What sources declare, from which all of it or single groups of resources can be read.

    Args:
        sources: where to read. Several may name one file, as for resources of several groups.
        on_file: called with each file after it was read.

    Raises:
        SchemaError: a file cannot be read, or is not in its format. With findings in several files it is a
            `SchemaErrors`.
    """

    def __init__(
        self, sources: Sequence[Source], *, on_file: Callable[[Path], None] | None = None
    ) -> None:
        errors: list[SchemaError] = []
        self._library = Library(on_file, azure.redirect, reference_folders(sources))
        self._loaded = _load_all(sources, self._library, errors, on_file)
        errors.extend(_spelt_twice(root for each in self._loaded for root in each.found.roots))
        if errors:  # one run lists what is wrong with all files
            known = {(each.file, each.pointer) for each in errors}
            try:
                self.select()
            except SchemaError as error:
                errors += (each for each in error.errors if (each.file, each.pointer) not in known)
        raise_all(errors)

    @property
    def declared(self) -> tuple[Declared, ...]:
        """Every resource of every version, in the order of the files."""
        return tuple(
            Declared(
                root.resource,
                group_of(root.resource, root.group),
                root.version,
                root.file,
                _reading(each, root),
            )
            for each in self._loaded
            for root in each.found.roots
        )

    @property
    def files(self) -> frozenset[str]:
        """Every file of the sources, as the user named it."""
        return frozenset(each.document.file for each in self._loaded)

    def leads_to(self, url: str) -> str:
        """The file that a URL names; empty where no file gives itself that URL."""
        return self._library.leads_to(url)

    def digest_of(self, path: Path) -> str:
        """The SHA-256 of a file as it was read, whatever it is now; empty where Python read it, or nothing did."""
        return self._library.digest_of(path)

    def select(self, group: str | None = None) -> Selection:
        """Reads the resources of one group, or all.

        What several files say about one API version becomes one schema. Definitions of one name that
        differ are all kept, those of later files (in the order of their paths) under a key with a suffix.

        Args:
            group: the group, in any letter case; None for all resources.

        Raises:
            SchemaError: something cannot be read, or two files declare one resource in one version. With
                findings in several files it is a `SchemaErrors`.
        """
        versions: dict[ApiVersion, list[Root]] = defaultdict(list)
        for each in self._loaded:
            for root in each.found.roots:
                own = group_of(root.resource, root.group).casefold()
                if group is None or own == group.casefold():
                    versions[root.version].append(root)
        schemas, errors = [], []
        with self._library.noting() as noted:
            for version in sorted(versions):
                try:
                    schemas.append(_read_version(version, versions[version], self._library))
                except SchemaError as error:
                    errors.append(error)
                except RecursionError:
                    file = versions[version][0].file
                    reason = "values are nested too deeply; make them flatter"
                    errors.append(SchemaError(file, "#", reason))
        raise_all(errors)
        declaring = {root.file for roots in versions.values() for root in roots}
        files = declaring | {each.file for each in noted.documents if each.path is not None}
        return Selection(tuple(schemas), tuple(sorted(files)), dict(sorted(noted.urls.items())))

    def require_used(self, files: Collection[str]) -> None:
        """Raises where a file of the sources is of no use.

        Args:
            files: all files that some schema was made from.

        Raises:
            SchemaError: a file declares no resource, nothing refers to it, and its format wants it to; manifests beside resources may stand there.
        """
        declaring = {each.document.file for each in self._loaded if each.found.roots}
        useful = declaring | set(files)
        raise_all(
            [
                SchemaError(each.document.file, "#", each.found.missing)
                for each in self._loaded
                if each.found.missing is not None
                and each.document.file not in useful
                and not (declaring and each.found.is_manifest)
            ]
        )


def _reading(loaded: _Loaded, root: Root) -> str:
    """What a schema depends on besides its files: where its root stands, and how it is taken."""
    place = (root.node.document.number, root.node.pointer, root.rank, root.exact, root.joins)
    names = (root.resource, root.definition, root.scope, root.group, root.name_property)
    return repr((loaded.source.format, place, names))


def read_schemas(
    sources: Sequence[Source], *, on_file: Callable[[Path], None] | None = None
) -> tuple[Schema, ...]:
    """Reads all sources.

    Args:
        sources: where to read. Several may name one file, as for resources of several groups.
        on_file: called with each file after it was read.

    Returns:
        One schema for each API version, in the order of the versions.

    Raises:
        SchemaError: something cannot be read, or two files declare one resource in one version. With
            findings in several files it is a `SchemaErrors`.
    """
    catalogue = Catalogue(sources, on_file=on_file)
    selection = catalogue.select()
    catalogue.require_used(selection.files)
    return selection.schemas


def _load_all(
    sources: Sequence[Source],
    library: Library,
    errors: list[SchemaError],
    on_file: Callable[[Path], None] | None,
) -> list[_Loaded]:
    """Loads every file of the sources, then finds the resources in them."""
    pairs: list[tuple[Source, Request, Document]] = []
    for source in dict.fromkeys(sources):
        try:
            for path in source_files(source):
                pairs.extend(_load(source, path, library, errors, on_file))
        except SchemaError as error:
            errors.append(error)
    _register({document: None for _, _, document in pairs}, library, errors)
    loaded = []
    for source, request, document in pairs:
        try:
            loaded.append(_Loaded(source, document, _find(source, request, document)))
        except SchemaError as error:
            errors.append(error)
    for source in sources:
        names = [each.found.names for each in loaded if each.source == source]
        _check_resources(source, names, errors)
    return loaded


def _register(documents: Iterable[Document], library: Library, errors: list[SchemaError]) -> None:
    for document in documents:
        try:
            library.register(document)
        except SchemaError as error:
            errors.append(error)


def _load(
    source: Source,
    path: Path,
    library: Library,
    errors: list[SchemaError],
    on_file: Callable[[Path], None] | None,
) -> Iterator[tuple[Source, Request, Document]]:
    request = Request(version_of(source), source.resources, source.group, path)
    try:
        documents: tuple[Document, ...]
        if is_python(source):
            documents = (python.load(path, source.resources),)
            if on_file is not None:
                on_file(path)
        else:
            documents = library.load(path)
    except SchemaError as error:
        errors.append(_excludable(error) if source.path.is_dir() else error)
        return
    for document in documents:
        yield source, request, document


def _excludable(error: SchemaError) -> SchemaError:
    """The error of a file in a folder of sources, with what to do where it is no schema."""
    reason = f"{error.reason}; correct the file, or leave it out with `exclude` in trundle.yaml"
    return SchemaError(error.file, error.pointer, reason)


def _find(source: Source, request: Request, document: Document) -> Found:
    if is_python(source):
        return python.find(document, request)
    name = source.format if source.format != "auto" else detect_format(document.value)
    if name != "json-schema" and not isinstance(document.value, dict):
        top = Node(document, "", document.value)
        raise top.unexpected("an object at the top", describe(document.value))
    return _FINDERS[name](document, request)


def _check_resources(
    source: Source, names: Sequence[Mapping[str, Node]], errors: list[SchemaError]
) -> None:
    """Every resource that a source asks for must be defined in one of its files."""
    if errors or source.resources is None:
        return
    known = {name for each in names for name in each}
    for wanted in source.resources:
        if wanted not in known:
            some = ", ".join(sorted(known)[:10]) or "none"
            reason = f"there is no definition {wanted!r} to be a resource; defined are {some}"
            errors.append(SchemaError(str(source.path), "#", reason))


def _spelt_twice(roots: Iterable[Root]) -> Iterator[SchemaError]:
    """Versions that are declared in two spellings, such as `2019-09-09` and `v20190909`."""
    known: dict[ApiVersion, Root] = {}
    for root in roots:
        first = known.setdefault(root.version, root)
        if root.version.text != first.version.text:
            place = f"{first.file}#{first.node.pointer}"
            yield root.node.error(
                f"{root.version} is the same version as {first.version}, which {first.resource} is "
                f"declared in at {place}; spell it alike in both"
            )


def _read_version(version: ApiVersion, roots: Sequence[Root], library: Library) -> Schema:
    groups: dict[tuple[str, str], list[Root]] = defaultdict(list)
    distinct = {(x.identity, x.file, x.node.document.number, x.node.pointer): x for x in roots}
    for root in sorted(distinct.values(), key=lambda x: (x.file, x.rank)):
        groups[root.identity].append(root)
    kept = [_declarations(group) for group in groups.values()]
    names = {root.node.place: root.definition for group in kept for root in group}
    builder = Builder(library, names)
    typed: list[list[tuple[Root, Type]]] = []
    try:
        typed.extend(
            [(root, builder.root(root.node, root.dialect)) for root in group] for group in kept
        )
    except SchemaError as error:
        builder.errors.append(error)
    raise_all(sorted(builder.errors, key=lambda error: (error.file, error.position)))
    notes = tuple(sorted(builder.notes.values(), key=lambda note: note.where))
    return msgspec.structs.replace(finish(version, builder.table, typed), notes=notes)


def _declarations(group: Sequence[Root]) -> Sequence[Root]:
    """The declarations of one resource that count: all those of one file.

    Raises:
        SchemaError: two files declare it.
    """
    if any(root.exact for root in group):
        group = [root for root in group if root.exact]
    files = list(dict.fromkeys(root.file for root in group))
    first = group[0]
    if len(files) > 1:
        raise SchemaError(
            files[1],
            f"#{group[-1].node.pointer}",
            f"two files for one version: {first.resource} in {first.version} is declared in {files[0]} "
            f"and in {files[1]}; remove one of them",
        )
    if len(group) > 1 and not first.joins:
        again = group[1].node
        raise again.error(
            f"{first.resource} in {first.version} is declared twice; rename one of them"
        )
    return group
