"""Releases of a package that carries a project: published to a channel, installed and upgraded with the installed command."""

import os
import subprocess
from pathlib import Path

import msgspec
import warm
import yaml


class Releases:
    """A publisher of one package, and a machine that installs it.

    Attributes:
        classes: the files of its classes.
        folder: has the package in `package`, the registry in `registry`, the installation in `state`.
    """

    def __init__(self, folder: Path, name: str = "acme/clubs") -> None:
        self.folder = folder
        self.name = name
        self.package = folder / name.replace("/", "-")
        self.reference = f"oci:registry//{name}"
        self.state = folder / "state"
        self.classes: dict[str, str] = {}

    def trundle(
        self, *arguments, code: int | None = 0, environment=None
    ) -> subprocess.CompletedProcess:
        """Runs a command in the folder."""
        command = [*warm.script(always=True), *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, **(environment or {})},
        )
        assert code is None or done.returncode == code, (arguments, done.stdout, done.stderr)
        return done

    def release(self, version: str, schemas, *, config=None, override: str = "") -> None:
        """Publishes a release with these schemas; the lock goes on from the one before."""
        folder = self.package
        for old in folder.glob("schemas/*"):
            old.unlink()
        (folder / "schemas").mkdir(parents=True, exist_ok=True)
        (folder / "app.yaml").write_bytes(
            msgspec.json.encode(
                {"name": self.name, "version": version}
                | ({"classes": self.classes} if self.classes else {})
            )
        )
        project = {"package": "clubs", "sources": ["schemas"], **(config or {})}
        (folder / "trundle.yaml").write_text(yaml.safe_dump(project))
        for name, text in schemas.items():
            (folder / "schemas" / name).write_text(text)
        self.trundle("-C", folder, "generate")
        self.trundle("-C", folder, "lock", *(["--accept"] if override else []))
        further = ["--override", override] if override else []
        self.trundle("publish", folder, "--to", self.reference, "--channel", "stable", *further)

    def install(self) -> None:
        self.trundle("install", self.reference, "--unsigned", "--state", self.state)

    def upgrade(self, *options, **further) -> subprocess.CompletedProcess:
        return self.trundle("upgrade", *options, "--state", self.state, **further)
