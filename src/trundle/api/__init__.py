"""Resources at every version over HTTP, in Kubernetes' conventions."""

from trundle.api._admission import AdmissionConfigError
from trundle.api._application import Api
from trundle.api._carried import CarriedPackages, CarriedTypes
from trundle.api._causes import field_path
from trundle.api._collection import seldom_collecting
from trundle.api._conversion_reviews import ConversionReviews
from trundle.api._core import kept_scheme as core_scheme
from trundle.api._discovery import versions_of
from trundle.api._documents import to_client, to_scheme
from trundle.api._kinds import ServedKind, ServedVersion, converted_kinds, served_kinds
from trundle.api._limits import UserLimits
from trundle.api._namespaces import Host
from trundle.api._openapi import definition as openapi_definition
from trundle.api._ownership import renamed_fields
from trundle.api._places import first_status
from trundle.api._server import Server, appending, listening, loop_factory, printing, reserved
from trundle.api._status import status_of
from trundle.api._succession import InstalledApi
from trundle.api.access import Access, AccessFileError, Tls, certificate_files, read_tokens
from trundle.api.admission import AdmissionRequest, Refusal
from trundle.api.monitoring import AccessLog, Audit, Keeper
from trundle.project import AdmissionOperation

__all__ = [
    "Access",
    "AccessFileError",
    "AccessLog",
    "AdmissionConfigError",
    "AdmissionOperation",
    "AdmissionRequest",
    "Api",
    "Audit",
    "CarriedPackages",
    "CarriedTypes",
    "ConversionReviews",
    "Host",
    "InstalledApi",
    "Keeper",
    "Refusal",
    "ServedKind",
    "ServedVersion",
    "Server",
    "Tls",
    "UserLimits",
    "appending",
    "certificate_files",
    "converted_kinds",
    "core_scheme",
    "field_path",
    "first_status",
    "listening",
    "loop_factory",
    "openapi_definition",
    "printing",
    "read_tokens",
    "renamed_fields",
    "reserved",
    "seldom_collecting",
    "served_kinds",
    "status_of",
    "to_client",
    "to_scheme",
    "versions_of",
]
