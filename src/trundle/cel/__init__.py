"""Expressions in CEL, with the functions that Kubernetes adds; what rules of schemas are evaluated by."""

from trundle.cel._expressions import Evaluated, Expression, RuleExpressions

__all__ = ["Evaluated", "Expression", "RuleExpressions"]
