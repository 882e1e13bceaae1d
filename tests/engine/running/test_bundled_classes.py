"""The classes of `io.murano` that section 14 of the language's reference names, and what their methods do."""

import base64

import pytest
from engines import package
from programs import HEAD, HISTORIC, opened, refused, run

from trundle.engine import Engine
from trundle.packages import Package

NAMED = """
Object Exception StackTrace File User Project Application Environment
CloudRegion CloudResource SharedIp SharedIpRange configuration.Linux
system.Resources system.Logger system.GC system.StatusReporter system.InstanceNotifier
system.Agent system.AgentListener system.HeatStack system.NetworkExplorer system.MistralClient system.MetadefBrowser
system.SecurityGroupManager system.NeutronSecurityGroupManager system.AwsSecurityGroupManager
system.DummySecurityGroupManager
metadata.Title metadata.Description metadata.HelpText metadata.ModelBuilder
metadata.forms.Section metadata.forms.Position metadata.forms.Hidden
metadata.engine.Serialize metadata.engine.Synchronize
test.TestFixture test.TestFixtureWithEnvironment
resources.Network resources.Volume resources.Instance resources.MetadataAware resources.InstanceAffinityGroup
resources.LinuxInstance resources.LinuxMuranoInstance resources.WindowsInstance resources.ConfLangInstance
resources.HeatSWConfigInstance resources.HeatSWConfigLinuxInstance resources.LinuxUDInstance
resources.NeutronNetwork resources.ExistingNeutronNetwork resources.NovaNetwork resources.NeutronNetworkBase
resources.CinderVolume resources.ExistingCinderVolume resources.CinderVolumeBackup resources.CinderVolumeSnapshot
"""
APPLICATIONS = """
Event ReplicationGroup ReplicaProvider Installable Configurable SoftwareComponent
SingleServerApplication MultiServerApplication ServerGroup
"""


@pytest.mark.parametrize(
    "name",
    [f"io.murano.{each}" for each in NAMED.split()]
    + [f"io.murano.applications.{each}" for each in APPLICATIONS.split()],
)
def test_a_class_that_the_reference_names_can_be_built(name):
    with Engine([]).session() as session:
        assert session.type(name).name == name


# What applications are made of


def test_an_environment_deploys_its_applications_at_once():
    app = """
    Extends: io:Application
    Properties: {n: {Contract: $}}
    Methods: {deploy: {Body: [trace($.n), !yaql 'sleep(0.001)', !yaql 'trace(-$.n)']}}
    """
    apps = [{"?": {"type": "a.App"}, "n": each} for each in (1, 2)]
    model = {"?": {"type": "io.murano.Environment"}, "name": "e", "applications": apps}
    seen = []
    with opened({"a.App": app}, model, functions={"trace": seen.append}) as (session, root):
        session.call(root, "deploy")
    assert seen == [1, 2, -1, -2]


def test_applications_of_an_environment_are_its_own():
    body = "- $a: new('io:Application')\n- new('io:Environment', name => e, applications => [$a])"
    with refused(HISTORIC + "ContractViolationException") as caught:
        run(body)
    assert "must own" in caught.value.message


@pytest.mark.parametrize(
    "call",
    [
        "new('io:Application').deploy()",
        "new('io:Application').reportDeployed()",
        "new('io:Application').reportDeployed(title, 2)",
        "new('io:Application').reportDestroyed()",
        "new('sys:InstanceNotifier').trackApplication($)",
        "new('sys:InstanceNotifier').trackApplication($, title, 2)",
        "new('sys:InstanceNotifier').untrackApplication($)",
        "new('sys:InstanceNotifier').trackCloudInstance($)",
        "new('sys:InstanceNotifier').untrackCloudInstance($)",
        "new('io.murano.test.TestFixture').startEnv()",
        "new('io.murano.test.TestFixture').finishEnv()",
    ],
)
def test_what_waits_for_no_cloud_does_nothing(call):
    assert run(f"Return: list({call})") == [None]


@pytest.mark.parametrize(("method", "level"), [("report", "INFO"), ("report_error", "ERROR")])
def test_a_status_is_logged_with_the_object_that_it_is_about(caplog, method, level):
    caplog.set_level("INFO", "trundle.status")
    body = f"- $r: new('sys:StatusReporter')\n- $r.{method}($, 'it works')\n- $r.{method}(new(A, objectName => shop), 'as well')"
    run(body)
    assert [(each.levelname, each.getMessage()) for each in caplog.records] == [
        (level, "root: it works"),
        (level, "shop: as well"),
    ]
    with refused(HISTORIC + "ContractViolationException"):
        run(f"new('sys:StatusReporter').{method}(null, x)")


@pytest.mark.parametrize(
    ("made", "values"),
    [
        ("io:File", ["", "application/octet-stream", None]),
        ("io:File, base64Content => eA, mimeType => text, filename => f", ["eA", "text", "f"]),
    ],
)
def test_a_file_has_content_type_and_name(made, values):
    body = f"- $f: new({made.replace('io:File', chr(39) + 'io:File' + chr(39))})\n- Return: [$f.base64Content, $f.mimeType, $f.filename]"
    assert run(body) == values


def test_users_and_projects_have_an_id_a_name_and_a_domain():
    known = "id => i, name => n, domain => d"
    body = f"- $u: new('io:User', {known})\n- $p: new('io:Project', {known})\n- Return: [$u.id, $u.name, $u.domain, $u.extra, $p.id, $p.name, $p.domain, $p.extra]"
    assert run(body) == ["i", "n", "d", {}] * 2
    for each in ("io:User", "io:Project"):
        with refused(HISTORIC + "ContractViolationException"):
            run(f"new('{each}', id => i, name => n)")


def test_extra_of_a_project_is_a_property_like_others():
    known = "id => i, name => n, domain => d, extra => {k => 1}"
    assert run(f"Return: new('io:Project', {{{known}}}).extra") == {"k": 1}
    assert run(f"Return: new('io:Project', {known}).extra") == {"k": 1}


# Logging, and what was thrown


LEVELS = {
    "trace": "DEBUG",
    "debug": "DEBUG",
    "info": "INFO",
    "warning": "WARNING",
    "error": "ERROR",
    "critical": "CRITICAL",
}


@pytest.mark.parametrize("method", LEVELS)
def test_a_logger_writes_messages_with_values_in_them(caplog, method):
    caplog.set_level("DEBUG", "trundle.packages.shop")
    run(f"logger(shop).{method}('{{0}} and {{b}}', 1, b => 2)")
    (record,) = caplog.records
    found = (record.name, record.levelname, record.getMessage())
    assert found == ("trundle.packages.shop", LEVELS[method], "1 and 2")


@pytest.mark.parametrize(("message", "said"), [("", "an exception"), (", 'it fails'", "it fails")])
def test_a_logger_writes_an_exception_with_the_methods_that_it_passed(caplog, message, said):
    body = f"""
    - Try: [$.f()]
      Catch:
        As: e
        Do: [!yaql "logger(shop).exception($e{message})"]
    """
    run(body, methods="f: {Body: [{Throw: Oops, Message: bad}]}")
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    first, *others = record.getMessage().splitlines()
    assert first == said
    assert [each.split()[1] for each in others if each.startswith("  in")] == ["a.A.run", "a.A.f"]
    assert others[-1].startswith("a.Oops: bad")


def test_frames_of_a_stack_trace_have_the_type_the_method_and_the_place():
    body = """
    - Try: [$.f()]
      Catch:
        As: e
        Do: [{Return: !yaql '[$e.stackTrace.frames.typeName, $e.stackTrace.frames.methodName, $e.stackTrace.frames.location.line, $e.stackTrace.toString()]'}]
    """
    types, methods, lines, text = run(body, methods="f: {Body: [{Throw: Oops}]}")
    assert (types, methods) == (["a.A", "a.A"], ["run", "f"])
    assert all(isinstance(each, int) for each in lines)
    outer, inner = text.splitlines()
    assert "a.A.run" in outer
    assert "a.A.f" in inner


# Resources


CLASS = """
Methods:
  run: {Arguments: [{x: {Contract: $}}], Body: [{Return: !yaql "EXPRESSION"}]}
"""
FILES = {
    "Resources/a.txt": "grüße\n".encode(),
    "Resources/deep/b.json": b'{"a": [1, null]}',
    "Resources/c.yaml": b"a: [1, x]\n---\nb: 2\n",
    "Resources/d.bin": b"\x00\xff",
    "Classes/a.yaml": b"",
}


def resource(expression):
    text = HEAD + "Name: A\n" + CLASS.replace("EXPRESSION", expression)
    manifest = (
        "Format: 1.4\nType: Library\nFullName: a\nRequire: {lib: 1}\nClasses: {a.A: a.yaml}\n"
    )
    main = {**FILES, "manifest.yaml": manifest, "Classes/a.yaml": text}
    lib = package("lib", classes={"lib.L": ""})
    lib_files = {each: lib.file(each) for each in lib.files} | {"Resources/a.txt": "of lib"}
    packages = [Package.from_files(main), Package.from_files(lib_files)]
    with Engine(packages).session() as session:
        return session.call(session.load({"?": {"type": "a.A"}}), "run", [1], internal=True)


@pytest.mark.parametrize(
    ("expression", "content"),
    [
        ("sys:Resources.string('a.txt')", "grüße\n"),
        ("new(sys:Resources).string('a.txt')", "grüße\n"),
        ("sys:Resources.string('a.txt', $)", "grüße\n"),
        ("sys:Resources.string('a.txt', new('lib.L'))", "of lib"),
        ("sys:Resources.string('a.txt', type('lib.L'))", "of lib"),
        ("sys:Resources.string('d.bin', binary => true)", base64.b64encode(b"\x00\xff").decode()),
        ("sys:Resources.json('deep/b.json')", {"a": [1, None]}),
        ("new(sys:Resources).json('deep/b.json')", {"a": [1, None]}),
        ("sys:Resources.yaml('c.yaml')", {"a": [1, "x"]}),
    ],
)
def test_resources_are_files_of_the_package_that_asks_or_of_an_owner(expression, content):
    assert resource(expression) == content


@pytest.mark.parametrize(
    ("expression", "name", "words"),
    [
        ("sys:Resources.string('b.txt')", "FileNotFoundError", "a resource of a, found b.txt; did you mean a.txt?"),
        ("sys:Resources.string('../manifest.yaml')", "FileNotFoundError", "found ../manifest.yaml"),
        ("sys:Resources.string('d.bin')", "ValueError", "expected text in UTF-8, found the byte 0xff at 1 in d.bin; give `binary => true`"),
        ("sys:Resources.json('a.txt')", "ValueError", "a.txt:1: expected valid JSON"),
        ("sys:Resources.yaml('d.bin')", "ValueError", "d.bin"),
        ("sys:Resources.string('a.txt', 5)", "TypeError", "expected an object or a class as `owner`, found 5"),
    ],
)  # fmt: skip
def test_a_resource_that_cannot_be_read_says_why(expression, name, words):
    with refused(name) as caught:
        resource(expression)
    assert words in caught.value.message


# Meta classes


@pytest.mark.parametrize(
    ("name", "cardinality", "targets", "values"),
    [
        ("Title, text => x", "One", ["All"], {"text": "x"}),
        ("Description, text => x", "One", ["All"], {"text": "x"}),
        ("HelpText, text => x", "One", ["All"], {"text": "x"}),
        ("ModelBuilder", "One", ["Method"], {"enabled": True}),
        ("forms.Section, name => s", "Many", ["Type", "Method"], {"name": "s", "title": "s", "index": None}),
        ("forms.Position", "One", ["Property", "Argument"], {"index": None, "section": None}),
        ("forms.Hidden", "One", ["Property", "Argument"], {"visible": False}),
        ("engine.Serialize, as => reference", "One", ["Property"], {"as": "reference"}),
        ("engine.Synchronize", "One", ["Method"], {"onThis": True, "onArgs": []}),
    ],
)  # fmt: skip
def test_a_meta_class_has_these_properties(name, cardinality, targets, values):
    name, _, given = name.partition(", ")
    full = f"'io.murano.metadata.{name}'"
    made = f"new({full}{', ' if given else ''}{given})"
    body = f"- $t: typeinfo({full})\n- $m: {made}\n- Return: [$t.usage, $t.cardinality, $t.targets, !yaql 'dump($m)']"
    usage, found, applies, dumped = run(body)
    assert (usage, found, applies) == ("Meta", cardinality, targets)
    assert {key: value for key, value in dumped.items() if key != "?"} == values
