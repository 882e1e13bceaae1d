"""Environments are drafted, deployed, called, rolled back and deleted; the history keeps all of it."""

import pytest
from engines import package
from kept import TENANT, Kept, adding, done
from sqlalchemy import event, inspect, text
from sqlalchemy.engine import Engine

from trundle.catalog import Catalog, InvalidTenantError
from trundle.database import NewerSchemaError
from trundle.engine import EngineError
from trundle.environments import (
    Actions,
    ChoiceError,
    EnvironmentBusyError,
    EnvironmentExistsError,
    Environments,
    InvalidNameError,
    InvalidSecretError,
    NoSuchDeploymentError,
    NoSuchDraftError,
    NoSuchEnvironmentError,
    NoSuchObjectError,
    NoSuchSecretError,
    OutdatedDraftError,
    ProviderInUseError,
    UnfinishedError,
    _secrets,
    call,
    check_application,
    chosen_package,
    delete,
    deploy,
    removing,
    rollback,
)
from trundle.environments import _environments as environments
from trundle.environments import _running as running
from trundle.environments._rows import Rows
from trundle.environments._static_calls import called_class
from trundle.environments._tables import MIGRATIONS
from trundle.providers import FolderProvider


def state(kept):
    return kept.environments.overview("shop", tenant=TENANT).state


@pytest.mark.full
def test_a_draft_is_deployed_and_a_second_deploy_does_nothing(shop):
    draft = shop.add("web", {"one": 1, "two": 2})
    assert (draft.base, draft.edition, draft.uses) == (0, 1, (("a", "1.0.0"),))
    assert shop.files() == {}
    assert state(shop) == "new"
    first = shop.deploy()
    assert first.number == 1
    assert done(first) == [("create", "folder/one.yaml"), ("create", "folder/two.yaml")]
    assert shop.files() == {"one.yaml": "1\n", "two.yaml": "2\n"}
    assert state(shop) == "deployed"
    assert shop.environments.drafts("shop", tenant=TENANT) == ()
    again = shop.deploy()
    assert done(again) == [("unchanged", "folder/one.yaml"), ("unchanged", "folder/two.yaml")]
    assert shop.model()["applications"][0]["?"] == {"type": "a.App/1.0.0@a", "id": "web"}


@pytest.mark.full
def test_what_is_no_longer_wanted_goes_in_the_reverse_order(shop):
    shop.add("web", {"one": 1, "two": 2})
    shop.add("db", {"three": 3})
    shop.deploy()
    shop.edit(lambda model: {**model, "applications": model["applications"][1:]})
    assert done(shop.deploy()) == [
        ("unchanged", "folder/three.yaml"),
        ("remove", "folder/two.yaml"),
        ("remove", "folder/one.yaml"),
    ]
    assert shop.files() == {"three.yaml": "3\n"}


@pytest.mark.full
def test_a_dry_run_writes_nothing(shop):
    shop.add("web", {"one": 1})
    would = shop.deploy(dry_run=True)
    assert (would.number, done(would)) == (None, [("create", "folder/one.yaml")])
    assert would.changes[0].diff.endswith("+1\n")
    assert (shop.files(), shop.history(), shop.effects()) == ({}, (), [])
    assert shop.deploy().changes == would.changes


@pytest.mark.full
def test_the_history_keeps_each_deployment(shop):
    shop.add("web", {"one": 1})
    shop.deploy(by="ann")
    shop.edit(lambda model: adding(model, "db", {"two": 2}))
    shop.deploy(by="bob")
    first, second = shop.history()
    assert (first.number, first.by, first.outcome) == (1, "ann", "succeeded")
    assert first.begun < first.ended < second.begun
    assert second.uses == (("a", "1.0.0"),)
    assert second.changes == (("unchanged", "folder/one.yaml"), ("create", "folder/two.yaml"))
    assert len(first.objects["applications"]) == 1
    assert len(second.objects["applications"]) == 2


@pytest.mark.full
def test_the_second_of_two_drafts_is_refused_and_writes_nothing(shop):
    shop.add("web", {"one": 1}, "ann")
    shop.add("db", {"two": 2}, "bob")
    shop.deploy("ann", by="ann")
    before = (shop.files(), shop.history(), shop.environments.drafts("shop", tenant=TENANT))
    for attempt in (
        lambda: shop.deploy("bob"),
        lambda: shop.deploy("bob", dry_run=True),
        lambda: shop.add("more", {}, "bob"),
    ):
        with pytest.raises(OutdatedDraftError) as caught:
            attempt()
        assert "deployment 1 (deploy by ann at 2026-01-02T" in caught.value.found
        assert caught.value.found.endswith("web added")
    after = (shop.files(), shop.history(), shop.environments.drafts("shop", tenant=TENANT))
    assert after == before
    shop.environments.discard("shop", tenant=TENANT, draft="bob")
    shop.add("db", {"two": 2}, "bob")
    shop.deploy("bob")
    assert shop.files() == {"one.yaml": "1\n", "two.yaml": "2\n"}


@pytest.mark.full
def test_a_deploy_that_changes_no_object_outdates_no_draft(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    shop.add("db", {"two": 2}, "bob")
    shop.deploy("")
    assert shop.deploy("bob").number == 3


def test_two_edits_of_one_draft_at_once_are_a_conflict(shop):
    def slowly(model):
        shop.add("quick", {})
        return adding(model, "slow")

    with pytest.raises(OutdatedDraftError) as caught:
        shop.edit(slowly)
    assert caught.value.expected == "the draft me as it was read"
    (draft,) = shop.environments.drafts("shop", tenant=TENANT)
    assert [each["?"]["id"] for each in draft.model["applications"]] == ["quick"]


def test_a_draft_that_was_made_anew_while_it_is_edited_is_not_overwritten(shop):
    shop.add("old", {})

    def slowly(model):
        shop.environments.discard("shop", tenant=TENANT, draft="me")
        shop.add("new", {})
        return adding(model, "slow")

    with pytest.raises(OutdatedDraftError):
        shop.edit(slowly)
    (draft,) = shop.environments.drafts("shop", tenant=TENANT)
    assert [each["?"]["id"] for each in draft.model["applications"]] == ["new"]


def test_a_draft_that_was_made_anew_while_a_deploy_began_is_not_taken(shop, monkeypatch):
    shop.add("old", {"one": 1})
    loaded = running.loaded

    def slowly(*given):
        monkeypatch.setattr(running, "loaded", loaded)
        shop.environments.discard("shop", tenant=TENANT, draft="me")
        shop.add("new", {"two": 2})
        return loaded(*given)

    monkeypatch.setattr(running, "loaded", slowly)
    with pytest.raises(OutdatedDraftError):
        shop.deploy()
    (draft,) = shop.environments.drafts("shop", tenant=TENANT)
    assert [each["?"]["id"] for each in draft.model["applications"]] == ["new"]
    assert (shop.files(), shop.history()) == ({}, ())


@pytest.mark.full
def test_a_deploy_between_reading_and_writing_a_draft_is_a_conflict(shop):
    def slowly(model):
        shop.add("quick", {}, "bob")
        shop.deploy("bob")
        return adding(model, "slow")

    with pytest.raises(OutdatedDraftError):
        shop.edit(slowly)
    assert shop.environments.drafts("shop", tenant=TENANT) == ()


def test_a_model_that_does_not_fit_changes_nothing(shop):
    with pytest.raises(EngineError):
        shop.edit(lambda model: adding(model, "web", documents=3))
    with pytest.raises(EngineError):
        shop.edit(lambda model: adding(model, "web", class_name="a.Other"))
    assert shop.environments.drafts("shop", tenant=TENANT) == ()


def test_a_draft_that_is_not_there_is_refused_where_others_are(shop):
    shop.add("web", {"one": 1}, draft="ann")
    with pytest.raises(NoSuchDraftError, match="expected the draft an, found only ann"):
        shop.deploy("an")
    with pytest.raises(NoSuchDraftError, match="expected the draft an, found only ann"):
        shop.deploy("an", dry_run=True)
    assert (shop.history(), shop.files()) == ((), {})
    shop.deploy("ann")
    shop.deploy("ann")  # The last deployment has taken it.
    assert shop.outcomes() == [("deploy", "succeeded")] * 2


@pytest.mark.parametrize("draft", ["ann", ""])
def test_a_deployment_that_failed_goes_on_with_its_draft_beside_others(shop, draft):
    (shop.folder / "two.yaml").mkdir(parents=True)
    shop.add("web", {"one": 1, "two": 2}, draft="ann")
    shop.add("web", {"other": 3}, draft="bob")
    with pytest.raises(EngineError, match=r"two\.yaml"):
        shop.deploy("ann")
    (shop.folder / "two.yaml").rmdir()
    shop.deploy(draft)
    assert shop.outcomes() == [("deploy", "failed"), ("deploy", "succeeded")]
    assert set(shop.files()) == {"one.yaml", "two.yaml"}


@pytest.mark.full
def test_what_a_failed_deploy_did_stays_and_the_next_one_goes_on(shop):
    (shop.folder / "two.yaml").mkdir(parents=True)
    shop.add("web", {"one": 1, "two": 2, "three": 3})
    with pytest.raises(EngineError, match=r"two\.yaml"):
        shop.deploy()
    assert shop.outcomes() == [("deploy", "failed")]
    assert "two.yaml" in shop.history()[0].error
    assert shop.files() == {"one.yaml": "1\n"}
    assert state(shop) == "unfinished"
    (shop.folder / "two.yaml").rmdir()
    assert [each for each, _ in done(shop.deploy())] == ["unchanged", "create", "create"]
    assert shop.outcomes() == [("deploy", "failed"), ("deploy", "succeeded")]


@pytest.mark.full
def test_a_rollback_deploys_an_earlier_model_again(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    shop.edit(lambda model: adding({**model, "applications": []}, "web", {"one": 9, "two": 2}))
    shop.deploy()
    assert shop.files() == {"one.yaml": "9\n", "two.yaml": "2\n"}
    would = shop.run(rollback, 1, dry_run=True)
    assert done(would) == [("change", "folder/one.yaml"), ("remove", "folder/two.yaml")]
    assert shop.run(rollback, 1).changes == would.changes
    assert shop.files() == {"one.yaml": "1\n"}
    assert shop.outcomes()[-1] == ("rollback to 1", "succeeded")
    assert shop.model() == shop.history()[0].objects
    with pytest.raises(NoSuchDeploymentError, match="1 to 3"):
        shop.run(rollback, 4)


@pytest.mark.full
def test_an_action_changes_the_model_and_returns_plain_values(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    result = shop.run(call, "web", "put", ["two"], {"content": [2]}, by="ann")
    assert (result.value, result.number) == ({"one": 1, "two": [2]}, 2)
    assert shop.files() == {"one.yaml": "1\n", "two.yaml": "- 2\n"}
    assert shop.history()[1].action == "call web.put"
    assert shop.model()["applications"][0]["documents"] == {"one": 1, "two": [2]}
    assert [each for each, _ in done(shop.deploy(""))] == ["unchanged", "unchanged"]


@pytest.mark.full
def test_an_action_that_changes_nothing_is_no_deployment(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    shop.add("db", {}, "bob")
    result = shop.run(call, "web", "count")
    assert (result.value, result.number) == (1, None)
    assert len(shop.history()) == 1
    shop.deploy("bob")


@pytest.mark.full
def test_an_action_that_fails_keeps_nothing_of_the_model(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    with pytest.raises(EngineError, match="it broke"):
        shop.run(call, "web", "fail", by="ann")
    assert len(shop.history()) == 1
    (failed,) = Actions(shop.environments).failed_calls("shop", tenant=TENANT)
    assert (failed.action, failed.state, failed.by) == ("call web.fail", "failed", "ann")
    assert "it broke" in failed.error["message"]
    assert shop.run(call, "web", "count").value == 1
    with pytest.raises(EngineError, match="it broke"):
        shop.run(call, "web", "fail", dry_run=True)
    assert len(Actions(shop.environments).list("shop", tenant=TENANT)) == 1
    assert "failing.yaml" in shop.files()
    assert done(shop.deploy())[-1] == ("remove", "folder/failing.yaml")


@pytest.mark.full
def test_a_call_in_a_dry_run_writes_nothing(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    would = shop.run(call, "web", "put", ["two"], dry_run=True)
    assert done(would)[-1] == ("create", "folder/two.yaml")
    assert (len(shop.history()), shop.effects()) == (1, ["folder/one.yaml"])


@pytest.mark.full
def test_what_cannot_be_called_is_refused(shop):
    with pytest.raises(UnfinishedError):
        shop.run(call, "web", "count")
    shop.add("web", {})
    shop.deploy()
    with pytest.raises(
        NoSuchObjectError, match=r"expected an object wob, found none; did you mean web\?"
    ):
        shop.run(call, "wob", "count")
    with pytest.raises(EngineError, match="not public"):
        shop.run(call, "web", "reportDeployed")
    with pytest.raises(EngineError):
        shop.run(call, "web", "put")
    for each in ("one", "two"):
        shop.add(each, {}, **{"?": {"type": "a.App", "id": each, "name": "both"}})
    shop.deploy()
    with pytest.raises(
        NoSuchObjectError, match="expected one object both, found several: one, two"
    ):
        shop.run(call, "both", "count")


STATIC = """
Namespaces: {=: b, t: io.trundle, a: a}
Name: Tool
Methods:
  sum:
    Usage: Static
    Scope: Public
    Arguments: [{one: {Contract: $.int().notNull()}}, {two: {Contract: $.int(), Default: 1}}]
    Body: {Return: $one + $two + ADDED}
  of:
    Usage: Static
    Scope: Public
    Arguments: [{app: {Contract: $.class(a:App).notNull()}}]
    Body:
      - $app.put(three, 3)
      - Return: $app
  write:
    Usage: Static
    Scope: Public
    Body:
      - new(t:File, path => 'tool.txt', text => done).deploy()
  hidden:
    Usage: Static
    Body: {Return: 1}
  runs:
    Scope: Public
    Body: {Return: 1}
"""


def tools(shop, *versions):
    requirements = {"io.trundle": "1", "a": "1"}
    made = [
        package("b", each, requirements, {"b.Tool": STATIC.replace("ADDED", each[0])})
        for each in versions
    ]
    assert not shop.catalog.upload(made, tenant=TENANT).refused


def test_a_static_method_is_called_in_an_environment_that_is_deployed(shop):
    tools(shop, "1.0.0", "1.1.0", "2.0.0")
    shop.add("web", {"one": 1})
    shop.deploy()
    for target, expected in (
        (":b.Tool", 5),
        (":b.Tool/1", 4),
        (":b.Tool/1.0@b", 4),
        (":b.Tool@b", 5),
    ):
        result = shop.run(call, target, "sum", [2])
        assert (result.value, result.number) == (expected, None)
    assert shop.run(call, ":b.Tool", "sum", [], {"one": 2, "two": 5}).value == 9
    result = shop.run(call, ":b.Tool", "of", ["web"])
    assert (result.value["?"]["id"], result.number) == ("web", 2)
    assert shop.history()[1].action == "call :b.Tool.of"
    assert shop.model()["applications"][0]["documents"] == {"one": 1, "three": 3}
    for target, method, message in (
        (":b.Tool", "hidden", "not public"),
        (":b.Tool", "runs", "expected a static method of b.Tool, found runs"),
        (":b.Toll", "sum", "b.Toll"),
        (":b.Tool/3", "sum", "in version 3, found only 1.0.0, 1.1.0, 2.0.0"),
        (":b.Tool@a", "sum", "b.Tool"),
        (":", "sum", "expected a class after `:`, found ':'; write it as `:NAME`"),
    ):
        with pytest.raises((EngineError, NoSuchObjectError), match=message):
            shop.run(call, target, method)


def test_a_static_method_is_that_of_the_version_that_the_environment_uses(shop):
    tools(shop, "1.0.0")
    assert not shop.catalog.upload(
        [package("c", "1.0.0", {"b": "1", "a": "1"}, {"c.Web": "Name: c.Web\nExtends: [a.App, b.Tool]"})],
        tenant=TENANT,
    ).refused  # fmt: skip
    tools(shop, "1.2.0")
    shop.add("web", {}, **{"?": {"type": "c.Web", "id": "web"}})
    shop.deploy()
    tools(shop, "1.3.0", "2.0.0")
    assert ("b", "1.2.0") in shop.history()[0].uses
    (_, used) = next(each for each in shop.history()[0].uses if each[0] == "b")
    found = called_class(":b.Tool").used(shop.environments.snapshot(TENANT), shop.history()[0].uses)
    assert (found.version, found.package) == (used, "b")
    assert shop.run(call, ":b.Tool", "sum", [2]).value == 4
    assert shop.run(call, ":b.Tool/2", "sum", [2]).value == 5


def test_a_static_method_needs_no_deployment(shop):
    tools(shop, "1.0.0")
    for dry_run in (True, False):
        result = shop.run(call, ":b.Tool", "sum", [2], dry_run=dry_run)
        assert (result.value, result.number) == (4, None)
    assert done(shop.run(call, ":b.Tool", "write")) == [("create", "folder/tool.txt")]
    assert (shop.files(), shop.history()) == ({"tool.txt": "done"}, ())
    assert state(shop) == "new"
    shop.add("web", {"../x": 1})
    with pytest.raises(EngineError):
        shop.deploy()
    with pytest.raises(UnfinishedError):
        shop.run(call, ":b.Tool", "sum", [2])
    shop.edit(removing("shop", "web"))
    shop.deploy()
    assert shop.files() == {}


@pytest.mark.full
def test_a_deleted_environment_has_a_history_and_comes_back(shop):
    shop.add("web", {"one": 1, "two": 2})
    shop.deploy()
    result = shop.run(delete)
    assert done(result) == [("remove", "folder/two.yaml"), ("remove", "folder/one.yaml")]
    assert (shop.files(), state(shop)) == ({}, "deleted")
    for attempt in (shop.deploy, lambda: shop.add("x"), lambda: shop.run(delete)):
        with pytest.raises(NoSuchEnvironmentError, match="was deleted"):
            attempt()
    shop.run(rollback, 1)
    assert shop.files() == {"one.yaml": "1\n", "two.yaml": "2\n"}
    shop.run(delete)
    shop.create()
    assert (state(shop), len(shop.history())) == ("new", 4)
    shop.add("new", {"three": 3})
    shop.deploy()
    assert shop.files() == {"three.yaml": "3\n"}


@pytest.mark.full
def test_purging_removes_the_history_of_a_deleted_environment(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    for dry_run in (True, False):
        with pytest.raises(EnvironmentExistsError):
            shop.environments.purge("shop", tenant=TENANT, dry_run=dry_run)
    shop.run(delete)
    kept = shop.history()
    shop.environments.purge("shop", tenant=TENANT, dry_run=True)
    assert shop.history() == kept
    shop.environments.purge("shop", tenant=TENANT)
    assert shop.environments.overviews(TENANT) == ()
    with pytest.raises(NoSuchEnvironmentError):
        shop.history()


def test_a_list_is_read_at_once_however_many_environments_there_are(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    shop.add("more", {"two": 2}, draft="b")
    shop.add("more", {"two": 2}, draft="a")
    shop.environments.create("shop", tenant="other")

    def listed():
        statements = []

        def note(_, cursor, statement, *further):
            statements.append(statement)

        event.listen(Engine, "before_cursor_execute", note)
        try:
            found = shop.environments.overviews(TENANT)
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        return found, len(statements)

    (one,), number = listed()
    for at in range(9):
        shop.environments.create(f"e{at}", tenant=TENANT)
    every, again = listed()
    assert again == number
    assert every[-1] == one == shop.environments.overview("shop", tenant=TENANT)
    assert (one.state, one.drafts) == ("deployed", ("a", "b"))
    assert ("a", "1.0.0") in one.uses
    assert [(each.state, each.uses) for each in every[:-1]] == [("new", ())] * 9


def test_environments_belong_to_tenants(shop):
    assert shop.environments.overviews("other") == ()
    with pytest.raises(NoSuchEnvironmentError):
        deploy(shop.environments, "shop", tenant="other", **shop.acting())
    shop.environments.create("shop", tenant="other")
    with pytest.raises(EnvironmentExistsError):
        shop.create()


@pytest.mark.full
def test_what_an_environment_uses_is_not_deleted(shop):
    shop.add("web", {})
    used = shop.catalog.environments(TENANT)
    assert [(x.name, [str(y) for y in x.versions]) for x in used] == [("shop", ["a 1.0.0"])]
    shop.deploy()
    assert shop.catalog.environments(TENANT) == used
    shop.run(delete)
    assert shop.catalog.environments(TENANT) == ()


def test_the_last_draft_takes_its_uses_with_it(shop):
    shop.add("web", {})
    with pytest.raises(NoSuchDraftError):
        shop.environments.discard("shop", tenant=TENANT, draft="nine")
    shop.environments.discard("shop", tenant=TENANT, draft="me")
    assert shop.catalog.environments(TENANT) == ()
    with pytest.raises(NoSuchDraftError, match="add an application first"):
        shop.environments.discard("shop", tenant=TENANT, draft="me")


@pytest.mark.full
def test_one_run_at_a_time_and_only_of_one_environment(shop):
    shop.add("web", {"one": 1})
    other = Kept(shop.url, shop.folder, packages=())
    with shop.environments.database.alone(f"environment {TENANT}/shop"):
        for each in (shop, other):
            with pytest.raises(EnvironmentBusyError):
                each.deploy()
        assert shop.history() == ()
        assert shop.deploy(dry_run=True).changes
        shop.environments.create("free", tenant=TENANT)
        deploy(shop.environments, "free", tenant=TENANT, **shop.acting())
    assert other.deploy().number == 1
    other.close()


@pytest.mark.full
def test_the_settings_of_a_provider_stay_while_it_has_effects(shop):
    def configure(root):
        return shop.environments.configure("shop", {"folder": {"root": root}}, tenant=TENANT)

    configure("/one")
    configure("/two")
    shop.add("web", {"one": 1})
    shop.deploy()
    configure("/two")
    with pytest.raises(ProviderInUseError):
        configure("/three")
    assert shop.environments.get("shop", tenant=TENANT).providers == {"folder": {"root": "/two"}}
    shop.run(delete)
    shop.create()
    configure("/three")


def test_what_the_settings_of_a_provider_left_open_may_be_said_while_it_has_effects(shop):
    def configure(**settings):
        settings = {"folder": {"namespace": "default"} | settings}
        shop.environments.configure("shop", settings, tenant=TENANT)
        assert shop.environments.get("shop", tenant=TENANT).providers == settings

    configure(context="-")
    shop.add("web", {"one": 1})
    shop.deploy()
    for settings in ({"context": "a", "namespace": "b"}, {"context": "a", "elsewhere": "refused"}):
        with pytest.raises(ProviderInUseError):
            configure(**settings)
    configure(context="a")
    configure(context="a", kubeconfig="/one")
    for settings in (
        {"context": "-", "kubeconfig": "/one"},
        {"context": "b", "kubeconfig": "/one"},
        {"context": "a", "kubeconfig": "/two"},
        {"context": "a"},
    ):
        with pytest.raises(ProviderInUseError, match="leave its options out"):
            configure(**settings)


@pytest.mark.parametrize(
    "name", ["\N{CJK UNIFIED IDEOGRAPH-5009}" * 27, "x" * 256, "-x", "a b", "a/b", "a\n", ""]
)
def test_a_name_that_no_environment_can_have_is_refused_in_a_dry_run_too(kept, name):
    for dry_run in (True, False):
        with pytest.raises((InvalidNameError, InvalidTenantError), match="the environment"):
            kept.environments.create(name, tenant=TENANT, dry_run=dry_run)
    assert kept.environments.overviews(TENANT) == ()


def test_the_longest_name_makes_no_manager_that_a_server_refuses(kept):
    """A manager has at most 128 bytes: https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers"""
    found = kept.environments.create("x" * 255, tenant=TENANT)
    assert len(found.manager.encode()) <= 128


def test_an_environment_is_made_in_a_dry_run_where_no_database_is(tmp_path):
    with Catalog(tmp_path / "catalog.db", looking=True) as catalog:
        Environments(catalog).create("shop", tenant=TENANT, dry_run=True)
    assert not (tmp_path / "catalog.db").exists()


def test_secrets_are_kept_apart(shop):
    shop.environments.set_secret("shop", "pw", "hush", tenant=TENANT)
    shop.add("web", {"one": "{{secret:pw}}"})
    result = shop.deploy()
    assert shop.files() == {"one.yaml": "hush"}
    shown = [result, *shop.history(), shop.model()]
    shown += shop.environments.effects("shop", tenant=TENANT)
    assert "hush" not in repr(shown)
    assert shop.environments.overview("shop", tenant=TENANT).secrets == ("pw",)
    shop.environments.set_secret("shop", "pw", "hushed", tenant=TENANT)
    assert done(shop.deploy()) == [("change", "folder/one.yaml")]
    shop.run(delete)
    shop.run(rollback, 1)
    assert shop.files() == {"one.yaml": "hushed"}
    shop.environments.set_secret("shop", "pw", None, tenant=TENANT)
    with pytest.raises(EngineError, match="secret"):
        shop.deploy("")


def test_one_table_alone_has_the_texts_of_secrets(shop):
    shop.edit(lambda model: adding(model, "web", {"one": "{{secret:pw}}"}), secrets={"pw": "hush"})
    shop.deploy()
    shop.add("next", {"two": "my {{secret:pw}}"})
    failed = {"tenant": TENANT, "opening": shop.opening}
    with pytest.raises(EngineError):
        call(shop.environments, "shop", "web", "put", ["../x", "{{secret:pw}}"], **failed)
    having = {}
    with shop.catalog.database.reading() as connection:
        for name in inspect(connection).get_table_names():
            rows = connection.execute(text(f'SELECT * FROM "{name}"')).all()
            having[name] = "hush" in repr(rows)
    assert [name for name, found in having.items() if found] == ["environment_secrets"]
    assert {"environment_drafts", "environment_effects", "environment_actions"} <= having.keys()


def test_secrets_of_drafts_go_when_nothing_refers_to_them(shop):
    def secrets():
        return shop.environments.overview("shop", tenant=TENANT).secrets

    def add(identifier, *names, draft="me"):
        documents = {identifier: ["{{secret:" + each + "}}" for each in names]}
        given = dict.fromkeys(names, "hush")
        shop.edit(lambda model: adding(model, identifier, documents), draft, secrets=given)

    shop.environments.set_secret("shop", "own", "hush", tenant=TENANT)
    add("web", "kept", "both")
    shop.deploy()
    add("db", "gone", "both", 'ä "q"')
    add("db", "both", "other", draft="other")
    shop.environments.discard("shop", tenant=TENANT, draft="me", dry_run=True)
    assert secrets() == ("both", "gone", "kept", "other", "own", 'ä "q"')
    shop.environments.discard("shop", tenant=TENANT, draft="me")
    assert secrets() == ("both", "kept", "other", "own")
    shop.environments.set_secret("shop", "other", "changed", tenant=TENANT)
    shop.edit(removing("shop", "db"), draft="other")
    assert secrets() == ("both", "kept", "own")
    shop.edit(removing("shop", "web"), draft="other")
    assert secrets() == ("both", "kept", "own")  # A rollback would need them.
    add("next", "next", draft="other")
    shop.run(delete)
    assert secrets() == ("both", "kept", "own")


def test_a_secret_that_the_key_of_a_map_names_stays(shop):
    names = ("in key", "left out")
    given = dict.fromkeys(names, "hush")
    documents = {"one": {"{{secret:in key}}": "{{secret:left out}}"}}
    shop.edit(lambda model: adding(model, "web", documents), secrets=given)
    rest = {"one": {"{{secret:in key}}": 1}}
    shop.edit(lambda model: adding({**model, "applications": []}, "web", rest))
    assert shop.environments.overview("shop", tenant=TENANT).secrets == ("in key",)
    shop.deploy()
    assert shop.files() == {"one.yaml": "hush: 1\n"}


def test_a_secret_that_a_person_has_named_stays_one_where_a_draft_brings_it_too(shop):
    shop.environments.set_secret("shop", "pw", "hush", tenant=TENANT)
    documents = {"one": "{{secret:pw}}"}
    shop.edit(lambda model: adding(model, "web", documents), secrets={"pw": "hushed"})
    shop.environments.discard("shop", tenant=TENANT, draft="me")
    assert shop.environments.secret_texts("shop", tenant=TENANT) == {"pw": "hushed"}


def test_the_history_is_read_no_further_than_unused_secrets_ask_for(shop, monkeypatch):
    """And not in the transaction that keeps others from writing."""
    read = []
    original = Rows.deployments

    def deployments(self, environment, before=None, most=None):
        found = original(self, environment, before, most)
        is_writing = self.connection.get_execution_options().get("trundle_writing", False)
        read.append((is_writing, [each.number for each in found]))
        return found

    shop.edit(lambda model: adding(model, "web", {"0": "{{secret:pw}}"}), secrets={"pw": "hush"})
    for number in range(1, 8):
        shop.deploy(draft="me" if number == 1 else "")
    monkeypatch.setattr(Rows, "deployments", deployments)
    monkeypatch.setattr(_secrets, "_PAGE", 3)

    def looked():
        found = [numbers for is_writing, numbers in read if not is_writing and numbers]
        assert not [numbers for is_writing, numbers in read if is_writing and len(numbers) > 3]
        read.clear()
        return [(each[0], each[-1]) for each in found]

    shop.edit(lambda model: adding(model, "db", {"1": 1}))
    assert looked() == []  # The draft refers to it.
    shop.edit(removing("shop", "web"))
    assert looked() == []  # As does an effect.
    shop.deploy()
    read.clear()
    shop.edit(lambda model: adding(model, "next"))
    assert looked() == [(6, 8)]
    given = {"new": "hush"}
    shop.edit(lambda model: adding(model, "x", {"2": "{{secret:new}}"}), "other", secrets=given)
    read.clear()
    shop.environments.discard("shop", tenant=TENANT, draft="other")
    assert looked() == [(6, 8), (3, 5), (1, 2)]
    assert shop.environments.overview("shop", tenant=TENANT).secrets == ("pw",)


def test_a_secret_to_which_a_call_refers_meanwhile_stays(shop, monkeypatch):
    """It was found unused before the transaction that removes it."""
    original, seen = environments.unused_secrets, []

    def used_meanwhile(*arguments):
        found = original(*arguments)
        seen.append(found.names)
        shop.run(call, "web", "put", ["one", "{{secret:pw}}"])
        return found

    shop.add("web")
    shop.deploy()
    documents = {"two": ["{{secret:pw}}", "{{secret:other}}"]}
    given = {"pw": "hush", "other": "hushed"}
    shop.edit(lambda model: adding(model, "db", documents), secrets=given)
    monkeypatch.setattr(environments, "unused_secrets", used_meanwhile)
    shop.environments.discard("shop", tenant=TENANT, draft="me")
    assert seen == [{"pw", "other"}]
    assert shop.environments.secret_texts("shop", tenant=TENANT) == {"pw": "hush"}
    assert shop.files() == {"one.yaml": "hush"}


def test_answers_that_an_earlier_release_kept_for_drafts_go_with_the_next_draft(shop):
    """Where a person may have given the name, the secret stays: with a date, or the name of no package."""
    leftover = "a-0a1b2c3d.db.password"
    own = ("a-20240101.db.password", "a-own", "x-20240101.db.password", "x-3f2a9c1d.db.password")
    with shop.catalog.database.writing() as connection:
        connection.execute(text("ALTER TABLE environment_secrets DROP COLUMN of_draft"))
        connection.execute(text("DROP TABLE environment_holders"))
        connection.execute(text(f"UPDATE {MIGRATIONS.version_table} SET version_num = '0004'"))
        for name in (leftover, *own):
            row = {"tenant": TENANT, "environment": "shop", "name": name, "secret": "hush"}
            keys = ", ".join(row)
            values = ", ".join(f":{each}" for each in row)
            connection.execute(
                text(f"INSERT INTO environment_secrets ({keys}) VALUES ({values})"), row
            )
    found = Environments(shop.catalog)
    assert found.overview("shop", tenant=TENANT).secrets == (leftover, *own)
    shop.add("web")
    assert found.overview("shop", tenant=TENANT).secrets == own


@pytest.mark.parametrize("text", ["hush\0", "hush\ud800"], ids=["nul", "surrogate"])
def test_a_secret_that_no_database_keeps_is_refused_and_not_shown(shop, text):
    for dry_run in (True, False):
        with pytest.raises(InvalidSecretError) as caught:
            shop.environments.set_secret("shop", "pw", text, tenant=TENANT, dry_run=dry_run)
        assert "the secret pw" in str(caught.value)
        assert "hush" not in str(caught.value)
    with pytest.raises(InvalidSecretError):
        shop.edit(lambda model: model, secrets={"pw": text})
    assert shop.environments.overview("shop", tenant=TENANT).secrets == ()
    assert shop.environments.drafts("shop", tenant=TENANT) == ()


def test_a_database_of_a_later_release_is_refused(shop):
    with shop.catalog.database.writing() as connection:
        connection.execute(text("UPDATE environments_version SET version_num = '9999'"))
    with pytest.raises(NewerSchemaError, match="environments at revision"):
        Environments(shop.catalog)


def test_an_environment_is_kept_here_or_elsewhere(kept):
    from trundle.version import SemVer

    kept.catalog.use("shop", [("a", SemVer.parse("1.0.0"))], tenant=TENANT)
    with pytest.raises(EnvironmentExistsError, match="kept elsewhere"):
        kept.create()
    assert [each.name for each in kept.catalog.environments(TENANT)] == ["shop"]
    kept.catalog.use("shop", [], tenant=TENANT)
    kept.create()


def test_a_secret_that_is_not_kept_is_not_removed(shop):
    def remove():
        shop.environments.set_secret("shop", "pv", None, tenant=TENANT)

    with pytest.raises(NoSuchSecretError, match="shop: expected the secret pv, found none"):
        remove()
    shop.environments.set_secret("shop", "pw", "hush", tenant=TENANT)
    with pytest.raises(NoSuchSecretError, match="found only pw; name one of these") as caught:
        remove()
    assert (caught.value.kind.name, caught.value.code) == ("NOT_FOUND", "secret-not-found")


def test_a_draft_of_an_environment_that_was_never_deployed(shop):
    with pytest.raises(NoSuchDraftError, match="shop: expected the draft misspelt, found none"):
        shop.deploy(draft="misspelt")
    shop.deploy(draft="")
    with pytest.raises(NoSuchDraftError, match="found none; name no draft to deploy what is want"):
        shop.deploy(draft="misspelt")


def test_applications_that_are_none(kept):
    made = package("b", "1.0.0", classes={"b.Plain": "", "b.App": "Extends: io.murano.Application"})
    assert not kept.catalog.upload([made], tenant=TENANT).refused
    snapshot = kept.environments.snapshot(TENANT)
    check_application({"?": {"type": "b.App"}}, made, snapshot)
    for name, words in (
        ("b.Plain", "b: expected a class that extends io.murano.Application, found b.Plain/1.0.0"),
        ("b.Ap", "b: expected a class of b 1.0.0, found b.Ap; did you mean b.App"),
    ):
        with pytest.raises(ChoiceError, match=words):
            check_application({"?": {"type": name}}, made, snapshot)
    with pytest.raises(ChoiceError, match="b@x: expected NAME or NAME@RANGE, with a range"):
        chosen_package(snapshot, "b@x")


def test_an_application_is_removed_where_there_is_none(shop):
    with pytest.raises(NoSuchObjectError, match="found none; there is no application to remove"):
        shop.edit(removing("shop", "web"))


LEAVING = {
    "b.Shop": """
Namespaces: {=: b, t: io.trundle, std: io.murano}
Name: Shop
Extends: std:Application
Properties:
  parts: {Contract: [$.class(Part).notNull().owned()]}
  gone: {Contract: [$.string()], Usage: Out}
Methods:
  deploy:
    Body:
      new(t:Document, name => gone, content => $.gone).deploy()
  note:
    Arguments: [{name: {Contract: $.string()}}]
    Body:
      - $.gone: $.gone + [$name]
""",
    "b.Part": """
Namespaces: {=: b}
Name: Part
Methods:
  .destroy:
    Body:
      - $.find(Shop).note(id($))
""",
}


def test_what_is_destroyed_in_a_deployment_that_fails_is_destroyed_again_and_acts_once(shop):
    """What `.destroy` changes of objects is lost with the deployment, so it has to run again; what it does to the world is in the journal."""
    classes = {
        "b.Shop": LEAVING["b.Shop"]
        .replace(
            "    Body:\n      new(t:Document, name => gone",
            "    Body:\n      - If: $.fails\n        Then: [{Throw: Broken}]\n      - new(t:Document, name => gone",
        )
        .replace("  parts:", "  fails: {Contract: $.bool(), Default: false}\n  parts:"),
        "b.Part": LEAVING["b.Part"].replace("=: b", "=: b, t: io.trundle")
        + "      - new(t:Document, name => id($), content => bye).deploy()\n",
    }
    made = package("b", "1.0.0", {"io.trundle": "1"}, classes)
    assert shop.catalog.upload([made], tenant=TENANT).findings == ()

    applied = []

    class Counting(FolderProvider):
        def apply(self, effect, now):
            applied.append(effect.key)
            return super().apply(effect, now)

    def deploy(*parts, fails=False):
        objects = [{"?": {"type": "b.Part", "id": each}} for each in parts]
        app = {"?": {"type": "b.Shop", "id": "shop"}, "parts": objects, "fails": fails}
        shop.edit(lambda model: {**model, "applications": [app]})
        return shop.deploy(**shop.acting(folder=Counting(shop.folder)))

    deploy("one", "two")
    for _ in range(2):
        with pytest.raises(EngineError):
            deploy("two", fails=True)
    result = deploy("two")
    assert done(result) == [("unchanged", "folder/one.yaml"), ("change", "folder/gone.yaml")]
    assert applied.count("folder/one.yaml") == 1
    assert shop.files() == {"gone.yaml": "- one\n", "one.yaml": "bye"}


def test_what_is_no_longer_wanted_is_destroyed_before_anything_is_deployed(shop):
    def wanted(*parts):
        made = [{"?": {"type": "b.Part", "id": each}} for each in parts]
        return [{"?": {"type": "b.Shop", "id": "shop"}, "parts": made}]

    made = package("b", "1.0.0", {"io.trundle": "1"}, LEAVING)
    assert shop.catalog.upload([made], tenant=TENANT).findings == ()
    for parts in (("one", "two"), ("two",)):
        shop.edit(lambda model, parts=parts: {**model, "applications": wanted(*parts)})
        shop.deploy()
    assert shop.files() == {"gone.yaml": "- one\n"}


def test_only_the_draft_that_a_failed_deployment_took_goes_on(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    shop.add("other", {"two": 2})
    in_the_way = shop.folder / "two.yaml"
    in_the_way.write_text("another's\n")
    for draft in ("me", "me", ""):
        with pytest.raises(EngineError):
            shop.deploy(draft)
    in_the_way.unlink()
    shop.add("third", {}, draft="ann")
    with pytest.raises(NoSuchDraftError, match="found only ann; name no draft"):
        shop.deploy("mi")
    assert len(shop.history()) == 4
    shop.deploy("me")
    assert shop.outcomes()[-1] == ("deploy", "succeeded")
    shop.run(rollback, 1)
    with pytest.raises(NoSuchDraftError):
        shop.deploy("me")


def test_a_deployment_of_an_earlier_release_has_taken_no_draft_that_is_known(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    with shop.catalog.changing() as connection:
        connection.execute(text("UPDATE environment_deployments SET draft = NULL"))
    with pytest.raises(NoSuchDraftError, match="name no draft to deploy what is wanted already"):
        shop.deploy()
    shop.deploy("")
    assert [each.draft for each in shop.environments.history("shop", tenant=TENANT)] == [None, None]
