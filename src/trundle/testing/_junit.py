"""Outcomes in the XML of JUnit, as servers of continuous integration read it."""

import re
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from trundle.testing._outcome import CaseOutcome, Status

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(outcomes: Iterable[CaseOutcome]) -> bytes:
    """A document with a suite for each class of tests.

    Characters that XML does not have are replaced.
    """
    suites: dict[tuple[str, str], list[CaseOutcome]] = {}
    for each in outcomes:
        suites.setdefault((each.case.package, each.case.class_name), []).append(each)
    root = ET.Element("testsuites", _counts([each for one in suites.values() for each in one]))
    for (package, name), found in sorted(suites.items()):
        suite = ET.SubElement(
            root, "testsuite", {"name": name, "package": package, **_counts(found)}
        )
        for each in sorted(found, key=lambda one: one.case.line):
            _add(suite, each)
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _add(suite: ET.Element, outcome: CaseOutcome) -> None:
    case = outcome.case
    attributes = {
        "classname": case.class_name,
        "name": case.method or "(the class)",
        "file": case.file,
        "line": str(case.line),
        "time": f"{outcome.seconds:.3f}",
    }
    entry = ET.SubElement(suite, "testcase", attributes)
    if outcome.status is not Status.PASSED:
        kind = "failure" if outcome.status is Status.FAILED else "error"
        problem = ET.SubElement(entry, kind, {"message": _text(outcome.message), "type": kind})
        problem.text = _text(outcome.details)
    if outcome.log:
        ET.SubElement(entry, "system-out").text = _text(outcome.log)


def _counts(outcomes: list[CaseOutcome]) -> dict[str, str]:
    return {
        "tests": str(len(outcomes)),
        "failures": str(sum(each.status is Status.FAILED for each in outcomes)),
        "errors": str(sum(each.status is Status.ERROR for each in outcomes)),
        "time": f"{sum(each.seconds for each in outcomes):.3f}",
    }


def _text(value: str) -> str:
    return _NOT_XML.sub("\ufffd", value)
