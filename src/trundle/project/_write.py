"""Writes parsed documents as text that people read: numbers as spelled, keys in their order."""

import json
import re

from trundle.documents import ListNode, MapNode, Node, ScalarNode

_PLAIN = re.compile(r"[^\W\d][\w ./()+@%$;,:-]*|\.{0,2}/[\w./-]*")
# Words that some readers of YAML do not take for text.
_TAKEN = {"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "infinity"}
_ASTRAL = 0x10000
_LONGEST_SIMPLE_KEY = 100  # readers of YAML give up on a longer key without `?`


def as_json(node: Node, indent: str = "") -> str:
    """A document as JSON, two spaces per level."""
    inner = indent + "  "
    match node:
        case ListNode(items=items) if items:
            body = ",\n".join(inner + as_json(item, inner) for item in items)
            return f"[\n{body}\n{indent}]"
        case MapNode(entries=entries) if entries:
            body = ",\n".join(
                f"{inner}{key.json}: {as_json(value, inner)}" for key, value in entries
            )
            return f"{{\n{body}\n{indent}}}"
        case _:
            return _flat(node)


def as_yaml(node: Node) -> str:
    """A document as YAML in block style."""
    if isinstance(node, ScalarNode):
        return _spell(node)
    return "\n".join(_lines(node))


def spell_text(text: str) -> str:
    """Text as it is in YAML on one line, in quotes unless every reader takes it for text."""
    plain = (
        _PLAIN.fullmatch(text)
        and text.isprintable()
        and text.lower() not in _TAKEN
        and not text.endswith((" ", ":"))
        and ": " not in text
    )
    if plain:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else _escape(char) for char in quoted)


def _flat(node: Node) -> str:
    """A scalar, or a list or object without content."""
    match node:
        case ScalarNode():
            return node.json
        case ListNode():
            return "[]"
        case MapNode():
            return "{}"


def _lines(node: Node) -> list[str]:
    """The lines of a node; those after the first are to be indented by the caller."""
    match node:
        case ListNode(items=items) if items:
            return [line for item in items for line in _placed("- ", _lines(item))]
        case MapNode(entries=entries) if entries:
            return [line for key, value in entries for line in _entry(key, value)]
        case ScalarNode():
            return _block_text(node.text) if _suits_block(node) else [_spell(node)]
        case _:
            return [_flat(node)]


def _entry(key: ScalarNode, value: Node) -> list[str]:
    name = spell_text(key.text)
    if len(name) > _LONGEST_SIMPLE_KEY:
        return [f"? {name}", *_placed(": ", _lines(value))]
    match value:
        case ListNode(items=content) | MapNode(entries=content) if content:
            return [f"{name}:", *_indented(_lines(value))]
        case _:
            return _placed(f"{name}: ", _lines(value))


def _placed(lead: str, lines: list[str]) -> list[str]:
    return [lead + lines[0], *_indented(lines[1:])]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" if line else line for line in lines]


def _suits_block(node: ScalarNode) -> bool:
    """Whether text reads back exactly from a literal block."""
    if not node.is_text or "\n" not in node.text:
        return False
    lines = node.text.split("\n")
    return (
        bool(lines[0])
        and not any(line.startswith("\t") or line.isspace() for line in lines)
        and not lines[0].startswith(" ")
        and all(line.replace("\t", "").isprintable() for line in lines)
    )


def _block_text(text: str) -> list[str]:
    if not text.endswith("\n"):
        return ["|-", *text.split("\n")]
    return ["|+" if text.endswith("\n\n") else "|", *text.split("\n")[:-1]]


def _spell(node: ScalarNode) -> str:
    return spell_text(node.text) if node.is_text else node.json


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code < _ASTRAL else f"\\U{code:08x}"
