"""Reviews within uploads: what they see, what they refuse, and reasons for storing a package all the same."""

import shutil

import pytest
from bundles import bundle
from sqlalchemy import text
from test_catalog_server import kept, remote  # noqa: F401 - fixtures

from trundle.catalog import Catalog, Reviewed, ReviewOutdatedError, ServerError
from trundle.catalog._tables import MIGRATIONS
from trundle.database import Migrations, open_database
from trundle.errors import Finding, Kind, Place
from trundle.forms import check_forms
from trundle.packages import Package, PackageCode

BAD = Finding(PackageCode.NO_MANIFEST, Place(object="a.App"), "better", "worse", "correct it")


class Look:
    """A review that notes what it is asked."""

    def __init__(self, *against, override="", meanwhile=None):
        self.seen = []
        self.said = Reviewed(against, override)
        self.meanwhile = meanwhile or (lambda: None)

    def __call__(self, package, base):
        self.seen.append((str(package.version), base and str(base.version)))
        self.meanwhile()
        return self.said


@pytest.fixture(params=["database", "server"])
def place(request):
    return request.getfixturevalue({"database": "kept", "server": "remote"}[request.param])


def upload(place, look, *packages):
    return place.upload(packages, tenant="acme", review=look)


def overrides(place, tenant="acme"):
    return {str(each): each.override for each in place.offers(tenant)}


def test_a_review_refuses_and_all_findings_are_listed(place):
    look = Look(BAD)
    done = upload(place, look, bundle("a.App", needs={"no.Lib": "1"}))
    assert [str(each.code) for each in done.findings] == ["unmet-requirement", str(BAD.code)]
    assert (done.refused, done.stored, overrides(place)) == (True, (), {})


def test_a_reason_is_kept_and_shown_to_all_who_see_the_version(place):
    look = Look(BAD, override="nobody uses it")
    one = bundle("a.App")
    done = place.upload([one], tenant="acme", public=True, review=look)
    assert (done.stored, done.findings, done.overridden) == ((one,), (), (BAD,))
    assert overrides(place) == overrides(place, "other") == {"a.App 1.0.0": "nobody uses it"}
    offer, _ = place.package("a.App", tenant="other")
    assert offer.to_plain()["override"] == "nobody uses it"


def test_a_reason_overrides_no_rule_of_the_catalog(place):
    look = Look(BAD, override="nobody uses it")
    done = upload(place, look, bundle("a.App", needs={"no.Lib": "1"}))
    assert (done.refused, done.stored, done.overridden) == (True, (), ())
    assert overrides(place) == {}


def test_a_version_is_reviewed_beside_the_release_that_it_follows(place):
    upload(place, None, bundle("a.App"), bundle("a.App", "3.0.0"))
    look = Look()
    versions = ("1.0.0", "1.2.0", "1.2.1", "2.0.0-rc.1", "4.0.0")
    upload(place, look, *(bundle("a.App", each) for each in versions), bundle("b.App", "9.0.0"))
    assert look.seen == [
        ("1.2.0", "1.0.0"),
        ("1.2.1", "1.2.0"),
        ("2.0.0-rc.1", "1.2.1"),
        ("4.0.0", "3.0.0"),
        ("9.0.0", None),
    ]


def test_a_release_that_comes_meanwhile_is_looked_at_before_the_version_is_stored(url):
    with Catalog(url) as catalog, Catalog(url) as other:
        catalog.upload([bundle("a.App")], tenant="acme")
        came = iter(["1.1.0", "1.2.0", "1.3.0"])

        def meanwhile():
            if version := next(came, None):
                other.upload([bundle("a.App", version)], tenant="acme")

        look = Look(meanwhile=meanwhile)
        upload(catalog, look, bundle("a.App", "2.0.0"))
        # The fourth time no one else can change the catalog.
        assert [each for _, each in look.seen] == ["1.0.0", "1.1.0", "1.2.0", "1.3.0"]


def test_an_unrelated_change_meanwhile_asks_for_no_other_review(url):
    with Catalog(url) as catalog, Catalog(url) as other:
        came = iter(["1.1.0"])
        look = Look(
            meanwhile=lambda: [
                other.upload([bundle("b.Lib", each)], tenant="acme") for each in came
            ]
        )
        upload(catalog, look, bundle("a.App"))
        assert look.seen == [("1.0.0", None)]
        assert set(overrides(catalog)) == {"a.App 1.0.0", "b.Lib 1.1.0"}


def test_a_server_refuses_what_was_compared_with_another_release(kept, remote):  # noqa: F811
    look = Look(meanwhile=lambda: kept.upload([bundle("a.App", "1.9.0")], tenant="acme"))
    with pytest.raises(ServerError, match=r"409.*found version 1\.9\.0") as raised:
        upload(remote, look, bundle("a.App", "2.0.0"))
    assert raised.value.kind is Kind.CONFLICT
    assert set(overrides(kept)) == {"a.App 1.9.0"}
    assert ReviewOutdatedError.kind is Kind.CONFLICT
    assert upload(remote, look, bundle("a.App", "2.0.0")).stored
    assert look.seen == [("2.0.0", None), ("2.0.0", "1.9.0")]


def test_a_catalog_of_an_earlier_release_is_taken_over(url, tmp_path):
    shutil.copy(MIGRATIONS.folder / "0001_packages.py", tmp_path / "0001_packages.py")
    with Catalog(url) as catalog:
        catalog.upload([bundle("a.App")], tenant="acme")
    database = open_database(url, wait=5)
    with database.writing() as connection:  # As the earlier release left it.
        connection.execute(text("ALTER TABLE catalog_packages DROP COLUMN override"))
        for table in ("environments", "channel_files", "channels"):
            connection.execute(text(f"DROP TABLE catalog_{table}"))
        connection.execute(text("UPDATE catalog_version SET version_num = '0001'"))
        assert Migrations("catalog", tmp_path).revision(connection) == "0001"
    database.close()
    with Catalog(url) as catalog:
        assert overrides(catalog) == {"a.App 1.0.0": ""}
        upload(catalog, Look(BAD, override="why not"), bundle("a.App", "2.0.0"))
        assert overrides(catalog)["a.App 2.0.0"] == "why not"
        assert catalog.package("a.App", tenant="acme")[1] == bundle("a.App", "2.0.0")


ONE, TWO = (
    "Name: a.A\nProperties: {x: {Contract: $.int()}}",
    "Name: a.A\nProperties: {y: {Contract: $.int()}}",
)


def ruled(version, text, rules=None):
    files = {
        "manifest.yaml": f"FullName: a.A\nType: Library\nVersion: {version}\nClasses: {{a.A: A.yaml}}\n",
        "Classes/A.yaml": text,
    }
    return Package.from_files(files if rules is None else {**files, "evolution.yaml": rules})


@pytest.mark.full
def test_rules_are_looked_at_without_any_review(place):
    one = ruled("1.0.0", ONE)
    for rules, found in (
        ("changes: [", "expected valid YAML"),
        ("changes: {1.0.0: {a.A: {rename: {x: z}}}}", "z"),
        ("changes: {1.0.0: {a.A: {rename: {gone: y}}}}", "gone"),
        ("hooks: {1.0.0: {a.A: {assign_to: {use: no, writes: [y]}}}}", "a static method of a.A"),
    ):
        done = place.upload([one, ruled("2.0.0", TWO, rules)], tenant="acme")
        assert (done.refused, done.stored, place.offers("acme")) == (True, (), ())
        assert all("a.A/2.0.0/evolution.yaml" in str(each.place) for each in done.findings)
        assert found in str(done.findings[0])
    two = ruled("2.0.0", TWO, "changes: {1.0.0: {a.A: {rename: {x: y}}}}")
    assert place.upload([one, two], tenant="acme").stored == (one, two)


def test_rules_are_held_against_the_release_that_is_stored(place):
    place.upload([ruled("1.0.0", ONE)], tenant="acme")
    done = place.upload(
        [ruled("2.0.0", TWO, "changes: {1.0.0: {a.A: {rename: {q: y}}}}")], tenant="acme"
    )
    assert done.refused
    (finding,) = done.findings
    assert "`rename` names q, which a.A of 1.0.0 does not have" in str(finding)
    assert str(finding.code) == "unused"
    assert [str(each.version) for each in place.offers("acme")] == ["1.0.0"]


def test_a_reason_stores_a_package_whose_rules_do_not_fit(place):
    place.upload([ruled("1.0.0", ONE)], tenant="acme")
    two = ruled("2.0.0", TWO, "changes: {1.0.0: {a.A: {rename: {q: y}}}}")
    done = place.upload([two], tenant="acme", review=Look(override="q is gone for good"))
    assert done.stored == (two,)
    assert overrides(place)["a.A 2.0.0"] == "q is gone for good"


def test_what_a_review_and_the_catalog_both_find_is_said_once(place):
    manifest = "Format: 1.4\nType: Application\nFullName: a.App\nVersion: 1.0.0\nUI: ui.yaml\n"
    form = "Version: 2.4\nApplication: {'?': {type: a.App}}\nForms:\n- f:\n    fields: [{name: x, type: intger}]\n"
    made = Package.from_files({"manifest.yaml": manifest, "UI/ui.yaml": form})
    both = check_forms(made)
    assert len(both) == 1
    done = upload(place, Look(*both, BAD), made)
    assert [each.coded for each in done.findings] == [both[0].coded, BAD.coded]
