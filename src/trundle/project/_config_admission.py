"""Reads `admission`: who is asked before objects are written, be it a class or a webhook."""

import re
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import msgspec

from trundle.documents import Fields, Node, ScalarNode, Walker, describe
from trundle.project._config_words import ABSOLUTE_CLASS, VERSION, read_version
from trundle.version import ApiVersion

AdmissionOperation: TypeAlias = Literal["create", "update", "delete"]
FailurePolicy: TypeAlias = Literal["Fail", "Ignore"]

OPERATIONS: tuple[AdmissionOperation, ...] = ("create", "update", "delete")
"""What may be asked about."""

_PLACE = ("type", "version")
_KEYS = (*_PLACE, "use", "webhook")
_CALLED = ("name", "url")
_WEBHOOK_KEYS = (*_CALLED, "ca", "operations", "failurePolicy", "timeoutSeconds")
_POLICIES: tuple[FailurePolicy, ...] = ("Fail", "Ignore")
_NAME = r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
_URL = r"https://[^\s/?#@]+(/[^\s?#]*)?"
_LONGEST = 30


class AdmissionWebhook(msgspec.Struct, frozen=True, kw_only=True):
    """A program that is asked over HTTPS, by reviews of `admission.k8s.io/v1`.

    Attributes:
        name: what messages call it, e.g. `limits.example.com`.
        url: where it answers.
        ca: the file with the certificates of the authorities that its certificate is held against, seen from the project file; empty for those
            that the machine trusts.
        operations: what it is asked about.
        failure_policy: what becomes of a write where it cannot be asked, or answers nonsense: `Fail` refuses it, `Ignore` lets it through.
        timeout_seconds: how long an answer may take.
    """

    name: str
    url: str
    ca: str = ""
    operations: tuple[AdmissionOperation, ...] = OPERATIONS
    failure_policy: FailurePolicy = "Fail"
    timeout_seconds: int = 10


class AdmissionRule(msgspec.Struct, frozen=True, kw_only=True):
    """Who is asked before objects of a resource type are written: a class or a webhook.

    Attributes:
        type: the resource type, after its group and a slash where several groups have one of the name.
        version: the API version at which objects are shown.
        use: the class that is asked, as `package.module:Class`; empty for a webhook.
        webhook: the webhook that is asked.
        where: file and line that say so.
    """

    type: str
    version: ApiVersion
    use: str = ""
    webhook: AdmissionWebhook | None = None
    where: str


def read_admission(walker: Walker, fields: Fields) -> tuple[AdmissionRule, ...]:
    """What a project file says under `admission`, in its order."""
    if "admission" not in fields:
        return ()
    found = [
        _rule(walker, each) for each in walker.items(fields["admission"][1], "a list of hooks")
    ]
    return tuple(each for each in found if each is not None)


def _rule(walker: Walker, node: Node) -> AdmissionRule | None:
    fields = walker.fields(node, "an admission hook", _KEYS, _PLACE)
    asked = [each for each in ("use", "webhook") if each in fields]
    if fields and len(asked) != 1:
        expected, found = "either `use` or `webhook` in an admission hook", " and ".join(asked)
        walker.note(node.line, expected, found or "none", "name a class or a webhook")
        return None
    type_ = walker.text(fields["type"][1], "a resource type") if "type" in fields else None
    version = read_version(walker, fields["version"][1]) if "version" in fields else None
    use = _use(walker, fields["use"][1]) if "use" in fields else ""
    webhook = _webhook(walker, fields["webhook"][1]) if "webhook" in fields else None
    if type_ is None or version is None or not (use or webhook):
        return None
    where = walker.place(node)
    return AdmissionRule(type=type_, version=version, use=use or "", webhook=webhook, where=where)


def _use(walker: Walker, node: Node) -> str | None:
    expected = "a class as package.module:Class"
    text = walker.text(node, expected)
    if text is None or re.fullmatch(ABSOLUTE_CLASS, text):
        return text
    walker.note(node.line, expected, repr(text), "write module and class, parted by a colon")
    return None


def _webhook(walker: Walker, node: Node) -> AdmissionWebhook | None:
    fields = walker.fields(node, "a webhook", _WEBHOOK_KEYS, _CALLED)
    name = _matching(walker, fields, "name", _NAME, "a name such as limits.example.com")
    url = _matching(walker, fields, "url", _URL, "a URL as https://host[:port][/path]")
    ca = walker.text(fields["ca"][1], "a file with certificates") if "ca" in fields else ""
    operations = _operations(walker, fields)
    policy = None
    if "failurePolicy" in fields:
        policy = walker.choice(fields["failurePolicy"][1], "a policy", _POLICIES)
    seconds = _seconds(walker, fields)
    if name is None or url is None or ca is None:
        return None
    return AdmissionWebhook(
        name=name, url=url, ca=ca, operations=operations, timeout_seconds=seconds,
        failure_policy=cast("FailurePolicy", policy or "Fail"),
    )  # fmt: skip


def _matching(walker: Walker, fields: Fields, key: str, pattern: str, expected: str) -> str | None:
    if key not in fields:
        return None
    node = fields[key][1]
    text = walker.text(node, expected)
    if text is None or (re.fullmatch(pattern, text) and _has_port(text)):
        return text
    walker.note(node.line, expected, repr(text), "correct it")
    return None


def _has_port(text: str) -> bool:
    """Whether a text, where it is a URL, has a port that can be one."""
    try:
        return urlsplit(text).port != 0
    except ValueError:
        return False


def _operations(walker: Walker, fields: Fields) -> tuple[AdmissionOperation, ...]:
    if "operations" not in fields:
        return OPERATIONS
    node = fields["operations"][1]
    found = [
        walker.choice(each, "an operation", OPERATIONS) for each in walker.texts(node, "operation")
    ]
    if not found and not walker.findings:
        walker.note(node.line, "an operation", "none", f"write {', '.join(OPERATIONS)}")
    return tuple(each for each in OPERATIONS if each in found)


def _seconds(walker: Walker, fields: Fields) -> int:
    default = AdmissionWebhook(name="", url="").timeout_seconds
    if "timeoutSeconds" not in fields:
        return default
    node = fields["timeoutSeconds"][1]
    if isinstance(node, ScalarNode) and not node.is_text and re.fullmatch(r"[0-9]{1,9}", node.json):
        found = int(node.json)
        if 1 <= found <= _LONGEST:
            return found
    expected = f"a whole number of seconds, from 1 to {_LONGEST}"
    walker.note(node.line, expected, describe(node), "write one of these")
    return default


def admission_schema() -> dict[str, Any]:
    """The JSON Schema of what a project file says under `admission`."""
    rule = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "type": {"type": "string", "minLength": 1, "description": "The resource type."},
            "version": {
                "type": "string",
                "pattern": f"^({VERSION})$",
                "description": "The served API version at which objects are shown.",
            },
            "use": {
                "type": "string",
                "pattern": f"^({ABSOLUTE_CLASS})$",
                "description": "The class that is asked, as package.module:Class.",
            },
            "webhook": _webhook_schema(),
        },
        "required": list(_PLACE),
        "oneOf": [{"required": ["use"]}, {"required": ["webhook"]}],
    }
    return {
        "type": "array",
        "items": rule,
        "description": "Who is asked before objects are created, updated and deleted.",
    }


def _webhook_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "name": {
                "type": "string",
                "pattern": f"^({_NAME})$",
                "description": "What messages call it, such as limits.example.com.",
            },
            "url": {
                "type": "string",
                "pattern": f"^({_URL})$",
                "description": "Where it answers reviews of admission.k8s.io/v1.",
            },
            "ca": {
                "type": "string",
                "minLength": 1,
                "description": "The file with the certificates of its authorities; by default those that the machine trusts.",
            },
            "operations": {
                "type": "array",
                "items": {"enum": list(OPERATIONS)},
                "minItems": 1,
                "uniqueItems": True,
                "description": "What it is asked about; by default all.",
            },
            "failurePolicy": {
                "enum": list(_POLICIES),
                "default": "Fail",
                "description": "What becomes of a write where it cannot be asked.",
            },
            "timeoutSeconds": {
                "type": "integer",
                "minimum": 1,
                "maximum": _LONGEST,
                "default": 10,
                "description": "How long an answer may take.",
            },
        },
        "required": list(_CALLED),
    }
