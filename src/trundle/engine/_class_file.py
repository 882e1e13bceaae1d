"""Reads class files: each YAML document is one class, or namespaces for those after it."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn, cast, get_args

from trundle.documents import UnreadableError, decode
from trundle.engine._declarations import (
    ARGUMENT_ORDER,
    OLD_NAMES,
    ArgumentDeclaration,
    ArgumentUsage,
    ClassDeclaration,
    ClassUsage,
    MethodDeclaration,
    MethodUsage,
    Names,
    PropertyDeclaration,
    PropertyUsage,
)
from trundle.engine._errors import UNKNOWN_PREFIX, WRONG_SCOPE, EngineCode, EngineError
from trundle.engine._nodes import ListNode, MapNode, Node, ScalarNode, is_empty, parse_nodes
from trundle.errors import did_you_mean, expectation, listed, shown

_KEYS = (
    "Namespaces",
    "Name",
    "Extends",
    "Import",
    "Usage",
    "Meta",
    "Properties",
    "Methods",
    "Workflow",
    "Cardinality",
    "Applies",
    "Inherited",
)
_TARGETS = ("All", "Package", "Type", "Property", "Method", "Argument")
_CLASS_NAME = re.compile(r"\w+(\.\w+)*", re.ASCII)


def read_class_file(data: bytes, file: str) -> tuple[ClassDeclaration, ...]:
    """The classes of a file, in their order.

    Args:
        data: the content of the file.
        file: its path in the package, for messages.

    Raises:
        EngineError: the file cannot be read, with the code `syntax`, or two classes lack a name, with the
            code `ambiguous`. It has file and line, but not the package.
    """
    try:
        documents = parse_nodes(decode(data, file), file)
    except UnreadableError as error:
        message = expectation(error.expected, error.found)
        raise EngineError(
            EngineCode.SYNTAX, message, advice=error.advice, file=file, line=error.line
        ) from None
    names = Names()
    found: dict[str, ClassDeclaration] = {}
    for document in documents:
        reader = _Reader(file, names)
        declaration = reader.read(document)
        names = reader.names
        if declaration is None:
            continue
        if other := found.get(declaration.name):
            what = f"the class {declaration.name}" if declaration.name else "a class without a name"
            raise EngineError(
                EngineCode.AMBIGUOUS,
                expectation(
                    f"{what} once in a file", f"it in lines {other.line} and {declaration.line}"
                ),
                advice="name each class differently",
                class_name=declaration.name,
                file=file,
                line=declaration.line,
            )
        found[declaration.name] = declaration
    return tuple(found.values())


class _Reader:
    """Reads one document of a class file."""

    def __init__(self, file: str, names: Names) -> None:
        self.file = file
        self.names = names
        self.class_name = ""
        self.member = ""

    def read(self, root: Node) -> ClassDeclaration | None:
        """The class; None for a document that has only namespaces."""
        if not isinstance(root, MapNode):
            self.fail(
                root.line, "a class as a map", "another value", "write `Name:` and its members"
            )
        self._check_keys(root, _KEYS, "a class")
        if (spaces := root.get("Namespaces")) is not None:
            self.names = Names(self._namespaces(spaces))
        if root.entries and all(key.text == "Namespaces" for key, _ in root.entries):
            return None
        name = root.get("Name")
        if name is not None:
            self.class_name = self._full(self._text(name, "the name of a class"), name.line)
            if not _CLASS_NAME.fullmatch(self.class_name):
                expected = "a name of letters, digits and _, with dots between its parts"
                self.fail(name.line, expected, shown(self.class_name), "write such a name")
        parents = root.get("Extends")
        usage = cast("ClassUsage", self._choice(root.get("Usage"), get_args(ClassUsage), "Class"))
        return ClassDeclaration(
            name=self.class_name,
            names=self.names,
            parents=None if parents is None else self._names(parents, "a parent"),
            parent_lines=tuple(each.line for each in _each(parents)),
            imports=self._names(root.get("Import"), "an imported class"),
            usage=usage,
            cardinality=self._choice(root.get("Cardinality"), ("One", "Many"), "One"),
            applies=self._applies(root.get("Applies")),
            is_inherited=self._flag(root.get("Inherited")),
            meta=root.get("Meta"),
            properties=self._members(root, ("Properties",), self._property),
            methods=self._members(root, ("Methods", "Workflow"), self._method),
            file=self.file,
            line=root.line,
        )

    def fail(
        self,
        line: int,
        expected: str,
        found: str,
        advice: str,
        code: EngineCode = EngineCode.SYNTAX,
        names: tuple[str, ...] = (),
    ) -> NoReturn:
        """Reports what stands at a line.

        Raises:
            EngineError: always.
        """
        raise EngineError(
            code,
            expectation(expected, found),
            advice=advice,
            class_name=self.class_name,
            member=self.member,
            file=self.file,
            line=line,
            names=names,
        )

    def _check_keys(self, node: MapNode, known: Collection[str], what: str) -> None:
        for key, _ in node.entries:
            if key.text not in known:
                advice = did_you_mean(key.text, known, "remove it")
                self.fail(key.line, f"one of {listed(known)} in {what}", shown(key.text), advice)

    def _namespaces(self, node: Node) -> Mapping[str, str]:
        found = {}
        for key, value in self._entries(node, "namespaces by prefix"):
            is_none = isinstance(value, ScalarNode) and value.value in (None, "")
            found[key.text] = "" if is_none else self._text(value, "a namespace")
        return found

    def _full(self, name: str, line: int) -> str:
        try:
            return self.names.full(name)
        except KeyError as error:
            known = [each for each in self.names.prefixes if each != "="]
            advice = did_you_mean(error.args[0], known, "declare it under `Namespaces`")
            found = f"{shown(error.args[0])} in {shown(name)}"
            code = EngineCode.NO_CLASS
            self.fail(line, "a declared prefix", found, advice, code, UNKNOWN_PREFIX)

    def _names(self, node: Node | None, what: str) -> tuple[str, ...]:
        return tuple(self._full(self._text(each, what), each.line) for each in _each(node))

    def _text(self, node: Node, what: str) -> str:
        text = node.value if isinstance(node, ScalarNode) else None
        if not isinstance(text, str) or not text.strip():
            self.fail(node.line, what, _described(node), "write text")
        return text.strip()

    def _choice(self, node: Node | None, choices: Sequence[str], otherwise: str) -> str:
        if node is None:
            return otherwise
        text = self._text(node, f"one of {', '.join(choices)}")
        if text not in choices:
            advice = did_you_mean(text, choices, "write one of them")
            self.fail(node.line, f"one of {', '.join(choices)}", shown(text), advice)
        return text

    def _flag(self, node: Node | None) -> bool:
        if node is None:
            return False
        if not isinstance(node, ScalarNode) or not isinstance(node.value, bool):
            self.fail(node.line, "true or false", _described(node), "write one of them")
        return node.value

    def _applies(self, node: Node | None) -> tuple[str, ...]:
        if node is None:
            return ("All",)
        items = node.items if isinstance(node, ListNode) else (node,)
        return tuple(self._choice(each, _TARGETS, "All") for each in items)

    def _entries(self, node: Node, what: str) -> tuple[tuple[ScalarNode, Node], ...]:
        if not isinstance(node, MapNode):
            self.fail(node.line, what, _described(node), "write a map")
        return node.entries

    def _members(
        self, root: MapNode, keys: Sequence[str], read: Callable[[ScalarNode, Node], Any]
    ) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        for section in keys:
            node = root.get(section)
            for key, value in () if node is None else self._entries(node, f"{section} by name"):
                if not isinstance(key.value, str) or not key.text:
                    self.fail(key.line, "a name", _described(key), "write text as the name")
                self.member = key.text
                member = read(key, value)
                if member.name in found:
                    advice = "remove one of the two"
                    self.fail(key.line, "each member once", f"{member.name} a second time", advice)
                found[member.name] = member
                self.member = ""
        return found

    def _property(self, key: ScalarNode, node: Node) -> PropertyDeclaration:
        entries = self._entries(node, "a property as a map with `Contract`")
        assert isinstance(node, MapNode)
        self._check_keys(node, ("Contract", "Default", "Usage", "Meta"), "a property")
        if not any(each.text == "Contract" for each, _ in entries):
            advice = "add `Contract: $` where any value will do"
            self.fail(key.line, f"`Contract` in the property {key.text}", "none", advice)
        usage = self._choice(node.get("Usage"), get_args(PropertyUsage), "In")
        return PropertyDeclaration(
            name=key.text,
            usage=cast("PropertyUsage", usage),
            contract=node.get("Contract"),
            default=node.get("Default"),
            has_default=any(each.text == "Default" for each, _ in entries),
            meta=node.get("Meta"),
            line=key.line,
        )

    def _method(self, key: ScalarNode, node: Node) -> MethodDeclaration:
        name = OLD_NAMES.get(key.text, key.text)
        if is_empty(node):
            return MethodDeclaration(name, "Runtime", False, (), None, None, key.line)
        self._entries(node, "a method as a map")
        assert isinstance(node, MapNode)
        self._check_keys(node, ("Arguments", "Body", "Usage", "Scope", "Meta"), "a method")
        usage = cast(
            "MethodUsage", self._choice(node.get("Usage"), get_args(MethodUsage), "Runtime")
        )
        scope = self._choice(node.get("Scope"), ("Session", "Public"), "")
        if usage == "Action" and scope == "Session":
            advice = "write `Scope: Public` alone"
            expected, found = "a scope that fits `Usage: Action`", "`Scope: Session`"
            self.fail(key.line, expected, found, advice, EngineCode.SYNTAX, WRONG_SCOPE)
        return MethodDeclaration(
            name=name,
            usage=usage,
            is_public=scope == "Public" or usage == "Action",
            arguments=self._arguments(node.get("Arguments")),
            body=node.get("Body"),
            meta=node.get("Meta"),
            line=key.line,
        )

    def _arguments(self, node: Node | None) -> tuple[ArgumentDeclaration, ...]:
        if node is None:
            return ()
        found: dict[str, ArgumentDeclaration] = {}
        for key, value in self._argument_entries(node):
            if key.text in found:
                self.fail(
                    key.line, "each argument once", f"{shown(key.text)} twice", "rename one of them"
                )
            found[key.text] = self._argument(key, value)
        arguments = tuple(found.values())
        places = [ARGUMENT_ORDER.index(each.usage) for each in arguments]
        special = [each for each in places if each]
        if places != sorted(places) or len(set(special)) != len(special):
            expected = (
                "plain arguments first, then at most one of VarArgs, then at most one of KwArgs"
            )
            self.fail(node.line, expected, "another order", "put them into this order")
        return arguments

    def _argument_entries(self, node: Node) -> list[tuple[ScalarNode, Node]]:
        """The arguments of a map, or of a list of maps with one key each."""
        if isinstance(node, ListNode):
            for item in node.items:
                if not isinstance(item, MapNode) or len(item.entries) != 1:
                    expected, advice = "an argument as a map with one key", "write `- name:`"
                    self.fail(item.line, expected, _described(item), advice)
            maps = [each for each in node.items if isinstance(each, MapNode)]
            return [entry for each in maps for entry in each.entries]
        return list(self._entries(node, "arguments as a list of maps with one key each"))

    def _argument(self, key: ScalarNode, node: Node) -> ArgumentDeclaration:
        if not isinstance(node, MapNode):
            expected = f"the argument {key.text} as a map with `Contract`"
            self.fail(node.line, expected, _described(node), "add `Contract: $`")
        self._check_keys(node, ("Contract", "Default", "Usage", "Meta"), "an argument")
        if not any(each.text == "Contract" for each, _ in node.entries):
            self.fail(
                key.line, f"`Contract` in the argument {key.text}", "none", "add `Contract: $`"
            )
        return ArgumentDeclaration(
            name=key.text,
            usage=cast(
                "ArgumentUsage", self._choice(node.get("Usage"), ARGUMENT_ORDER, "Standard")
            ),
            contract=node.get("Contract"),
            default=node.get("Default"),
            has_default=any(each.text == "Default" for each, _ in node.entries),
            meta=node.get("Meta"),
            line=key.line,
        )


def _each(node: Node | None) -> tuple[Node, ...]:
    """One value, or those of a list."""
    if node is None:
        return ()
    return tuple(node.items) if isinstance(node, ListNode) else (node,)


def _described(node: Node) -> str:
    match node:
        case ListNode():
            return "a list"
        case MapNode():
            return "a map"
        case ScalarNode(value=None):
            return "nothing"
    return shown(node.text)
