from pathlib import Path

import pytest

from trundle.schema import Schema
from trundle.schema.readers import Source, read_schemas


class Workspace:
    """A folder for the files of one test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def read_all(self) -> tuple[Schema, ...]:
        return read_schemas([Source(self.folder)])

    def read(self, text: str, name: str = "v1.yaml", **options: object) -> Schema:
        (schema,) = read_schemas([Source(self.write(name, text), **options)])
        return schema


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)
