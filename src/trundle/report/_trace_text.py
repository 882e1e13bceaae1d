"""Traces as text and as plain values."""

import json
from typing import Any

from trundle.report._table import table
from trundle.report._trace import Trace, TracedValue

_LONGEST = 60
"""How many characters of a value are shown."""


def trace_text(found: Trace) -> str:
    """A trace as Markdown: the way, a table of the output's values, and one of what was left."""
    lines = [f"{found.resource}: {', then '.join(map(str, found.shapes))}", ""]
    rows = [(each.path, _value(each.value), each.cause, _from(each)) for each in found.values]
    lines.append(table(("Output", "Value", "Cause", "From"), rows))
    if found.left:
        lines += ["", "Not in the output:", ""]
        left = [(each.path, _value(each.value), each.reason) for each in found.left]
        lines.append(table(("Input", "Value", "What became of it"), left))
    return "\n".join(lines)


def _from(value: TracedValue) -> str:
    return "; ".join(filter(None, (", ".join(value.sources), *value.how)))


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def trace_data(found: Trace) -> dict[str, Any]:
    """A trace as plain values for JSON and YAML."""
    return {
        "resource": found.resource,
        "shapes": [str(each) for each in found.shapes],
        "values": [
            {
                "path": each.path,
                "value": each.value,
                "cause": each.cause.value,
                "sources": list(each.sources),
                "how": list(each.how),
            }
            for each in found.values
        ],
        "left": [
            {"path": each.path, "value": each.value, "reason": each.reason} for each in found.left
        ],
    }
