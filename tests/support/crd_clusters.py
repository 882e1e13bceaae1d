"""A CRD, its webhooks and its objects in memory, in the place of a cluster: what is asked of it can be ended at any write."""

import copy

from trundle.kubernetes._carrier import name_of, reason_name
from trundle.kubernetes._former import served_versions, stored_version
from trundle.kubernetes.migration import RequestError

FORMER = "https://former.test"


class Killed(BaseException):
    """The process is gone."""


def merged(value, patch):
    """What a merge patch makes of a value: RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    found = dict(value) if isinstance(value, dict) else {}
    for key, each in patch.items():
        if each is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), each)
    return found


def conversion(url, ca="QQ=="):
    """What a CRD says about the webhook at a URL."""
    return {"strategy": "Webhook", "webhook": {"clientConfig": {"url": url, "caBundle": ca}}}


def version(name, *, served=True, storage=False):
    """A version of a CRD."""
    return {"name": name, "served": served, "storage": storage, "schema": {}}


class CrdCluster:
    """A CRD with two versions, the first of which is stored and converted by a webhook at `FORMER`; that knows no `storage`.

    Attributes:
        crd: the CRD.
        stored: at which version each object is stored.
        down: the URLs of webhooks that do not answer.
        hidden: which objects all webhooks but the former cannot show, and at which version.
        carrying: which objects are stored at the first version with a carrier; the former webhook passes it on.
        refused: which objects cannot be written.
        killed: whether the process is killed, after each write.
    """

    def __init__(self, kind, count):
        first, second = kind.versions
        spec = {
            "group": kind.group,
            "versions": [version(first, storage=True), version(second)],
            "conversion": conversion(FORMER),
        }
        metadata = {"name": kind.qualified, "resourceVersion": "1", "annotations": {}}
        self.crd = {"metadata": metadata, "spec": spec, "status": {"storedVersions": [first]}}
        self.stored = {f"o{number:04}": first for number in range(count)}
        self.down, self.hidden, self.carrying, self.refused = set(), set(), set(), set()
        self.killed = lambda: False
        self.rewritten = 0
        self._versions = dict.fromkeys(self.stored, 1)
        self._last = 1
        self._first = first

    @property
    def url(self):
        """Which webhook converts."""
        return self.crd["spec"]["conversion"]["webhook"]["clientConfig"]["url"]

    @property
    def state(self):
        """The version that is stored, all that may be, and which webhook converts."""
        return stored_version(self.crd), self.crd["status"]["storedVersions"], self.url

    def definition(self, _name):
        return copy.deepcopy(self.crd)

    def change_definition(self, _name, patch, *, status=False):
        metadata = patch.get("metadata", {})
        if metadata.get("resourceVersion") not in {None, self.crd["metadata"]["resourceVersion"]}:
            raise RequestError("the CRD", 409, "it was changed")
        self.crd = merged(self.crd, copy.deepcopy(patch))
        self.crd["metadata"]["resourceVersion"] = self._next()
        versions = self.crd["status"]["storedVersions"]
        if not status and stored_version(self.crd) not in versions:
            versions.append(stored_version(self.crd))
        self._end()

    def shows_storage(self, _kind, _label):
        return stored_version(self.crd) in served_versions(self.crd)

    def objects(self, kind, label, _page, after=""):
        self._require(label)
        for name in sorted(self.stored):
            if name > after:
                yield self._shown(kind, name, label)

    def object(self, kind, label, like):
        self._require(label)
        return self._shown(kind, like["metadata"]["name"], label)

    def merge(self, kind, label, like, _patch):
        self._require(label)
        name = like["metadata"]["name"]
        self._shown(kind, name, label)
        if name in self.refused:
            raise RequestError(name, 422, "it is invalid")
        if self.stored[name] != stored_version(self.crd):
            self.stored[name] = stored_version(self.crd)
            self._versions[name] = self._next()
        self.rewritten += 1
        self._end()
        return self._shown(kind, name, label)

    def readable(self, kind):
        """Whether clients can list all objects at all versions."""
        try:
            return all(list(self.objects(kind, each, 9)) for each in served_versions(self.crd))
        except RequestError:
            return False

    def _shown(self, kind, name, label):
        if self.stored[name] != label:
            if self.url in self.down:
                raise RequestError(label, 500, f"{self.url} does not answer")
            if self.url == FORMER and "storage" in {self.stored[name], label}:
                raise RequestError(label, 500, "the former webhook knows no version storage")
        is_hidden = self.url != FORMER and (name, label) in self.hidden
        annotations = {reason_name(kind.group): "it has no team"} if is_hidden else {}
        shows_carrier = self.url == FORMER or label == self._first
        if name in self.carrying and self.stored[name] == self._first and shows_carrier:
            annotations[name_of(kind.group)] = "what the second version has"
        metadata = {
            "name": name,
            "resourceVersion": self._versions[name],
            "annotations": annotations,
        }
        return {"apiVersion": f"{kind.group}/{label}", "kind": kind.kind, "metadata": metadata}

    def _require(self, label):
        if label not in served_versions(self.crd):
            raise RequestError(label, 404, "the cluster does not serve it")

    def _next(self):
        self._last += 1
        return str(self._last)

    def _end(self):
        if self.killed():
            raise Killed
