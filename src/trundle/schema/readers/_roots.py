"""What a format module finds in a document: the resources and where their schemas stand."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from trundle.schema._kind_names import KindNames
from trundle.schema._model import Scaling
from trundle.schema.readers._facets import Dialect
from trundle.schema.readers._library import Node
from trundle.version import ApiVersion


class Root(NamedTuple):
    """A resource in one API version.

    Attributes:
        version: the API version.
        node: the schema of its root object.
        dialect: how that schema is to be read.
        resource: its name, as documents write it.
        definition: the name of its root definition.
        scope: where it may live.
        group: its API group.
        name_property: the property by which documents name it.
        file: the file that declares it.
        rank: which of several declarations in one file comes first.
        exact: whether the place of the file confirms the version.
        joins: whether one file may declare it several times, as for several scopes.
        served: whether clients are meant to use it.
        deprecated: the warning for clients that use it; empty where it is not deprecated.
        hub: whether stored objects have its shape.
        status_apart: whether its `status` is a subresource; None where the format does not say so.
        scaling: what its subresource `scale` reads and writes; None where it has none.
        selectable: the paths of what clients may select objects by.
        names: what clients of Kubernetes' conventions call it.
    """

    version: ApiVersion
    node: Node
    dialect: Dialect
    resource: str
    definition: str
    scope: str = ""
    group: str = ""
    name_property: str = "kind"
    file: str = ""
    rank: int = 0
    exact: bool = True
    joins: bool = False
    served: bool = True
    deprecated: str = ""
    hub: bool = False
    status_apart: bool | None = None
    scaling: Scaling | None = None
    selectable: tuple[str, ...] = ()
    names: KindNames = KindNames()

    @property
    def identity(self) -> tuple[str, str]:
        """What makes it the same resource: group and name without letter case."""
        return self.group.lower(), self.resource.lower()


class Request(NamedTuple):
    """What the user says about the documents of a source.

    Attributes:
        version: the API version, or None where the documents say it.
        resources: the definitions that are resources, or None for the format's own choice.
        group: the API group for resources whose document gives none.
        path: the file that the documents were read from.
    """

    version: ApiVersion | None
    resources: tuple[str, ...] | None
    group: str
    path: Path


class Found(NamedTuple):
    """What a format module found in one document.

    Attributes:
        roots: the resources.
        names: the definitions that could have been asked for as resources.
        missing: what to do if nothing else uses a document without resources; None if that is all right.
        is_manifest: whether the document is an object of Kubernetes and no schema, which is all right beside resources.
    """

    roots: tuple[Root, ...]
    names: Mapping[str, Node]
    missing: str | None = None
    is_manifest: bool = False
