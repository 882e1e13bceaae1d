"""Releases of a package that carries members (`carried`), and what becomes of them in a cluster with an operator."""

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

from carried import RENAMES, SCHEMAS
from operators import condition, installed, shown, wanted


def publish(publisher, package, version, group, *versions, **further) -> Path:
    """Publishes a release with some versions of members; its folder."""
    schemas = {
        each: {"title": "Member", "type": "object", "properties": SCHEMAS[each]}
        for each in versions
    }
    changes = {each: {"Member": {"rename": RENAMES[each]}} for each in versions[:-1]}
    config = {"changes": changes, "kubernetes": {"group": group}}
    return publisher.project(package, version, schemas, **config, **further)


def install(cluster, publisher, space, package, **spec) -> None:
    """Creates or changes the installation `it`."""
    spec = {
        "registry": f"http://{publisher.host}", "package": package, "trust": {"secretName": "root"},
        "policy": {"patch": "immediate", "minor": "immediate", "major": "immediate"}, **spec,
    }  # fmt: skip
    cluster.kubectl("apply", "-f", "-", text=json.dumps(wanted("it", space, spec)))


def has_reached(cluster, space, version) -> bool:
    """Whether a version is installed, and all objects are rewritten by it."""
    found = shown(cluster, space, "it")
    migrated = condition(found, "Migrated")
    return (installed(found), migrated) == ((version, True), ("True", "Migrated"))


def reaches(cluster, space, version, seconds=420) -> None:
    """Waits until a version is installed, and all objects are rewritten by it."""
    deadline = time.monotonic() + seconds
    while not has_reached(cluster, space, version):
        assert time.monotonic() < deadline, shown(cluster, space, "it").get("status")
        time.sleep(0.1)


def crd_versions(cluster, group) -> dict[str, bool]:
    """The versions of the CRD, and whether each is served."""
    text = cluster.kubectl("get", "crd", f"members.{group}", "-o", "json").stdout
    return {each["name"]: each["served"] for each in json.loads(text)["spec"]["versions"]}


def shapes(cluster, group) -> set[str]:
    """The versions whose shape stored objects have; etcd is asked."""
    found = cluster.stored(group, "members").values()
    return {json.loads(each["stored"])["apiVersion"] for each in found}


@contextlib.contextmanager
def removing(cluster, group, plural="members") -> Iterator[None]:
    """Deletes the CRD with all objects at the end, as long as their webhook is there."""
    try:
        yield
    finally:
        cluster.undefine(f"{plural}.{group}")
