"""`admission` in a project file: read, refused with file and line, and held against the project by `check`."""

import pytest

from trundle.project import ConfigError, FindingsError, check, load_admission, parse_config
from trundle.version import ApiVersion

BASE = "package: crm\nsources: [schemas]\n"
GOOD = "{type: Person, version: 2013-03-03, use: 'rules:Rules'}"


def read(tmp_path, text):
    return parse_config((BASE + text).encode(), tmp_path / "trundle.yaml").admission


def test_hooks_are_read_in_their_order(tmp_path):
    other = "{type: crm/Group, version: v1, use: 'a.b:C.D'}"
    first, second = read(tmp_path, f"admission:\n  - {GOOD}\n  - {other}\n")
    assert (first.type, first.version) == ("Person", ApiVersion.parse("2013-03-03"))
    assert (first.use, first.where) == ("rules:Rules", f"{tmp_path}/trundle.yaml:4")
    assert (second.type, second.use) == ("crm/Group", "a.b:C.D")
    assert read(tmp_path, "") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{type: P, use: 'a:B'}", "the key version in an admission hook"),
        ("{type: P, version: 2, use: 'a:B'}", "an API version such as"),
        ("{type: P, version: v1, use: a.B}", "a class as package.module:Class"),
        ("{type: P, version: v1, use: '..a:B'}", "a class as package.module:Class"),
        ("{type: P, version: v1, use: 'a:B', on: create}", "one of the keys type, version, use"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(tmp_path, text, said):
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, f"admission:\n  - {text}\n")
    assert raised.value.findings[0].place.line == 4
    assert said in str(raised.value)


@pytest.fixture
def people(project):
    project.schema("2011-01-01", "{name: {type: string}}")
    project.schema("2013-03-03", "{name: {type: string}}")
    return project


def found(people, code, rule=GOOD):
    people.write("rules.py", code)
    people.configure(f"admission:\n  - {rule}\n")
    return [str(each) for each in check(people.load().config) if each.code == "hook"]


METHOD = "class Rules:\n    def create(self, request): pass\n"


@pytest.mark.parametrize(
    ("code", "rule", "said"),
    [
        (METHOD, GOOD.replace("2013-03-03", "2014-04-04"), "a version of Person, found 2014-04-04; there are 2011-01-01"),
        (METHOD, GOOD.replace("Person", "Persn"), "a resource type of the project, found Persn; did you mean Person?"),
        (METHOD, GOOD.replace("rules:", "rulez:"), "to import the hook rulez:Rules, found no module rulez"),
        (METHOD, GOOD.replace(":Rules", ":Rule"), "the class Rule in rules, found no Rule"),
        ("class Rules:\n    def created(self, request): pass\n", GOOD, "a method create, update, delete in rules:Rules, found none"),
        ("class Rules:\n    def create(self): pass\n", GOOD, "rules:Rules.create(self, request), found other parameters"),
        ("class Rules:\n    async def update(self, request): pass\n", GOOD, "rules:Rules.update(self, request)"),
        ("1 / 0\n", GOOD, "found ZeroDivisionError: division by zero at rules.py:1"),
    ],
)  # fmt: skip
def test_a_hook_that_cannot_be_asked_is_a_finding(people, code, rule, said):
    (message,) = found(people, code, rule)
    assert said in message
    assert "trundle.yaml:" in message


def test_a_good_hook_is_no_finding_and_is_not_generated_for(people):
    assert found(people, METHOD) == []


def test_a_hook_that_cannot_be_made_is_refused(people, monkeypatch):
    found(people, "class Rules:\n    create = print\n    def __init__(self, to): pass\n")
    monkeypatch.syspath_prepend(people.folder)
    with pytest.raises(FindingsError, match="expected to make one rules:Rules, found TypeError"):
        load_admission(people.load().config)
