import textwrap
from pathlib import Path

import pytest

from trundle.project import Config, Project, check, load_config, load_project


class ProjectFolder:
    """A project in a folder of its own; every version has one resource type, `Person`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.configure("")

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def schema(self, version: str, properties: str, *, required: str = "[]", defs: str = "{}"):
        self.write(
            f"schemas/{version}.yaml",
            f"title: Person\ntype: object\nproperties: {properties}\n"
            f"required: {required}\n$defs: {defs}\n",
        )
        return self

    def configure(self, text: str) -> Path:
        return self.write(
            "trundle.yaml", "package: crm\nsources: [schemas]\n" + textwrap.dedent(text)
        )

    def load(self) -> Project:
        return load_project(self.folder / "trundle.yaml")

    def config(self) -> Config:
        return load_config(self.folder / "trundle.yaml")

    def findings(self, kind: str = "", *, strict: bool = False) -> list[str]:
        """What `check` finds, without the paths of the folder."""
        found = check(self.config(), strict=strict)
        return [
            str(each).replace(f"{self.folder}/", "")
            for each in found
            if not kind or each.code == kind
        ]

    def problems(self) -> list[str]:
        """What loading finds, without the paths of the folder."""
        return [str(each).replace(f"{self.folder}/", "") for each in self.load().findings]


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    return ProjectFolder(tmp_path)
