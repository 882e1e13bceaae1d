"""`trundle kube operator` beside people: what they own, hold, take away and lose."""

import json

from clusters import until
from operators import (
    change,
    config,
    create,
    data,
    has,
    installed,
    said,
    shown,
    spec_of,
    there,
    wanted,
)


def test_what_others_have_stays_theirs_when_an_installation_goes(
    cluster, operator, publisher, space
):
    """Fields that a person owns are not taken over, and the object is not deleted with the installation that asked for it."""
    theirs = json.dumps(config("theirs", "of a person"))
    cluster.kubectl("apply", "--server-side", "-n", space, "-f", "-", text=theirs)
    publisher.release("acme/owned", "1.0.0", [config("own", "1"), config("theirs", "2")])
    create(cluster, wanted("owned", space, spec_of(publisher, "acme/owned")))
    until(lambda: has(cluster, space, "owned", "Ready", "False", "RejectedRelease"))
    assert "put back what the release has in them" in said(cluster, space, "owned", "Ready")
    assert there(cluster, space, "configmap", "own") == ""
    cluster.kubectl("delete", "installation", "owned", "-n", space, "--timeout=180s")
    assert there(cluster, space, "configmap", "own") == ""
    assert data(cluster, space, "theirs") == "of a person"


def test_a_namespace_goes_with_all_its_installations(cluster, operator, publisher):
    """It takes no events as soon as it is being deleted."""
    cluster.kubectl("create", "namespace", "many")
    root = f"--from-file={publisher.root}"
    cluster.kubectl("create", "secret", "generic", "root", "-n", "many", root)
    names = [f"many-{number}" for number in range(5)]
    for each in names:
        publisher.release(f"acme/{each}", "1.0.0", [config(each, "1")])
        create(cluster, wanted(each, "many", spec_of(publisher, f"acme/{each}")))
    for each in names:
        until(lambda each=each: installed(shown(cluster, "many", each)) == ("1.0.0", True))
    cluster.kubectl("delete", "namespace", "many", "--timeout=180s")
    for each in names:
        assert f"many/{each}: Uninstalled" in operator.messages
    refused = [each for each in operator.messages.splitlines() if each.startswith("many: ")]
    assert refused == []  # One such line ended a look at all of them.


def test_where_it_is_forgotten_what_was_installed_policies_go_on_from_there(
    cluster, operator, publisher, space
):
    """As where an operator is installed anew, in another namespace; the newest version would come without an approval."""
    publisher.release("acme/forgotten", "1.0.0", [config("forgotten", "1")])
    spec = spec_of(publisher, "acme/forgotten", policy={"major": "approval", "patch": "immediate"})
    create(cluster, wanted("forgotten", space, spec))
    until(lambda: installed(shown(cluster, space, "forgotten")) == ("1.0.0", True))
    publisher.release("acme/forgotten", "2.0.0", [config("forgotten", "2")])
    until(lambda: has(cluster, space, "forgotten", "MajorAvailable", "True", "Announced"))
    cluster.kubectl("delete", "configmap", f"trundle-installed-{space}", "-n", "default")
    publisher.release("acme/forgotten", "1.0.1", [config("forgotten", "3")])
    until(lambda: installed(shown(cluster, space, "forgotten")) == ("1.0.1", True))
    assert data(cluster, space, "forgotten") == "3"
    assert has(cluster, space, "forgotten", "Blocked", "True", "Approval")


def test_a_hold_keeps_what_is_asked_for_meanwhile(cluster, operator, publisher, space):
    """Also of a pinned installation, and of one that is new; and it ends with the annotation, whatever else is changed then."""
    for number in "123":
        publisher.release("acme/kept", f"{number}.0.0", [config("kept", number)])
    spec = spec_of(publisher, "acme/kept", version="1.0.0")
    stop = {"annotations": {"trundle.dev/hold": "an audit"}}
    create(cluster, wanted("kept", space, spec, **stop))
    until(lambda: has(cluster, space, "kept", "Ready", "False", "Held"))
    assert there(cluster, space, "configmap", "kept") == ""
    go = {"annotations": {"trundle.dev/hold": None}}
    change(cluster, space, "kept", {"metadata": go})
    until(lambda: installed(shown(cluster, space, "kept")) == ("1.0.0", True))

    change(cluster, space, "kept", {"metadata": stop, "spec": {"version": "2.0.0"}})
    until(lambda: has(cluster, space, "kept", "Blocked", "True", "Held"))
    assert "remove the annotation `trundle.dev/hold`" in said(cluster, space, "kept", "Blocked")
    assert has(cluster, space, "kept", "Held", "True", "Held")
    assert installed(shown(cluster, space, "kept")) == ("1.0.0", True)
    change(cluster, space, "kept", {"metadata": go, "spec": {"version": None}})
    until(lambda: has(cluster, space, "kept", "ChannelUsable", "True", "Accepted"))
    change(cluster, space, "kept", {"metadata": stop})
    until(lambda: has(cluster, space, "kept", "Held", "True", "Held"))
    change(cluster, space, "kept", {"metadata": go, "spec": {"version": "2.0.0"}})
    until(lambda: installed(shown(cluster, space, "kept")) == ("2.0.0", True))
    assert data(cluster, space, "kept") == "2"
    back = {"annotations": {"trundle.dev/roll-back": "2.0.0"}}
    change(cluster, space, "kept", {"metadata": back})
    until(lambda: has(cluster, space, "kept", "Blocked", "True", "Pinned"))
    assert "change `spec.version`" in said(cluster, space, "kept", "Blocked")
    assert installed(shown(cluster, space, "kept")) == ("2.0.0", True)
