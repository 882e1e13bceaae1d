"""Outcomes as XML that others read."""

from xml.etree import ElementTree as ET

from trundle.testing import Case, CaseOutcome, Status, junit_xml


def outcome(method, status=Status.PASSED, message="", log="", class_name="a.T"):
    case = Case("a/1.0.0", class_name, method, "Classes/T.yaml", 5)
    return CaseOutcome(case, status, message, f"details of {message}" if message else "", 0.25, log)


def test_each_class_is_a_suite_with_counts():
    found = [
        outcome("testA"),
        outcome("testB", Status.FAILED, "no"),
        outcome("testC", Status.ERROR, "broken", "a line"),
        outcome("", Status.ERROR, "not built", class_name="a.U"),
    ]
    root = ET.fromstring(junit_xml(found))
    assert root.tag == "testsuites"
    assert root.attrib == {"tests": "4", "failures": "1", "errors": "2", "time": "1.000"}
    first, second = root
    assert (first.get("name"), first.get("tests"), first.get("failures")) == ("a.T", "3", "1")
    assert [each.get("name") for each in first] == ["testA", "testB", "testC"]
    assert [child.tag for each in first for child in each] == ["failure", "error", "system-out"]
    assert first[1][0].get("message") == "no"
    assert first[1][0].text == "details of no"
    assert second[0].get("name") == "(the class)"


def test_any_text_gives_xml_that_parses():
    odd = '<a> & "b" ]]> \x00\x1b[31m \ud800 \uffff ü 🙂\n\tend'
    (case,) = ET.fromstring(junit_xml([outcome("test", Status.FAILED, odd, odd)]))[0]
    text = case[0].text or ""
    assert text.startswith('details of <a> & "b" ]]> ��[31m � � ü 🙂')
    assert text.endswith("end")
