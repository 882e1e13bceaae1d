"""Where the file of a project names hooks."""

import re
from importlib.util import resolve_name

from trundle.documents import Fields, ListNode, Node, Walker
from trundle.evolution import HookReference
from trundle.project._config_words import (
    CLASS_REFERENCE,
    PACKAGED_CLASS,
    read_version,
)
from trundle.version import ApiVersion

_HOOK_KEYS = ("type", "between", "use", "writes")
_WRITING = ("assign_to", "assign_from")
_PAIR = 2
_ONE_CLASS = "join the two classes, or let one be a hook of the object around, by paths"


def read_hooks(walker: Walker, fields: Fields, package: str) -> tuple[HookReference, ...]:
    """Where a project's file names hooks."""
    if "hooks" not in fields:
        return ()
    found: dict[tuple[str, ApiVersion, ApiVersion], HookReference] = {}
    for node in walker.items(fields["hooks"][1], "a list of hooks"):
        hook = _hook(walker, node, package)
        if hook is None:
            continue
        first = found.setdefault((hook.type, hook.older, hook.newer), hook)
        if first is not hook:
            expected = f"one hook for {hook.type} from {hook.older} to {hook.newer}"
            found_text = f"another at {first.where}"
            walker.note(node.line, expected, found_text, _ONE_CLASS)
    return tuple(found.values())


def _hook(walker: Walker, node: Node, package: str) -> HookReference | None:
    fields = walker.fields(node, "a hook", _HOOK_KEYS, _HOOK_KEYS[:-1])
    expected_type = "the type's name on the older side"
    name = walker.text(fields["type"][1], expected_type) if "type" in fields else None
    expected = "a class as package.module:Class, or one of the package as namespace.Class"
    use = walker.text(fields["use"][1], expected) if "use" in fields else None
    writes = _writes(walker, fields, use)
    if use is not None and not re.fullmatch(f"{CLASS_REFERENCE}|{PACKAGED_CLASS}", use):
        line = fields["use"][1].line
        advice = (
            "write module and class parted by a colon, or the full name of a class of the package"
        )
        walker.note(line, expected, repr(use), advice)
        use = None
    elif use is not None and package and _level(use) > package.count(".") + 1:
        line = fields["use"][1].line
        found = f"{use!r}, which leads out of {package}"
        advice = "remove dots, or put the generated package into another one"
        walker.note(line, f"a class in a package around {package}", found, advice)
        use = None
    pair = _between(walker, fields["between"][1]) if "between" in fields else None
    if name is None or use is None or pair is None:
        return None
    module, _, class_ = use.partition(":")
    if not class_:
        return HookReference(name, *pair, use=use, where=walker.place(node), writes=writes)
    absolute = f"{resolve_name(module, package) if package else module}:{class_}"
    return HookReference(
        name, *pair, use=absolute, where=walker.place(node), relative=_level(use) > 0
    )


def _writes(
    walker: Walker, fields: Fields, use: str | None
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What static methods write, by method."""
    if "writes" not in fields:
        return ()
    key, node = fields["writes"]
    if use is not None and ":" in use:
        advice = "remove it; methods in Python declare what they write with `@hook`"
        walker.note(key.line, "`writes` for static methods only", f"it beside {use}", advice)
        return ()
    methods = walker.fields(node, "what static methods write", _WRITING)
    found = {
        name: tuple(each.text for each in walker.texts(methods[name][1], "property name"))
        for name in _WRITING
        if name in methods
    }
    return tuple(found.items())


def _level(use: str) -> int:
    """How many dots a reference starts with; each but the first leads to the package around."""
    return len(use) - len(use.lstrip("."))


def _between(walker: Walker, node: Node) -> tuple[ApiVersion, ApiVersion] | None:
    items = walker.items(node, "the older and the newer version")
    if len(items) != _PAIR:
        if items or isinstance(node, ListNode):
            found = f"{len(items)} versions"
            walker.note(node.line, "two versions", found, "write [older, newer]")
        return None
    older, newer = (read_version(walker, item) for item in items)
    if older is None or newer is None:
        return None
    if not older < newer:
        found = f"{older} before {newer}"
        walker.note(node.line, "the older version first", found, "write [older, newer]")
        return None
    return older, newer
