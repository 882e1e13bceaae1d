"""`trundle package form` as a person at a terminal sees it, and with answers in a file."""

import json
import subprocess

import pytest
import warm
import yaml
from talking import Talk

from trundle.engine import Engine
from trundle.packages import Package

FILES = {
    "manifest.yaml": """\
Format: 1.4
FullName: com.example.Shop
Version: 1.0.0
Name: Shop
Type: Application
Classes: {com.example.Shop: Shop.yaml}
UI: ui.yaml
""",
    "Classes/Shop.yaml": """\
Namespaces: {=: com.example, std: io.murano}
Name: Shop
Extends: std:Application
Properties:
  host: {Contract: $.string().notNull()}
  count: {Contract: $.int().notNull()}
  public: {Contract: $.bool().notNull()}
  size: {Contract: $.string().notNull()}
  secret: {Contract: $.string().notNull()}
  spare: {Contract: $.int().notNull()}
Methods:
  sizes:
    Usage: Static
    Scope: Public
    Body:
      Return: {sizes: [[s, Small], [l, Large]]}
""",
    "UI/ui.yaml": """\
Version: 2.4
ParametersSource: sizes
Application:
  ?: {type: com.example.Shop}
  host: $.main.host
  count: $.main.count
  public: $.main.public
  size: $.more.size
  secret: $.more.secret
  spare: $.more.spare
Forms:
  - main:
      fields:
        - name: host
          type: string
          label: Host
          description: Where the shop is.
          regexpValidator: '^[a-z]+$'
          errorMessages: {invalid: small letters only}
        - {name: count, type: integer, label: Count, initial: 2, minValue: 1}
        - {name: public, type: boolean, label: Public}
        - {name: kept, type: string, hidden: true, initial: always}
      validators:
        - {expr: $.main.count < 9, message: eight are the most}
  - more:
      fields:
        - {name: size, type: choice, label: Size, choices: $sizes, initial: s}
        - {name: secret, type: password, label: Secret}
        - {name: spare, type: integer, label: Spare, initial: $.main.count * 2}
""",
}


@pytest.fixture
def shop(tmp_path):
    for name, text in FILES.items():
        file = tmp_path / "shop" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def run(folder, *arguments):
    return subprocess.run(
        [*warm.script(), "package", "form", "shop", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def loaded(model):
    package = Package.from_files(FILES)
    with Engine([package]).session() as session:
        shop = session.load(model)
        return {name: shop.get(name) for name in ("host", "count", "public", "size", "spare")}


@pytest.mark.full
def test_a_person_is_asked_until_the_answers_fit(shop):
    with Talk(shop, "package", "form", "shop", "-o", "json") as talk:
        talk.until("Step 1 of 3: main")
        talk.until("Where the shop is.")
        talk.answer("Host: ", "")
        talk.until("expected a value")
        talk.answer("Host: ", "UPPER")
        talk.until("small letters only")
        talk.answer("Host: ", "web")
        talk.answer("Count [2]: ", "many")
        talk.until("expected an integer")
        talk.answer("Count [2]: ", "9")
        talk.answer("Public [y/N]: ", "y")
        talk.until("eight are the most")
        talk.answer("Host [web]: ", "")
        talk.answer("Count [9]: ", "many")
        talk.answer("Count [9]: ", "3")
        talk.answer("Public [Y/n]: ", "")
        talk.until("1) Small\n  2) Large")
        talk.answer("Size [Small]: ", "2")
        talk.answer("Secret: ", "Hidden-1")
        talk.answer("Secret, once more: ", "Hidden-2")
        talk.until("not equal")
        talk.answer("Secret: ", "Hidden-1")
        talk.answer("Secret, once more: ", "Hidden-1")
        talk.answer("Spare [6]: ", "")
        talk.answer("Application Name [Shop]: ", "my-shop")
        code, output = talk.ended()
        shown = talk.shown
    assert code == 0, shown
    assert "Hidden-" not in shown
    assert "always" not in shown
    model = json.loads(output)
    assert model["?"]["name"] == "my-shop"
    assert model["secret"] == "Hidden-1"
    assert loaded(model) == {"host": "web", "count": 3, "public": True, "size": "l", "spare": 6}


@pytest.mark.full
def test_a_person_goes_back_and_loses_no_answer(tmp_path):
    form = """\
Version: 2.4
Application:
  ?: {type: com.example.Shop}
  host: $.main.host
  note: $.main.note
  size: $.more.size
  secret: $.more.secret
Forms:
  - main:
      fields:
        - {name: host, type: string, label: Host}
        - {name: note, type: string, label: Note, required: false, initial: none yet}
  - silent:
      fields:
        - {name: kept, type: string, hidden: true, initial: x}
  - more:
      fields:
        - {name: size, type: choice, label: Size, choices: [[s, Small], [l, Large]]}
        - {name: secret, type: password, label: Secret}
        - {name: last, type: integer, label: Last}
      validators:
        - {expr: $.more.last < 9, message: too many}
"""
    for path, text in {**FILES, "UI/ui.yaml": form}.items():
        file = tmp_path / "shop" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    with Talk(tmp_path, "package", "form", "shop", "-o", "json") as talk:
        talk.until("Return takes what stands in brackets, `<` goes back")
        talk.answer("Host: ", "<")
        talk.until("this is the first question")
        talk.answer("Host: ", "shpo")
        talk.answer("Note [none yet] (`-` for none): ", "-")
        talk.answer("Size: ", "7")
        talk.until("expected a number from 1 to 2, or one of 'Small', 'Large', found '7'")
        talk.answer("Size: ", "<")
        talk.until("Step 1 of 4: main")
        talk.answer("Note (`-` for none): ", "<")
        talk.answer("Host [shpo]: ", "shop")
        talk.answer("Note (`-` for none): ", "")
        talk.answer("Size: ", "large")
        talk.answer("Size: ", "Large")
        talk.answer("Secret: ", "<")
        talk.answer("Size [Large]: ", "")
        talk.answer("Secret: ", "Hidden-1")
        talk.answer("Secret, once more: ", "Hidden-1")
        talk.answer("Last: ", "9")
        talk.until("too many")
        talk.answer("Size [Large]: ", "")
        talk.answer("Secret [as before]: ", "")
        talk.answer("Last [9]: ", "8")
        talk.answer("Application Name [Shop]: ", "")
        code, output = talk.ended()
        shown = talk.shown
    assert code == 0, shown
    model = json.loads(output)
    found = {name: model[name] for name in ("host", "note", "size", "secret")}
    assert found == {"host": "shop", "note": "", "size": "l", "secret": "Hidden-1"}
    assert "Hidden-1" not in shown


@pytest.mark.full
@pytest.mark.parametrize("key", ["\x03", "\x04"])
@pytest.mark.parametrize("at", ["Host: ", "Secret: "])
def test_leaving_leaves_nothing(shop, at, key):
    before = sorted(shop.rglob("*"))
    with Talk(shop, "package", "form", "shop") as talk:
        if at == "Secret: ":
            talk.answer("Host: ", "web")
            for question in ("Count [2]: ", "Public [y/N]: ", "Size [Small]: "):
                talk.answer(question, "")
        talk.until(at)
        code, output = talk.leave(key)
        shown = talk.shown
    assert (code, output) == (130, ""), shown
    assert "left; nothing was changed" in shown
    assert "Traceback" not in shown
    assert sorted(shop.rglob("*")) == before


@pytest.mark.full
def test_answers_in_a_file(shop):
    (shop / "values.json").write_text('{"main": {"host": "web"}, "more": {"secret": "Hidden-1"}}')
    done = run(shop, "--values", "values.json")
    assert done.returncode == 0, done.stderr
    model = yaml.safe_load(done.stdout)
    assert loaded(model) == {"host": "web", "count": 2, "public": False, "size": "s", "spare": 4}


def test_all_wrong_answers_are_listed_at_once(shop):
    (shop / "values.yaml").write_text("main: {host: W, count: x, hots: 1}\nmore: {size: q}\n")
    done = run(shop, "--values", "values.yaml")
    assert (done.returncode, done.stdout) == (3, "")
    lines = done.stderr.splitlines()
    for path in ("main.hots", "main.host", "main.count", "more.size", "more.secret"):
        assert sum(f"$.{path}: " in each for each in lines) == 1, (path, lines)


@pytest.mark.full
def test_without_a_file_and_a_terminal_is_a_usage_error(shop):
    done = run(shop)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--values" in done.stderr


def test_a_json_schema_with_the_choices_of_a_class(shop):
    done = run(shop, "--json-schema", "-o", "json")
    assert done.returncode == 0, done.stderr
    size = json.loads(done.stdout)["properties"]["more"]["properties"]["size"]
    assert size["oneOf"] == [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]


def test_a_package_without_a_form(shop):
    (shop / "shop" / "UI" / "ui.yaml").unlink()
    manifest = shop / "shop" / "manifest.yaml"
    manifest.write_text(manifest.read_text().replace("UI: ui.yaml\n", ""))
    done = run(shop, "--json-schema")
    assert done.returncode == 5
    assert "a form in the package" in done.stderr


def upload(folder, *packages):
    return subprocess.run(
        [*warm.script(), "catalog", "upload", *packages, "--catalog", "c.db"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.full
def test_an_upload_reads_forms_and_keeps_the_original(shop):
    text = FILES["UI/ui.yaml"]
    file = shop / "shop" / "UI" / "ui.yaml"
    file.write_text(text.replace("Version: 2.4", "Version: 1.0"))
    refused = upload(shop, "shop")
    assert refused.returncode == 3
    assert "com.example.Shop 1.0.0" in refused.stderr
    assert "[form-version]" in refused.stderr
    old = "Version: 2.1\nApplication: {'?': {type: com.example.Shop}}\n"
    file.write_text(old)
    assert upload(shop, "shop").returncode == 0
    shown = subprocess.run(
        [
            *warm.script(),
            "package",
            "form",
            "catalog:com.example.Shop:1.0.0",
            "--catalog",
            "c.db",
            "--convert",
        ],
        cwd=shop,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == old.replace("2.1", "2.4")
