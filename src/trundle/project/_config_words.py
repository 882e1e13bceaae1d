"""The words that several keys of a project file have: names, classes, versions."""

from trundle.documents import Node, Walker
from trundle.version import ApiVersion, VersionError

IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
PACKAGE_NAME = rf"{IDENTIFIER}(\.{IDENTIFIER})*"
"""A dotted Python name."""

ABSOLUTE_CLASS = f"{PACKAGE_NAME}:{PACKAGE_NAME}"
"""A class as `package.module:Class`."""

CLASS_REFERENCE = rf"(\.\.+)?{ABSOLUTE_CLASS}"
"""A class as `package.module:Class`, or seen from the generated package as `..package.module:Class`."""

PACKAGED_CLASS = rf"{IDENTIFIER}(\.{IDENTIFIER})+"
"""A class of the package that carries the project, by its full name with a namespace."""

VERSION = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(-[A-Za-z][0-9A-Za-z.-]*)?|v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?"
    r"|v(1api)?[0-9]{8}([A-Za-z][0-9A-Za-z.-]*)?"
)


def read_version(walker: Walker, node: Node) -> ApiVersion | None:
    """An API version; what is none is noted."""
    expected = "an API version such as 2016-03-01 or v1beta1"
    text = walker.text(node, expected)
    if text is None:
        return None
    try:
        return ApiVersion.parse(text)
    except VersionError:
        walker.note(node.line, expected, repr(text), "write the version as the schemas name it")
        return None
