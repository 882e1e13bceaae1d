"""The pages about what is installed: lists, what comes next, the timeline of a channel, approvals, holds, and going back."""

import datetime as dt
import html
import re

import asgi
import pytest
from access import TOKENS
from catalog_pages import words
from objects_pages import OWN, post
from sites import Site
from starlette.applications import Starlette
from storing import people

from trundle.api.access import Access, Guard
from trundle.channels import Policy, RefusedError, UpgradeAction, Window
from trundle.dashboard import ServerPage, ShownInstallation, page_application
from trundle.installation import roll_back, upgrade
from trundle.store import Store
from trundle.version import SemVer

CRM = "acme/crm"
NIGHTLY = Policy(
    minor=UpgradeAction.WINDOW,
    major=UpgradeAction.APPROVAL,
    windows=(Window(start="0 2 * * *", duration=dt.timedelta(hours=3)),),
)


@pytest.fixture
def site(tmp_path):
    """A package at 1.0.0 of which there are further versions."""
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=NIGHTLY)
    return site


@pytest.fixture
def application(site):
    return page_application({}, ShownInstallation(site.state, site.clock))


def looked(application, **query):
    answer = asgi.call(
        application, "GET", "/ui/installed/one", package=CRM, **({"look": "1"} | query)
    )
    assert answer.status == 200, answer.text
    return answer.text


def changed(application, **form):
    return post(application, f"/ui/installed/one?package={CRM}", **form)


def value(text, name):
    return html.unescape(re.search(rf'name="{name}" value="([^"]*)"', text)[1])


def test_what_is_installed_is_listed_without_a_look_at_channels(application, site):
    (site.folder / "registry").rename(site.folder / "away")
    answer = asgi.call(application, "GET", "/ui/installed")
    assert "acme/crm 1.0.0 stable 2026-03-02 12:00 UTC none" in words(answer.text)
    first = asgi.call(application, "GET", "/ui/installed/one", package=CRM)
    assert (first.status, "Looking at the channel" in first.text) == (200, True)
    found = words(looked(application))
    assert "Nothing is done: the channel is refused." in found
    assert "History 2026-03-02 12:00 UTC install 1.0.0" in found


def test_nothing_is_installed_and_no_folder_is_made(tmp_path):
    application = page_application({}, ShownInstallation(tmp_path / "none"))
    assert "Nothing is installed." in asgi.call(application, "GET", "/ui/installed").text
    one = asgi.call(application, "GET", "/ui/installed/one", package=CRM)
    assert (one.status, "Nothing is installed." in one.text) == (404, True)
    assert not (tmp_path / "none").exists()


@pytest.mark.full
def test_the_window_that_an_upgrade_waits_for_is_in_the_calendar(application, site):
    site.publish("1.1.0", changes="[faster]")
    text = looked(application)
    found = words(text)
    assert "1.1.0 is due 2026-03-03 02:00 UTC." in found
    assert "02:00 upgrade to 1.1.0 02:00-05:00 window" in found
    assert "1.1.0 published latest faster" in found
    assert "1.0.0 published installed" in found
    later = looked(application, **{"from": "2026-04-06"})
    assert 'aria-current="date"' in text
    assert 'aria-current="date"' not in later
    site.clock.go(hours=14)
    assert "1.1.0 is due now" in words(looked(application))
    with site.installation() as installation:
        upgrade(installation)
    assert "02:00 upgrade 1.1.0" in words(looked(application))


def test_a_major_version_is_approved_with_the_content_that_was_shown(application, site):
    site.publish("2.0.0")
    text = looked(application)
    assert "approval" in words(text)
    other = changed(application, do="approve", version="2.0.0", digest="sha256:" + "0" * 64)
    assert (other.status, "look again" in other.text) == (409, True)
    with site.installation() as installation:
        assert installation.memory.approvals(CRM) == ()
    shown = re.search(r'name="version" value="2.0.0"><input[^>]*value="([^"]+)"', text)[1]
    assert changed(application, do="approve", version="2.0.0", digest=shown).status == 303
    with site.installation() as installation:
        (approval,) = installation.memory.approvals(CRM)
    assert (str(approval.version), approval.digest) == ("2.0.0", shown)
    assert "2.0.0 is due now" in words(looked(application))


def test_an_approval_is_shown_with_its_user_and_withdrawn_where_its_content_is_the_one_shown(
    application, site
):
    entry = site.publish("2.0.0").entry
    with site.installation() as installation:
        installation.approve(CRM, entry.version, by="ann")
    text = looked(application)
    assert f"2.0.0 {entry.digest[:19]} 2026-03-02 12:00 UTC ann Withdraw" in words(text)
    other = changed(application, do="unapprove", version="2.0.0", digest="sha256:" + "0" * 64)
    assert (other.status, "look again" in other.text) == (409, True)
    assert "2.0.0 is due now" in words(looked(application))
    shown = {"do": "unapprove", "version": "2.0.0", "digest": entry.digest}
    assert changed(application, **shown).status == 303
    text = words(looked(application))
    assert ("Approvals" in text, "2.0.0 is due now" in text) == (False, False)
    gone = changed(application, **shown)
    assert (gone.status, "There is no approval of 2.0.0" in gone.text) == (409, True)


def test_the_approval_of_what_is_installed_is_shown_and_stays(application, site):
    site.publish("2.0.0")
    with site.installation() as installation:
        installation.approve(CRM, SemVer.parse("2.0.0"), by="ann")
        upgrade(installation)
    assert "ann installed" in words(looked(application))


def test_a_hold_keeps_everything_as_it_is_until_it_is_ended(application, site):
    site.publish("1.0.1")
    assert "1.0.1 is due now" in words(looked(application))
    until = "2026-03-09T08:00"
    assert changed(application, do="hold", reason="<b>audit</b>", until=until).status == 303
    text = looked(application)
    assert "everything <b>audit</b> 2026-03-02 12:00 UTC 2026-03-09 08:00 UTC" in words(text)
    assert "<b>audit</b>" not in text
    assert "1.0.1 is due now" not in words(text)
    seen = value(text, "seen")
    assert changed(application, do="unhold", version="", seen=seen).status == 303
    assert "1.0.1 is due now" in words(looked(application))
    gone = changed(application, do="unhold", version="", seen=seen)
    assert (gone.status, "There is no hold on everything" in gone.text) == (409, True)


def test_a_hold_that_a_user_was_not_shown_is_neither_replaced_nor_ended(application, site):
    nothing = value(looked(application), "seen")
    assert changed(application, do="hold", reason="the audit", seen=nothing).status == 303
    for late in ({"do": "hold", "reason": "mine"}, {"do": "unhold", "version": ""}):
        answer = changed(application, seen=nothing, **late)
        assert (answer.status, "one: the audit" in answer.text) == (409, True), answer.text
    with site.installation() as installation:
        assert [each.reason for each in installation.holds(CRM)] == ["the audit"]
    seen = value(looked(application), "seen")
    other = {"do": "hold", "reason": "mine", "version": "2.0.0", "seen": nothing}
    assert changed(application, **other).status == 303  # It is about another version.
    assert changed(application, do="hold", reason="longer", seen=seen).status == 303
    assert changed(application, do="unhold", version="", seen=seen).status == 409
    with site.installation() as installation:
        assert {each.reason for each in installation.holds(CRM)} == {"mine", "longer"}


def test_what_is_answered_as_done_is_kept(application, site, monkeypatch):
    """Where nothing can be written, commands that only look work on a copy, which is forgotten."""
    monkeypatch.setattr("trundle.installation._folders.Folders.can_be_written", lambda _: False)
    assert "1.0.0" in words(looked(application))
    assert changed(application, do="hold", reason="audit").status == 303
    with site.installation() as installation:
        assert [each.reason for each in installation.holds(CRM)] == ["audit"]


def test_going_back_is_shown_first_and_then_does_that_alone(application, site):
    site.publish("1.0.1")
    with site.installation() as installation:
        upgrade(installation)
    shown = asgi.call(application, "GET", "/ui/installed/back", package=CRM)
    assert "Go back from 1.0.1 to 1.0.0" in words(shown.text)
    seen = value(shown.text, "seen")
    site.publish("1.0.2")
    with site.installation() as installation:
        upgrade(installation)
    other = changed(application, do="rollback", seen=seen)
    assert (other.status, "from 1.0.2 to 1.0.1" in html.unescape(other.text)) == (409, True)
    assert site.text() == "acme/crm 1.0.2"
    again = asgi.call(application, "GET", "/ui/installed/back", package=CRM)
    assert changed(application, do="rollback", seen=value(again.text, "seen")).status == 303
    assert site.text() == "acme/crm 1.0.1"
    assert "1.0.2 rolled back to 1.0.1" in words(looked(application))


def test_what_was_unpublished_stands_in_the_timeline_with_its_reason(application, site):
    site.publish("1.0.1")
    with site.installation() as installation:
        upgrade(installation)
    site.publish("1.0.2")
    site.clock.go(hours=1)
    site.unpublish("1.0.1", "CVE-2026-7 <script>")
    text = looked(application)
    found = words(text)
    assert "2026-03-02 13:00 UTC 1.0.1 unpublished installed : CVE-2026-7 <script>" in found
    assert "1.0.1 published installed unpublished later" in found
    assert "<script>" not in re.sub(r'<script src="[^"]+" defer>', "", text)


@pytest.mark.parametrize(
    ("form", "code", "words"),
    [
        ({"do": ""}, 400, "approve, unapprove, hold, unhold, rollback"),
        ({"do": "hold", "reason": " "}, 422, "a reason of up to 500 characters"),
        ({"do": "hold", "reason": "x" * 501}, 422, "found 501"),
        ({"do": "hold", "reason": "x", "until": "soon"}, 422, "a time such as"),
        ({"do": "hold", "reason": "x", "until": "2026-03-02T11:00"}, 422, "a time to come"),
        ({"do": "hold", "reason": "x", "version": "1.x"}, 422, "a version such as 1.2.3"),
        ({"do": "approve", "version": "9.9.9", "digest": "x"}, 404, "a listed version"),
        ({"do": "rollback", "seen": ""}, 404, "a version that was installed before 1.0.0"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(application, site, form, code, words):
    before = site.snapshot()
    answer = changed(application, **form)
    assert (answer.status, words in html.unescape(answer.text)) == (code, True), answer.text
    assert site.snapshot() == before
    with site.installation() as installation:
        assert installation.holds(CRM) == ()


@pytest.mark.parametrize("day", ["soon", "0001-01-01", "9999-12-31", "2026-13-01"])
def test_a_calendar_of_no_day_is_refused(application, day):
    query = {"package": CRM, "look": "1", "from": day}
    assert asgi.call(application, "GET", "/ui/installed/one", **query).status == 400


@pytest.mark.parametrize("day", ["2001-01-01", "2100-12-31"])
def test_the_first_and_the_last_calendar(application, day):
    assert len(re.findall(r'class="date"', looked(application, **{"from": day}))) == 35


def test_a_package_that_is_not_installed(application):
    for path in ("/ui/installed/one", "/ui/installed/back"):
        assert asgi.call(application, "GET", path, package="acme/none").status == 404


def test_only_who_is_let_sees_it_and_changes_it_under_their_name(site, tmp_path):
    (tmp_path / "tokens.csv").write_text(TOKENS)
    (tmp_path / "rules.yaml").write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: ClusterRoleBinding\n"
        "metadata: {name: installers}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: 'trundle:installed'}\n"
        "subjects: [{kind: User, name: ben, apiGroup: rbac.authorization.k8s.io}]\n"
    )
    access = Access(tmp_path / "tokens.csv", tmp_path / "rules.yaml")
    page = ServerPage(access, ShownInstallation(site.state, site.clock))
    with Store(tmp_path / "store.sqlite", people()) as store:
        application = page.around(Guard(Starlette(routes=page.routes((), store)), access))
        codes = {}
        for name in ("ben", "ann"):
            bearer = {"authorization": f"Bearer {name}-token"}
            looks = asgi.call(application, "GET", "/ui/installed", headers=bearer).status
            form = {"do": "hold", "reason": name}
            acts = post(application, f"/ui/installed/one?package={CRM}", bearer, **form).status
            codes[name] = looks, acts
    assert codes == {"ben": (200, 303), "ann": (403, 403)}
    with site.installation() as installation:
        assert [(each.reason, each.by) for each in installation.holds(CRM)] == [("ben", "ben")]


@pytest.mark.parametrize(
    ("referer", "leads"),
    [
        ("http://localhost:8001/ui/installed/one?package=acme%2Fcrm", True),
        ("http://localhost:8001/other", False),
        ("http://elsewhere.example/ui/installed", False),
        ("http://[", False),
        ("http://[::1/ui/installed", False),
        ("", False),
    ],
)
def test_a_form_that_is_refused_leads_back_to_its_page(application, referer, leads):
    where = f"/ui/installed/one?package={CRM}"
    came = {"referer": referer}
    answer = post(application, where, came, do="hold", reason="")
    assert answer.status == 422
    link = '<a class="button" href="/ui/installed/one?package=acme%2Fcrm">Go back to the page</a>'
    assert (link in answer.text) == leads
    assert "Go to the start" in answer.text


def test_another_site_cannot_change_anything(application, site):
    elsewhere = {"origin": "http://elsewhere.example"}
    form = {"do": "hold", "reason": "x"}
    path = f"/ui/installed/one?package={CRM}"
    answer = asgi.call(application, "POST", path, headers={**OWN, **elsewhere}, form=form)
    assert answer.status == 403
    with site.installation() as installation:
        assert installation.holds(CRM) == ()
        with pytest.raises(RefusedError):
            roll_back(installation, CRM)
