"""An operator that is killed at each of its writes to the API server: what it leaves in the end is what it leaves without a kill."""

import json
import shutil

import operators
import pytest
import urllib3
from carried import Members
from clusters import until
from members_releases import has_reached, install, publish, removing
from operators import Operator, thing
from serving import free_port, registry
from write_proxy import WriteProxy

PACKAGE, GROUP = "acme/mortal", "mortal.clubs.example.com"
RELEASES = {
    "1.0.0": (["v1"], {}),
    "1.1.0": (["v1", "v2"], {"horizon": {"ga": 1}}),
    "1.2.0": (["v2"], {}),
}
"""The first stores v1; the second stores v2, and takes v1 out of service; the third no longer has v1."""
STEPS = (*RELEASES, "removed")
SAMPLE = {"1.0.0": (2, 5), "1.1.0": (3, 8), "1.2.0": (4,), "removed": (3,)}
"""At which writes of each step the operator is killed, each counted from its start, where not all are tried."""

MOST = 48
"""More writes than any step has; but where the cluster's own migration fails, looks that find nothing to do come in between."""


@pytest.fixture(scope="module")
def publisher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("publisher")
    with registry(folder / "registry") as host:
        found = operators.Publisher(folder, host)
        for version, (versions, config) in RELEASES.items():
            documents = [
                thing("ConfigMap", "settings", data={"version": version}),
                thing("ConfigMap", f"only-{version}"),
            ]
            publish(
                *(found, PACKAGE, version, GROUP, *versions),
                **{**config, "documents": documents, "override": "the versions of a test"},
            )
        yield found


class Mortal:
    """An operator behind a proxy that kills it, in a namespace of its own for each story.

    Attributes:
        deaths: the writes that it was killed at, as method and path.
        counts: how many writes each step had, after the last kill.
    """

    def __init__(self, cluster, publisher, folder, proxy):
        self.cluster, self.publisher, self.folder, self.proxy = cluster, publisher, folder, proxy
        self.members = Members(cluster, GROUP)
        self.operator = Operator(cluster, folder / "operator", kubeconfig=proxy.kubeconfig)
        self.space = ""
        self.deaths, self.counts = [], {}
        self._port, self._stories = free_port(), 0

    def played(self, kills):
        """Plays the story in a new namespace; what is in the cluster after each step.

        Args:
            kills: at which writes of each step the operator is killed, each counted from its start.
        """
        self._stories += 1
        self.space = f"mortal-{self._stories}"
        root = f"--from-file={self.publisher.root}"
        self.cluster.kubectl("create", "namespace", self.space)
        self.cluster.kubectl("create", "secret", "generic", "root", "-n", self.space, root)
        self.deaths, self.counts, found = [], {}, {}
        self.operator.options = (
            *("--namespace", self.space, "--home", self.space, "--identity", "mortal"),
            *("--admission", "webhook", "--cache", str(self.folder / "cache")),
        )
        with removing(self.cluster, GROUP):
            try:
                self._start([])
                self.operator.define()
                for step in STEPS:
                    found[step] = self._stepped(step, list(kills.get(step, ())))
            finally:
                self.operator.stop(9)
        return found

    def _start(self, kills):
        """Starts the operator, half of the times without its cache."""
        if len(self.deaths) % 2 == 0:
            shutil.rmtree(self.folder / "cache", ignore_errors=True)
        self.proxy.arm(kills.pop(0) if kills else None, lambda: self.operator.stop(9))
        self.operator.start(self._port)
        with urllib3.PoolManager(ca_certs=str(self.operator.authority.certificate)) as pool:
            until(lambda: pool.request("GET", f"{self.operator.url}/readyz").status == 200)

    def _stepped(self, step, kills):
        self.proxy.arm(kills.pop(0) if kills else None, lambda: self.operator.stop(9))
        while not self._is_asked(step):
            until(lambda: self.proxy.killed)
            self._revive(kills)
        until(lambda: self._is_done(step, kills))
        self.counts[step] = len(self.proxy.writes)
        seen = self._seen()
        if step == "1.0.0":
            for number in range(3):
                self.members.create("v1", f"m{number}", team=f"t{number}", age=number)
        elif step == "1.1.0":
            self.members.merge("v2", "m1", {"note": step}).ok()
        return seen

    def _is_asked(self, step):
        """Asks for a step; not where the operator is gone just now, as nothing converts installations then."""
        if step == "removed":
            given = ("delete", operators.CRD, "it", "-n", self.space, "--wait=false")
            return self.cluster.kubectl(*given, check=False).returncode == 0
        given = {"version": step, "crds": "Delete"}
        try:
            install(self.cluster, self.publisher, self.space, PACKAGE, **given)
        except AssertionError:
            return False
        return True

    def _revive(self, kills):
        self.deaths.append(self.proxy.writes[-1])
        self._start(kills)

    def _is_done(self, step, kills):
        if self.proxy.killed:
            self._revive(kills)
        if step == "removed":
            path = f"/apis/trundle.dev/v1/namespaces/{self.space}/installations/it"
            return (
                self.cluster.request("GET", path).status == 404
            )  # Another one if no webhook answers.
        return has_reached(self.cluster, self.space, step)

    def _seen(self):
        """All that is in the cluster of the package and of the operator, without times."""
        found = {}
        everywhere = ("crd", "mutatingwebhookconfigurations", "storageversionmigrations")
        for kinds, where in ((everywhere, ()), (("configmaps", operators.CRD), ("-n", self.space))):
            text = self.cluster.kubectl("get", ",".join(kinds), *where, "-o", "json").stdout
            for each in json.loads(text.replace(self.space, "SPACE"))["items"]:
                name = each["metadata"]["name"]
                if "served" in (each.get("data") or {}):
                    name = each["metadata"]["name"] = "served"  # It has a digest of the namespace.
                if where or GROUP in name or "SPACE" in name:
                    found[each["kind"], name] = plain(each)
        stored = self.cluster.stored(GROUP, "members")
        return found | {("stored", key): plain(each) for key, each in stored.items()}

    @property
    def events(self):
        """What events say of the installation, each once."""
        text = self.cluster.kubectl("get", "events", "-n", self.space, "-o", "json").stdout
        return {(each["type"], each["reason"], each["message"]) for each in json.loads(text)["items"]}  # fmt: skip


TIMES = {"creationTimestamp", "generation", "lastTransitionTime", "managedFields", "resourceVersion", "uid"}  # fmt: skip


def plain(found):
    """An object without what differs from time to time."""
    if isinstance(found, list):
        # How the cluster's own migration ends is not up to the operator, which does without it then.
        kept = [each for each in found if not is_of(each, "StorageMigrating")]
        return [plain(each) for each in kept]
    if not isinstance(found, dict):
        return found
    kept = {key: plain(each) for key, each in found.items() if key not in TIMES}
    if is_of(found, "Migrated"):
        del kept["message"]  # It counts what the process rewrote that came to the end.
    data = found.get("data") or {}
    if isinstance(data, dict) and "served" in data:
        served = json.loads(data["served"])
        kept["data"] = {**served, "migrated": served["migrated"] and served["migrated"][1]}
    if "state" in (found.get("binaryData") or {}):
        kept["binaryData"] = "what is remembered, with times"
    return kept


def is_of(found, kind):
    return isinstance(found, dict) and found.get("type") == kind


@pytest.fixture(scope="module")
def mortal(cluster, publisher, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mortal")
    with WriteProxy(cluster, folder) as proxy:
        yield Mortal(cluster, publisher, folder, proxy)


@pytest.fixture(scope="module")
def calm(mortal):
    """What the story shows without a kill, its events, and how many writes each step has."""
    found = mortal.played({})
    assert mortal.deaths == []
    return found, mortal.events, mortal.counts


def require_alike(mortal, calm, kills):
    """Plays the story with kills, and compares it with the calm one."""
    found = mortal.played(kills)
    for step in STEPS:
        for each in found[step].keys() | calm[0][step].keys():
            here, there = found[step].get(each), calm[0][step].get(each)
            assert here == there, (step, each, kills, mortal.deaths)
    assert calm[1] <= mortal.events, (kills, mortal.deaths)


def test_kills_at_some_writes_change_no_result(mortal, calm):
    require_alike(mortal, calm, SAMPLE)
    assert len(mortal.deaths) == sum(map(len, SAMPLE.values()))


@pytest.mark.long
@pytest.mark.parametrize("at", range(MOST))
def test_kills_at_every_write_change_no_result(mortal, calm, at):
    require_alike(mortal, calm, {each: [at] for each in STEPS})
    # A look that finds nothing to do applies all once more, and may come or not.
    assert len(mortal.deaths) >= sum(at + 8 < min(each, MOST - 8) for each in calm[2].values())
