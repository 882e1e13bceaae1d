"""What the first look into a package would wait for is read before it."""

import subprocess
import sys

PROGRAM = """
import collections.abc  # yaql needs it, and does not import it.
import sys

from yaql.language.factory import YaqlFactory

from trundle.engine.changes import package_changes
from trundle.packages import Package
from trundle.pages import prepare


def made_late(*_):
    raise AssertionError("the grammar of expressions is made while a reader waits")


def release(format, contract):
    manifest = f"Format: '{format}'\\nFullName: e\\nVersion: 1.0.0\\nClasses: {{e.E: E.yaml}}\\n"
    text = f"Name: e.E\\nProperties: {{n: {{Contract: {contract}}}}}\\n"
    return Package.from_files({"manifest.yaml": manifest, "Classes/E.yaml": text})


if sys.argv[1] == "prepared":
    prepare()
YaqlFactory.create = made_late
for format in ("1.0", "1.4"):
    releases = (release(format, each) for each in ("$.int()", "$.string()"))
    print(*(each.code for each in package_changes(*releases)))
"""


def run(how):
    command = [sys.executable, "-c", PROGRAM, how]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_no_reader_waits_for_the_grammar():
    done = run("prepared")
    assert done.returncode == 0, done.stderr
    assert len(set(done.stdout.splitlines())) == 1
    assert done.stdout.strip()


def test_without_it_the_first_reader_would():
    assert "while a reader waits" in run("unprepared").stderr
