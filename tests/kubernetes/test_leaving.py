"""`managedFields` without versions that leave; what comes out is written by hand."""

import apis
import pytest
from apis import GROUP, NEW, OLD

from trundle.api import converted_kinds
from trundle.kubernetes._removed_versions import without_leaving


@pytest.fixture(scope="module")
def kind(tmp_path_factory):
    with apis.clubs(tmp_path_factory.mktemp("leaving")) as installed:
        (found,) = converted_kinds([installed.project], installed.scheme)
        yield found


def entry(version, fields, **more):
    head = {"manager": "me", "operation": "Update", "apiVersion": f"{GROUP}/{version}"}
    return {**head, "fieldsType": "FieldsV1", "fieldsV1": fields, **more}


def moved(kind, *entries, staying=(NEW,)):
    return without_leaving(list(entries), kind, staying, kind.versions[NEW])


def test_fields_get_the_names_of_a_version_that_stays(kind):
    labels = {"f:metadata": {"f:labels": {"f:a": {}}}}
    given = entry(OLD, {"f:team": {}, "f:level": {}, **labels}, time="2026-01-01T00:00:00Z")
    renamed = {"f:group": {}, "f:level": {}, **labels}
    expected = entry(NEW, renamed, time="2026-01-01T00:00:00Z")
    assert moved(kind, given) == [expected]


def test_what_no_version_shows_is_given_up(kind):
    assert moved(kind, entry(OLD, {"f:age": {}})) == []


def test_two_entries_of_one_manager_become_one(kind):
    both = entry(NEW, {"f:group": {}, "f:note": {}})
    assert moved(kind, entry(NEW, {"f:note": {}}), entry(OLD, {"f:team": {}})) == [both]
    assert moved(kind, entry(OLD, {"f:team": {}}), entry(NEW, {"f:note": {}})) == [both]
    other = entry(NEW, {"f:note": {}}, manager="you")
    assert moved(kind, other, entry(OLD, {"f:team": {}})) == [other, entry(NEW, {"f:group": {}})]


def test_entries_of_others_stay_as_they_are(kind):
    given = [
        entry(NEW, {"f:note": {}}),
        entry("v9", {"f:x": {}}),
        {**entry(OLD, {"f:team": {}}), "apiVersion": "other.example.com/v1"},
    ]
    assert moved(kind, *given) == given
    assert moved(kind, entry(OLD, {"f:team": {}}), staying=(OLD, NEW)) == [
        entry(OLD, {"f:team": {}})
    ]
