"""How the commands read a file with an upgrade policy; findings name its lines."""

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.errors import Place

if TYPE_CHECKING:
    from trundle.channels import Policy
    from trundle.documents import Node
    from trundle.errors import Finding

_KEY = "upgrade"
_PARTS = re.compile(r"[^.\[\]]+")


class PolicyFile:
    """A file with an upgrade policy below `upgrade:`.

    Attributes:
        policy: the policy.
    """

    def __init__(self, path: Path) -> None:
        """Reads a file.

        Raises:
            CommandExit: it is no YAML document with the key `upgrade`.
            PolicyError: the policy cannot be used.
            OSError: the file cannot be read.
        """
        from trundle.channels import PolicyError, read_policy  # noqa: PLC0415

        self._path = path
        self._root, data = _document(path)
        try:
            self.policy: Policy = read_policy(data[_KEY], _KEY)
        except PolicyError as error:
            raise PolicyError(self.located(each) for each in error.findings) from None

    def located(self, finding: "Finding") -> "Finding":
        """A finding about this policy, with the file and the line."""
        path = finding.place.path
        place = Place(str(self._path), _line(self._root, path), path=path)
        return dataclasses.replace(finding, place=place)


def read_policy_file(path: Path) -> "Policy":
    """The policy in a file; the errors are those of `PolicyFile`."""
    return PolicyFile(path).policy


def _document(path: Path) -> "tuple[Node, dict[str, Any]]":
    from trundle.documents import UnreadableError, decode, parse_yaml  # noqa: PLC0415

    try:
        documents = parse_yaml(decode(path.read_bytes(), str(path)), str(path))
    except UnreadableError as error:
        raise CommandExit(ExitCode.FINDINGS, str(error)) from None
    data = msgspec.json.decode(documents[0].data) if len(documents) == 1 else None
    if not isinstance(data, dict) or list(data) != [_KEY]:
        found = f"{len(documents)} documents" if len(documents) != 1 else _keys(data)
        expected = f"one document with the key {_KEY}"
        advice = f"write the policy below `{_KEY}:`"
        raise unmet(str(path), expected, found, advice, ExitCode.FINDINGS)
    return documents[0].root, data


def _keys(data: Any) -> str:
    return f"the keys {', '.join(map(str, data))}" if isinstance(data, dict) and data else "none"


def _line(node: "Node", place: str) -> int:
    """The line of a place such as `upgrade.windows[0].start`, or of what is nearest above it."""
    from trundle.documents import ListNode, MapNode  # noqa: PLC0415

    line = node.line
    for part in _PARTS.findall(place):
        match node:
            case MapNode():
                found = next((each for each in node.entries if each[0].text == part), None)
                if found is None:
                    return line
                line, node = found[0].line, found[1]
            case ListNode() if part.isdecimal() and int(part) < len(node.items):
                node = node.items[int(part)]
                line = node.line
            case _:
                return line
    return line
