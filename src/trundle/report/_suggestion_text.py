"""Suggestions as lines of configuration, ready to paste into `trundle.yaml`."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from trundle.report._spelling import yaml_text
from trundle.report._suggestion import Suggestion


def suggestions_text(suggestions: Sequence[Suggestion]) -> str:
    """Suggestions as YAML, by version and type; a comment shows each one's score and evidence."""
    if not suggestions:
        return "# Nothing to suggest.\n"
    lines = ["changes:"]
    ordered = sorted(suggestions, key=_place)
    for version, of_version in groupby(ordered, key=lambda each: each.older):
        lines.append(f"  {version}:")
        for type_name, of_type in groupby(of_version, key=lambda each: each.type):
            lines.append(f"    {yaml_text(type_name)}:")
            for _, of_rule in groupby(of_type, key=lambda each: each.rule):
                lines.extend(_rule_lines(tuple(of_rule)))
    return "\n".join(lines) + "\n"


def suggestions_data(suggestions: Sequence[Suggestion]) -> list[dict[str, Any]]:
    """Suggestions as plain JSON values, in their order."""
    return [
        {
            "older": str(each.older),
            "newer": str(each.newer),
            "type": each.type,
            "rule": each.rule,
            "property": each.property,
            "target": each.target,
            "values": dict(each.values),
            "score": each.score,
            "evidence": list(each.evidence),
        }
        for each in suggestions
    ]


def _place(each: Suggestion) -> tuple[object, ...]:
    return (each.older, each.type, each.rule, -each.score, each.property)


def _rule_lines(suggestions: tuple[Suggestion, ...]) -> list[str]:
    """The lines of one rule of one type; a block where there is more than one suggestion."""
    first = suggestions[0]
    if first.rule == "renameType":
        return [f"      renameType: {yaml_text(first.target)}   # {_reasons(first)}"]
    if len(suggestions) == 1:
        listed = f"[{_item(first)}]" if first.rule == "keep" else f"{{{_item(first)}}}"
        return [f"      {first.rule}: {listed}   # {_reasons(first)}"]
    mark = "- " if first.rule == "keep" else ""
    return [
        f"      {first.rule}:",
        *(f"        {mark}{_item(each)}   # {_reasons(each)}" for each in suggestions),
    ]


def _item(each: Suggestion) -> str:
    name = yaml_text(each.property)
    match each.rule:
        case "keep":
            return name
        case "values":
            pairs = (f"{yaml_text(older)}: {yaml_text(newer)}" for older, newer in each.values)
            return f"{name}: {{{', '.join(pairs)}}}"
        case "convert":
            return f"{name}: {each.target}"
        case _:
            return f"{name}: {yaml_text(each.target)}"


def _reasons(each: Suggestion) -> str:
    return f"{each.score:.2f}: {', '.join(each.evidence)}"
