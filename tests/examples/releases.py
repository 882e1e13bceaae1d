"""The releases of the case study: each a project of the versions known then, generated and imported."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import yaml

from trundle.project.generated import generated_scheme
from trundle.project.generating import generate
from trundle.project.loading import Project, load_project
from trundle.runtime import Scheme
from trundle.version import ApiVersion

CRM = Path(__file__).parents[2] / "examples" / "crm"
VERSIONS = (
    "2011-01-01",
    "2012-02-02",
    "2013-03-03",
    "2014-04-04-preview",
    "2014-04-04",
    "2015-05-05",
    "2016-06-06",
    "2017-07-07",
    "2018-08-08",
    "2019-09-09",
)
PREVIEW = "2014-04-04-preview"


class Release(msgspec.Struct, frozen=True):
    """A release of the service: what its operator runs.

    Attributes:
        version: the API version that it brought.
        project: the project as it was then.
        scheme: the scheme of the package that was generated then.
    """

    version: str
    project: Project
    scheme: Scheme

    @property
    def known(self) -> tuple[str, ...]:
        """The API versions known then."""
        return VERSIONS[: VERSIONS.index(self.version) + 1]

    @property
    def served(self) -> tuple[str, ...]:
        """The API versions served then."""
        return self.scheme.served

    def store(self, document: Mapping[str, Any], base: bytes | None = None) -> bytes:
        """What the store keeps after a client wrote a document."""
        return self.scheme.encode(self.scheme.to_storage(dict(document), base))

    def read(self, stored: bytes, version: str) -> dict[str, Any]:
        """What a client of some version reads of a stored object."""
        seen = self.scheme.from_storage(stored, version)
        return msgspec.json.decode(self.scheme.encode(seen))

    def roll(self, stored: bytes) -> bytes:
        """A stored object in the storage shape of this release."""
        return self.scheme.convert_json(stored)


def project_of(version: str, folder: Path) -> Path:
    """Writes the project as it was when a version came out; gives its file.

    Rules and hooks that speak of later versions are left out, for nobody had written them.
    """
    known = VERSIONS[: VERSIONS.index(version) + 1]
    config = yaml.load((CRM / "trundle.yaml").read_text(), yaml.BaseLoader)
    config["changes"] = {
        older: rules for older, rules in config["changes"].items() if successor(older) in known
    }
    config["hooks"] = [hook for hook in config["hooks"] if hook["between"][1] in known]
    (folder / "schemas").mkdir(parents=True)
    for each in known:
        shutil.copy(CRM / "schemas" / f"{each}.yaml", folder / "schemas")
    shutil.copytree(
        CRM / "crm_hooks", folder / "crm_hooks", ignore=shutil.ignore_patterns("__pycache__")
    )
    file = folder / "trundle.yaml"
    file.write_text(yaml.safe_dump({name: value for name, value in config.items() if value}))
    return file


def successor(version: str) -> str:
    """The version that came out next."""
    return VERSIONS[VERSIONS.index(version) + 1]


@contextmanager
def released(version: str, folder: Path) -> Iterator[Release]:
    """A release, generated into a folder; its package may be used only within."""
    project = load_project(project_of(version, folder))
    generate(project)
    with generated_scheme(project.config) as scheme:
        preload(scheme)
        yield Release(version, project, scheme)


def preload(scheme: Scheme) -> None:
    """Imports every class and conversion now, while the package is importable."""
    for resource in scheme.resources.values():
        storage = scheme._load(resource.storage[resource.hub])
        for path in (*resource.versions.values(), *resource.storage.values()):
            class_ = scheme._load(path)
            if class_ is not storage:
                scheme.function(class_, storage)


def sort_key(version: str) -> ApiVersion:
    """Orders versions as the design does."""
    return ApiVersion.parse(version)
