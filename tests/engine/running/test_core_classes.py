"""Classes of the core library that act on objects: `GC`, events, replication, and the reporter."""

import json

import pytest
from programs import HISTORIC, opened, refused, run

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


def test_the_subscriptions_of_an_object_end_with_it():
    body = """
    - $o: new(S, n => o)
    - $w: new(S, n => w)
    - $v: new(S, n => v)
    - sys:GC.subscribeDestruction($o, $w, gone)
    - sys:GC.subscribeDestruction($o, $v, gone)
    - $w: null
    - sys:GC.collect()
    - $left: dump($o).get('?').dependencies.onDestruction
    - $v: null
    - sys:GC.collect()
    - Return: [$left.len(), dump($o).get('?').get(dependencies)]
    """
    assert collected(body)[0] == [1, None]


def test_a_handler_that_the_subscriber_does_not_have_is_refused():
    with refused(f"{HISTORIC}NoMethodFound", "no-method"):
        run("- sys:GC.subscribeDestruction($, $, gone)")


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
    assert applied(body, classes=classes)[0] == [[1, 2, 3, 2], 4, False, True, 1]


GROUPED = """
Extends: io:Application
Properties:
  group: {Contract: $.class('io.murano.applications.ReplicationGroup').notNull()}
Methods:
  deploy: {Body: [$.group.deploy(), !yaql "trace($.group.items.n)"]}
"""


@pytest.mark.parametrize("provider", ["PoolReplicaProvider", "RoundrobinReplicaProvider"])
def test_groups_share_a_provider_and_give_back_what_they_had(provider):
    name = "io.murano.applications."
    items = [{"?": {"type": "a.S"}, "n": number} for number in range(4)]
    field = "pool" if provider.startswith("Pool") else "items"
    stock = {"?": {"type": "a.Stock"}, "shared": {"?": {"type": name + provider, "id": "shared"}, field: items}}  # fmt: skip

    def app(identifier):
        group = {"?": {"type": f"{name}ReplicationGroup"}, "numItems": 2, "provider": "shared"}
        return {"?": {"type": "a.App", "id": identifier}, "group": group}

    classes = {
        "a.App": GROUPED,
        "a.S": "Properties: {n: {Contract: $}}",
        "a.Stock": f"Extends: io:Application\nProperties: {{shared: {{Contract: $.class({name}ReplicaProvider)}}}}",
    }
    environment = {"?": {"type": "io.murano.Environment", "id": "e"}, "name": "e"}
    model = {"Objects": {**environment, "applications": [stock, app("one"), app("two")]}}
    runs = []
    for _ in range(2):
        seen = []
        options = {"functions": {"trace": seen.append}, "requires": APPLICATIONS}
        with opened(classes, model, **options) as (session, root):
            session.finish()
            session.call(root, "deploy")
            session.finish()
            model = json.loads(json.dumps(session.dump(root, whole=True)))
        runs.append(seen)
        model["ObjectsCopy"] = json.loads(json.dumps(model["Objects"]))
        model["Objects"]["applications"][1] = app("three")
    first, second = runs
    assert sorted(first) == [[0, 1], [2, 3]]
    assert sorted(second) == [[0, 1], [2, 3]]


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


SERVER = """
Extends: io.murano.resources.Instance
Methods:
  beginDeploy: {Body: [!yaql "trace(concat('begin ', $.name))"]}
  endDeploy: {Body: [!yaql "trace(concat('end ', $.name))"]}
  releaseResources: {Body: [!yaql "trace(concat('release ', $.name))"]}
"""
HOOKS = {
    "onBeforeInstall": "servers, serverGroup",
    "onInstallServer": "server, serverGroup",
    "onCompleteInstallation": "servers, serverGroup, failedServers",
    "configureSecurity": "servers, serverGroup",
    "onPreConfigure": "servers, serverGroup",
    "onConfigureServer": "server, serverGroup",
    "onCompleteConfiguration": "servers, serverGroup, failedServers",
}
"""What components override, with the arguments of each."""

STEPS = [
    "onBeforeInstall",
    "onInstallServer",
    "onCompleteInstallation",
    "configureSecurity",
    "onPreConfigure",
    "onConfigureServer",
    "onCompleteConfiguration",
]
"""What one server hears, in this order."""


def hooks(parent):
    """The text of a class of applications that writes down what is called, with the server where there is one."""
    lines = [f"Extends: io.murano.applications.{parent}", "Methods:"]
    lines += ["  getConfigurationKey: {Body: [{Return: key}]}"]
    for name, arguments in HOOKS.items():
        declared = ", ".join(f"{{{each}: {{Contract: $}}}}" for each in arguments.split(", "))
        said = f"concat({name}, ' ', $server.name)" if "server," in arguments else name
        body = f'[!yaql "trace({said})"]'
        lines.append(f"  {name}: {{Arguments: [{declared}], Body: {body}}}")
    return "\n".join(lines)


def run_application(body, parent="SingleServerApplication"):
    """What a body gives, and what was called; `node(x)` in it makes a server."""
    body = body.replace("node(", "new(I, flavor => f, image => i, name => ")
    return applied(body, classes={"a.C": hooks(parent), "a.I": SERVER})


def on(server):
    return [f"{each} {server}" if "Server" in each else each for each in STEPS]


def test_an_application_of_one_server_deploys_installs_and_configures_it():
    body = "- $c: new(C, server => node(s))\n- $c.deploy()\n- $c.deploy()"
    provided = ["begin s", "end s"]
    assert run_application(body)[1] == [*provided, *on("s"), *provided]


def test_an_application_of_several_servers_deploys_them_at_once():
    body = "- $g: new('ap:ServerList', servers => [node(p), node(q)])\n- new(C, servers => $g).deploy()"
    seen = run_application(body, "MultiServerApplication")[1]
    assert seen[:4] == ["begin p", "begin q", "end p", "end q"]
    expected = []
    for step in STEPS:
        expected += [f"{step} p", f"{step} q"] if "Server" in step else [step]
    assert seen[4:] == expected


TEMPLATE = (
    "new('ap:TemplateServerProvider', serverNamePattern => 'node-{0}', "
    "template => {'?' => {type => 'a.I'}, flavor => f, image => i}"
)


def test_an_application_scales_its_group_of_servers():
    body = f"""
    - $p: {TEMPLATE})
    - $g: new('ap:ServerReplicationGroup', provider => $p, numItems => 2)
    - $c: new(C, servers => $g, scaleFactor => 2)
    - $c.deploy()
    - $c.scaleOut()
    - $more: $g.getServers().name
    - $c.scaleIn()
    - Return: [$more, !yaql '$g.items.name', !yaql '$g.items.select(name($))', $p.allocated]
    """
    found, seen = run_application(body, "MultiServerApplicationWithScaling")
    assert found == [
        ["node-1", "node-2", "node-3", "node-4"],
        ["node-1", "node-2"],
        ["Server 1", "Server 2"],
        2,
    ]
    assert [each for each in seen if "Install" in each and "node" in each] == [
        f"onInstallServer node-{number}" for number in (1, 2, 3, 4)
    ]
    assert [each for each in seen if "release" in each] == ["release node-3", "release node-4"]


def test_a_provider_of_servers_makes_no_more_than_its_capacity():
    body = f"""
    - $p: {TEMPLATE}, capacity => 2)
    - $g: new('ap:ServerReplicationGroup', provider => $p, numItems => 5)
    - $g.deploy()
    - Return: [!yaql '$g.getServers().name', $p.allocated]
    """
    assert run_application(body)[0] == [["node-1", "node-2"], 2]


def test_a_group_of_groups_has_each_server_once():
    body = """
    - $s: new('ap:SingleServerGroup', server => node(s))
    - $l: new('ap:ServerList', servers => [node(p), $s.server])
    - $c: new('ap:CompositeServerGroup', serverGroups => [$s, $l])
    - $before: $c.getServers().name
    - $s.setServer(node(t))
    - Return: [$before, !yaql '$c.getServers().name', !yaql '$s.getServers().name', !yaql '$s.getKey() = id($s)']
    """
    assert run_application(body)[0] == [["s", "p"], ["t", "p", "s"], ["t"], True]


@pytest.mark.parametrize(
    ("allowed", "enough"),
    [("none", 0), ("one", 1), ("two", 2), ("three", 3), ("quorum", 2), ("any", 5)],
)
def test_how_many_of_five_servers_may_fail(allowed, enough):
    body = f"""
    - $all: range(5).select(new(I, flavor => f, image => i, name => str($)))
    - $g: new('ap:ServerList', servers => $all)
    - $c: type('ap:SoftwareComponent')
    - Return: range(6).where($c.detectSuccess({allowed}, $g, $all.take($)))
    """
    assert run_application(body)[0] == list(range(enough + 1))


@pytest.mark.parametrize("name", ["shop", None])
def test_a_component_is_reported_by_its_name_or_else_its_id(caplog, name):
    caplog.set_level("INFO", "trundle.status")
    server = {"?": {"type": "a.I"}, "name": "s", "flavor": "f", "image": "i"}
    app = {"?": {"type": "a.C", "name": name}, "server": server}
    body = f"""
    - $model: {{'?': {{type: io.murano.Environment}}, name: e, applications: [{json.dumps(app)}]}}
    - $e: new($model)
    - $e.deploy()
    - Return: id($e.applications[0])
    """
    classes = {"a.C": hooks("SingleServerApplication"), "a.I": SERVER}
    identifier = applied(body, classes=classes)[0]
    shown = name or identifier
    assert f"{shown}: Installing {shown}" in [each.getMessage() for each in caplog.records]


def test_events_of_a_component_reach_their_subscribers():
    names = [
        "beforeInstall",
        "installServer",
        "completeInstallation",
        "preConfigure",
        "configureServer",
        "completeConfiguration",
    ]
    handlers = "".join(
        f"  handle{each[0].upper()}{each[1:]}: {{Arguments: [{{sender: {{Contract: $}}}}, "
        f"{{others: {{Contract: $, Usage: VarArgs}}}}], Body: [trace({each})]}}\n"
        for each in names
    )
    listening = "".join(f"    - $c.{each}Event.subscribe($w)\n" for each in names)
    body = f"    - $c: new(C, server => new(I, flavor => f, image => i, name => s))\n    - $w: new(W)\n{listening}    - $c.deploy()"
    classes = {"a.C": hooks("SingleServerApplication"), "a.I": SERVER, "a.W": f"Methods:\n{handlers}"}  # fmt: skip
    assert [each for each in applied(body, classes=classes)[1] if each in names] == names
