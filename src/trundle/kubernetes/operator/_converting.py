"""The conversion webhook of `Installation`, which each operator can serve."""

from trundle.kubernetes._conversions import Conversions
from trundle.kubernetes._metrics import WebhookMetrics
from trundle.kubernetes._own import converted_installations, scheme
from trundle.kubernetes._webhook import WebhookApplication


def converting() -> WebhookApplication:
    """What converts installations between all their versions."""
    metrics = WebhookMetrics()
    conversions = Conversions(converted_installations(), scheme, metrics, guarded=False)
    return WebhookApplication(conversions, metrics)
