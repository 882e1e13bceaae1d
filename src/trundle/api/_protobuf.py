"""Bodies that clients send as protobuf: kubectl and controllers do so for the resource types that Kubernetes itself has.

Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding, and the `generated.proto` of `k8s.io/api` and
`k8s.io/apimachinery`, which have the numbers of fields.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from trundle.api._documents import text_of, values_of
from trundle.api._status import ApiError, bad_request, unsupported_media_type

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\0"
_CONTINUED = 0x80
_LONGEST_VARINT = 10
_SIGN = 1 << 64
"""What negative numbers are sent with."""
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_TIMESTAMP: "_Form" = {1: ("seconds", "number*"), 2: ("nanos", "number*")}

_NUMBERS = ("flag", "number")
"""What is sent as a whole number; all else is sent as bytes."""

_Form: TypeAlias = "str | Mapping[int, tuple[str, _Form]] | tuple[_Form]"
"""What a field has: `text`, `number`, `flag`, `map` (of text), `lists` (a map of lists of text), `time`, `microtime`, `json`, a message with its fields, or a list of one of these.

Where an asterisk follows, a field that is sent is there, whatever it has; else what is empty is not there.
"""

_OWNER: _Form = {
    1: ("kind", "text"),
    3: ("name", "text"),
    4: ("uid", "text"),
    5: ("apiVersion", "text"),
    6: ("controller", "flag*"),
    7: ("blockOwnerDeletion", "flag*"),
}
_MANAGED: _Form = {
    1: ("manager", "text"),
    2: ("operation", "text"),
    3: ("apiVersion", "text"),
    4: ("time", "time"),
    6: ("fieldsType", "text"),
    7: ("fieldsV1", "json"),
    8: ("subresource", "text"),
}
_METADATA: _Form = {
    1: ("name", "text"),
    2: ("generateName", "text"),
    3: ("namespace", "text"),
    4: ("selfLink", "text"),
    5: ("uid", "text"),
    6: ("resourceVersion", "text"),
    7: ("generation", "number"),
    8: ("creationTimestamp", "time"),
    9: ("deletionTimestamp", "time"),
    10: ("deletionGracePeriodSeconds", "number*"),
    11: ("labels", "map"),
    12: ("annotations", "map"),
    13: ("ownerReferences", (_OWNER,)),
    14: ("finalizers", ("text",)),
    17: ("managedFields", (_MANAGED,)),
}
_REFERENCE: _Form = {
    1: ("kind", "text"),
    2: ("namespace", "text"),
    3: ("name", "text"),
    4: ("uid", "text"),
    5: ("apiVersion", "text"),
    6: ("resourceVersion", "text"),
    7: ("fieldPath", "text"),
}
_SOURCE: _Form = {1: ("component", "text"), 2: ("host", "text")}
_SERIES: _Form = {1: ("count", "number"), 2: ("lastObservedTime", "microtime")}
_TERMS: _Form = ({1: ("key", "text"), 2: ("operator", "text"), 3: ("values", ("text",))},)
_SELECTOR: _Form = {1: ("rawSelector", "text"), 2: ("requirements", _TERMS)}
_ASKED: Mapping[int, tuple[str, _Form]] = {
    1: (
        "resourceAttributes",
        {
            1: ("namespace", "text"),
            2: ("verb", "text"),
            3: ("group", "text"),
            4: ("version", "text"),
            5: ("resource", "text"),
            6: ("subresource", "text"),
            7: ("name", "text"),
            8: ("fieldSelector", _SELECTOR),
            9: ("labelSelector", _SELECTOR),
        },
    ),
    2: ("nonResourceAttributes", {1: ("path", "text"), 2: ("verb", "text")}),
}
_SUBJECT: _Form = {
    **_ASKED,
    3: ("user", "text"),
    4: ("groups", ("text",)),
    5: ("extra", "lists"),
    6: ("uid", "text"),
}
_ANSWER: _Form = {
    1: ("allowed", "flag"),
    2: ("reason", "text"),
    3: ("evaluationError", "text"),
    4: ("denied", "flag"),
}
_RULES: _Form = {
    1: (
        "resourceRules",
        (
            {
                1: ("verbs", ("text",)),
                2: ("apiGroups", ("text",)),
                3: ("resources", ("text",)),
                4: ("resourceNames", ("text",)),
            },
        ),
    ),
    2: ("nonResourceRules", ({1: ("verbs", ("text",)), 2: ("nonResourceURLs", ("text",))},)),
    3: ("incomplete", "flag"),
    4: ("evaluationError", "text"),
}
_USER: _Form = {
    1: ("username", "text"),
    2: ("uid", "text"),
    3: ("groups", ("text",)),
    4: ("extra", "lists"),
}
_FORMS: Mapping[tuple[str, str], _Form] = {
    ("v1", "Namespace"): {
        1: ("metadata", _METADATA),
        2: ("spec", {1: ("finalizers", ("text",))}),
        3: ("status", {1: ("phase", "text")}),
    },
    ("v1", "Event"): {
        1: ("metadata", _METADATA),
        2: ("involvedObject", _REFERENCE),
        3: ("reason", "text"),
        4: ("message", "text"),
        5: ("source", _SOURCE),
        6: ("firstTimestamp", "time"),
        7: ("lastTimestamp", "time"),
        8: ("count", "number"),
        9: ("type", "text"),
        10: ("eventTime", "microtime"),
        11: ("series", _SERIES),
        12: ("action", "text"),
        13: ("related", _REFERENCE),
        14: ("reportingComponent", "text"),
        15: ("reportingInstance", "text"),
    },
    ("events.k8s.io/v1", "Event"): {
        1: ("metadata", _METADATA),
        2: ("eventTime", "microtime"),
        3: ("series", _SERIES),
        4: ("reportingController", "text"),
        5: ("reportingInstance", "text"),
        6: ("action", "text"),
        7: ("reason", "text"),
        8: ("regarding", _REFERENCE),
        9: ("related", _REFERENCE),
        10: ("note", "text"),
        11: ("type", "text"),
        12: ("deprecatedSource", _SOURCE),
        13: ("deprecatedFirstTimestamp", "time"),
        14: ("deprecatedLastTimestamp", "time"),
        15: ("deprecatedCount", "number"),
    },
    ("authentication.k8s.io/v1", "SelfSubjectReview"): {
        1: ("metadata", _METADATA),
        2: ("status", {1: ("userInfo", _USER)}),
    },
    ("authentication.k8s.io/v1", "TokenReview"): {
        1: ("metadata", _METADATA),
        2: ("spec", {1: ("token", "text"), 2: ("audiences", ("text",))}),
        3: (
            "status",
            {
                1: ("authenticated", "flag"),
                2: ("user", _USER),
                3: ("error", "text"),
                4: ("audiences", ("text",)),
            },
        ),
    },
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview"): {
        1: ("metadata", _METADATA),
        2: ("spec", _ASKED),
        3: ("status", _ANSWER),
    },
    ("authorization.k8s.io/v1", "SubjectAccessReview"): {
        1: ("metadata", _METADATA),
        2: ("spec", _SUBJECT),
        3: ("status", _ANSWER),
    },
    ("authorization.k8s.io/v1", "LocalSubjectAccessReview"): {
        1: ("metadata", _METADATA),
        2: ("spec", _SUBJECT),
        3: ("status", _ANSWER),
    },
    ("authorization.k8s.io/v1", "SelfSubjectRulesReview"): {
        1: ("metadata", _METADATA),
        2: ("spec", {1: ("namespace", "text")}),
        3: ("status", _RULES),
    },
    ("coordination.k8s.io/v1", "Lease"): {
        1: ("metadata", _METADATA),
        2: (
            "spec",
            {
                1: ("holderIdentity", "text*"),
                2: ("leaseDurationSeconds", "number*"),
                3: ("acquireTime", "microtime"),
                4: ("renewTime", "microtime"),
                5: ("leaseTransitions", "number*"),
            },
        ),
    },
}
_DELETION = "DeleteOptions"
"""Of every group and version."""
_FORM_OF_DELETION: _Form = {
    1: ("gracePeriodSeconds", "number*"),
    2: ("preconditions", {1: ("uid", "text*"), 2: ("resourceVersion", "text*")}),
    3: ("orphanDependents", "flag*"),
    4: ("propagationPolicy", "text*"),
    5: ("dryRun", ("text",)),
}
_UNKNOWN: _Form = {1: ("type", {1: ("apiVersion", "text"), 2: ("kind", "text")}), 2: ("raw", "raw")}


def json_of(body: bytes, *, has_form: bool) -> bytes:
    """A body in protobuf as JSON.

    Args:
        body: the body.
        has_form: whether the resource type that it is sent to has such a form; it is damaged then, where it cannot be read.

    Raises:
        ApiError: it is of a resource type that has no such form, or is damaged.
    """
    if not body.startswith(_MAGIC):
        raise _unreadable(has_form=has_form)
    try:
        whole = _message(body[len(_MAGIC) :], _UNKNOWN, passing=True)
        said = whole["type"]["apiVersion"], whole["type"]["kind"]
        form = _FORM_OF_DELETION if said[1] == _DELETION else _FORMS[said]
        # Questions of later clients are answered as far as they are understood; of objects that are stored, nothing is to be lost.
        passing = said[1].endswith("Review")
        return text_of({**whole["type"], **_message(whole.get("raw", b""), form, passing=passing)})
    except (ValueError, KeyError, IndexError, OverflowError) as error:
        raise _unreadable(has_form=has_form) from error


def _unreadable(*, has_form: bool) -> ApiError:
    if has_form:
        return bad_request("the body of the request is no object of this resource type in protobuf")
    return unsupported_media_type(MEDIA_TYPE, ("application/json",))


def _message(body: bytes, form: Any, *, passing: bool = False) -> dict[str, Any]:
    """The fields of a message that are not empty.

    Args:
        body: the message.
        form: its fields.
        passing: whether other fields are passed over.

    Raises:
        KeyError: it has another field.
    """
    found: dict[str, Any] = {}
    for number, value in _fields(body):
        if number not in form and not passing:
            raise KeyError(number)
        if number not in form:
            continue
        name, inner = form[number]
        if isinstance(inner, tuple):
            found.setdefault(name, []).append(_value(value, inner[0], passing=passing))
        elif inner == "map":
            entry = _value(value, {1: ("key", "text"), 2: ("value", "text")})
            found.setdefault(name, {})[entry.get("key", "")] = entry.get("value", "")
        elif inner == "lists":
            entry = _value(value, {1: ("key", "text"), 2: ("value", {1: ("items", ("text",))})})
            found.setdefault(name, {})[entry.get("key", "")] = entry.get("value", {}).get(
                "items", []
            )
        elif isinstance(inner, str) and inner.endswith("*"):
            found[name] = _value(value, inner[:-1])
        elif (read := _value(value, inner, passing=passing)) not in ("", {}, 0, b""):
            found[name] = read
    return found


def _value(value: Any, form: Any, *, passing: bool = False) -> Any:
    if isinstance(value, int) is not (form in _NUMBERS):
        raise ValueError
    match form:
        case "text":
            return bytes(value).decode()
        case "flag":
            return bool(value)
        case "number":
            return value - _SIGN if value >= _SIGN // 2 else value
        case "raw":
            return value
        case "time" | "microtime":
            return _time(_message(value, _TIMESTAMP), in_microseconds=form == "microtime")
        case "json":
            return values_of(_message(value, {1: ("raw", "raw")}).get("raw", b"{}"))
        case _:
            return _message(value, form, passing=passing)


def _time(given: Mapping[str, int], *, in_microseconds: bool) -> str:
    """A time as text; empty where there is none."""
    if not given:
        return ""
    found = _EPOCH + dt.timedelta(seconds=given.get("seconds", 0))
    parts = f".{given.get('nanos', 0) // 1000:06}" if in_microseconds else ""
    return f"{found:%Y-%m-%dT%H:%M:%S}{parts}Z"


def _fields(body: bytes) -> Iterator[tuple[int, Any]]:
    """The numbers of the fields of a message, and what they have: whole numbers, or bytes."""
    at = 0
    while at < len(body):
        tag, at = _varint(body, at)
        match tag & 7:
            case 0:
                value, at = _varint(body, at)
                yield tag >> 3, value
            case 2:
                length, at = _varint(body, at)
                if at + length > len(body):
                    raise ValueError
                yield tag >> 3, body[at : at + length]
                at += length
            case _:
                raise ValueError


def _varint(body: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * _LONGEST_VARINT, 7):
        byte = body[at]
        value |= (byte & ~_CONTINUED) << shift
        at += 1
        if not byte & _CONTINUED:
            return value, at
    raise ValueError
