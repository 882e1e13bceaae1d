"""`trundle package test` as a user sees it."""

import json
from xml.etree import ElementTree as ET

import pytest
from tested_packages import DB, MANIFEST, database, write

FAILING = "  testFails:\n    Body:\n      - $.assertEqual(large, $.db.size(1))\n"
USER = {
    "manifest.yaml": MANIFEST.replace("acme.Db", "acme.Web")
    .replace("Require: {io.trundle: 1}", "Require: {acme.Db: 1}")
    .replace("Db.yaml", "Web.yaml")
    .replace(", acme.WebTest: DbTest.yaml", ", acme.WebTest: WebTest.yaml"),
    "Classes/Web.yaml": "Namespaces: {=: acme}\nName: Web\nMethods:\n  size:\n    Body:\n      - Return: new(Db).size(9)\n",
    "Classes/WebTest.yaml": "Namespaces: {=: acme, t: io.murano.test}\nName: WebTest\nExtends: t:TestFixture\nMethods:\n"
    "  testSize:\n    Body:\n      - $.assertEqual(large, new(Web).size())\n",
}


@pytest.fixture
def line(empty):
    database(empty.folder / "packages/db")
    return empty


@pytest.fixture
def user(line):
    """A package that depends on the database, and the next release of that, which breaks it."""
    write(line.folder / "packages/web", USER)
    made = database(line.folder / "next", manifest=MANIFEST.replace("1.0.0", "1.1.0"))
    classes = made / "Classes/Db.yaml"
    classes.write_text(classes.read_text().replace("large", "huge"))
    return line


def test_passing_tests(line):
    done = line.run("package", "test", "packages", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "    TEST                     PACKAGE",
        "ok  acme.DbTest.testSizes    acme.Db/1.0.0",
        "ok  acme.DbTest.testDeploys  acme.Db/1.0.0",
    ]
    assert done.stderr.strip() == "2 passed"
    assert sorted(each.name for each in line.folder.iterdir()) == ["packages"]


@pytest.mark.full
def test_a_failing_test_is_shown_and_written(line):
    database(line.folder / "packages/db", FAILING)
    done = line.run(
        "package", "test", "packages", "--jobs", "1", "--junit", "new/out.xml", "--coverage"
    )
    assert done.exit_code == 3
    assert "FAILED  acme.DbTest.testFails" in done.stdout
    assert "expected 'large', found 'small'" in done.stdout
    assert "Classes/DbTest.yaml:20)" in done.stdout
    assert "acme.Db  2/3      3/4       12 14" in done.stdout
    assert done.stderr.splitlines() == [
        "2 of 3 methods and 3 of 4 branches ran",
        "2 passed, 1 failed",
    ]
    root = ET.parse(line.folder / "new/out.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("3", "1")


@pytest.mark.full
def test_outcomes_as_data(line):
    done = line.run(
        "package", "test", "packages", "-o", "json", "--coverage", "--only", "testSizes"
    )
    data = json.loads(done.stdout)
    assert [(each["method"], each["status"], each["line"]) for each in data["tests"]] == [
        ("testSizes", "passed", 10)
    ]
    assert data["coverage"]["acme.Db"]["methods"] == {"ran": 1, "all": 3}


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["packages", "--only", "testSize"], 5, "found testSize; did you mean testSizes"),
        (["nothing"], 2, "expected a package with manifest.yaml"),
        (["packages", "--against", "acme.Db@2.0.0"], 5, "found only 1.0.0"),
        (["packages", "--against", "acme.Da@1.0.0"], 5, "no such package; did you mean acme.Db"),
        (["packages", "--against", "acme.Db@1.0.0"], 5, "expected packages that depend on acme.Db"),
        (["packages", "--timeout", "0"], 2, "--timeout"),
    ],
)
def test_what_cannot_be_run_is_refused(line, arguments, code, text):
    done = line.run("package", "test", *arguments)
    assert done.exit_code == code, done.output
    assert text in done.output


def test_a_package_without_tests_is_refused(line):
    write(
        line.folder / "bare",
        {
            "manifest.yaml": MANIFEST.replace(", acme.DbTest: DbTest.yaml", ""),
            "Classes/Db.yaml": "Name: acme.Db\n",
        },
    )
    done = line.run("package", "test", "bare")
    assert done.exit_code == 5
    assert "a class that extends io.murano.test.TestFixture" in done.stderr


@pytest.mark.full
def test_a_class_of_tests_that_cannot_be_built_is_shown_where_it_is_the_only_one(line):
    fixture = "Namespaces: {=: acme, t: io.murano.test}\nName: DbTest\nExtends: t:TestFixtures\n"
    write(line.folder / "packages/db", {"Classes/DbTest.yaml": fixture})
    done = line.run("package", "test", "packages", "--jobs", "1")
    assert done.exit_code == 3, done.output
    assert "ERROR  acme.DbTest" in done.stdout
    assert "did you mean io.murano.test.TestFixture?" in done.stdout
    assert "Classes/DbTest.yaml:3" in done.stdout
    assert done.stderr.strip() == "1 with an error"


def test_a_package_that_is_in_two_folders_is_tested_once(line):
    database(line.folder / "packages/again")
    done = line.run("package", "test", "packages", "packages/db", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert done.stderr.strip() == "2 passed"


@pytest.mark.full
def test_classes_of_one_name_in_two_packages_are_two(line):
    for name, large in (("acme.One", "large"), ("acme.Two", "huge")):
        folder = database(
            line.folder / f"packages/{name}",
            f"  testLarge: {{Body: [!yaql '$.assertEqual({large}, $.db.size(4))']}}\n",
            MANIFEST.replace("acme.Db\n", f"{name}\n"),
        )
        (folder / "Classes/Db.yaml").write_text(DB)
    done = line.run(
        "package", "test", "packages/acme.One", "packages/acme.Two", "--only", "acme.DbTest.testLarge",
        "--jobs", "1", "--junit", "out.xml",
    )  # fmt: skip
    assert done.exit_code == 3, done.output
    assert "ok      acme.DbTest.testLarge  acme.One/1.0.0" in done.stdout
    assert "FAILED  acme.DbTest.testLarge  acme.Two/1.0.0" in done.stdout
    suites = ET.parse(line.folder / "out.xml").getroot()
    assert [(each.get("name"), each.get("package"), each.get("failures")) for each in suites] == [
        ("acme.DbTest", "acme.One/1.0.0", "0"),
        ("acme.DbTest", "acme.Two/1.0.0", "1"),
    ]


@pytest.mark.full
def test_a_release_that_breaks_another_package(user):
    done = user.run("package", "test", "packages", "--against", "acme.Db@1.0.0")
    assert done.exit_code == 0, done.output
    done = user.run("package", "test", "packages", "--against", "next")
    assert done.exit_code == 3
    assert "FAILED  acme.WebTest.testSize  acme.Web/1.0.0" in done.stdout
    assert "expected 'large', found 'huge'" in done.stdout
    assert "acme.DbTest" not in done.stdout


def test_a_release_that_a_dependent_does_not_take(user):
    database(user.folder / "next", manifest=MANIFEST.replace("1.0.0", "2.0.0"))
    done = user.run("package", "test", "packages", "--against", "next")
    assert done.exit_code == 5
    assert "acme.Web 1.0.0 does not take 2.0.0: acme.Web > acme.Db" in done.stderr


@pytest.mark.full
def test_dependents_in_a_catalog(user):
    catalog = ["--catalog", "c.db"]
    for each in ("packages/db", "packages/web", "next"):
        assert user.run("catalog", "upload", each, *catalog).exit_code == 0
    done = user.run("package", "test", "--against", "acme.Db@1.1.0", *catalog)
    assert done.exit_code == 3, done.output
    assert "FAILED  acme.WebTest.testSize" in done.stdout
