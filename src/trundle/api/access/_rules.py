"""Who may do what, by rules in the form of Kubernetes' RBAC.

A rule may say more than in Kubernetes: `apiVersions` names the API versions that it is about; without it, it is about all.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import msgspec

from trundle.api.access._attributes import Attributes
from trundle.api.access._users import AUTHENTICATED, MASTERS, UNAUTHENTICATED, User

ALL = "*"

RoleKind: TypeAlias = Literal["Role", "ClusterRole"]
SubjectKind: TypeAlias = Literal["User", "Group", "ServiceAccount"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a role allows.

    Attributes:
        verbs: what may be done; `*` is everything. So it is in the other fields.
        groups: the API groups.
        resources: the resource types, and subresources such as `people/status` and `*/status`.
        names: the objects; none means all.
        paths: paths that belong to no resource; `*` at the end stands for any rest.
        versions: the API versions; none means all.
    """

    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()

    def allows(self, asked: Attributes) -> bool:
        """Whether the rule allows a request."""
        if not _has(self.verbs, asked.verb):
            return False
        if not asked.is_resource:
            return any(_covers(each, asked.path) for each in self.paths)
        return (
            _has(self.groups, asked.group)
            and self._has_resource(asked)
            and (not self.names or asked.name in self.names)
            and (not self.versions or _has(self.versions, asked.version))
        )

    def _has_resource(self, asked: Attributes) -> bool:
        if _has(self.resources, asked.combined):
            return True
        return bool(asked.subresource) and f"*/{asked.subresource}" in self.resources

    def to_plain(self) -> dict[str, Any]:
        """The rule as reviews show it."""
        if not self.resources:
            return {"verbs": list(self.verbs), "nonResourceURLs": list(self.paths)}
        return {
            "verbs": list(self.verbs),
            "apiGroups": list(self.groups),
            "resources": list(self.resources),
            **({"resourceNames": list(self.names)} if self.names else {}),
            **({"apiVersions": list(self.versions)} if self.versions else {}),
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a binding is about.

    Attributes:
        kind: what the name is.
        name: the name.
        namespace: of a service account; empty for that of the binding.
    """

    kind: SubjectKind
    name: str
    namespace: str = ""

    def is_(self, user: User, namespace: str) -> bool:
        """Whether a user is meant, by a binding of a namespace."""
        match self.kind:
            case "User":
                return user.name == self.name
            case "Group":
                return self.name in user.groups
            case "ServiceAccount":
                home = self.namespace or namespace
                return bool(home) and user.name == f"system:serviceaccount:{home}:{self.name}"

    def described(self, namespace: str) -> str:
        """The subject as the reason of a decision names it."""
        if self.kind == "ServiceAccount":
            return f'ServiceAccount "{self.name}/{self.namespace or namespace}"'
        return f'{self.kind} "{self.name}"'


@dataclass(frozen=True, slots=True)
class Binding:
    """Gives a role to subjects.

    Attributes:
        name: the name of the binding.
        role_kind: the kind of the role.
        role: the name of the role.
        subjects: whom it is given to.
        namespace: where it counts; empty for everywhere.
    """

    name: str
    role_kind: RoleKind
    role: str
    subjects: tuple[Subject, ...]
    namespace: str = ""

    def described(self, subject: Subject) -> str:
        """The binding as the reason of a decision names it."""
        kind = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        name = f"{self.name}/{self.namespace}" if self.namespace else self.name
        return f'{kind} "{name}" of {self.role_kind} "{self.role}" to {subject.described(self.namespace)}'


class Decision(msgspec.Struct, frozen=True):
    """Whether a request is allowed, and why.

    Attributes:
        allowed: whether it is.
        reason: the binding that allows it, or what kept bindings from counting; may be empty.
    """

    allowed: bool
    reason: str = ""


@dataclass(frozen=True)
class Rules:
    """Roles, and who has them.

    Attributes:
        roles: the rules of each role, by namespace and name; the namespace of roles that count everywhere is empty.
        bindings: who has which role.
    """

    roles: Mapping[tuple[str, str], tuple[Rule, ...]] = field(default_factory=dict)
    bindings: tuple[Binding, ...] = ()

    def decide(self, user: User, asked: Attributes) -> Decision:
        """Whether a user may do what is asked."""
        if MASTERS in user.groups:
            return Decision(True)
        missing: list[str] = []
        for source, rules in self._given(user, asked.namespace, missing):
            if any(each.allows(asked) for each in rules):
                return Decision(True, f"RBAC: allowed by {source}")
        return Decision(False, f"RBAC: {_listed(missing)}" if missing else "")

    def of(self, user: User, namespace: str) -> tuple[list[Rule], str]:
        """The rules that count for a user in a namespace, and what kept others from counting."""
        missing: list[str] = []
        found = [rule for _, rules in self._given(user, namespace, missing) for rule in rules]
        return found, _listed(missing)

    def _given(
        self, user: User, namespace: str, missing: list[str]
    ) -> Iterator[tuple[str, tuple[Rule, ...]]]:
        """The rules that a user has in a namespace, with their source; notes roles that are missing."""
        everywhere = [each for each in self.bindings if not each.namespace]
        here = [each for each in self.bindings if namespace and each.namespace == namespace]
        for binding in everywhere + here:
            subject = next((x for x in binding.subjects if x.is_(user, binding.namespace)), None)
            if subject is None:
                continue
            home = binding.namespace if binding.role_kind == "Role" else ""
            rules = self.roles.get((home, binding.role))
            if rules is None:
                kind = binding.role_kind.lower()
                missing.append(f'{kind}.rbac.authorization.k8s.io "{binding.role}" not found')
            else:
                yield binding.described(subject), rules


def _listed(messages: Iterable[str]) -> str:
    """Messages as Kubernetes joins them."""
    found = [*dict.fromkeys(messages)]
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]" if found else ""


def _has(given: tuple[str, ...], wanted: str) -> bool:
    return ALL in given or wanted in given


def _covers(given: str, path: str) -> bool:
    if given in {ALL, path}:
        return True
    return given.endswith(ALL) and path.startswith(given.rstrip(ALL))


def _to_groups(role: str, *groups: str) -> Binding:
    return Binding(role, "ClusterRole", role, tuple(Subject("Group", each) for each in groups))


_REVIEWS = "selfsubjectaccessreviews", "selfsubjectrulesreviews"
_PAGES = (
    "/ui",
    "/ui/",
    "/ui/versions",
    "/ui/versions/*",
    "/ui/objects",
    "/ui/objects/*",
    "/ui/packages",
    "/ui/packages/*",
    "/ui/environments",
    "/ui/environments/*",
)
"""The pages that show what schemas say, and what the user may read through the API."""

BUILT_IN = Rules(
    roles={
        ("", "cluster-admin"): (Rule((ALL,), (ALL,), (ALL,)), Rule((ALL,), paths=(ALL,))),
        ("", "system:basic-user"): (
            Rule(("create",), ("authorization.k8s.io",), _REVIEWS),
            Rule(("create",), ("authentication.k8s.io",), ("selfsubjectreviews",)),
        ),
        ("", "system:discovery"): (
            Rule(
                ("get",),
                paths=(
                    *("/livez", "/readyz", "/healthz", "/version", "/version/", "/openapi"),
                    *("/openapi/*", "/api", "/api/*", "/apis", "/apis/*"),
                ),
            ),
        ),
        ("", "system:auth-delegator"): (
            Rule(("create",), ("authentication.k8s.io",), ("tokenreviews",)),
            Rule(("create",), ("authorization.k8s.io",), ("subjectaccessreviews",)),
        ),
        ("", "system:monitoring"): (
            Rule(
                ("get",),
                paths=(
                    "/livez",
                    "/livez/*",
                    "/readyz",
                    "/readyz/*",
                    "/healthz",
                    "/healthz/*",
                    "/metrics",
                ),
            ),
        ),
        ("", "trundle:page"): (
            Rule(("get", "head"), paths=_PAGES),
            # They ask the API, with the user's own rights.
            Rule(("post",), paths=("/ui/objects/*", "/ui/environments", "/ui/environments/*")),
        ),
        ("", "trundle:storage"): (Rule(("get", "head", "post"), paths=("/ui/storage",)),),
        ("", "trundle:installed"): (
            Rule(("get", "head", "post"), paths=("/ui/installed", "/ui/installed/*")),
        ),
        ("", "trundle:sign-in"): (
            Rule(("get", "head"), paths=("/ui/assets/*",)),
            Rule(("get", "head", "post"), paths=("/ui/sign-in", "/ui/sign-out")),
        ),
        ("", "system:public-info-viewer"): (
            Rule(("get",), paths=("/livez", "/readyz", "/healthz", "/version", "/version/")),
        ),
    },
    bindings=(
        _to_groups("cluster-admin", MASTERS),
        _to_groups("system:basic-user", AUTHENTICATED),
        _to_groups("system:discovery", AUTHENTICATED),
        _to_groups("system:monitoring", "system:monitoring"),
        _to_groups("system:public-info-viewer", AUTHENTICATED, UNAUTHENTICATED),
        _to_groups("trundle:page", AUTHENTICATED),
        _to_groups("trundle:sign-in", AUTHENTICATED, UNAUTHENTICATED),
    ),
)
"""The roles and bindings that every API server of Kubernetes starts with, as far as they concern what is here, and those of the page."""


def merged(built_in: Rules, given: Rules) -> Rules:
    """Rules together; a given role or binding takes the place of a built-in one of its name."""
    named = {(each.namespace, each.name) for each in given.bindings}
    kept = (each for each in built_in.bindings if (each.namespace, each.name) not in named)
    bindings = sorted((*kept, *given.bindings), key=lambda each: (each.namespace, each.name))
    return Rules({**built_in.roles, **given.roles}, tuple(bindings))
