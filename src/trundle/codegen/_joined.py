"""The package that holds those of several groups of resources, and joins their schemes."""

from collections.abc import Mapping, Sequence

import msgspec

from trundle.codegen._layout import lay_out
from trundle.codegen._modules import contract
from trundle.codegen._text import HEADER, docstring, text_literal
from trundle.evolution import VersionMap
from trundle.version import ApiVersion


class MemberPackage(msgspec.Struct, frozen=True):
    """The generated package of one group, as the one that holds it needs to know it.

    Attributes:
        name: its name within that package.
        group: the group.
        resources: the names of its resource types.
        served: the API versions that it serves.
    """

    name: str
    group: str
    resources: tuple[str, ...]
    served: tuple[str, ...]


def generate_joined(
    members: Sequence[MemberPackage], *, package: str, title: str = "", unknown: str = "error"
) -> Mapping[str, bytes]:
    """Generates what a package of several groups has besides their packages: its joined scheme.

    Args:
        members: the packages of the groups.
        package: dotted name of the package that holds them.
        title: what it is about, for its documentation.
        unknown: what happens to unknown properties that a client writes: `error`, or `keep`.

    Returns:
        The content of each file by its path, relative to the package's folder; the same for the same input.
    """
    versions = {ApiVersion.parse(text) for each in members for text in each.served}
    served = VersionMap.of(versions).versions if versions else ()
    about = docstring(
        f"{title or package}: types, storage and lossless conversions, a package for each group.\n\n"
        "`scheme` converts documents and objects of all groups between all their versions; it imports a\n"
        "group's package when it is first needed."
    )
    shown = "".join(_member(each) for each in sorted(members, key=lambda each: each.name))
    lines = "".join(f"        {text_literal(version.text)},\n" for version in served)
    text = (
        f"{HEADER}{about}\n"
        "from trundle import runtime\n\n"
        '__all__ = ["scheme"]\n\n'
        f"{contract()}\n"
        f"scheme = runtime.JoinedScheme(\n    __name__,\n    {{\n{shown}    }},\n"
        f"    served=(\n{lines}    ),\n    unknown={text_literal(unknown)},\n)\n"
    )
    return {"__init__.py": lay_out(text).encode(), "py.typed": b""}


def _member(member: MemberPackage) -> str:
    names = "".join(f"                {text_literal(name)},\n" for name in sorted(member.resources))
    return (
        f"        {text_literal(member.name)}: (\n            {text_literal(member.group)},\n"
        f"            (\n{names}            ),\n        ),\n"
    )
