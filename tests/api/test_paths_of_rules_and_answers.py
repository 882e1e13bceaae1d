"""The rules say of each path the same as the answer to it is about: who may ask for one object reads no other."""

from itertools import product
from types import SimpleNamespace

from trundle.api._objects import Objects, Served
from trundle.api.access import attributes_of

PARTS = ("members", "things", "namespaces", "watch", "status", "finalize", "events", "a", "")
KINDS = (
    ("clubs.example.com", "members", True),
    ("clubs.example.com", "things", False),
    ("clubs.example.com", "watch", True),
    ("clubs.example.com", "namespaces", True),
    ("", "namespaces", False),
    ("", "events", True),
)


def served(group, plural, namespaced):
    kind = SimpleNamespace(
        group=group,
        plural=plural,
        namespaced=namespaced,
        is_review=False,
        versions={"v1": SimpleNamespace()},
    )
    return Served(kind, None, None, False)


def paths():
    for base, most in (("/apis/clubs.example.com/v1", 5), ("/api/v1", 5)):
        for number in range(1, most + 1):
            for parts in product(PARTS, repeat=number):
                yield "/".join((base, *parts))


def test_a_path_is_about_the_same_for_both():
    objects, seen = Objects([served(*each) for each in KINDS], None), 0
    for path in paths():
        found = objects.target(path)
        if found is None:
            continue
        seen += 1
        target, asked = found[1], attributes_of("GET", path)
        kind = target.kind
        about = (kind.group, kind.plural, target.namespace, target.name, target.subresource)
        if about[:2] == ("", "namespaces"):  # To rules, a namespace is in itself, as in Kubernetes.
            about = (*about[:2], target.name, *about[3:])
        assert asked.is_resource, path
        assert (
            asked.group,
            asked.resource,
            asked.namespace,
            asked.name,
            asked.subresource,
        ) == about
        assert asked.verb == "watch" or not target.watched, path
    assert seen > 2000
