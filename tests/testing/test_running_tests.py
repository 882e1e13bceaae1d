"""What comes out of tests: each alone, whatever the ones beside it do."""

import re

import pytest
from tested_packages import TESTS, database

from trundle.engine import Engine, Limits
from trundle.packages import Package
from trundle.testing import Covered, Status, TestRun, cases_in, covered_rows, run_tests


def outcomes(folder, tests="", **options):
    made = Package.from_folder(database(folder, tests))
    with Engine([made]).session() as session:
        cases = cases_in(session, made)
    found = list(run_tests(TestRun((made.archive,), **{"jobs": 1, **options}), cases))
    assert sorted(each.case for each in found) == sorted(cases)
    return {each.case.method: each for each in found}


@pytest.mark.full
def test_each_test_has_an_outcome_with_what_is_wrong(tmp_path):
    tests = """\
  testFails:
    Body:
      - $.assertEqual(large, $.db.size(1), 'of one')
  testThrows:
    Body: {Throw: Oops, Message: why}
  testUnread:
    Body:
      - While: 'true'
        Do: {$x: 1}
  testLogs:
    Body:
      - logger(x).info('hello {0}', 1)
  testCatches:
    Body:
      Try: [{Throw: Oops}]
      Catch: {Do: []}
"""
    found = outcomes(tmp_path, tests)
    assert {name: each.status.value for name, each in found.items()} == {
        "testSizes": "passed",
        "testDeploys": "passed",
        "testFails": "failed",
        "testThrows": "error",
        "testUnread": "error",
        "testLogs": "passed",
        "testCatches": "passed",
    }
    failed = found["testFails"]
    assert "of one: expected 'large', found 'small'" in failed.message
    line = database(tmp_path / "again", tests).joinpath("Classes/DbTest.yaml").read_text()
    at = line[: line.index("'of one'")].count("\n") + 1
    assert f"in acme.DbTest.testFails (acme.Db/1.0.0, Classes/DbTest.yaml:{at})" in failed.details
    assert "acme.Oops: why" in found["testThrows"].details
    assert "hello 1" in found["testLogs"].log
    assert found["testSizes"].message == found["testSizes"].details == ""


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "body", "status", "runs"),
    [
        ("setUp", "{Throw: Oops}", Status.ERROR, []),
        ("tearDown", "{Throw: Oops}", Status.ERROR, ["testOnly"]),
        ("tearDown", "[$.assertTrue(false)]", Status.FAILED, ["testOnly"]),
        ("tearDown", "[logger(t).info('tearDown')]", Status.PASSED, ["testOnly", "tearDown"]),
    ],
)
def test_set_up_and_tear_down(tmp_path, method, body, status, runs):
    text = (
        "Namespaces: {=: acme, t: io.murano.test}\nName: DbTest\nExtends: t:TestFixture\nMethods:\n"
    )
    text += f"  testOnly: {{Body: [logger(t).info(testOnly)]}}\n  {method}: {{Body: {body}}}\n"
    folder = database(tmp_path)
    (folder / "Classes/DbTest.yaml").write_text(text)
    made = Package.from_folder(folder)
    with Engine([made]).session() as session:
        cases = cases_in(session, made)
    (found,) = run_tests(TestRun((made.archive,), jobs=1), cases)
    assert found.status is status
    assert [each.rpartition(" ")[2] for each in found.log.splitlines()] == runs


@pytest.mark.full
def test_tear_down_runs_after_a_test_that_fails_and_both_errors_are_shown(tmp_path):
    tests = "  tearDown: {Body: {Throw: Late, Message: tearing}}\n  testFails: {Body: [$.assertTrue(false)]}\n"
    found = outcomes(tmp_path, tests)["testFails"]
    assert found.status is Status.ERROR
    assert "expected what is true" in found.message
    assert "acme.Late: tearing" in found.details


@pytest.mark.full
def test_no_test_sees_what_another_one_left(tmp_path):
    # The same documents are deployed, a mock is injected and a static property changed in each; one after the other in one process
    tests = "".join(
        f"""\
  test{number}:
    Body:
      - $.assertEqual(small, $.db.size(1))
      - $.assertEqual('database-main.yaml', $.db.deploy())
      - inject(Db, size, mocked)
      - $.assertEqual(mocked, $.db.size(1))
"""
        for number in range(5)
    )
    found = outcomes(tmp_path, tests)
    assert [each.message for each in found.values()] == [""] * 7


@pytest.mark.full
def test_a_test_that_does_not_end_is_ended_and_the_others_run(tmp_path):
    tests = "  testSleeps: {Body: [sleep(3600)]}\n  testAfter: {Body: [$.assertTrue(true)]}\n"
    found = outcomes(tmp_path, tests, seconds=3.0)
    assert found["testSleeps"].status is Status.ERROR
    where = r"\(Classes/DbTest.yaml:\d+: acme.Db/1.0.0 acme.DbTest.testSleeps\)"
    assert re.fullmatch(f"it took longer than 3 seconds {where}", found["testSleeps"].message)
    assert 3 <= found["testSleeps"].seconds < 60
    assert found["testAfter"].status is Status.PASSED


@pytest.mark.full
def test_a_test_that_takes_all_memory_leaves_it_to_the_next_one(tmp_path):
    """They run in one process: what errors hold was not let go, and a test that does nothing wrong ended in `limit`, or the process."""
    tests = """\
  testAll:
    Body:
      - $s: !yaql '"a" * 4000000'
      - $l: []
      - While: 1 > 0
        Do: [{$l: !yaql '$l + [$s + str($l.len())]'}]
  testAnother:
    Body:
      - $s: !yaql '"a" * 4000000'
      - $.assertEqual(4000001, !yaql 'len($s + b)')
""".replace("!yaql 'len($s + b)'", "len($s + b)")
    found = outcomes(tmp_path, tests, limits=Limits(memory=200 * 1024 * 1024))
    assert found["testAll"].status is Status.ERROR
    assert "more memory than it may" in found["testAll"].details
    assert {each.status for name, each in found.items() if name != "testAll"} == {Status.PASSED}


@pytest.mark.full
def test_what_a_test_logs_is_shown_up_to_a_length(tmp_path):
    """A hundred large messages were more than a process may take, and ended the command without any outcome."""
    tests = """\
  testLogs:
    Body:
      - $s: !yaql '"a" * 4000000'
      - Repeat: 100
        Do: [logger(x).info($s)]
"""
    found = outcomes(tmp_path, tests)["testLogs"]
    assert found.status is Status.PASSED
    assert len(found.log) < 2_000_000
    assert found.log.count("\n") == 99


@pytest.mark.full
def test_limits_hold_for_a_test(tmp_path):
    tests = "  testLoops:\n    Body:\n      - While: 1 = 1\n        Do: [{$x: 1}]\n"
    found = outcomes(tmp_path, tests, limits=Limits(steps=1000))["testLoops"]
    assert found.status is Status.ERROR
    assert "more than 1000 steps" in found.message


@pytest.mark.full
@pytest.mark.parametrize("jobs", [1, 3])
def test_coverage_knows_what_ran_and_what_did_not(tmp_path, jobs):
    found = outcomes(tmp_path, jobs=jobs, coverage=True)
    covered = Covered.of(found.values())
    # Line 12 is what `middle` returns, line 14 the method that nothing calls; both are counted by hand
    assert covered_rows(covered) == [("acme.Db", "2/3", "3/4", "12 14")]
    missed = covered.to_plain()["acme.Db"]["missed"]
    assert [(each["line"], each["kind"]) for each in missed] == [(12, "block"), (14, "method")]


CONSTRUCTS = """\
Namespaces: {=: acme}
Name: Db
Methods:
  chosen:
    Arguments: [{n: {Contract: $.int()}}]
    Body:
      - If: $n > 1
        Then: [{Return: big}]
        Else: [{Return: small}]
  loops:
    Body:
      - For: x
        In: []
        Do: [$.unused()]
      - While: 1 > 2
        Do: [$.unused()]
      - Repeat: 1
        Do: [{$y: 1}]
  tried:
    Body:
      - Try: [{$y: 1}]
        Catch:
          - With: Oops
            Do: [{Return: 1}]
        Else: [{$z: 1}]
        Finally: [{$w: 1}]
  matched:
    Arguments: [{v: {Contract: $}}]
    Body:
      - Match:
          a: [{Return: A}]
          b: [{Return: B}]
        Value: $v
        Default: [{Return: D}]
  switched:
    Body:
      - Switch:
          1 > 0: [{$x: 1}]
          1 > 2: [{$x: 2}]
        Default: [{$x: 3}]
  unmet:
    Body:
      - If: 1 > 2
        Then: [{$x: 2}]
  shared: {Usage: Static, Body: [{Return: 1}]}
  doubled: {Usage: Extension, Arguments: [{x: {Contract: $.int()}}], Body: [{Return: $x * 2}]}
  unused: {Body: [{Return: 1}]}
  declared:
"""


@pytest.mark.full
def test_each_construct_is_counted_as_by_hand(tmp_path):
    fixture = """\
Namespaces: {=: acme, t: io.murano.test}
Name: DbTest
Import: Db
Extends: t:TestFixture
Methods:
  testAll:
    Body:
      - $d: new(Db)
      - $d.chosen(2)
      - $d.loops()
      - $d.tried()
      - $d.matched(b)
      - $d.switched()
      - $d.unmet()
      - :Db.shared()
      - 5.doubled()
"""
    folder = database(tmp_path)
    (folder / "Classes/Db.yaml").write_text(CONSTRUCTS)
    (folder / "Classes/DbTest.yaml").write_text(fixture)
    made = Package.from_folder(folder)
    with Engine([made]).session() as session:
        cases = cases_in(session, made)
    found = list(run_tests(TestRun((made.archive,), jobs=1, coverage=True), cases))
    assert [each.message for each in found] == [""]
    # Of the methods with a body all but `unused`. Of the blocks: one of two in `chosen`, of three in `loops`, `matched` and
    # `switched`, three of four in `tried`; and in `unmet` the condition that is not met, and not the block
    ((name, methods, branches, lines),) = covered_rows(Covered.of(found))
    assert (name, methods, branches) == ("acme.Db", "8/9", "8/17")
    assert lines == "9 14 16 24 31 34 39 40 44 47"


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "status", "words"),
    [
        ("testTakes: {Arguments: [{x: {Contract: $.int().notNull()}}], Body: []}", Status.ERROR, "testTakes(x)] expected a value"),
        ("testTakes: {Arguments: [{x: {Contract: $.int()}}], Body: [!yaql '$.assertEqual(null, $x)']}", Status.PASSED, ""),
        ("testShared: {Usage: Static, Body: [!yaql '$.assertTrue(isObject($))']}", Status.ERROR, "assertTrue"),
        ("testNothing:", Status.PASSED, ""),
    ],
)  # fmt: skip
def test_what_a_test_may_be(tmp_path, method, status, words):
    found = outcomes(tmp_path, f"  {method}\n")[method.partition(":")[0]]
    assert found.status is status
    assert words in found.message


@pytest.mark.full
def test_a_fixture_is_made_as_any_object_is(tmp_path):
    folder = database(tmp_path)
    text = TESTS.replace("Properties: {", "Properties: {needed: {Contract: $.int().notNull()}, ")
    (folder / "Classes/DbTest.yaml").write_text(text)
    made = Package.from_folder(folder)
    with Engine([made]).session() as session:
        cases = cases_in(session, made)
    for each in run_tests(TestRun((made.archive,), jobs=1), cases):
        assert each.status is Status.ERROR
        assert "[acme.DbTest.needed] expected a value, found nothing" in each.message


@pytest.mark.full
def test_without_coverage_nothing_is_noted(tmp_path):
    found = outcomes(tmp_path)
    assert all(not each.ran and not each.known for each in found.values())


def test_the_fixture_of_these_tests_has_the_tests_that_they_name():
    assert TESTS.count("  test") == 2
