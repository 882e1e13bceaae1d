"""What makes a cluster ask for admission: a configuration of the webhook, or a policy that the API server follows by itself."""

from collections.abc import Iterable, Mapping
from typing import Any

from trundle.api import ServedKind
from trundle.errors import expectation
from trundle.kubernetes._carrier import TOO_LARGE, name_of, reason_name
from trundle.kubernetes._conversions import without_room

_API_VERSION = "admissionregistration.k8s.io/v1"

_BEFORE = "has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}"
_AFTER = "has(object.metadata.annotations) ? object.metadata.annotations : {}"
_PUT_BACK = """
(has(object.metadata.annotations) || !variables.names.exists(n, n in variables.before) ? [] :
  [JSONPatch{op: "add", path: "/metadata/annotations", value: dyn({})}]) +
variables.names.filter(n, n in variables.before && (!(n in variables.after) || variables.after[n] != variables.before[n]))
  .map(n, JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey(n), value: variables.before[n]}) +
variables.names.filter(n, n in variables.after && !(n in variables.before))
  .map(n, JSONPatch{op: "remove", path: "/metadata/annotations/" + jsonpatch.escapeKey(n)})
""".strip()
_DISOWN = """
lists.range(size(variables.entries)).map(i, variables.names.filter(n,
    has(variables.entries[i].fieldsV1) && "f:metadata" in variables.entries[i].fieldsV1 &&
    "f:annotations" in variables.entries[i].fieldsV1["f:metadata"] &&
    "f:" + n in variables.entries[i].fieldsV1["f:metadata"]["f:annotations"])
  .map(n, JSONPatch{op: "remove", path: "/metadata/managedFields/" + string(i) +
    "/fieldsV1/f:metadata/f:annotations/f:" + jsonpatch.escapeKey(n)})).flatten()
""".strip()


_MARKED = "has({0}.metadata.annotations) && variables.name in {0}.metadata.annotations && {0}.metadata.annotations[variables.name].startsWith('{1}.')"
_STAYS = "has(oldObject.metadata.finalizers) || (has(request.options.propagationPolicy) && request.options.propagationPolicy in ['Foreground', 'Orphan'])"


def webhook_configuration(
    name: str,
    kinds: Iterable[ServedKind],
    client: Mapping[str, Any],
    annotations: Mapping[str, str],
) -> dict[str, Any]:
    """What makes an API server ask the webhook before it writes objects.

    Args:
        name: its name.
        kinds: the resource types.
        client: where the webhook is, as a CRD has it.
        annotations: annotations of the configuration.
    """
    return {
        "apiVersion": _API_VERSION,
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name, **({"annotations": dict(annotations)} if annotations else {})},
        "webhooks": [
            {
                "name": f"carrier.{group}",
                "admissionReviewVersions": ["v1"],
                "clientConfig": dict(client),
                "failurePolicy": "Fail",
                "matchPolicy": "Exact",
                "reinvocationPolicy": "IfNeeded",
                "rules": [_rule(group, each, ["CREATE", "DELETE", "UPDATE"])],
                "sideEffects": "None",
                "timeoutSeconds": 30,
            }
            for group, each in by_group(kinds).items()
        ],
    }


def policies(name: str, kinds: Iterable[ServedKind]) -> list[dict[str, Any]]:
    """Policies with their bindings, by which an API server puts carriers back without asking anybody.

    Args:
        name: begins their names.
        kinds: the resource types.
    """
    found = []
    for group, each in by_group(kinds).items():
        called = f"{name}.{group}"
        names = ", ".join(f'"{said}"' for said in (name_of(group), reason_name(each[0].group)))
        variables = {
            "names": f"[{names}]",
            "before": _BEFORE,
            "after": _AFTER,
            "entries": "has(object.metadata.managedFields) ? object.metadata.managedFields : []",
        }
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Exact",
                "resourceRules": [_rule(group, each, ["UPDATE"])],
            },
            "reinvocationPolicy": "IfNeeded",
            "variables": [{"name": key, "expression": value} for key, value in variables.items()],
            "mutations": [
                {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
                for expression in (_PUT_BACK, _DISOWN)
            ],
        }
        head = {"apiVersion": _API_VERSION, "metadata": {"name": called}}
        for kind, said, binding in (
            ("MutatingAdmissionPolicy", spec, {}),
            ("ValidatingAdmissionPolicy", _refusing(group, each), {"validationActions": ["Deny"]}),
        ):
            found.append({**head, "kind": kind, "spec": said})
            bound = {"policyName": called, **binding}
            found.append({**head, "kind": f"{kind}Binding", "spec": bound})
    return found


def _refusing(group: str, kinds: list[ServedKind]) -> dict[str, Any]:
    """The policy that refuses writes where a carrier has no room."""
    name = name_of(group)
    stays = {
        "CREATE": _MARKED.format("object", TOO_LARGE),
        "UPDATE": _MARKED.format("oldObject", TOO_LARGE),
        "DELETE": f"({_STAYS}) && {_MARKED.format('oldObject', TOO_LARGE)}",
    }
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "matchPolicy": "Exact",
            "resourceRules": [_rule(group, kinds, sorted(stays))],
        },
        "variables": [{"name": "name", "expression": f'"{name}"'}],
        "validations": [
            {
                "expression": f'request.operation != "{operation}" || !({expression})',
                "message": expectation(*without_room(name)),
            }
            for operation, expression in stays.items()
        ],
    }


def by_group(kinds: Iterable[ServedKind]) -> dict[str, list[ServedKind]]:
    """Resource types by their groups, in the order in which they come."""
    found: dict[str, list[ServedKind]] = {}
    for each in kinds:
        found.setdefault(each.group, []).append(each)
    return found


def _rule(group: str, kinds: Iterable[ServedKind], operations: list[str]) -> dict[str, Any]:
    """The writes of objects, and of their status."""
    plurals = sorted(each.plural for each in kinds)
    return {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": operations,
        "resources": [name for each in plurals for name in (each, f"{each}/status")],
        "scope": "*",
    }
