"""Asks webhooks, as Kubernetes' API server does: by reviews of `admission.k8s.io/v1` over HTTPS.

Sources: k8s.io/apiserver, pkg/admission/plugin/webhook.
"""

import contextlib
import time
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import msgspec

from trundle._http import TimedTransport
from trundle._tls import verifying
from trundle.api._patches import apply_operations
from trundle.api._status import ApiError
from trundle.api.access import Reloaded
from trundle.api.admission._requests import AdmissionRequest, Names
from trundle.api.admission._reviewers import AdmissionHookError, DeniedError
from trundle.errors import expectation
from trundle.project import AdmissionOperation, AdmissionWebhook

_API_VERSION, _KIND = "admission.k8s.io/v1", "AdmissionReview"
_JSON_PATCH = "JSONPatch"
_MOST_BYTES = 16 * 1024 * 1024
_CONNECTIONS = 32
_OK = range(200, 207)
_BAD_REQUEST = 400
_REFUSALS = range(_BAD_REQUEST, 600)

_ENDED = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError)
"""How a connection ends that the webhook has ended."""
_OPTIONS = {"create": "CreateOptions", "update": "UpdateOptions", "delete": "DeleteOptions"}

_encode = msgspec.json.Encoder(decimal_format="number").encode
_values = msgspec.json.Decoder(float_hook=Decimal).decode
_Patch: TypeAlias = list[Any]


class WebhookError(AdmissionHookError):
    """A webhook failed; the message names it."""


class UnansweredError(WebhookError):
    """A webhook cannot be asked, or answers what is no answer; `failurePolicy` says what becomes of the write."""


class _Status(msgspec.Struct, kw_only=True):
    message: str | None = None
    reason: str | None = None
    details: dict[str, Any] | None = None
    code: int | None = None


class _Response(msgspec.Struct, kw_only=True):
    uid: str | None = None
    allowed: bool | None = None
    status: _Status | None = None
    patch: bytes | None = None
    patch_type: str | None = msgspec.field(default=None, name="patchType")
    warnings: list[str] | None = None


class _Review(msgspec.Struct, kw_only=True):
    api_version: str | None = msgspec.field(default=None, name="apiVersion")
    kind: str | None = None
    response: _Response | None = None


_review = msgspec.json.Decoder(_Review).decode


class Webhook:
    """Asks a webhook.

    It is asked anew about each write, also in a dry run: it must not act on the world then.

    Args:
        settings: what the project says about it.
        authorities: the file with the certificates that its own is held against, read again when it changes; None for those that the
            machine trusts.
        complain: is given what is wrong where writes pass nevertheless.
    """

    def __init__(
        self,
        settings: AdmissionWebhook,
        authorities: Path | None = None,
        complain: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.name = settings.name
        self._settings = settings
        self._complain = complain
        files = [] if authorities is None else [authorities]
        self._transports = Reloaded(
            files, lambda: TimedTransport(verifying(authorities), kept=_CONNECTIONS), complain
        )

    def handles(self, operation: AdmissionOperation) -> bool:
        """Whether the project names an operation for it."""
        return operation in self._settings.operations

    def review(self, request: AdmissionRequest) -> None:
        """Asks it, and takes over what it changes.

        Raises:
            DeniedError: it refuses the write.
            WebhookError: it cannot be asked, answers nonsense, or its patch does not fit the object.
        """
        try:
            response, patch = self._response(request)
        except UnansweredError as error:
            if self._settings.failure_policy == "Fail":
                raise
            self._complain(f"{error}; the write passes, as `failurePolicy` says")
            return
        request.warnings += response.warnings or ()
        if not response.allowed:
            raise DeniedError(_denial(self.name, response.status or _Status()))
        if not patch:
            return
        if request.operation == "delete":
            raise self._broken(
                "attempted to modify the object, which is not supported for this operation"
            )
        try:
            request.object = apply_operations(request.object, patch)
        except ApiError as error:
            raise self._broken(f"changes what it cannot: {error}") from None

    def _response(self, request: AdmissionRequest) -> tuple[_Response, _Patch]:
        """What it answers, with the operations of its patch.

        Raises:
            UnansweredError: it is no answer.
        """
        uid = str(uuid.uuid4())
        text = self._ask(_encode(_question(request, uid)))
        try:
            review = _review(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._failed(f"failed to call webhook: {error}") from None
        response = review.response
        if response is None:
            raise self._invalid("webhook response was absent")
        if response.uid != uid:
            raise self._invalid(f'expected response.uid="{uid}", got "{response.uid or ""}"')
        if (review.api_version, review.kind) != (_API_VERSION, _KIND):
            found = f"{review.api_version or ''}, Kind={review.kind or ''}"
            raise self._invalid(
                f"expected webhook response of {_API_VERSION}, Kind={_KIND}, got {found}"
            )
        return response, self._patch(response)

    def _patch(self, response: _Response) -> _Patch:
        if response.patch and response.patch_type is None:
            raise self._invalid("webhook returned response.patch but not response.patchType")
        if not response.patch and response.patch_type is not None:
            raise self._invalid("webhook returned response.patchType but not response.patch")
        if not response.patch or not response.allowed:
            return []
        if response.patch_type == "":
            raise self._invalid('webhook returned invalid response.patchType of ""')
        what = "received undecodable patch in webhook response"
        try:
            found = _values(response.patch)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._failed(f"{what}: {error}") from None
        if not isinstance(found, list | None):
            found = type(found).__name__
            raise self._failed(f"{what}: {expectation('a list of operations', found)}")
        if found and response.patch_type != _JSON_PATCH:
            raise self._failed(f'unsupported patch type "{response.patch_type}"')
        return found or []

    def _broken(self, what: str) -> WebhookError:
        return WebhookError(f'admission webhook "{self.name}" {what}')

    def _failed(self, why: str) -> UnansweredError:
        return UnansweredError(f'failed calling webhook "{self.name}": {why}')

    def _invalid(self, why: str) -> UnansweredError:
        return self._failed(f"received invalid webhook response: {why}")

    def _ask(self, body: bytes) -> bytes:
        """The text of its answer to a review; within the time that it has.

        Raises:
            UnansweredError: there is none.
        """
        seconds = self._settings.timeout_seconds
        until = time.monotonic() + seconds
        url = f"{self._settings.url}?timeout={seconds}s"
        try:
            for is_last in (False, True):
                try:
                    return self._sent(url, body, until)
                except _ENDED:  # Mostly an idle connection.
                    if is_last:
                        raise
        except (httpx2.HTTPError, OSError) as error:
            why = f'Post "{url}": {_reason(error)}'
            raise self._failed(f"failed to call webhook: {why}") from None
        raise AssertionError("it is answered or fails")

    def _sent(self, url: str, body: bytes, until: float) -> bytes:
        left = max(until - time.monotonic(), 0.001)
        request = httpx2.Request(
            "POST",
            url,
            content=body,
            headers={
                "Content-Type": "application/json",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
            },
            extensions={"timeout": {"read": left}},
        )
        transport = self._transports.value  # It closes its connections when it is let go.
        with contextlib.closing(transport.handle_request(request)) as response:
            found = bytearray()
            for part in response.iter_raw():
                found += part
                if len(found) > _MOST_BYTES:
                    what = f"more than {_MOST_BYTES} bytes"
                    raise self._failed(f"failed to call webhook: it answered {what}")
        if response.status_code not in _OK:
            text = bytes(found[:200]).decode("utf-8", "replace").strip()
            why = f'an error on the server ("{text}") has prevented the request from succeeding'
            raise self._failed(f"failed to call webhook: {why} (status {response.status_code})")
        return bytes(found)


def _reason(error: Exception) -> str:
    """Why a webhook cannot be reached, in Kubernetes' words where it has some."""
    if isinstance(error, httpx2.TimeoutException):
        return "context deadline exceeded"
    return str(error)


def _question(request: AdmissionRequest, uid: str) -> dict[str, Any]:
    user = request.user
    kind = _OPTIONS[request.operation]
    return {
        "kind": _KIND,
        "apiVersion": _API_VERSION,
        "request": {
            "uid": uid,
            "kind": _kind(request.shown_as),
            "resource": _resource(request.shown_as),
            **_some(subResource=request.subresource),
            "requestKind": _kind(request.requested_as),
            "requestResource": _resource(request.requested_as),
            **_some(requestSubResource=request.subresource),
            **_some(name=request.name, namespace=request.namespace),
            "operation": request.operation.upper(),
            "userInfo": user.to_plain(),
            "object": request.object,
            "oldObject": request.old,
            "dryRun": request.dry_run,
            "options": {**request.options, "kind": kind, "apiVersion": "meta.k8s.io/v1"},
        },
    }


def _some(**members: str) -> dict[str, str]:
    return {key: value for key, value in members.items() if value}


def _kind(names: Names) -> dict[str, str]:
    return {"group": names.group, "version": names.version, "kind": names.kind}


def _resource(names: Names) -> dict[str, str]:
    return {"group": names.group, "version": names.version, "resource": names.plural}


def _denial(name: str, given: _Status) -> Mapping[str, Any]:
    """What the client is answered where a webhook refuses its write: the webhook's own status, as far as it can be one."""
    denied = f'admission webhook "{name}" denied the request'
    why = given.message or given.reason
    return {
        "code": given.code if given.code in _REFUSALS else _BAD_REQUEST,
        "reason": given.reason or "",
        "message": f"{denied}: {why}" if why else f"{denied} without explanation",
        "details": given.details,
    }
