"""One webhook is asked by Kubernetes' API server and by `trundle serve`: it is asked the same, and clients are answered the same."""

import copy
import json
import re
from base64 import b64encode

import pytest
import reviewers
import widgets
from authorities import Authority
from clusters import until
from projects import Installer
from served import Served

pytestmark = pytest.mark.cluster

NAME = "limits.admitted.test"
POLICIES = ("Fail", "Ignore")
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"


class Pair:
    """Sends requests to both servers, and compares what is answered."""

    def __init__(self, cluster, ours, group, asked):
        self.group, self.asked, self.ours = group, asked, ours
        self.theirs = Served.elsewhere(cluster.url, cluster.authority, cluster.certificate)

    def path(self, version, name="", part=""):
        found = f"/apis/{self.group}/{version}/namespaces/default/widgets"
        return "/".join(each for each in (found, name, part) if each)

    def widget(self, version, name, **spec):
        return {
            "apiVersion": f"{self.group}/{version}",
            "kind": "Widget",
            "metadata": {"name": name},
            "spec": {"title": "Ann", **spec},
        }

    def both(self, method, path, body=None, **given):
        """What both servers answer, and what the webhook was asked by each."""
        found = []
        for server in (self.theirs, self.ours):
            self.asked.requests.clear()
            answer = server.ask(method, path, body, **given)
            found.append((answer, copy.deepcopy(self.asked.requests)))
        return found


@pytest.fixture(scope="module", params=POLICIES)
def pair(request, cluster, tmp_path_factory):
    policy, folder = request.param, tmp_path_factory.mktemp("admitted")
    group = f"{policy.lower()}.admitted.test"
    crd = json.loads(json.dumps(widgets.CRD).replace(widgets.GROUP, group))
    authority = Authority(folder)
    with reviewers.running(authority.server("webhook")) as asked:
        asked.behaviour = reviewers.by_name
        config = json.loads(json.dumps(widgets.project()).replace(widgets.GROUP, group))
        webhook = {"name": NAME, "url": asked.url, "ca": str(authority.certificate)}
        webhook |= {"failurePolicy": policy, "timeoutSeconds": 3}
        config["admission"] = [{"type": "Widget", "version": "v2", "webhook": webhook}]
        project = Installer(folder)({"crd.json": crd}, config=config).project.folder
        cluster.define(crd)
        configured = registered(group, policy, asked.url, authority.certificate.read_bytes())
        cluster.kubectl("apply", "-f", "-", text=json.dumps(configured))
        ours = Served(project)
        found = Pair(cluster, ours, group, asked)
        try:
            path, probe = found.path("v2"), found.widget("v2", "warns")
            until(
                lambda: (
                    "be careful" in str(found.theirs.ask("POST", path, probe, dryRun="All").headers)
                )
            )
            yield found
        finally:
            ours.kill()
            cluster.kubectl("delete", "mutatingwebhookconfigurations", group)
            cluster.undefine(f"widgets.{group}")


def registered(group, policy, url, authority):
    rule = {"apiGroups": [group], "apiVersions": ["v2"], "resources": ["widgets", "widgets/status"]}
    rule["operations"] = ["CREATE", "UPDATE", "DELETE"]
    webhook = {
        "name": NAME,
        "rules": [rule],
        "clientConfig": {"url": url, "caBundle": b64encode(authority).decode()},
        "failurePolicy": policy,
        "timeoutSeconds": 3,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "matchPolicy": "Equivalent",
    }
    kind = "MutatingWebhookConfiguration"
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": group},
        "webhooks": [webhook],
    }


UID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
OWN = ("uid", "creationTimestamp", "deletionTimestamp", "resourceVersion", "managedFields")
"""What of metadata is each server's own; what a webhook sees of it on Trundle has no owners of fields."""

WORDS = {
    "patches-missing-place", "patches-removing-none", "patches-with-failing-test", "patches-unknown-operation", "patches-with-object",
    "patches-with-text", "patches-no-base64", "patches-to-no-object", "other-kind", "other-version", "wrong-types", "no-json", "half-json", "no-body",
    "list", "breaks", "breaks-with-review", "is-not-there", "is-elsewhere", "trickles",
}  # fmt: skip
"""Where the reason is a parser's or a library's own words."""

BROKEN = {"patches-to-wrong-value": 422, "patches-name": 201}
"""What Kubernetes answers where a webhook makes an object that it must not: Trundle answers 500, as the client cannot mend it."""


def plain(answer, name):
    """What a client sees, without what differs from run to run."""
    body = copy.deepcopy(answer.body)
    for each in OWN:
        body.get("metadata", {}).pop(each, None)
    text = re.sub(UID, "UID", json.dumps(body, sort_keys=True))
    if name in WORDS and answer.status >= 300:
        text = body["reason"], " ".join(body["message"].split()[:3]), list(body["details"])
    return answer.status, answer.headers.get_all("warning"), text


@pytest.mark.parametrize("name", reviewers.BEHAVIOURS)
def test_clients_are_answered_the_same(pair, name):
    (theirs, _), (ours, _) = pair.both("POST", pair.path("v1"), pair.widget("v1", name))
    if name in BROKEN:
        assert (theirs.status, ours.status) == (BROKEN[name], 500)
        assert NAME in ours.body["message"]
    else:
        assert plain(ours, name) == plain(theirs, name)
    stored = pair.both("GET", pair.path("v1", name))
    assert stored[1][0].status == (200 if ours.status < 300 else 404)
    # A message names the webhook, also where Kubernetes' does not.
    if ours.status >= 300:
        assert NAME in ours.body["message"]


@pytest.mark.parametrize("name", ["allows", "refuses", "warns", "patches", "wrong-uid", "hangs"])
def test_deletions_and_updates_are_answered_the_same(pair, name):
    given = pair.widget("v1", f"later-{name}")
    path = pair.path("v1", f"later-{name}")
    pair.both("POST", pair.path("v1"), given)
    pair.asked.behaviour = reviewers.BEHAVIOURS[name]
    try:
        for method, body, options in [
            ("PATCH", {"spec": {"title": "Bea"}}, {"media_type": MERGE}),
            ("PATCH", {"status": {"phase": "on"}}, {"media_type": MERGE}),
            ("DELETE", None, {}),
        ]:
            (theirs, _), (ours, _) = pair.both(method, path, body, **options)
            assert plain(ours, name) == plain(theirs, name)
    finally:
        pair.asked.behaviour = reviewers.by_name


def asked(requests):
    """What a webhook is asked, without what is each server's own."""
    found = copy.deepcopy(requests)
    for each in found:
        assert re.fullmatch(UID, each.pop("uid"))
        assert "system:masters" in each["userInfo"]["groups"]
        del each["userInfo"]
        for shown in filter(None, (each["object"], each["oldObject"])):
            for key in OWN:
                shown["metadata"].pop(key, None)
        if each["operation"] == "UPDATE":  # Kubernetes counts generations after it asks.
            del each["object"]["metadata"]["generation"]
    return found


def test_a_webhook_is_asked_the_same(pair):
    one = pair.widget("v1", "ann", size=3, weight=1.25, free={"a": [1, {"b": None}]})
    old, new = pair.path("v1", "ann"), pair.path("v2", "ann")
    merge, apply = {"media_type": MERGE}, {"media_type": APPLY, "fieldManager": "you"}
    configuration = {**one, "spec": {"color": "blue"}}
    for method, path, body, given in [
        ("POST", pair.path("v1"), one, {"dryRun": "All"}),
        ("POST", pair.path("v1"), one, {"fieldManager": "me", "fieldValidation": "Strict"}),
        ("PATCH", old, {"spec": {"size": 4}}, merge),
        ("PATCH", old, {"spec": {"size": 4}}, merge),
        ("PATCH", f"{old}/status", {"status": {"phase": "on"}}, merge),
        ("PATCH", new, {"spec": {"size": 5}}, {**merge, "dryRun": "All"}),
        ("PATCH", old, configuration, apply),
        ("PATCH", pair.path("v2", "eve"), pair.widget("v2", "eve"), {**apply, "force": "true"}),
        ("DELETE", old, None, {"dryRun": "All"}),
        ("DELETE", old, None, {"propagationPolicy": "Background"}),
        ("DELETE", pair.path("v2", "eve"), {"propagationPolicy": "Background"}, {}),
    ]:
        (theirs, them), (ours, us) = pair.both(method, path, body, **given)
        assert (ours.status, len(us)) == (theirs.status, len(them)), path
        assert asked(us) == asked(them), (method, path, given)
