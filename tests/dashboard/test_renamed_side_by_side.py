"""Versions beside each other where properties are renamed, moved, kept apart or changed in type: which values share a row."""

import asgi
import pytest
from apis import GROUP, Client
from objects_pages import page_of
from projects import Installer
from test_objects_pages import cells

from trundle.api.access import Access
from trundle.store import Store

SCHEMAS = {
    "v1.yaml": """
        title: Shop
        type: object
        properties:
          team: {type: string}
          size: {type: string}
          apart: {type: string}
          doors: {type: array, items: {title: Door, type: object, properties: {wide: {type: integer}, key: {type: string}}}}
          lamps: {type: object, additionalProperties: {title: Lamp, type: object, properties: {on: {type: boolean}}}}
          owner: {title: Owner, type: object, properties: {called: {type: string}}}
        """,
    "v2.yaml": """
        title: Shop
        type: object
        properties:
          group: {type: string}
          size: {type: integer}
          apart: {type: string}
          doors: {type: array, items: {title: Door, type: object, properties: {width: {type: integer}, key: {type: string}}}}
          lamps: {type: object, additionalProperties: {title: Lamp, type: object, properties: {lit: {type: boolean}}}}
          owner: {title: Owner, type: object, properties: {name: {type: string}}}
        """,
    "v3.yaml": """
        title: Shop
        type: object
        properties:
          spec: {title: Spec, type: object, properties: {group: {type: string}, other: {type: string}}}
          size: {type: integer}
          apart: {type: string}
          doors: {type: array, items: {title: Door, type: object, properties: {width: {type: integer}, key: {type: string}}}}
          lamps: {type: object, additionalProperties: {title: Lamp, type: object, properties: {lit: {type: boolean}}}}
          owner: {title: Owner, type: object, properties: {name: {type: string}}}
        """,
}
CONFIG = {
    "changes": {
        "v1": {
            "Shop": {"rename": {"team": "group"}, "keep": ["apart"]},
            "ShopDoors": {"rename": {"wide": "width"}},
            "ShopLamps": {"rename": {"on": "lit"}},
            "ShopOwner": {"rename": {"called": "name"}},
        },
        "v2": {"Shop": {"move": {"group": "spec.group"}}},
    },
    "kubernetes": {"group": GROUP},
}
ONE = {"of": GROUP, "type": "shops", "namespace": "default", "name": "one"}
BODY = {
    "metadata": {
        "name": "one",
        "labels": {"team": "x"},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    },
    "team": "red",
    "size": "big",
    "apart": "old",
    "doors": [{"wide": 1, "key": "a"}, {"wide": 2}],
    "lamps": {"on": {"on": True}},
    "owner": {"called": "ada"},
}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shops")
    installed = Installer(folder)(SCHEMAS, config=CONFIG)
    with Store(folder / "store.sqlite", installed.scheme) as store:
        application, api = page_of(installed, store, Access())
        made = Client(api).call("POST", f"/apis/{GROUP}/v1/namespaces/default/shops", BODY)
        assert made[0] == 201, made
        yield application


def rows(page, *versions):
    answer = asgi.call(page, "GET", "/ui/objects/one", **ONE, v=versions)
    assert answer.status == 200, answer.text
    found = cells(answer)
    return {each[0]: each[1:] for each in found[1 : found.index(["Property", "Version", "Value", "State"])]}  # fmt: skip


def test_what_was_renamed_or_moved_stands_in_one_row(page):
    assert rows(page, "v1", "v2", "v3") == {
        "metadata.labels.team": ['"x"'] * 3,
        "team": ['"red"', '"red" group', '"red" spec.group'],
        "size differs": ['"big"', "—", "—"],
        "apart differs": ['"old"', "—", "—"],
        "doors[0].wide": ["1", "1 doors[0].width", "1 doors[0].width"],
        "doors[0].key": ['"a"'] * 3,
        "doors[1].wide": ["2", "2 doors[1].width", "2 doors[1].width"],
        "lamps.on.on": ["true", "true lamps.on.lit", "true lamps.on.lit"],
        "owner.called": ['"ada"', '"ada" owner.name', '"ada" owner.name'],
    }


def test_the_order_of_versions_does_not_matter(page):
    backwards = rows(page, "v3", "v1")
    assert backwards["spec.group"] == ['"red"', '"red" team']
    assert backwards["doors[1].width"] == ["2", "2 doors[1].wide"]
    assert backwards["lamps.on.lit"] == ["true", "true lamps.on.on"]
