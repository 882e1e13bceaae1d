"""The hooks of the example as static methods of a package: they come to the same as those in Python, for any document."""

import importlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from crm_packages import VERSIONS, write_package
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from releases import CRM

from trundle import verify
from trundle.errors import errors_among
from trundle.project.checking import check
from trundle.project.config import load_config
from trundle.project.generating import generate
from trundle.project.lock_change import lock
from trundle.project.static_methods import APART

ALL = bool(os.environ.get("TRUNDLE_TESTS"))
STATIC = ("crm_here", "crm_apart")
NAMES = st.lists(
    st.sampled_from(["Ann", "Bea", "von", "Drake", "", " ", "\t", "Zoë"]), max_size=4
).map(" ".join)
PARTS = st.sampled_from(["Duckburg", "1 Webfoot Walk", "", " ", " Duckburg", "Calisota"])
LINES = st.lists(PARTS, max_size=4).map(",".join)
NAMED = {
    "2011-01-01": ("firstName", "lastName"),
    "2013-03-03": ("firstName", "middleName", "lastName"),
    "2014-04-04": ("legalName", "familyName", "knownAs", "alphaKey"),
    "2019-09-09": ("legalName", "familyName", "knownAs", "sortKey"),
}
"""The properties that hooks read and write, in versions with others."""


def scheme_of(folder: Path, name: str):
    """The scheme of a project, generated under a name."""
    file = folder / "trundle.yaml"
    file.write_text(file.read_text().replace("package: crm", f"package: {name}"))
    config = load_config(file)
    generate(config)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    return importlib.import_module(name).scheme


@pytest.fixture(scope="module")
def schemes(tmp_path_factory):
    """The schemes with hooks in Python, with static methods, and with static methods in processes of their own."""
    root = tmp_path_factory.mktemp("crm")
    path, modules = list(sys.path), set(sys.modules)
    APART.add("crm_apart")
    try:
        shutil.copytree(CRM, root / "python", ignore=shutil.ignore_patterns("crm", "__pycache__"))
        folders = {name: write_package(root / name, "1.0.0", *VERSIONS) for name in STATIC}
        yield [
            scheme_of(root / "python", "crm_python"),
            *(scheme_of(folder, name) for name, folder in folders.items()),
        ]
    finally:
        APART.discard("crm_apart")
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if name.startswith("crm"):
                del sys.modules[name]


def agree(schemes, document: bytes, base: bytes | None = None) -> bytes:
    """What all schemes store of a document, and show of that in every version."""
    stored = {each.encode(each.to_storage(json.loads(document), base)) for each in schemes}
    assert len(stored) == 1
    (kept,) = stored
    for version in VERSIONS:
        seen = {each.encode(each.from_storage(kept, version)) for each in schemes}
        assert len(seen) == 1, version
    return kept


@pytest.mark.full
@settings(
    max_examples=300 if ALL else 40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_they_come_to_the_same_for_any_documents(schemes, data):
    python = schemes[0]
    kept = None
    for _ in range(2):
        version = data.draw(st.sampled_from(VERSIONS))
        document = json.loads(python.encode(data.draw(verify.documents(python, "Person", version))))
        for name in NAMED.get(version, ()):
            document[name] = data.draw(NAMES)
        address = document.get("mailingAddress", {})
        for name, values in (("street", LINES), ("city", PARTS), ("fullAddress", LINES)):
            if name in address:
                address[name] = data.draw(values)
        kept = agree(schemes, json.dumps(document).encode(), kept)


def test_the_package_has_no_findings(tmp_path):
    folder = write_package(tmp_path / "crm", "1.0.0", *VERSIONS)
    config = load_config(folder / "trundle.yaml")
    generate(config)
    lock(config)
    assert not errors_among(check(config))
    assert (folder / "trundle.lock").read_text().count("com.example.crm.PersonNames") == 1


def converted(schemes, source, target, **properties):
    """A document at another version, the same by all schemes."""
    head = {"apiVersion": source, "kind": "Person", "id": "6f1d5c1e-0b54-4a53-9d0c-000000000006"}
    document = json.dumps({**head, **properties}).encode()
    found = {each.convert_json(document, target) for each in schemes}
    assert len(found) == 1
    return json.loads(found.pop())


@pytest.mark.full
@settings(max_examples=500 if ALL else 100, deadline=None, database=None)
@given(one=NAMES, other=NAMES, third=NAMES, line=LINES, part=PARTS)
def test_each_hook_comes_to_the_same_for_any_texts(schemes, one, other, third, line, part):
    old = {"firstName": one, "middleName": other, "lastName": third}
    converted(schemes, "2013-03-03", "2014-04-04", **old)
    new = {"knownAs": one, "legalName": f"{one} {other} {third}", "familyName": third}
    converted(schemes, "2014-04-04", "2013-03-03", **new, alphaKey=other)
    names = {**new, "sortKey": other}
    street = {"street": line, "city": part}
    converted(schemes, "2017-07-07", "2018-08-08", **names, mailingAddress=street)
    whole = {"fullAddress": line, "city": part, "country": one, "postCode": other}
    converted(schemes, "2018-08-08", "2017-07-07", **names, mailingAddress=whole)
