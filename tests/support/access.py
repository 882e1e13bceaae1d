"""Users, their tokens and their rules, for tests of access control."""

from pathlib import Path

from apis import GROUP

TOKENS = """\
ann-token,ann,u1
ben-token,ben,u2,"writers,staff"
root-token,root,u0,system:masters
sam-token,system:serviceaccount:default:sam,u3
"""

RULES = f"""\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: reader}}
rules:
- {{apiGroups: [{GROUP}], resources: [members], verbs: [get, list, watch]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: writers-read}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}}
subjects:
- {{kind: Group, name: writers, apiGroup: rbac.authorization.k8s.io}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: writer, namespace: default}}
rules:
- {{apiGroups: [{GROUP}], resources: [members], verbs: [create, update, patch]}}
- {{apiGroups: [{GROUP}], resources: [members], verbs: [delete], resourceNames: [ada]}}
- {{apiGroups: [{GROUP}], resources: ["*/status"], verbs: [get]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: ben-writes, namespace: default}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: writer}}
subjects:
- {{kind: User, name: ben, apiGroup: rbac.authorization.k8s.io}}
- {{kind: ServiceAccount, name: sam}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: acting}}
rules:
- {{apiGroups: [""], resources: [users], verbs: [impersonate], resourceNames: [ann, zoe]}}
- {{apiGroups: [""], resources: [groups], verbs: [impersonate], resourceNames: [writers]}}
- {{nonResourceURLs: [/metrics, "/logs/*"], verbs: [get]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: staff-acts}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: acting}}
subjects:
- {{kind: Group, name: staff, apiGroup: rbac.authorization.k8s.io}}
"""


def written(folder: Path, tokens: str = TOKENS, rules: str = RULES) -> tuple[str | Path, ...]:
    """Writes the files; the options of `trundle serve` that name them."""
    (folder / "tokens.csv").write_text(tokens)
    (folder / "rules.yaml").write_text(rules)
    return "--tokens", folder / "tokens.csv", "--rules", folder / "rules.yaml"
