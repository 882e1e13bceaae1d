"""The rules in CEL of a version's schema (`x-kubernetes-validations`), and what they have against a document."""

from trundle.api.cel._rules import Broken, Judged, Rules

__all__ = ["Broken", "Judged", "Rules"]
