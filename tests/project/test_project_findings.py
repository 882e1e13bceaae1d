from trundle.errors import Place, errors_among
from trundle.project.findings import FindingsError, ProjectCode, finding


def test_a_finding_knows_its_place_by_parts():
    found = finding(ProjectCode.HOOK, "a.yaml:3", "y", "write x", expected="x")
    assert found.place == Place("a.yaml", 3)
    assert str(found) == "a.yaml:3: expected x, found y; write x"
    pointed = finding(ProjectCode.HOOK, "schemas/a.json#/definitions/A", "that is so")
    assert pointed.place == Place("schemas/a.json", path="#/definitions/A")
    assert str(pointed) == "schemas/a.json#/definitions/A: that is so"


def test_what_a_project_cannot_be_used_for_is_one_error():
    error = finding(ProjectCode.HOOK, "", "bad")
    note = finding(ProjectCode.HOOK, "", "well", severity="note")
    assert errors_among([note, error]) == (error,)
    assert str(FindingsError([error, note])) == "bad\nwell"
