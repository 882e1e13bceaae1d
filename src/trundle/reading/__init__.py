"""Reads YAML and JSON text exactly: every scalar keeps its spelling, every node its line.

What cannot be read without loss is an error that says where. A `Walker` then reads the nodes as what they ought
to be, and notes a finding for each that is not.
"""

from trundle.reading._errors import DocumentError
from trundle.reading._json import JsonSyntaxError, parse_json
from trundle.reading._tree import (
    ListNode,
    MapNode,
    Node,
    Parsed,
    ScalarNode,
    compact,
    decode,
    describe,
    shorten,
)
from trundle.reading._walk import Fields, Walker
from trundle.reading._yaml import compose, parse_yaml, resolve_plain

__all__ = [
    "DocumentError",
    "Fields",
    "JsonSyntaxError",
    "ListNode",
    "MapNode",
    "Node",
    "Parsed",
    "ScalarNode",
    "Walker",
    "compact",
    "compose",
    "decode",
    "describe",
    "parse_json",
    "parse_yaml",
    "resolve_plain",
    "shorten",
]
