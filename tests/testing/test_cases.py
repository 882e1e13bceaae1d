"""Which methods are tests, and which of them names mean."""

import pytest
from engines import package

from trundle.engine import Engine
from trundle.testing import cases_in, chosen
from trundle.testing._errors import NoTestError

FIXTURE = "Extends: io.murano.test.TestFixture\n"
METHODS = """\
Methods:
  setUp:
    Body: {Return: 1}
  testOne:
    Body: {Return: 1}
  testament:
    Body: {Return: 1}
  test_two:
    Body: {Return: 1}
  test3:
    Body: {Return: 1}
  test:
    Body: {Return: 1}
  notest:
    Body: {Return: 1}
"""


def found(**classes):
    made = package("a", classes={f"a.{name}": text for name, text in classes.items()})
    with Engine([made]).session() as session:
        return cases_in(session, made)


def names(cases):
    return [each.name for each in cases]


def test_methods_that_begin_with_test_and_no_small_letter_are_tests():
    cases = found(T=FIXTURE + METHODS)
    assert names(cases) == ["a.T.testOne", "a.T.test_two", "a.T.test3", "a.T.test"]
    assert (cases[0].file, cases[0].line, cases[0].package) == ("Classes/class0.yaml", 6, "a/1.0.0")


def test_classes_that_extend_no_fixture_have_none():
    assert found(T=METHODS) == []


def test_a_class_has_its_own_tests_and_not_those_it_inherits():
    assert names(
        found(T=FIXTURE + METHODS, U="Extends: a.T\nMethods: {testMore: {Body: {Return: 1}}}")
    )[-1:] == ["a.U.testMore"]
    assert len(found(T=FIXTURE + METHODS, U="Extends: a.T\n")) == 4


def test_a_class_that_cannot_be_built_is_a_case_that_fails():
    cases = found(T=FIXTURE + METHODS, Z="Extends: a.Nothing\n")
    assert (cases[-1].class_name, cases[-1].method, cases[-1].name) == ("a.Z", "", "a.Z")


def test_names_are_classes_methods_both_or_patterns_and_the_order_stays():
    cases = found(T=FIXTURE + METHODS, U=FIXTURE + METHODS)
    assert chosen(cases, []) == cases
    assert names(chosen(cases, ["a.U"])) == names(cases)[4:]
    assert names(chosen(cases, ["testOne"])) == ["a.T.testOne", "a.U.testOne"]
    assert names(chosen(cases, ["a.U.test3", "a.T.testOne"])) == ["a.T.testOne", "a.U.test3"]
    assert names(chosen(cases, ["test*o*"])) == ["a.T.test_two", "a.U.test_two"]


@pytest.mark.parametrize("name", ["testOn", "a.t.testOne", "", "b.*"])
def test_a_name_that_means_none_is_refused(name):
    with pytest.raises(NoTestError, match="expected a test, a class of tests or a pattern"):
        chosen(found(T=FIXTURE + METHODS), ["testOne", name])


def test_a_name_that_is_near_none_is_answered_with_each_class_once():
    with pytest.raises(NoTestError, match=r"found zz; name one of a\.T, a\.U$"):
        chosen(found(T=FIXTURE + METHODS, U=FIXTURE + METHODS), ["zz"])
