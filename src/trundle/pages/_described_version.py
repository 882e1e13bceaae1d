"""What the pages of one version show, read from the folder of the package."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from trundle.engine import ClassOutline, outline, prepare_classes, required_packages
from trundle.packages import Bump, Manifest, Package
from trundle.project import (
    ProjectError,
    compare_packages,
    load_config,
    load_parts,
    projects_in,
)
from trundle.report import spell, version_map, version_map_svg
from trundle.schema import (
    ABSENT,
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Scalar,
    Schema,
    SchemaError,
    Type,
    Union,
)
from trundle.schema.readers import is_python
from trundle.version import SemVer


class Field(msgspec.Struct, frozen=True):
    """A property of a resource type.

    Attributes:
        name: its name.
        type: its type, in a word or two.
        required: whether it must be given.
        default: its default as JSON; None where there is none.
        doc: what it is for; may be empty.
        constraints: what else its values satisfy, as `maxLength: 9`.
    """

    name: str
    type: str
    required: bool
    default: str | None
    doc: str
    constraints: tuple[str, ...]


class Definition(msgspec.Struct, frozen=True):
    """An object or an enum of a resource type.

    Attributes:
        name: its name.
        doc: what it is for; may be empty.
        fields: the properties of an object.
        values: the values of an enum, as JSON.
    """

    name: str
    doc: str
    fields: tuple[Field, ...] = ()
    values: tuple[str, ...] = ()


class ApiVersionText(msgspec.Struct, frozen=True):
    """An API version of a resource type.

    Attributes:
        name: the version.
        notes: what is to be known of it, as `preview` or `no longer served`.
    """

    name: str
    notes: tuple[str, ...]


class ResourceType(msgspec.Struct, frozen=True):
    """A resource type of a project.

    Attributes:
        name: its name.
        versions: its API versions, the newest first.
        newest: the API version whose definitions are shown.
        definitions: the root object first, then what it leads to.
        picture: its version map as SVG.
    """

    name: str
    versions: tuple[ApiVersionText, ...]
    newest: str
    definitions: tuple[Definition, ...]
    picture: str


class DescribedVersion(msgspec.Struct, frozen=True):
    """A version of a package, as its pages show it.

    Attributes:
        manifest: what it says about itself.
        digest: the digest of its archive.
        classes: its classes.
        resources: its resource types.
        bump: what changed since the version before; None where that was not given.
        notes: what could not be read.
        required: the packages that it requires, of which there are pages as well.
    """

    manifest: Manifest
    digest: str
    classes: tuple[ClassOutline, ...] = ()
    resources: tuple[ResourceType, ...] = ()
    bump: Bump | None = None
    notes: tuple[str, ...] = ()
    required: tuple[Package, ...] = ()

    @property
    def name(self) -> str:
        """The name of the package."""
        return self.manifest.name

    @property
    def version(self) -> SemVer:
        """The version of the package."""
        return self.manifest.version

    @property
    def title(self) -> str:
        """What people call the package."""
        return self.manifest.title or self.manifest.name


def describe(
    folder: Path, before: tuple[Path, SemVer] | None = None, among: Iterable[Package] = ()
) -> DescribedVersion:
    """What the pages of a version show. Nothing of the package is run.

    Args:
        folder: the folder of the package.
        before: the folder and the version of the release before; None where there is none.
        among: packages whose pages are in the same site; those that it requires are linked to.

    Raises:
        PackageError: the manifest cannot be used, or the folder holds what cannot be packed.
        ConfigError: the file of a project cannot be used.
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas, or a lock cannot be read.
    """
    package = Package.from_folder(folder)
    resources: list[ResourceType] = []
    notes: list[str] = []
    for name in projects_in(folder):
        config = load_config(folder / name)
        if any(is_python(source) for source in config.sources):
            notes.append(f"{name}: schemas written in Python are not shown")
            continue
        resources += _resource_types(folder / name)
    bump = None
    if before is not None:
        try:
            bump = compare_packages(before[0], folder, before[1])
        except (SchemaError, ProjectError) as error:
            reason = str(error).replace(f"{before[0]}/", "")
            notes.append(f"not compared with {before[1]}, which cannot be read: {reason}")
    required = required_packages(package, among)
    classes = outline(package, required) if package.classes else ()
    ordered = tuple(sorted(resources, key=lambda each: each.name.casefold()))
    return DescribedVersion(
        package.manifest, package.digest, classes, ordered, bump, tuple(notes), required
    )


def prepare() -> None:
    """Reads what all descriptions need, so that no reader of a server waits for that."""
    import trundle.engine.changes  # noqa: F401, PLC0415 - commands need it seldom

    prepare_classes()


def _resource_types(path: Path) -> Iterator[ResourceType]:
    config = msgspec.structs.replace(load_config(path), hooks=())  # No code is run.
    parts = load_parts(config)
    for part, project in parts.items():
        evolution = project.evolution
        schemas = {each.version: each for each in project.schemas}
        for each in evolution.resources:
            drawn = version_map(evolution, each.name, config.horizon)
            newest = max(each.resources)
            yield ResourceType(
                name=f"{part}/{each.name}" if len(parts) > 1 else each.name,
                versions=tuple(
                    ApiVersionText(
                        str(one.version),
                        tuple(
                            note
                            for note, holds in (
                                ("preview", one.version.preview),
                                ("no longer served", not one.served),
                                ("stored in this shape", one.hub),
                                ("deprecated", bool(one.deprecated)),
                            )
                            if holds
                        ),
                    )
                    for one in reversed(drawn.versions)
                ),
                newest=str(newest),
                definitions=tuple(_definitions(schemas[newest], each.resources[newest].root)),
                picture=version_map_svg(drawn),
            )


def _definitions(schema: Schema, root: str) -> Iterator[Definition]:
    """The definitions that a root object leads to, itself first."""
    keys = {root: None}
    for key in (queue := [root]):
        found = schema.definitions[key]
        match found:
            case ObjectType():
                fields = tuple(_field(each, schema) for each in found.properties)
                yield Definition(found.name, found.doc, fields=fields)
                types = [each.type for each in found.properties]
                if found.additional is not None:
                    types.append(found.additional)
                named = (key for each in types for key in _references(each))
                new = dict.fromkeys(key for key in named if key not in keys)
                keys |= new
                queue += new
            case EnumType():
                values = tuple(msgspec.json.encode(each).decode() for each in found.values)
                yield Definition(found.name, found.doc, values=values)


def _references(type_: Type) -> Iterator[str]:
    """The keys of the definitions that a type names."""
    match type_:
        case Ref(key):
            yield key
        case ListOf(items):
            yield from _references(items)
        case MapOf(values):
            yield from _references(values)
        case Nullable(inner):
            yield from _references(inner)
        case Union(variants):
            for each in variants:
                yield from _references(each)
        case Scalar() | FreeForm():
            pass


def _field(declared: Property, schema: Schema) -> Field:
    default = declared.default
    return Field(
        name=declared.name,
        type=spell(declared.type, schema),
        required=declared.required,
        default=None if default is ABSENT else msgspec.json.encode(default).decode(),
        doc=declared.doc,
        constraints=tuple(
            f"{key}: {msgspec.json.encode(value).decode()}" for key, value in declared.constraints
        ),
    )
