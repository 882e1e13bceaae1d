"""Reads `admission`: who is asked before objects are written."""

import re
from typing import Any

import msgspec

from trundle.documents import Fields, Node, Walker
from trundle.project._config_words import ABSOLUTE_CLASS, VERSION, read_version
from trundle.version import ApiVersion

_KEYS = ("type", "version", "use")


class AdmissionRule(msgspec.Struct, frozen=True, kw_only=True):
    """Who is asked before objects of a resource type are written.

    Attributes:
        type: the resource type, after its group and a slash where several groups have one of the name.
        version: the API version at which objects are shown.
        use: the class that is asked, as `package.module:Class`.
        where: file and line that say so.
    """

    type: str
    version: ApiVersion
    use: str
    where: str


def read_admission(walker: Walker, fields: Fields) -> tuple[AdmissionRule, ...]:
    """What a project file says under `admission`, in its order."""
    if "admission" not in fields:
        return ()
    found = [
        _rule(walker, each) for each in walker.items(fields["admission"][1], "a list of hooks")
    ]
    return tuple(each for each in found if each is not None)


def _rule(walker: Walker, node: Node) -> AdmissionRule | None:
    fields = walker.fields(node, "an admission hook", _KEYS, _KEYS)
    type_ = walker.text(fields["type"][1], "a resource type") if "type" in fields else None
    version = read_version(walker, fields["version"][1]) if "version" in fields else None
    use = _use(walker, fields["use"][1]) if "use" in fields else None
    if type_ is None or version is None or use is None:
        return None
    return AdmissionRule(type=type_, version=version, use=use, where=walker.place(node))


def _use(walker: Walker, node: Node) -> str | None:
    expected = "a class as package.module:Class"
    text = walker.text(node, expected)
    if text is None or re.fullmatch(ABSOLUTE_CLASS, text):
        return text
    walker.note(node.line, expected, repr(text), "write module and class, parted by a colon")
    return None


def admission_schema() -> dict[str, Any]:
    """The JSON Schema of what a project file says under `admission`."""
    rule = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "type": {"type": "string", "minLength": 1, "description": "The resource type."},
            "version": {
                "type": "string",
                "pattern": f"^({VERSION})$",
                "description": "The served API version at which objects are shown.",
            },
            "use": {
                "type": "string",
                "pattern": f"^({ABSOLUTE_CLASS})$",
                "description": "The class that is asked, as package.module:Class.",
            },
        },
        "required": list(_KEYS),
    }
    return {
        "type": "array",
        "items": rule,
        "description": "Hand-written code that is asked before objects are created, updated and deleted.",
    }
