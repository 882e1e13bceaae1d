"""What operators see of a server: health, metrics, an access log, and an audit."""

from trundle.api.monitoring._conversions import counted
from trundle.api.monitoring._health import Health
from trundle.api.monitoring._lines import AccessLog, Audit
from trundle.api.monitoring._metrics import MEDIA_TYPE, Metrics
from trundle.api.monitoring._recording import Keeper, Recorder, RequestRecord

__all__ = [
    "MEDIA_TYPE",
    "AccessLog",
    "Audit",
    "Health",
    "Keeper",
    "Metrics",
    "Recorder",
    "RequestRecord",
    "counted",
]
