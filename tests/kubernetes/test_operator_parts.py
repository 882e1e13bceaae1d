"""What the operator makes of values alone: what is asked for, what is ready, and what the status says."""

import datetime as dt
from types import SimpleNamespace

import pytest
from channel_data import START, channel, entry, state

from trundle.channels import (
    Block,
    Blocked,
    Channel,
    Hold,
    Policy,
    Request,
    State,
    check_trust,
    decide,
    status_of,
)
from trundle.channels.decision import check_holds
from trundle.errors import Finding, Place
from trundle.installation._applying import conflict_refusals
from trundle.kubernetes import KubernetesCode
from trundle.kubernetes.migration import RequestError
from trundle.kubernetes.operator import Look, Pace, SpecError, wanted_of
from trundle.kubernetes.operator._advice import advised, rejections, reworded, words_of
from trundle.kubernetes.operator._dry_run import RejectedError
from trundle.kubernetes.operator._following import Follower
from trundle.kubernetes.operator._objects import OwnedError
from trundle.kubernetes.operator._readiness import unready
from trundle.kubernetes.operator._reporting import Report, status_document
from trundle.packages import Clash, Conflict
from trundle.version import SemVer

DIGEST = "sha256:" + "a" * 64
NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)


def asked(spec, **annotations):
    named = {f"trundle.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    metadata = {"name": "db", "namespace": "shop", "annotations": named}
    return wanted_of({"kind": "Installation", "metadata": metadata, "spec": spec})


@pytest.mark.parametrize(
    ("spec", "reference", "pinned"),
    [
        ({"registry": "r.example.com", "package": "acme/db"}, "r.example.com/acme/db", False),
        ({"registry": "r.example.com/", "package": "acme/db:1.2.3"}, "r.example.com/acme/db:1.2.3", True),
        ({"source": "r.example.com", "package": "acme/db", "version": "1.2.3+4"}, "r.example.com/acme/db:1.2.3_4", True),
        ({"registry": "r.example.com", "package": "acme/db", "digest": DIGEST}, f"r.example.com/acme/db@{DIGEST}", True),
        ({"package": "acme/db"}, "registry-1.docker.io/acme/db", False),
    ],
)  # fmt: skip
def test_what_is_asked_for(spec, reference, pinned):
    found = asked(spec)
    assert (found.reference, found.pinned) == (reference, pinned)


@pytest.mark.parametrize(
    ("spec", "annotations", "place"),
    [
        ({"package": "Acme db"}, {}, "spec.package"),
        ({"package": "acme/db", "version": "1.0.0", "channel": "beta"}, {}, "spec"),
        ({"package": "acme/db:1.0.0", "digest": DIGEST}, {}, "spec"),
        ({"package": "acme/db", "digest": "sha256:1"}, {}, "spec.digest"),
        ({"package": "acme/db", "policy": {"patch": "sometimes"}}, {}, "spec.policy.patch"),
        ({"package": "acme/db", "trust": {"secretName": "a", "unsigned": True}}, {}, "spec.trust"),
        ({"package": "acme/db", "source": 5}, {}, "spec.source"),
        ({"package": "acme/db", "channel": ["beta"]}, {}, "spec.channel"),
        ({"package": "acme/db", "version": 1.2}, {}, "spec.version"),
        ({"package": "acme/db", "crds": "all"}, {}, "spec.crds"),
        ({"package": "acme/db", "trust": "root"}, {}, "spec.trust"),
        ({"package": "acme/db", "trust": {"key": 1}}, {}, "spec.trust.key"),
        ({"package": "acme/db", "policy": 5}, {}, "spec.policy"),
    ],
)
def test_what_cannot_be_asked_for(spec, annotations, place):
    with pytest.raises(SpecError) as error:
        asked({"registry": "r.example.com"} | spec, **annotations)
    assert place in [each.place.path for each in error.value.findings]


def test_what_is_empty_counts_as_absent():
    found = asked({"package": "acme/db", "crds": "", "channel": "", "trust": {}}, trust="root")
    assert (found.leftover, found.channel, found.secret) == ("Unused", None, "root")


@pytest.mark.parametrize("spec", ["acme/db", ["acme/db"]])
def test_a_spec_that_is_no_object(spec):
    """As the older kind can have, whose documents no schema holds to anything."""
    with pytest.raises(SpecError, match="spec: expected `object`, found"):
        wanted_of({"kind": "StackInstall", "metadata": {"name": "db"}, "spec": spec})


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(SpecError) as error:
        asked({"package": "A", "policy": {"major": 1, "wat": 2}}, roll_back="x")
    assert len(error.value.findings) == 4


def found(kind, status, spec=None, **metadata):
    return {
        "kind": kind,
        "metadata": {"name": "x"} | metadata,
        "spec": spec or {},
        "status": status,
    }


@pytest.mark.parametrize(
    ("document", "ready"),
    [
        (None, False),
        (found("ConfigMap", {}), True),
        (found("ConfigMap", {}, deletionTimestamp="2026-01-01T00:00:00Z"), False),
        (found("Deployment", {"observedGeneration": 2, "updatedReplicas": 3, "readyReplicas": 3}, {"replicas": 3}, generation=2), True),
        (found("Deployment", {"observedGeneration": 1, "updatedReplicas": 3, "readyReplicas": 3}, {"replicas": 3}, generation=2), False),
        (found("Deployment", {"observedGeneration": 2, "updatedReplicas": 1, "readyReplicas": 3}, {"replicas": 3}, generation=2), False),
        (found("Deployment", {}, {"replicas": 0}), True),
        (found("DaemonSet", {"desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberReady": 1}), False),
        (found("DaemonSet", {"desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberReady": 2}), True),
        (found("Job", {}), False),
        (found("Job", {"conditions": [{"type": "Complete", "status": "True"}]}), True),
        (found("Job", {"conditions": [{"type": "Failed", "status": "True", "message": "m"}]}), False),
        (found("Widget", {"conditions": [{"type": "Ready", "status": "False", "message": "m"}]}), False),
        (found("Widget", {"conditions": [{"type": "Synced", "status": "False"}]}), True),
    ],
)  # fmt: skip
def test_what_is_ready(document, ready):
    assert (unready(document) == "") is ready


def test_a_job_that_has_failed_is_not_waited_for():
    failed = {"type": "Failed", "status": "True", "message": "BackoffLimitExceeded"}
    why = unready(found("Job", {"conditions": [failed]}))
    assert why == "it has failed: BackoffLimitExceeded; delete it, and it is applied anew"


def refusal_of_the_cluster(status, message):
    return RequestError("Service sv", status, message)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OwnedError("ConfigMap a", "fields", 'conflict with "kubectl"', "use --force"), "put back what the release has"),
        (refusal_of_the_cluster(422, "spec.template: Invalid value: {}: field is immutable"), "delete the object"),
        (refusal_of_the_cluster(422, "spec.clusterIPs[0]: Invalid value: []: may not change once set"), "delete the object"),
        (refusal_of_the_cluster(403, 'User "x" cannot patch resource "services"'), "aggregate-to-operator"),
        (refusal_of_the_cluster(404, 'namespaces "nowhere" not found'), "create the namespace"),
        (refusal_of_the_cluster(422, "spec.ports[0].port: Invalid value: 99999"), ""),
    ],
)  # fmt: skip
def test_what_an_api_server_refuses_is_said_with_what_can_be_done(error, advice):
    words = words_of(error)
    assert error.found in words
    assert advice in words
    assert "--force" not in words


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("CustomResourceDefinition as.example.com", "its objects would go with it"),
        ("Namespace shop", "all that is in it would go with it"),
        ("PersistentVolumeClaim a", "its data would go with it"),
    ],
)
def test_nothing_is_to_be_deleted_that_other_things_go_with(where, said):
    error = OwnedError(where, "fields", "409: 2 conflicts:\n- .spec.a\n- .spec.b", "use --force")
    (finding,) = rejections(RejectedError([error], ""), "1.0.0")
    for each in (words_of(error), str(finding)):
        assert "do not delete the object" in each
        assert each.endswith(said)
        assert "409: 2 conflicts: - .spec.a - .spec.b" in each  # A line of a message is a reason.


def test_a_release_that_is_not_in_the_cluster_is_not_up_to_date():
    made, installed = channel("2.0.0"), state("2.0.0")
    plan = decide(made, installed, Policy(), START)
    status = status_of(plan, installed, made, START)

    def says(**present):
        document = status_document(Report(status, **present), {}, 1, NOW)
        (found,) = [each for each in document["conditions"] if each["type"] == "UpToDate"]
        return found["status"], found["reason"], found["message"]

    known = status.installed_digest
    assert says(version="2.0.0", digest=known)[:2] == ("True", "LatestInstalled")
    missing = ("False", "NotApplied", "2.0.0 is not in the cluster yet")
    assert says(version="1.0.0", digest=DIGEST) == says() == missing


def test_a_package_that_is_missing_is_installed_by_an_installation_of_its_own():
    report = Report()
    missing = Clash("acme/base", (), (), ())
    report.stops(conflict_refusals("acme/top", [Conflict((missing,))]))
    assert "--with" not in report.blocked["PackageMissing"]
    assert "create installations of the packages" in report.blocked["PackageMissing"]


def test_packages_that_are_there_and_do_not_fit_are_not_installed_again():
    report = Report()
    there = Clash("acme/base", (), (SemVer.parse("1.0.0"),), ())
    unusable = Clash("acme/base", (), (), ((SemVer.parse("1.0.0"), "too new"),))
    for each in (Conflict((there,)), Conflict((unusable,)), Conflict((), gave_up=True)):
        report.stops(conflict_refusals("acme/top", [each]))
    report.stops(conflict_refusals("acme/top", [Conflict((Clash("b", (), (), ()),))], "wait"))
    assert report.blocked.keys() == {"DependencyConflict"}
    assert "create installations" not in report.blocked["DependencyConflict"]


def test_rights_to_rewrite_objects_are_granted_to_the_operator():
    found = "403: members is forbidden: User x cannot list resource"
    finding = Finding(KubernetesCode.STAYS, Place("the cluster"), "a list", found, "ask for a role")
    assert "trundle.dev/aggregate-to-operator" in advised(finding).advice


def test_what_waits_for_an_approval_names_the_annotation():
    message = "major upgrades need an approval; approve 2.0.0"
    report = Report()
    report.waits([reworded(Blocked(entry("2.0.0"), None, Block.APPROVAL, message), [])])
    expected = "2.0.0: major upgrades need an approval; approve it with the annotation `trundle.dev/approve: 2.0.0`"
    assert report.blocked == {"Approval": expected}


def test_a_condition_keeps_its_time_as_long_as_its_status_stays():
    report = Report(version="1.0.0", digest=DIGEST)
    report.says("Applied", "there", ready=True)
    first = status_document(report, {}, 1, NOW)
    assert first["installed"] == {"version": "1.0.0", "digest": DIGEST}
    later = NOW + dt.timedelta(hours=1)
    assert status_document(report, first, 1, later) == first
    report.says("Waiting", "not yet")
    report.blocked["Held"] = "2.0.0: held"
    second = {each["type"]: each for each in status_document(report, first, 2, later)["conditions"]}
    assert second["Ready"]["lastTransitionTime"] == "2026-01-02T01:00:00Z"
    assert (second["Blocked"]["status"], second["Blocked"]["reason"]) == ("True", "Held")


def test_what_is_in_the_way_is_said_with_what_can_be_done_in_a_cluster():
    installed = State(
        package="acme/db",
        channel="stable",
        clock_floor=NOW + dt.timedelta(days=1),
        holds=(Hold("an audit", NOW),),
    )
    made = Channel(name="stable", package="acme/db", expires=NOW + dt.timedelta(days=9))
    late = check_trust(made, installed, NOW, Request())
    held = check_holds(installed, None, NOW)
    assert [str(each.code) for each in (*late, *held)] == ["clock-went-back", "held"]
    assert all("`trundle " in each.advice for each in (*late, *held))
    report = Report()
    report.stops([*late, *held])
    assert list(report.blocked) == ["ClockWentBack", "Held"]
    assert "trundle.dev/hold" in report.blocked["Held"]
    assert all("`trundle " not in each for each in report.blocked.values())
    assert (report.reason, report.ready) == ("ClockWentBack", False)


FAILING = Look(away=True)


@pytest.mark.parametrize(
    ("looks", "pauses"),
    [
        ([Look(), Look(pending=True)], [60, 2]),
        ([Look(next_change=NOW + dt.timedelta(seconds=9)), Look(next_change=NOW)], [9, 1]),
        ([FAILING] * 7 + [Look(), FAILING], [2, 4, 8, 16, 32, 60, 60, 60, 2]),
        ([FAILING] * 2000, [2, 4, 8, 16, 32] + [60] * 1995),
        ([Look(pending=True, away=True)] * 6, [2, 4, 8, 15, 15, 15]),
        ([*[FAILING] * 6, Look(away=True, next_change=NOW + dt.timedelta(seconds=7))], [2, 4, 8, 16, 32, 60, 7]),
    ],
)  # fmt: skip
def test_what_fails_delays_nothing_else_beyond_the_interval(looks, pauses):
    pace = Pace(dt.timedelta(seconds=60))
    assert [pace.pause(each, NOW) for each in looks] == pauses


def test_a_package_that_another_installation_has_is_said_with_the_namespace():
    follower = SimpleNamespace(_taken={})
    spec = {"registry": "r.example.com", "package": "acme/db"}
    first, second = (
        {"kind": "Installation", "metadata": {"name": name, "namespace": "shop"}, "spec": spec}
        for name in ("db", "db2")
    )
    Follower._take(follower, first, asked(spec))
    with pytest.raises(
        SpecError, match=r"Installation shop/db2: spec\.package: expected a package"
    ):
        Follower._take(follower, second, asked(spec))
