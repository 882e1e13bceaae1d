"""Where schemas come from: sources, and the files that they name."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec
import pathspec

from trundle.schema._model import SchemaError
from trundle.version import ApiVersion, VersionError

Format: TypeAlias = Literal["auto", "azure", "crd", "json-schema", "openapi", "python"]


_SUFFIXES = frozenset({".json", ".yaml", ".yml"})


class Source(msgspec.Struct, frozen=True):
    """Where schemas come from.

    Attributes:
        path: a file; a folder, which stands for every `.json`, `.yaml` and `.yml` file below it; or, for
            `python`, a module's file or dotted name.
        format: the format of the files; `auto` detects it from each document.
        version: the API version of everything here; None takes it from the documents or their names.
        resources: the definitions that are resources; None leaves that to the format.
        group: the API group of resources whose document gives none.
        exclude: which files are none of the source's, as patterns of `.gitignore`; a reference may lead there.
        folder: the folder that the patterns are relative to, the project's; references may lead to all files below it.
    """

    path: Path
    format: Format = "auto"
    version: str | None = None
    resources: tuple[str, ...] | None = None
    group: str = ""
    exclude: tuple[str, ...] = ()
    folder: Path = Path()


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern as in `.gitignore` that may match a file."""
    try:
        spec = pathspec.GitIgnoreSpec.from_lines([text])
    except ValueError:
        return False
    return any(each.include is not None for each in spec.patterns)


def matching(source: Source, pattern: str) -> bool:
    """Whether a pattern matches a file of a source, excluded or not.

    Raises:
        SchemaError: there is no such file or folder.
    """
    files = source_files(msgspec.structs.replace(source, exclude=()))
    return any(_excluding(source.folder, (pattern.removeprefix("!"),))(path) for path in files)


def _excluding(folder: Path, patterns: Sequence[str]) -> Callable[[Path], bool]:
    """What decides whether patterns match a file."""
    spec = pathspec.GitIgnoreSpec.from_lines(patterns)
    return lambda path: spec.match_file(Path(os.path.relpath(path, folder)).as_posix())


def reference_folders(sources: Iterable[Source]) -> Iterator[Path]:
    """The folders below which a relative reference may lead: those of the sources, and the project's."""
    for each in sources:
        yield each.folder
        if each.path.exists():
            yield each.path if each.path.is_dir() else each.path.parent


def source_files(source: Source) -> tuple[Path, ...]:
    """The files that a source names, in the order in which they are read.

    Raises:
        SchemaError: there is no such file or folder, or no schema in it.
    """
    path = source.path
    if is_python(source):
        return (path,)
    if path.is_dir():
        found = [x for x in path.rglob("*") if x.suffix.lower() in _SUFFIXES and x.is_file()]
        if not found:
            raise SchemaError(str(path), "#", "none", expected=".json, .yaml or .yml files")
    elif path.exists():
        found = [path]
    else:
        expected, advice = "a file or folder of schemas", "correct the path where it is named"
        raise SchemaError(str(path), "#", "none there", expected=expected, advice=advice)
    excluded = _excluding(source.folder, source.exclude)
    kept = tuple(sorted(each for each in found if not excluded(each)))
    if not kept:
        expected, advice = "files of schemas", "remove the source or a pattern"
        raise SchemaError(str(path), "#", "only excluded ones", expected=expected, advice=advice)
    return kept


def is_python(source: Source) -> bool:
    """Whether a source is a Python module, which is imported.

    Raises:
        SchemaError: the source has an unknown format.
    """
    if source.format not in get_args(Format):
        expected = f"one of {', '.join(get_args(Format))}"
        raise SchemaError(str(source.path), "#", f"the format {source.format!r}", expected=expected)
    return source.format == "python" or (source.format == "auto" and source.path.suffix == ".py")


def version_of(source: Source) -> ApiVersion | None:
    """The API version that a source gives to everything in it; None where it leaves that to the documents.

    Raises:
        SchemaError: that is no API version.
    """
    if source.version is None:
        return None
    try:
        return ApiVersion.parse(source.version)
    except VersionError as error:
        raise SchemaError(str(source.path), "#", str(error)) from None
