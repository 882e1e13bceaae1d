"""The forms of a package: which there are, and which one is meant."""

import pytest

from trundle.forms import FormChoiceError, form_of_package
from trundle.packages import Package

FORM = "Version: 2\nApplication:\n  ?:\n    type: acme.web\nForms:\n- {name}:\n    fields:\n    - name: size\n      type: string\n"


def package(*forms, listed=()):
    manifest = "Format: 1.4\nType: Application\nFullName: acme.web\nVersion: 1.0.0\n"
    if listed:
        manifest += f"UI: [{', '.join(listed)}]\n"
    files = {f"UI/{each}": FORM.format(name=each.partition(".")[0]) for each in forms}
    return Package.from_files({"manifest.yaml": manifest, **files})


def step(found):
    """The first step; a form of version 2 has one more, for the name."""
    return found.form.steps[0].name


def test_the_usual_file_is_the_form():
    assert step(form_of_package(package("ui.yaml"))) == "ui"


@pytest.mark.parametrize("name", ["other.yaml", "UI/other.yaml", None])
def test_a_manifest_names_another_file(name):
    assert step(form_of_package(package("other.yaml", listed=["other.yaml"]), name)) == "other"


def test_of_several_one_is_named():
    several = package("one.yaml", "other.yaml", listed=["one.yaml", "other.yaml"])
    assert step(form_of_package(several, "other.yaml")) == "other"
    with pytest.raises(FormChoiceError, match=r"found several: UI/one.yaml, UI/other.yaml; name"):
        form_of_package(several)


def test_a_package_without_forms_has_none():
    assert form_of_package(package()) is None


@pytest.mark.parametrize(
    ("forms", "words"),
    [
        ((), "expected no form of acme.web, which has none, found size.yaml; leave the form out"),
        (("ui.yaml",), "expected a form of acme.web, found size.yaml; did you mean UI/ui.yaml?"),
        (("sizes.yaml",), "found size.yaml; did you mean UI/sizes.yaml?"),
    ],
)
def test_a_name_that_no_form_has_is_refused_with_those_that_there_are(forms, words):
    with pytest.raises(FormChoiceError) as caught:
        form_of_package(package(*forms, listed=forms), "size.yaml")
    assert words in str(caught.value)
