"""Published packages of classes: what the engine makes of them is what PyYAML reads in their files.

`TRUNDLE_PUBLISHED_PACKAGES` names a folder with packages, such as a checkout of openstack/murano-apps.
"""

import os
from pathlib import Path

import pytest
import yaml

from trundle.engine import Engine, EngineError
from trundle.packages import Package

PUBLISHED = os.environ.get("TRUNDLE_PUBLISHED_PACKAGES")
REFUSED = {
    "com.mirantis.PaloAltoApp": "no-package",
    "com.mirantis.PaloAltoNode": "no-package",
    "com.example.conflang.puppet.MySQLPuppet": "no-class",
}
"""The classes of openstack/murano-apps that are refused; see decision 217."""


OTHERWISE = {"initialize": ".init", "destroy": ".destroy"}
"""What older files call constructors and destructors."""


class Loader(yaml.SafeLoader):
    """Takes tags such as `!yaql` for what they stand at."""


def plain(loader, _, node):
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    build = (
        loader.construct_sequence
        if isinstance(node, yaml.SequenceNode)
        else loader.construct_mapping
    )
    return build(node, deep=True)


Loader.add_multi_constructor("!", plain)


def read(path):
    with path.open(encoding="utf-8") as file:
        return [each for each in yaml.load_all(file, Loader) if each]


def full(name, namespaces):
    prefix, colon, rest = name.partition(":")
    if colon:
        return f"{namespaces[prefix]}.{rest}" if prefix else rest
    own = namespaces.get("=", "")
    return name if "." in name or not own else f"{own}.{name}"


def declared(folder):
    """Each class that a manifest lists: its parents, and the properties and methods that its file has."""
    (manifest,) = read(folder / "manifest.yaml")
    for name, file in (manifest.get("Classes") or {}).items():
        namespaces: dict[str, str] = {}
        for each in read(folder / "Classes" / file):
            namespaces = each.get("Namespaces", namespaces)
            if full(each.get("Name", ""), namespaces) != name:
                continue
            extends = each.get("Extends") or []
            parents = [extends] if isinstance(extends, str) else extends
            yield (
                name,
                [full(one, namespaces) for one in parents] or ["io.murano.Object"],
                set(each.get("Properties") or {}),
                {OTHERWISE.get(x, x) for x in each.get("Methods") or each.get("Workflow") or ()},
            )


@pytest.mark.skipif(not PUBLISHED, reason="TRUNDLE_PUBLISHED_PACKAGES names no folder")
def test_each_class_has_the_parents_and_members_of_its_file():
    folders = [
        each.parent
        for each in sorted(Path(PUBLISHED or "").rglob("manifest.yaml"))
        if "FullName" in each.read_text("utf-8")
    ]
    packages = [Package.from_folder(each) for each in folders]
    refused, built = {}, 0
    with Engine(packages).session() as session:
        for folder, package in zip(folders, packages, strict=True):
            known = {each[0]: each[1:] for each in declared(folder)}
            for name in package.classes:
                try:
                    type_ = session.type(name, str(package.version), package.name)
                except EngineError as error:
                    refused[name] = error.code
                    continue
                parents, properties, methods = known[name]
                assert [each.class_name for each in type_.parents] == parents, name
                own = {x for x, each in type_.properties.items() if each.declaring_type is type_}
                assert own == properties, name
                assert {
                    x for x, each in type_.methods.items() if each.declaring_type is type_
                } == methods
                for parent in type_.ancestors:
                    assert set(parent.properties) <= set(type_.properties), name
                    assert set(parent.methods) - {".init", ".destroy"} <= set(type_.methods), name
                built += 1
    assert refused == REFUSED
    assert built == 46
