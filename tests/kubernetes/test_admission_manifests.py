"""What makes an API server ask for admission, where a project has resource types of several groups."""

from types import SimpleNamespace

from trundle.kubernetes._admission_manifests import policies, webhook_configuration

KINDS = [
    SimpleNamespace(group="a.example.com", plural="cats"),
    SimpleNamespace(group="b.example.com", plural="dogs"),
    SimpleNamespace(group="a.example.com", plural="ants"),
]


def test_each_group_has_a_webhook_of_its_own():
    made = webhook_configuration("hook", KINDS, {"url": "https://x.test/admit"}, {})
    rules = {each["name"]: each["rules"][0] for each in made["webhooks"]}
    assert list(rules) == ["carrier.a.example.com", "carrier.b.example.com"]
    first = rules["carrier.a.example.com"]
    assert first["apiGroups"] == ["a.example.com"]
    assert first["resources"] == ["ants", "ants/status", "cats", "cats/status"]
    assert first["operations"] == ["CREATE", "DELETE", "UPDATE"]


def test_each_group_has_policies_that_name_its_own_carrier():
    made = policies("hook", KINDS)
    assert len(made) == 8
    for each in made:
        group = each["metadata"]["name"].removeprefix("hook.")
        if each["kind"].endswith("Binding"):
            assert each["spec"]["policyName"] == f"hook.{group}"
            continue
        (names, *_) = each["spec"]["variables"]
        assert f'"{group}/carrier"' in names["expression"]
        (rule,) = each["spec"]["matchConstraints"]["resourceRules"]
        assert rule["apiGroups"] == [group]
