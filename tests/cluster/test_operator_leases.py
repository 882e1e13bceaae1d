"""Which of several operators acts, whatever becomes of their Lease: never two, and soon another one."""

import datetime as dt
import json
import re
import signal
import time
from types import SimpleNamespace

import pytest
from clusters import until
from operators import Operator, change, config, create, installed, shown, spec_of, thing, wanted

from trundle.kubernetes.migration import ClusterError, connect
from trundle.kubernetes.operator import Leadership

HOUR = dt.timedelta(hours=1)


class Replicas:
    """Operators with one clock, which only this test moves."""

    def __init__(self, cluster, space):
        self.cluster, self.space, self.time = cluster, space, 1000.0
        self.api = connect(cluster.kubeconfig, "admin")

    def new(self, name, now=lambda: dt.datetime.now(dt.UTC)):
        return Leadership(self.api, self.space, name, clock=lambda: self.time, now=now)

    def delete(self):
        self.cluster.kubectl("delete", "lease", "trundle-operator", "-n", self.space)

    def seconds_until_taken(self, replica, *others):
        """How long one waits, renewed as an operator does; the others are alive."""
        begun = self.time
        while not replica.renew():
            assert self.time - begun < 60
            assert sum(each.holds for each in (replica, *others)) <= 1
            self.time += 3
            for each in others:
                each.renew()
        assert sum(each.holds for each in (replica, *others)) == 1
        return self.time - begun


@pytest.fixture
def replicas(cluster, request):
    space = re.sub("[^a-z]+", "-", request.node.name)[5:60].strip("-")
    cluster.kubectl("create", "namespace", space)
    found = Replicas(cluster, space)
    yield found
    found.api.client.close()


def test_a_lease_that_is_deleted_makes_no_second_operator_act(replicas):
    one, other = replicas.new("one"), replicas.new("other")
    assert (one.renew(), other.renew()) == (True, False)
    replicas.delete()
    assert other.renew() is False
    assert one.holds
    assert (one.renew(), other.renew()) == (True, False)
    replicas.delete()  # And the holder dies before it has seen that.
    assert 10 < replicas.seconds_until_taken(other) <= 20


def test_one_that_was_away_does_not_take_what_is_deleted_from_the_next(replicas):
    one, other = replicas.new("one"), replicas.new("other")
    assert (one.renew(), other.renew()) == (True, False)
    replicas.seconds_until_taken(other)
    replicas.delete()
    assert one.renew() is False
    assert other.renew() is True


@pytest.mark.parametrize("ahead", [HOUR * 24 * 365 * 80, -HOUR], ids=["ahead", "behind"])
def test_clock_of_a_dead_replica_does_not_matter(replicas, ahead):
    dead = replicas.new("dead", now=lambda: dt.datetime.now(dt.UTC) + ahead)
    other = replicas.new("other")
    assert (dead.renew(), other.renew()) == (True, False)
    assert 10 < replicas.seconds_until_taken(other) <= 20


def test_a_namespace_that_is_missing_is_named_with_what_to_do(replicas):
    advice = "kubectl create namespace nowhere; or name another one with --home"
    lead = Leadership(replicas.api, "nowhere", "one", now=lambda: dt.datetime.now(dt.UTC))
    with pytest.raises(ClusterError, match=advice):
        lead.renew()


class SlowlyReading:
    """A client that calls something while it reads."""

    def __init__(self, client, meanwhile):
        self.client, self.meanwhile = client, meanwhile

    def get(self, *given, **named):
        self.meanwhile()
        return self.client.get(*given, **named)

    def __getattr__(self, name):
        return getattr(self.client, name)


def test_a_lease_that_is_read_slowly_is_not_taken_too_early(replicas):
    """It is renewed while another replica reads it, which takes many seconds."""
    one = replicas.new("one")
    assert one.renew()

    def meanwhile():
        if not renewed:
            replicas.time += 7
            renewed.append(one.renew())
            replicas.time += 1

    renewed = []
    slow = SimpleNamespace(client=SlowlyReading(replicas.api.client, meanwhile))
    other = Leadership(
        slow, replicas.space, "other", clock=lambda: replicas.time, now=lambda: dt.datetime.now(dt.UTC)
    )  # fmt: skip
    assert other.renew() is False
    assert renewed == [True]
    replicas.time += 7.5
    assert one.holds
    assert other.renew() is False
    assert 0 < replicas.seconds_until_taken(other) <= 15


def test_one_that_ends_gives_the_lease_up_at_once(replicas):
    one, other = replicas.new("one"), replicas.new("other")
    assert (one.renew(), other.renew()) == (True, False)
    one.release()
    assert other.renew() is True


def versions(cluster, space):
    listed = json.loads(cluster.kubectl("get", "configmaps", "-n", space, "-o", "json").stdout)
    return {
        each["metadata"]["name"]: (each["metadata"]["resourceVersion"], each["data"]["value"])
        for each in listed["items"]
        if each["metadata"]["name"].startswith("many")
    }


def test_one_that_was_paused_writes_nothing_when_it_goes_on(
    cluster, converter, publisher, tmp_path
):
    """It is paused while it applies a release; another one applies the next meanwhile."""
    space, home = "paused", "paused-home"
    for each in (space, home):
        cluster.kubectl("create", "namespace", each)
    root = f"--from-file={publisher.root}"
    cluster.kubectl("create", "secret", "generic", "root", "-n", space, root)
    names = [f"many-{number:04}" for number in range(600)]
    first, second = ([config(each, value) for each in names] for value in ("1", "2"))
    publisher.release("acme/paused", "1.0.0", [thing("List", "all", items=first)])
    publisher.release("acme/paused", "1.1.0", [thing("List", "all", items=second)])
    own = ["--namespace", space, "--home", home]
    running = [Operator(cluster, tmp_path / each, *own, "--identity", each) for each in ("a", "b")]
    try:
        running[0].follow()
        until(lambda: "this operator acts" in running[0].messages)
        running[1].follow()
        create(cluster, wanted("it", space, spec_of(publisher, "acme/paused", version="1.0.0")))
        until(lambda: len(versions(cluster, space)) > 20)
        running[0].process.send_signal(signal.SIGSTOP)
        assert len(versions(cluster, space)) < len(names)
        begun = time.monotonic()
        change(cluster, space, "it", {"spec": {"version": "1.1.0"}})
        until(lambda: "this operator acts" in running[1].messages)
        assert time.monotonic() - begun < 120
        until(lambda: installed(shown(cluster, space, "it")) == ("1.1.0", True))
        before = versions(cluster, space)
        assert {value for _, value in before.values()} == {"2"}
        running[0].process.send_signal(signal.SIGCONT)
        time.sleep(4)
        after = versions(cluster, space)
        # One request may have been on its way.
        assert sum(after[each] != before[each] for each in names) <= 1
        assert running[0].process.poll() is None
    finally:
        for each in running:
            each.process.send_signal(signal.SIGCONT)
            each.stop(9)
        cluster.kubectl("delete", "installation", "it", "-n", space, "--wait=false", check=False)
