"""Others publish, collect garbage, or change the same installation between any two steps of a command."""

import os
import time

import pytest
from amounts import full
from interleaving import each_moment, moments_of_installations
from sites import Site

from trundle.channels import RefusalCode, RefusedError
from trundle.channels.publishing import refresh
from trundle.installation import roll_back, run_round, tidy, uninstall, upgrade
from trundle.registry import open_repository
from trundle.version import SemVer

CRM = "acme/crm"
DAY = 24 * 3600.0


def site_in(folder, *, signed=False):
    folder.mkdir()
    return Site(folder, signed=signed)


def age(site):
    """Makes everything in the registry a day old."""
    long_ago = time.time() - DAY
    for path in (site.folder / "registry").rglob("sha256/*"):
        os.utime(path, (long_ago, long_ago))


def publish_and_collect(site):
    """A new version, and garbage that is older than an hour is removed."""
    site.publish("1.0.2")
    open_repository(site.reference()).collect_garbage(3600, now=time.time())


def publish_and_look(site):
    """A new version, which another client of the same installation sees first."""
    site.publish("1.0.2")
    look(site)


def unpublish_old(site):
    site.unpublish("1.0.0")


def refresh_it(site):
    refresh(site.channel())


def compact(site):
    with site.channel().ledger.turn() as turn:
        assert turn.compact()


def look(site):
    with site.installation() as other:
        for each in other.packages():
            other.look(each)


def upgraded(site):
    with site.installation() as installation:
        return upgrade(installation)


SIGNED, UNSIGNED = True, False


def newest(act, *, acted):
    return (
        "acme/crm 1.0.2"
        if acted and act in {publish_and_collect, publish_and_look}
        else "acme/crm 1.0.1"
    )


def installed_again(site):
    """Of a package that was installed before, so that another client may see its channel."""
    return site.install(upgrade=True)


OFTEN = [(installed_again, UNSIGNED, publish_and_collect)]
CASES = [
    (pytest.param if (command, signed, act) in OFTEN else full)(command, signed, act)
    for command in (upgraded, installed_again)
    for signed, acts in (
        (SIGNED, (publish_and_look, publish_and_collect, refresh_it, unpublish_old, compact)),
        (UNSIGNED, (publish_and_collect, publish_and_look, unpublish_old)),
    )
    for act in acts
]


@pytest.mark.full
@pytest.mark.parametrize(("command", "signed", "act"), CASES)
def test_a_publisher_acts_between_any_two_steps_of_a_command(tmp_path, command, signed, act):
    site = site_in(tmp_path / "site", signed=signed)
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")
    age(site)

    def check(result, acted):
        assert result.all_refusals == ()
        assert site.text() in {"acme/crm 1.0.1", newest(act, acted=acted)}
        assert command(site).all_refusals == ()
        assert site.text() == newest(act, acted=acted)

    each_moment(
        site.folder,
        moments_of_installations,
        lambda: command(site),
        lambda: act(site),
        check,
        least=10,
    )


@pytest.mark.full
@pytest.mark.parametrize("pin", ["", ":1.0.1"])
def test_content_is_tidied_away_between_any_two_steps_of_an_installation(tmp_path, pin):
    site = site_in(tmp_path / "site")
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")

    def act():
        with site.installation() as other:
            tidy(other, 0)

    def check(result, acted):
        assert result.all_refusals == ()
        assert site.text() == "acme/crm 1.0.1"
        with site.installation() as installation:
            assert installation.content.has(installation.package(CRM).digest)

    each_moment(
        site.folder,
        moments_of_installations,
        lambda: site.install(pin=pin, upgrade=True),
        act,
        check,
        least=10,
    )


@pytest.mark.full
def test_a_package_is_uninstalled_between_any_two_steps_of_an_upgrade(tmp_path):
    site = site_in(tmp_path / "site")
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")

    def act():
        with site.installation() as other:
            uninstall(other, CRM)

    def check(_, acted):
        with site.installation() as installation:
            assert (installation.packages() == ()) == acted
            assert installation.folders.link(CRM).exists() != acted
            assert installation.history()[0].action == ("uninstall" if acted else "upgrade")

    each_moment(site.folder, moments_of_installations, lambda: upgraded(site), act, check, least=10)


@pytest.mark.parametrize("first", ["command", full("agent")])
def test_an_agent_and_a_command_change_one_installation(tmp_path, first):
    """One goes back and the other upgrades: what is held after going back is not taken again."""
    site = site_in(tmp_path / "site")
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")
    upgraded(site)
    site.publish("1.0.2")

    def go_back():
        with site.installation() as installation:
            return roll_back(installation, CRM)

    def agent():
        with site.installation() as installation:
            return run_round(installation)

    def check(_, acted):
        text, before = site.text(), len(history())
        assert [each.action for each in history()].count("rollback") == (
            acted or first == "command"
        )
        assert text in {"acme/crm 1.0.0", "acme/crm 1.0.1", "acme/crm 1.0.2"}
        with site.installation() as installation:
            held = {str(each.version) for each in installation.holds(CRM)}
            assert str(installation.package(CRM).version) not in held
        assert len(history()) == before

    def history():
        with site.installation() as installation:
            return installation.history(CRM)

    call, act = (go_back, agent) if first == "command" else (agent, go_back)
    each_moment(site.folder, moments_of_installations, call, act, check, least=2)


def test_a_package_is_uninstalled_between_any_two_steps_of_approving_it(tmp_path):
    site = site_in(tmp_path / "site")
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")

    def call():
        with site.installation() as installation:
            try:
                return installation.approve(CRM, SemVer.parse("1.0.1"))
            except RefusedError as error:
                return error.code

    def act():
        with site.installation() as other:
            uninstall(other, CRM)

    def check(result, acted):
        if acted:
            assert getattr(result, "version", None) or result is RefusalCode.NOT_INSTALLED
        else:
            assert str(result.version) == "1.0.1"

    each_moment(site.folder, moments_of_installations, call, act, check, least=2)


def test_an_older_look_does_not_undo_what_a_newer_one_remembered(tmp_path):
    """A version is unpublished, and another client sees that, while this one looks at the channel as it was before."""
    site = site_in(tmp_path / "site")
    for version in ("1.0.0", "1.0.1"):
        site.publish(version)
    site.install()

    def act():
        site.unpublish("1.0.0")
        look(site)

    def check(_, acted):
        with site.installation() as installation:
            why = installation.memory.unpublished(CRM, SemVer.parse("1.0.0"))
        assert why == ("CVE-2026-1" if acted else None)

    each_moment(site.folder, moments_of_installations, lambda: look(site), act, check, least=5)
