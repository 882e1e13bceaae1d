"""The catalog as its users see it: what an upload, a snapshot and an engine on top of it promise."""

import io
import threading
import zipfile

import pytest
from bundles import bundle

from trundle.catalog import Catalog
from trundle.engine import Engine, EngineError
from trundle.packages import Package, UnpackError


def failed(upload):
    """The codes of the errors of an upload; none is stored where there is one."""
    codes = {str(each.code) for each in upload.findings if each.severity == "error"}
    assert not (codes and upload.stored)
    return codes


def version(snapshot, name):
    """The newest version that a snapshot has; None where there is none."""
    versions = [each.version for each in snapshot if each.name == name]
    if not versions:
        with pytest.raises(EngineError, match=name):
            Engine(snapshot).package(name, "*")
        return None
    assert Engine(snapshot).package(name, "*").version == max(versions)
    return str(max(versions))


def test_packages_that_need_each_other_upload_together_or_not_at_all(catalog):
    app, lib = bundle("app", needs={"lib": "1"}), bundle("lib", needs={"app": "1"})
    assert failed(catalog.upload([app], tenant="acme"))
    assert version(catalog.snapshot(tenant="acme"), "app") is None
    assert not failed(catalog.upload([app, lib], tenant="acme"))
    assert version(catalog.snapshot(tenant="acme"), "app") == "1.0.0"
    assert version(catalog.snapshot(tenant="other"), "app") is None


def test_one_upload_may_hold_several_versions_and_lists_all_that_is_wrong(catalog):
    good = [bundle("lib", each) for each in ("1.0.0", "1.10.0", "2.0.0")]
    bad = [
        bundle("a", needs={"nothing": "1"}),
        bundle("b", B="Name: b.B\nExtends: lib.None\n"),
        bundle("c", C="Name: c.C\nExtends: c.C\n"),
        bundle("d", D="Name: d.D\nProperties: {x: {Contract: $.class('b.B')}}\n"),
        bundle("e", E="Name: e.E\nMethods: {m: {Body: new('b.B')}}\n"),
    ]
    refused = catalog.upload([*good, *bad], tenant="acme")
    text = "\n".join(str(each) for each in refused.findings if each.severity == "error")
    assert failed(refused)
    assert all(f"{each} 1.0.0" in text or f"{each}/1.0.0" in text for each in "abcde")
    assert not list(catalog.snapshot(tenant="acme"))
    assert not failed(catalog.upload(good, tenant="acme"))
    assert version(catalog.snapshot(tenant="acme"), "lib") == "2.0.0"


def test_a_version_never_changes_and_a_public_one_has_no_shadow(catalog):
    assert not failed(catalog.upload([bundle("a")], tenant="acme", public=True))
    assert failed(catalog.upload([bundle("a", text="other")], tenant="acme"))
    assert failed(catalog.upload([bundle("a", text="other")], tenant="rival"))
    assert not failed(catalog.upload([bundle("a", "1.1.0")], tenant="rival"))
    assert version(catalog.snapshot(tenant="rival"), "a") == "1.1.0"
    assert version(catalog.snapshot(tenant="acme"), "a") == "1.0.0"


def test_a_public_package_needs_public_packages(catalog):
    catalog.upload([bundle("own")], tenant="acme")
    assert failed(catalog.upload([bundle("all", needs={"own": "1"})], tenant="acme", public=True))


def test_a_snapshot_stays_as_it_was(catalog):
    before = catalog.snapshot(tenant="acme")
    catalog.upload([bundle("a")], tenant="acme")
    assert version(before, "a") is None
    assert version(catalog.snapshot(tenant="acme"), "a") == "1.0.0"


def test_the_bundled_core_library_counts_as_present_and_a_newer_one_stands_beside_it(catalog):
    newer = bundle("n", "1.0.0", {"io.murano": "1"}, N="Name: n.N\n")
    assert failed(catalog.upload([newer], tenant="acme"))
    assert not failed(catalog.upload([bundle("a", A="Name: a.A\n")], tenant="acme"))
    core = bundle("io.murano", "1.0.0", Object="Name: io.murano.Object\n")
    assert not failed(catalog.upload([core, newer], tenant="acme"))
    with Engine(catalog.snapshot(tenant="acme")).session() as session:
        roots = [session.type(each).ancestors[-1] for each in ("a.A", "n.N")]
        assert [str(each.version) for each in roots] == ["0.1.0", "1.0.0"]
        assert all(each.parents == () for each in roots)


def test_of_two_uploaders_one_gets_each_version(tmp_path):
    url = f"sqlite:///{tmp_path}/catalog.db"
    with Catalog(url) as catalog:
        catalog.snapshot(tenant="acme")
    outcomes = []

    def run(text):
        with Catalog(url) as own:
            for minor in range(4):
                packages = [bundle("a", f"1.{minor}.0", text=text), bundle(text, f"1.{minor}.0")]
                outcomes.append((minor, bool(failed(own.upload(packages, tenant="acme")))))

    threads = [threading.Thread(target=run, args=(each,)) for each in ("one", "two")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(outcomes) == [(minor, lost) for minor in range(4) for lost in (False, True)]
    with Catalog(url) as catalog:
        assert len(list(catalog.snapshot(tenant="acme"))) == 8


@pytest.mark.parametrize(
    "entry", [("../out", "x"), ("/etc/out", "x"), ("MANIFEST.yaml", "x"), ("z", bytes(10**8))]
)
def test_a_hostile_archive_becomes_no_package(entry):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.yaml", "FullName: a\nType: Library\n")
        archive.writestr(*entry)
    with pytest.raises(UnpackError):
        Package.from_archive(target.getvalue())
