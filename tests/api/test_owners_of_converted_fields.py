"""Fields that two versions have in other structures are one for their owners: who changes the one at its version changes the other, too.

An API server compares objects at the version of each owner. Plain expectations say who owns what at each version.
"""

import pytest
import yaml
from apis import GROUP, NEW, OLD, Client, serving_clubs
from projects import installer

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
SCHEMA = """
title: Member
type: object
properties: {properties}
"""
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
DISKS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": TEXT, "size": TEXT},
    },
}
PROPERTIES = {
    OLD: {
        "mail": TEXT,
        "zones": TEXTS,
        "size": TEXT,
        "apart": TEXT,
        "labels": {"type": "object", "additionalProperties": TEXT},
        "box": {"$ref": "#/$defs/Box"},
        "disks": DISKS,
    },
    NEW: {
        "mails": TEXTS,
        "zone": TEXT,
        "size": {"type": "integer"},
        "also": TEXT,
        "labels": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": TEXT, "text": TEXT},
            },
        },
        "box": {"$ref": "#/$defs/Box"},
        "disks": {**DISKS, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    },
}
BOXES = {OLD: {"mail": TEXT, "older": TEXT}, NEW: {"mails": TEXTS, "newer": TEXT}}
CHANGES = {
    OLD: {
        "Member": {
            "wrap": {"mail": "mails"},
            "unwrap": {"zones": "zone"},
            "convert": {
                "size": "string-to-integer",
                "labels": {"map-to-list": {"key": "name", "value": "text"}},
            },
        },
        "Box": {"wrap": {"mail": "mails"}},
    }
}
PAIRS = {
    "wrap": ({"mail": "a"}, {"mails": ["a"]}, {"mail": "b"}, {"mails": ["b"]}),
    "unwrap": ({"zones": ["a"]}, {"zone": "a"}, {"zones": ["b"]}, {"zone": "b"}),
    "inside": (
        {"box": {"mail": "a"}},
        {"box": {"mails": ["a"]}},
        {"box": {"mail": "b"}},
        {"box": {"mails": ["b"]}},
    ),
    "map to list": (
        {"labels": {"x": "a"}},
        {"labels": [{"name": "x", "text": "a"}]},
        {"labels": {"x": "b"}},
        {"labels": [{"name": "x", "text": "b"}]},
    ),
    "scalars": ({"size": "1"}, {"size": 1}, {"size": "2"}, {"size": 2}),
}
"""Of each field what two versions show, before and after."""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("converted")
    schemas = {
        f"{version}.yaml": yaml.safe_dump(
            {
                "title": "Member",
                "type": "object",
                "properties": PROPERTIES[version],
                "$defs": {"Box": {"type": "object", "properties": BOXES[version]}},
            }
        )
        for version in (OLD, NEW)
    }
    with installer(folder) as install:
        installed = install(schemas, config={"kubernetes": {"group": GROUP}, "changes": CHANGES})
        with serving_clubs(installed, folder / "store.db") as (api, _):
            yield Client(api)


@pytest.fixture
def name(request):
    return "".join(each if each.isalnum() else "-" for each in request.node.name.lower()).strip("-")


def apply(client, version, manager, name, properties, **query):
    head = {"apiVersion": f"{GROUP}/{version}", "kind": "Member", "metadata": {"name": name}}
    body = yaml.safe_dump({**head, **properties}).encode()
    where = client.at(version, name)
    return client.call("PATCH", where, body, media_type=APPLY, fieldManager=manager, **query)


def owners(client, name):
    """Who owns something that is not the name, at each version."""
    return {
        version: {
            f"{each['manager']}/{each['operation']}": each["fieldsV1"]
            for each in client.get(version, name)["metadata"].get("managedFields", ())
        }
        for version in (OLD, NEW)
    }


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("applier", [OLD, NEW])
def test_who_changes_a_field_at_another_version_takes_it_over(client, name, pair, applier):
    at, other = (0, NEW) if applier == OLD else (1, OLD)
    code, _ = apply(client, applier, "ann", name, pair[at])
    assert code == 201
    before = owners(client, name)[applier]["ann/Apply"]
    code, _ = client.patch(other, name, pair[3 - at], fieldManager="ben")
    assert code == 200
    assert {key: client.get(applier, name)[key] for key in pair[at]} == pair[2 + at]
    assert owners(client, name)[applier].get("ann/Apply") != before
    code, said = apply(client, applier, "ann", name, pair[at])
    assert (code, said["reason"]) == (409, "Conflict")
    assert client.get(applier, name).items() >= pair[2 + at].items()
    code, said = apply(client, applier, "ann", name, pair[at], force="true")
    assert code == 200
    assert client.get(other, name).items() >= pair[1 - at].items()
    assert not {*paths(owners(client, name)[other].get("ben/Update", {}))} & leaves(pair[1 - at])


@pytest.mark.parametrize("applier", [OLD, NEW])
def test_all_conflicts_are_named_at_once(client, name, applier):
    at, other = (0, NEW) if applier == OLD else (1, OLD)
    pairs = PAIRS["wrap"], PAIRS["unwrap"]
    shared = {"metadata": {"name": name, "labels": {"team": "red"}}}
    apply(client, applier, "ann", name, {**pairs[0][at], **pairs[1][at], **shared})
    shared["metadata"]["labels"]["team"] = "blue"
    given = {**pairs[0][3 - at], **pairs[1][3 - at], **shared}
    code, said = apply(client, other, "ben", name, given)
    fields = {each["field"] for each in said["details"]["causes"]}
    assert code == 409
    assert fields == {".metadata.labels.team", *(f".{key}" for each in pairs for key in each[at])}
    assert client.get(applier, name)["metadata"]["labels"]["team"] == "red"


@pytest.mark.parametrize("applier", [OLD, NEW])
def test_what_does_not_change_keeps_its_owner(client, name, applier):
    at, other = (0, NEW) if applier == OLD else (1, OLD)
    own = ({"apart": "x"}, {"also": "x"})[at]
    every = (
        {"labels": {"x": "a", "y": "a"}},
        {"labels": [{"name": "x", "text": "a"}, {"name": "y", "text": "a"}]},
    )
    changed = (
        {"labels": {"x": "a", "y": "b"}},
        {"labels": [{"name": "x", "text": "a"}, {"name": "y", "text": "b"}]},
    )
    apply(client, applier, "ann", name, {**PAIRS["wrap"][at], **own, **every[at]})
    before = owners(client, name)[applier]["ann/Apply"]
    client.patch(other, name, changed[1 - at], fieldManager="ben")
    client.patch(other, name, {"metadata": {"labels": {"a": "b"}}}, fieldManager="cat")
    after = owners(client, name)[applier]["ann/Apply"]
    gone = {("f:labels", "f:y")} if at == 0 else {("f:labels", 'k:{"name":"y"}', "f:text")}
    assert set(paths(before)) - set(paths(after)) == gone
    code, said = apply(client, applier, "ann", name, {**PAIRS["wrap"][at], **own, **every[at]})
    causes = said["details"]["causes"]
    assert code == 409
    taken = '.labels[name="y"].text' if applier == OLD else ".labels.y"
    assert [each["field"] for each in causes] == [taken]  # As its owner calls it.


def paths(fields, at=()):
    """The paths of what an entry of `managedFields` owns."""
    for name, inner in fields.items():
        yield from paths(inner, (*at, name)) if inner else ((*at, name),)


def leaves(value, at=()):
    """The paths of what owners of a document own, but for elements of lists."""
    if not isinstance(value, dict):
        return {at}
    return {path for name, each in value.items() for path in leaves(each, (*at, f"f:{name}"))}


@pytest.mark.parametrize("applier", [OLD, NEW])
@pytest.mark.parametrize("pair", ["wrap", "unwrap", "inside"])
def test_what_is_removed_at_another_version_has_no_owner(client, name, pair, applier):
    at, other = (0, NEW) if applier == OLD else (1, OLD)
    apply(client, applier, "ann", name, PAIRS[pair][at])
    gone = dict.fromkeys(PAIRS[pair][1 - at])
    code, _ = client.patch(other, name, gone, fieldManager="ben")
    assert code == 200
    assert not PAIRS[pair][at].keys() & client.get(applier, name).keys()
    assert owners(client, name)[applier] == {}
    code, _ = apply(client, applier, "cat", name, PAIRS[pair][2 + at])
    assert code == 200


@pytest.mark.parametrize("applier", [OLD, NEW])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_who_removes_at_another_version_what_it_applied_owns_it_at_neither(
    client, name, pair, applier
):
    at, other = (0, NEW) if applier == OLD else (1, OLD)
    apply(client, applier, "ann", name, {**BESIDE[applier], **pair[at]})
    apply(client, other, "ann", name, {**BESIDE[other], **pair[1 - at]})
    code, _ = apply(client, other, "ann", name, BESIDE[other])
    assert code == 200
    # What the other version cannot show stays, and so does its owner.
    assert shown(client, applier, name) == BESIDE[applier]
    found = owners(client, name)
    assert list(found[applier]) == ["ann/Apply"]
    assert list(paths(found[applier]["ann/Apply"])) == [(f"f:{each}",) for each in BESIDE[applier]]
    assert list(paths(found[other]["ann/Apply"])) == [(f"f:{each}",) for each in BESIDE[other]]
    code, _ = apply(client, applier, "ben", name, pair[2 + at])
    assert code == 200


@pytest.mark.parametrize("applier", [OLD, NEW])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_who_goes_to_another_version_gives_up_what_it_does_not_state_there(
    client, name, pair, applier
):
    at, other = (0, NEW) if applier == OLD else (1, OLD)
    apply(client, applier, "ann", name, {**BESIDE[applier], **pair[at]})
    apply(client, applier, "ben", name, pair[at])
    for _ in range(2):  # What another one states stays.
        code, _ = apply(client, other, "ann", name, BESIDE[other])
        assert code == 200
        assert shown(client, other, name) == {**BESIDE[other], **pair[1 - at]}
    apply(client, applier, "ann", name, {**BESIDE[applier], **pair[at]})
    apply(client, applier, "ben", name, {})
    code, _ = apply(client, other, "ann", name, BESIDE[other])
    assert code == 200
    assert shown(client, other, name) == BESIDE[other]
    assert shown(client, applier, name) == BESIDE[applier]
    found = owners(client, name)
    for version in (OLD, NEW):
        assert [*found[version]] == ["ann/Apply"]
        assert list(paths(found[version]["ann/Apply"])) == [(f"f:{x}",) for x in BESIDE[version]]


@pytest.mark.parametrize("applier", [OLD, NEW])
def test_of_an_object_that_it_gives_up_stays_what_its_version_cannot_show(client, name, applier):
    at, other = (0, NEW) if applier == OLD else (1, OLD)
    hidden = {OLD: {"older": "o"}, NEW: {"newer": "n"}}[applier]
    box = {**PAIRS["inside"][at]["box"], **hidden}
    apply(client, applier, "ann", name, {"box": box})
    code, _ = apply(client, other, "ann", name, BESIDE[other])
    assert code == 200
    assert shown(client, other, name) == {**BESIDE[other], "box": {}}
    assert shown(client, applier, name) == {"box": hidden}
    (owner,) = owners(client, name)[applier].values()
    assert list(paths(owner)) == [("f:box", f"f:{each}") for each in hidden]
    apply(client, applier, "ann", name, {})
    assert shown(client, applier, name) == {}


def test_elements_that_are_not_stated_at_another_version_go(client, name):
    apply(client, OLD, "ann", name, {"labels": {"x": "a", "y": "b", "z": "c"}})
    apply(client, OLD, "ben", name, {"labels": {"z": "c"}})
    code, _ = apply(client, NEW, "ann", name, {"labels": [{"name": "y", "text": "b"}]})
    assert code == 200
    assert shown(client, OLD, name) == {"labels": {"y": "b", "z": "c"}}


LISTED = {
    OLD: {"x": {"labels": {"x": "a"}}, "y": {"labels": {"y": "q"}}},
    NEW: {
        "x": {"labels": [{"name": "x", "text": "a"}]},
        "y": {"labels": [{"name": "y", "text": "q"}]},
    },
}
BESIDE = {OLD: {"apart": "x"}, NEW: {"also": "x"}}
"""What only that version has."""


def shown(client, version, name):
    head = {"apiVersion", "kind", "metadata"}
    return {key: each for key, each in client.get(version, name).items() if key not in head}


@pytest.mark.parametrize("applier", [OLD, NEW])
@pytest.mark.parametrize("beside", [False, True])
def test_who_lets_go_of_a_list_leaves_what_others_own_at_another_version(
    client, name, applier, beside
):
    other = NEW if applier == OLD else OLD
    kept = BESIDE[other] if beside else {}
    apply(client, applier, "ann", name, LISTED[applier]["x"])
    before = owners(client, name)[applier]["ann/Apply"]
    code, _ = apply(client, other, "ben", name, {**kept, **LISTED[other]["y"]})
    assert code == 200
    code, _ = apply(client, other, "ben", name, kept)
    assert code == 200
    assert shown(client, applier, name) == LISTED[applier]["x"]
    assert shown(client, other, name) == {**kept, **LISTED[other]["x"]}
    assert owners(client, name)[applier]["ann/Apply"] == before
    code, _ = apply(client, applier, "ann", name, {})
    assert code == 200
    assert shown(client, other, name) == kept


@pytest.mark.parametrize("pair", ["wrap", "unwrap", "inside", "scalars"])
@pytest.mark.parametrize("applier", [OLD, NEW])
def test_what_two_versions_share_goes_with_its_last_owner(client, name, pair, applier):
    at, other = (0, NEW) if applier == OLD else (1, OLD)
    apply(client, applier, "ann", name, PAIRS[pair][at])
    code, _ = apply(client, other, "ben", name, {**BESIDE[other], **PAIRS[pair][1 - at]})
    assert code == 200
    code, _ = apply(client, other, "ben", name, BESIDE[other])
    assert code == 200
    assert shown(client, applier, name) == PAIRS[pair][at]
    assert shown(client, other, name) == {**BESIDE[other], **PAIRS[pair][1 - at]}
    code, _ = apply(client, applier, "ann", name, {})
    assert code == 200
    assert shown(client, other, name) == BESIDE[other]


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("applier", [OLD, NEW])
def test_what_an_applier_gave_up_goes_with_its_last_owner_at_another_version(
    client, name, pair, applier
):
    at, other = (0, NEW) if applier == OLD else (1, OLD)
    same = {"metadata": {"name": name, "labels": {"of": "both"}}}
    apply(client, applier, "ann", name, {**same, **pair[at]})
    apply(client, other, "ben", name, pair[1 - at])
    code, _ = apply(client, other, "ann", name, same)
    assert code == 200
    assert shown(client, other, name) == pair[1 - at]
    code, _ = apply(client, applier, "ben", name, {})
    assert code == 200
    assert shown(client, other, name) == shown(client, applier, name) == {}


@pytest.mark.parametrize("applied", [OLD, NEW])
def test_a_list_that_one_version_has_as_one_value_is_owned_as_a_whole_there(client, name, applied):
    other = NEW if applied == OLD else OLD
    disks = {"disks": [{"name": "a", "size": "1"}, {"name": "b", "size": "2"}]}
    assert apply(client, applied, "ann", name, disks)[0] == 201
    for manager, text in (("ben", "x"), ("cat", "y")):
        change = {"metadata": {"labels": {manager: text}}}
        assert client.patch(other, name, change, fieldManager=manager)[0] == 200
    code, said = apply(client, OLD, "dan", name, {"disks": [{"name": "a", "size": "3"}]})
    assert (code, [each["field"] for each in said["details"]["causes"]]) == (409, [".disks"])
    assert client.patch(OLD, name, {"disks": [{"name": "c"}]}, fieldManager="eve")[0] == 200
    assert client.get(NEW, name)["disks"] == [{"name": "c"}]
    owned = owners(client, name)[OLD]
    assert [each for each in owned if ("f:disks",) in paths(owned[each])] == ["eve/Update"]
