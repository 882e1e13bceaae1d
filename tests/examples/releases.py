"""The releases of the case study: each a project of the versions known then, generated and imported."""

import importlib
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import yaml

from trundle.project.generating import generate
from trundle.project.loading import Project, load_project
from trundle.runtime import Scheme

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

    Rules and hooks that speak of later versions are left out, because they did not exist yet. The hooks
    themselves are those of the example, unchanged. Each release has a package name of its own, so that
    all can be imported side by side.
    """
    known = VERSIONS[: VERSIONS.index(version) + 1]
    config = yaml.load((CRM / "trundle.yaml").read_text(), yaml.BaseLoader)
    config["package"] = package_of(version)
    config["horizon"] = {"ga": int(config["horizon"]["ga"])}
    config["changes"] = {
        older: rules for older, rules in config["changes"].items() if successor(older) in known
    }
    config["hooks"] = [hook for hook in config["hooks"] if hook["between"][1] in known]
    (folder / "schemas").mkdir(parents=True)
    for each in known:
        shutil.copy(CRM / "schemas" / f"{each}.yaml", folder / "schemas")
    if config["hooks"]:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(CRM / "crm_hooks", folder / "crm_hooks", ignore=ignore)
    file = folder / "trundle.yaml"
    file.write_text(yaml.safe_dump({name: value for name, value in config.items() if value}))
    return file


def package_of(version: str) -> str:
    """The name of a release's package."""
    return f"crm_{version.replace('-', '_')}"


def successor(version: str) -> str:
    """The version that came out next."""
    return VERSIONS[VERSIONS.index(version) + 1]


@contextmanager
def released(versions: tuple[str, ...], folder: Path) -> Iterator[Mapping[str, Release]]:
    """Some releases, each generated below a folder; their packages may be used only within."""
    path, modules = list(sys.path), set(sys.modules)
    try:
        found = {}
        for version in versions:
            project = load_project(project_of(version, folder / version))
            generate(project.config)
            sys.path.insert(0, str(project.config.output))
            importlib.invalidate_caches()
            scheme = importlib.import_module(project.config.package).scheme
            found[version] = Release(version, project, scheme)
        yield found
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if name.startswith("crm"):
                del sys.modules[name]
        importlib.invalidate_caches()
