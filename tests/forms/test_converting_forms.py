"""Forms of earlier versions become forms of the newest: comments and order stay, and what needs a person is said."""

import os
from pathlib import Path

import pytest
from asked_forms import counted

from trundle.forms import FormError, check_forms, converted, fill, form_of
from trundle.packages import Package

OLD = """\
# A comment
Version: 2.0  # the version
Application:
  ?: {type: a.App}
  name: $.main.name
  host: $.main.host
Forms:
  - main:
      fields:
        - {name: name, type: string}
        - name: floats
          # obsolete
          type: floatingip
        - {name: host, type: domain, label: it is text, required: false}
        - {name: other, type: 'floatingip'}
"""


def test_the_text_changes_where_it_must():
    found = converted(OLD, "ui.yaml", "a.App")
    expected = OLD.replace("Version: 2.0", "Version: 2.4")
    expected = expected.replace("type: floatingip", "type: boolean").replace(
        "'floatingip'", "boolean"
    )
    assert found.text == expected.replace("domain", "io.murano.windows.ActiveDirectory")
    assert found.version == "2.0"
    assert [(each.code, each.severity, each.place.line) for each in found.findings] == [
        ("form-conversion", "warning", 10)
    ]


@pytest.mark.parametrize(
    "stated", ["Format: 2.1", '"Version": "2.2"', "Version:   '2.3'", "Version: 2"]
)
def test_each_way_to_state_a_version(stated):
    found = converted(f"{stated}\nApplication: {{'?': {{type: a.App}}}}\n", "ui.yaml", "a.App")
    key = stated.partition(":")[0]
    assert found.text.startswith(key)
    assert form_of(found.text, "ui.yaml").version == (2, 4)


def test_the_newest_version_stays():
    text = "Application: {'?': {type: a.App}}\n"
    assert converted(text, "ui.yaml").text == text


def test_what_the_text_says_elsewhere_is_not_touched():
    text = OLD + "        - {name: d, type: string, description: 'type: floatingip'}\n"
    assert "'type: floatingip'" in converted(text, "ui.yaml").text


def test_a_version_that_cannot_be_replaced_is_refused():
    text = "{Version: 2.0, Application: {'?': {type: a.App}}}\n"
    with pytest.raises(FormError) as caught:
        converted(text, "ui.yaml")
    assert [each.code for each in caught.value.findings] == ["form-conversion"]


def test_text_that_is_an_expression_in_the_first_step():
    text = OLD.replace("label: it is text", "label: not-text")
    (_, found) = converted(text, "ui.yaml").findings
    assert (found.severity, found.place.line) == ("warning", 14)
    assert "`not-text`" in found.found


def test_a_converted_form_gives_the_same_model_and_a_name():
    text = OLD.replace("2.0", "2.1")
    answers = {"main": {"name": "x", "host": "id1"}}
    before = fill(form_of(text, "ui.yaml", "a.App"), answers, counted()).model
    after = fill(converted(text, "ui.yaml", "a.App").form, answers, counted()).model
    assert after["?"].pop("name") == "App"
    assert after == before


MANIFEST = "FullName: a.App\nVersion: 1.0.0\nType: Application\nUI: ui.yaml\n"


def test_a_package_is_checked_with_its_forms():
    package = Package.from_files({"manifest.yaml": MANIFEST, "UI/ui.yaml": "Version: 1.0\n"})
    (finding,) = check_forms(package)
    assert (finding.code, finding.place.file, finding.place.line) == (
        "form-version",
        "UI/ui.yaml",
        1,
    )
    binary = Package.from_files({"manifest.yaml": MANIFEST, "UI/ui.yaml": b"\xff\xfe\x00"})
    assert [each.severity for each in check_forms(binary)] == ["error"]


PUBLISHED = os.environ.get("TRUNDLE_PUBLISHED_PACKAGES")
FOR_PEOPLE = {"Cassandra/package/UI/ui.yaml", "Windows/ActiveDirectory/package/UI/ui.yaml"}


@pytest.mark.skipif(not PUBLISHED, reason="TRUNDLE_PUBLISHED_PACKAGES names no folder")
def test_published_forms_are_converted():
    warned = set()
    for file in sorted(Path(PUBLISHED).rglob("UI/*.yaml")):
        name = file.relative_to(PUBLISHED).as_posix()
        text = file.read_text("utf-8")
        found = converted(text, name, "com.example.App")
        changed = [
            (old, new)
            for old, new in zip(text.splitlines(), found.text.splitlines(), strict=True)
            if old != new
        ]
        assert [old.split(":")[0] for old, _ in changed] == ["Version"]
        if any(each.severity == "warning" for each in found.findings):
            warned.add(name)
    assert warned == FOR_PEOPLE
