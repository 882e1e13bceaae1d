"""What hooks are asked before objects are written, and what they answer."""

from trundle.api.admission._requests import AdmissionRequest, Operation, Refusal
from trundle.api.admission._reviewers import HookError, PythonHook, Reviewer

__all__ = [
    "AdmissionRequest",
    "HookError",
    "Operation",
    "PythonHook",
    "Refusal",
    "Reviewer",
]
