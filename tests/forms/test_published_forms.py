"""Every published form gives an object model for answers that fit: its rules, templates and functions are computed.

`TRUNDLE_PUBLISHED_PACKAGES` names a folder with packages, such as a checkout of openstack/murano-apps.
"""

import os
from pathlib import Path

import pytest
from asked_forms import counted

from trundle.forms import Filling, converted

PUBLISHED = os.environ.get("TRUNDLE_PUBLISHED_PACKAGES")
GUESSES = {
    "boolean": [True],
    "integer": [1, 3, 5],
    "network": [["net", None]],
    "password": ["Secret-1x"],
    "string": ["web", "abc1", "10.0.0.1", "http://a.b/c", "example.org"],
}


def fitting(filling, step, field):
    """Takes the first guess that a field takes; what it says of the last one if it takes none."""
    guesses = [field.initial, *GUESSES.get(field.type, ["some"])]
    findings = []
    for guess in (*guesses, *(each.value for each in field.choices)):
        findings = filling.take(step, field, guess)
        if not findings:
            break
    return findings


def headers(value):
    if isinstance(value, dict):
        if "?" in value:
            yield value["?"]
        for each in value.values():
            yield from headers(each)
    elif isinstance(value, list):
        for each in value:
            yield from headers(each)


@pytest.mark.skipif(not PUBLISHED, reason="TRUNDLE_PUBLISHED_PACKAGES names no folder")
def test_published_forms_give_models():
    files = sorted(Path(PUBLISHED).rglob("UI/*.yaml"))
    assert files
    for file in files:
        form = converted(file.read_text("utf-8"), str(file), "com.example.App").form
        filling = Filling(form, counted())
        for step in form.steps:
            filling.begin(step)
            for definition in step.fields:
                assert fitting(filling, step, filling.field(definition)) == []
            assert filling.close(step) == []
        model = filling.model()
        assert model["?"]["name"] == "App"
        found = list(headers(model))
        assert all(isinstance(each["type"], str) for each in found)
        assert len({each["id"] for each in found}) == len(found)
