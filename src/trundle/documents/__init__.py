"""Reads YAML and JSON text exactly: every scalar keeps its spelling, every node its line.

What cannot be read without loss is an error that says where. A `Walker` then reads the nodes as what they ought
to be, and notes a finding for each that is not.
"""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.documents._compose import Interpretation, ScalarEvent, is_plain, short_tag
    from trundle.documents._compose import compose as interpret
    from trundle.documents._errors import DocumentCode, UnreadableError
    from trundle.documents._json import JsonSyntaxError, parse_json
    from trundle.documents._json_values import parse_exact_values
    from trundle.documents._lines import line_at
    from trundle.documents._repeated import has_repeated_member, repeated_places
    from trundle.documents._tree import (
        ListNode,
        MapNode,
        Node,
        Parsed,
        ScalarNode,
        compact,
        decode,
        describe,
        node_of,
        plain,
        shorten,
    )
    from trundle.documents._values import parse_values
    from trundle.documents._walk import Fields, Walker, walk_yaml
    from trundle.documents._yaml import compose, parse_yaml, resolve_plain
    from trundle.documents._yaml_1_1 import kind_in_yaml_1_1, value_in_yaml_1_1

__all__ = [
    "DocumentCode",
    "Fields",
    "Interpretation",
    "JsonSyntaxError",
    "ListNode",
    "MapNode",
    "Node",
    "Parsed",
    "ScalarEvent",
    "ScalarNode",
    "UnreadableError",
    "Walker",
    "compact",
    "compose",
    "decode",
    "describe",
    "has_repeated_member",
    "interpret",
    "is_plain",
    "kind_in_yaml_1_1",
    "line_at",
    "node_of",
    "parse_exact_values",
    "parse_json",
    "parse_values",
    "parse_yaml",
    "plain",
    "repeated_places",
    "resolve_plain",
    "short_tag",
    "shorten",
    "value_in_yaml_1_1",
    "walk_yaml",
]

on_demand(__name__)
