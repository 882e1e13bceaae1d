"""docs/roll-a-package-forward.md on a real cluster with the operator: all that its versions show is what `trundle serve --installed` shows."""

import contextlib
import json
import threading

import operators
import pytest
from clusters import until
from rolling_story import CLUSTER, GROUP, Story
from serving import free_port, registry
from write_proxy import WriteProxy

LEAST = 20
"""More writes than this has the operator in the first block."""


@pytest.fixture(scope="module")
def served(cluster, tmp_path_factory):
    """What the story shows with `trundle serve --installed`, step by step."""
    story = Story(tmp_path_factory.mktemp("served") / "guide", programs=cluster.programs)
    moments = story.run()
    assert story.edits > len(moments)
    return moments


@contextlib.contextmanager
def operating(cluster, folder, identity, kubeconfig):
    """An operator that acts for the story, and one that converts whatever becomes of the other."""
    options = ("--namespace", "default", "--admission", "webhook")
    port = free_port()  # It stays the same, so that nothing is written anew for it.
    acting = operators.Operator(
        *(cluster, folder / identity, *options, "--identity", identity), kubeconfig=kubeconfig
    )
    steady = operators.Operator(cluster, folder / "steady", *options)
    try:
        acting.start(port)
        until(lambda: "this operator acts" in acting.messages, 180)
        steady.start()
        steady.define()
        yield acting, port
    finally:
        cluster.undefine(f"sites.{GROUP}")
        acting.stop(9)
        steady.end()
        # What was seen of the channel: another registry begins anew.
        seen = "metadata.name=trundle-installed-default"
        cluster.kubectl("delete", "configmap", "-A", f"--field-selector={seen}")


@contextlib.contextmanager
def killed_at_each_write(proxy, acting, port, deaths):
    """Kills the operator at each of its writes as long as the block lasts, and starts it again."""
    ended = threading.Event()

    def reviving():
        while not ended.wait(0.02):
            if proxy.killed:
                deaths.append(proxy.writes[-1])
                proxy.go_on()
                acting.start(port, wait=False)

    thread = threading.Thread(target=reviving)
    proxy.arm_for_all(lambda: acting.stop(9))
    thread.start()
    try:
        yield
    finally:
        proxy.arm(None, None)
        ended.set()
        thread.join()
        if acting.process.poll() is not None:
            acting.start(port, wait=False)


@pytest.mark.long
@pytest.mark.parametrize("kills", [False, True], ids=["calm", "killed"])
def test_the_story_on_a_cluster_shows_what_trundle_serve_shows(cluster, served, tmp_path, kills):
    deaths = []

    with (
        registry(tmp_path / "registry") as host,
        WriteProxy(cluster, tmp_path) as proxy,
        operating(cluster, tmp_path, f"acting-{kills}", proxy.kubeconfig) as (acting, port),
    ):
        story = Story(
            tmp_path / "guide",
            stage=CLUSTER,
            names={
                "oci:registry/": f"http://{host}",
                "http://registry.example.com": f"http://{host}",
            },
            variables={"KUBECONFIG": str(cluster.kubeconfig)},
            programs=cluster.programs,
            kills=kills,
            beside=lambda: (
                killed_at_each_write(proxy, acting, port, deaths)
                if kills
                else contextlib.nullcontext()
            ),
        )
        moments = story.run()
        stored = [json.loads(each["stored"]) for each in cluster.stored(GROUP, "sites").values()]

    assert [each.line for each in moments] == [each.line for each in served]
    for here, there in zip(moments, served, strict=True):
        assert here == there
    assert story.edits > len(moments)
    assert {each["apiVersion"] for each in stored} == {"v3"}
    if kills:
        assert story.deaths
        # Where this one takes longer to come back than its lease lasts, the other goes on for it.
        assert len(deaths) > LEAST
