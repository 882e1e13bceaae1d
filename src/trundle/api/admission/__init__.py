"""What hooks are asked before objects are written, and what they answer."""

from trundle.api.admission._requests import AdmissionRequest, Names, Refusal
from trundle.api.admission._reviewers import AdmissionHookError, DeniedError, PythonHook, Reviewer
from trundle.api.admission._webhooks import Webhook, WebhookError

__all__ = [
    "AdmissionHookError",
    "AdmissionRequest",
    "DeniedError",
    "Names",
    "PythonHook",
    "Refusal",
    "Reviewer",
    "Webhook",
    "WebhookError",
]
