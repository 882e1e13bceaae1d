"""Plans the files of a new project from the schemas that are already there."""

import contextlib
import json
import keyword
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trundle.evolution import snake
from trundle.project._config_groups import TAKEN
from trundle.project._parts import no_resources
from trundle.project._write import spell_text
from trundle.project.config import config_schema, parse_config
from trundle.project.errors import (
    AlreadyExistsError,
    FileCode,
    OutputError,
    ProjectError,
    finding,
)
from trundle.schema import Schema, group_of
from trundle.schema.readers import Catalogue, Declared, Source

CONFIG_NAME = "trundle.yaml"
"""How a project file is called."""

SCHEMA_NAME = ".trundle/schema.json"
"""Where the JSON Schema of the project file stands, for editors; the project file's first line names it."""

_HEAD = """\
# yaml-language-server: $schema={schema}
# `trundle generate` writes this Python package from the schemas below.
package: {package}
{groups}
# Found here:
{found}
sources:
{sources}
{exclude}"""

_TAIL = """
# What schemas cannot say stands under the older of two neighbouring versions, for example:
# changes:
#   {version}:
#     {type}:
#       rename: {{oldName: newName}}

# All versions are served. To serve only the newest GA versions:
# horizon: {{ga: 4}}
"""


def plan_init(paths: Sequence[Path], package: str, folder: Path) -> Mapping[str, bytes]:
    """The files of a new project, which leaves the schemas where they are. Nothing is written.

    Args:
        paths: schema files, or folders of them.
        package: dotted name of the Python package that the project will write.
        folder: where the project file is to stand.

    Returns:
        Content by path relative to the folder: the project file, and the JSON Schema by which editors check
        and complete it, unless that stands there already.

    Raises:
        AlreadyExistsError: the folder has a project already.
        ConfigError: the package cannot have this name.
        SchemaError: a schema cannot be read.
        ProjectError: there are no schemas.
    """
    config = folder / CONFIG_NAME
    if os.path.lexists(config):
        raise AlreadyExistsError([config])
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise _no_schemas(
            missing, "write one schema for each version there, or name other files or folders"
        )
    own = (CONFIG_NAME, SCHEMA_NAME)
    catalogue = Catalogue([Source(path, exclude=own, folder=folder) for path in paths])
    selection = catalogue.select()
    catalogue.require_used(selection.files)
    schemas = selection.schemas
    if not any(schema.resources for schema in schemas):
        raise _no_schemas(paths, "name the files or folders that hold them")
    sources = [Path(os.path.relpath(path, folder)).as_posix() for path in paths]
    text = _HEAD.format(
        schema=SCHEMA_NAME,
        package=spell_text(package),
        groups=_groups(name_groups(catalogue.declared)),
        found="\n".join(f"#   {line}" for line in _summary(schemas)),
        sources="\n".join(f"  - {spell_text(source)}" for source in sources),
        exclude=_exclude(paths, folder, own),
    )
    text += _TAIL.format(
        version=schemas[0].version.text,
        type=spell_text(
            next(
                each.definitions[each.resources[0].root].name for each in schemas if each.resources
            )
        ),
    )
    content = text.encode()
    parse_config(content, config)
    schema = f"{json.dumps(config_schema(), indent=2)}\n".encode()
    files = {CONFIG_NAME: content, SCHEMA_NAME: schema}
    return {name: files[name] for name in files if not _holds(folder / name, files[name])}


def _no_schemas(paths: Sequence[Path], advice: str) -> ProjectError:
    return no_resources(", ".join(map(str, paths)) or "the arguments", advice)


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False


def _exclude(paths: Sequence[Path], folder: Path, own: Sequence[str]) -> str:
    """The line that leaves out the project's own files, where a source is a folder that contains them."""
    inner = folder.resolve()
    if not any(inner.is_relative_to(path.resolve()) for path in paths):
        return ""
    return f"exclude: [{', '.join(own)}]\n"


def name_groups(declared: Sequence[Declared]) -> Mapping[str, str]:
    """Names for the packages of several groups of resources; none where there are not several.

    The name of a namespace is its last part (`batch` for `Microsoft.Batch`), that of an API group its first
    (`cert_manager` for `cert-manager.io`). Groups that would share a name are called by all their parts. Resources without a group,
    as Kubernetes' own, are `core`; they are set apart only where one of them has a namesake.

    Returns:
        Each group as most of its resources write it, by its name, in alphabetical order.
    """
    spellings: dict[str, list[str]] = {}
    for each in declared:
        spellings.setdefault(each.group.casefold(), []).append(each.group)
    types = {(each.group.casefold(), each.resource.casefold()) for each in declared}
    apart = len(types) > len({name for _, name in types})
    if len(spellings) == 1 or ("" in spellings and not apart):
        return {}
    spaces = {each.group.casefold() for each in declared if _is_namespace(each)}
    parts = {
        key: key_parts[-1:] if key in spaces else key_parts[:1]
        for key, found in spellings.items()
        if (key_parts := (max(sorted(set(found)), key=found.count) or "core").split("."))
    }
    named: dict[str, str] = {}
    short = [_identifier(each) for each in parts.values()]
    for key, found in sorted(spellings.items()):
        group = max(sorted(set(found)), key=found.count)
        name = _identifier(parts[key])
        if short.count(name) > 1:
            name = _identifier((group or "core").split("."))
        plain, number = name, 2
        while name in named:
            name, number = f"{plain}_{number}", number + 1
        named[name] = group
    return dict(sorted(named.items()))


def _is_namespace(declared: Declared) -> bool:
    """Whether a group is the namespace of the names of its resources."""
    return declared.resource.casefold().startswith(f"{declared.group.casefold()}/")


def _identifier(parts: Sequence[str]) -> str:
    name = "_".join(snake(re.sub(r"\W", "_", part, flags=re.ASCII)) for part in parts)
    name = f"_{name}" if not name or name[0].isdigit() else name
    return f"{name}_" if keyword.iskeyword(name) or name in TAKEN else name


def _groups(named: Mapping[str, str]) -> str:
    """The lines about groups, where there are several."""
    if not named:
        return ""
    lines = "".join(f"  {name}: {spell_text(group)}\n" for name, group in named.items())
    return (
        "\n# Each group of resources becomes a package within it. Without these lines, all become one.\n"
        f"groups:\n{lines}"
    )


def write_new_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files that do not exist yet: all of them, or none.

    Raises:
        AlreadyExistsError: some exist; none is written.
        OutputError: the folder cannot be written.
    """
    existing = [folder / name for name in sorted(files) if os.path.lexists(folder / name)]
    if existing:
        raise AlreadyExistsError(existing)
    written: list[Path] = []
    try:
        for name, content in sorted(files.items()):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                written.append(path)
                file.write(content)
    except FileExistsError as error:
        _undo(written)
        raise AlreadyExistsError([Path(error.filename)]) from None
    except OSError as error:
        _undo(written)
        reason = error.strerror or str(error)
        code, expected = FileCode.NOT_WRITABLE, "a folder that can be written"
        why = finding(code, folder, expected, reason, "check its permissions and the space")
        raise OutputError(folder, [why]) from error
    except BaseException:
        _undo(written)
        raise


def _undo(written: Sequence[Path]) -> None:
    for path in written:
        with contextlib.suppress(OSError):
            path.unlink()


def _summary(schemas: Sequence[Schema]) -> Iterator[str]:
    """One line for each resource: in how many versions it is, and which are the first and the last."""
    versions: dict[tuple[str, str], list[str]] = {}
    spelled: dict[str, str] = {}
    for schema in schemas:
        for resource in schema.resources:
            key = (resource.name.casefold(), group_of(resource.name, resource.group).casefold())
            versions.setdefault(key, []).append(schema.version.text)
            spelled[resource.name.casefold()] = resource.name
    for (name, _), found in sorted(versions.items()):
        span = found[0] if len(found) == 1 else f"{len(found)} versions, {found[0]} to {found[-1]}"
        yield f"{spell_text(spelled[name])}: {span}"
