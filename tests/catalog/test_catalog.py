"""What a catalog keeps, shows and refuses, in SQLite and in PostgreSQL."""

import pytest
from bundles import bundle

from trundle.catalog import (
    BrokenRuleError,
    Catalog,
    FoundPackages,
    InvalidTenantError,
    NoSuchPackageError,
    StillNeededError,
)
from trundle.version import SemVer

v = SemVer.parse
V1, V2 = v("1.0.0"), v("2.0.0")


def codes(result):
    return [(each.severity, str(each.code)) for each in result.findings]


def seen(catalog, tenant="acme"):
    return [str(each) for each in catalog.offers(tenant)]


class TestUploading:
    def test_what_was_uploaded_is_there_with_its_files(self, catalog, url):
        package = bundle("a.App", "1.10.0", text="hello")
        result = catalog.upload([package], tenant="acme")
        assert (result.stored, result.findings) == ((package,), ())
        with Catalog(url) as again:
            snapshot = again.snapshot(tenant="acme")
            assert list(snapshot) == [package]
            found = snapshot.package("a.App", v("1.10.0"))
            assert (found.manifest, found.files) == (package.manifest, package.files)
            assert found.requirements == package.requirements
            assert found.file("Resources/text") == b"hello"

    def test_versions_are_side_by_side_in_their_order(self, catalog):
        versions = ["1.10.0", "1.9.0", "1.10.0-rc.1", "0.0.0", "1.10.0+build"]
        catalog.upload([bundle("a.App", each) for each in versions], tenant="acme")
        expected = ["0.0.0", "1.9.0", "1.10.0-rc.1", "1.10.0", "1.10.0+build"]
        assert seen(catalog) == [f"a.App {each}" for each in expected]
        snapshot = catalog.snapshot("acme")
        assert [str(each) for each in snapshot.versions("a.App")] == expected
        assert [str(each.version) for each in snapshot] == expected

    def test_a_search_gives_the_first_of_what_it_finds_and_counts_all(self, catalog):
        mine = [("a.App", "1.0.0"), ("a.App", "2.0.0"), ("b.APP", "1.0.0"), ("c.Lib", "1.0.0")]
        catalog.upload([bundle(*each) for each in mine], tenant="acme")
        catalog.upload([bundle("a.App", "1.0.0"), bundle("d.App")], tenant="other", public=True)
        catalog.upload([bundle("e.App")], tenant="other")
        found = catalog.search("acme", "app", 2)
        assert found.number == 3
        assert [f"{each} of {each.tenant}" for each in found.offers] == [
            "a.App 1.0.0 of acme",
            "a.App 2.0.0 of acme",
            "b.APP 1.0.0 of acme",
        ]
        assert catalog.search("acme").offers == catalog.offers("acme")
        assert catalog.search("acme", "nothing") == FoundPackages(0, ())

    def test_the_same_content_again_is_a_note_and_stored_once(self, catalog):
        catalog.upload([bundle("a.App")], tenant="acme")
        again = catalog.upload([bundle("a.App"), bundle("b.App")], tenant="acme")
        assert codes(again) == [("note", "version-stored-already")]
        assert again.stored == (bundle("b.App"),)
        assert not again.refused
        assert seen(catalog) == ["a.App 1.0.0", "b.App 1.0.0"]

    def test_other_content_under_a_version_is_refused_and_nothing_is_stored(self, catalog):
        catalog.upload([bundle("a.App", text="first")], tenant="acme")
        result = catalog.upload([bundle("b.App"), bundle("a.App", text="other")], tenant="acme")
        assert codes(result) == [("error", "version-has-other-content")]
        assert (result.refused, result.stored) == (True, ())
        assert seen(catalog) == ["a.App 1.0.0"]
        assert catalog.package("a.App", tenant="acme")[1].file("Resources/text") == b"first"

    def test_two_contents_of_a_version_in_one_upload_are_refused(self, catalog):
        packages = [bundle("a.App"), bundle("a.App", text="other"), bundle("a.App")]
        assert codes(catalog.upload(packages, tenant="acme")) == [("error", "version-given-twice")]
        assert seen(catalog) == []

    def test_all_findings_are_listed_at_once(self, catalog):
        catalog.upload([bundle("a.App", text="first")], tenant="acme")
        packages = [
            bundle("a.App", text="other"),
            bundle("b.App", needs={"no.Lib": "1", "a.App": "2", "a.Other": ""}),
        ]
        result = catalog.upload(packages, tenant="acme")
        assert [str(each) for each in result.findings[1:]] == [
            (
                "b.App 1.0.0: expected a version of no.Lib in the range 1, found no version of no.Lib; "
                "upload no.Lib with it, or correct the requirement"
            ),
            (
                "b.App 1.0.0: expected a version of a.App in the range 2, found only 1.0.0; "
                "upload a.App with it, or correct the requirement"
            ),
            (
                "b.App 1.0.0: expected a version of a.Other in the range >=0.0.0,<1.0.0, found no version of "
                "a.Other; upload a.Other with it, or correct the requirement"
            ),
        ]

    def test_unknown_keys_of_manifests_are_notes(self, catalog):
        from trundle.packages import Package

        package = Package.from_files(
            {"manifest.yaml": "FullName: a.App\nType: Library\nOwner: me\n"}
        )
        result = catalog.upload([package], tenant="acme")
        assert codes(result) == [("note", "unknown-key")]
        assert result.stored == (package,)

    def test_a_dry_run_stores_nothing(self, catalog):
        result = catalog.upload([bundle("a.App")], tenant="acme", dry_run=True)
        assert result.stored == (bundle("a.App"),)
        assert seen(catalog) == []

    def test_nothing_is_uploaded_by_an_empty_upload(self, catalog):
        assert catalog.upload([], tenant="acme").stored == ()

    @pytest.mark.parametrize("tenant", ["", " ", "a/b", "a\n", "x" * 256, ".a", "ä"])
    def test_a_tenant_has_a_plain_name(self, catalog, tenant):
        with pytest.raises(InvalidTenantError):
            catalog.upload([bundle("a.App")], tenant=tenant)
        with pytest.raises(InvalidTenantError):
            catalog.snapshot(tenant)


class TestRequirements:
    def test_packages_that_need_each_other_are_uploaded_together(self, catalog):
        one, two = bundle("a.One", needs={"a.Two": "1"}), bundle("a.Two", needs={"a.One": "1"})
        assert catalog.upload([one], tenant="acme").refused
        assert catalog.upload([two], tenant="acme").refused
        assert catalog.upload([one, two], tenant="acme").stored == (one, two)

    def test_one_upload_may_hold_several_versions(self, catalog):
        packages = [
            bundle("a.Lib"),
            bundle("a.Lib", "2.0.0"),
            bundle("a.App", needs={"a.Lib": ">=1.5"}),
        ]
        assert not catalog.upload(packages, tenant="acme").refused

    def test_the_bundled_core_library_is_there(self, catalog):
        assert not catalog.upload(
            [bundle("a.App", needs={"io.murano": "0", "io.trundle": "1"})], tenant="acme"
        ).refused
        refused = catalog.upload([bundle("b.App", needs={"io.murano": "7"})], tenant="acme")
        assert "found only 0.1.0" in str(refused.findings[0])
        packages = [bundle("io.murano", "7.0.0"), bundle("b.App", needs={"io.murano": "7"})]
        assert not catalog.upload(packages, tenant="acme").refused

    def test_a_requirement_on_other_versions_of_itself_is_checked_where_it_is_written(
        self, catalog
    ):
        assert not catalog.upload([bundle("a.App", "2.0.0-rc")], tenant="acme").refused
        package = bundle("a.App", "2.0.0", needs={"a.App": "1"})
        assert catalog.upload([package], tenant="acme").refused
        assert not catalog.upload([package, bundle("a.App")], tenant="acme").refused

    def test_a_pre_release_meets_a_requirement_that_nothing_else_meets(self, catalog):
        packages = [bundle("a.Lib", "1.1.0-rc"), bundle("a.App", needs={"a.Lib": "1"})]
        assert not catalog.upload(packages, tenant="acme").refused

    def test_what_another_tenant_keeps_private_meets_nothing(self, catalog):
        catalog.upload([bundle("a.Lib")], tenant="other")
        result = catalog.upload([bundle("a.App", needs={"a.Lib": "1"})], tenant="acme")
        assert codes(result) == [("error", "unmet-requirement")]
        catalog.share("a.Lib", V1, tenant="other")
        assert not catalog.upload([bundle("a.App", needs={"a.Lib": "1"})], tenant="acme").refused

    def test_a_public_package_needs_public_ones(self, catalog):
        catalog.upload([bundle("a.Lib")], tenant="acme")
        app = bundle("a.App", needs={"a.Lib": "1"})
        result = catalog.upload([app], tenant="acme", public=True)
        assert "no public version of a.Lib" in str(result.findings[0])
        catalog.upload([app], tenant="acme")
        with pytest.raises(BrokenRuleError, match="no public version"):
            catalog.share("a.App", V1, tenant="acme")
        catalog.share("a.Lib", V1, tenant="acme")
        catalog.share("a.App", V1, tenant="acme")
        assert seen(catalog, "other") == ["a.App 1.0.0", "a.Lib 1.0.0"]


class TestClasses:
    def test_a_class_that_cannot_be_built_is_refused_with_file_and_line(self, catalog):
        bad = bundle(
            "a.App", App="Name: App\nExtends: Nothing\n", Other="Name: Other\nMethods: 5\n"
        )
        result = catalog.upload([bundle("b.App"), bad], tenant="acme")
        assert result.refused
        assert [(each.place.file, each.severity) for each in result.findings] == [
            ("Classes/App.yaml", "error"),
            ("Classes/Other.yaml", "error"),
        ]
        assert seen(catalog) == []

    def test_a_name_outside_of_the_requirements_is_refused(self, catalog):
        lib = bundle("a.Lib", Thing="Name: a.Lib.Thing\n")
        catalog.upload([lib], tenant="acme")
        user = (
            "Namespaces: {lib: a.Lib}\nName: a.App.User\n"
            "Properties: {thing: {Contract: $.class(lib:Thing)}}\n"
        )
        result = catalog.upload([bundle("a.App", User=user)], tenant="acme")
        assert result.refused
        assert "a.Lib" in str(result.findings[0])
        right = bundle("a.App", needs={"a.Lib": "1"}, User=user)
        assert catalog.upload([right], tenant="acme").findings == ()

    def test_parents_are_found_in_what_is_there_and_in_the_upload(self, catalog):
        base = bundle("a.Base", Thing="Name: a.Base.Thing\n")
        middle = bundle(
            "a.Middle", needs={"a.Base": "1"}, M="Name: a.Middle.M\nExtends: a.Base.Thing\n"
        )
        top = bundle("a.Top", needs={"a.Middle": "1"}, T="Name: a.Top.T\nExtends: a.Middle.M\n")
        assert catalog.upload([base], tenant="acme").findings == ()
        assert catalog.upload([top, middle], tenant="acme").findings == ()

    def test_findings_of_classes_and_of_requirements_are_listed_together(self, catalog):
        bad = bundle("a.App", App="Name: App\nExtends: Nothing\n")
        result = catalog.upload([bad, bundle("b.App", needs={"no.Lib": "1"})], tenant="acme")
        assert {str(each.code) for each in result.findings} == {"no-class", "unmet-requirement"}

    def test_a_public_class_is_built_from_public_packages(self, catalog):
        catalog.upload([bundle("a.Base", Thing="Name: a.Base.Thing\n")], tenant="acme")
        user = bundle("a.App", needs={"a.Base": "1"}, T="Name: a.App.T\nExtends: a.Base.Thing\n")
        assert catalog.upload([user], tenant="acme", public=True).refused
        assert not catalog.upload([user], tenant="acme").refused


class TestTenants:
    def test_a_private_package_is_its_tenants_alone(self, catalog):
        catalog.upload([bundle("a.App", text="acme's")], tenant="acme")
        catalog.upload([bundle("a.App", text="other's")], tenant="other")
        assert catalog.package("a.App", tenant="acme")[1].file("Resources/text") == b"acme's"
        assert catalog.package("a.App", tenant="other")[1].file("Resources/text") == b"other's"
        assert seen(catalog, "third") == []
        with pytest.raises(NoSuchPackageError):
            catalog.package("a.App", tenant="third")

    def test_a_public_package_is_seen_by_all_and_owned_by_one(self, catalog):
        catalog.upload([bundle("a.App")], tenant="acme", public=True)
        assert seen(catalog, "other") == ["a.App 1.0.0"]
        assert [each.name for each in catalog.snapshot("other")] == ["a.App"]
        for change in (catalog.delete, catalog.share, catalog.unshare):
            with pytest.raises(NoSuchPackageError, match="owns"):
                change("a.App", V1, tenant="other")

    @pytest.mark.parametrize("text", ["", "different"])
    def test_a_public_package_is_not_shadowed(self, catalog, text):
        catalog.upload([bundle("a.App")], tenant="acme", public=True)
        for public in (False, True):
            package = bundle("a.App", text=text)
            result = catalog.upload([package], tenant="other", public=public)
            assert codes(result) == [("error", "shadows-public-package")]
        assert not catalog.upload([bundle("a.App", "2.0.0")], tenant="other").refused
        assert seen(catalog, "other") == ["a.App 1.0.0", "a.App 2.0.0"]

    @pytest.mark.parametrize("is_shared", [False, True])
    def test_what_becomes_public_does_not_show_private_packages_of_others(self, catalog, is_shared):
        catalog.upload([bundle("a.App", text="private")], tenant="other")
        before = catalog.package("a.App", tenant="other")[0].digest
        result = catalog.upload([bundle("a.App")], tenant="acme", public=not is_shared)
        if is_shared:
            assert catalog.share("a.App", V1, tenant="acme").findings == ()
        assert codes(result) == []
        assert catalog.package("a.App", tenant="other")[0].digest == before
        assert [each.digest for each in catalog.snapshot("other")] == [before]
        assert [each.digest for each in catalog.offers("other")] == [before]
        public = catalog.package("a.App", tenant="third")[0].digest
        assert public not in (before, "")
        with pytest.raises(BrokenRuleError, match="one of another tenant"):
            catalog.share("a.App", V1, tenant="other")
        catalog.delete("a.App", V1, tenant="other")
        assert catalog.package("a.App", tenant="other")[0].digest == public

    def test_names_that_differ_in_letter_case_are_two(self, catalog):
        catalog.upload([bundle("a.App"), bundle("a.APP")], tenant="acme")
        assert seen(catalog) == ["a.APP 1.0.0", "a.App 1.0.0"]
        assert seen(catalog, "ACME") == []

    def test_an_upload_that_is_public_leaves_what_is_there_private(self, catalog):
        catalog.upload([bundle("a.App")], tenant="acme")
        result = catalog.upload([bundle("a.App")], tenant="acme", public=True)
        assert "share it" in result.findings[0].advice
        assert seen(catalog, "other") == []


class TestLooking:
    def test_without_a_version_the_newest_release_is_shown(self, catalog):
        for each in ("1.0.0", "2.0.0", "3.0.0-rc"):
            catalog.upload([bundle("a.App", each)], tenant="acme")
        assert catalog.package("a.App", tenant="acme")[0].version == V2
        assert catalog.package("a.App", v("3.0.0-rc"), tenant="acme")[1].version == v("3.0.0-rc")
        with pytest.raises(NoSuchPackageError, match=r"only 3\.0\.0-rc, 2\.0\.0, 1\.0\.0"):
            catalog.package("a.App", v("4.0.0"), tenant="acme")

    def test_a_snapshot_never_changes(self, catalog):
        catalog.upload([bundle("a.App", text="kept")], tenant="acme")
        snapshot = catalog.snapshot("acme")
        catalog.upload([bundle("a.App", "2.0.0")], tenant="acme")
        catalog.delete("a.App", V1, tenant="acme")
        assert snapshot.versions("a.App") == (V1,)
        assert (len(snapshot), snapshot.names) == (1, ("a.App",))
        assert snapshot.package("a.App", V1).file("Resources/text") == b"kept"
        with pytest.raises(NoSuchPackageError):
            snapshot.package("a.App", V2)
        assert catalog.snapshot("acme").versions("a.App") == (V2,)

    def test_content_is_read_when_a_file_is_asked_for(self, catalog, monkeypatch):
        catalog.upload([bundle("a.App"), bundle("b.App")], tenant="acme")
        read = []
        original = Catalog._archive
        monkeypatch.setattr(
            Catalog, "_archive", lambda self, digest: read.append(digest) or original(self, digest)
        )
        snapshot = catalog.snapshot("acme")
        packages = [(each.name, each.requirements, each.classes, each.files) for each in snapshot]
        assert (len(packages), read) == (2, [])
        package = snapshot.package("a.App", V1)
        assert package.file("Resources/text") == package.file("Resources/text") == b""
        assert read == [package.digest]


class TestDeleting:
    def test_what_is_needed_is_kept_and_the_message_names_who_needs_it(self, catalog):
        lib = bundle("a.Lib")
        users = [bundle("a.One", needs={"a.Lib": "1"}), bundle("a.Two", needs={"a.Lib": ">=1"})]
        catalog.upload([lib, *users], tenant="acme")
        with pytest.raises(StillNeededError) as caught:
            catalog.delete("a.Lib", V1, tenant="acme")
        assert [each.found for each in caught.value.findings] == [
            "a.One 1.0.0, which requires a.Lib 1",
            "a.Two 1.0.0, which requires a.Lib >=1",
        ]
        assert seen(catalog) == ["a.Lib 1.0.0", "a.One 1.0.0", "a.Two 1.0.0"]
        catalog.upload([bundle("a.Lib", "2.0.0")], tenant="acme")
        with pytest.raises(StillNeededError) as caught:
            catalog.delete("a.Lib", V1, tenant="acme")
        assert len(caught.value.findings) == 1, "a.Two can use 2.0.0"

    def test_force_says_what_breaks(self, catalog):
        catalog.upload([bundle("a.Lib"), bundle("a.App", needs={"a.Lib": "1"})], tenant="acme")
        dry = catalog.delete("a.Lib", V1, tenant="acme", force=True, dry_run=True)
        assert seen(catalog) == ["a.App 1.0.0", "a.Lib 1.0.0"]
        done = catalog.delete("a.Lib", V1, tenant="acme", force=True)
        assert done == dry
        assert [(each.severity, each.found) for each in done.findings] == [
            ("warning", "a.App 1.0.0, which requires a.Lib 1")
        ]
        assert seen(catalog) == ["a.App 1.0.0"]

    def test_public_packages_are_needed_by_other_tenants(self, catalog):
        catalog.upload([bundle("a.Lib")], tenant="acme", public=True)
        catalog.upload([bundle("secret.App", needs={"a.Lib": "1"})], tenant="other")
        for change in (catalog.delete, catalog.unshare):
            with pytest.raises(StillNeededError, match="a private package of another") as caught:
                change("a.Lib", V1, tenant="acme")
            assert "secret" not in str(caught.value)
        catalog.upload([bundle("a.Lib", "1.1.0")], tenant="other")
        catalog.unshare("a.Lib", V1, tenant="acme")
        assert seen(catalog, "other") == ["a.Lib 1.1.0", "secret.App 1.0.0"]

    def test_unsharing_keeps_it_for_its_own_private_packages(self, catalog):
        catalog.upload([bundle("a.Lib")], tenant="acme", public=True)
        catalog.upload([bundle("a.App", needs={"a.Lib": "1"})], tenant="acme")
        catalog.unshare("a.Lib", V1, tenant="acme")
        catalog.share("a.Lib", V1, tenant="acme")
        catalog.share("a.App", V1, tenant="acme")
        with pytest.raises(StillNeededError, match=r"a\.App"):
            catalog.unshare("a.Lib", V1, tenant="acme")
        assert len(catalog.unshare("a.Lib", V1, tenant="acme", force=True).findings) == 1

    def test_a_private_version_does_not_stand_in_for_a_public_one(self, catalog):
        packages = [bundle("a.Lib"), bundle("a.App", needs={"a.Lib": "1"})]
        catalog.upload(packages, tenant="acme", public=True)
        catalog.upload([bundle("a.Lib", "1.1.0")], tenant="acme")
        with pytest.raises(StillNeededError, match=r"a\.App 1\.0\.0"):
            catalog.delete("a.Lib", V1, tenant="acme")
        catalog.share("a.Lib", v("1.1.0"), tenant="acme")
        assert not catalog.delete("a.Lib", V1, tenant="acme").findings

    def test_a_deleted_version_may_come_back_with_other_content(self, catalog):
        catalog.upload([bundle("a.App", text="first")], tenant="acme")
        catalog.delete("a.App", V1, tenant="acme")
        with pytest.raises(NoSuchPackageError):
            catalog.delete("a.App", V1, tenant="acme")
        assert catalog.upload([bundle("a.App", text="second")], tenant="acme").stored
        assert catalog.package("a.App", tenant="acme")[1].file("Resources/text") == b"second"

    def test_tidying_removes_content_that_no_version_has(self, catalog):
        catalog.upload([bundle("a.App"), bundle("b.App")], tenant="acme")
        catalog.upload([bundle("b.App")], tenant="other")
        catalog.delete("a.App", V1, tenant="acme")
        catalog.delete("b.App", V1, tenant="acme")
        gone = (bundle("a.App").digest,)
        assert catalog.tidy(dry_run=True) == gone
        assert catalog.tidy() == gone
        assert catalog.tidy() == ()
        assert catalog.package("b.App", tenant="other")[1].file("Resources/text") == b""


class TestEnvironments:
    """What keeps versions: models that are loaded again later, in environments."""

    @pytest.fixture(autouse=True)
    def packages(self, catalog):
        catalog.upload([bundle("a.App"), bundle("a.App", "2.0.0")], tenant="acme", public=True)

    def test_a_version_that_an_environment_uses_stays(self, catalog):
        assert str(catalog.use("prod", [("a.App", V1)], tenant="acme").versions[0]) == "a.App 1.0.0"
        with pytest.raises(StillNeededError, match="found the environment prod; move prod"):
            catalog.delete("a.App", V1, tenant="acme")
        catalog.delete("a.App", V2, tenant="acme")
        change = catalog.delete("a.App", V1, tenant="acme", force=True)
        assert [each.severity for each in change.findings] == ["warning"]
        assert catalog.environments("acme") == ()

    def test_an_environment_uses_what_was_recorded_last(self, catalog):
        catalog.use("prod", [("a.App", V1)], tenant="acme")
        catalog.use("test", [("a.App", V1), ("a.App", V2)], tenant="acme")
        catalog.use("prod", [("a.App", V2)], tenant="acme", dry_run=True)
        found = {each.name: list(map(str, each.versions)) for each in catalog.environments("acme")}
        assert found == {"prod": ["a.App 1.0.0"], "test": ["a.App 1.0.0", "a.App 2.0.0"]}
        catalog.use("prod", [("a.App", V2)], tenant="acme")
        catalog.use("test", [], tenant="acme")
        assert [each.name for each in catalog.environments("acme")] == ["prod"]
        catalog.delete("a.App", V1, tenant="acme")

    def test_environments_of_other_tenants_are_not_named(self, catalog):
        catalog.use("prod", [("a.App", V1)], tenant="rival")
        for change in (catalog.delete, catalog.unshare):
            with pytest.raises(
                StillNeededError, match="an environment of another tenant"
            ) as raised:
                change("a.App", V1, tenant="acme")
            assert "prod" not in str(raised.value)
        assert catalog.environments("acme") == ()
        catalog.use("own", [("a.App", V2)], tenant="acme")
        catalog.unshare("a.App", V2, tenant="acme")  # Its own tenant still sees it.

    def test_what_a_tenant_does_not_see_is_not_used(self, catalog):
        catalog.upload([bundle("b.Own")], tenant="acme")
        with pytest.raises(NoSuchPackageError):
            catalog.use("prod", [("a.App", V1), ("b.Own", V1)], tenant="rival")
        assert catalog.environments("rival") == ()
        with pytest.raises(InvalidTenantError, match="the environment"):
            catalog.use("-", [], tenant="acme")
