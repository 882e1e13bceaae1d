"""A resource type with every kind of list and map, and random objects of it."""

import copy
import random

GROUP = "apply.test"
KIND = "Gadget"
VERSIONS = ("apply.test/v1", "apply.test/v2")

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def table(*keys, **properties):
    """A list of objects that keys distinguish."""
    return {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": list(keys),
        "items": {"type": "object", "required": [keys[0]], "properties": properties},
    }


PARTS = {
    "text": TEXT,
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "loose": {"type": "string", "nullable": True},
    "either": {"x-kubernetes-int-or-string": True},
    "list": {"type": "array", "items": TEXT},
    "objects": {
        "type": "array",
        "items": {"type": "object", "properties": {"a": TEXT, "name": TEXT}},
    },
    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
    "numbers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "number"}},
    "table": table(
        "name", name=TEXT, value=NUMBER, tags={"type": "object", "additionalProperties": TEXT}
    ),
    "ports": table("port", "protocol", port=NUMBER, protocol={**TEXT, "default": "TCP"}, note=TEXT),
    "nested": table("name", name=TEXT, table=table("key", key=TEXT, a=NUMBER, b=NUMBER)),
    "map": {"type": "object", "additionalProperties": TEXT},
    "maps": {
        "type": "object",
        "additionalProperties": {"type": "object", "properties": {"a": TEXT, "b": TEXT}},
    },
    "atomic": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": TEXT},
    "struct": {
        "type": "object",
        "x-kubernetes-map-type": "atomic",
        "properties": {"a": TEXT, "b": TEXT},
    },
    "inner": {
        "type": "object",
        "properties": {
            "a": TEXT,
            "deep": {"type": "object", "properties": {"b": NUMBER, "c": NUMBER}},
            "level": {**TEXT, "default": "info"},
        },
    },
    "nullable-map": {"type": "object", "nullable": True, "additionalProperties": TEXT},
    "nullable-set": {
        "type": "array",
        "nullable": True,
        "x-kubernetes-list-type": "set",
        "items": TEXT,
    },
    "matrix": {"type": "array", "items": {"type": "array", "items": NUMBER}},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "open": {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"a": TEXT, "inner": {"type": "object", "properties": {"b": TEXT}}},
    },
    "template": {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "properties": {"spec": {"type": "object", "additionalProperties": NUMBER}},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": PARTS},
        "status": {
            "type": "object",
            "properties": {"phase": TEXT, "conditions": table("type", type=TEXT, message=TEXT)},
        },
    },
}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"gadgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "names": {"kind": KIND, "plural": "gadgets"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v2",
                "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {"status": {}},
            }
            for name in ("v1", "v2")
        ],
    },
}


class Drawing:
    """Random objects; few different names and values, so that managers meet."""

    def __init__(self, seed: int, owner=None):
        self.random = random.Random(seed)
        self.owner = owner
        """An object that may own others, as in `ownerReferences`."""

    def chance(self, of: int) -> bool:
        return self.random.randrange(of) == 0

    def text(self):
        return self.random.choice(["x", "y", "z"])

    def name(self):
        return self.random.choice(["a", "b", "c", "ü<&>\"'", "/~1.[]"])

    def number(self):
        return self.random.choice([0, 1, 2, -1, 1.5, 1.0, 1e-7, 1e25, 0.1])

    def integer(self):
        return self.random.randrange(3)

    def some(self, draw, most=3):
        return [draw() for _ in range(self.random.randrange(most + 1))]

    def distinct(self, draw, key=lambda each: each):
        found = {}
        for each in self.some(draw, 4):
            found.setdefault(key(each), each)
        values = list(found.values())
        self.random.shuffle(values)
        return values

    def members(self, draw, names=None):
        return {(names or self.name)(): draw() for _ in range(self.random.randrange(4))}

    def part_of(self, **draws):
        """An object with some of its properties."""
        return {name: draw() for name, draw in draws.items() if not self.chance(2)}

    def json(self, depth=0):
        match self.random.randrange(8 if depth < 3 else 4):
            case 0:
                return self.random.choice(["x", "y", None])
            case 1:
                return self.integer()
            case 2:
                return self.random.choice([True, False])
            case 3:
                return self.number()
            case 4:
                return self.some(lambda: self.json(3))
            case _:
                return self.members(lambda: self.json(depth + 1), self.text)

    def row(self):
        tags = self.part_of(value=self.integer, tags=lambda: self.members(self.text))
        return {"name": self.name(), **tags}

    def port(self):
        protocol = self.part_of(protocol=lambda: self.random.choice(["TCP", "UDP"]), note=self.text)
        return {"port": self.integer(), **protocol}

    def cell(self):
        return {"key": self.text(), **self.part_of(a=self.integer, b=self.integer)}

    def nest(self):
        def inner():
            return self.distinct(self.cell, lambda each: each["key"])

        return {"name": self.text(), **self.part_of(table=inner)}

    def part(self, name):
        choice = self.random.choice
        a_and_b = {"a": self.text, "b": self.text}
        b_and_c = {"b": self.integer, "c": self.integer}
        draws = {
            "text": self.text,
            "number": self.number,
            "flag": lambda: choice([True, False]),
            "date": lambda: choice(["2026-01-01", "2026-01-02"]),
            "loose": lambda: choice([None, "x", "y"]),
            "either": lambda: choice([1, 2, "50%"]),
            "list": lambda: self.some(self.text),
            "objects": lambda: self.some(lambda: self.part_of(a=self.text)),
            "set": lambda: self.distinct(self.name),
            "numbers": lambda: self.distinct(self.number),
            "table": lambda: self.distinct(self.row, lambda each: each["name"]),
            "ports": lambda: self.distinct(
                self.port, lambda each: (each["port"], each.get("protocol", "TCP"))
            ),
            "nested": lambda: self.distinct(self.nest, lambda each: each["name"]),
            "map": lambda: self.members(self.text),
            "atomic": lambda: self.members(self.text),
            "maps": lambda: self.members(lambda: self.part_of(**a_and_b)),
            "struct": lambda: self.part_of(**a_and_b),
            "inner": lambda: self.part_of(a=self.text, deep=lambda: self.part_of(**b_and_c)),
            "nullable-map": lambda: choice([None, self.members(self.text)]),
            "nullable-set": lambda: choice([None, self.distinct(self.name)]),
            "matrix": lambda: self.some(lambda: self.some(self.integer)),
            "free": lambda: self.members(self.json, self.text),
            "template": self.template,
            "open": lambda: {
                **self.members(self.json, self.text),
                **self.part_of(a=self.text, inner=lambda: self.part_of(b=self.text)),
            },
        }
        return draws[name]()

    def template(self):
        """A whole object in another."""
        metadata = {"name": self.text(), **self.labels()}
        spec = self.part_of(spec=lambda: self.members(self.integer, self.text))
        return {
            "apiVersion": "v1",
            "kind": self.random.choice(["A", "B"]),
            "metadata": metadata,
            **spec,
        }

    def spec(self):
        names = self.random.sample(list(PARTS), self.random.randrange(6))
        return {name: self.part(name) for name in names}

    def labels(self):
        def label():
            return self.random.choice(["a", "b", "test/c"])

        return self.part_of(
            labels=lambda: self.members(self.text, label),
            annotations=lambda: self.members(self.name, label),
            finalizers=lambda: self.distinct(lambda: f"test/{self.text()}"),
        )

    def metadata(self):
        if self.owner is None or self.chance(2):
            return self.labels()
        flags = self.part_of(
            controller=lambda: self.chance(2), blockOwnerDeletion=lambda: self.chance(2)
        )
        return {**self.labels(), "ownerReferences": [{**self.owner, **flags}]}

    def status(self):
        def condition():
            return {"type": self.text(), **self.part_of(message=self.text)}

        return self.part_of(
            phase=self.text, conditions=lambda: self.distinct(condition, lambda each: each["type"])
        )

    def touched(self, document):
        """A document with a few changes in its spec, as people edit one."""
        document = copy.deepcopy(document)
        spec = document.get("spec") or {}
        document["spec"] = spec
        for _ in range(self.random.randrange(1, 4)):
            name = self.random.choice([*spec, self.random.choice(list(PARTS))])
            if spec.get(name) and not self.chance(3):
                spec[name] = self._touched(spec[name], self.part(name))
            elif name in spec and self.chance(2):
                del spec[name]
            else:
                spec[name] = self.part(name)
        return document

    def _touched(self, value, other):
        """A value with something of another one of its kind, or without something."""
        match value, other:
            case dict(), dict():
                return self._touched_members(value, other)
            case list(), list() if all(isinstance(each, dict) for each in [*value, *other]):
                return self._touched_rows(value, other)
            case list(), list():
                kept = [each for each in value if not self.chance(4)]
                return kept + [each for each in other if each not in kept]
        return other

    def _touched_members(self, value, other):
        names = list({**value, **other})
        changed = self.random.choice(names) if names else None
        found = {name: each for name, each in value.items() if name != changed}
        if changed in other:
            new = other[changed]
            found[changed] = self._touched(value[changed], new) if changed in value else new
        return found

    def _touched_rows(self, value, other):
        def keys(row):
            return (*(row.get(key) for key in ("name", "port", "key")), row.get("protocol", "TCP"))

        found = {keys(row): row for row in value if not self.chance(5)}
        for row in other:
            at = keys(row)
            if at not in found or self.chance(2):
                found[at] = {**found.get(at, {}), **row}
            for name in set(found[at]) - {"name", "port", "key", "protocol"}:
                if self.chance(3):
                    del found[at][name]
        rows = list(found.values())
        if self.chance(2):
            self.random.shuffle(rows)
        return rows

    def gadget(self, version, name):
        """An object or configuration of a version; some have no `spec`, and some a `status`."""
        metadata = {"name": name, "namespace": "default", **self.metadata()}
        found = {"apiVersion": version, "kind": KIND, "metadata": metadata}
        if not self.chance(8):
            found["spec"] = self.spec()
        if not self.chance(3):
            found["status"] = self.status()
        return found
