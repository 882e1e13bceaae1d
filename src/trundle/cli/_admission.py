"""Who puts back what clients drop of carriers, as options say it."""

from enum import StrEnum


class AdmissionChoice(StrEnum):
    """Who puts carriers back that clients drop."""

    WEBHOOK = "webhook"
    POLICY = "policy"
    NONE = "none"
