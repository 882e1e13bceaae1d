"""Reads the configured changes of one type, and finds the rules among them that contradict each other."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trundle.documents import ListNode, MapNode, Node, ScalarNode, Walker, plain
from trundle.evolution import (
    KEYED_CONVERSIONS,
    SCALAR_CONVERSIONS,
    VERSIONED,
    NamedConversion,
    PathError,
    TypeChanges,
    plain_path,
)
from trundle.version import ApiVersion

RULES = (
    "rename",
    "renameType",
    "values",
    "wrap",
    "unwrap",
    "move",
    "convert",
    "variant",
    "default",
    "keep",
)
"""The rules as the file names them."""

_PLACING = ("rename", "wrap", "unwrap", "move")  # rules that say where a property goes
_SHAPING = ("values", "convert", "variant")  # rules that say how its value changes
_ALONE = ("keep",)
_KNOWING = (*VERSIONED, *KEYED_CONVERSIONS)  # conversions that have to know more than their name


def read_rules(walker: Walker, version: ApiVersion, name: ScalarNode, node: Node) -> TypeChanges:
    """Reads the rules of one type; what is wrong with them is noted at the walker."""
    reader = _RulesReader(walker, name.text)
    reader.where[""] = walker.place(name)
    for rule, (key, value) in walker.fields(node, f"the rules of {name.text}", RULES).items():
        if rule in RULES:
            field = "rename_type" if rule == "renameType" else rule
            reader.where[field] = walker.place(key)
            reader.read(rule, field, value)
    _find_contradictions(walker, reader)
    return TypeChanges(version=version, type=name.text, where=reader.where, **reader.fields)


class _RulesReader:
    def __init__(self, walker: Walker, type_name: str) -> None:
        self.walker = walker
        self.type_name = type_name
        self.fields: dict[str, Any] = {}
        self.where: dict[str, str] = {}
        self.lines: dict[tuple[str, str], int] = {}

    def read(self, rule: str, field: str, node: Node) -> None:
        match rule:
            case "rename" | "variant" | "move":
                self.fields[field] = self._mapping(rule, node, self._text)
            case "convert":
                self.fields[field] = self._mapping(rule, node, self._conversion)
            case "wrap" | "unwrap":
                self.fields[field] = self._names_or_mapping(rule, node)
            case "values":
                self.fields[field] = self._mapping(rule, node, self._values)
            case "default":
                self.fields[field] = self._mapping(rule, node, self._json)
            case "keep":
                self.fields[field] = tuple(self._names(rule, node))
            case _:
                self._rename_type(node)

    def _mapping(
        self, rule: str, node: Node, value: Callable[[str, Node], Any]
    ) -> Mapping[str, Any]:
        found = {}
        for key, each in self.walker.entries(node, f"`{rule}` by property"):
            self._locate(rule, key)
            read = value(rule, each)
            if rule in _PLACING and read is not None:
                self._note_uneven(key.text, read, each)
            if read is not None or rule == "default":
                found[_plain(key.text)] = read
        return found

    def _note_uneven(self, older: str, newer: str, node: Node) -> None:
        """Notes a pattern of which one side has more `*` than the other."""
        if older.count("*") != newer.count("*"):
            found = f"{newer} for {older}"
            advice = "each `*` of the newer name stands for what that of the older one stands for"
            self.walker.note(node.line, "as many `*` in both names", found, advice)

    def _names_or_mapping(self, rule: str, node: Node) -> Mapping[str, str]:
        if isinstance(node, ListNode):
            return {name: name for name in self._names(rule, node)}
        return self._mapping(rule, node, self._text)

    def _names(self, rule: str, node: Node) -> Iterator[str]:
        for item in self.walker.texts(node, "property name"):
            self._locate(rule, item)
            yield item.text

    def _locate(self, rule: str, key: ScalarNode) -> None:
        self.where[f"{rule}.{_plain(key.text)}"] = self.walker.place(key)
        self.lines[rule, _plain(key.text)] = key.line

    def _rename_type(self, node: Node) -> None:
        name = self.walker.text(node, "the newer name of the type")
        if name == self.type_name:
            expected = f"a name other than {name}"
            self.walker.note(node.line, expected, "the same name", "remove `renameType`")
        elif name is not None:
            self._note_uneven(self.type_name, name, node)
            self.fields["rename_type"] = name

    def _text(self, rule: str, node: Node) -> str | None:
        text = self.walker.text(node, f"the newer name in `{rule}`")
        if rule == "move" and text is not None:
            try:
                return plain_path(text)
            except PathError as error:
                advice = (
                    'write names with dots between, and `["like.this"]` for one with a dot in it'
                )
                self.walker.note(node.line, "a path", f"{text!r}, {error}", advice)
                return None
        return text

    def _conversion(self, _rule: str, node: Node) -> str | NamedConversion | None:
        names = (*SCALAR_CONVERSIONS, *KEYED_CONVERSIONS)
        if not isinstance(node, MapNode):
            name = self.walker.choice(node, "the name of a conversion", names)
            if name is not None and name in KEYED_CONVERSIONS:
                self.walker.note(
                    node.line, "the key of the elements", name, f"write {{{name}: {{key: name}}}}"
                )
                return None
            return name
        entries = self.walker.fields(node, "a conversion that has to know more", _KNOWING)
        if len(entries) != 1:
            self.walker.note(node.line, "one conversion", f"{len(entries)}", "keep one of them")
            return None
        ((name, (_, value)),) = entries.items()
        if name in VERSIONED:
            version = self.walker.text(value, "the version that a group gets")
            return version and NamedConversion(name=name, version=version)
        return self._keyed(name, value) if name in KEYED_CONVERSIONS else None

    def _keyed(self, name: str, node: Node) -> NamedConversion | None:
        what = "the properties of an element"
        fields = self.walker.fields(node, what, ("key", "value"), required=("key",))
        texts = {
            field: self.walker.text(value, f"the property with the {field}")
            for field, (_, value) in fields.items()
        }
        if not texts.get("key") or None in texts.values():
            return None
        return NamedConversion(name=name, key=texts["key"] or "", value=texts.get("value") or "")

    def _values(self, _rule: str, node: Node) -> Mapping[str, str]:
        entries = self.walker.entries(node, "newer value by older value", may_be_empty=True)
        texts = {key.text: self._value(value) for key, value in entries}
        return {older: newer for older, newer in texts.items() if newer is not None}

    def _value(self, node: Node) -> str | None:
        if isinstance(node, ScalarNode) and node.is_text:
            return node.text  # even empty text is a value
        return self.walker.text(node, "the newer value")

    def _json(self, _rule: str, node: Node) -> Any:
        return plain(node)


def _plain(name: str) -> str:
    """A property's name, or its path in the one spelling that rules are compared by."""
    try:
        return plain_path(name)
    except PathError:
        return name


def _find_contradictions(walker: Walker, reader: _RulesReader) -> None:
    by_older: dict[tuple[str, str], str] = {}
    by_newer: dict[str, tuple[str, str]] = {}
    for rule, older, newer in _uses(reader.fields):
        line = reader.lines[rule, older]
        group = "shape" if rule in _SHAPING else "place"
        rivals = ("shape", "place") if rule in _ALONE else (group,)
        for other in filter(None, (by_older.get((older, rival)) for rival in rivals)):
            _note_rivals(walker, reader, (rule, older), (other, older))
        by_older.setdefault((older, group), rule)
        if newer is None:
            continue
        if newer == older and rule in ("rename", "move"):
            expected = f"a name other than {older}"
            walker.note(line, expected, "the same name", f"remove it from `{rule}`")
        rival = by_newer.setdefault(newer, (rule, older))
        if rival[1] != older:
            expected = f"one property that becomes {newer}"
            found = f"{older} and, at {reader.where['.'.join(rival)]}, {rival[1]}"
            walker.note(line, expected, found, "keep one of the two")


def _uses(fields: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    """Each rule with the older and, where it says so, the newer name of its property."""
    for rule in _PLACING:
        for older, newer in fields.get(rule, {}).items():
            yield rule, older, newer
    for rule in (*_SHAPING, *_ALONE):
        for older in fields.get(rule, ()):
            yield rule, older, None


def _note_rivals(
    walker: Walker, reader: _RulesReader, one: tuple[str, str], other: tuple[str, str]
) -> None:
    rule, name = max(one, other, key=lambda each: reader.lines[each])
    first = other[0] if (rule, name) == one else one[0]
    found = f"`{rule}` beside `{first}` at {reader.where[f'{first}.{name}']}"
    advice = f"remove {name} from one of them"
    if {rule, first} & {"wrap", "unwrap"} and "rename" in {rule, first}:
        advice += "; `wrap` and `unwrap` take the newer name themselves"
    walker.note(reader.lines[rule, name], f"rules for {name} that agree", found, advice)
