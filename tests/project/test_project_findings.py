import pytest

from trundle.project.findings import Finding, FindingsError, did_you_mean, errors_among, listed


def test_a_finding_reads_as_one_line():
    found = Finding(where="a.yaml:3", what="expected x, found y", advice="write x", kind="hook")
    assert str(found) == "a.yaml:3: expected x, found y; write x"
    assert str(Finding(where="", what="that is so", severity="note", kind="lock")) == "that is so"


def test_errors_are_told_from_notes():
    error = Finding(where="", what="bad", kind="hook")
    note = Finding(where="", what="well", severity="note", kind="hook")
    assert errors_among([note, error]) == (error,)
    assert str(FindingsError([error, note])) == "bad\nwell"


@pytest.mark.parametrize(
    ("name", "known", "advice"),
    [
        ("persom", ["Person", "Dog"], "did you mean Person?"),
        ("x", ["Person", "Dog"], "write one of Dog, Person"),
        ("x", [], "remove it"),
    ],
)
def test_advice_names_what_is_there(name, known, advice):
    assert did_you_mean(name, known) == advice


def test_long_lists_are_cut():
    assert listed("dcba") == "a, b, c, d"
    assert listed("dcba", 2) == "a, b, and 2 more"
