"""One object that is written in a real API server and here, and must stay the same in both."""

import copy
import re

from trundle.api.apply import ApplyConflictError, Writer, applied, ignored, restricted, updated

SERVERS = ("uid", "resourceVersion", "generation", "creationTimestamp")
"""What the server alone says of an object."""
NOW = "2099-01-01T00:00:00Z"
APPLY = "application/apply-patch+yaml"


class Story:
    """The object, and how each write of it ends there and here.

    Differences that are wanted: Kubernetes leaves null where an apply empties a list or object, and often refuses that; here
    it becomes empty.
    """

    def __init__(self, cluster, name, shape, group, plural="gadgets", kind="Gadget"):
        self.cluster, self.name, self.shape = cluster, name, shape
        self.group, self.plural, self.kind = group, plural, kind
        self.live = None
        """What the server has."""
        self.configs = {}
        """What each manager applied last."""
        self.seen = []
        """What was written, for messages."""

    def writer(self, manager, version, subresource=""):
        """A client that writes at a version such as `v1`."""
        return Writer(
            manager,
            f"{self.group}/{version}",
            self.shape,
            NOW,
            subresource=subresource,
            ignored=ignored(subresource),
        )

    def create(self, writer, document):
        collection = self._path(writer).rpartition("/")[0]
        answer = self.cluster.request("POST", collection, document, fieldManager=writer.name)
        return self._compare("create", writer, document, answer, self._update(writer, document))

    def replace(self, writer, document, **more):
        """Replaces the object, with more in its metadata."""
        metadata = self.live["metadata"]
        known = {key: metadata[key] for key in ("uid", "resourceVersion")}
        document = {**document, "metadata": {**document["metadata"], **known, **more}}
        answer = self.cluster.request("PUT", self._path(writer), document, fieldManager=writer.name)
        return self._compare("replace", writer, document, answer, self._update(writer, document))

    def apply(self, writer, document, *, force=False):
        options = {"fieldManager": writer.name, "force": str(force).lower()}
        answer = self.cluster.request("PATCH", self._path(writer), document, kind=APPLY, **options)
        kind = "apply by force" if force else "apply"
        return self._compare(
            kind,
            writer,
            document,
            answer,
            lambda live: applied(writer, live, document, force=force),
        )

    def _path(self, writer):
        path = f"/apis/{writer.version}/namespaces/default/{self.plural}/{self.name}"
        return f"{path}/{writer.subresource}" if writer.subresource else path

    def _update(self, writer, document):
        return lambda live: updated(writer, live, defaulted(read(document)))

    def _compare(self, kind, writer, document, answer, write):
        self.seen.append((kind, writer.name, writer.version, writer.subresource, document))
        where = f"after {len(self.seen)} writes, the last being {self.seen[-1]}"
        bare = {"apiVersion": writer.version, "kind": self.kind}
        live = {**self.live, "apiVersion": writer.version} if self.live else bare
        ours, conflict = _outcome(
            lambda: restricted(writer.subresource, live, defaulted(write(live)))
        )
        if conflict or answer.status == 409:
            assert conflict == _conflicts(answer.body), where
            return "conflict"
        if answer.status == 422:
            causes = answer.body["details"]["causes"]
            assert all(each["message"].endswith(('"null"', "Required value")) for each in causes), (
                causes
            )
            return "not valid any more"
        theirs = answer.ok()
        assert alike(comparable(ours), comparable(theirs)), where
        assert owners(ours) == owners(theirs), where
        self.live = theirs
        return kind


def read(document):
    """A document as servers read it: without empty metadata, in it and in the object that is embedded in it."""
    read_ = {**document, "metadata": tidy(document["metadata"])}
    template = (document.get("spec") or {}).get("template")
    if template:
        inner = {**template, "metadata": tidy(template["metadata"])}
        read_["spec"] = {**document["spec"], "template": inner}
    return read_


def tidy(metadata):
    return {
        key: each
        for key, each in metadata.items()
        if each not in ({}, []) or key == "managedFields"
    }


def defaulted(document):
    """A document with the defaults of its schema."""
    document = copy.deepcopy(document)
    spec = document.get("spec") or {}
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
    if spec.get("inner") is not None:
        spec["inner"].setdefault("level", "info")
    return document


def comparable(document):
    """What server and we say of an object, owners left aside; servers drop empty metadata."""
    aside = (*SERVERS, "managedFields")
    metadata = {key: value for key, value in document["metadata"].items() if key not in aside}
    return read({**document, "metadata": metadata})


def owners(document):
    """The owners of an object, with whether they have a time, and without an order, which depends on it."""
    entries = document["metadata"].get("managedFields", ())
    found = {}
    for each in entries:
        who = tuple(each.get(key) for key in ("manager", "operation", "apiVersion", "subresource"))
        found[who] = {**each, "time": "time" in each}
    assert len(found) == len(entries)
    return found


def alike(ours, theirs):
    """Whether two values are the same, where null may stand in the server's for something empty."""
    match ours, theirs:
        case (({} | []), None):
            return ours in ({}, [])
        case dict(), dict():
            return ours.keys() == theirs.keys() and all(
                alike(ours[key], theirs[key]) for key in ours
            )
        case list(), list():
            return len(ours) == len(theirs) and all(map(alike, ours, theirs))
        case _:
            return ours == theirs


def _outcome(write):
    """What a write makes of the object, or what it conflicts with."""
    try:
        return write(), None
    except ApplyConflictError as error:
        causes = {(f"conflict with {each.manager}", each.field) for each in error.conflicts}
        return None, (causes, sorted(str(error).splitlines()))


def _conflicts(status):
    causes = status["details"]["causes"]
    assert {each["reason"] for each in causes} == {"FieldManagerConflict"}
    found = {(_untimed(each["message"]), each["field"]) for each in causes}
    return found, sorted(_untimed(status["message"]).splitlines())


def _untimed(message):
    return re.sub(r" at [-0-9]+T[:0-9]+Z", "", message)
