"""`admission` in a project file: read, refused with file and line, and held against the project by `check`."""

import pytest

from trundle.project import (
    AdmissionWebhook,
    ConfigError,
    FindingsError,
    check,
    load_admission,
    parse_config,
)
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
        ("{type: P, version: v1}", "either `use` or `webhook` in an admission hook, found none"),
        (
            "{type: P, version: v1, use: 'a:B', webhook: {name: a, url: 'https://a'}}",
            "found use and webhook",
        ),
        ("{type: P, version: v1, webhook: {url: 'https://a'}}", "the key name in a webhook"),
        ("{type: P, version: v1, webhook: {name: A b, url: 'https://a'}}", "a name such as"),
        ("{type: P, version: v1, webhook: {name: a, url: 'http://a'}}", "a URL as https://"),
        ("{type: P, version: v1, webhook: {name: a, url: 'https://u:p@a'}}", "a URL as https://"),
        ("{type: P, version: v1, webhook: {name: a, url: 'https://a/?b=c'}}", "a URL as https://"),
        ("{type: P, version: v1, webhook: {name: a, url: 'https://a:70000'}}", "a URL as https://"),
        (
            "{type: P, version: v1, webhook: {name: a, url: 'https://a', timeoutSeconds: 31}}",
            "from 1 to 30, found",
        ),
        (
            "{type: P, version: v1, webhook: {name: a, url: 'https://a', timeoutSeconds: '5'}}",
            "from 1 to 30, found",
        ),
        (
            "{type: P, version: v1, webhook: {name: a, url: 'https://a', operations: []}}",
            "an operation, found none",
        ),
        (
            "{type: P, version: v1, webhook: {name: a, url: 'https://a', operations: [CREATE]}}",
            "an operation: create, update, delete",
        ),
        (
            "{type: P, version: v1, webhook: {name: a, url: 'https://a', failurePolicy: Fall}}",
            "a policy: Fail, Ignore",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(tmp_path, text, said):
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, f"admission:\n  - {text}\n")
    assert raised.value.findings[0].place.line == 4
    assert said in str(raised.value)


def test_webhooks_are_read(tmp_path):
    short = "{type: P, version: v1, webhook: {name: a.b, url: 'https://a:8443/x/y'}}"
    whole = (
        "{type: P, version: v1, webhook: {name: a, url: 'https://a', ca: ca.crt, operations: [delete, create],"
        " failurePolicy: Ignore, timeoutSeconds: 30}}"
    )
    first, second = read(tmp_path, f"admission:\n  - {short}\n  - {whole}\n")
    assert (first.use, first.webhook) == (
        "",
        AdmissionWebhook(name="a.b", url="https://a:8443/x/y"),
    )
    assert first.webhook.operations == ("create", "update", "delete")
    assert (first.webhook.failure_policy, first.webhook.timeout_seconds) == ("Fail", 10)
    assert second.webhook == AdmissionWebhook(
        name="a", url="https://a", ca="ca.crt", operations=("create", "delete"),
        failure_policy="Ignore", timeout_seconds=30,
    )  # fmt: skip


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


@pytest.mark.parametrize("ca", ["none.crt", "rules.py"])
def test_authorities_that_cannot_be_read_are_a_finding(people, ca):
    webhook = f"{{name: a, url: 'https://a', ca: {ca}}}"
    rule = f"{{type: Person, version: 2013-03-03, webhook: {webhook}}}"
    (message,) = found(people, METHOD, rule)
    assert f"expected a file with certificates in PEM form, found {ca}: " in message
    with pytest.raises(FindingsError):
        load_admission(people.load().config)


def test_the_place_of_a_webhook_is_checked(people):
    rule = "{type: Person, version: 2014-04-04, webhook: {name: a, url: 'https://a'}}"
    (message,) = found(people, METHOD, rule)
    assert "a version of Person, found 2014-04-04" in message
