"""Clients of three versions write one object, in any order; plain data says what each version shows after each write, and who owns it."""

import copy
import itertools
import json

import pytest
import yaml
from amounts import amount
from apis import GROUP, Client, serving_clubs
from hypothesis import given, settings
from hypothesis import strategies as st
from projects import installer

PORTS = {"x-kubernetes-list-type": "map", "type": "array", "items": {"$ref": "#/$defs/Port"}}
MAP = {"type": "object", "additionalProperties": {"type": "string"}}


def schema(key, spec, **definitions):
    """A schema whose objects have texts; elements of its list are known by a key."""

    def objects(properties, **others):
        texts = {name: {"type": "string"} for name in properties.split()}
        return {"type": "object", "properties": {**texts, **others}}

    others = {
        "ports": {**PORTS, "x-kubernetes-list-map-keys": [key]},
        "box": {"$ref": "#/$defs/Box"},
        "place": {"$ref": "#/$defs/Place"},
        "tags": MAP,
        "labels": MAP,
    }
    inner = {name: others[name] for name in spec.split() if name in others}
    texts = " ".join(name for name in spec.split() if name not in others)
    made = {name: objects(properties) for name, properties in definitions.items()}
    made["Port"]["required"] = [key]
    parts = {name: {"$ref": f"#/$defs/{name.capitalize()}"} for name in ("spec", "status")}
    return yaml.safe_dump(
        {
            "title": "Member",
            **objects("", **parts),
            "$defs": {"Spec": objects(texts, **inner), **made},
        }
    )


SCHEMAS = {
    "v1.yaml": schema("name", "team age city tags ports box", Port="name old port", Box="a x", Status="phase seen"),
    "v2.yaml": schema("name", "group note city labels ports box", Port="name number", Box="a b", Status="phase"),
    "v3.yaml": schema("id", "group note place labels ports box", Port="id number", Box="a b", Place="city zip",
                      Status="stage count"),
}  # fmt: skip
CONFIG = {
    "changes": {
        "v1": {
            "Spec": {"rename": {"team": "group", "tags": "labels"}},
            "Port": {"rename": {"port": "number"}},
        },
        "v2": {
            "Spec": {"move": {"city": "place.city"}},
            "Port": {"rename": {"name": "id"}},
            "Status": {"rename": {"phase": "stage"}},
        },
    },
    "kubernetes": {"group": GROUP},
}
KEYS = {"v1": "name", "v2": "name", "v3": "id"}
FIELDS = {
    "group": ("spec.team", "spec.group", "spec.group"),
    "age": ("spec.age", "", ""),
    "note": ("", "spec.note", "spec.note"),
    "city": ("spec.city", "spec.city", "spec.place.city"),
    "zip": ("", "", "spec.place.zip"),
    **{f"label {key}": (f"spec.tags.{key}", *[f"spec.labels.{key}"] * 2) for key in "xy"},
    "box a": ("spec.box.a",) * 3,
    "box x": ("spec.box.x", "", ""),
    "box b": ("", "spec.box.b", "spec.box.b"),
    **{f"port {key}": (f"spec.ports.{key}",) * 3 for key in "pq"},
    **{f"port {key} old": (f"spec.ports.{key}.old", "", "") for key in "pq"},
    **{f"port {key} number": (f"spec.ports.{key}.port", *[f"spec.ports.{key}.number"] * 2) for key in "pq"},
    "phase": ("status.phase", "status.phase", "status.stage"),
    "seen": ("status.seen", "", ""),
    "count": ("", "", "status.count"),
}  # fmt: skip
"""What each version calls each field of an object; an element is at the place of its key."""
PLACES = {
    version: {
        name: tuple(places[index].split(".")) for name, places in FIELDS.items() if places[index]
    }
    for index, version in enumerate(KEYS)
}
OF_STATUS = {"phase", "seen", "count"}


def is_element(name):
    return name in {"port p", "port q"}


def stated(document, version):
    """The fields that a document has at a version, with their values."""
    found = {}
    for name, place in PLACES[version].items():
        value = document
        for part in place:
            if isinstance(value, list):
                value = next((each for each in value if each[KEYS[version]] == part), None)
            else:
                value = (value or {}).get(part)
        if value is not None:
            found[name] = place[-1] if is_element(name) else value
    return found


def edit(document, version, name, value):
    """Writes a field into a document, or takes it out; what contains it stays."""
    *outer, last = PLACES[version][name]
    for part in outer:
        if isinstance(document, list):
            document = element(document, version, part)
        else:
            document = document.setdefault(part, [] if part == "ports" else {})
    if isinstance(document, list):
        if value is None:
            document[:] = [each for each in document if each[KEYS[version]] != last]
        else:
            element(document, version, last)
    elif value is None:
        document.pop(last, None)
    else:
        document[last] = value


def element(items, version, key):
    for each in items:
        if each[KEYS[version]] == key:
            return each
    items.append({KEYS[version]: key})
    return items[-1]


def owned(entry, version):
    """The fields of an entry of `managedFields`."""
    paths = set()

    def walk(fields, path):
        for name, inner in fields.items():
            kind, _, said = name.partition(":")
            if kind == "k":
                (said,) = json.loads(said).values()
            if kind in {"f", "k"}:
                walk(inner, (*path, said))
                if kind == "f" or "." in inner:
                    paths.add((*path, said))

    walk(entry["fieldsV1"], ())
    return {name for name, place in PLACES[version].items() if place in paths}


class Model:
    """What the object is: the values of its fields, and who owns which."""

    def __init__(self):
        self.fields, self.owners, self.generation, self.version = {}, {}, 1, None

    def shown(self, version):
        return {name: each for name, each in self.fields.items() if name in PLACES[version]}

    def write(self, who, version, changes):
        """What a write changes: None takes a field out, an element with all that is in it."""
        before = dict(self.fields)
        for name, value in changes.items():
            within = [each for each in self.fields if is_element(name) and each.startswith(name)]
            for each in [name, *within] if value is None else ():
                self.fields.pop(each, None)
            if value is not None:
                self.fields[name] = value
        changed = {each for each in self.fields if self.fields[each] != before.get(each)}
        gone = before.keys() - self.fields.keys()
        for each in self.owners:
            self.owners[each] -= gone if each == who else gone | changed
        if {*changed, *gone} - OF_STATUS:
            self.generation += 1
        return changed

    def update(self, who, version, changes):
        changed = self.write(who, version, changes)
        self.owners[who] = self.owners.get(who, set()) | changed

    def apply(self, who, version, config, *, force):
        """Whether it is taken."""
        last = self.owners.get(who, set())
        others = set().union(*(each for key, each in self.owners.items() if key != who))
        news = {name for name, value in config.items() if self.fields.get(name) != value}
        if news & others and not force:
            return False
        left_out = (last & PLACES[version].keys()) - config.keys() - others
        kept = {each for each in last if each not in PLACES[version]}
        self.write(who, version, dict.fromkeys(left_out) | config)
        self.owners[who] = (kept & self.fields.keys()) | config.keys()
        return True


MANAGERS = st.sampled_from(["ann", "ben"])
VALUES = st.dictionaries(st.sampled_from(sorted(FIELDS)), st.sampled_from("abc"), max_size=7)
STEPS = st.one_of(
    st.tuples(st.just("replace"), st.sampled_from(sorted(KEYS)), MANAGERS, st.dictionaries(
        st.sampled_from(sorted(FIELDS)), st.sampled_from(["a", "b", None]), max_size=5), st.booleans()),
    st.tuples(st.just("apply"), st.sampled_from(sorted(KEYS)), MANAGERS, VALUES, st.booleans()),
)  # fmt: skip


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    folder = tmp_path_factory.mktemp("several")
    with installer(folder) as install:
        installed = install(SCHEMAS, config=CONFIG)
        with serving_clubs(installed, folder / "store.db") as (api, _):
            yield Client(api)


def tidy(values, version, part):
    """The values that a version can write to a part of an object; what is in an element comes with it."""
    ours = {
        name: each
        for name, each in values.items()
        if name in PLACES[version] and (name in OF_STATUS) == (part == "status")
    }
    for name in list(ours):
        holder = " ".join(name.split()[:2])
        if is_element(holder) and name != holder and ours[name] is not None:
            ours[holder] = holder.split()[1]
    return {
        name: name.split()[1] if is_element(name) and each else each for name, each in ours.items()
    }


NUMBERS = itertools.count()


@settings(max_examples=amount(100))
@given(st.lists(STEPS, min_size=2, max_size=8))
def test_each_version_shows_what_all_of_them_wrote(several, steps):
    name, model = f"m{next(NUMBERS)}", Model()
    head = {"kind": "Member", "metadata": {"name": name}}
    model.generation, made = 0, {"apiVersion": f"{GROUP}/v1", **head, "spec": {"team": "a"}}
    model.update(("zoe", "Update", "v1", ""), "v1", {"group": "a"})
    code, found = several.call("POST", several.at("v1"), made, fieldManager="zoe")
    assert code == 201, found
    for kind, version, manager, values, flag in steps:
        before = copy.deepcopy(model)
        if kind == "replace":
            replace(several, model, name, version, manager, values, part="status" if flag else "")
        else:
            apply(several, model, name, version, manager, values, force=flag)
        if model.fields != before.fields:
            assert several.get(version, name)["metadata"]["resourceVersion"] != model.version
        for each in KEYS:
            require_alike(several.get(each, name), each, model)
        model.version = several.get(version, name)["metadata"]["resourceVersion"]


def replace(client, model, name, version, manager, values, *, part):
    """A client reads, edits and writes."""
    values = tidy(values, version, part)
    document = client.get(version, name)
    there = stated(document, version)
    for each, value in sorted(values.items(), key=lambda each: (each[1] is None, each[0])):
        if value is not None or each in there:
            edit(document, version, each, value)
    after = stated(document, version)
    changes = {each: after.get(each) for each in {*after, *model.shown(version)}}
    model.update((manager, "Update", version, part), version, changes)
    query = {"fieldManager": manager}
    code, found = client.call("PUT", client.at(version, name, part=part), document, **query)
    assert code == 200, found


def apply(client, model, name, version, manager, values, *, force):
    config = tidy(values, version, "")
    document = {"apiVersion": f"{GROUP}/{version}", "kind": "Member", "metadata": {"name": name}}
    for each, value in config.items():
        edit(document, version, each, value)
    taken = model.apply((manager, "Apply", "", ""), version, config, force=force)
    code, found = client.call(
        "PATCH",
        client.at(version, name),
        document,
        media_type="application/apply-patch+yaml",
        fieldManager=manager,
        force=str(force).lower(),
    )
    assert code == (200 if taken else 409), found


def require_alike(document, version, model):
    """Makes sure that a version shows what the model has."""
    assert stated(document, version) == model.shown(version)
    assert document["metadata"]["generation"] == model.generation
    owners = {}
    for each in document["metadata"]["managedFields"]:
        label = each["apiVersion"].partition("/")[2] if each["operation"] == "Update" else ""
        key = each["manager"], each["operation"], label, each.get("subresource", "")
        if fields := owned(each, version):
            owners[key] = fields
    expected = {key: fields & PLACES[version].keys() for key, fields in model.owners.items()}
    assert owners == {key: fields for key, fields in expected.items() if fields}
