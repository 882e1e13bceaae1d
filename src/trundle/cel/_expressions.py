"""Reads and evaluates expressions by Google's library."""

import functools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from cel_expr_python import cel

from trundle.cel._functions import functions
from trundle.cel._spelling import INDEX_PREFIX, as_read

_CONFIG = """
name: rules
extensions:
  - name: bindings
  - name: lists
  - name: math
  - name: optional
  - name: sets
  - name: strings
  - name: two-var-comprehensions
"""
_OPTIONAL = "cel.bind(oldSelf, wasThere ? optional.of(oldSelf) : optional.none(), (\n{}\n))"
"""A rule for which the value before is optional, as it may be asked where there was none."""
_CODE = re.compile(r"^([A-Z_]+: )+|\s*\[[A-Z_]+\]$|<input>:")


class Evaluated(NamedTuple):
    """What an expression gives.

    Attributes:
        value: its value.
        failure: why it has none; empty where it has.
    """

    value: Any = None
    failure: str = ""


class Expression:
    """An expression in CEL about `self`, and `oldSelf` where `wasThere` says that it was there.

    Args:
        text: the expression.

    Attributes:
        unreadable: why it cannot be read; empty where it can.
    """

    def __init__(self, text: str) -> None:
        self.unreadable = ""
        try:
            self._read = _environment().compile(as_read(text))
        except RuntimeError as error:
            self.unreadable = _first_line(str(error))

    def evaluate(self, data: Mapping[str, Any]) -> Evaluated:
        """What it gives for the values of its variables; it has to be readable."""
        try:
            found = self._read.eval(data=data)
        except RuntimeError:
            return Evaluated(failure="more values to go through than a rule may have")
        if found.type() == cel.Type.ERROR:
            return Evaluated(failure=_first_line(str(found.plain_value())))
        return Evaluated(found.plain_value())


class RuleExpressions:
    """The expressions of a rule of `x-kubernetes-validations`.

    Args:
        said: the rule as the schema writes it.

    Attributes:
        rule: the rule itself.
        message: gives what is said where it does not hold; None where the rule has no such expression.
    """

    def __init__(self, said: Mapping[str, Any]) -> None:
        text, explains = said["rule"].strip(), said.get("messageExpression", "")
        self.rule = Expression(_OPTIONAL.format(text) if said.get("optionalOldSelf") else text)
        is_text = isinstance(explains, str) and bool(explains)
        self.message = Expression(explains) if is_text else None

    @property
    def unreadable(self) -> str:
        """Why one of them cannot be read; empty where both can."""
        return self.rule.unreadable or (self.message.unreadable if self.message else "")


def _first_line(text: str) -> str:
    """What the library says, without its code."""
    return _CODE.sub("", text.strip().partition("\n")[0]).replace(INDEX_PREFIX, "")


@functools.cache
def _environment() -> Any:
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(_CONFIG),
        variables={"self": cel.Type.DYN, "oldSelf": cel.Type.DYN, "wasThere": cel.Type.BOOL},
        functions=functions(),
    )
