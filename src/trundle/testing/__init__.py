"""Runs the tests that packages carry, and says what came out.

A test is a method of a class that extends `io.murano.test.TestFixture`. Each runs in a session of its own, in a worker
process that is ended where it takes too long.
"""

from trundle.testing._cases import Case, cases_in, chosen
from trundle.testing._covered import Covered, covered_rows, covered_text
from trundle.testing._dependents import Dependent, Dependents, dependents
from trundle.testing._junit import junit_xml
from trundle.testing._outcome import CaseOutcome, Status
from trundle.testing._running import TestRun, run_tests

__all__ = [
    "Case",
    "CaseOutcome",
    "Covered",
    "Dependent",
    "Dependents",
    "Status",
    "TestRun",
    "cases_in",
    "chosen",
    "covered_rows",
    "covered_text",
    "dependents",
    "junit_xml",
    "run_tests",
]
