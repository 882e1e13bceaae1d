"""Models of environments go to newer versions of packages, and stay where that cannot be."""

import pytest
from engines import package
from kept import Kept, adding, done

from trundle.catalog import Reviewed
from trundle.engine import EngineError
from trundle.environments import (
    ArrivalError,
    MajorError,
    NoSuchObjectError,
    call,
    newer_majors,
    rollback,
    upgrade,
)
from trundle.models import ModelError

TENANT = "acme"
HEAD = "Namespaces: {=: a, t: io.trundle, std: io.murano}\nName: App\nExtends: std:Application\n"
DEPLOY = """
Methods:
  size:
    Scope: Public
    Body:
      Return: $.SIZE
  deploy:
    Body:
      - new(t:Document, name => $.name, content => [VERSION, $.SIZE]).deploy()
"""
UPGRADE = """
  upgrade:
    Arguments:
      - from: {Contract: $.string().notNull()}
    Body:
      - $.cameFrom: $from
      - new(t:Document, name => upgraded, content => $from).deploy()
"""


def app(version, size="size", contract="$.int()", more="", **files):
    properties = f"Properties:\n  {size}: {{Contract: {contract}, Usage: InOut}}\n"
    properties += "  name: {Contract: $.string(), Default: size}\n"
    properties += "  cameFrom: {Contract: $.string(), Usage: InOut}\n"
    text = HEAD + properties + DEPLOY.replace("SIZE", size).replace("VERSION", f"'v{version}'")
    made = package("a", version, {"io.trundle": "1"}, {"a.App": text + more})
    if not files:
        return made
    content = {name: made.file(name).decode() for name in made.files}
    return type(made).from_files({**content, **files})


OLD = app("1.0.0")
MINOR = app("1.1.0", more=UPGRADE)
RULES = "changes:\n  1.1.0:\n    a.App:\n      rename: {size: amount}\n"


@pytest.fixture
def shop(url, tmp_path):
    kept = Kept(url, tmp_path / "deployed", [OLD])
    kept.create()
    kept.edit(lambda model: sized(model, 3))
    kept.deploy()
    yield kept
    kept.close()


def sized(model, size):
    found = adding(model, "web", size=size)
    del found["applications"][-1]["documents"]
    return found


def offer(kept, *packages):
    assert not kept.catalog.upload(packages, tenant=TENANT).refused


def versions(kept):
    return {each["?"]["type"] for each in kept.model()["applications"]}


def test_nothing_newer_is_no_deployment(shop):
    result = shop.run(upgrade)
    assert (result.number, result.upgraded, len(shop.history())) == (None, {}, 1)


@pytest.mark.full
def test_a_minor_version_comes_with_its_upgrade_method(shop):
    offer(shop, MINOR)
    would = shop.run(upgrade, dry_run=True)
    assert versions(shop) == {"a.App/1.0.0@a"}
    result = shop.run(upgrade)
    assert result.upgraded == would.upgraded == {"a": ("1.0.0", "1.1.0")}
    assert done(result) == done(would)
    assert shop.files() == {"size.yaml": "- v1.1.0\n- 3\n", "upgraded.yaml": "1.0.0"}
    assert shop.model()["applications"][0]["cameFrom"] == "1.0.0"
    assert shop.outcomes()[-1] == ("upgrade", "succeeded")
    assert shop.history()[-1].uses == (("a", "1.1.0"),)
    assert done(shop.deploy(""))[-1] == ("remove", "folder/upgraded.yaml")


@pytest.mark.full
def test_a_major_version_waits_until_it_is_asked_for(shop):
    offer(shop, app("2.0.0", "amount", **{"evolution.yaml": RULES.replace("1.1.0", "1.0.0")}))
    assert shop.run(upgrade).number is None
    assert newer_majors(shop.environments, "shop", tenant=TENANT) == {"a": "2.0.0"}
    shop.run(upgrade, major=True)
    assert shop.files() == {"size.yaml": "- v2.0.0\n- 3\n"}
    assert shop.run(call, "web", "size").value == 3
    shop.run(rollback, 1)
    assert shop.files() == {"size.yaml": "- v1.0.0\n- 3\n"}
    assert versions(shop) == {"a.App/1.0.0@a"}


REFUSED = "changes:\n  1.0.0:\n    a.App:\n      rename: {nothing: amount}\n"


def test_a_conversion_that_is_refused_changes_nothing(shop):
    """Such a release is in a catalog for a reason that was given, or since an earlier Trundle."""
    release = app("2.0.0", "amount", **{"evolution.yaml": REFUSED})
    given = shop.catalog.upload(
        [release], tenant=TENANT, review=lambda *_: Reviewed(override="tried")
    )
    assert given.overridden
    before = (shop.files(), shop.history(), shop.model())
    with pytest.raises(ModelError) as caught:
        shop.run(upgrade, major=True)
    assert caught.value.findings
    assert (shop.files(), shop.history(), shop.model()) == before


def test_a_release_whose_conversion_is_refused_is_not_stored(shop):
    release = app("2.0.0", "amount", **{"evolution.yaml": REFUSED})
    before = (shop.files(), shop.history(), shop.model())
    assert shop.catalog.upload([release], tenant=TENANT).refused
    assert newer_majors(shop.environments, "shop", tenant=TENANT) == {}
    assert (shop.files(), shop.history(), shop.model()) == before


GROW = """
  grow:
    Usage: Static
    Scope: Public
    Arguments: [{size: {Contract: $.int()}}]
    Body:
      - $grown: $size * 10
      - Return: {amount: $grown}
"""
HOOKED = "hooks: {1.0.0: {a.App: {assign_to: {use: grow, writes: [amount]}}}}"


def test_an_upgrade_calls_the_hooks_of_the_newer_version(shop):
    offer(shop, app("2.0.0", "amount", more=GROW, **{"evolution.yaml": HOOKED}))
    shop.run(upgrade, major=True)
    assert shop.files() == {"size.yaml": "- v2.0.0\n- 30\n"}
    assert shop.model()["applications"][0]["?"]["_bag"]["size"]["1.0.0"]["value"] == 3


def test_a_hook_that_acts_on_the_world_is_refused_and_nothing_is_done(shop):
    acting = GROW.replace(
        "Body:", "Body:\n      - new(t:Document, name => x, content => y).deploy()"
    )
    offer(shop, app("2.0.0", "amount", more=acting, **{"evolution.yaml": HOOKED}))
    before = (shop.files(), shop.history(), shop.model())
    with pytest.raises(ModelError, match="act on the world, where code only computes"):
        shop.run(upgrade, major=True)
    assert (shop.files(), shop.history(), shop.model()) == before


def test_a_model_that_the_new_version_refuses_changes_nothing(shop):
    offer(shop, app("1.1.0", contract="$.int().check($ > 9)"))
    before = (shop.files(), shop.history(), shop.model())
    with pytest.raises(EngineError):
        shop.run(upgrade)
    assert (shop.files(), shop.history(), shop.model()) == before


def upgraded_again(shop):
    assert shop.run(upgrade).upgraded == {"a": ("1.0.0", "1.1.0")}
    assert shop.run(upgrade).number is None


@pytest.mark.full
@pytest.mark.parametrize("again", [lambda shop: shop.deploy(""), upgraded_again])
def test_an_upgrade_that_failed_goes_on(shop, again):
    offer(shop, MINOR)
    (shop.folder / "upgraded.yaml").mkdir()
    with pytest.raises(EngineError, match="upgraded"):
        shop.run(upgrade)
    assert shop.outcomes()[-1] == ("upgrade", "failed")
    (shop.folder / "upgraded.yaml").rmdir()
    again(shop)
    assert shop.outcomes()[-1][1] == "succeeded"
    assert shop.files() == {"size.yaml": "- v1.1.0\n- 3\n", "upgraded.yaml": "1.0.0"}
    assert shop.model()["applications"][0]["cameFrom"] == "1.0.0"


@pytest.mark.full
def test_an_upgrade_that_failed_goes_on_to_what_is_newer_still(shop):
    offer(shop, MINOR)
    (shop.folder / "upgraded.yaml").mkdir()
    with pytest.raises(EngineError, match="upgraded"):
        shop.run(upgrade)
    (shop.folder / "upgraded.yaml").rmdir()
    offer(shop, app("1.2.0", more=UPGRADE))
    assert shop.run(upgrade).upgraded == {"a": ("1.0.0", "1.2.0")}
    assert shop.model()["applications"][0]["cameFrom"] == "1.0.0"


@pytest.mark.full
def test_only_the_packages_that_are_named(shop):
    offer(shop, MINOR)
    with pytest.raises(NoSuchObjectError, match=r"a, io\.murano"):
        shop.run(upgrade, ["b"])
    shop.run(upgrade, ["io.murano"])
    assert versions(shop) == {"a.App/1.0.0@a"}
    shop.run(upgrade, ["a"])
    assert versions(shop) == {"a.App/1.1.0@a"}


@pytest.mark.full
def test_objects_of_several_major_versions_are_a_choice(shop):
    offer(shop, app("2.0.0"))
    shop.edit(two)
    shop.deploy()
    assert versions(shop) == {"a.App/1.0.0@a", "a.App/2.0.0@a"}
    with pytest.raises(MajorError, match=r"1\.0\.0, 2\.0\.0"):
        shop.run(upgrade)
    shop.run(upgrade, major=True)
    assert versions(shop) == {"a.App/2.0.0@a"}


def two(model):
    second = {"?": {"type": "a.App", "classVersion": "2.0.0", "id": "two"}, "name": "two"}
    return {**model, "applications": [*model["applications"], second]}


def test_a_package_that_vanished_is_named_and_an_upgrade_finds_a_way(shop):
    from trundle.version import SemVer

    offer(shop, app("2.0.0"))
    shop.catalog.delete("a", SemVer.parse("1.0.0"), tenant=TENANT, force=True)
    before = (shop.files(), shop.history())
    for attempt in (lambda: shop.deploy(""), lambda: shop.run(rollback, 1)):
        with pytest.raises(EngineError, match=r"a\.App|2\.0\.0"):
            attempt()
    assert (shop.files(), shop.history()) == before


@pytest.mark.full
def test_what_is_installed_arrives_with_the_upgrade(shop):
    need = package("need", "1.0.0")
    minor = app("1.1.0", more=UPGRADE)
    files = {name: minor.file(name).decode() for name in minor.files}
    manifest = files["manifest.yaml"].replace("io.trundle: '1'", "io.trundle: '1'\n  need: '1'")
    assert manifest != files["manifest.yaml"]
    minor = type(minor).from_files({**files, "manifest.yaml": manifest})
    installed = [minor, need, package("other", "1.0.0"), OLD]
    tried = shop.run(upgrade, arriving=installed, dry_run=True)
    assert tried.upgraded == {"a": ("1.0.0", "1.1.0")}
    known = [str(each) for each in shop.catalog.offers(TENANT)]
    assert known == ["a 1.0.0"]
    done_ = shop.run(upgrade, arriving=installed)
    assert (done_.upgraded, done_.changes) == (tried.upgraded, tried.changes)
    known = [str(each) for each in shop.catalog.offers(TENANT)]
    assert known == ["a 1.0.0", "a 1.1.0", "need 1.0.0"]
    assert shop.run(upgrade, arriving=installed).number is None


def test_what_is_installed_with_other_content_is_refused(shop):
    before = shop.model()
    for dry_run in (True, False):
        with pytest.raises(ArrivalError, match="version-has-other-content"):
            shop.run(upgrade, arriving=[app("1.0.0", more=UPGRADE), MINOR], dry_run=dry_run)
    assert [str(each) for each in shop.catalog.offers(TENANT)] == ["a 1.0.0"]
    assert shop.model() == before
