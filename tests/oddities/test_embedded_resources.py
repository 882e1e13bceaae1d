"""Child resources within their parents: each says its own version, until they are free-form data."""

import json
from typing import Any

import pytest
from arm import TEXT, provider, resource
from projects import Installation, Installer
from proving import prove

OLD, MIDDLE, NEW = "2018-09-07", "2019-05-15", "2019-09-07"
KIND = "Contoso.Shop/clusters"


def clusters(version: str, child: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """A resource with child resources; without a type of theirs, nothing is known of them."""
    found = resource(KIND, version)
    items = {} if child is None else {"oneOf": [{"$ref": "#/definitions/child"}]}
    found["properties"]["resources"] = {"type": "array", "items": items}
    definitions = {
        "child": {
            "type": "object",
            "properties": {
                "type": {"type": "string", "enum": ["databases"]},
                "apiVersion": {"type": "string", "enum": [version]},
                "name": TEXT,
                "properties": {"type": "object", "properties": child or {}},
            },
            "required": ["type", "apiVersion", "name"],
        }
    }
    return provider(version, found, definitions={} if child is None else definitions)


def cluster(version: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {"type": KIND, "apiVersion": version, "name": "one", "resources": list(children)}


def child(version: str, name: str, **properties: Any) -> dict[str, Any]:
    return {"apiVersion": version, "name": name, "properties": properties, "type": "databases"}


@pytest.fixture(scope="module")
def installed(install: Installer) -> Installation:
    return install(
        dict(
            [
                clusters(OLD, {"days": {"type": "integer"}, "plan": TEXT}),
                clusters(MIDDLE, {"period": TEXT, "plan": TEXT}),
                clusters(NEW, None),
            ]
        )
    )


def test_the_newest_version_with_a_type_gives_the_shape(installed) -> None:
    kept = installed.put(cluster(OLD, child(OLD, "a", days=7, plan="p")))
    assert json.loads(kept)["resources"] == [child(MIDDLE, "a", plan="p")]
    assert installed.read(kept, OLD) == cluster(OLD, child(OLD, "a", days=7, plan="p"))
    assert installed.read(kept, NEW) == cluster(NEW, child(MIDDLE, "a", plan="p"))


def test_an_edit_of_free_form_data_takes_nothing_from_an_older_version(installed) -> None:
    kept = installed.put(
        cluster(OLD, child(OLD, "a", days=7, plan="p"), child(OLD, "b", days=9, plan="q"))
    )
    seen = installed.read(kept, NEW)
    seen["resources"][0]["properties"]["plan"] = "r"
    seen["resources"].reverse()
    kept = installed.put(seen, kept)
    expected = cluster(OLD, child(OLD, "b", days=9, plan="q"), child(OLD, "a", days=7, plan="r"))
    assert installed.read(kept, OLD) == expected
    kept = installed.put({**expected, "name": "two"}, kept)
    assert installed.read(kept, OLD) == {**expected, "name": "two"}


def test_an_edit_of_the_oldest_version_takes_nothing_from_the_others(installed) -> None:
    kept = installed.put(
        cluster(MIDDLE, child(MIDDLE, "a", period="P7D"), child(MIDDLE, "b", period="P9D"))
    )
    seen = installed.read(kept, OLD)
    seen["resources"][0]["properties"]["days"] = 7
    seen["resources"].reverse()
    kept = installed.put(seen, kept)
    children = child(MIDDLE, "b", period="P9D"), child(MIDDLE, "a", period="P7D")
    assert installed.read(kept, MIDDLE) == cluster(MIDDLE, *children)
    assert installed.read(kept, NEW) == cluster(NEW, *children)
    assert installed.read(kept, OLD) == seen


def test_what_does_not_fit_the_type_is_hidden_and_stays(installed) -> None:
    kept = installed.put(cluster(NEW, {"name": "odd"}, child(MIDDLE, "a", plan="p"), 5))
    for version in (OLD, MIDDLE):
        seen = installed.read(kept, version)
        assert seen == cluster(version, child(version, "a", plan="p"))
        seen["resources"] = []
        assert installed.kept(seen, kept)["resources"] == [{"name": "odd"}, 5]


def test_embedded_resources_keep_the_laws(installed) -> None:
    prove(installed.scheme, KIND)
