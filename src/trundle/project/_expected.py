"""Reads the file that lists which differences between two implementations are expected, and why."""

from typing import Literal, TypeAlias, get_args

import msgspec

from trundle.documents import ListNode, Node, UnreadableError, Walker, shorten, walk_yaml
from trundle.project._places import Path, Pattern, is_everything, matches, parse_pattern
from trundle.project.errors import ConfigError

DifferenceKind: TypeAlias = Literal["missing", "unexpected", "changed", "refused"]
"""What is wrong at a place: nothing is there, something is there, another value is, or the document is refused."""

_KEYS = ("path", "reason", "version", "difference", "value")
_EMPTY = "empty"


class ExpectedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A difference that is expected.

    Attributes:
        where: file and line that list it.
        path: where it is found, as it was written.
        pattern: the same, to be matched with paths.
        reason: why it is expected.
        version: only in documents of this version; None for every version.
        difference: only differences of this kind; None for every kind.
        empty: only where neither side has anything but empty values there, as Go writes them for what is not said.
    """

    where: str
    path: str
    pattern: Pattern
    reason: str
    version: str | None = None
    difference: str | None = None
    empty: bool = False

    @property
    def excuses_all(self) -> bool:
        """Whether it covers a difference of any kind at any path."""
        said = self.difference is not None or self.empty
        return not said and bool(self.pattern) and is_everything(self.pattern)

    def covers(
        self, version: str, path: Path, difference: DifferenceKind, *, empty: bool = False
    ) -> bool:
        """Whether a difference in a document of some version, between empty values or others, is the expected one."""
        return (
            (empty or not self.empty)
            and self.version in (None, version)
            and self.difference in (None, difference)
            and matches(self.pattern, path)
        )


def read_expected(data: bytes, file: str) -> tuple[ExpectedDifference, ...]:
    """Reads a list of expected differences.

    Args:
        data: YAML: a list of objects with `path` (one, or a list), `reason`, and, to say it more narrowly,
            `version`, `difference` and `value`.
        file: the file as the user named it.

    Raises:
        ConfigError: the file cannot be used; it lists all findings.
    """
    try:
        walker, roots = walk_yaml(data, file)
    except UnreadableError as error:
        raise ConfigError(error.findings) from None
    if len(roots) > 1:
        walker.note(roots[1].line, "one list", "several documents", "remove the others")
    items = walker.items(roots[0], "a list of expected differences") if roots else ()
    found = tuple(each for item in items for each in _read(walker, item))
    if walker.findings:
        raise ConfigError(walker.findings)
    return found


def _read(walker: Walker, node: Node) -> list[ExpectedDifference]:
    fields = walker.fields(node, "an expected difference", _KEYS, ("path", "reason"))
    texts = {
        key: walker.text(value, f"the {key}")
        for key, (_, value) in fields.items()
        if key in ("reason", "version")
    }
    difference = None
    if "difference" in fields:
        kinds = get_args(DifferenceKind)
        difference = walker.choice(fields["difference"][1], "the kind of difference", kinds)
    if "value" in fields:
        walker.choice(fields["value"][1], "the value", (_EMPTY,))
    if "path" not in fields:
        return []
    value = fields["path"][1]
    paths = value.items if isinstance(value, ListNode) else (value,)
    found = []
    for each in paths:
        path = walker.text(each, "a path") or ""
        pattern = parse_pattern(path)
        if path and pattern is None:
            advice = "write names parted by dots, `[]` for elements, `*` or `**`"
            walker.note(each.line, "a path such as spec.rules[].name", shorten(path), advice)
        if pattern:
            found.append(
                ExpectedDifference(
                    where=walker.place(each),
                    path=path,
                    pattern=pattern,
                    reason=texts.get("reason") or "",
                    version=texts.get("version"),
                    difference=difference,
                    empty="value" in fields,
                )
            )
    return found
