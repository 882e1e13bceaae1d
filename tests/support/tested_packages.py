"""A package with tests of every outcome, in a folder."""

from pathlib import Path

MANIFEST = """\
Format: 1.4
Type: Application
FullName: acme.Db
Version: 1.0.0
Require: {io.trundle: 1}
Classes: {acme.Db: Db.yaml, acme.DbTest: DbTest.yaml}
"""
DB = """\
Namespaces: {=: acme, t: io.trundle}
Name: Db
Properties: {name: {Contract: $.string().notNull(), Default: main}}
Methods:
  size:
    Arguments:
      - n: {Contract: $.int()}
    Body:
      - If: $n > 3
        Then: {Return: large}
      - If: $n > 1
        Then: {Return: middle}
        Else: {Return: small}
  unused:
    Body: {Return: 1}
  deploy:
    Body:
      - $m: {kind: Database, apiVersion: v1, metadata: {name: $.name}}
      - $d: new(t:Document, content => $m)
      - Return: $d.deploy().path
"""
TESTS = """\
Namespaces: {=: acme, t: io.murano.test}
Name: DbTest
Extends: t:TestFixture
Properties: {seen: {Contract: $, Usage: Runtime, Default: 0}}
Methods:
  setUp:
    Body:
      - $.db: new(Db)
      - $.seen: $.seen + 1
  testSizes:
    Body:
      - $.assertEqual(large, $.db.size(4))
      - $.assertEqual(small, $.db.size(1))
  testDeploys:
    Body:
      - $.assertEqual('database-main.yaml', $.db.deploy())
      - $.assertEqual(1, $.seen)
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    """Writes files; their paths begin in the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def database(folder: Path, tests: str = "", manifest: str = MANIFEST) -> Path:
    """The folder of a package; `tests` are more methods of its class of tests."""
    files = {"manifest.yaml": manifest, "Classes/Db.yaml": DB, "Classes/DbTest.yaml": TESTS + tests}
    return write(folder, files)
