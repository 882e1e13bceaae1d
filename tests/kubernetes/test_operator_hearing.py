"""What annotations of an `Installation` do to what is installed."""

import sites
from test_operator_parts import asked

from trundle.channels import read_policy
from trundle.installation import upgrade
from trundle.kubernetes.operator._hearing import hear

NAME = "acme/crm"
AT_ONCE = read_policy({"minor": "immediate", "major": "approval"}, "policy")


def looked(site, **annotations):
    """The version that is installed once an operator has looked."""
    with site.installation() as installation:
        refusals = hear(installation, NAME, asked({"package": NAME}, **annotations))
        assert refusals == ()
        upgrade(installation, [NAME])
        return str(installation.package(NAME).version)


def test_what_was_gone_back_from_is_held_as_long_as_the_annotation_is_there(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    site.publish("1.1.0")
    assert looked(site) == "1.1.0"
    site.publish("1.2.0")
    assert looked(site) == "1.2.0"

    assert looked(site, roll_back="1.2.0") == "1.1.0"
    assert looked(site, roll_back="1.2.0") == "1.1.0"
    assert looked(site, roll_back="1.1.0") == "1.0.0"
    assert looked(site, roll_back="1.1.0") == "1.0.0"
    assert looked(site) == "1.2.0"


def test_an_approval_outlives_the_way_back(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    site.publish("2.0.0")
    assert looked(site) == "1.0.0"
    assert looked(site, approve="2.0.0") == "2.0.0"
    assert looked(site, approve="2.0.0", roll_back="2.0.0") == "1.0.0"
    assert looked(site, approve="2.0.0", hold="an audit") == "1.0.0"
    assert looked(site, approve="2.0.0") == "2.0.0"


def test_going_back_is_no_reason_to_end_a_hold_of_everything(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    assert looked(site, hold="an audit") == "1.0.0"
    site.publish("1.1.0")
    assert looked(site, hold="an audit") == "1.0.0"
    assert looked(site) == "1.1.0"


def test_an_approval_of_what_the_channel_does_not_list_is_refused(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    with site.installation() as installation:
        [refusal] = hear(installation, NAME, asked({"package": NAME}, approve="3.0.0"))
    assert str(refusal.code) == "version-not-found"
