"""Expressions in CEL, with the functions that Kubernetes adds; what rules of schemas are evaluated by. And the formats of texts that these name."""

from trundle.cel._expressions import Evaluated, Expression, RuleExpressions
from trundle.cel._formats import format_errors

__all__ = ["Evaluated", "Expression", "RuleExpressions", "format_errors"]
