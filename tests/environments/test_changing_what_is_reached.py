"""What an environment reaches changes only while no run goes on, and while its effects stay in reach."""

import contextlib

import pytest
from kept import TENANT

from trundle.environments import (
    Actions,
    EnvironmentBusyError,
    EnvironmentExistsError,
    NoSuchEnvironmentError,
    OutdatedDraftError,
    SupersededError,
    delete,
    deploy,
    rollback,
)
from trundle.providers import FolderProvider


def reaching(found):
    return found.providers


class Meanwhile(FolderProvider):
    """Lets others act once a run has begun, before it does anything."""

    def __init__(self, root, act):
        super().__init__(root)
        self.act, self.caught = act, None

    def check(self, effect, now):
        if self.caught is None:
            self.caught = "nothing"
            try:
                self.act()
            except Exception as error:  # noqa: BLE001 - a test looks at it
                self.caught = error
        return super().check(effect, now)


@pytest.fixture
def put_at(shop):
    def put(place, name="shop", **options):
        settings = {"folder": {"root": f"/{place}"}} if place else {}
        about = {"tenant": TENANT, "reached": reaching, **options}
        return shop.environments.put_at(name, place, settings, **about)

    return put


@pytest.mark.parametrize("way", ["put", "configure"])
def test_an_environment_stays_where_it_is_while_a_run_goes_on(shop, put_at, way):
    def configure():
        settings = {"folder": {"root": "/b"}}
        shop.environments.configure("shop", settings, tenant=TENANT)

    put_at("a")
    shop.add("web", {"one": 1})
    acting = Meanwhile(shop.folder, configure if way == "configure" else lambda: put_at("b"))
    shop.deploy(**shop.acting(folder=acting))
    assert isinstance(acting.caught, EnvironmentBusyError)
    found = shop.environments.get("shop", tenant=TENANT)
    assert (found.place, found.providers) == ("a", {"folder": {"root": "/a"}})
    shop.run(delete)
    shop.create()
    put_at("b")
    assert shop.environments.get("shop", tenant=TENANT).place == "b"


def test_a_dry_run_shows_what_would_be_while_a_run_goes_on(shop, put_at):
    put_at("a")
    shop.add("web", {"one": 1})
    shown = []
    acting = Meanwhile(shop.folder, lambda: shown.append(put_at("b", dry_run=True)))
    shop.deploy(**shop.acting(folder=acting))
    assert acting.caught == "nothing"
    assert [(x.place, x.providers) for x in shown] == [("b", {"folder": {"root": "/b"}})]
    assert shop.environments.get("shop", tenant=TENANT).place == "a"


def test_a_run_acts_where_the_environment_is_once_it_is_held(shop, put_at):
    seen = []

    def opening(environment):
        with pytest.raises(EnvironmentBusyError):
            put_at("b")
        seen.append(environment.place)
        return shop.opening()

    put_at("a")
    shop.add("web", {"one": 1})
    shop.deploy(opening=opening)
    assert seen == ["a"]


def test_a_run_that_has_lost_its_hold_does_nothing_where_the_environment_was(
    shop, put_at, monkeypatch
):
    """A server may lose the connection that holds an environment."""
    put_at("a")
    shop.add("web", {"one": 1})

    def act():
        with monkeypatch.context() as patched:
            free = contextlib.nullcontext()
            patched.setattr(type(shop.environments.database), "alone", lambda *_: free)
            put_at("b")

    acting = Meanwhile(shop.folder, act)
    with pytest.raises(SupersededError):
        shop.deploy(**shop.acting(folder=acting))
    assert (acting.caught, shop.files()) == ("nothing", {})
    assert shop.environments.get("shop", tenant=TENANT).place == "b"


def test_a_run_that_has_lost_its_hold_is_none_of_the_next_environment_of_that_name(
    shop, monkeypatch
):
    """Runs of the next one are numbered from the start."""
    free = contextlib.nullcontext()
    monkeypatch.setattr(type(shop.environments.database), "alone", lambda *_: free)

    def opening(environment):
        del environment
        shop.add("web", {"one": 1})
        shop.deploy()
        shop.run(delete)
        shop.environments.purge("shop", tenant=TENANT)
        made.append(shop.environments.create("shop", tenant=TENANT, place="b"))
        return shop.opening()

    made = []
    with pytest.raises(SupersededError, match="expected run 0 to be the last one, found a later"):
        shop.run(deploy, opening=opening)
    assert shop.environments.get("shop", tenant=TENANT) == made[0]


def test_an_environment_that_was_deleted_is_not_made_anew_while_it_is_rolled_back(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    shop.run(delete)
    caught = []

    def opening(environment):
        del environment
        for act in (
            lambda: shop.environments.create("shop", tenant=TENANT, place="b"),
            lambda: shop.environments.purge("shop", tenant=TENANT),
        ):
            with pytest.raises(EnvironmentBusyError) as found:
                act()
            caught.append(found.value)
        return shop.opening()

    shop.run(rollback, 1, opening=opening)
    assert len(caught) == 2
    assert "found `rollback to 1`, which goes on since " in str(caught[0])
    with pytest.raises(EnvironmentExistsError):
        shop.create()


def test_one_that_is_there_is_neither_made_nor_purged_while_a_run_goes_on(shop):
    """What does not change when the run has ended is said as such."""
    caught = []

    def opening(environment):
        for act in (shop.environments.create, shop.environments.purge):
            with pytest.raises(EnvironmentExistsError):
                act(environment.name, tenant=TENANT)
            caught.append(act)
        return shop.opening()

    shop.add("web", {"one": 1})
    shop.deploy(opening=opening)
    assert len(caught) == 2


def test_an_action_of_one_that_was_purged_does_not_act_on_the_next_of_its_name(shop):
    shop.add("web", {"one": 1})
    shop.deploy()
    shop.run(delete)
    actions = Actions(shop.environments)
    with actions.seated() as seat:
        asked = actions.begin("shop", "delete", tenant=TENANT, by="ann", seat=seat)
        for begin in (lambda _: None, actions.start):
            begin(asked)
            with pytest.raises(EnvironmentBusyError, match="expected no action that waits or goes"):
                shop.environments.purge("shop", tenant=TENANT)
        actions.end(asked, "failed")
        shop.environments.purge("shop", tenant=TENANT)
        with pytest.raises(NoSuchEnvironmentError):
            actions.begin("shop", "delete", tenant=TENANT, by="ann", seat=seat)


def test_all_that_a_place_has_takes_the_place_of_what_was_reached(shop, put_at):
    shop.environments.configure("shop", {"process": {"programs": "/p"}}, tenant=TENANT)
    shop.environments.configure("shop", {"folder": {"root": "/x"}}, tenant=TENANT)
    assert set(shop.environments.get("shop", tenant=TENANT).providers) == {"process", "folder"}
    assert put_at("a").providers == {"folder": {"root": "/a"}}
    assert (put_at("").place, put_at("").providers) == ("", {})
    with pytest.raises(NoSuchEnvironmentError):
        put_at("a", name="none")


def test_an_edit_does_not_land_in_the_next_environment_of_the_name(shop):
    shop.add("web", {"one": 1})
    shop.deploy()

    def change(model):
        shop.run(delete)
        shop.environments.purge("shop", tenant=TENANT)
        shop.create()
        return model

    match = "expected the draft mine in the environment as it was read, found another environment"
    with pytest.raises(OutdatedDraftError, match=match):
        shop.environments.edit("shop", change, tenant=TENANT, draft="mine")
    assert shop.environments.drafts("shop", tenant=TENANT) == ()


def test_the_first_edit_does_not_either(shop):
    """Neither environment has a deployment then."""

    def change(model):
        shop.run(delete)
        shop.environments.purge("shop", tenant=TENANT)
        shop.create()
        return model

    with pytest.raises(OutdatedDraftError, match="found another environment of that name"):
        shop.environments.edit("shop", change, tenant=TENANT, draft="mine")
    assert shop.environments.drafts("shop", tenant=TENANT) == ()
