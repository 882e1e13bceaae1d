"""Pages about packages that carry a project."""

import pytest
from site_pages import Html

from trundle.pages import describe, write_site
from trundle.version import SemVer

SCHEMA = """\
title: Queue
description: A <b>queue</b>.
type: object
required: [name]
properties:
  name: {type: string, maxLength: 9, description: Its name.}
  state: {enum: [open, closed]}
  items: {type: array, items: {$ref: '#/$defs/Item'}}
$defs:
  Item: {type: object, properties: {size: {type: integer, default: 1}, next: {$ref: '#/$defs/Item'}}}
"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "queues"
    (folder / "schemas").mkdir(parents=True)
    (folder / "app.yaml").write_text("name: acme/queues\nversion: 1.0.0\nchanges: [First]\n")
    (folder / "trundle.yaml").write_text("package: queues\nsources: [schemas]\n")
    for version in ("2024-01-01", "2025-01-01-preview"):
        (folder / f"schemas/{version}.yaml").write_text(SCHEMA)
    return folder


def test_a_resource_type_has_a_page(folder, tmp_path):
    write_site(tmp_path / "site", [describe(folder)])
    place = tmp_path / "site/acme+queues/1.0.0"
    page = Html((place / "resources/Queue.html").read_bytes())
    for each in (
        "A <b>queue</b>.",
        "2024-01-01 stored in this shape",
        "2025-01-01-preview preview",
        "name string required Its name.",
        "Constraints maxLength: 9",
        '"open" "closed"',
        "size integer Default 1",
    ):
        assert each in page.text, each
    assert "b" not in page.tags
    assert (place / "resources/Queue.svg").read_text().startswith("<svg")
    assert (
        "- `name` `string`, **required**, `maxLength: 9`: Its name."
        in (place / "resources/Queue.md").read_text()
    )
    overview = Html((place / "index.html").read_bytes()).text
    assert "2 API versions, the newest 2025-01-01-preview" in overview
    assert "First" in overview


def test_the_changes_of_a_project_are_shown(folder, tmp_path):
    write_site(tmp_path / "site", [describe(folder, (folder, SemVer(0, 9, 0)))])
    assert (
        "Nothing changed that is compared."
        in Html((tmp_path / "site/acme+queues/1.0.0/index.html").read_bytes()).text
    )


def test_schemas_in_python_are_not_run(folder, tmp_path):
    (folder / "schemas").rename(folder / "old")
    (folder / "schemas.py").write_text("raise SystemExit")
    (folder / "trundle.yaml").write_text("package: queues\nsources: [schemas.py]\n")
    release = describe(folder)
    assert release.resources == ()
    assert "trundle.yaml: schemas written in Python are not shown" in release.notes
