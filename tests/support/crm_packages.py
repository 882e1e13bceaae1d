"""The example of a customer service as a package whose hooks are static methods, release by release."""

import shutil
from pathlib import Path

import yaml

CRM = Path(__file__).parents[2] / "examples" / "crm"
CLASSES = Path(__file__).parent / "crm_classes"
NAME = "com.example.Crm"
VERSIONS = (
    "2011-01-01",
    "2012-02-02",
    "2013-03-03",
    "2014-04-04-preview",
    "2014-04-04",
    "2015-05-05",
    "2016-06-06",
    "2017-07-07",
    "2018-08-08",
    "2019-09-09",
)
STATIC = {
    "crm_hooks.names:PersonNames": (
        "com.example.crm.PersonNames",
        {
            "assign_to": ["alphaKey", "familyName", "knownAs", "legalName"],
            "assign_from": ["firstName", "lastName", "middleName"],
        },
    ),
    "crm_hooks.addresses:AddressLines": (
        "com.example.crm.AddressLines",
        {"assign_to": ["fullAddress"], "assign_from": ["street"]},
    ),
}
"""By the Python class of the example: the class of the package, and what its methods write."""


def write_package(folder: Path, version: str, *known: str, name: str = NAME, **further) -> Path:
    """Writes a release of the package over the one before; its folder.

    Args:
        folder: the folder; what is locked in it stays.
        version: the version of the package.
        known: the API versions.
        name: the package.
        further: what else stands in the project's file.
    """
    config = yaml.load((CRM / "trundle.yaml").read_text(), yaml.BaseLoader)
    config["horizon"] = {"ga": int(config["horizon"]["ga"])}
    config["changes"] = {
        older: rules
        for older, rules in config["changes"].items()
        if older in known and VERSIONS[VERSIONS.index(older) + 1] in known
    }
    config["hooks"] = [static(each) for each in config["hooks"] if set(each["between"]) <= {*known}]
    for each in ("schemas", "Classes"):
        shutil.rmtree(folder / each, ignore_errors=True)
    (folder / "schemas").mkdir(parents=True)
    for each in known:
        shutil.copy(CRM / "schemas" / f"{each}.yaml", folder / "schemas")
    shutil.copytree(CLASSES, folder / "Classes")
    manifest = {
        "Format": "1.4",
        "Type": "Library",
        "FullName": name,
        "Version": version,
        "Classes": {use: f"{use.rpartition('.')[2]}.yaml" for use, _ in STATIC.values()},
    }
    (folder / "manifest.yaml").write_text(yaml.safe_dump(manifest))
    config |= further
    (folder / "trundle.yaml").write_text(yaml.safe_dump({k: v for k, v in config.items() if v}))
    return folder


def static(hook):
    """A hook of the example as the package names it."""
    use, writes = STATIC[hook["use"]]
    return {**hook, "use": use, "writes": writes}


def write_project(folder: Path, *known: str) -> Path:
    """Writes the same release as a project with the example's own hooks, in Python, into an empty folder."""
    write_package(folder, "1.0.0", *known)
    shutil.rmtree(folder / "Classes")
    (folder / "manifest.yaml").unlink()
    python = {use: name for name, (use, _) in STATIC.items()}
    file = folder / "trundle.yaml"
    config = yaml.load(file.read_text(), yaml.BaseLoader)
    config["horizon"] = {"ga": int(config["horizon"]["ga"])}
    for each in config.get("hooks", []):
        each["use"] = python[each["use"]]
        del each["writes"]
    file.write_text(yaml.safe_dump(config))
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(CRM / "crm_hooks", folder / "crm_hooks", ignore=ignored)
    return folder
