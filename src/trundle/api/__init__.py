"""Resources at every version over HTTP, in Kubernetes' conventions."""

from trundle.api._application import Api
from trundle.api._kinds import ServedKind, ServedVersion, served_kinds
from trundle.api._server import Server, listening, printing
from trundle.api.access import Access, AccessFileError, Tls, certificate_files, read_tokens

__all__ = [
    "Access",
    "AccessFileError",
    "Api",
    "ServedKind",
    "ServedVersion",
    "Server",
    "Tls",
    "certificate_files",
    "listening",
    "printing",
    "read_tokens",
    "served_kinds",
]
