"""What an operator keeps and loads of a package whose hooks are static methods."""

import json

import pytest
from crm_packages import VERSIONS, write_package, write_project

from trundle.kubernetes.operator import SchemaLoader
from trundle.kubernetes.operator._schemas import SchemasError, _files, digest_of, packed

KNOWN = VERSIONS[1:5]
OLD, NEW = "2013-03-03", "2014-04-04"


@pytest.fixture
def loader():
    with SchemaLoader() as found:
        yield found


def person(**names):
    return {
        "apiVersion": OLD,
        "kind": "Person",
        "id": "6f1d5c1e-0b54-4a53-9d0c-000000000006",
        **names,
    }


@pytest.mark.full
def test_classes_go_along_and_objects_convert_by_them(tmp_path, loader):
    content = packed(write_package(tmp_path / "crm", "1.0.0", *KNOWN))
    assert {each for each in _files(content) if not each.startswith("schemas/")} == {
        "Classes/AddressLines.yaml",
        "Classes/PersonNames.yaml",
        "manifest.yaml",
        "trundle.yaml",
    }
    scheme = loader.load(content).scheme
    old = person(firstName="Donald", middleName="Fauntleroy", lastName="Duck")
    new = json.loads(scheme.convert_json(json.dumps(old).encode(), NEW))
    assert new["legalName"] == "Donald Fauntleroy Duck"
    back = json.loads(scheme.convert_json(json.dumps(new).encode(), OLD))
    assert back == old


def test_a_release_in_which_only_its_version_differs_has_the_same_schemas(tmp_path):
    one, other = (
        digest_of(packed(write_package(tmp_path / each, each, *KNOWN)))
        for each in ("1.0.0", "1.0.1")
    )
    assert one == other


def test_a_release_with_another_class_has_other_schemas(tmp_path):
    folder = write_package(tmp_path / "crm", "1.0.0", *KNOWN)
    before = digest_of(packed(folder))
    file = folder / "Classes" / "PersonNames.yaml"
    file.write_text(file.read_text().replace("join(' ')", "join('  ')"))
    assert digest_of(packed(folder)) != before


def test_classes_do_not_go_along_where_no_hook_is_in_them(tmp_path):
    folder = write_package(tmp_path / "crm", "1.0.0", *VERSIONS[:3])
    assert not [each for each in _files(packed(folder)) if each.startswith("Classes/")]


def test_a_class_that_is_not_there_makes_the_schemas_unusable(tmp_path, loader):
    folder = write_package(tmp_path / "crm", "1.0.0", *KNOWN)
    manifest = folder / "manifest.yaml"
    manifest.write_text(manifest.read_text().replace("crm.PersonNames", "crm.PeoplesNames"))
    with pytest.raises(SchemasError, match=r"the class com\.example\.crm\.PersonNames") as refused:
        loader.load(packed(folder))
    assert refused.value.code == "unusable-schemas"


def test_hooks_in_python_are_refused_with_what_to_write_instead(tmp_path, loader):
    folder = write_project(tmp_path / "crm", *KNOWN)
    with pytest.raises(SchemasError, match="as static methods of classes in the package"):
        loader.load(packed(folder))
