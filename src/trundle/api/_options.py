"""The options of requests about objects, held to Kubernetes' rules before anything is read or written.

Source: `apimachinery`'s `ValidateListOptions` and `ValidateCreateOptions`, `ValidateUpdateOptions`, `ValidatePatchOptions`.
"""

from collections.abc import Iterator, Mapping, Sequence

from trundle.api._field_terms import terms_of
from trundle.api._formats import is_go_duration
from trundle.api._metadata_rules import manager_causes
from trundle.api._patches import APPLY
from trundle.api._requests import Request
from trundle.api._selections import FieldSelector, labels_of
from trundle.api._status import ApiError, Cause, bad_request, unsupported
from trundle.errors import expectation

_READS = frozenset({"GET", "HEAD"})
_WRITES = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}


def require_options(method: str, request: Request) -> None:
    """Makes sure that what a query says has a meaning.

    Raises:
        ApiError: it has none.
    """
    if not request.query and method in _READS:  # Most requests: they say nothing.
        return
    watches = method == "GET" and not request.target.name and request.flag("watch")
    timeout = request.query.get("timeout", "")
    if timeout and not watches and not is_go_duration(timeout):
        said = expectation("a duration such as 30s as timeout", repr(timeout))
        raise bad_request(f"invalid timeout specified in the request URL - {said}")
    if method == "GET" and request.target.name and request.flag("export"):
        raise bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    if method in _WRITES:
        _require(_WRITES[method], [*_of_patches(method, request), *_of_writes(request)])
    elif method in {"GET", "DELETE"} and not request.target.name:
        _require_list(request, watches=watches)


def _require_list(request: Request, *, watches: bool) -> None:
    """Makes sure that what a query says of a list or a watch has a meaning; in the order of API servers, of which the first refusal is said."""
    query, fields = request.query, request.query.get("fieldSelector", "")
    _ = request.seconds, request.limit
    labels_of(query.get("labelSelector", ""))
    terms_of(fields)
    _require("ListOptions", [*(_of_watches if watches else _of_lists)(query)])
    FieldSelector(fields, request.target)
    if watches:  # A list says so itself, once it is read.
        request.number("resourceVersion")


def refused_options(kind: str, causes: Sequence[Cause]) -> ApiError:
    """The answer to options that have no meaning.

    Args:
        kind: what they are, such as `PatchOptions`.
        causes: what is wrong with them.
    """
    lines = [f"{each.field}: {each.message}" for each in causes]
    text = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    message = f'{kind}.meta.k8s.io "" is invalid: {text}'
    return ApiError(422, "Invalid", message, {"group": "meta.k8s.io", "kind": kind}, causes)


def causes_of_dry_run(given: Sequence[str]) -> Iterator[Cause]:
    """What is wrong with values of `dryRun`."""
    if any(each != "All" for each in given):
        yield unsupported("dryRun", given, "All")


def _require(kind: str, causes: Sequence[Cause]) -> None:
    if causes:
        raise refused_options(kind, causes)


def _of_patches(method: str, request: Request) -> Iterator[Cause]:
    if method != "PATCH":
        return
    if request.media_type != APPLY and "force" in request.query:
        yield _forbidden("force", "may not be specified for non-apply patch")
    if request.media_type == APPLY and not request.query.get("fieldManager"):
        text = "Required value: is required for apply patch"
        yield Cause("FieldValueRequired", "fieldManager", text)


def _of_writes(request: Request) -> Iterator[Cause]:
    yield from manager_causes(request.query.get("fieldManager", ""))
    if "dryRun" in request.query:
        yield from causes_of_dry_run([request.query["dryRun"]])
    validation = request.query.get("fieldValidation", "")
    if validation not in {"", "Ignore", "Strict", "Warn"}:
        yield unsupported("fieldValidation", validation, "", "Ignore", "Strict", "Warn")


def _of_lists(query: Mapping[str, str]) -> Iterator[Cause]:
    field, match = "resourceVersionMatch", query.get("resourceVersionMatch")
    if match:
        if not query.get("resourceVersion"):
            yield _forbidden(field, f"{field} is forbidden unless resourceVersion is provided")
        if query.get("continue"):
            yield _forbidden(field, f"{field} is forbidden when continue is provided")
        if match not in {"Exact", "NotOlderThan"}:
            yield unsupported(field, match, "Exact", "NotOlderThan", "")
        if match == "Exact" and query.get("resourceVersion") == "0":
            yield _forbidden(field, f'{field} "exact" is forbidden for resourceVersion "0"')
    if "sendInitialEvents" in query:
        yield _forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")


def _of_watches(query: Mapping[str, str]) -> Iterator[Cause]:
    field, match = "resourceVersionMatch", query.get("resourceVersionMatch")
    initial = "sendInitialEvents" in query
    if initial and match != "NotOlderThan":
        text = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        yield _forbidden(field, text)
    if match and not initial:
        text = f"{field} is forbidden for watch unless sendInitialEvents is provided"
        yield _forbidden(field, text)
    if match and match != "NotOlderThan":
        yield unsupported(field, match, "NotOlderThan")
    # A watch that says nothing else begins with what is there, as if it asked for that.
    begins = not initial and query.get("resourceVersion", "") in {"", "0"}
    if query.get("continue") and (match or begins):
        yield _forbidden(field, f"{field} is forbidden when continue is provided")


def _forbidden(field: str, text: str) -> Cause:
    return Cause("FieldValueForbidden", field, f"Forbidden: {text}")
