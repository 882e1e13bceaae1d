"""Rules from YAML: roles and bindings as `rbac.authorization.k8s.io/v1` has them."""

from pathlib import Path
from typing import TYPE_CHECKING

from trundle.api.access._errors import AccessFileError
from trundle.api.access._rules import (
    ALL,
    BUILT_IN,
    Binding,
    RoleKind,
    Rule,
    Rules,
    Subject,
    SubjectKind,
    merged,
)
from trundle.documents import Node, Walker, decode, parse_yaml, plain

if TYPE_CHECKING:
    from collections.abc import Collection

_GROUP = "rbac.authorization.k8s.io"
_API_VERSION = f"{_GROUP}/v1"
_KINDS = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
_HEAD = ("apiVersion", "kind", "metadata")
_RULE = ("apiGroups", "apiVersions", "nonResourceURLs", "resourceNames", "resources", "verbs")
_SUBJECTS: tuple[SubjectKind, ...] = ("Group", "ServiceAccount", "User")
_ROLES: tuple[RoleKind, ...] = ("ClusterRole", "Role")


def read_rules(path: Path) -> Rules:
    """The rules of a file, with those that every server has.

    Raises:
        AccessFileError: an object is not as it ought to be.
        UnreadableError: the file is no YAML.
        OSError: the file cannot be read.
    """
    reader = _Reader(str(path))
    for each in parse_yaml(decode(path.read_bytes(), str(path)), str(path)):
        reader.read(each.root)
    if reader.findings:
        raise AccessFileError(reader.findings)
    return merged(BUILT_IN, Rules(reader.roles, tuple(reader.bindings)))


class _Reader(Walker):
    """Reads roles and bindings; what is wrong with them are findings."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.roles: dict[tuple[str, str], tuple[Rule, ...]] = {}
        self.bindings: list[Binding] = []

    def read(self, node: Node) -> None:
        """Reads an object, or a list of objects."""
        data = plain(node)
        if data is None:
            return
        if isinstance(data, dict) and data.get("kind") == "List":
            for key, value in self.fields(node, "a list", (*_HEAD, "items"), ("items",)).values():
                if key.text == "items":
                    for each in self.items(value, "a list of objects"):
                        self.read(each)
            return
        kind = data.get("kind") if isinstance(data, dict) else None
        known = {
            "Role": ("rules",),
            "ClusterRole": ("rules",),
            "RoleBinding": ("roleRef", "subjects"),
            "ClusterRoleBinding": ("roleRef", "subjects"),
        }.get(str(kind), ("rules", "roleRef", "subjects"))
        fields = self.fields(node, f"{kind or 'an object'}", (*_HEAD, *known), _HEAD)
        if len(fields) < len(_HEAD):
            return
        self.choice(fields["apiVersion"][1], "the API version", (_API_VERSION,))
        chosen = self.choice(fields["kind"][1], "one of the kinds", _KINDS)
        if chosen is None:
            return
        name, namespace = self._metadata(
            fields["metadata"][1], namespaced=chosen.startswith("Role")
        )
        if not name:
            return
        if chosen.endswith("Role"):
            rules = self.items(fields["rules"][1], "a list of rules") if "rules" in fields else ()
            if (namespace, name) in self.roles:
                self.note(node.line, "each role once", f"{name!r} twice", "remove one of them")
            self.roles[namespace, name] = tuple(map(self._rule, rules))
            return
        if "roleRef" not in fields:
            self.note(node.line, f"the key roleRef in {chosen}", "none", "add `roleRef:`")
            return
        role_kind, role = self._role(fields["roleRef"][1], namespaced=bool(namespace))
        subjects = fields["subjects"][1] if "subjects" in fields else None
        found = () if subjects is None else self.items(subjects, "a list of subjects")
        if any((x.namespace, x.name) == (namespace, name) for x in self.bindings):
            self.note(node.line, "each binding once", f"{name!r} twice", "remove one of them")
        given = tuple(filter(None, map(self._subject, found)))
        self.bindings.append(Binding(name, role_kind, role, given, namespace))

    def _metadata(self, node: Node, *, namespaced: bool) -> tuple[str, str]:
        known = ("annotations", "creationTimestamp", "labels", "name", "namespace")
        required = ("name", "namespace") if namespaced else ("name",)
        fields = self.fields(node, "metadata", known, required)
        texts = [
            self.text(fields[each][1], f"a {each}") if each in fields else "" for each in required
        ]
        name, namespace = (*texts, "", "")[:2]
        return name or "", namespace or ""

    def _rule(self, node: Node) -> Rule:
        fields = self.fields(node, "a rule", _RULE, ("verbs",))
        given = {
            name: self._texts(fields[name][1], name) if name in fields else () for name in _RULE
        }
        rule = Rule(
            verbs=given["verbs"],
            groups=given["apiGroups"],
            resources=given["resources"],
            names=given["resourceNames"],
            paths=given["nonResourceURLs"],
            versions=given["apiVersions"],
        )
        if rule.paths and (rule.resources or rule.groups):
            found = "both"
            self.note(node.line, "either nonResourceURLs or resources", found, "write two rules")
        elif not rule.paths and not (rule.resources and rule.groups):
            lacks = "resources" if rule.groups else "apiGroups"
            expected = f"the key {lacks} in a rule about resources"
            self.note(node.line, expected, "none", f"add `{lacks}:`, or nonResourceURLs")
        for each in rule.paths:
            if each != ALL and ALL in each[:-1]:
                self.note(
                    node.line, f"`{ALL}` at the end of a path", repr(each), "correct the path"
                )
        return rule

    def _texts(self, node: Node, name: str) -> tuple[str, ...]:
        """A list of texts; the core group is the empty one."""
        found = plain(node)
        if isinstance(found, list) and all(isinstance(each, str) for each in found):
            return tuple(found)
        self.note(node.line, f"a list of texts as {name}", "something else", "correct it")
        return ()

    def _role(self, node: Node, *, namespaced: bool) -> tuple[RoleKind, str]:
        fields = self.fields(node, "roleRef", ("apiGroup", "kind", "name"), ("kind", "name"))
        if "apiGroup" in fields:
            self.choice(fields["apiGroup"][1], "the API group", (_GROUP,))
        allowed: Collection[RoleKind] = _ROLES if namespaced else ("ClusterRole",)
        chosen = (
            self.choice(fields["kind"][1], "the kind of a role", allowed)
            if "kind" in fields
            else None
        )
        name = self.text(fields["name"][1], "a name") if "name" in fields else None
        kind: RoleKind = "Role" if chosen == "Role" else "ClusterRole"
        return kind, name or ""

    def _subject(self, node: Node) -> Subject | None:
        known = ("apiGroup", "kind", "name", "namespace")
        fields = self.fields(node, "a subject", known, ("kind", "name"))
        if "kind" not in fields or "name" not in fields:
            return None
        kind = self.choice(fields["kind"][1], "the kind of a subject", _SUBJECTS)
        name = self.text(fields["name"][1], "a name")
        namespace = (
            self.text(fields["namespace"][1], "a namespace") if "namespace" in fields else ""
        )
        for each in _SUBJECTS:
            if each == kind and name:
                return Subject(each, name, namespace or "")
        return None
