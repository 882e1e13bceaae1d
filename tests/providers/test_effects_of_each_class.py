"""The classes of the bundled `io.trundle`: `deploy` sees to it that something is there, `delete` removes it at once."""

import sys

import pytest
import yaml
from engines import package

from trundle.engine import Engine
from trundle.engine.effects import MemoryJournal
from trundle.providers import FolderProvider, ProcessProvider

PACKAGE = package(
    "a",
    "1.0.0",
    {"io.trundle": "1"},
    {
        "a.Both": """
Namespaces: {=: a, t: io.trundle}
Methods:
  call:
    Scope: Public
    Arguments:
      - kind: {Contract: $.string()}
      - given: {Contract: {}}
      - method: {Contract: $.string()}
    Body:
      - Return: call($method, [], {}, new(format('io.trundle.{0}', $kind), $given))
"""
    },
)
WRITE = "from pathlib import Path; Path('p.txt').write_text('made')"
REMOVE = "from pathlib import Path; Path('p.txt').unlink()"
MANIFEST = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "given", "file", "content"),
    [
        ("Document", {"content": MANIFEST}, "configmap-m.yaml", MANIFEST),
        ("Document", {"name": "mine", "content": {"a": [1]}}, "mine.yaml", {"a": [1]}),
        ("File", {"path": "deep/f.txt", "text": "ü: 1\n"}, "deep/f.txt", {"ü": 1}),
        ("File", {"path": "empty.txt"}, "empty.txt", None),
        (
            "Process",
            {
                "name": "p",
                "arguments": ["python", "-c", WRITE],
                "undo": ["python", "-c", REMOVE],
            },
            "p.txt",
            "made",
        ),
    ],
)
def test_it_is_there_until_it_is_deleted(tmp_path, kind, given, file, content):
    providers = {
        "folder": FolderProvider(tmp_path),
        "process": ProcessProvider({"python": sys.executable}, tmp_path, seconds=60),
    }
    engine = Engine([PACKAGE], providers=providers)
    journal = MemoryJournal()

    def call(method):
        with engine.session(journal=journal) as session:
            root = session.load({"?": {"type": "a.Both"}})
            return session.call(root, "call", [kind, given, method])

    call("deploy")
    assert yaml.safe_load((tmp_path / file).read_text("utf-8")) == content
    assert call("delete") is True
    assert not (tmp_path / file).exists()
    assert call("delete") is False
    assert journal.records() == ()
