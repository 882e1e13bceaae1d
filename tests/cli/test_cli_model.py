"""Models over versions of packages, and reports about packages, as users call them."""

import json

import pytest
import yaml

MANIFEST = "Type: Library\nFullName: p\nVersion: {}\nClasses: {{p.A: A.yaml}}\n"
ONE = "Name: p.A\nProperties: {a: {Contract: $.string()}, x: {Contract: $.int()}}"
TWO = "Name: p.A\nProperties: {b: {Contract: $.string()}}"
RULES = "changes: {1.0.0: {p.A: {rename: {a: b}}}}"
MODEL = {"?": {"type": "p.A", "classVersion": "1", "id": "i"}, "a": "text", "x": 5}


@pytest.fixture
def line(empty, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(empty.folder / "home"))
    for version, text in (("1.0.0", ONE), ("2.0.0", TWO)):
        empty.write(f"p/{version}/manifest.yaml", MANIFEST.format(version))
        empty.write(f"p/{version}/Classes/A.yaml", text)
    empty.write("p/2.0.0/evolution.yaml", RULES)
    empty.write("model.json", json.dumps(MODEL))
    return empty


def ok(line, *arguments):
    done = line.run(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.full
def test_a_model_is_printed_as_it_was_given(line):
    made = json.loads(ok(line, "model", "convert", "model.json", "--to", "p@2", "--packages", "p"))
    assert made["b"] == "text"
    assert made["?"]["type"] == "p.A/2.0.0@p"
    line.write("two.yaml", yaml.safe_dump(made))
    back = yaml.safe_load(
        ok(line, "model", "convert", "two.yaml", "--to", "p@1", "--packages", "p")
    )
    assert (back["a"], back["x"]) == ("text", 5)
    text = ok(line, "model", "convert", "two.yaml", "--to", "p@1", "--packages", "p", "-o", "json")
    assert json.loads(text) == back


@pytest.mark.full
def test_the_packages_are_those_of_the_catalog(line):
    ok(line, "catalog", "upload", "p/1.0.0", "p/2.0.0", "--catalog", "c.db")
    found = ok(line, "model", "convert", "model.json", "--to", "p@2", "--catalog", "c.db")
    assert json.loads(found)["b"] == "text"


def test_errors_name_the_file_and_the_line(line):
    line.write("bad.yaml", "?: {type: p.A, classVersion: '1'}\na: [1]\n")
    done = line.run("model", "convert", "bad.yaml", "--to", "p@2", "--packages", "p")
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith("error: bad.yaml:2: $.a: ")
    comment = "#" * 5_000_000  # Too large to look for lines in it.
    line.write("bad.yaml", f"?: {{type: p.A, classVersion: '1'}}\n{comment}\na: [1]\n")
    done = line.run("model", "convert", "bad.yaml", "--to", "p@2", "--packages", "p")
    assert done.stderr.startswith("error: bad.yaml: $.a: ")


def test_what_stays_is_a_warning(line):
    line.write("odd.json", json.dumps({"Objects": {"?": {"type": "gone.A"}}, "Attributes": []}))
    done = line.run("model", "convert", "odd.json", "--to", "p@2", "--packages", "p")
    assert done.exit_code == 0
    assert (
        "warning: odd.json:1: $.Objects: expected a class that a package has, found gone.A"
        in done.stderr
    )
    assert "[unknown-class]" in done.stderr


@pytest.mark.parametrize(
    ("model", "to", "code", "message"),
    [
        ({**MODEL, "x": "five"}, "p@2", 3, "$.x: expected an integer, found 'five'"),
        (MODEL, "p", 2, "expected NAME@VERSION, found 'p'"),
        (MODEL, "p@7", 5, "found only 1.0.0, 2.0.0"),
        (MODEL, "q@1", 5, "no such package"),
        ([1], "p@2", 2, "expected a model as one object, found a list"),
        ({"hello": 1}, "p@2", 2, "expected a model, with `Objects`"),
        ({"Objects": {"?": 5}}, "p@2", 3, "$.Objects: expected a header"),
    ],
)
def test_what_cannot_be_converted_is_refused(line, model, to, code, message):
    line.write("bad.json", json.dumps(model))
    done = line.run("model", "convert", "bad.json", "--to", to, "--packages", "p")
    assert message in done.stderr
    assert (done.exit_code, done.stdout) == (code, "")


def test_a_model_that_is_not_there(line):
    done = line.run("model", "convert", "none.json", "--to", "p@2", "--packages", "p")
    assert "none.json" in done.stderr
    assert done.exit_code != 0


def test_reports_take_packages_like_schemas(line):
    rows = ok(line, "diff", "1.0.0", "2.0.0", "--schemas", "p")
    assert "1 removed, 1 renamed" in rows
    assert "p.A" in ok(line, "map", "--schemas", "p")
    assert "`a`" in ok(line, "explain", "p.A.b", "--schemas", "p")
    assert json.loads(ok(line, "map", "p.A", "-C", "p", "-o", "json"))


def test_wrong_rules_are_warnings_of_reports(line):
    line.write("p/2.0.0/evolution.yaml", "changes: {1.0.0: {p.A: {rename: {q: b}}}}")
    done = line.run("diff", "1.0.0", "2.0.0", "--schemas", "p")
    assert "warning: p/2.0.0/evolution.yaml:1: `rename` names q" in done.stderr


def test_reports_are_about_one_package(line):
    line.write(
        "q/1.0.0/manifest.yaml", MANIFEST.format("1.0.0").replace("FullName: p", "FullName: q")
    )
    line.write("q/1.0.0/Classes/A.yaml", ONE)
    done = line.run("map", "--schemas", ".")
    assert "expected one package, found p, q" in done.stderr
    assert done.exit_code == 2
    assert "p.A" in ok(line, "map", "--schemas", "p", "--schemas", "q")


@pytest.mark.full
def test_packages_are_verified(line):
    done = line.run("verify", "p", "--examples", "2", "--seed", "1", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "no findings" in done.stderr


def test_a_file_without_a_document_is_no_model(line):
    line.write("empty.yaml", "")
    done = line.run("model", "convert", "empty.yaml", "--to", "p@2", "--packages", "p")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "empty.yaml: expected a model as one object, found nothing" in done.stderr


def test_a_catalog_without_packages_is_named(line):
    line.write("m.json", json.dumps(MODEL))
    done = line.run("model", "convert", "m.json", "--to", "p@2", "--catalog", "none.db")
    assert (done.exit_code, done.stdout) == (5, "")
    assert "none.db: expected packages of the catalog that the tenant default sees" in done.stderr
    assert "--packages" in done.stderr


HOOKED = """\
Name: p.A
Properties: {b: {Contract: $.string()}}
Methods:
  up:
    Usage: Static
    Scope: Public
    Arguments: [{a: {Contract: $.string()}}]
    Body: [{Return: {b: $a + '!'}}]
"""
DOWN = """\
  down:
    Usage: Static
    Scope: Public
    Arguments: [{b: {Contract: $.string()}}]
    Body: [{Return: {a: str($b)}}]
"""
HOOKS = "hooks: {1.0.0: {p.A: {assign_to: {use: %s, writes: [b]}}}}"


def test_hooks_run_in_conversions_and_stand_in_reports(line):
    line.write("p/2.0.0/Classes/A.yaml", HOOKED)
    line.write("p/2.0.0/evolution.yaml", HOOKS % "up")
    done = line.run("model", "convert", "model.json", "--to", "p@2", "--packages", "p")
    assert json.loads(done.stdout)["b"] == "text!"
    assert "| Hook" in ok(line, "diff", "1.0.0", "2.0.0", "--schemas", "p")
    assert "the hook p.A.up derives it from `a`" in ok(line, "explain", "p.A.b", "--schemas", "p")
    assert "the hook up, writes b" in ok(line, "package", "diff", "p/1.0.0", "p/2.0.0")


@pytest.mark.full
def test_verify_calls_hooks(line):
    line.write("p/2.0.0/Classes/A.yaml", HOOKED)
    line.write("p/2.0.0/evolution.yaml", HOOKS % "up")
    done = line.run("verify", "p", "--examples", "2")
    assert done.exit_code == 3
    assert "EngineError: `$a + '!'`" in done.stdout
    line.write("p/2.0.0/Classes/A.yaml", HOOKED.replace("$a + '!'", "str($a) + '!'") + DOWN)
    both = "{assign_to: {use: up, writes: [b]}, assign_from: {use: down, writes: [a]}}"
    line.write("p/2.0.0/evolution.yaml", f"hooks: {{1.0.0: {{p.A: {both}}}}}")
    done = line.run("verify", "p", "--examples", "2", "--seed", "1")
    assert done.exit_code == 0, done.output
    assert "no findings" in done.stderr


@pytest.mark.full
def test_a_hook_that_does_not_end_is_ended(line):
    looping = HOOKED.replace("[{Return: {b: $a + '!'}}]", "[{While: $a != null, Do: [{$x: 1}]}]")
    line.write("p/2.0.0/Classes/A.yaml", looping)
    line.write("p/2.0.0/evolution.yaml", HOOKS % "up")
    given = ("model", "convert", "model.json", "--to", "p@2", "--packages", "p")
    done = line.run(*given, "--time-limit", "0.5")
    assert done.exit_code != 0
    assert "0.5 seconds" in done.stderr
    assert done.stdout == ""


@pytest.mark.full
def test_an_upload_with_a_hook_that_cannot_be_called_stores_nothing(line):
    ok(line, "catalog", "upload", "p/1.0.0", "--catalog", "c.db")
    line.write("p/2.0.0/Classes/A.yaml", HOOKED)
    line.write("p/2.0.0/evolution.yaml", HOOKS % "upp")
    for command in (("catalog", "upload", "p/2.0.0"), ("package", "check", "p/2.0.0")):
        done = line.run(*command, "--catalog", "c.db")
        assert done.exit_code == 3
        assert "expected a static method of p.A, found upp; did you mean up?" in done.output
        assert "evolution.yaml:1:" in done.output
    assert "2.0.0" not in ok(line, "catalog", "list", "--catalog", "c.db")
