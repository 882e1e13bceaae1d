"""The example with a database and a web tier."""

import re
from pathlib import Path

import yaml

from trundle.engine import Engine, check
from trundle.packages import Package
from trundle.providers import FolderProvider, ProcessProvider

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "examples" / "shop"
_BLOCK = re.compile(r"```yaml\n# file: (\S+)\n(.*?)```", re.DOTALL)


def packages():
    return [Package.from_folder(each) for each in sorted((SHOP / "packages").iterdir())]


def model():
    return yaml.safe_load((SHOP / "model.yaml").read_text())


def test_it_is_what_the_guide_shows():
    guide = (ROOT / "docs" / "deploy-with-effects.md").read_text()
    blocks = dict(_BLOCK.findall(guide))
    files = [each for each in SHOP.rglob("*.yaml") if each.is_file()]
    assert {str(each.relative_to(SHOP)): each.read_text() for each in files} == blocks


def test_nothing_is_wrong_with_its_packages():
    assert check(packages()) == ()


def test_its_manifests_fit_each_other(tmp_path):
    providers = {
        "folder": FolderProvider(tmp_path),
        "process": ProcessProvider({"wc": "/usr/bin/wc"}, tmp_path),
    }
    with Engine(packages(), providers=providers).session(secrets={"db": "x"}) as session:
        session.call(session.load(model()), "deploy")
    found = [yaml.safe_load(each.read_text()) for each in tmp_path.glob("*.yaml")]
    by_name = {(each["kind"], each["metadata"]["name"]): each for each in found}
    assert sorted(by_name) == [
        ("Deployment", "shop"),
        ("Secret", "orders"),
        ("Secret", "shop-settings"),
        ("StatefulSet", "orders"),
    ]
    for name in (("Deployment", "shop"), ("StatefulSet", "orders")):
        spec = by_name[name]["spec"]
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    (container,) = by_name["Deployment", "shop"]["spec"]["template"]["spec"]["containers"]
    assert container["envFrom"] == [{"secretRef": {"name": "shop-settings"}}]
    assert by_name["Secret", "shop-settings"]["stringData"] == {
        "DATABASE_URL": "postgresql://shop:x@orders/shop"
    }
