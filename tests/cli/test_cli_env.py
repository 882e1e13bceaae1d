"""`trundle env`: the installed command in a fresh folder, from packages to deployed files and back."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import warm
import yaml
from talking import Talk
from typer.testing import CliRunner

from trundle.cli._app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
WEB = """\
'?': {id: web}
name: shop
greeting: Good morning
db:
  '?': {id: db, name: orders}
  name: orders
  password: '{{secret:db}}'
"""


class Line:
    """The command in a folder, with a catalog there; `command` is what runs it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.command = warm.script(always=True)
        self.environment = {
            **os.environ,
            "TRUNDLE_CATALOG": str(folder / "catalog.db"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "NO_COLOR": "1",
            "LOGNAME": "ann",
        }

    def run(self, *arguments, stdin="", code=0, **variables):
        done = subprocess.run(
            [*self.command, *map(str, arguments)],
            cwd=self.folder,
            env={**self.environment, **variables},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr + done.stdout
        return done

    def env(self, *arguments, **options):
        return self.run("env", *arguments, **options)

    def data(self, *arguments):
        return json.loads(self.env(*arguments, "-o", "json").stdout)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def deployed(self):
        root = self.folder / "deployed"
        return sorted(str(x.relative_to(root)) for x in root.rglob("*") if x.is_file())


@pytest.fixture
def line(tmp_path):
    return Line(tmp_path)


@pytest.fixture
def shop(line):
    packages = EXAMPLES / "shop" / "packages"
    line.run("catalog", "upload", packages / "db", packages / "web")
    line.write("programs.yaml", f"programs: {{wc: {shutil.which('wc')}}}\n")
    line.env("create", "shop", "--folder", "deployed", "--programs", "programs.yaml")
    line.env("secret", "shop", "db", stdin="tea-4-two\n")
    line.write("web.yaml", WEB)
    line.env(
        "add", "shop", "acme.Web", "--class", "acme.Web", "--values", "web.yaml", "--name", "web"
    )
    return line


ALL = [
    "deployment-shop.yaml",
    "secret-orders.yaml",
    "secret-shop-settings.yaml",
    "shop/motd.txt",
    "statefulset-orders.yaml",
]


@pytest.mark.full
def test_from_a_catalog_to_deployed_files_and_back(shop):
    would = shop.env("deploy", "shop", "--dry-run")
    assert "create folder/secret-orders.yaml\n" in would.stdout
    assert '+  password: "{{secret:db}}"\n' in would.stdout
    assert not (shop.folder / "deployed").exists()
    first = shop.env("deploy", "shop")
    assert first.stderr == "deployed shop as deployment 1\n"
    assert shop.deployed() == ALL
    assert "tea-4-two" in (shop.folder / "deployed/secret-orders.yaml").read_text()
    again = shop.data("deploy", "shop")
    assert {each["action"] for each in again["changes"]} == {"unchanged"}
    assert again["deployment"] == 2

    shown = shop.data("show", "shop")
    assert shown["state"] == "deployed"
    assert [(x["name"], x["class"]) for x in shown["objects"][1:]] == [
        ("web", "acme.Web"),
        ("orders", "acme.Db"),
    ]
    assert [x["name"] for x in shown["uses"]] == ["acme.Db", "acme.Web"]

    shop.env("remove", "shop", "web")
    removed = shop.env("deploy", "shop").stdout.splitlines()
    assert removed[0] == "remove process/words"
    assert removed[-1] == "remove folder/secret-orders.yaml"
    assert shop.deployed() == []
    shop.env("rollback", "shop", "1")
    assert shop.deployed() == ALL
    shop.env("delete", "shop")
    assert shop.deployed() == []
    rows = shop.data("history", "shop")
    assert [each["action"] for each in rows] == [
        "delete",
        "rollback to 1",
        "deploy",
        "deploy",
        "deploy",
    ]
    assert {each["by"] for each in rows} == {"ann"}
    shop.env("delete", "shop", "--purge")
    assert shop.data("list") == []


@pytest.mark.full
def test_the_second_user_is_told_what_the_first_one_changed(shop):
    shop.env("deploy", "shop")
    shop.env("remove", "shop", "web", LOGNAME="bob")
    shop.write("db.yaml", "name: logs\npassword: x\n")
    shop.env("add", "shop", "acme.Db@1", "--values", "db.yaml", "--name", "logs")
    shop.env("deploy", "shop")
    before = shop.deployed()
    refused = shop.env("deploy", "shop", LOGNAME="bob", code=8)
    assert "deployment 2 (deploy by ann at " in refused.stderr
    assert "logs added" in refused.stderr
    assert "run `trundle env discard shop`" in refused.stderr
    assert (shop.deployed(), len(shop.data("history", "shop"))) == (before, 2)


@pytest.mark.full
def test_no_secret_is_shown_anywhere(shop):
    everything = [
        shop.env(*each.split())
        for each in (
            "deploy shop --dry-run",
            "deploy shop",
            "show shop",
            "show shop --model",
            "show shop -o json",
            "history shop -o json",
            "list",
            "delete shop --dry-run",
        )
    ]
    assert not [x for x in everything if "tea-4-two" in x.stdout + x.stderr]


@pytest.mark.full
def test_models_are_edited_as_a_whole(shop):
    model = yaml.safe_load(shop.env("show", "shop", "--model", "--draft", "ann").stdout)
    model["applications"][0]["greeting"] = None
    shop.write("model.yaml", yaml.safe_dump(model))
    shop.env("edit", "shop", "--model", "model.yaml")
    shop.env("deploy", "shop")
    assert "shop/motd.txt" not in shop.deployed()
    shop.write("model.yaml", "'?': {type: io.murano.Environment}\n")
    assert (
        "model.yaml: expected the object"
        in shop.env("edit", "shop", "--model", "model.yaml", code=2).stderr
    )


@pytest.mark.full
def test_properties_that_no_class_has_are_warned_of(shop):
    shop.write("typo.yaml", WEB.replace("greeting", "greting") + "  replcas: 3\n")
    added = ("add", "shop", "acme.Web", "--class", "acme.Web", "--values", "typo.yaml")
    assert shop.env(*added, "--draft", "typo").stderr == (
        "warning: typo.yaml: $.greting: expected a property that models of acme.Web 1.0.0 have, found 'greting', which is left out; did you mean greeting?\n"
        "warning: typo.yaml: $.db.replcas: expected a property that models of acme.Db 1.0.0 have, found 'replcas', which is left out; did you mean replicas?\n"
        "added acme.Web 1.0.0 to the draft\n"
    )
    model = yaml.safe_load(shop.env("show", "shop", "--model", "--draft", "ann").stdout)
    shop.write("model.yaml", yaml.safe_dump(model))
    assert "warning" not in shop.env("edit", "shop", "--model", "model.yaml").stderr
    model["applications"][0]["db"]["colour"] = "red"
    shop.write("model.yaml", yaml.safe_dump(model))
    warned = shop.env("edit", "shop", "--model", "model.yaml").stderr
    assert (
        "model.yaml: $.applications[0].db.colour: expected a property that models of acme.Db"
        in warned
    )


@pytest.mark.full
def test_a_secret_that_is_not_kept_is_named_with_the_command_that_keeps_it(shop):
    shop.env("secret", "shop", "db", "--remove")
    found = shop.env("deploy", "shop", code=1).stderr
    assert "expected the secret db, found none; keep it with `trundle env secret`" in found


def test_an_interrupted_run_says_how_it_goes_on(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("trundle.cli._env_runs.run_code", interrupted)
    for options, said in (
        ((), "interrupted; the same command goes on from there\n"),
        (["--dry-run"], ""),
    ):
        arguments = ["env", "deploy", "shop", "--catalog", str(tmp_path / "catalog.db"), *options]
        done = CliRunner().invoke(app, arguments)
        assert (done.exit_code, done.stderr) == (130, said)


def test_all_that_is_wrong_in_a_list_of_programs_is_said_at_once(tmp_path):
    programs = tmp_path / "programs.yaml"
    programs.write_text("programs: {a: run.sh, b: 7}\nseconds: soon\nfoldre: x\n")
    catalog = str(tmp_path / "catalog.db")
    done = CliRunner().invoke(
        app, ["env", "create", "shop", "--programs", str(programs), "--catalog", catalog]
    )
    assert done.exit_code == 2
    places = re.findall(r"programs.yaml: ([^ ]+): expected", done.stderr)
    assert places == ["$.seconds", "$.foldre", "$.programs.a", "$.programs.b"]


REFUSED = [
    ("show nope", 5, "nope: expected an environment of default, found none"),
    ("create shop", 4, "shop: expected no environment of that name"),
    (
        "add shop acme.Web --class acme.Web --values web.yaml --name web",
        2,
        "acme.Web: expected a name that no application has, found web, as web is called",
    ),
    ("add shop acme.Wob", 5, "acme.Wob: expected a package acme.Wob that default sees"),
    ("add shop acme.Web@2", 5, "found only 1.0.0; name another range"),
    ("add shop acme.Web@x", 2, "acme.Web@x: expected NAME or NAME@RANGE"),
    ("add shop acme.Web --form no.yaml", 2, "found no.yaml; write one of UI/ui.yaml"),
    ("add shop acme.Db --form no.yaml", 2, "acme.Db: expected no form of acme.Db"),
    ("add shop acme.Web --class acme.Wob", 2, "found acme.Wob; did you mean acme.Web?"),
    ("secret shop nine --remove", 5, "shop: expected the secret nine, found only db"),
    ("call shop web deploy", 3, "run `trundle env deploy shop`"),
    ("rollback shop 7", 5, "shop: expected deployment 7, found none yet"),
    ("discard shop --draft nine", 5, "found only ann"),
    ("remove shop nine", 5, "shop: expected one application nine, found web"),
    ("deploy shop --namespace x", 2, "--namespace: expected --server or --context with it"),
    ("deploy shop --server localhost:80", 2, "--server: expected a URL such as https://"),
    ("deploy shop --programs web.yaml", 2, "web.yaml: $.?: expected one of programs"),
    ("upgrade shop acme.Wob", 5, "shop: expected an object of the package acme.Wob"),
]


@pytest.mark.full
def test_a_draft_that_is_not_there_is_not_taken_for_none(shop):
    found = shop.env("deploy", "shop", "--draft", "misspelt", code=5)
    assert "expected the draft misspelt, found only ann" in found.stderr
    other = shop.env("deploy", "shop", "--dry-run", LOGNAME="bob")
    said = "warning: shop: no draft bob, so what is wanted already is deployed; name one: ann"
    assert said in other.stderr
    assert shop.env("history", "shop").stdout == ""
    assert shop.env("deploy", "shop", "--draft", "ann")
    gone = shop.env("deploy", "shop", "--draft", "misspelt", code=5)
    assert "found none; name no draft to deploy what is wanted already" in gone.stderr
    shop.env("deploy", "shop", "--draft", "ann")


@pytest.mark.full
def test_what_cannot_be_done_is_refused(shop, monkeypatch):
    monkeypatch.chdir(shop.folder)
    for name, value in shop.environment.items():
        monkeypatch.setenv(name, value)
    for command, code, message in REFUSED:
        done = CliRunner().invoke(app, ["env", *command.split()])
        assert (done.exit_code, message in done.stderr) == (code, True), (command, done.stderr)
    assert not (shop.folder / "deployed").exists()
    done = CliRunner().invoke(app, ["catalog", "use", "shop", "--forget"])
    assert (done.exit_code, "found one of `trundle env`" in done.stderr) == (4, True)
    assert shop.run("catalog", "delete", "acme.Web", "1.0.0", code=3)
    monkeypatch.setenv("TRUNDLE_SERVER", "http://127.0.0.1:9")
    monkeypatch.delenv("TRUNDLE_CATALOG")
    done = CliRunner().invoke(app, ["env", "list"])
    assert (done.exit_code, "TRUNDLE_SERVER: expected the database" in done.stderr) == (2, True)


FORM = {
    "manifest.yaml": """\
Format: 1.4
FullName: com.acme.Note
Version: 1.2.0
Name: Note
Type: Application
Require: {io.trundle: 1}
Classes: {com.acme.Note: Note.yaml}
UI: ui.yaml
""",
    "Classes/Note.yaml": """\
Namespaces: {=: com.acme, std: io.murano, t: io.trundle}
Name: Note
Extends: std:Application
Properties:
  text: {Contract: $.string().notNull()}
  secret: {Contract: $.string().notNull()}
  count: {Contract: $.int(), Usage: InOut, Default: 0}
Methods:
  deploy:
    Body:
      - new(t:File, path => 'note.txt', text => format('{0} {1}', $.text, $.secret)).deploy()
  add:
    Scope: Public
    Arguments:
      - more: {Contract: $.int().notNull()}
    Body:
      - $.count: $.count + $more
      - Return: {count: $.count, note: $this}
""",
    "UI/ui.yaml": """\
Version: 2.4
Application:
  ?: {type: com.acme.Note}
  text: $.main.text
  secret: $.main.secret
Forms:
  - main:
      fields:
        - {name: text, type: string, label: Text, initial: hello}
        - {name: secret, type: password, label: Secret, confirmInput: false}
""",
}


@pytest.fixture
def note(line):
    for name, text in FORM.items():
        line.write(f"note/{name}", text)
    line.run("catalog", "upload", "note")
    line.env("create", "desk", "--folder", "deployed")
    return line


@pytest.mark.full
def test_a_form_is_asked_and_its_password_is_kept_apart(note):
    with Talk(
        note.folder, "env", "add", "desk", "com.acme.Note", "--catalog", "catalog.db"
    ) as talk:
        talk.answer("Text [hello]: ", "bye")
        talk.answer("Secret: ", "Hush-4-two!")
        talk.answer("Application Name [Note]: ", "memo")
        assert talk.ended()[0] == 0, talk.shown
    shown = note.env("show", "desk", "--model", "--draft", _user()).stdout
    assert 'secret: "{{secret:com.acme.Note-' in shown
    assert "Hush" not in shown
    note.env("deploy", "desk", "--draft", _user())
    assert (note.folder / "deployed/note.txt").read_text() == "bye Hush-4-two!"


@pytest.mark.full
def test_answers_that_no_object_comes_of_are_shown_without_passwords(note):
    strict = FORM["Classes/Note.yaml"].replace("$.string().notNull()", "$.string().check($ = x)", 1)
    note.write("note/Classes/Note.yaml", strict)
    note.write("note/manifest.yaml", FORM["manifest.yaml"].replace("1.2.0", "2.0.0"))
    note.run("catalog", "upload", "note")
    with Talk(
        note.folder, "env", "add", "desk", "com.acme.Note", "--catalog", "catalog.db"
    ) as talk:
        talk.answer("Text [hello]: ", "bye")
        talk.answer("Secret: ", "Hush-4-two!")
        talk.answer("Application Name [Note]: ", "memo")
        code = talk.ended()[0]
    assert code != 0, talk.shown
    assert "What was answered, for a file for `--values`" in talk.shown
    assert "main:" in talk.shown
    assert "text: bye" in talk.shown
    assert "application_name: memo" in talk.shown
    assert "Hush" not in talk.shown
    assert "{{secret" not in talk.shown


@pytest.mark.full
def test_what_others_add_while_a_form_is_asked_loses_no_answer(note):
    note.write("answers.yaml", "main: {secret: Hush-4-two!}\n")
    place = ("--catalog", "catalog.db", "--draft", "ours")
    with Talk(note.folder, "env", "add", "desk", "com.acme.Note", *place) as talk:
        talk.answer("Text [hello]: ", "bye")
        for each in ("one", "other"):
            values = ("--values", "answers.yaml", "--name", each)
            note.env("add", "desk", "com.acme.Note", *values, "--draft", "ours")
        talk.answer("Secret: ", "Hush-4-two!")
        talk.answer("Application Name [Note]: ", "memo")
        assert talk.ended()[0] == 0, talk.shown
    shown = note.env("show", "desk", "--model", "--draft", "ours").stdout
    assert [each for each in ("one", "other", "memo") if f"name: {each}" in shown] == [
        "one",
        "other",
        "memo",
    ]


def _user():
    import getpass

    return getpass.getuser()


@pytest.mark.full
def test_answers_in_a_file_and_an_action(note):
    note.write("answers.yaml", "main: {secret: Hush-4-two!}\n")
    note.env("add", "desk", "com.acme.Note", "--values", "answers.yaml", "--name", "memo")
    note.env("deploy", "desk")
    called = note.env("call", "desk", "memo", "add", "more=3")
    value = yaml.safe_load(called.stdout)
    assert (value["count"], value["note"]["count"]) == (3, 3)
    assert called.stderr == "kept as deployment 2\n"
    again = note.env("call", "desk", "memo", "add", "4", "-o", "json")
    assert json.loads(again.stdout)["count"] == 7
    wrong = note.env("call", "desk", "memo", "add", "much", code=3).stderr
    assert "more" in wrong
    found = note.data("history", "desk")
    # What began within one second stands in any order.
    begun = [each["begun"] for each in found]
    assert begun == sorted(begun, reverse=True)
    (failed,) = [each for each in found if each["number"] is None]
    deployments = [each for each in found if each["number"] is not None]
    assert (failed["number"], failed["action"], failed["outcome"]) == (
        None,
        "call memo.add",
        "failed",
    )
    assert (len(deployments), "more" in failed["error"]) == (3, True)
    assert "- " in note.env("history", "desk").stdout


@pytest.mark.full
def test_wrong_answers_leave_no_draft(note):
    note.write("answers.yaml", "main: {secret: short, nope: 1}\n")
    refused = note.env("add", "desk", "com.acme.Note", "--values", "answers.yaml", code=3)
    assert refused.stderr.count("[wrong-answer]") == 3
    assert note.data("show", "desk")["drafts"] == []
    assert "short" not in note.env("show", "desk").stdout


@pytest.mark.full
def test_options_of_a_dry_run_are_used_and_not_kept(note):
    note.write("answers.yaml", "main: {secret: Hush-4-two!}\n")
    note.env("create", "bare")
    note.env("add", "bare", "com.acme.Note", "--values", "answers.yaml")
    tried = note.env("deploy", "bare", "--folder", "elsewhere", "--dry-run").stdout
    assert "create folder/" in tried
    assert note.data("show", "bare")["providers"] == {}
    assert not (note.folder / "elsewhere").exists()


DOOR = """\
Namespaces: {=: com.acme, t: io.trundle, std: io.murano}
Name: Door
Extends: std:Application
Methods:
  deploy:
    Body:
      - new(t:Document, name => door, content => VERSION).deploy()
"""


@pytest.mark.full
def test_an_upgrade_takes_what_a_channel_has_installed(tmp_path):
    line = Line(tmp_path)
    where = ("--state", "state")

    def publish(version):
        manifest = (
            f"FullName: com.acme.Door\nType: Application\nVersion: {version}\nFormat: '1.0'\n"
        )
        manifest += "Require: {io.trundle: '1'}\nClasses: {com.acme.Door: door.yaml}\n"
        line.write("door/manifest.yaml", manifest)
        line.write("door/Classes/door.yaml", DOOR.replace("VERSION", f"'v{version}'"))
        line.run("publish", "door", "--to", "oci:registry//acme/door", "--channel", "stable")

    publish("1.0.0")
    line.run("install", "oci:registry//acme/door", "--unsigned", *where)
    line.run("catalog", "upload", "--installed", *where)
    line.env("create", "home", "--folder", "deployed")
    line.env("add", "home", "com.acme.Door", "--draft", "me")
    line.env("deploy", "home", "--draft", "me")
    publish("1.1.0")
    line.run("upgrade", "--now", *where)
    assert "has the newest versions" in line.env("upgrade", "home").stderr
    tried = line.env("upgrade", "home", "--installed", *where, "--dry-run").stdout
    assert "com.acme.Door 1.0.0 -> 1.1.0" in tried
    assert "has the newest versions" in line.env("upgrade", "home").stderr
    line.env("upgrade", "home", "--installed", *where)
    assert (tmp_path / "deployed" / "door.yaml").read_text() == "v1.1.0"
    assert line.data("show", "home")["uses"][0] == {"name": "com.acme.Door", "version": "1.1.0"}
