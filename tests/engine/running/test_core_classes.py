"""Classes of the core library that act on objects: `GC`, events, replication, and the reporter."""

import pytest
from programs import refused, run

SEEN = """
Properties: {n: {Contract: $}, kid: {Contract: $.class(S)}}
Methods:
  .destroy: {Body: [!yaql "trace(concat('end ', $.n))"]}
  gone:
    Arguments: [{o: {Contract: $.class(S)}}]
    Body:
      - trace(concat($.n, ' hears of ', $o.n))
      - trace(list(sys:GC.isDoomed($o), sys:GC.isDestroyed($o), sys:GC.isDoomed($this)))
      - $.last: $o
  late: {Body: [{Return: !yaql 'sys:GC.isDestroyed($.last)'}]}
"""


def collected(body):
    seen = []
    classes = {"a.S": SEEN}
    found = run(body, classes=classes, seen=seen)
    return found, seen


def test_a_subscriber_hears_once_of_each_object():
    body = """
    - $w: new(S, n => w)
    - $o: new(S, n => o)
    - sys:GC.subscribeDestruction($o, $w, gone)
    - sys:GC.subscribeDestruction($o, $w, gone)
    - $o: null
    - sys:GC.collect()
    - Return: $w.late()
    """
    found, seen = collected(body)
    assert found is True
    assert seen == ["w hears of o", [True, False, False], "end o"]


def test_who_ends_its_subscription_hears_nothing():
    body = """
    - $w: new(S, n => w)
    - $o: new(S, n => o)
    - sys:GC.subscribeDestruction($o, $w, gone)
    - sys:GC.unsubscribeDestruction($o, $w, gone)
    - $o: null
    - sys:GC.collect()
    """
    assert collected(body)[1] == ["end o"]


def test_a_doomed_subscriber_still_hears_and_publishers_end_first():
    body = """
    - $w: new(S, n => w)
    - $o: new(S, n => o)
    - sys:GC.subscribeDestruction($o, $w, gone)
    - $o: null
    - $w: null
    - sys:GC.collect()
    """
    assert collected(body)[1] == ["w hears of o", [True, False, True], "end o", "end w"]


LISTENER = """
Properties: {n: {Contract: $}}
Methods:
  handleReady:
    Arguments: [{sender: {Contract: $}}, {word: {Contract: $}}]
    Body: [!yaql "trace(concat($.n, str(1), $word))", !yaql 'sleep(0.001)', !yaql 'trace(concat($.n, str(2)))']
"""


APPLICATIONS = {"io.murano.applications": 0}


def applied(body, **options):
    seen = []
    found = run(
        body.replace("ap:", "io.murano.applications."), seen=seen, requires=APPLICATIONS, **options
    )
    return found, seen


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("notify", ["x1go", "x2", "y1go", "y2"]),
        ("notifyInParallel", ["x1go", "y1go", "x2", "y2"]),
    ],
)
def test_events_reach_their_subscribers_once(call, expected):
    body = f"""
    - $e: new('ap:Event', name => ready)
    - $x: new(L, n => x)
    - $y: new(L, n => y)
    - $e.subscribe($x)
    - $e.subscribe($y, handleReady)
    - $e.subscribe($x)
    - $e.{call}($, word => go)
    - $e.unsubscribe($x)
    - $e.unsubscribe($x)
    - $e.unsubscribe($y)
    - $e.unsubscribe($y)
    - $e.{call}($, go)
    """
    assert applied(body, classes={"a.L": LISTENER})[1] == expected


@pytest.mark.parametrize(
    ("method", "error"),
    [("no", "NoHandlerMethodException"), ("all", "WrongHandlerMethodException")],
)
def test_a_subscriber_has_a_method_that_takes_the_sender(method, error):
    text = "Methods: {all: {Arguments: [{x: {Contract: $, Usage: VarArgs}}]}}"
    body = f"- $e: new('ap:Event', name => ready)\n- $e.subscribe(new(L), {method})"
    with refused(f"io.murano.applications.{error}"):
        applied(body, classes={"a.L": text})


PROVIDER = """
Extends: io.murano.applications.ReplicaProvider
Properties: {most: {Contract: $, Default: 9}}
Methods:
  createReplica:
    Arguments: [{index: {Contract: $}}, {owner: {Contract: $}}]
    Body:
      - If: $index <= $.most
        Then: [{Return: !yaql 'new(S, $owner, n => $index)'}]
  releaseReplicas:
    Arguments: [{replicas: {Contract: [$]}}]
    Body: [!yaql 'trace($replicas.n)']
"""


@pytest.mark.parametrize(
    ("limits", "calls", "numbers", "released"),
    [
        ("", "deploy()", [1], []),
        ("numItems => 3", "deploy()", [1, 2, 3], []),
        ("numItems => 3", "scale(-2)", [1], []),
        ("numItems => 3", "deploy(), scale(-2), scale(1)", [1, 2], [[2, 3]]),
        ("maxItems => 2", "scale(5)", [1, 2], []),
        ("numItems => 3, minItems => 2", "deploy(), scale(-5)", [1, 2], [[3]]),
        ("numItems => 12", "deploy()", [1, 2, 3, 4, 5, 6, 7, 8, 9], []),
    ],
)
def test_a_group_has_as_many_replicas_as_it_is_told_to(limits, calls, numbers, released):
    made = f"new('ap:ReplicationGroup', provider => new(P){', ' if limits else ''}{limits})"
    steps = "".join(f"    - $g.{each}\n" for each in calls.split(", "))
    body = f"    - $g: {made}\n{steps}    - Return: $g.items.n"
    classes = {"a.P": PROVIDER, "a.S": "Properties: {n: {Contract: $}}"}
    assert applied(body, classes=classes) == (numbers, released)


def test_providers_are_pools_rounds_clones_and_rows_of_others():
    body = """
    - $s: range(1, 5).select(new(S, n => $))
    - $pool: new('ap:PoolReplicaProvider', pool => $s.take(1))
    - $round: new('ap:RoundrobinReplicaProvider', items => $s.skip(1).take(2))
    - $all: new('ap:CompositeReplicaProvider', providers => list($pool, $round))
    - $got: range(1, 5).select($all.createReplica($, $this).n)
    - $clone: new('ap:CloneReplicaProvider', template => $s.last()).createReplica(1, $this)
    - $pool.releaseReplicas($s.take(1))
    - $again: $pool.createReplica(9, $this).n
    - Return: [$got, $clone.n, $clone = $s.last(), $clone.find(A) = $this, $again]
    """
    classes = {"a.S": "Properties: {n: {Contract: $}}"}
    assert applied(body, classes=classes)[0] == [[1, 3, 2, 3], 4, False, True, 1]


COMPONENT = """
Extends: io.murano.applications.SoftwareComponent
Properties:
  bad: {Contract: [$], Default: []}
  key: {Contract: $, Default: null}
Methods:
  getConfigurationKey: {Body: [{Return: $.key}]}
  report: {Arguments: [{message: {Contract: $}}], Body: []}
  onInstallServer:
    Arguments: [{server: {Contract: $}}, {serverGroup: {Contract: $}}]
    Body:
      - If: $server.name in $.bad
        Then: [{Throw: Broken}]
      - trace(concat('install ', $server.name))
  onConfigureServer:
    Arguments: [{server: {Contract: $}}, {serverGroup: {Contract: $}}]
    Body: [!yaql "trace(concat('configure ', $server.name))"]
"""
INSTANCE = "Extends: io.murano.resources.Instance"


def deployed(component, times=1):
    lines = [
        "- $servers: list(a, b).select(new(I, name => $, flavor => f, image => i))",
        "- $group: new('ap:ServerList', servers => $servers)",
        f"- $c: new(C, {component})",
        *["- $c.deployAt($group)"] * times,
    ]
    return applied("\n".join(lines), classes={"a.C": COMPONENT, "a.I": INSTANCE})[1]


def test_a_component_is_installed_once_and_configured_as_often_as_its_key_says():
    first = ["install a", "install b", "configure a", "configure b"]
    assert deployed("key => k", times=2) == first
    assert deployed("bad => []", times=2) == [*first, *first[2:]]


@pytest.mark.parametrize(
    ("allowed", "is_enough"), [("none", False), ("one", True), ("any", True), ("quorum", False)]
)
def test_servers_may_fail_as_far_as_a_component_allows(allowed, is_enough):
    component = f"bad => list(b), allowedInstallFailures => {allowed}"
    if is_enough:
        assert deployed(component) == ["install a", "configure a", "configure b"]
    else:
        with refused("io.murano.applications.InstallationFailedException"):
            deployed(component)
