"""docs/roll-a-package-forward.md on a real cluster with the operator: all that its versions show is what `trundle serve --installed` shows."""

import contextlib
import json
import random
import time

import operators
import pytest
from clusters import until
from rolling_story import CLUSTER, GROUP, Story, again_and_again
from serving import registry

KILLS = 3
"""How often the operator is killed beside each block of the guide; each command is at each write."""


@pytest.fixture(scope="module")
def served(cluster, tmp_path_factory):
    """What the story shows with `trundle serve --installed`, step by step."""
    story = Story(tmp_path_factory.mktemp("served") / "guide", programs=cluster.programs)
    moments = story.run()
    assert story.edits > len(moments)
    return moments


@contextlib.contextmanager
def operating(cluster, folder, identity):
    """An operator that acts for the story, and one that converts whatever becomes of the other."""
    options = ("--namespace", "default", "--admission", "webhook")
    acting = operators.Operator(cluster, folder / identity, *options, "--identity", identity)
    steady = operators.Operator(cluster, folder / "steady", *options)
    try:
        acting.start()
        until(lambda: "this operator acts" in acting.messages, 180)
        steady.start()
        steady.define()
        yield acting
    finally:
        cluster.undefine(f"sites.{GROUP}")
        acting.stop(9)
        steady.end()
        # What was seen of the channel: another registry begins anew.
        seen = "metadata.name=trundle-installed-default"
        cluster.kubectl("delete", "configmap", "-A", f"--field-selector={seen}")


@pytest.mark.long
@pytest.mark.parametrize("kills", [0, KILLS], ids=["calm", "killed"])
def test_the_story_on_a_cluster_shows_what_trundle_serve_shows(cluster, served, tmp_path, kills):
    chance, deaths = random.Random(kills), []

    with (
        registry(tmp_path / "registry") as host,
        operating(cluster, tmp_path, f"acting-{kills}") as acting,
    ):

        def kill():
            acting.stop(9)
            deaths.append(time.monotonic())
            acting.start(wait=False)

        story = Story(
            tmp_path / "guide",
            stage=CLUSTER,
            names={
                "oci:registry/": f"http://{host}",
                "http://registry.example.com": f"http://{host}",
            },
            variables={"KUBECONFIG": str(cluster.kubeconfig)},
            programs=cluster.programs,
            kills=bool(kills),
            beside=lambda: again_and_again(kill, lambda: chance.uniform(0.5, 6), kills),
        )
        moments = story.run()
        stored = [json.loads(each["stored"]) for each in cluster.stored(GROUP, "sites").values()]

    assert [each.line for each in moments] == [each.line for each in served]
    for here, there in zip(moments, served, strict=True):
        assert here == there
    assert story.edits > len(moments)
    assert {each["apiVersion"] for each in stored} == {"v3"}
    assert not kills or (deaths and story.deaths)
